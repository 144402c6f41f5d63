import numpy as np
import pandas as pd
import pytest

from mossrules import MossRegressor, find_candidates
from mossrules.candidates.approved import ApprovedRules
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import Levels, Range, Rule
from mossrules.data.columns import Kind
from mossrules.exceptions import InvalidParameter
from support.oracles import holds

SIZES = ["S", "M", "L", "XL"]
BEFORE = Binning(
    (
        BinnedColumn("age", Kind.NUMERIC, (40.0, 50.5, 65.0)),
        BinnedColumn("smoker", Kind.BOOLEAN, (0.0,)),
        BinnedColumn("size", Kind.ORDERED, (0.0, 1.0), ("S", "M", "L")),
        BinnedColumn("colour", Kind.CATEGORICAL, (), ("blue", "green", "red")),
    )
)
RULES = (
    Rule.of([Range("age", low=3)]),
    Rule.of([Range("age", low=2, high=3), Range("smoker", low=2)]),
    Rule.of([Range("size", high=2)]),
    Rule.of([Levels("colour", frozenset(["green", None])), Range("age", high=1, missing=True)]),
    Rule.of([Levels("colour", frozenset(["red"]), inside=False)]),
    Rule.of([Range("age", 1, 0, missing=True)]),
)
APPROVED = ApprovedRules(RULES, BEFORE)


def people(n=120, seed=0):
    """Return a table in which nobody is green, and ages are other ones, some missing."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 90, n).astype(float)
    age[::17] = np.nan
    X = pd.DataFrame(
        {
            "age": age,
            "smoker": rng.random(n) < 0.4,
            "size": pd.Categorical(rng.choice(SIZES, n), SIZES, ordered=True),
            "colour": rng.choice(["blue", "red"], n),
        }
    )
    y = (np.nan_to_num(age) > 55) * 2.0 + X["smoker"] + rng.normal(size=n)
    return X, y.to_numpy()


def test_rules_read_as_they_did_and_hold_where_they_say():
    """Whatever bins the columns have here: ages above 50.5, sizes up to M, colours nobody has."""
    X, y = people()
    candidates = find_candidates(X, y, n_trees=30, near=APPROVED, max_overlap=0.6, cuts="round")
    here = APPROVED.on(candidates.binning)
    assert [rule.text(candidates.binning) for rule in here] == APPROVED.texts
    assert set(here) <= set(candidates.pool.rules)
    columns = {name: X[name].to_numpy() for name in ("age", "smoker")}
    columns |= {name: X[name].astype(object).to_numpy() for name in ("size", "colour")}
    for rule in here:
        place = candidates.pool.rules.index(rule)
        rows = holds(rule, candidates.binning, columns)
        assert candidates.statistics.support[place] == rows.sum()
        assert candidates.pool.rules[place].text(candidates.binning) in APPROVED.texts


def test_default_cut_points_stay_and_equal_ones_are_one():
    """So that other rules on these columns are found too."""
    X, y = people()
    plain = find_candidates(X, y, n_trees=5).binning
    ours = find_candidates(X, y, n_trees=5, near=APPROVED).binning
    assert set(ours["age"].cuts) == {*plain["age"].cuts, 40.0, 50.5, 65.0}
    assert list(ours["age"].cuts) == sorted(set(ours["age"].cuts))
    assert ours["smoker"] == plain["smoker"]
    assert ours["colour"].levels == ("blue", "green", "red")
    assert set(ours["size"].cuts) == {*plain["size"].cuts, 1.0}
    again = ApprovedRules(RULES[:1], BEFORE).added_to(ours)
    assert again == ours


def test_of_rules_on_the_same_rows_the_approved_one_stands_for_the_others():
    """Two approved ones on the same rows both stay, as each of them counts."""
    X, y = {"age": [30.0, 40, 50, 60, 70, 80]}, [1.0, 1, 2, 5, 6, 6]
    plain = find_candidates(X, y, n_trees=50, max_depth=1, max_overlap=0.6)
    before = Binning((BinnedColumn("age", Kind.NUMERIC, (51.0, 52.0)),))
    near = ApprovedRules((Rule.of([Range("age", high=1)]), Rule.of([Range("age", low=3)])), before)
    found = find_candidates(X, y, n_trees=50, max_depth=1, max_overlap=0.6, near=near)
    assert near.texts == ["age <= 51", "age > 52"]
    assert "age > 50" in plain.texts
    halves = [i for i, n in enumerate(found.statistics.support) if n == 3]
    assert sorted(found.texts[i] for i in halves) == near.texts
    trees = found.pool.counts[halves].max()  # in all trees that found any of them
    assert trees > 25  # of 50


def test_a_rule_that_a_step_would_drop_keeps_its_trees():
    """Approved rules are exempt from steps that leave out rules, and not from being counted."""
    X, y = people(300)
    free = find_candidates(X, y, n_trees=40)
    rare = [rule for rule, found in zip(free.pool.rules, free.pool.trees, strict=True)
            if len(rule) == 2 and len(found) == 1][:3]  # fmt: skip
    near = ApprovedRules(tuple(rare), free.binning)
    found = find_candidates(X, y, n_trees=40, near=near, min_tree_frequency=0.1)
    counts = [found.pool.counts[found.pool.rules.index(rule)] for rule in rare]
    assert counts == [1, 1, 1]


def test_approved_rules_are_values():
    """Equal ones are equal, so that methods that look for the same candidates share them."""
    assert ApprovedRules(RULES, BEFORE) == APPROVED
    assert hash(ApprovedRules(RULES, BEFORE)) == hash(APPROVED)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda X: X.drop(columns="age").assign(ages=1.0),
         "near has the rule 'age > 50.5', and there is no column 'age'; .* Did you mean 'ages'?"),
        (lambda X: X.assign(age=X["age"].astype(str)),
         "column 'age' was numeric, and is categorical here; convert it"),
        (lambda X: X.assign(smoker=X["smoker"].astype(float)),
         "column 'smoker' was boolean, and is numeric here"),
        (lambda X: X.assign(size=X["size"].cat.remove_categories("M")),
         "near cuts 'size' after 'M', and its levels here are S, L, XL; give it"),
        (lambda X: X.assign(size=X["size"].cat.reorder_categories(["M", "S", "L", "XL"])),
         "near cuts 'size' after 'M', and its levels here are M, S, L, XL"),
    ],
)  # fmt: skip
def test_other_columns_are_refused(change, match):
    """A sentence says which rule, which column, and what to do."""
    X, y = people()
    with pytest.raises(InvalidParameter, match=match):
        find_candidates(change(X), y, n_trees=5, near=APPROVED)


def test_too_many_cut_points_are_refused():
    """Codes are bytes."""
    many = BinnedColumn("age", Kind.NUMERIC, tuple(np.arange(200) + 0.25))
    near = ApprovedRules(
        tuple(Rule.of([Range("age", low=j)]) for j in range(2, 202)), Binning((many,))
    )
    X = {"age": np.arange(400.0)}
    with pytest.raises(InvalidParameter, match=r"Column 'age' would have .* ask for fewer bins"):
        find_candidates(X, np.arange(400.0), n_trees=5, n_bins=100, near=near)


def test_candidates_without_them_are_refused():
    """They cannot be kept where the search has not looked at them."""
    X, y = people()
    model = MossRegressor(2, n_trees=20).fit(X, y)
    near = ApprovedRules(RULES[:1], BEFORE)
    with pytest.raises(InvalidParameter, match="found without the rules of near; pass near"):
        near.positions(model.pool_, model.candidates_.binning)
