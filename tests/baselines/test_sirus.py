from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from scipy.stats import binom
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from mossrules import CandidatePool, Rule, find_candidates
from mossrules.baselines import SirusRegressor, sirus
from mossrules.baselines.designs import Design, Folds
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
from mossrules.data.rows import Rows
from mossrules.data.table import Table
from mossrules.estimators import candidates_for
from mossrules.exceptions import InvalidParameter, SolveLimitWarning


@pytest.fixture(scope="module")
def diabetes():
    """Return a table in the users' units and its target."""
    return load_diabetes(return_X_y=True, as_frame=True, scaled=False)


@pytest.fixture(scope="module")
def candidates(diabetes):
    """Return the candidates that learners share."""
    return candidates_for(*diabetes, n_trees=200)


def rows_as_given(X, y, weights=None):
    """Return rows to learn from in the order that they have."""
    return Rows.from_table(Table.from_any(X), y, weights, keeps_order=True)


@parametrize_with_checks(
    [
        SirusRegressor(n_trees=50),
        SirusRegressor(5, n_trees=50, source="own", ridge="cv"),
        SirusRegressor(8, n_trees=50, variant="paper", p0=0.02),
    ]
)
def test_scikit_learn_is_content(estimator, check):
    """All of scikit-learn's checks pass, with none that is expected to fail."""
    check(estimator)


# --- which rules ----------------------------------------------------------------------------------


def test_the_variant_of_the_paper_takes_the_most_frequent_rules(candidates):
    """Sorting by counts gives the rules, less those that tie with the first that is left out."""
    counts = candidates.pool.counts
    for k in (1, 2, 5, 15):
        model = SirusRegressor(k, variant="paper").fit_candidates(candidates)
        kth_next = sorted(counts, reverse=True)[k]
        expected = {
            rule
            for rule, count in zip(candidates.pool.rules, counts, strict=True)
            if count > kth_next
        }
        assert set(model.rules_) == expected


def test_the_variant_of_the_paper_has_weights_of_a_small_ridge(diabetes, candidates):
    """Weights are those of scikit-learn's ridge of 0.001 on columns of the rules' mean targets."""
    X, y = diabetes
    scaled = (y - y.mean()) / y.std(ddof=0)
    model = SirusRegressor(10, variant="paper").fit_candidates(candidates)
    R = model.rules_.holds(X).astype(float)
    M = R * (R.T @ scaled / R.sum(axis=0))
    expected = Ridge(alpha=1e-3).fit(M, scaled).predict(M) * y.std(ddof=0) + y.mean()
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-5)


def test_only_frequent_rules_are_taken(candidates):
    """A threshold on the share of trees bounds both variants; above all shares none is left."""
    share = float(np.sort(candidates.pool.proportions)[-4])
    few = SirusRegressor(15, p0=share, variant="paper").fit_candidates(candidates)
    assert len(few.rules_) == 3
    for variant in ("published", "paper"):
        none = SirusRegressor(p0=0.99, variant=variant).fit_candidates(candidates)
        assert len(none.rules_) == 0
        assert none.rules_.intercept == pytest.approx(candidates.statistics.target_mean)
    model = SirusRegressor(15, p0=share).fit_candidates(candidates)
    assert (model.rules_.proportion > share).all()


def test_inner_nodes_are_rules_of_its_own_forest(diabetes):
    """Its own source has inner nodes for candidates beside the leaves that all learners share."""
    X, y = diabetes
    shared = SirusRegressor(n_trees=50).fit(X, y)
    assert shared.pool_.rules == candidates_for(X, y, n_trees=50).pool.rules
    own = SirusRegressor(n_trees=50, source="own").fit(X, y)
    assert own.pool_.rules == candidates_for(X, y, n_trees=50, inner_nodes=True).pool.rules
    assert set(shared.pool_.rules) < set(own.pool_.rules)
    assert min(map(len, own.rules_)) == 1


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


def design_of(X, y):
    """Return the sums of centred columns."""
    Z = X - X.mean(axis=0)
    return Design(Z.T @ Z, Z.T @ y, float(y @ y), float(len(y)), X.mean(axis=0))


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


