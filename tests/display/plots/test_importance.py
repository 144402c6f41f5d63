import io
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from mossrules import MossRegressor, RuleSet
from mossrules.candidates.cuts import Binning
from mossrules.display import ImportanceDisplay
from mossrules.exceptions import InvalidParameter, UnsupportedType
from support.model_cases import many_rules

mpl.use("Agg")
PLAIN = "x{}"
LONG = "the_{}_of_all_things_that_were_measured_at_the_first_visit_to_the clinic ($mg_/dl$)"
KINDS = ("rules", "features")


@pytest.fixture(autouse=True)
def _close_figures():
    plt.close("all")  # what other tests left
    yield
    plt.close("all")


# --- data -----------------------------------------------------------------------------------------


def test_the_frame_is_that_of_the_rule_set():
    """Of both kinds, from an estimator and from its rules, in every library."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    model = MossRegressor(3, n_trees=20, n_jobs=1).fit(X, X[:, 0] + (X[:, 1] > 0))
    expected = {
        "rules": model.rules_.rule_importances(),
        "features": model.rules_.feature_importances(),
    }
    for kind, table in expected.items():
        assert ImportanceDisplay.from_estimator(model, kind).frame().equals(table)
        display = ImportanceDisplay.from_rules(model.rules_, kind)
        assert display.frame(backend="polars").to_dicts() == table.to_dict("records")
    assert ImportanceDisplay.from_estimator(model).frame().equals(expected["rules"])


@pytest.mark.parametrize("make", [ImportanceDisplay.from_estimator, ImportanceDisplay.from_rules])
def test_other_things_are_refused(make):
    """One sentence each."""
    with pytest.raises(UnsupportedType, match="is a int without rules"):
        make(3)
    with pytest.raises(InvalidParameter, match="'columns'; choose from 'rules', 'features'"):
        make(many_rules(2), "columns")


# --- drawing --------------------------------------------------------------------------------------


@settings(max_examples=10, deadline=None)
@given(
    st.integers(1, 12),
    st.sampled_from([1e-8, 1.0, 1e12]),
    st.integers(0, 99),
    st.sampled_from(KINDS),
)
def test_what_is_drawn_is_the_frame(n, scale, seed, kind):
    """A bar for each row of the frame from the top down, with its name and share."""
    ax = Figure().subplots()
    display = ImportanceDisplay.from_rules(many_rules(n, scale=scale, seed=seed), kind).plot(ax)
    assert (display.ax_, display.figure_) == (ax, ax.figure)
    table = display.frame()
    assert [bar.get_width() for bar in display.bars_] == table["importance"].tolist()
    middles = [bar.get_y() + bar.get_height() / 2 for bar in display.bars_]
    assert middles == pytest.approx(ax.get_yticks())
    names = table[kind.removesuffix("s")].tolist()
    assert [label.get_text() for label in ax.get_yticklabels()] == names
    assert [text.get_text() for text in ax.texts] == [f"{share:.1%}" for share in table["share"]]
    assert ax.get_xlabel() == f"importance of {kind}\n(the target's units)"
    low, high = ax.get_xlim()
    assert low == 0
    assert high > table["importance"].max()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [PLAIN, LONG])
@pytest.mark.parametrize("n", [1, 30])
def test_nothing_overlaps_or_is_cut_off(n, name, kind):
    """Words are within the figure and apart from each other, shares within the axes."""
    target = None if name == PLAIN else "a target with a name that is too long for any axis"
    ruleset = many_rules(n, name=name, target=target)
    display = ImportanceDisplay.from_rules(ruleset, kind).plot()
    display.figure_.canvas.draw()
    page, frame = display.figure_.bbox, display.ax_.get_window_extent()
    words = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    ticks = [label.get_window_extent() for label in display.ax_.get_xticklabels()]
    for box in (*words, display.ax_.xaxis.label.get_window_extent()):
        assert page.x0 <= box.x0
        assert box.x1 <= page.x1
        assert page.y0 <= box.y0
        assert box.y1 <= page.y1
    shown = [box for box in ticks if (box.x0 + box.x1) / 2 <= frame.x1]
    assert all(box.x1 <= page.x1 for box in shown)
    assert all(lower.y1 < upper.y0 for upper, lower in pairwise(words))
    assert all(box.x1 < frame.x0 for box in words)
    assert all(text.get_window_extent().x1 <= frame.x1 for text in display.ax_.texts)


@pytest.mark.parametrize("kind", KINDS)
def test_without_rules_there_are_no_bars(kind):
    """The figure says so."""
    empty = RuleSet((), np.empty(0), 1.0, Binning(()), ("a",), np.empty(0), np.empty(0), "price")
    display = ImportanceDisplay.from_rules(empty, kind).plot()
    assert len(display.bars_) == 0
    assert display.ax_.get_xlabel().endswith("(units of price; there are no rules)")
    display.figure_.savefig(io.BytesIO())


def test_rules_that_hold_everywhere_have_bars_of_no_length():
    """All importances may be 0."""
    ruleset = many_rules(2)
    flat = RuleSet(
        ruleset.rules, ruleset.weights, 0.0, ruleset.binning, ruleset.columns, np.ones(2),
        ruleset.proportion,
    )  # fmt: skip
    display = ImportanceDisplay.from_rules(flat).plot()
    assert [text.get_text() for text in display.ax_.texts] == ["0.0%", "0.0%"]
    display.figure_.savefig(io.BytesIO())


def test_a_new_figure_is_made_only_without_axes():
    """Axes that are not pyplot's work too."""
    display = ImportanceDisplay.from_rules(many_rules(2))
    display.plot(Figure().subplots())
    assert plt.get_fignums() == []
    display.plot()
    assert plt.get_fignums() == [display.figure_.number]
    with pytest.raises(UnsupportedType, match="ax is a str"):
        display.plot("axes")
