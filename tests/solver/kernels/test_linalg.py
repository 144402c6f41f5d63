import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from mossrules.solver.kernels.linalg import (
    factorise,
    signed_weights,
    solve_in_order,
    solve_lower,
    solve_upper,
)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 40])
def test_factors_are_those_of_numpy(n):
    """The lower triangle is the Cholesky factor, and all the rest of the matrix stays."""
    rng = np.random.default_rng(n)
    R = rng.normal(size=(n, n + 2))
    A = R @ R.T
    room = np.full((n + 2, n + 2), 9.0)
    room[:n, :n] = A
    assert factorise(room, n)
    np.testing.assert_allclose(np.tril(room[:n, :n]), np.linalg.cholesky(A), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(np.triu(room[:n, :n], 1), np.triu(A, 1))
    assert (room[n:] == 9.0).all()
    assert (room[:, n:] == 9.0).all()


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_solves_are_those_of_numpy(n):
    """L^-1 b and L'^-1 b read the lower triangle only, and the first n entries of b."""
    rng = np.random.default_rng(n)
    L = np.tril(rng.normal(size=(n, n))) + 5 * np.eye(n)
    dirty = L + np.triu(rng.normal(size=(n, n)), 1)
    for solve, matrix in ((solve_lower, L), (solve_upper, L.T)):
        b = rng.normal(size=n + 1)
        found = b.copy()
        solve(dirty, n, found)
        np.testing.assert_allclose(found[:n], np.linalg.solve(matrix, b[:n]), rtol=1e-9)
        assert found[n] == b[n]


@pytest.mark.parametrize(
    "A", [[[0.0]], [[-1.0]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]], [[np.nan]]]
)
def test_a_matrix_that_is_not_positive_definite_is_refused(A):
    """A pivot that is zero, negative or not a number ends the factorisation."""
    assert not factorise(np.array(A), len(A))


@pytest.mark.parametrize("n", [0, 1, 2, 7, 40])
def test_equations_solved_in_order_are_those_of_numpy(n):
    """Whatever the pivots; the matrix stays as it was."""
    rng = np.random.default_rng(n)
    A, b = rng.normal(size=(n, n)), rng.normal(size=n)
    before = A.copy()
    np.testing.assert_allclose(solve_in_order(A, b), np.linalg.solve(A, b), rtol=1e-7)
    np.testing.assert_array_equal(A, before)


def test_singular_equations_are_refused():
    """As NumPy refuses them."""
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        solve_in_order(np.ones((2, 2)), np.ones(2))


# --- weights of given signs -----------------------------------------------------------------------


def random_program(seed):
    """Return A, q and signs, with equal and opposite columns now and then."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 16))
    M = rng.normal(size=(rng.integers(2, 30), n))
    if rng.random() < 0.3:
        M = (M > 0) * rng.normal(size=n)
    if n > 2 and rng.random() < 0.3:
        M[:, 1], M[:, 2] = M[:, 0], -M[:, 0]
    y = rng.normal(size=len(M)) * 10.0 ** rng.integers(-6, 7)
    return M.T @ M + 10.0 ** rng.uniform(-6, 1) * np.eye(n), M.T @ y, rng.integers(-1, 2, n)


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=300)
def test_the_weights_are_the_best_of_their_signs(seed):
    """They have the signs asked for, no slope leads on, and scipy's are no better."""
    A, q, signs = random_program(seed)
    w = signed_weights(A, q, signs)
    assert (signs * w >= 0).all()
    used = np.flatnonzero(w)
    np.testing.assert_array_equal(w[used], solve_in_order(A[np.ix_(used, used)], q[used]))
    slope, size = q - A @ w, np.abs(q) + np.abs(A) @ np.abs(w)
    held = (w == 0) & (signs != 0)
    assert (np.abs(slope[~held]) <= 1e-9 * size[~held]).all()
    assert (signs[held] * slope[held] <= 1e-9 * size[held]).all()
    L = np.linalg.cholesky(A)
    bounds = np.where(signs > 0, 0.0, -np.inf), np.where(signs < 0, 0.0, np.inf)
    scale = np.abs(q).max() or 1.0
    other = (
        lsq_linear(L.T, np.linalg.solve(L, q / scale), bounds, method="bvls", tol=1e-14).x * scale
    )
    found, expected = (0.5 * x @ A @ x - q @ x for x in (w, other))
    assert found <= expected + 1e-9 * abs(expected)


def test_without_signs_the_weights_are_those_of_the_equations():
    """Nothing is held."""
    A, q, _ = random_program(3)
    np.testing.assert_allclose(signed_weights(A, q, np.zeros(len(q))), np.linalg.solve(A, q))


def test_signs_of_a_matrix_that_is_not_positive_definite_are_refused():
    """There is no best weight then."""
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        signed_weights(-np.eye(2), np.ones(2), np.array([0, 1]))
