import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso

from mossrules.baselines import column_generation
from mossrules.baselines.column_generation import (
    Beam,
    ColumnGeneration,
    Literals,
    LogisticMaster,
    count_literals,
)
from mossrules.baselines.designs import Design
from mossrules.baselines.glrm import (
    choose_rules,
    generate_rules,
    prices_in_proportion,
    prices_of_length,
)
from mossrules.baselines.paths import solve_closely
from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.rules import Levels, Range, Rule
from mossrules.candidates.statistics import compute_statistics
from mossrules.estimators import candidates_for
from support.baseline_cases import logistic_lasso, logistic_objective
from support.oracles import encode, holds

WIDE = 10_000  # a beam that keeps everything


def mixed_table(rng, n):
    """Return columns of numbers, categories and booleans, some values missing, and a target."""
    x = np.round(rng.normal(size=n), 1)
    kind = rng.choice(["a", "b", "c"], n)
    flag = rng.random(n) < 0.4
    y = np.abs(x) + 2.0 * (kind == "b") * flag + rng.normal(size=n) / 2
    gaps = rng.random((2, n)) < 0.15
    X = pd.DataFrame({"x": np.where(gaps[0], np.nan, x), "kind": kind, "flag": flag})
    X.loc[gaps[1], "kind"] = None
    return X, y


def rows_of(rules, binning, X):
    """Return where rules hold, by the values themselves, as columns."""
    columns = {name: X[name].astype(object).where(X[name].notna(), None).to_numpy() for name in X}
    found = [holds(rule, binning, columns) for rule in rules]
    return np.column_stack(found).astype(float) if found else np.empty((len(X), 0))


def all_literals(X, binning):
    """Return by hand, from the values themselves, where each literal holds, as columns."""
    columns = []
    for name in X:
        values = X[name]
        missing = values.isna().to_numpy()
        if name == "kind":
            columns += [(values == level).to_numpy() for level in "abc"]
            columns += [(values != level).to_numpy() for level in "abc"]
        else:
            numbers = values.to_numpy(dtype=np.float64)
            columns += [numbers <= cut for cut in binning[name].cuts]
            columns += [numbers > cut for cut in binning[name].cuts]
        columns += [missing, ~missing]
    return np.column_stack(columns)


def all_rules(X, binning):
    """Return the rows of all conjunctions of one and two literals, and their lengths."""
    ones = all_literals(X, binning)
    twos = [ones[:, i] & ones[:, j] for i, j in itertools.combinations(range(ones.shape[1]), 2)]
    lengths = np.repeat([1, 2], [ones.shape[1], len(twos)])
    return np.column_stack([ones, *twos]), lengths


# --- literals -------------------------------------------------------------------------------------


def test_literals_are_all_conditions_of_one_cut_or_level():
    """Cuts have two sides, levels are met or left out, and to be missing is a level."""
    X = {"x": [1.0, 2.0, 3.0, np.nan], "kind": ["a", "b", "c", "a"], "flag": [True, False] * 2}
    literals = Literals.of(encode(X, [0.0, 1.0, 2.0, 3.0]))
    assert [str(condition) for condition in literals.conditions] == [
        *("x in bins 1..1", "x in bins 2..", "x in bins 1..2", "x in bins 3.."),
        *("x is missing", "x in bins 1.."),
        *("kind is a", "kind is not a", "kind is b", "kind is not b", "kind is c", "kind is not c"),
        *("flag in bins 1..1", "flag in bins 2.."),
    ]
    two = Literals.of(encode({"kind": ["a", "b", "a"], "same": ["z"] * 3}, [0.0, 1.0, 2.0]))
    assert [str(condition) for condition in two.conditions] == ["kind is a", "kind is b"]


def test_literals_that_go_together_are_longer_by_one():
    """Two literals make a rule of two exactly where that is said; all others make none or less."""
    rng = np.random.default_rng(0)
    X, y = mixed_table(rng, 200)
    literals = Literals.of(encode(X, y, n_bins=5))
    for i in range(len(literals)):
        beside = literals.beside(i)
        assert not beside[i]
        for j in np.flatnonzero(beside):
            assert literals.beside(j)[i]
            assert count_literals(literals.rule(frozenset((i, int(j))))) == 2
        for j in np.flatnonzero(~beside):
            same = literals.features[i] == literals.features[j]
            both = literals.accepts[i] & literals.accepts[j]
            # What is left out says nothing new, or is a level that a literal of its own names.
            assert same
            assert any(np.array_equal(both, one) for one in literals.accepts) or not both.any()


def test_literals_of_any_rule_are_counted():
    """A range has as many as ends, levels one or as many as are left out."""
    conditions = {
        Range("a", low=2, high=5): 2,
        Range("a", high=5, missing=True): 1,
        Range("a", 1, 0, missing=True): 1,
        Range("a"): 1,
        Levels("a", frozenset("xyz")): 1,
        Levels("a", frozenset("xyz"), inside=False): 3,
    }
    for condition, count in conditions.items():
        assert count_literals(Rule.of([condition])) == count
        assert count_literals(Rule.of([condition, Range("b", low=2)])) == count + 1


