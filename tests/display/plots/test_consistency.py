import io
from collections import Counter
from itertools import combinations, pairwise

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from sklearn.model_selection import cross_validate

from mossrules import MossRegressor, RuleSet
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import Range, Rule
from mossrules.data.columns import Kind
from mossrules.display import ConsistencyDisplay
from mossrules.display.plots.consistency import ABOUT, LONE
from mossrules.exceptions import InvalidParameter, UnsupportedType

mpl.use("Agg")
CUTS = {"usual": (0.5, 1.0, 2.0), "other": (0.5, 1.1, 2.0)}
LETTERS = "abcdefgh"


@pytest.fixture(autouse=True)
def _close_figures():
    plt.close("all")  # what other tests left
    yield
    plt.close("all")


def ruleset_of(letters, *, cuts="usual", pattern="{}"):
    """Return a rule `letter in bins 3..` for each letter; cuts differ between usual and other."""
    names = [pattern.format(letter) for letter in LETTERS]
    columns = [BinnedColumn(name, Kind.NUMERIC, CUTS[cuts]) for name in names]
    n = len(letters)
    return RuleSet(
        rules=tuple(Rule.of([Range(pattern.format(letter), 3)]) for letter in letters),
        weights=np.arange(1.0, n + 1.0),
        intercept=0.0,
        binning=Binning(tuple(columns)),
        columns=tuple(names),
        support=np.full(n, 0.5),
        proportion=np.full(n, 0.1),
    )


SETS = st.lists(
    st.builds(
        lambda letters, cuts: ruleset_of(sorted(letters), cuts=cuts),
        st.sets(st.sampled_from(LETTERS), max_size=6),
        st.sampled_from(sorted(CUTS)),
    ),
    min_size=2,
    max_size=5,
)
LEARNERS = st.dictionaries(st.sampled_from(["moss", "sirus", "fire"]), SETS, min_size=1)
IDENTITIES = st.sampled_from(["codes", "thresholds"])


def names_of(ruleset, identity):
    """Return what each rule is called, so that the same rules have the same names."""
    return ruleset.texts if identity == "thresholds" else list(map(str, ruleset.rules))


def blocks_of(panel):
    """Return the blocks of a panel: split, middle, colour, whether it has a frame."""
    return [
        (
            round(bar.get_x() + bar.get_width() / 2),
            round(bar.get_y() + bar.get_height() / 2, 6),
            to_rgba(bar.get_facecolor()),
            bar.get_edgecolor() == to_rgba("black") and bar.get_linewidth() > 1,
        )
        for bar in panel.patches
    ]


# --- data -----------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(LEARNERS, IDENTITIES)
def test_the_frame_has_every_rule_of_every_split(methods, identity):
    """With how many splits have it, counted here by hand."""
    table = ConsistencyDisplay.from_splits(methods, identity=identity).frame()
    expected, twice = [], set()
    for name, sets in methods.items():
        times = Counter(rule for each in sets for rule in names_of(each, identity))
        twice |= {rule for rule, count in times.items() if count > 1}
        for split, each in enumerate(sets, 1):
            for text, rule in zip(each.texts, names_of(each, identity), strict=True):
                count = times[rule]
                expected.append((name, split, text, count, count == len(sets), rule))
    columns = ["method", "split", "rule", "splits", "common"]
    found = list(zip(*(table[column].tolist() for column in columns), strict=True))
    assert found == [row[:-1] for row in expected]
    assert table["lone"].tolist() == [row[-1] not in twice for row in expected]


@settings(max_examples=50, deadline=None)
@given(LEARNERS, IDENTITIES)
def test_a_rule_has_one_place_and_the_most_consistent_are_on_top(methods, identity):
    """Rules that come again have rows of their own; the rest are packed below, by split."""
    display = ConsistencyDisplay.from_splits(methods, identity=identity)
    keys = [rule for sets in methods.values() for each in sets for rule in names_of(each, identity)]
    sizes = {name: len(sets) for name, sets in methods.items()}
    place, share = {}, Counter()
    for key, block in zip(keys, display.blocks, strict=True):
        if not block.lone:
            assert place.setdefault(key, block.place) == block.place
            share[key] = max(share[key], block.splits / sizes[block.method])
    assert sorted(place.values()) == list(range(1, len(display.words) + 1))
    ordered = [share[key] for key in sorted(place, key=place.get)]
    assert ordered == sorted(ordered, reverse=True)
    for name, sets in methods.items():
        for split in range(1, len(sets) + 1):
            below = [
                block.place
                for block in display.blocks
                if (block.method, block.split, block.lone) == (name, split, True)
            ]
            first = len(display.words) + 1
            assert below == list(range(first, first + len(below)))


