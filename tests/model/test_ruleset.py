import copy
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mossrules
from mossrules import RuleSet, find_candidates
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import Levels, Range, Rule
from mossrules.data import columns
from mossrules.data.columns import Kind
from mossrules.exceptions import (
    InvalidColumn,
    InvalidParameter,
    InvalidTable,
    MissingColumns,
    UnsupportedType,
)
from mossrules.model import Explanation
from support.model_cases import HOSTILE, records, rulesets, wild_ruleset
from support.oracles import holds

NUMBERS = BinnedColumn("age", Kind.NUMERIC, (18.0, 45.5))
FLAGS = BinnedColumn("smoker", Kind.BOOLEAN, (0.0,))
COLOURS = BinnedColumn("colour", Kind.CATEGORICAL, levels=("blue", "green", "red"))
SIZES = BinnedColumn("size", Kind.ORDERED, (0.0, 1.0), ("small", "medium", "large"))
BINNING = Binning((NUMBERS, FLAGS, COLOURS, SIZES))
RULES = (
    Rule.of([Range("age", low=2)]),
    Rule.of([Range("smoker", low=2), Levels("colour", frozenset(["red"]), inside=False)]),
    Rule.of([Range("size", high=2, missing=True)]),
)


def make(rules=RULES, weights=(1.0, -4.0, 2.0), intercept=10.0, **changes):
    """Return a rule set on four columns of different kinds."""
    parts = {
        "binning": BINNING,
        "columns": BINNING.names,
        "support": np.full(len(rules), 0.5),
        "proportion": np.linspace(0.1, 0.2, len(rules)),
        "target": "cost",
        **changes,
    }
    return RuleSet(tuple(rules), np.array(weights), intercept, **parts)


# --- the value ------------------------------------------------------------------------------------


def test_rules_come_with_the_largest_weight_first():
    """All that belongs to a rule moves with it; ties go by the rules themselves."""
    ruleset = make()
    assert ruleset.rules == (RULES[1], RULES[2], RULES[0])
    assert ruleset.weights.tolist() == [-4.0, 2.0, 1.0]
    assert ruleset.proportion.tolist() == pytest.approx([0.15, 0.2, 0.1])
    tied = make(weights=[2.0, 2.0, -2.0])
    assert tied.rules == tuple(sorted(RULES, key=lambda rule: rule.sort_key))
    assert make(RULES[::-1], [-2.0, 2.0, 2.0]).rules == tied.rules


@settings(deadline=None)
@given(rulesets(), st.randoms())
def test_the_order_given_makes_no_difference(ruleset, random):
    """Any order of the same rules gives the same rule set in every bit."""
    order = random.sample(range(len(ruleset)), len(ruleset))
    other = RuleSet(
        tuple(ruleset.rules[i] for i in order),
        ruleset.weights[order],
        ruleset.intercept,
        ruleset.binning,
        ruleset.columns,
        ruleset.support[order],
        ruleset.proportion[order],
        ruleset.target,
    )
    assert other.to_json() == ruleset.to_json()


@settings(deadline=None)
@given(rulesets(), rulesets())
def test_equality_is_that_of_the_rules(a, b):
    """Weights, thresholds and figures do not matter, and equal rule sets have equal hashes."""
    assert (a == b) == (set(a) == set(b)) == (b == a)
    same = RuleSet(
        a.rules, a.weights[::-1], 3.0, a.binning, a.columns, a.support * 0.5, a.proportion
    )
    assert a == same
    assert hash(a) == hash(same)
    assert a != same.rules
    assert not (a != same)  # noqa: SIM202  that both operators agree is the point
    assert len({a, same, b}) == (1 if a == b else 2)


def test_equality_is_by_bin_and_not_by_threshold():
    """Rule sets of two analyses are equal when their bins are, although their cuts differ."""
    shifted = Binning((BinnedColumn("age", Kind.NUMERIC, (20.0, 40.0)),))
    one = make(RULES[:1], [1.0])
    other = make(RULES[:1], [1.0], binning=shifted, columns=("age",))
    assert one == other
    assert one.texts != other.texts
    assert one.to_json() != other.to_json()


def test_equal_rule_sets_with_rules_in_another_order_have_equal_hashes():
    """Other weights put the same rules in another order."""
    one, other = make(weights=[1.0, 2.0, 3.0]), make(weights=[3.0, 2.0, 1.0])
    assert one.rules == other.rules[::-1]
    assert one == other
    assert hash(one) == hash(other)