# --- the search -----------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 0.5), st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_a_wide_beam_finds_the_best_conjunction(seed, ratio, width):
    """The lowest reduced cost of all conjunctions of one or two literals, or that of a few."""
    rng = np.random.default_rng(seed)
    X, y = mixed_table(rng, 60)
    data = encode(X, y, n_bins=4)
    codes = next(iter(data.chunks)).codes
    literals = Literals.of(data)
    residual = rng.normal(size=60) / 60
    residual -= residual.mean()  # as an intercept leaves it
    prices = prices_in_proportion(ratio)(0.1, np.arange(3))
    rules, lengths = all_rules(X, data.binning)
    costs = prices[lengths] - np.abs(residual @ rules)
    found = Beam(literals, codes, WIDE, 2).search(residual, prices, 1e-9)
    assert bool(found) == (costs.min() < -1e-9)
    if found:
        assert found[0].cost == pytest.approx(costs.min(), abs=1e-9)
    for beam in (found, Beam(literals, codes, width, 2).search(residual, prices, 1e-9)):
        assert [each.cost for each in beam] == sorted(each.cost for each in beam)
        for members, cost in beam:
            (where,) = rows_of([literals.rule(members)], data.binning, X).T
            assert cost == pytest.approx(prices[len(members)] - abs(residual @ where), abs=1e-9)
            assert cost < -1e-9


def test_a_beam_goes_as_deep_as_it_is_allowed():
    """A conjunction of three is found step by step, and none longer than allowed."""
    rng = np.random.default_rng(0)
    X = rng.random((400, 4)) < 0.5
    y = (X[:, 0] & X[:, 1] & ~X[:, 3]).astype(float)
    data = encode(X, y, n_bins=2)
    residual = (y - y.mean()) / 400
    prices = np.full(5, 1e-3)
    for length in (1, 2, 3, 4):
        beam = Beam(Literals.of(data), next(iter(data.chunks)).codes, 1, length)
        best = beam.search(residual, prices, 0.0)[0]
        assert len(best.members) == min(length, 3)
    assert str(beam.literals.rule(best.members)) == (
        "x0 in bins 2.. and x1 in bins 2.. and x3 in bins 1..1"
    )


# --- the problem of the columns so far ------------------------------------------------------------


def objective(rows, z, weights, w, prices):
    """Return the objective of weights on 0/1 columns, with the intercept that is best."""
    left = z - rows @ w
    left = left - np.average(left, weights=weights)
    return 0.5 * np.average(left**2, weights=weights) + prices @ np.abs(w)


def lasso(rows, z, weights, prices):
    """Return scikit-learn's weights for columns that pay different prices."""
    model = Lasso(1.0, tol=1e-10, max_iter=1_000_000)
    return model.fit(rows / prices, z, sample_weight=weights).coef_ / prices