def outputs(model, X, y, weights=None):
    """Return what each rule of a model predicts: the mean inside where it holds, else outside."""
    R = model.rules_.holds(X)
    inside = [np.average(y[holds], weights=weights) for holds in R.T]
    outside = [np.average(y[~holds], weights=weights) for holds in R.T]
    return np.where(R, inside, outside)


@pytest.mark.parametrize("ridge", [0.003, 0.3])
def test_the_published_model_adds_up_means_inside_and_outside(diabetes, ridge):
    """From rows alone, non-negative ridge on the rules' predictions gives the same model."""
    X, y = diabetes
    model = SirusRegressor(12, source="own", n_trees=200, ridge=ridge).fit(X, y)
    G = outputs(model, X, y)
    Z, scale = G - G.mean(axis=0), y.std(ddof=0)
    n, k = Z.shape
    penalty = scale * np.sqrt(n * ridge) * np.eye(k)  # on weights of outputs in the target's units
    w = nnls(np.vstack([Z, penalty]), np.append(y - y.mean(), np.zeros(k)))[0]
    assert (w > 0).all()
    np.testing.assert_allclose(model.predict(X), y.mean() + Z @ w)
    # The rules left out had weight zero: with them in, nothing changes.
    kept = independent_rules(model.pool_.rules, model.candidates_.binning, 12)
    assert set(model.rules_) <= {model.pool_.rules[i] for i in kept}


def test_one_rule_predicts_its_means(diabetes):
    """With a single rule there is no ridge: the prediction is its mean, inside or outside."""
    X, y = diabetes
    model = SirusRegressor(1, n_trees=50).fit(X, y)
    np.testing.assert_allclose(model.predict(X), outputs(model, X, y)[:, 0])


@pytest.mark.parametrize("weighted", [False, True])
def test_cross_validation_is_that_of_separate_fits(diabetes, weighted):
    """Errors from sums over folds are those of models fitted to the rows of the other folds."""
    X, y = diabetes
    X, y = X[:150], y[:150].to_numpy()
    weights = np.random.default_rng(0).uniform(0.5, 2, 150) if weighted else None
    candidates = find_candidates(X, y, n_trees=50, sample_weight=weights)
    support = np.array([0, 2, 3, 7])
    rows = rows_as_given(X, y, weights)
    folds = Folds.of_rows(candidates, support, rows, n_folds=4).scaled(np.array([1.0, 2.0, 1, 1]))
    w = np.ones(150) if weights is None else weights
    mean, scale = candidates.statistics.target_mean, candidates.statistics.target_scale
    target = (y - mean) / scale
    rules = [candidates.pool.rules[i] for i in support]
    texts = candidates.texts
    R = np.column_stack([X.eval(texts[i]).to_numpy(float) for i in support]) * [1, 2, 1, 1]
    assert len(rules) == 4
    ridges = [0.01, 0.1, 1.0]
    expected = np.zeros(3)
    for fold in range(4):
        out = np.arange(150) % 4 == fold
        total = w[~out].sum()
        mu, ybar = w[~out] @ R[~out] / total, w[~out] @ target[~out] / total
        root = np.sqrt(w[~out])[:, None]
        for i, ridge in enumerate(ridges):
            A = np.vstack([root * (R[~out] - mu), np.sqrt(total * ridge) * np.eye(4)])
            b = np.append(root[:, 0] * (target[~out] - ybar), np.zeros(4))
            fitted = ybar + (R[out] - mu) @ nnls(A, b)[0]
            expected[i] += w[out] @ (target[out] - fitted) ** 2
    errors = folds.errors(lambda part: [solve_ridge(part, ridge) for ridge in ridges])
    np.testing.assert_allclose(errors, expected / w.sum(), rtol=1e-6)


def test_penalties_by_folds_and_without_rows_are_near_each_other(diabetes):
    """Both ways to choose the penalty give models that explain the target equally well."""
    X, y = diabetes
    models = [SirusRegressor(12, source="own", n_trees=200, ridge=r) for r in ("gcv", "cv")]
    by_gcv, by_cv = (model.fit(X, y).predict(X) for model in models)
    assert np.corrcoef(by_gcv, by_cv)[0, 1] > 0.99


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


def test_folds_need_rows(candidates):
    """Cross-validation from candidates alone is refused, with the way out."""
    with pytest.raises(InvalidParameter, match="needs rows"):
        SirusRegressor(ridge="cv").fit_candidates(candidates)


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


