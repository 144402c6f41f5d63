import numpy as np
import pytest

from mossrules.solver.kernels.linalg import factorise, solve_in_order, solve_lower, solve_upper


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
