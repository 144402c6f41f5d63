import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.forest import Step
from mossrules.candidates.rules import (
    OPEN,
    Levels,
    Range,
    Rule,
    condition_of_step,
    format_number,
)
from mossrules.data.columns import Kind
from mossrules.exceptions import InvalidParameter

AGE = BinnedColumn("age", Kind.NUMERIC, cuts=(18.0, 30.0, 45.5, 65.0))
SMOKER = BinnedColumn("smoker", Kind.BOOLEAN, cuts=(0.0,))
COLOUR = BinnedColumn("colour", Kind.CATEGORICAL, levels=("blue", "green", "red"))
SEX = BinnedColumn("sex", Kind.CATEGORICAL, levels=("F", "M"))
SIZE = BinnedColumn("size", Kind.ORDERED, cuts=(0.0, 1.0), levels=("small", "medium", "large"))
BINNING = Binning((AGE, SMOKER, COLOUR, SEX, SIZE))

ranges = st.builds(
    lambda low, high, missing: Range("x", low, high, missing),
    st.integers(1, 12),
    st.one_of(st.integers(0, 12), st.just(OPEN)),
    st.booleans(),
)
labels = st.frozensets(st.sampled_from(["a", "b", "c", None]), max_size=4)
level_sets = st.builds(lambda levels, inside: Levels("x", levels, inside), labels, st.booleans())
NUMBERS = BinnedColumn("x", Kind.NUMERIC, cuts=tuple(float(cut) for cut in range(11)))
LETTERS = BinnedColumn("x", Kind.CATEGORICAL, levels=("a", "b", "c"))


@given(ranges, ranges)
def test_the_conjunction_of_ranges_accepts_what_both_accept(a, b):
    """Merging two conditions on one ordered feature is intersecting their codes."""
    both = a.accepts(NUMBERS) & b.accepts(NUMBERS)
    np.testing.assert_array_equal((a & b).accepts(NUMBERS), both)


@given(level_sets, level_sets)
def test_the_conjunction_of_level_sets_accepts_what_both_accept(a, b):
    """Merging two conditions on one categorical feature is intersecting their codes."""
    both = a.accepts(LETTERS) & b.accepts(LETTERS)
    np.testing.assert_array_equal((a & b).accepts(LETTERS), both)


# Two tables of the same columns: cut points and levels differ, and some read the same.
COLUMNS = {
    "x": [
        BinnedColumn("x", Kind.NUMERIC, cuts=(-0.0, 1.5, 2.0)),
        BinnedColumn("x", Kind.NUMERIC, cuts=(0.0, 1.5, 2.0000000000000004)),
    ],
    "flag": [BinnedColumn("flag", Kind.BOOLEAN, cuts=(0.0,))] * 2,
    "size": [
        BinnedColumn("size", Kind.ORDERED, cuts=(0.0, 1.0, 2.0), levels=("S", "M", "L", "XL")),
        BinnedColumn("size", Kind.ORDERED, cuts=(0.0, 1.0, 2.0), levels=("XS", "S", "M", "L")),
    ],
    "code": [
        BinnedColumn("code", Kind.CATEGORICAL, levels=("1", "missing", "x")),
        BinnedColumn("code", Kind.CATEGORICAL, levels=(1, 2, 3)),
    ],
}


@st.composite
def rules_of_tables(draw):
    """Return a rule, and the columns of the table that it comes from."""
    table = draw(st.integers(0, 1))
    columns = tuple(each[table] for each in COLUMNS.values())
    conditions = []
    for column in draw(st.lists(st.sampled_from(columns), min_size=1, unique=True)):
        if column.kind is Kind.CATEGORICAL:
            among = st.sampled_from((*column.levels, None))
            levels = draw(st.frozensets(among, min_size=1, max_size=2))
            conditions.append(Levels(column.name, levels, draw(st.booleans())))
            continue
        low = draw(st.integers(1, column.n_values))
        last = len(column.cuts)
        high = OPEN if low > last else draw(st.sampled_from([*range(low, last + 1), OPEN]))
        if (low, high) == (1, OPEN):
            low, high = draw(st.sampled_from([(1, 0), (1, OPEN)]))
        missing = (low > high) or (high != OPEN and draw(st.booleans()))
        conditions.append(Range(column.name, low, high, missing))
    return Rule.of(conditions), Binning(columns)


