from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from scipy.stats import binom
from sklearn.linear_model import Ridge

from mossrules import CandidatePool, Rule, find_candidates
from mossrules.baselines.designs import Folds
from mossrules.baselines.frequent_rules import (
    best_by_folds,
    best_by_gcv,
    expected_agreement,
    independent_rules,
    ridge_grid,
    settled_trees,
    solve_ridge,
)
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import OPEN, Levels, Range
from mossrules.candidates.statistics import rule_columns
from mossrules.data.columns import Kind
from mossrules.data.table import Table
from mossrules.estimators import candidates_for
from support.baseline_cases import design_of

# --- how many trees -------------------------------------------------------------------------------


def test_agreement_is_that_of_independent_draws():
    """The expected agreement is near that of simulated forests' selections."""
    rng = np.random.default_rng(0)
    p, n_trees = np.array([0.3, 0.25, 0.2, 0.1, 0.09, 0.05]), 1000
    thresholds = (p[1:] + p[:-1]) / 2
    draws = rng.binomial(n_trees, p, size=(2, 4000, 1, len(p))) / n_trees > thresholds[:, None]
    in_both, in_one = (draws[0] & draws[1]).mean(axis=0), draws.mean(axis=(0, 1))
    simulated = in_both.sum(axis=-1) / in_one.sum(axis=-1)
    assert expected_agreement(p, n_trees) == pytest.approx(simulated.mean(), abs=0.01)
    # One threshold, between two rules far apart: certain. And exactly, by the binomial's tails.
    assert expected_agreement(np.array([1.0, 0.5]), n_trees) == pytest.approx(1.0)
    near = np.array([0.52, 0.48])
    phi = binom.sf(500, 1000, near)
    assert expected_agreement(near, 1000) == pytest.approx((phi @ phi) / phi.sum(), abs=0.02)
    assert expected_agreement(np.array([0.2, 0.2]), 10) == 1.0


def test_a_large_forest_tells_of_smaller_ones(diabetes):
    """The number of trees found in a large forest is that of growing a thousand at a time."""
    X, y = diabetes
    X = X[["bmi", "s5"]]
    large = candidates_for(X, y, n_trees=4000, inner_nodes=True, max_candidates=None).pool
    sizes = [1000, 2000, 3000, 4000]
    pools = [
        candidates_for(X, y, n_trees=size, inner_nodes=True, max_candidates=None).pool
        for size in sizes
    ]
    agreements = [expected_agreement(pool.proportions, pool.n_trees) for pool in pools]
    for share in np.array(agreements) * (1 - 1e-9):
        first = next(n for n, each in zip(sizes, agreements, strict=True) if each >= share)
        assert settled_trees(large, share) == first
    assert settled_trees(large, 1.0) is None
    assert settled_trees(large, 0.5, after=3000) == 4000
    assert isinstance(large, CandidatePool)


# --- redundant rules ------------------------------------------------------------------------------


COLUMNS = Binning(
    (
        BinnedColumn("a", Kind.NUMERIC, (0.5, 1.5, 2.5)),
        BinnedColumn("b", Kind.NUMERIC, (0.5, 1.5)),
        BinnedColumn("c", Kind.CATEGORICAL, levels=("oak", "ash", "elm")),
    )
)


@st.composite
def conditions(draw, feature):
    """Return a condition that says something, on a column that may have missing values."""
    if feature == "c":
        levels = draw(st.sets(st.sampled_from(["oak", "ash", "elm", None]), min_size=1, max_size=2))
        return Levels("c", frozenset(levels), inside=draw(st.booleans()))
    most = len(COLUMNS[feature].cuts)
    low = draw(st.integers(1, most + 1))
    high = draw(st.sampled_from([*range(low, most + 1), OPEN]))
    condition = Range(feature, low, high, missing=draw(st.booleans()))
    assume((condition.low, condition.high) != (1, OPEN))
    return condition


@st.composite
def some_rules(draw):
    """Return distinct rules on one to three columns."""
    features = st.sets(st.sampled_from("abc"), min_size=1, max_size=3)
    rules = [
        Rule.of([draw(conditions(feature)) for feature in sorted(draw(features))])
        for _ in range(draw(st.integers(1, 14)))
    ]
    return list(dict.fromkeys(rules))


def holds_on_all_combinations(rules):
    """Return the rules' columns on all combinations of codes, those of missing values included."""
    spoken = {"a": False, "b": False, "c": False}
    for rule in rules:
        for each in rule.conditions:
            said = each.missing if isinstance(each, Range) else None in each.levels
            spoken[each.feature] |= said
    codes = [range(0 if spoken[c.name] else 1, c.n_values + 1) for c in COLUMNS.columns]
    accepts = [
        {each.feature: each.accepts(COLUMNS[each.feature]) for each in r.conditions} for r in rules
    ]
    rows = [dict(zip("abc", row, strict=True)) for row in product(*codes)]
    return np.array(
        [[all(ok[name][row[name]] for name in ok) for ok in accepts] for row in rows], dtype=float
    )


@given(some_rules(), st.integers(1, 14))
@settings(deadline=None)
def test_redundant_rules_are_those_that_do_not_raise_the_rank(rules, most):
    """On all combinations of codes, a rule is kept exactly if it adds to the rank of a matrix."""
    R = holds_on_all_combinations(rules)
    kept, basis = [], np.ones((len(R), 1))
    for position, column in enumerate(R.T):
        wider = np.column_stack([basis, column])
        if len(kept) < most and np.linalg.matrix_rank(wider) > basis.shape[1]:
            kept.append(position)
            basis = wider
    assert independent_rules(rules, COLUMNS, most).tolist() == kept