@settings(max_examples=50, deadline=None)
@given(LEARNERS, IDENTITIES)
def test_the_summary_is_what_anyone_would_count(methods, identity):
    """Dice by its definition over all pairs, distinct and common rules as sets."""
    table = ConsistencyDisplay.from_splits(methods, identity=identity).summary()
    for row, (name, sets) in zip(table.to_dict("records"), methods.items(), strict=True):
        found = [set(names_of(each, identity)) for each in sets]
        dice = [
            2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0 for a, b in combinations(found, 2)
        ]
        assert row == {
            "method": name,
            "splits": len(sets),
            "dice": pytest.approx(sum(dice) / len(dice)),
            "distinct": len(set.union(*found)),
            "common": len(set.intersection(*found)),
        }


def test_thresholds_may_differ_where_bins_do_not():
    """By codes a rule is found again with another cut, which its words say; by thresholds not."""
    splits = [ruleset_of("ab"), ruleset_of("ab", cuts="other")]
    by_codes = ConsistencyDisplay.from_splits(splits, identity="codes")
    assert by_codes.words == (f"{ABOUT} a > 1", f"{ABOUT} b > 1")
    assert by_codes.frame()["rule"].tolist() == ["b > 1", "a > 1", "b > 1.1", "a > 1.1"]
    assert by_codes.summary()["dice"].tolist() == [1.0]
    by_thresholds = ConsistencyDisplay.from_splits(splits, identity="thresholds")
    assert by_thresholds.words == ()
    assert by_thresholds.summary()["dice"].tolist() == [0.0]
    assert by_thresholds.frame()["lone"].all()