def test_a_rule_set_is_a_collection_of_rules():
    """Length, iteration, membership, and the features in the order of the training table."""
    ruleset = make(RULES[:2], [1.0, 2.0])
    assert len(ruleset) == 2
    assert list(ruleset) == [RULES[1], RULES[0]]
    assert RULES[0] in ruleset
    assert RULES[2] not in ruleset
    assert ruleset.features == ("age", "smoker", "colour")
    assert ruleset.columns == BINNING.names
    assert ruleset.binning == Binning((NUMBERS, FLAGS, COLOURS))
    assert ruleset.texts == ["colour is not red and smoker is true", "age > 18"]


def test_a_rule_set_cannot_be_changed():
    """Neither its fields nor its numbers, nor those of a copy, nor through what it was made of."""
    given_weights = np.array([1.0, -4.0, 2.0])
    ruleset = make(weights=given_weights)
    given_weights[:] = 0.0
    assert ruleset.weights.tolist() == [-4.0, 2.0, 1.0]
    for one in (ruleset, copy.deepcopy(ruleset), pickle.loads(pickle.dumps(ruleset))):  # noqa: S301
        with pytest.raises(AttributeError):
            one.intercept = 3.0
        for name in ("weights", "support", "proportion"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(one, name)[0] = 0.5
        assert one.to_json() == ruleset.to_json()


def test_the_package_exports_it():
    """`from mossrules import RuleSet` is the class of `mossrules.model`."""
    assert mossrules.RuleSet is mossrules.model.RuleSet
    assert "RuleSet" in mossrules.__all__


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": [1.0]}, "weights must be one number for each of the 3 rules"),
        ({"weights": [1.0, np.nan, 2.0]}, "weights must be .* finite"),
        ({"intercept": np.inf}, "intercept must be a number, finite"),
        ({"support": [0.5, 0.5, 1.5]}, "support must be between 0 and 1"),
        ({"proportion": [-0.1, 0.5, 0.5]}, "proportion must be between 0 and 1"),
        ({"support": [[0.5, 0.5, 0.5]]}, "support must be one number"),
        ({"rules": [RULES[0], RULES[0], RULES[1]]}, "rule appears twice"),
        ({"columns": ("age", "smoker", "colour")}, "'size' is used by a rule and not among"),
        ({"columns": (*BINNING.names, "age")}, "name appears twice"),
        ({"binning": Binning((NUMBERS, FLAGS, COLOURS))}, "no column 'size'"),
        ({"rules": [*RULES[:2], Rule((Range("age", 2), Range("age", 3)))]}, "not in canonical"),
        ({"rules": [*RULES[:2], Rule(())]}, "needs at least one condition"),
        ({"rules": [*RULES[:2], Rule((Range("age", 4),))]}, "which has bins 1 to 3"),
        ({"rules": [*RULES[:2], Rule((Range("age", 0),))]}, "which has bins 1 to 3"),
        ({"rules": [*RULES[:2], Rule((Range("age", 1, 3),))]}, "which has bins 1 to 3"),
        ({"rules": [*RULES[:2], Rule((Range("age", 3, 2, missing=True),))]}, "has bins 1 to 3"),
        ({"rules": [*RULES[:2], Rule((Range("age", missing=True),))]}, "holds for every value"),
        ({"rules": [*RULES[:2], Rule((Range("colour", 2),))]}, "asks for an order"),
        ({"rules": [*RULES[:2], Rule((Levels("age", frozenset([1])),))]}, "asks for levels"),
        ({"rules": [*RULES[:2], Rule((Levels("colour", frozenset(["x"])),))]}, "'x', which is no"),
        ({"rules": [*RULES[:2], Rule((Levels("colour", frozenset(), inside=False),))]}, "no level"),
    ],
)
def test_parts_that_do_not_fit_are_refused(changes, message):
    """One sentence says what is wrong."""
    with pytest.raises(InvalidParameter, match=message):
        make(**changes)


def test_levels_must_be_equal_to_themselves():
    """NaN as a level could never be found again."""
    column = BinnedColumn("d", Kind.CATEGORICAL, levels=(1.5, math.nan))
    rule = Rule.of([Levels("d", frozenset([1.5]))])
    with pytest.raises(InvalidParameter, match="NaN among its levels"):
        make([rule], [1.0], binning=Binning((column,)), columns=("d",))