@given(rules_of_tables(), rules_of_tables())
def test_what_is_printed_is_the_same_where_the_texts_are(a, b):
    """Values are compared, and two rules agree on them exactly where a reader sees one text."""
    (one, first), (other, second) = a, b
    same_text = one.text(first) == other.text(second)
    assert (one.printed(first) == other.printed(second)) == same_text
    if same_text:
        assert hash(one.printed(first)) == hash(other.printed(second))


def test_what_is_printed_compares_values():
    """Cut points are compared to the last bit, levels by their words, minus zero with zero."""
    first, second = (Binning(tuple(of)) for of in zip(*COLUMNS.values(), strict=True))
    zero, above = Rule((Range("x", 2),)), Rule((Range("x", 4),))
    assert zero.text(first) == zero.text(second) == "x > 0"
    assert zero.printed(first) == zero.printed(second)
    assert above.printed(first) != above.printed(second)
    text, number = (Rule((Levels("code", frozenset([level])),)) for level in ("1", 1))
    assert text.printed(first) == number.printed(second)
    # A text could be read in two ways.
    either = Rule((Levels("code", frozenset(["a or b"])),))
    both = Rule((Levels("code", frozenset(["a", "b"])),))
    assert str(either) == str(both)
    assert either.printed(first) != both.printed(first)


@given(st.permutations([Range("b", 2), Range("a", high=4), Range("b", high=7), Range("a", high=9)]))
def test_a_rule_does_not_depend_on_the_order_or_redundancy_of_its_conditions(conditions):
    """X <= 4 and x <= 9 is x <= 4, wherever it stands; equal rules hash alike."""
    rule = Rule.of(conditions)
    expected = Rule((Range("a", high=4), Range("b", 2, 7)))
    assert rule == expected
    assert hash(rule) == hash(expected)
    assert len({rule, expected}) == 1


def test_contradictions_and_empty_rules_are_refused():
    """A rule that can never hold, or that says nothing, is an error that names the feature."""
    with pytest.raises(InvalidParameter, match="'x' contradict"):
        Rule.of([Range("x", high=2), Range("x", low=3)])
    with pytest.raises(InvalidParameter, match="at least one condition"):
        Rule.of([])
    with pytest.raises(InvalidParameter, match="both as ordered and as categorical"):
        Rule.of([Range("x", high=2), Levels("x", frozenset("a"))])


def test_the_missing_part_survives_a_contradiction_between_ranges():
    """Two disjoint ranges that both admit missing values leave exactly these."""
    rule = Rule.of([Range("age", high=2, missing=True), Range("age", low=3, missing=True)])
    assert rule.text(BINNING) == "age is missing"


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Range("age", high=2), "age <= 30"),
        (Range("age", low=3), "age > 30"),
        (Range("age", 2, 3), "18 < age <= 45.5"),
        (Range("age", high=2, missing=True), "(age <= 30 or age is missing)"),
        (Range("age", 1, 0, missing=True), "age is missing"),
        (Range("age"), "age is not missing"),
        (Range("age", missing=True), "age is anything"),
        (Range("smoker", high=1), "smoker is false"),
        (Range("smoker", low=2), "smoker is true"),
        (Range("size", high=2), "size <= medium"),
        (Range("size", low=2), "size > small"),
        (Range("size", 2, 2), "small < size <= medium"),
        (Levels("colour", frozenset({"red"})), "colour is red"),
        (Levels("colour", frozenset({"red"}), inside=False), "colour is not red"),
        (Levels("colour", frozenset({"red", "blue", None})), "colour is blue or red or missing"),
    ],
)
def test_conditions_read_in_the_users_units(condition, text):
    """Bins become thresholds, booleans words, levels their labels."""
    assert Rule.of([condition]).text(BINNING) == text


def test_a_rule_joins_its_conditions_by_and():
    """Conditions appear in the order of the feature names."""
    rule = Rule.of([Levels("sex", frozenset({"F"})), Range("age", low=3)])
    assert rule.text(BINNING) == "age > 30 and sex is F"
    assert repr(rule) == "Rule(age in bins 3.. and sex is F)"
    assert rule.features == ("age", "sex")


def test_text_for_a_binning_with_fewer_bins_is_an_error():
    """A cut that the column does not have is named."""
    with pytest.raises(InvalidParameter, match="'age' has 5 bins, so there is no cut number 9"):
        Rule.of([Range("age", high=9)]).text(BINNING)


