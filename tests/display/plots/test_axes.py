import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from mossrules import MossRegressor
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import Levels, Range, Rule
from mossrules.data.columns import Kind
from mossrules.display.plots import _axes
from mossrules.display.plots._axes import (
    Rows,
    rules_of,
    shorten,
    signed,
    split_axes,
    units,
    wrap,
    wrap_name,
)
from mossrules.exceptions import UnsupportedType
from support.model_cases import HOSTILE, many_rules, rulesets

LONG = "a_name_of_{}_that_goes_on_and_on_with_parts_and_more_parts_and_then_some_at_the_end_of_it"


def numeric(*names):
    """Return a binning of numeric columns with cuts at 1.5 and 2."""
    return Binning(tuple(BinnedColumn(name, Kind.NUMERIC, (1.5, 2.0)) for name in names))


# --- words ----------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(rulesets(), st.integers(20, 60))
def test_lines_are_never_longer_than_asked_for(ruleset, width):
    """Whatever the names; and each condition has two lines at most."""
    for rule in ruleset.rules:
        lines = wrap(rule, ruleset.binning, width).split("\n")
        assert max(map(len, lines)) <= width
        assert len(lines) <= 2 * len(rule)
        assert all(line.isprintable() for line in lines)


@settings(max_examples=60, deadline=None)
@given(rulesets())
def test_what_fits_is_the_text_of_the_rule(ruleset):
    """With room enough nothing is broken or lost."""
    for rule, text in zip(ruleset.rules, ruleset.texts, strict=True):
        if text.isprintable() and text == text.strip() and "  " not in text:
            assert wrap(rule, ruleset.binning, 10_000) == text


def test_rules_are_broken_between_conditions():
    """As many conditions in a line as fit, each next line from its "and" on."""
    rule = Rule.of([Range("alpha", 2), Range("beta", 1, 1), Range("gamma", 3)])
    binning = numeric("alpha", "beta", "gamma")
    assert wrap(rule, binning, 40) == "alpha > 1.5 and beta <= 1.5\nand gamma > 2"
    assert wrap(rule, binning, 20) == "alpha > 1.5\nand beta <= 1.5\nand gamma > 2"


def test_long_names_are_broken_at_their_parts():
    """Between words, or after an underscore or a slash."""
    assert wrap_name("one_two_three_four", 10) == "one_two_\nthree_four"
    assert wrap_name("mass per/volume of it", 12) == "mass per/\nvolume of it"
    assert wrap_name("abcdefghijkl", 8) == "abcdefgh\nijkl"


def test_what_is_too_long_loses_its_middle():
    """The threshold, at the end, is never lost."""
    name = LONG.format("x")
    lines = wrap(Rule.of([Range(name, 1, 2)]), numeric(name), 30).split("\n")
    assert len(lines) == 2
    assert lines[0].startswith("a_name_of_x_that")
    assert lines[0].endswith("…")
    assert lines[1].endswith("of_it <= 2")
    levels = frozenset(f"town {i}" for i in range(50))
    column = BinnedColumn("home", Kind.CATEGORICAL, (), tuple(sorted(levels)))
    words = wrap(Rule.of([Levels("home", levels)]), Binning((column,)), 30).split("\n")
    assert words[0].startswith("home is town 0 or town 1")
    assert words[1].endswith("or town 9")


@pytest.mark.parametrize("name", HOSTILE)
def test_names_stay_names(name):
    """Control characters show as escapes; nothing else changes but spaces at the ends."""
    shown = wrap_name(name)
    assert shown.isprintable()
    if name.isprintable():
        assert shown == name.strip()
    assert len(shorten(name * 20, 12)) <= 12


def test_targets_and_signs():
    """Units are those of the target, and a minus is as wide as a plus."""
    assert units(None) == "the target's units"
    assert units("price") == "units of price"
    assert units("the price of a house of a kind") == "units of the price of a house of…"
    assert signed("-1e-07") == "\N{MINUS SIGN}1e\N{MINUS SIGN}07"
    assert signed("+3") == "+3"


# --- models ---------------------------------------------------------------------------------------


def test_rules_come_from_rule_sets_and_fitted_estimators():
    """Anything with rules_ will do."""
    ruleset = many_rules(2)
    assert rules_of(ruleset) is ruleset

    class Method:
        rules_ = ruleset

    assert rules_of(Method()) is ruleset


@pytest.mark.parametrize("wrong", [None, "rules", [many_rules(1)], MossRegressor()])
def test_what_has_no_rules_is_refused(wrong):
    """An estimator before fit among others; one sentence says what to pass."""
    with pytest.raises(UnsupportedType, match=r"thing is a .* pass a RuleSet or a fitted"):
        rules_of(wrong, "thing")


# --- rows -----------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["", "one", "one\ntwo", "one\ntwo\nthree"]), max_size=8))
def test_rows_are_as_high_as_their_words(words):
    """They fill the axes from the top down without gaps, and their words are in the middle."""
    rows = Rows(tuple(words))
    heights = [each.count("\n") + 1 + _axes.SPACE for each in words]
    ax = Figure().subplots()
    rows.draw(ax)
    bottom, top = ax.get_ylim()
    assert top == 0
    assert bottom == pytest.approx(sum(heights) or 1 + _axes.SPACE)
    above = [sum(heights[:i]) for i in range(len(heights))]
    expected = [start + height / 2 for start, height in zip(above, heights, strict=True)]
    assert rows.centres == pytest.approx(expected)
    assert ax.get_yticks().tolist() == rows.centres
    assert [label.get_text() for label in ax.get_yticklabels()] == words
    _, tall = rows.figure_size(3.0, 1.0)
    assert tall == pytest.approx(1.0 + _axes.LINE * bottom)


def test_panels_share_the_rows_and_fill_the_width():
    """Widths are in proportion, with space between."""
    ax = Figure().subplots()
    Rows(("one", "two")).draw(ax)
    panels = list(split_axes(ax, [2.0, 1.0], 0.1))
    assert [panel.get_ylim() for panel in panels] == [ax.get_ylim()] * 2
    whole, *parts = [each.get_position() for each in (ax, *panels)]
    ends = [
        ((part.x0 - whole.x0) / whole.width, (part.x1 - whole.x0) / whole.width) for part in parts
    ]
    assert ends == [pytest.approx((0.0, 0.6)), pytest.approx((0.7, 1.0))]