def test_zeros_have_no_sign():
    """A sum that starts with -0.0 would differ from one that adds 0.0 to it."""
    ruleset = make(RULES[:1], [-0.0], -0.0)
    assert not np.signbit(ruleset.weights).any()
    assert math.copysign(1.0, ruleset.intercept) == 1.0
    assert not np.signbit(ruleset.predict({"age": [1.0, 20.0]})).any()


# --- from candidates ------------------------------------------------------------------------------


def test_candidates_become_a_rule_set():
    """Figures are those of the candidates, and the weights of a solver can be converted."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = 50 + 10 * (X[:, 0] > 0) + rng.normal(size=200)
    candidates = find_candidates(X, y, n_trees=30)
    statistics = candidates.statistics
    values = candidates.statistics.values  # noqa: PD011  not a frame's
    positions, w = np.array([5, 0, 2]), np.array([0.3, 0.2, -0.1])
    weights = w * values[positions] * statistics.target_scale
    ruleset = RuleSet.from_candidates(candidates, positions, weights, statistics.target_mean)
    frame = candidates.frame()
    for rule, weight, support, proportion in zip(
        ruleset, ruleset.weights, ruleset.support, ruleset.proportion, strict=True
    ):
        position = candidates.pool.rules.index(rule)
        assert weight == weights[positions.tolist().index(position)]
        assert support == frame["coverage"][position]
        assert proportion == frame["proportion"][position]
    columns = {name: X[:, i] for i, name in enumerate(candidates.binning.names)}
    M = np.column_stack(
        [
            values[i] * holds(candidates.pool.rules[i], candidates.binning, columns)
            for i in positions
        ]
    )
    expected = statistics.target_mean + statistics.target_scale * (M @ w)
    np.testing.assert_allclose(ruleset.predict(X), expected, rtol=1e-12)
    np.testing.assert_allclose(ruleset.support, ruleset.holds(X).mean(axis=0))


@pytest.mark.parametrize("positions", [[-1], [10**6]])
def test_positions_must_be_those_of_candidates(positions):
    """Counting from the end is refused like counting beyond it."""
    X = np.random.default_rng(0).normal(size=(50, 2))
    candidates = find_candidates(X, X[:, 0], n_trees=5)
    with pytest.raises(InvalidParameter, match="positions must be between 0 and"):
        RuleSet.from_candidates(candidates, positions, [1.0], 0.0)


# --- predictions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(15))
def test_predictions_are_sums_of_weights_where_rules_hold(seed):
    """By thresholds on raw values, added one after the other in the order of the rules."""
    ruleset, later = wild_ruleset(seed)
    columns = {}
    for name in ruleset.features:
        plain = [row[name] for row in records(later)]
        columns[name] = np.array(plain, dtype=object)
    dense = np.column_stack([holds(rule, ruleset.binning, columns) for rule in ruleset])
    expected = []
    for row in dense:
        total = ruleset.intercept
        for weight, hold in zip(ruleset.weights.tolist(), row, strict=True):
            total += weight if hold else 0.0
        expected.append(total)
    np.testing.assert_array_equal(ruleset.holds(later), dense)
    np.testing.assert_array_equal(ruleset.predict(later), expected)


@pytest.mark.parametrize("seed", range(15))
def test_explanations_add_up_to_predictions(seed):
    """Bit for bit, for rows as dicts, as pandas Series, as sequences and as tables of one row."""
    ruleset, later = wild_ruleset(seed)
    predictions, held = ruleset.predict(later), ruleset.holds(later)
    rows = records(later, np.random.default_rng(seed))
    for i in range(0, len(later), 9):
        for row in (rows[i], later.iloc[i], later.iloc[i : i + 1], list(rows[i].values())):
            found = ruleset.explain(row)
            assert found.prediction == predictions[i]
            assert found.holds == tuple(held[i].tolist())
            assert found.contributions == tuple((ruleset.weights * held[i]).tolist())


FRAME = pd.DataFrame(
    {
        "age": [18.0, 18.5, np.nan],
        "smoker": [True, False, True],
        "colour": ["red", "blue", None],
        "size": pd.Categorical(
            ["large", "small", None], categories=["small", "medium", "large"], ordered=True
        ),
        "note": pd.date_range("2020-01-01", periods=3),
    }
)
PREDICTED = [10.0, 13.0, 8.0]


@pytest.mark.parametrize(
    "table",
    [
        FRAME,
        FRAME[FRAME.columns[::-1]],
        FRAME.drop(columns="note"),
        pl.from_pandas(FRAME),
        pa.Table.from_pandas(FRAME),
        {name: FRAME[name] for name in FRAME},
    ],
)
def test_columns_are_found_by_name(table):
    """In any order, of any library, with columns beside them that no rule could use."""
    assert make().predict(table).tolist() == PREDICTED
    assert make().holds(table).shape == (3, 3)


def test_a_rule_set_of_an_array_reads_other_tables_by_position():
    """Names that were made up are no names to ask for, but those who have them may use them."""
    rng = np.random.default_rng(0)
    array = rng.normal(size=(60, 3))
    candidates = find_candidates(array, array[:, 1] - array[:, 2], n_trees=20)
    made = RuleSet.from_candidates(candidates, [0, 1], [1.0, 2.0], 0.5)
    for ruleset in (made, RuleSet.from_json(made.to_json())):
        expected = ruleset.predict(array).tolist()
        assert len(set(expected)) > 1
        frame = pd.DataFrame(array, columns=["bmi", "age", "size"])
        assert ruleset.predict(frame).tolist() == expected
        assert ruleset.explain(frame.iloc[3]).prediction == expected[3]
        named = pd.DataFrame(array, columns=["x0", "x1", "x2"])[["x2", "x1", "x0"]]
        assert ruleset.predict(named.assign(id=1)).tolist() == expected
        with pytest.raises(MissingColumns, match=r"2 features.*expecting 3"):
            ruleset.predict(frame[["bmi", "age"]])
    named = find_candidates(named, array[:, 1] - array[:, 2], n_trees=20)
    with pytest.raises(MissingColumns, match="lacks column"):
        RuleSet.from_candidates(named, [0, 1], [1.0, 2.0], 0.5).predict(frame)


def test_columns_that_no_rule_uses_are_not_looked_at(monkeypatch):
    """Notes and dates beside the features cost nothing."""
    table = FRAME.assign(notes=["a", 1, None], day=pd.Timestamp("2024-02-29"))
    expected = make(RULES[:1], [1.0]).predict(FRAME).tolist()
    monkeypatch.setattr(columns, "_column_from_objects", None)
    assert make(RULES[:1], [1.0]).predict(table).tolist() == expected


def test_columns_of_arrays_go_by_position():
    """An array has all columns of training, also those that no rule uses."""
    array = FRAME[list(BINNING.names)].astype(object).to_numpy()
    assert make(RULES[:2], [1.0, -4.0]).predict(array).tolist() == [10.0, 11.0, 6.0]
    with pytest.raises(MissingColumns, match="X has 3 features, but mossrules is expecting 4"):
        make().predict(array[:, :3])


def test_a_missing_column_is_named():
    """With the one that may have been meant; columns that no rule uses may be missing."""
    ruleset = make(RULES[:1], [1.0])
    assert ruleset.predict({"age": [20.0]}).tolist() == [11.0]
    with pytest.raises(MissingColumns, match=r"lacks column 'age', .* Did you mean 'Age'\?"):
        ruleset.predict({"Age": [20.0]})
    with pytest.raises(MissingColumns, match="lacks column 'age'"):
        ruleset.explain({"size": "small"})


def test_columns_that_changed_their_type_are_refused():
    """Numbers in training and text now, infinities, and text in training and numbers now."""
    with pytest.raises(InvalidColumn, match="was numeric in training and is text now"):
        make(RULES[:1], [1.0]).predict({"age": ["old"]})
    with pytest.raises(InvalidColumn, match="infinite"):
        make(RULES[:1], [1.0]).predict({"age": [np.inf]})
    with pytest.raises(InvalidColumn, match=r"had text for categories .* and is 3 on some row"):
        make(RULES[1:2], [1.0]).explain({"smoker": True, "colour": 3})


def test_no_rows_and_no_rules_are_allowed():
    """No rows have no predictions, and no rules predict the intercept."""
    assert make().predict(FRAME.iloc[:0]).shape == (0,)
    assert make().holds(FRAME.iloc[:0]).shape == (0, 3)
    empty = make((), ())
    assert empty.predict(FRAME).tolist() == [10.0] * 3
    assert empty.holds(FRAME).shape == (3, 0)
    assert empty.explain({"age": 3.0}).prediction == 10.0
    assert empty == make((), (), 3.0)
    assert empty.features == ()


def test_predictions_do_not_depend_on_where_chunks_end():
    """Rows are handled in chunks; each row's prediction is its own."""
    rng = np.random.default_rng(0)
    ages = rng.normal(30, 20, size=200_003)
    ruleset = make([RULES[0], Rule.of([Range("age", low=3)])], [0.1, 0.2], 0.3)
    by_hand = 0.3 + np.where(ages > 45.5, 0.2, 0.0) + np.where(ages > 18, 0.1, 0.0)
    np.testing.assert_array_equal(ruleset.predict({"age": ages}), by_hand)
    np.testing.assert_array_equal(ruleset.holds({"age": ages})[:, 0], ages > 45.5)