def test_the_published_forest_grows_until_it_is_settled(diabetes, monkeypatch):
    """With n_trees="auto" the forest has the trees that agreement asks for, whatever the start."""
    X, y = diabetes
    X = X[["bmi", "s5", "bp"]]
    monkeypatch.setattr(sirus, "AGREEMENT", 0.9)
    search = {"n_bins": 10, "max_features": 1 / 3}
    model = SirusRegressor(5, source="own", n_trees="auto", **search).fit(X, y)
    n_trees = model.pool_.n_trees
    assert n_trees % 1000 == 0
    assert n_trees > 1000
    assert (
        model.rules_.to_json()
        == clone(model).set_params(n_trees=n_trees).fit(X, y).rules_.to_json()
    )
    pool = candidates_for(X, y, n_trees=n_trees, inner_nodes=True, **search).pool
    assert settled_trees(pool, 0.9) == n_trees
    monkeypatch.setattr(sirus, "MAX_TREES", 1000)
    with pytest.warns(SolveLimitWarning, match="1000 trees would still not agree"):
        SirusRegressor(5, source="own", n_trees="auto", **search).fit(X, y)


# --- as an estimator ------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["published", "paper"])
@pytest.mark.parametrize("source", ["pool", "own"])
def test_tables_are_taken_as_they_are(variant, source):
    """Missing values and categories are there, and the order of rows makes no difference."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "size": np.where(rng.random(120) < 0.2, np.nan, rng.normal(size=120)),
            "kind": rng.choice(["oak", "ash", "elm"], 120),
        }
    )
    y = X["size"].fillna(2.0) + (X["kind"] == "oak")
    model = SirusRegressor(6, source=source, variant=variant, n_trees=60, ridge="cv")
    order = rng.permutation(120)
    fitted = model.fit(X, y).rules_.to_json()
    assert model.score(X, y) > 0.5
    assert clone(model).fit(X.iloc[order], y.iloc[order]).rules_.to_json() == fitted


def test_parameters_are_those_promised():
    """Names and defaults of the constructor are the documented ones."""
    assert SirusRegressor().get_params() == {
        "max_rules": 15, "p0": None, "ridge": "gcv", "n_trees": 2000, "max_depth": 2, "n_bins": 8,
        "max_features": 0.5, "generator": "forest", "source": "pool", "variant": "published",
        "random_state": None, "n_jobs": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"p0": -0.1}, "p0 is -0.1"),
        ({"p0": 1.0}, "p0 is 1.0; pass a share"),
        ({"ridge": 0.0}, "ridge is 0.0"),
        ({"ridge": "loo"}, "ridge is 'loo'"),
        ({"n_trees": "auto"}, "set source='own'"),
        ({"n_trees": "auto", "source": "own", "generator": object()}, "generator='forest'"),
    ],
)
def test_parameters_are_checked(parameters, message):
    """What cannot be is refused before any work."""
    with pytest.raises(InvalidParameter, match=message):
        SirusRegressor(**parameters).fit(None, None)


@pytest.mark.slow
def test_the_package_on_pypi_finds_much_the_same(diabetes):
    """The model is near that of `sirus` 0.1.0, which draws, bins and splits on its own."""
    theirs = pytest.importorskip("sirus", reason="sirus 0.1.0 from PyPI is not installed")
    X, y = diabetes
    search = {"n_trees": 3000, "n_bins": 10, "max_features": 1 / 3}
    ours = SirusRegressor(10, source="own", ridge="cv", **search).fit(X, y)
    other = theirs.SirusRegressor(num_rules=10, num_trees=3000, random_state=0).fit(X, y)
    assert np.corrcoef(ours.predict(X), other.predict(X))[0, 1] > 0.97
    assert ours.score(X, y) == pytest.approx(other.score(X, y), abs=0.02)
    holds = [
        np.logical_and.reduce(
            [X.eval(f"{c.name} {c.op} {float(c.value)!r}") for c in rule.conditions]
        )
        for rule in other.rules_
    ]
    # Cuts fall beside the same values, so a few rows may change sides; opposites are one rule.
    alike = np.abs(np.corrcoef(np.array(holds), ours.rules_.holds(X).T))[10:, :10] > 0.95
    assert alike.any(axis=0).sum() >= 8
