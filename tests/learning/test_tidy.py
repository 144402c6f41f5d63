"""Rule sets without rules that others express, or that hardly count."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mossrules import MossClassifier, MossRegressor, Rule
from mossrules.candidates.rules import Range
from mossrules.constraints import MustInclude
from mossrules.learning.squared_error import RIDGES, best_ridge, refit_weights
from mossrules.learning.tidy import drop_dependent, drop_idle, importances, required_first
from mossrules.solver.kernels.linalg import signed_weights
from mossrules.statistics import Statistics
from support.model_cases import wild_table


def centred(M: np.ndarray) -> np.ndarray:
    """Return the products of columns less their means."""
    M = M - M.mean(axis=0)
    return M.T @ M


def columns(seed: int, n: int = 40, k: int = 8) -> np.ndarray:
    """Return columns of 0 and 1, of which some are sums, copies or complements of others."""
    rng = np.random.default_rng(seed)
    M = (rng.random((n, k)) < 0.4).astype(float)
    a, b = M[:, 0], M[:, 1]
    M[:, 2], M[:, 3], M[:, 4] = a * b, a * (1 - b), 1 - a
    return M[:, rng.permutation(k)]


@given(st.integers(0, 10_000))
def test_what_is_kept_is_independent_and_predicts_the_same(seed):
    """With weights of the same direction, up to a constant."""
    M = columns(seed)
    rng = np.random.default_rng(seed)
    w = rng.random(M.shape[1])
    kept = drop_dependent(centred(M), w, rng.integers(1, 100, len(w)))
    rank = np.linalg.matrix_rank(M - M.mean(axis=0))
    assert len(kept) == rank == np.linalg.matrix_rank(M[:, kept] - M[:, kept].mean(axis=0))
    # Among weights that are not negative there are some that predict what all did.
    C, q = centred(M), centred(M) @ w
    best = signed_weights(C[np.ix_(kept, kept)] + 1e-12 * np.eye(rank), q[kept], np.ones(rank, int))
    target = (M - M.mean(axis=0)) @ w
    np.testing.assert_allclose((M - M.mean(axis=0))[:, kept] @ best, target, atol=1e-5)


@pytest.mark.parametrize("seed", [8, 55, 135, 157, 164, 292, 295])
def test_weights_that_come_to_zero_together_keep_their_direction(seed):
    """What rounding leaves of one counts as zero when the next rule leaves."""
    rng = np.random.default_rng(seed)
    a, b = (rng.random((2, 40)) < 0.5).astype(float)
    M = np.column_stack([a, b, a * b, a * (1 - b), (1 - a) * b, (1 - a) * (1 - b)])
    w, C = 0.1 * rng.integers(1, 4, 6), centred(M)
    kept = drop_dependent(C, w, rng.integers(1, 100, 6))
    some = C[np.ix_(kept, kept)] + 1e-12 * np.eye(len(kept))
    best = signed_weights(some, (C @ w)[kept], np.ones(len(kept), int))
    target = (M - M.mean(axis=0)) @ w
    np.testing.assert_allclose((M - M.mean(axis=0))[:, kept] @ best, target, atol=1e-5)


def test_of_two_equal_columns_the_one_of_more_trees_stays():
    """Whichever comes first."""
    M = np.array([[1, 1], [1, 1], [0, 0], [0, 0.0]])
    for counts, kept in ([[5, 9], [1]], [[9, 5], [0]]):
        assert drop_dependent(centred(M), np.array([0.5, 0.5]), np.array(counts)).tolist() == kept


def test_idle_rules_leave_until_none_is_left():
    """The others are fitted again each time."""
    rng = np.random.default_rng(0)
    M = (rng.random((200, 5)) < 0.5).astype(float)
    y = M @ np.array([5.0, 3.0, 0.001, 0.0, 2.0])
    Mc, yc = M - M.mean(axis=0), y - y.mean()

    def fit(kept):
        return np.linalg.lstsq(Mc[:, kept], yc, rcond=None)[0]

    kept, w = drop_idle(Mc.T @ Mc, len(y), fit, 0.01)
    assert kept.tolist() == [0, 1, 4]
    np.testing.assert_allclose(w, fit(kept))
    shares = importances((Mc.T @ Mc)[np.ix_(kept, kept)], w, len(y))
    np.testing.assert_allclose(shares, np.abs(w) * M[:, kept].std(axis=0))


@pytest.mark.parametrize("seed", range(5))
def test_the_ridge_of_the_refit_is_that_of_least_generalised_cross_validation(seed):
    """By hat matrices over the rows."""
    rng = np.random.default_rng(seed)
    M = (rng.random((60, 6)) < 0.4).astype(float)
    y = M @ rng.normal(size=6) + 2 * rng.normal(size=60)
    y = (y - y.mean()) / y.std()
    statistics = Statistics.from_matrix(M, y, np.arange(6))
    Mc = M - M.mean(axis=0)
    errors = []
    for ridge in RIDGES:
        hat = Mc @ np.linalg.solve(Mc.T @ Mc + ridge * np.eye(6), Mc.T) + 1 / 60
        errors.append(np.sum((y - hat @ y) ** 2) / (60 - np.trace(hat)) ** 2)
    assert best_ridge(statistics, np.arange(6)) == RIDGES[np.argmin(errors)]
    w, a = refit_weights(statistics, np.arange(6), None, 2.5)
    np.testing.assert_allclose(w, np.linalg.solve(Mc.T @ Mc + 2.5 * np.eye(6), Mc.T @ y))
    assert a == pytest.approx(-M.mean(axis=0) @ w)


@pytest.mark.parametrize("estimator", [MossRegressor, MossClassifier])
def test_a_required_rule_stays_whatever_it_adds(estimator):
    """Others of no effect leave."""
    X = {"a": [False, False, True, True] * 10, "b": [False, True] * 20}
    y = np.array([1, 1, 0, 0] + [0, 0, 1, 1] * 9)
    assert estimator(2, max_depth=1, n_trees=20).fit(X, y).rules_.texts == ["a is true"]
    for required in (Rule.of([Range("b", low=2)]), Rule.of([Range("b", high=1)])):
        model = estimator(2, max_depth=1, n_trees=20, constraints=MustInclude(required)).fit(X, y)
        assert model.rules_.rules[1] == required
        assert abs(model.rules_.weights[1]) < 0.01 * model.rules_.weights[0]


def test_of_rules_that_express_each_other_the_required_one_stays():
    """Though it is in fewer trees."""
    M = np.array([[1, 1], [1, 1], [0, 0], [0, 0.0]])
    counts = required_first(np.array([9, 5]), np.array([False, True]))
    assert drop_dependent(centred(M), np.array([0.5, 0.5]), counts).tolist() == [1]


TRUSTED = {
    "n_trees": 60,
    "inner_nodes": True,
    "max_overlap": 0.6,
    "directions": "own",
    "shrinkage": "frequency",
    "intercept": "chosen",
    "min_importance": 0.01,
    "refit_ridge": "auto",
}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_weights_mean_something(seed, kind):
    """Of each rule the direction of its own rows; independent; none idle; at most max_rules."""
    X, y = wild_table(seed, n=120)
    if kind == "classes":
        y = (y > np.median(y)).astype(int)
        model = MossClassifier(8, **TRUSTED).fit(X, y)
    else:
        model = MossRegressor(8, **TRUSTED).fit(X, y)
    rules = model.rules_
    assert 0 < len(rules) <= 8
    holds = rules.holds(X).astype(float)
    holds = holds if len(holds) == len(y) else holds.T
    own = np.array([y[column > 0].mean() - y.mean() for column in holds.T])
    assert (np.asarray(rules.weights) * own > 0).all()
    Mc = holds - holds.mean(axis=0)
    assert np.linalg.matrix_rank(Mc) == len(rules)
    size = np.abs(rules.weights) * holds.std(axis=0)
    assert size.min() >= 0.01 * size.max() * (1 - 1e-9)
    assert set(model.solution_.support) <= set(range(len(model.candidates_)))
    assert model.solution_.verify(model.problem_).passed


@pytest.mark.parametrize(
    "wrong",
    [
        {"directions": "up"},
        {"shrinkage": "some"},
        {"intercept": "none"},
        {"min_importance": 1.0},
        {"refit_ridge": 0.0},
    ],
)
def test_what_cannot_be_is_refused(wrong):
    """In one sentence, before any work."""
    X, y = wild_table(0, n=40)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        MossRegressor(3, n_trees=10, **wrong).fit(X, y)
