import io
import sys
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from mossrules import MossRegressor, RuleSet
from mossrules.candidates.cuts import Binning
from mossrules.display import ConsistencyDisplay, ImportanceDisplay, RulesDisplay
from mossrules.display.plots.rules import DOWN, UP
from mossrules.exceptions import MissingDependency, UnsupportedType
from support.model_cases import many_rules

mpl.use("Agg")
PLAIN = "x{}"
LONG = "the_{}_of_all_things_that_were_measured_at_the_first_visit_to_the clinic ($mg_/dl$)"
MINUS = "\N{MINUS SIGN}"


@pytest.fixture(autouse=True)
def _close_figures():
    plt.close("all")  # what other tests left
    yield
    plt.close("all")


def numbers(ax):
    """Return the numbers that are written in a panel, from the top down."""
    return [text.get_text() for text in ax.texts]


def no_rules(target=None):
    """Return a rule set without rules."""
    return RuleSet((), np.empty(0), -1.5, Binning(()), ("a",), np.empty(0), np.empty(0), target)


# --- data -----------------------------------------------------------------------------------------


def test_the_frame_is_that_of_the_rule_set():
    """From an estimator and from its rules, in every library."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    model = MossRegressor(3, n_trees=20, n_jobs=1).fit(X, X[:, 0] + (X[:, 1] > 0))
    expected = model.rules_.to_frame()
    assert RulesDisplay.from_estimator(model).frame().equals(expected)
    display = RulesDisplay.from_rules(model.rules_)
    assert display.frame(backend="polars").to_dicts() == expected.to_dict("records")


@pytest.mark.parametrize("make", [RulesDisplay.from_estimator, RulesDisplay.from_rules])
def test_what_has_no_rules_is_refused(make):
    """One sentence names what came."""
    with pytest.raises(UnsupportedType, match="is a int without rules"):
        make(3)


# --- drawing --------------------------------------------------------------------------------------


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 12), st.sampled_from([1e-8, 0.1, 1.0, 1e6, 1e12]), st.integers(0, 99))
def test_what_is_drawn_is_the_frame(n, scale, seed):
    """Bars, dots and numbers are those of the frame, row by row."""
    ruleset = many_rules(n, scale=scale, seed=seed) if n else no_rules()
    ax = Figure().subplots()
    display = RulesDisplay.from_rules(ruleset).plot(ax)
    assert (display.ax_, display.figure_) == (ax, ax.figure)
    table, panels = display.frame(), display.axes_
    assert [label.get_text() for label in ax.get_yticklabels()] == table["rule"].tolist()
    rows = ax.get_yticks()
    weights = panels["weight"].patches
    assert [bar.get_width() for bar in weights] == table["weight"].tolist()
    assert [bar.get_y() + bar.get_height() / 2 for bar in weights] == pytest.approx(rows)
    support = panels["support"].patches
    assert [bar.get_width() / 100 for bar in support] == pytest.approx(table["support"].tolist())
    (dots,) = panels["proportion"].lines
    assert (dots.get_xdata() / 100).tolist() == pytest.approx(table["proportion"].tolist())
    assert list(dots.get_ydata()) == pytest.approx(rows)
    for name in ("support", "proportion"):
        assert numbers(panels[name]) == [f"{100 * share:.1f}" for share in table[name]]
    written = [float(text.replace(MINUS, "-")) for text in numbers(panels["weight"])]
    assert written == pytest.approx(
        table["weight"].tolist(), abs=max([0, *abs(table["weight"])]) / 999
    )
    low, high = panels["weight"].get_xlim()
    assert low <= min([0, *table["weight"]])
    assert high >= max([0, *table["weight"]])
    assert all(each.get_xlabel() for each in panels.values())


def test_up_and_down_differ_in_more_than_colour():
    """Bars go to the right or to the left of zero, and numbers have signs."""
    display = RulesDisplay.from_rules(many_rules(10)).plot()
    bars, signs = display.axes_["weight"].patches, numbers(display.axes_["weight"])
    for bar, text, weight in zip(bars, signs, display.frame()["weight"], strict=True):
        assert text[0] == ("+" if weight > 0 else MINUS)
        assert to_rgba(bar.get_facecolor()) == to_rgba(UP if weight > 0 else DOWN)
        assert (bar.get_width() > 0) == (weight > 0)
    assert len({text[0] for text in signs}) == 2


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (None, "The prediction is 3.700 (intercept)\nplus the effects of the rules that hold"),
        ("a $b$", "Predicted a $b$ is 3.700 (intercept)\nplus the effects of the rules that hold"),
    ],
)
def test_the_intercept_is_in_the_title(target, words):
    """With the target's name, and with the decimals of the weights."""
    display = RulesDisplay.from_rules(many_rules(2, target=target)).plot()
    assert display.ax_.get_title("right") == words
    assert ("the target's units" if target is None else "units of a $b$") in display.axes_[
        "weight"
    ].get_xlabel()


def test_without_rules_the_prediction_is_said():
    """A figure without rows has a title that is the whole model."""
    display = RulesDisplay.from_rules(no_rules("price")).plot()
    assert display.ax_.get_title("right") == f"Predicted price is {MINUS}1.500: there are no rules"
    display.figure_.savefig(io.BytesIO())


@pytest.mark.parametrize("name", [PLAIN, LONG])
@pytest.mark.parametrize("n", [1, 3, 15, 30])
def test_nothing_overlaps_or_is_cut_off(n, name):
    """Words are within the figure and apart from each other, numbers within their panels."""
    target = None if name == PLAIN else "a target with a name that is too long for any axis"
    display = RulesDisplay.from_rules(many_rules(n, name=name, target=target)).plot()
    figure = display.figure_
    figure.canvas.draw()
    page = figure.bbox
    words = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    labels = [panel.xaxis.label.get_window_extent() for panel in display.axes_.values()]
    title = display.ax_._right_title.get_window_extent()
    for box in (*words, *labels, title):
        assert page.x0 <= box.x0
        assert box.x1 <= page.x1
        assert page.y0 <= box.y0
        assert box.y1 <= page.y1
    assert all(lower.y1 < upper.y0 for upper, lower in pairwise(words))
    assert all(left.x1 < right.x0 for left, right in pairwise(labels))
    assert title.y0 > words[0].y1
    for panel in display.axes_.values():
        frame = panel.get_window_extent()
        for text in panel.texts:
            box = text.get_window_extent()
            assert frame.x0 <= box.x0
            assert box.x1 <= frame.x1
    assert all(box.x1 < display.ax_.get_window_extent().x0 for box in words)


def test_a_new_figure_is_made_only_without_axes():
    """Axes that are not pyplot's work too."""
    display = RulesDisplay.from_rules(many_rules(2))
    display.plot(Figure().subplots())
    assert plt.get_fignums() == []
    display.plot()
    assert plt.get_fignums() == [display.figure_.number]
    with pytest.raises(UnsupportedType, match="ax is a str"):
        display.plot("axes")


def test_without_matplotlib_there_is_data_and_one_sentence_about_drawing(monkeypatch):
    """Only drawing needs matplotlib, of rules, importances and consistency alike."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ruleset = many_rules(3)
    for display, rows in (
        (RulesDisplay.from_rules(ruleset), 3),
        (ImportanceDisplay.from_rules(ruleset), 3),
        (ConsistencyDisplay.from_splits([ruleset, ruleset]), 6),
    ):
        assert len(display.frame()) == rows
        with pytest.raises(MissingDependency, match=r'run pip install "mossrules\[plot\]"\.'):
            display.plot()