# --- explanations ---------------------------------------------------------------------------------


def test_an_explanation_reads_as_a_sum():
    """What holds, what each adds, the total, and how many rules do not hold."""
    found = make().explain(FRAME.iloc[1])
    assert isinstance(found, Explanation)
    assert repr(found) == (
        "  +10.000  (intercept)\n"
        "   +2.000  (size <= medium or size is missing)\n"
        "   +1.000  age > 18\n"
        "= +13.000  predicted cost (1 other rule does not hold)"
    )
    assert found.intercept == 10.0
    assert found.rules == make().rules
    frame = found.frame()
    assert frame["rule"].tolist() == make().texts
    assert frame["holds"].tolist() == [False, True, True]
    assert frame["weight"].tolist() == [-4.0, 2.0, 1.0]
    assert frame["contribution"].tolist() == [0.0, 2.0, 1.0]
    assert isinstance(found.frame("polars"), pl.DataFrame)


@pytest.mark.parametrize("name", HOSTILE)
def test_an_explanation_has_a_line_per_term(name):
    """Whatever the names of columns and target."""
    column = BinnedColumn(name, Kind.NUMERIC, (1.0,))
    ruleset = make(
        [Rule.of([Range(name, low=2)])], [2.0], binning=Binning((column,)), columns=(name,),
        target=name,
    )  # fmt: skip
    assert len(repr(ruleset.explain({name: 5.0})).splitlines()) == 3


