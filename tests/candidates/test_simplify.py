"""Candidates that say something of their own: checked row by row against their definitions."""

import numpy as np
import pandas as pd
import pytest

from mossrules import MossRegressor, find_candidates
from mossrules.candidates.cuts import BinnedColumn
from mossrules.candidates.rules import OPEN, Levels, Range, Rule
from mossrules.candidates.search import encode_rows
from mossrules.candidates.simplify import complement, weaker
from mossrules.candidates.statistics import count_rows, rule_columns
from mossrules.data.columns import Kind
from mossrules.data.rows import read_rows
from mossrules.estimators import candidates_for
from mossrules.exceptions import InvalidParameter

AGE = BinnedColumn("age", Kind.NUMERIC, cuts=(20.0, 40.0, 65.0))
COLOUR = BinnedColumn("colour", Kind.CATEGORICAL, levels=("blue", "green", "red"))
SMOKER = BinnedColumn("smoker", Kind.CATEGORICAL, levels=("no", "yes"))


def messy_table(seed: int, n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    """Return numbers with gaps, truth values, and categories of few and of many levels."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "dose": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
            "smoker": rng.choice(["no", "yes"], n),
            "code": rng.choice([f"N{i}" for i in range(60)], n),
            "ill": rng.random(n) < 0.2,
        }
    )
    y = 3 * (X.age > 67) + 2 * (X.smoker == "yes") + X.dose.fillna(2) + X.ill
    return X, y.to_numpy() + rng.normal(size=n)


def found(seed: int, **parameters):
    """Return candidates of a messy table, and on which of its rows each holds."""
    X, y = messy_table(seed)
    candidates = find_candidates(
        X, y, n_trees=200, inner_nodes=True, random_state=seed, **parameters
    )
    codes = candidates.binning.encode(read_rows(X, y).features)
    return candidates, rule_columns(candidates.pool.rules, candidates.binning, codes)


def test_weaker_rules_hold_on_all_rows_of_a_rule_and_miss_one_end_each():
    """One condition less, or one end of an interval; nothing else."""
    rule = Rule.of([Range("age", low=2, high=3), Levels("colour", frozenset(["red"]))])
    assert {str(each) for each in weaker(rule)} == {
        "colour is red",
        "age in bins 2..3",
        "age in bins 2.. and colour is red",
        "age in bins 1..3 and colour is red",
    }
    assert list(weaker(Rule.of([Range("age", low=2)]))) == []


@pytest.mark.parametrize("has_missing", [False, True])
@pytest.mark.parametrize(
    ("condition", "column"),
    [
        (Range("age", high=2), AGE),
        (Range("age", low=2), AGE),
        (Range("age", high=2, missing=True), AGE),
        (Range("age", 1, OPEN), AGE),
        (Range("age", 1, 0, missing=True), AGE),
        (Levels("colour", frozenset(["red"])), COLOUR),
        (Levels("colour", frozenset(["red"]), inside=False), COLOUR),
        (Levels("smoker", frozenset(["no"])), SMOKER),
        (Levels("smoker", frozenset(["no", None])), SMOKER),
    ],
)
def test_a_complement_accepts_the_codes_that_a_condition_does_not(condition, column, has_missing):
    """Of all codes that training rows can have."""
    other = complement(condition, column, has_missing=has_missing)
    codes = np.arange(0 if has_missing else 1, column.n_values + 1)
    if other is None:
        assert condition.accepts(column)[codes].all()
    else:
        assert (condition.accepts(column)[codes] != other.accepts(column)[codes]).all()


def test_intervals_have_no_complement():
    """Two pieces are no condition."""
    assert complement(Range("age", 2, 3), AGE, has_missing=False) is None


@pytest.mark.parametrize("seed", range(4))
def test_no_condition_is_left_that_excludes_too_few_rows(seed):
    """Whatever is dropped from a rule leaves a rule of clearly more rows."""
    candidates, holds = found(seed, max_overlap=0.6)
    rows = dict(zip(candidates.pool.rules, holds.sum(axis=1), strict=True))
    codes = candidates.binning.encode(read_rows(*messy_table(seed)).features)
    for rule, n in rows.items():
        for simpler in weaker(rule):
            (column,) = rule_columns([simpler], candidates.binning, codes)
            assert n <= 0.6 * column.sum(), (str(rule), str(simpler))
    assert any(len(rule) == 2 for rule in rows)


@pytest.mark.parametrize("seed", range(4))
def test_no_two_candidates_tell_the_same_rows_apart(seed):
    """Neither the same rows twice, nor rows and all others."""
    _, holds = found(seed, max_overlap=0.6)
    patterns = np.where(holds[:, :1], holds, ~holds)
    assert len(np.unique(patterns, axis=0)) == len(holds)


@pytest.mark.parametrize("seed", range(4))
def test_the_rule_that_stays_does_not_depend_on_the_sample(seed):
    """Of a complement that above a value, or the level that is named."""
    candidates, _ = found(seed, max_overlap=0.6)
    texts = {
        text
        for rule, text in zip(candidates.pool.rules, candidates.texts, strict=True)
        if len(rule) == 1
    }
    assert "smoker is yes" in texts
    assert "smoker is no" not in texts
    assert not any(text.startswith(("age <=", "code is not")) for text in texts)


def test_the_trees_of_rules_that_become_one_are_counted_once():
    """A rule counts in every tree that has any of the rules it stands for."""
    X, y = messy_table(0)
    how = {"n_trees": 100, "inner_nodes": True, "max_candidates": None}
    plain = find_candidates(X, y, **how)
    simpler = find_candidates(X, y, max_overlap=1.0, **how)
    trees = dict(zip(plain.pool.rules, plain.pool.trees, strict=True))
    (yes,) = (
        r for r, text in zip(plain.pool.rules, plain.texts, strict=True) if text == "smoker is yes"
    )
    (no,) = (
        r for r, text in zip(plain.pool.rules, plain.texts, strict=True) if text == "smoker is no"
    )
    position = simpler.texts.index("smoker is yes")
    assert simpler.pool.trees[position] == trees[yes] | trees[no]


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_counted_as_the_columns_of_rules_say(weighted):
    """With weights, their weight in units of the grid."""
    X, y = messy_table(1)
    weights = np.random.default_rng(1).integers(0, 5, len(y)) / 4 if weighted else None
    rows = read_rows(X, y, weights, keeps_order=True)
    candidates = find_candidates(rows, None, n_trees=50)
    data = encode_rows(rows, _Nothing(), n_bins=8)
    holds = rule_columns(
        candidates.pool.rules, candidates.binning, candidates.binning.encode(rows.features)
    )
    counted = count_rows(data, candidates.pool.rules) * data.weight_step
    np.testing.assert_allclose(counted, holds @ (np.ones(len(y)) if weights is None else weights))


class _Nothing:
    """A source of rules that takes bins as they are."""

    def adapt(self, binning):
        return binning


def test_coverage_is_asked_of_a_rule_and_of_the_other_rows():
    """As a share or as a number of rows."""
    for given, least in ((0.1, 30), (30, 30)):
        candidates, holds = found(2, min_coverage=given)
        n = holds.sum(axis=1)
        assert min(n.min(), (300 - n).min()) >= least
        assert len(candidates) > 0


@pytest.mark.parametrize(("rows", "least"), [(1000, 10), (300, 5), (40, 4), (9, 1)])
def test_auto_asks_for_five_rows_or_a_hundredth_or_a_tenth(rows, least):
    """A rule on fewer rows is none, though every tree found it."""
    for held in (least - 1, least):
        X = {"rare": np.arange(rows) < held, "half": np.arange(rows) % 2 > 0}
        y = 100.0 * X["rare"] + X["half"]
        texts = candidates_for(X, y, n_trees=50, max_features=1.0, max_depth=1).texts
        assert ("rare is true" in texts) == (held == least)


def test_without_rows_enough_for_a_rule_the_mean_is_the_model():
    """One row of its own among three hundred is no rule, and no error either."""
    model = MossRegressor(n_trees=20).fit({"rare": np.arange(300) < 1}, np.arange(300.0))
    assert len(model.rules_) == 0


def test_rare_rules_are_no_candidates():
    """A tree frequency is a share of the trees."""
    candidates, _ = found(3, min_tree_frequency=0.05)
    assert candidates.pool.proportions.min() >= 0.05


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_coverage": 0.6}, "no candidate rule both holds on and leaves out more than 0.5"),
        ({"min_coverage": 1000}, "ask for at most that"),
        ({"min_tree_frequency": 1.5}, "the most frequent candidate rule is in"),
        ({"min_coverage": -1}, "of at least 0"),
        ({"min_coverage": "few"}, "a share, a number of rows or 'auto'"),
        ({"max_overlap": 0}, "greater than 0"),
    ],
)
def test_what_leaves_no_rule_is_refused_with_what_can_be_had(parameters, message):
    """In one sentence."""
    with pytest.raises(InvalidParameter, match=message):
        found(0, **parameters)