def step(column, low, width, *, goes_left, has_missing=False):
    """Build a step on one of the columns above."""
    return Step(BINNING.columns.index(column), low, width, has_missing, goes_left)


@pytest.mark.parametrize(
    ("left", "has_missing", "texts"),
    [
        ((AGE, 1, 2), False, ("age <= 30", "age > 30")),
        ((AGE, 1, 2), True, ("age <= 30", "(age > 30 or age is missing)")),
        ((AGE, 0, 3), True, ("(age <= 30 or age is missing)", "age > 30")),
        ((AGE, 0, 1), True, ("age is missing", "age is not missing")),
        ((SMOKER, 1, 1), False, ("smoker is false", "smoker is true")),
        ((COLOUR, 2, 1), False, ("colour is green", "colour is not green")),
        ((COLOUR, 0, 1), True, ("colour is missing", "colour is not missing")),
        ((SEX, 1, 1), False, ("sex is F", "sex is M")),
        ((SEX, 1, 1), True, ("sex is F", "sex is M or missing")),
        ((SEX, 0, 2), True, ("sex is F or missing", "sex is M")),
        ((SEX, 0, 1), True, ("sex is missing", "sex is not missing")),
    ],
)
def test_both_sides_of_a_split_read_as_an_auditor_would_say_them(left, has_missing, texts):
    """Left and right sides are complements on the training rows, in plain words."""
    column, low, width = left
    sides = [
        condition_of_step(step(column, low, width, goes_left=side, has_missing=has_missing), column)
        for side in (True, False)
    ]
    assert tuple(side.text(column) for side in sides) == texts
    accepted = [side.accepts(column)[: column.n_values + 1] for side in sides]
    first = 0 if has_missing else 1
    assert (accepted[0] ^ accepted[1])[first:].all()
    went_left = np.isin(np.arange(column.n_values + 1), range(low, low + width))
    np.testing.assert_array_equal(accepted[0][first:], went_left[first:])


def test_unseen_levels_satisfy_is_not_and_missing_ones_only_where_stated():
    """A new colour is 'not red'; a missing age satisfies no rule that does not say so."""
    not_red = Levels("colour", frozenset({"red"}), inside=False).accepts(COLOUR)
    assert not_red[[0, 1, 2, 3, 4]].tolist() == [True, True, True, False, True]
    assert not Range("age", high=2).accepts(AGE)[0]
    assert not Range("age", low=3).accepts(AGE)[0]


def test_rules_of_one_training_mean_the_same_level_in_another():
    """Categories are known by label: a level without a code in this training accepts nothing."""
    rule = Levels("colour", frozenset({"violet"}))
    assert not rule.accepts(COLOUR).any()


def test_sorting_is_total_and_prefers_short_rules():
    """Rules of mixed kinds sort without ties or errors."""
    rules = [
        Rule.of([Range("age", low=3), Levels("sex", frozenset({"F"}))]),
        Rule.of([Range("age", low=3)]),
        Rule.of([Levels("sex", frozenset({None}))]),
        Rule.of([Levels("sex", frozenset({"F"}), inside=False)]),
        Rule.of([Range("age", high=3)]),
    ]
    ordered = sorted(rules, key=lambda rule: rule.sort_key)
    rules.reverse()
    assert sorted(rules, key=lambda rule: rule.sort_key) == ordered
    assert [len(rule) for rule in ordered] == [1, 1, 1, 1, 2]
    assert len({rule.sort_key for rule in rules}) == 5


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_written_so_that_they_read_back_exactly(value):
    """Printing a threshold loses nothing."""
    assert float(format_number(value)) == value


def test_levels_that_show_nothing_are_quoted():
    """An empty text, and a text that says "missing", are not taken for something else."""
    column = BinnedColumn("a", Kind.CATEGORICAL, levels=("", "missing", "b"))
    shown = Levels("a", frozenset(["", "missing", "b", None])).text(column)
    assert shown == "a is '' or b or 'missing' or missing"


@pytest.mark.parametrize(
    ("condition", "opening"),
    [
        (Range("x", low=3), 1),
        (Range("x", low=3, missing=True), 1),
        (Range("x", high=3), -1),
        (Range("x", low=2, high=3), 0),
        (Range("x"), None),
        (Range("x", missing=True), None),
        (Range("x", 1, 0, missing=True), None),
    ],
)
def test_a_range_says_on_which_side_it_is_open(condition, opening):
    """Above a value, below one, between two; or it is about missing values alone."""
    assert condition.opening == opening