def test_fitted_estimators_of_a_cross_validation_are_splits():
    """As scikit-learn returns them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = 2.0 * (X[:, 0] > 0) + (X[:, 1] > 0.3) + 0.1 * rng.normal(size=120)
    models = cross_validate(
        MossRegressor(3, n_trees=30, n_jobs=1), X, y, cv=4, return_estimator=True
    )["estimator"]
    display = ConsistencyDisplay.from_splits({"moss": models})
    same = ConsistencyDisplay.from_splits({"moss": [model.rules_ for model in models]})
    assert display.frame().equals(same.frame())
    assert set(display.frame()["split"]) == {1, 2, 3, 4}
    assert display.frame(backend="polars").to_dicts() == display.frame().to_dict("records")
    assert display.summary(backend="polars").to_dicts() == display.summary().to_dict("records")


@pytest.mark.parametrize(
    ("splits", "error", "message"),
    [
        (3, UnsupportedType, "The splits are a int; pass a list"),
        (ruleset_of("a"), UnsupportedType, "The splits are a RuleSet; pass a list"),
        ({"m": None}, UnsupportedType, "The splits of 'm' are a NoneType"),
        ([ruleset_of("a"), MossRegressor()], UnsupportedType, "One of the splits is a MossReg"),
        ({"m": [1, 2]}, UnsupportedType, "One of the splits of 'm' is a int without rules"),
        ([ruleset_of("a")], InvalidParameter, "The number of splits is 1; pass at least two"),
        ([], InvalidParameter, "The number of splits is 0; pass at least two"),
        ({}, InvalidParameter, "no methods"),
    ],
)
def test_other_things_are_refused(splits, error, message):
    """One sentence says what to pass."""
    with pytest.raises(error, match=message):
        ConsistencyDisplay.from_splits(splits)


def test_rules_that_share_rows_have_no_groups():
    """That identity is one of pairs, and is not drawn."""
    with pytest.raises(InvalidParameter, match="'rows'; choose from 'codes', 'thresholds'"):
        ConsistencyDisplay.from_splits([ruleset_of("a")] * 2, identity="rows")


# --- drawing --------------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(LEARNERS, IDENTITIES, st.booleans())
def test_what_is_drawn_is_the_frame(methods, identity, labels):
    """Each block at its split and place; common ones framed, with an arrow; lone ones grey."""
    ax = Figure().subplots()
    display = ConsistencyDisplay.from_splits(methods, identity=identity).plot(ax, labels=labels)
    assert (display.ax_, display.figure_) == (ax, ax.figure)
    table, rows = display.frame(), [round(tick, 6) for tick in ax.get_yticks()]
    assert list(display.axes_) == list(methods)
    colours = {}
    for figures in display.summary().to_dict("records"):
        panel = display.axes_[figures["method"]]
        own = table[table["method"] == figures["method"]]
        drawn = blocks_of(panel)
        assert [each[:2] for each in drawn] == [
            (split, rows[place - 1])
            for split, place in zip(own["split"], own["place"], strict=True)
        ]
        assert [each[3] for each in drawn] == own["common"].tolist()
        grey = to_rgba(LONE)
        assert [each[2] == grey for each in drawn] == own["lone"].tolist()
        for (_, row, colour, _), lone in zip(drawn, own["lone"], strict=True):
            assert lone or colours.setdefault(row, colour) == colour
        (arrows,) = panel.lines
        common = sorted(set(own.loc[own["common"], "place"]))
        assert [round(y, 6) for y in arrows.get_ydata()] == [rows[place - 1] for place in common]
        assert f"mean Dice {figures['dice']:.2f}" in panel.get_title()
        assert figures["method"] in panel.get_title()
    words = [label.get_text() for label in ax.get_yticklabels()]
    if labels:
        assert tuple(words[: len(display.words)]) == display.words
    assert ("in all refits" in ax.get_xlabel()) == table["common"].any()
    assert (ABOUT in ax.get_xlabel()) == any(each.startswith(ABOUT) for each in display.words)


def test_neighbouring_rows_differ_in_colour():
    """The first twelve rows all do."""
    splits = [ruleset_of(LETTERS)] * 3
    (panel,) = ConsistencyDisplay.from_splits(splits).plot().axes_.values()
    assert len({colour for _, _, colour, _ in blocks_of(panel)}) == len(LETTERS)


def test_one_list_is_one_panel_without_a_name():
    """Its title is the mean Dice."""
    display = ConsistencyDisplay.from_splits([ruleset_of("ab"), ruleset_of("ac")]).plot()
    (panel,) = display.axes_.values()
    assert panel.get_title() == "mean Dice 0.50"
    assert panel.get_xticks().tolist() == [1, 2]
    display.figure_.savefig(io.BytesIO())


def test_splits_without_any_rule_have_an_empty_figure():
    """They agree, in having nothing."""
    display = ConsistencyDisplay.from_splits([ruleset_of("")] * 2).plot()
    assert len(display.frame()) == 0
    assert display.summary()["dice"].tolist() == [1.0]
    display.figure_.savefig(io.BytesIO())


@pytest.mark.parametrize(
    "pattern", ["{}", "the_{}_of_all_things_that_were_measured_at_the_clinic $x$"]
)
@pytest.mark.parametrize("n_splits", [2, 12])
@pytest.mark.parametrize("n_methods", [1, 3])
def test_nothing_overlaps_or_is_cut_off(n_methods, n_splits, pattern):
    """Words, titles and the legend are within the figure and apart from each other."""
    rng = np.random.default_rng([n_methods, n_splits])
    methods = {
        f"method number {i} of all methods": [
            ruleset_of(
                rng.choice(list(LETTERS), 4, replace=False),
                cuts=["usual", "other"][split % 2],
                pattern=pattern,
            )
            for split in range(n_splits)
        ]
        for i in range(n_methods)
    }
    display = ConsistencyDisplay.from_splits(methods).plot()
    display.figure_.canvas.draw()
    page = display.figure_.bbox
    words = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    words = [box for box in words if box.width > 1]
    titles = [panel.title.get_window_extent() for panel in display.axes_.values()]
    below = [panel.xaxis.label.get_window_extent() for panel in display.axes_.values()]
    legend = [display.ax_.xaxis.label.get_window_extent()] if display.ax_.get_xlabel() else []
    for box in (*words, *titles, *below, *legend):
        assert page.x0 <= box.x0
        assert box.x1 <= page.x1
        assert page.y0 <= box.y0
        assert box.y1 <= page.y1
    assert all(lower.y1 < upper.y0 for upper, lower in pairwise(words))
    assert all(left.x1 < right.x0 for left, right in pairwise(titles))
    assert all(words.y1 <= box.y0 for words in legend for box in below)


def test_a_new_figure_is_made_only_without_axes():
    """Axes that are not pyplot's work too."""
    display = ConsistencyDisplay.from_splits([ruleset_of("ab")] * 2)
    display.plot(Figure().subplots())
    assert plt.get_fignums() == []
    display.plot()
    assert plt.get_fignums() == [display.figure_.number]
    with pytest.raises(UnsupportedType, match="ax is a str"):
        display.plot("axes")
