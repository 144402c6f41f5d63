import sys

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes

from mossrules import MossRegressor, evaluate_frontier
from mossrules.display import EvaluationDisplay
from mossrules.exceptions import InvalidParameter, MissingDependency, UnsupportedType

mpl.use("Agg")


@pytest.fixture(scope="module")
def evaluation():
    """Return an evaluation that no test changes."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return evaluate_frontier(MossRegressor(5, n_trees=60), X, y, cv=4, points=6)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("measure", ["dice", "jaccard", "ochiai", "pog", "nogueira"])
def test_data_are_those_of_the_evaluation(evaluation, measure):
    """The frame has each point with the measure asked for, its interval, R2 and the choice."""
    frame = EvaluationDisplay.from_evaluation(evaluation, measure=measure).frame()
    table = evaluation.frame()
    for name in ("share", "r2", "r2_se", "chosen"):
        assert frame[name].tolist() == table[name].tolist()
    assert frame["stability"].tolist() == table[measure].tolist()
    estimates = [getattr(point, measure) for point in evaluation.points]
    assert frame["lower"].tolist() == [each.lower for each in estimates]
    assert frame["upper"].tolist() == [each.upper for each in estimates]


def test_other_frames_and_rules(evaluation):
    """Other libraries are served, and another rule marks its own point."""
    display = EvaluationDisplay.from_evaluation(evaluation, rule="best")
    frame = display.frame(backend="polars")
    assert isinstance(frame, pl.DataFrame)
    assert frame["chosen"].arg_max() == evaluation.choose("best").index
    assert display.limit is None


def test_what_is_drawn_is_the_data(evaluation):
    """Points are joined in order; the choice, the most stable and the limit are marked."""
    display = evaluation.plot()
    frame = display.frame()
    labels = list(display.artists_)
    line = display.artists_[labels[0]]
    assert labels[0] == "stability targets from 100% to 5% of the maximum"
    np.testing.assert_array_equal(line.get_xdata(), frame["stability"])
    np.testing.assert_array_equal(line.get_ydata(), frame["r2"])
    stablest = display.artists_["stability only"]
    assert stablest.get_xdata() == [frame["stability"][0]]
    chosen = evaluation.choose()
    mark = display.artists_[f"chosen: stability target {chosen.share:.1%}"]
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (chosen.dice, chosen.r2)
    best = evaluation.choose("best")
    limit = display.artists_["best $R^2$ minus one standard error"]
    assert limit.get_ydata()[0] == best.r2 - best.r2_se
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == labels


def test_bars_end_where_the_intervals_do(evaluation):
    """Vertical bars are one standard error, horizontal ones the interval."""
    display = evaluation.plot()
    frame = display.frame()
    across, along = (list(bars.get_segments()) for bars in display.ax_.collections)
    np.testing.assert_allclose([ends[0, 0] for ends in across], frame["lower"])
    np.testing.assert_allclose([ends[1, 0] for ends in across], frame["upper"])
    np.testing.assert_allclose([ends[0, 1] for ends in along], frame["r2"] - frame["r2_se"])
    np.testing.assert_allclose([ends[1, 1] for ends in along], frame["r2"] + frame["r2_se"])


def test_axes_are_labelled(evaluation):
    """Labels say what is measured, how rules are compared, and over how many folds."""
    axes = evaluation.plot(measure="jaccard").ax_
    assert "Jaccard between folds (same thresholds), 95% interval" in axes.get_xlabel()
    assert "mean of 4 folds" in axes.get_ylabel()
    _, given = plt.subplots()
    assert evaluation.plot(given).ax_ is given
    assert evaluation.plot(given, rule="best").limit is None


def test_two_folds_have_no_interval_to_draw():
    """Where an interval is not known there is no bar, and all else is drawn."""
    X, y = load_diabetes(return_X_y=True)
    found = evaluate_frontier(MossRegressor(3, n_trees=20), X, y, cv=2, points=[0.9, 0.8])
    display = found.plot()
    assert np.isnan(display.frame()["lower"]).all()
    assert "stability only" not in display.artists_


def test_what_cannot_be_drawn_is_refused(evaluation, monkeypatch):
    """Other objects, measures and rules, axes of no kind, and no matplotlib."""
    with pytest.raises(UnsupportedType, match="FrontierEvaluation"):
        EvaluationDisplay.from_evaluation("figures")
    with pytest.raises(InvalidParameter, match="measure"):
        evaluation.plot(measure="cosine")
    with pytest.raises(InvalidParameter, match="rule"):
        evaluation.plot(rule="lucky")
    with pytest.raises(UnsupportedType, match="ax"):
        evaluation.plot("axes")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependency, match=r"mossrules\[plot\]"):
        evaluation.plot()