def test_one_row_is_explained_at_a_time():
    """More rows, or something that is no row, are refused with a sentence."""
    with pytest.raises(InvalidTable, match="A single row can be explained and the table has 3"):
        make().explain(FRAME)
    with pytest.raises(InvalidTable, match="the table has 2"):
        make().explain(FRAME[list(BINNING.names)].astype(object).to_numpy()[:2])
    with pytest.raises(UnsupportedType):
        make().explain(None)
    with pytest.raises(UnsupportedType):
        make().explain("age")
    with pytest.raises(MissingColumns):
        make().explain([1.0])


def test_a_row_of_numbers_can_be_an_array():
    """Also one with masked, that is missing, values."""
    rule = Rule.of([Range("age", low=2, missing=True)])
    ruleset = make([rule], [1.0], columns=("other", "age"))
    assert ruleset.explain(np.array([0.0, 20.0])).prediction == 11.0
    assert ruleset.explain(np.array([0.0, 5.0], dtype=np.float32)).prediction == 10.0
    assert ruleset.explain(np.ma.array([0.0, 5.0], mask=[0, 1])).prediction == 11.0
    assert ruleset.explain(np.array([[0.0, 20.0]])).prediction == 11.0


def test_labels_that_are_numbers_may_be_given_as_numbers():
    """A value on its own has no type that says whether it is a category."""
    column = BinnedColumn("c", Kind.CATEGORICAL, levels=(1, 2, 3))
    rule = Rule.of([Levels("c", frozenset([2, None]))])
    ruleset = make([rule], [1.0], binning=Binning((column,)), columns=("c",))
    for value, expected in [(2, 11.0), (2.0, 11.0), (None, 11.0), (math.nan, 11.0), (1, 10.0)]:
        assert ruleset.explain({"c": value}).prediction == expected
    assert ruleset.explain({"c": 7}).prediction == 10.0
