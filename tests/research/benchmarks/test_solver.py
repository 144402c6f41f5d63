"""The benchmarks of the solver at toy sizes: references, resuming and sums, not speed."""

from dataclasses import replace

import numpy as np
import pytest

from mossrules.solver import Problem
from mossrules.statistics import Statistics
from research.benchmarks import rivals, solver
from research.benchmarks._pools import LARGEST, Pool, scale_rows
from research.benchmarks.authors import cutting_plane
from research.harness.reports import Bound
from support.oracles import brute_force


@pytest.fixture
def statistics():
    """Twelve columns, two of them equal, and a target."""
    rng = np.random.default_rng(5)
    M = rng.random((40, 12)) * (rng.random((40, 12)) < 0.5)
    M[:, 7] = M[:, 3]
    y = M[:, :5].sum(axis=1) + 0.3 * rng.standard_normal(40)
    return Statistics.from_matrix(M, y - y.mean(), rng.integers(1, 20, 12))


def test_floors_are_numbered_from_the_largest(statistics):
    """The first is what the largest counts reach, and numbers may go beyond the last."""
    pool = Pool("toy", replace(statistics, counts=np.arange(20), q=np.zeros(20)))
    assert pool.floor(LARGEST) == sum(range(5, 20))
    assert pool.floor(LARGEST + 1) == sum(range(4, 19))
    assert pool.floor(40) is None


def test_scaled_rows_scale_the_loss(statistics):
    """More copies of the rows at the same gamma n multiply every loss by their number."""
    scaled, copies = scale_rows(statistics, 1e6)
    support = np.array([0, 3, 8])
    before = Problem(statistics, max_rules=3, gamma=0.1).loss(support)
    after = Problem(scaled, max_rules=3, gamma=0.1 / copies).loss(support)
    assert after == pytest.approx(copies * before)


@pytest.mark.parametrize("share", [0.5, 0.8, 1.0])
def test_the_authors_way_finds_the_best_selection(statistics, share):
    """Without a tolerance the cutting plane ends at the optimum of brute force."""
    pytest.importorskip("gurobipy")
    problem = Problem(statistics, max_rules=4, gamma=0.1)
    problem = problem.at(int(share * problem.max_stability_unlimited))
    found = cutting_plane(problem, tolerance=1e-6, limit=60.0, threads=1)
    assert found.finished
    assert problem.is_feasible(found.support)
    assert found.loss == pytest.approx(problem.loss(found.support))
    assert found.loss == pytest.approx(brute_force(problem)[0], rel=2e-3)


def test_the_authors_way_without_time_says_that_it_did_not_finish(statistics):
    """A limit leaves a gap, and a selection all the same."""
    pytest.importorskip("gurobipy")
    found = cutting_plane(Problem(statistics, max_rules=4, gamma=0.1), limit=1e-9)
    assert not found.finished
    assert found.gap > 0
    assert len(found.support) == 4


def test_speed_is_a_geometric_mean_of_ratios():
    """Eight times and twice as fast is four times; nothing measured is not a number."""
    rows = [{"authors s": 16.0, "x": 2.0}, {"authors s": 1.0, "x": 0.5}]
    assert solver.speed(rows, "x") == pytest.approx(4.0)
    assert np.isnan(solver.speed([], "x"))


def test_open_problems_and_disagreements_are_counted():
    """Only gaps at the last floor count as open; the longest solve is of the others."""
    row = {"dataset": "a", "nodes": 1.0, "agree": True}
    rows = [
        {**row, "eps": 1, "0.1 % s": 3.0, "gap": 0.5},
        {**row, "eps": 2, "0.1 % s": 9.0, "gap": 0.0, "agree": False},
        {**row, "eps": 3, "0.1 % s": 60.0, "gap": 0.02},
    ]
    longest, still_open = solver.proof_figures(rows, (1, 2, 3))
    assert longest.measured == 9.0
    assert still_open.parts == {"datasets": ["a"]}
    assert solver.conflicts(rows) == ["a, eps #2"]
    assert still_open.asked == Bound("<=", 2)


def test_a_price_makes_its_size_the_best():
    """Loss plus price is least at the size asked for; a size above the hull has no price."""
    losses = {0: 10.0, 1: 6.0, 2: 4.0, 3: 3.5, 4: 2.0}
    price = rivals.price_of_size(losses, 2)
    assert min(losses, key=lambda size: losses[size] + price * size) == 2
    assert rivals.price_of_size(losses, 3) is None


def test_compressed_columns_have_the_same_statistics(statistics):
    """Few rows stand for all of them."""
    X, y = rivals.compress(statistics)
    assert len(X) <= statistics.m + 1
    np.testing.assert_allclose(X.T @ X, statistics.G, atol=1e-9)
    np.testing.assert_allclose(X.T @ y, statistics.q, atol=1e-9)
    assert y @ y == pytest.approx(statistics.yy)


def test_independent_rules_leave_out_one_of_two_equal_ones(statistics):
    """What is left has full rank."""
    part = rivals.independent(statistics)
    assert part.m == statistics.m - 1
    assert np.linalg.matrix_rank(part.G) == part.m