def test_redundancy_is_told_for_deep_rules():
    """Rules of up to five conditions are kept exactly if they raise the rank."""
    rng = np.random.default_rng(0)
    grid = np.array(list(product(range(4), repeat=5)), dtype=float)
    X = pd.DataFrame(np.vstack([grid, rng.integers(0, 4, (200, 5))]), columns=list("abcde"))
    y = np.sin(X @ rng.normal(size=5)) + rng.normal(size=len(X))
    found = find_candidates(X, y, n_trees=30, max_depth=5, inner_nodes=True, max_candidates=None)
    rules, binning = found.pool.rules[:150], found.binning
    R = rule_columns(rules, binning, binning.encode(Table.from_any(X[: len(grid)]))).T
    kept, basis = [], np.ones((len(grid), 1)) / np.sqrt(len(grid))
    for position, column in enumerate(R.astype(float).T):
        rest = column - basis @ (basis.T @ column)
        rest -= basis @ (basis.T @ rest)  # once more, for rounding
        if np.linalg.norm(rest) > 1e-7 * np.linalg.norm(column):
            kept.append(position)
            basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
    assert 50 < len(kept) < 150
    assert independent_rules(rules, binning, 150).tolist() == kept


def test_opposites_and_last_quarters_are_redundant():
    """Of a rule and its opposite one is kept, and of four quarters three."""
    low, high = Range("a", 1, 2), Range("a", 3)
    left, right = Range("b", 1, 1), Range("b", 2)
    quarters = [Rule.of([x, y]) for x in (low, high) for y in (left, right)]
    assert independent_rules([Rule.of([low]), Rule.of([high])], COLUMNS, 9).tolist() == [0]
    assert independent_rules(quarters, COLUMNS, 9).tolist() == [0, 1, 2]
    assert independent_rules([*quarters, Rule.of([low])], COLUMNS, 9).tolist() == [0, 1, 2]
    # Where values are missing, a rule and "the other numbers" are no opposites.
    other = Range("a", 3, missing=True)
    rules = [Rule.of([low]), Rule.of([high]), Rule.of([other])]
    assert independent_rules(rules, COLUMNS, 9).tolist() == [0, 1]


# --- weights --------------------------------------------------------------------------------------


@st.composite
def regressions(draw):
    """Return columns and a target of mean 0 and variance 1."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(5, 40)), draw(st.integers(2, 8))
    X = rng.normal(size=(n, m)) + rng.normal(size=(n, 1))
    y = X @ rng.normal(size=m) + rng.normal(size=n)
    return X, (y - y.mean()) / y.std()


@given(regressions(), st.floats(1e-6, 1e3))
@settings(deadline=None)
def test_ridge_is_least_squares_on_more_rows(data, ridge):
    """Non-negative ridge is non-negative least squares with a row for each column's penalty."""
    X, y = data
    n, m = X.shape
    Z = X - X.mean(axis=0)
    expected = nnls(np.vstack([Z, np.sqrt(n * ridge) * np.eye(m)]), np.append(y, np.zeros(m)))[0]
    np.testing.assert_allclose(solve_ridge(design_of(X, y), ridge), expected, atol=1e-8)


@given(regressions())
@settings(max_examples=20, deadline=None)
def test_generalised_cross_validation_counts_the_freedom_of_the_fit(data):
    """The penalty chosen has the least GCV, its freedom the trace of scikit-learn's fits."""
    X, y = data
    n = len(y)
    design = design_of(X, y)

    def score(ridge):
        used = solve_ridge(design, ridge) > 0
        fit = np.full((n, n), 1 / n)  # fitted values are this matrix times the target
        if used.any():
            fit = Ridge(alpha=n * ridge).fit(X[:, used], np.eye(n)).predict(X[:, used])
        left = n - np.trace(fit)
        return n * np.sum((y - fit @ y) ** 2) / left**2 if left > 0 else np.inf

    best = score(best_by_gcv(design))
    assert best == pytest.approx(min(map(score, ridge_grid(design))), rel=1e-6)


def test_the_grid_of_penalties_is_that_of_glmnet():
    """From a thousand times the largest covariance, four decades down; two if columns abound."""
    rng = np.random.default_rng(0)
    for n, m, decades in ((30, 4, 4), (5, 8, 2)):
        X, y = rng.normal(size=(n, m)), rng.normal(size=n)
        y -= y.mean()
        grid = ridge_grid(design_of(X, y))
        top = 1000 * np.abs((X - X.mean(axis=0)).T @ y).max() / n
        assert len(grid) == 100
        assert grid[0] == pytest.approx(top)
        assert grid[-1] == pytest.approx(top / 10**decades)


def test_the_penalty_of_least_error_is_taken():
    """Among the penalties of the grid, the one with the least error on folds wins."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 5)), rng.normal(size=60)
    y = (y - y.mean()) / y.std()
    A = np.column_stack([np.ones(60), X, y])
    folds = Folds(np.stack([A[i::3].T @ A[i::3] for i in range(3)]))
    design = design_of(X, y)
    best = best_by_folds(design, folds)
    grid = ridge_grid(design)
    errors = folds.errors(lambda part: [solve_ridge(part, ridge) for ridge in grid])
    assert best == grid[errors.argmin()]
    assert errors.argmin() < 50  # noise is best explained by nothing
