import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

from mossrules import MossRegressor
from mossrules.baselines import SirusRegressor
from mossrules.display import ComparisonDisplay
from mossrules.evaluation import evaluate
from mossrules.exceptions import InvalidParameter, MissingDependency, UnsupportedType

mpl.use("Agg")


@pytest.fixture(scope="module")
def evaluation():
    """Return an evaluation that no test changes."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    methods = {
        "MOSS": MossRegressor(4, n_trees=40),
        "_$IRU$": SirusRegressor(4, n_trees=40),
        "least squares": LinearRegression(),
        "of words": LinearRegression(positive="no"),  # refused when it is fitted
    }
    return evaluate(methods, X, y, cv=4)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("measure", ["dice", "jaccard", "ochiai", "pog", "nogueira"])
def test_data_are_those_of_the_evaluation(evaluation, measure):
    """The frame has each method with the measure asked for, its interval and R2."""
    frame = ComparisonDisplay.from_evaluation(evaluation, measure=measure).frame()
    table = evaluation.summary()
    for name in ("method", "r2", "r2_se", "failed"):
        np.testing.assert_array_equal(frame[name], table[name])
    for name, column in (("stability", ""), ("lower", "_lower"), ("upper", "_upper")):
        np.testing.assert_array_equal(frame[name], table[f"{measure}{column}"])
    display = ComparisonDisplay.from_evaluation(evaluation, measure=measure)
    assert isinstance(display.frame(backend="polars"), pl.DataFrame)


def test_what_is_drawn_is_the_data(evaluation):
    """A mark for each method with rules, with bars to the ends of intervals."""
    display = evaluation.plot()
    for row in display.frame()[:2].itertuples():
        point, caps, (across, along) = display.artists_[row.method]
        assert len(caps) == 4
        assert point.get_xdata() == [row.stability]
        assert point.get_ydata() == [row.r2]
        np.testing.assert_allclose(across.get_segments()[0][:, 0], [row.lower, row.upper])
        ends = [row.r2 - row.r2_se, row.r2 + row.r2_se]
        np.testing.assert_allclose(along.get_segments()[0][:, 1], ends)


def test_no_method_is_left_out(evaluation):
    """Without rules a method is a line; one that failed is in the legend, as failed."""
    display = evaluation.plot()
    line = display.artists_["least squares"]
    assert set(line.get_ydata()) == {evaluation.summaries[2].r2}
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert sorted(legend) == sorted([
        "MOSS", r" _\$IRU\$", "least squares (recurrence unknown)", "of words (failed)",
    ])  # fmt: skip
    display.figure_.canvas.draw()  # names are no mathematics


def test_marks_differ_in_more_than_colour(evaluation):
    """No two of many methods share both colour and marker."""
    display = ComparisonDisplay.from_evaluation(evaluation)
    first = display.marks[0]
    display.marks = tuple(replace(first, method=str(number)) for number in range(50))
    drawn = [artist[0] for artist in display.plot().artists_.values()]
    assert len({(each.get_color(), each.get_marker()) for each in drawn}) == 50


def test_some_failures_are_told(evaluation):
    """A method that failed on a fold says so beside its mark."""
    mark = replace(ComparisonDisplay.from_evaluation(evaluation).marks[0], failed=2)
    assert mark.label == "MOSS (failed on 2 folds)"


def test_axes_are_labelled(evaluation):
    """Labels say what is measured, how rules are compared, and over how many folds."""
    axes = evaluation.plot(measure="nogueira").ax_
    assert "Nogueira between folds (same thresholds), 95% interval" in axes.get_xlabel()
    assert "mean of 4 folds" in axes.get_ylabel()
    _, given = plt.subplots()
    assert evaluation.plot(given).ax_ is given


def test_methods_without_any_rules_are_drawn():
    """Where no method has rules there are lines, and an axis without an interval."""
    X, y = load_diabetes(return_X_y=True)
    display = evaluate({"a": LinearRegression()}, X, y, cv=2).plot()
    assert "interval" not in display.ax_.get_xlabel()
    assert list(display.artists_) == ["a"]


def test_what_cannot_be_drawn_is_refused(evaluation, monkeypatch):
    """Other objects and measures, axes of no kind, and no matplotlib."""
    with pytest.raises(UnsupportedType, match="Evaluation"):
        ComparisonDisplay.from_evaluation("figures")
    with pytest.raises(InvalidParameter, match="measure"):
        evaluation.plot(measure="cosine")
    with pytest.raises(UnsupportedType, match="ax"):
        evaluation.plot("axes")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependency, match=r"mossrules\[plot\]"):
        evaluation.plot()