@pytest.mark.parametrize("strength", [0.3, 0.1, 0.03])
def test_the_master_is_the_lasso_of_scikit_learn(diabetes, strength):
    """With all rules of a pool as columns, dearer if longer, the objective is the same."""
    X, y = diabetes
    candidates = candidates_for(X, y, n_trees=25, max_depth=3)
    R = rows_of(candidates.pool.rules, candidates.binning, X)
    z = ((y - y.mean()) / y.std(ddof=0)).to_numpy()
    lengths = np.array([count_literals(rule) for rule in candidates.pool.rules])
    prices = prices_in_proportion(0.2)(strength, lengths)
    assert len(set(prices)) > 1
    found = solve_closely(Design.of_rules(candidates.statistics), prices, np.zeros(len(prices)))
    even = np.ones(len(z))
    assert objective(R, z, even, found, prices) == pytest.approx(
        objective(R, z, even, lasso(R, z, even, prices), prices), rel=1e-6
    )


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.4, 0.2, 0.1]), st.booleans())
@settings(max_examples=12, deadline=None)
def test_generated_columns_are_as_good_as_all_rules(seed, strength, weighted):
    """On all rules of one or two literals, enumerated by hand, there is no better solution."""
    rng = np.random.default_rng(seed)
    X, y = mixed_table(rng, 80)
    weights = rng.integers(1, 5, 80).astype(float) if weighted else np.ones(80)
    data = encode(X, y, n_bins=4, weights=weights if weighted else None)
    prices = prices_in_proportion(0.2)
    problem = ColumnGeneration.of(data, prices, width=WIDE, max_length=2)
    point = problem.solve(strength, np.zeros(0))
    assert point.converged
    z = y - np.average(y, weights=weights)
    z /= np.sqrt(np.average(z**2, weights=weights))
    own = rows_of(problem.rules, data.binning, X)
    own_lengths = np.array([len(members) for members in problem.columns], dtype=int)
    rules, lengths = all_rules(X, data.binning)
    every = prices(strength, lengths)
    best = objective(rules, z, weights, lasso(rules, z, weights, every), every)
    found = objective(own, z, weights, point.w, prices(strength, own_lengths))
    assert found == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize(
    ("seed", "strength", "weighted"), [(0, 0.2, False), (1, 0.1, True), (2, 0.05, False)]
)
def test_generated_columns_of_classes_are_as_good_as_all_rules(seed, strength, weighted):
    """On all rules of one or two literals, enumerated by hand, there is no better solution."""
    rng = np.random.default_rng(seed)
    n = 80
    X = pd.DataFrame({"a": rng.integers(0, 3, n), "b": rng.integers(0, 4, n), "c": rng.random(n)})
    y = (X["a"] * X["b"] + 3 * X["c"] + rng.normal(size=n) > 3).to_numpy(float)
    weights = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    data = encode(X, y, n_bins=3, weights=weights if weighted else None)
    prices = prices_in_proportion(0.2)
    problem = ColumnGeneration.of(data, prices, width=10_000, max_length=2, master=LogisticMaster)
    point = problem.solve(strength, np.zeros(0))
    assert point.converged
    assert point.n_rules > 0
    ones = np.array([
        side for name in X for cut in data.binning[name].cuts for side in (X[name] <= cut,
                                                                          X[name] > cut)
    ])  # fmt: skip
    twos = [ones[i] & ones[j] for i, j in itertools.combinations(range(len(ones)), 2)]
    rules, lengths = np.vstack([ones, twos]), np.repeat([1, 2], [len(ones), len(twos)])
    every = prices(strength, lengths)
    best = logistic_objective(rules, weights, y, logistic_lasso(rules, weights, y, every), every)
    own = np.array([problem.beam.holds(members) for members in problem.columns])
    at = prices(strength, np.array([len(members) for members in problem.columns]))
    found = logistic_objective(
        own, weights, y, (point.w, problem.master.loss.intercept(point.w)), at
    )
    assert found == pytest.approx(best, rel=1e-6)


def test_generated_columns_have_the_sums_of_their_rules(diabetes):
    """The master that grows has the same sums as statistics of its rules; columns differ."""
    X, y = diabetes
    data = encode(X, y, weights=np.linspace(0.5, 2, len(y)), chunk_rows=100)
    problem = ColumnGeneration.of(data, prices_in_proportion(0.2), width=3, max_length=4)
    for strength in (0.3, 0.2, 0.1):
        problem.solve(strength, np.zeros(0))
    assert len(set(problem.columns)) == len(set(problem.rules)) == len(problem.columns) > 10
    pool = CandidatePool(tuple(problem.rules), (frozenset(),) * len(problem.rules), 1)
    expected = Design.of_rules(compute_statistics(data, pool))
    np.testing.assert_allclose(problem.master.loss.C, expected.C, atol=1e-6)
    np.testing.assert_allclose(problem.master.loss.c, expected.c, atol=1e-6)
    np.testing.assert_allclose(problem.master.loss.means, expected.means)
    assert problem.master.loss.yy == pytest.approx(expected.yy)


def test_rounds_of_generation_are_limited(diabetes, monkeypatch):
    """Where the limit comes first, the point says that it is not final."""
    X, y = diabetes
    monkeypatch.setattr(column_generation, "MAX_ROUNDS", 1)
    problem = ColumnGeneration.of(encode(X, y), prices_in_proportion(0.2), width=1, max_length=2)
    assert not problem.solve(0.1, np.zeros(0)).converged


@pytest.mark.parametrize("prices", [prices_in_proportion(0.2), prices_of_length(0.005)])
@pytest.mark.parametrize("seed", range(3))
def test_a_path_of_generated_columns_ends_as_if_all_rules_were_there(prices, seed):
    """Where the path ends, the columns that were generated on it are as good as all rules."""
    X, y = mixed_table(np.random.default_rng(seed), 150)
    data = encode(X, y, n_bins=4)
    generated = generate_rules(data, prices, 6, width=WIDE, max_length=2)
    assert generated.converged
    pool = CandidatePool(generated.rules, (frozenset(),) * len(generated.rules), 1)
    point = choose_rules(
        Design.of_rules(compute_statistics(data, pool)), generated.rules, prices, 6
    )
    assert 5 <= point.n_rules <= 6
    z = (y - y.mean()) / y.std()
    even = np.ones(150)
    own = rows_of(generated.rules, data.binning, X)
    own_lengths = np.array([count_literals(rule) for rule in generated.rules])
    rules, lengths = all_rules(X, data.binning)
    every = prices(point.strength, lengths)
    assert objective(own, z, even, point.w, prices(point.strength, own_lengths)) == pytest.approx(
        objective(rules, z, even, lasso(rules, z, even, every), every), rel=1e-6
    )
