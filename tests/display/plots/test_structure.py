import io

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

from mossrules import RuleSet
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import Levels, Range, Rule
from mossrules.data.columns import Kind
from mossrules.display import StructureDisplay
from mossrules.display.plots.structure import words_over
from mossrules.exceptions import InvalidParameter, UnsupportedType

mpl.use("Agg")

WIDE = Rule.of([Range("width", low=3), Range("length", low=2, high=2)])
LOW = Rule.of([Range("length", high=1)])
SOUTH = Rule.of([Levels("place", frozenset(["south"])), Range("length", high=1, missing=True)])
ABSENT = Rule.of([Range("width", low=1, high=0, missing=True)])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def ruleset_of(weights, cut=2.0):
    """Return a rule set with a weight for each rule; the second cut of both numbers is given."""
    columns = (
        BinnedColumn("length", Kind.NUMERIC, (-1.5, cut)),
        BinnedColumn("width", Kind.NUMERIC, (0.5, cut)),
        BinnedColumn("place", Kind.CATEGORICAL, levels=("north", "south")),
    )
    n = len(weights)
    return RuleSet(
        rules=tuple(weights),
        weights=np.array([*weights.values()], dtype=np.float64),
        intercept=0.0,
        binning=Binning(columns),
        columns=("length", "width", "place"),
        support=np.linspace(0.2, 0.4, n),
        proportion=np.full(n, 0.1),
        target="cost $",
    )


SPLITS = [
    ruleset_of({WIDE: 2.0, LOW: -3.0, SOUTH: 0.5}),
    ruleset_of({WIDE: 4.0, LOW: -1.0, ABSENT: 1.0}, cut=2.5),
    ruleset_of({WIDE: -1.0, LOW: -2.0, SOUTH: 0.7}, cut=2.25),
]


def test_the_rules_of_all_splits_have_ranges_of_thresholds_and_of_weights():
    """A row is a rule that every split has, the one of the largest mean weight first."""
    display = StructureDisplay.from_splits(SPLITS, identity="codes")
    frame = display.frame()
    assert frame["rule"].tolist() == [
        "length <= -1.5",
        "-1.5 < length <= 2..2.5 and width > 2..2.5",
    ]
    assert frame["asks"].tolist() == ["low", "between, high"]
    assert frame["weight"].tolist() == pytest.approx([-2.0, 5 / 3])
    assert frame["weight_low"].tolist() == [-3.0, -1.0]
    assert frame["weight_high"].tolist() == [-1.0, 4.0]
    assert display.features == ("length", "width")
    some = StructureDisplay.from_splits(SPLITS, share=2 / 3, identity="codes")
    assert [each.asks for each in some.rules][2] == ("low", "level")
    assert [each.splits for each in some.rules] == [3, 3, 2]
    every = StructureDisplay.from_splits(SPLITS, share=0.1, identity="codes")
    assert every.rules[-1].asks == ("missing",)


def test_rules_are_the_same_where_they_read_the_same():
    """By default a rule whose cut point moves is another one in each split."""
    frame = StructureDisplay.from_splits(SPLITS).frame()
    assert frame["rule"].tolist() == ["length <= -1.5"]
    assert frame["weight"].tolist() == [-2.0]
    every = StructureDisplay.from_splits(SPLITS, share=0.1).frame()
    assert every["rule"].is_unique
    assert sorted(every["splits"]) == [1, 1, 1, 1, 2, 3]


def test_every_condition_is_a_mark_and_every_weight_a_line():
    """Marks are at the feature's column and the rule's row; lines go from least to most."""
    display = StructureDisplay.from_splits(SPLITS, share=2 / 3).plot()
    features, weights = display.axes_["features"], display.axes_["weight"]
    marks = [line for line in features.lines if line.get_marker() != "None"]
    drawn = [(int(line.get_xdata()[0]), line.get_marker()) for line in marks]
    place = {name: i for i, name in enumerate(display.features)}
    expected = [
        (place[feature], {"high": "^", "low": "v", "between": "D", "level": "s"}[ask])
        for each in display.rules
        for feature, ask in zip(each.features, each.asks, strict=True)
    ]
    assert drawn == expected
    spans = [tuple(line.get_xdata()) for line in weights.lines[1::2]]
    assert spans == [(each.weight_low, each.weight_high) for each in display.rules]
    assert "2 or more of 3" in display.ax_.get_title(loc="right")
    display.figure_.savefig(io.BytesIO(), format="png")


def test_no_common_rule_is_said_and_not_a_failure():
    """Splits without a common rule make an empty frame and a figure that says so."""
    display = StructureDisplay.from_splits([ruleset_of({WIDE: 1.0}), ruleset_of({LOW: 1.0})])
    assert len(display.frame()) == 0
    display.plot().figure_.savefig(io.BytesIO(), format="png")
    assert "No rule was found in all 2" in display.ax_.get_title(loc="right")


def test_what_cannot_be_compared_is_refused():
    """One split, or something without rules, is refused with the remedy."""
    with pytest.raises(InvalidParameter, match="pass at least two"):
        StructureDisplay.from_splits(SPLITS[:1])
    with pytest.raises(UnsupportedType, match="without rules"):
        StructureDisplay.from_splits([1, 2])


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["a 1 > 3", "a 1 > 3"], "a 1 > 3"),
        (["(9 < a2 <= 11 or a2 is missing)", "(10 < a2 <= 11 or a2 is missing)"],
         "(9..10 < a2 <= 11 or a2 is missing)"),
        (["x <= 1e-05", "x <= -2.5"], "x <= -2.5..1e-05"),
        (["size <= small", "size <= large"], "\N{ALMOST EQUAL TO} size <= small"),
    ],
)  # fmt: skip
def test_texts_over_splits_have_ranges_where_numbers_differ(texts, words):
    """Numbers become ranges; other words that differ have the sign of the first."""
    assert words_over(texts) == words
