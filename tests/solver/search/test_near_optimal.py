"""All selections within a tolerance of the optimum."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mossrules.frontier
import mossrules.solver
from mossrules.exceptions import InvalidParameter
from mossrules.solver import (
    LinearConstraints,
    Options,
    Problem,
    Status,
    near_optimal,
    solve,
)
from mossrules.solver.search import branch_and_bound
from support.cases import floored, hard_classes, hard_problem, mixed_problem, wild_problem
from support.oracles import (
    all_selections,
    brute_force_logistic_pool,
    brute_force_pool,
    plain_loss,
    random_logistic_problem,
    random_problem,
)

EVERYTHING = 100_000  # more selections than any of the problems here has


def as_sets(pool):
    """Return the selections of a pool as tuples."""
    return [tuple(support.tolist()) for support in pool]


def assert_is_brute_force(problem, tolerance):
    """Compare with the list of all selections, those at the very limit excepted."""
    pool = near_optimal(problem, tolerance, EVERYTHING, Options(time_limit=None))
    expected, losses = brute_force_pool(problem, tolerance)
    limit = (1.0 + tolerance) * losses.min()
    at_limit = {
        support
        for support in set(as_sets(pool)) ^ set(expected)
        if abs(plain_loss(problem, support) - limit) <= 1e-9 * problem.statistics.yy
    }
    assert set(as_sets(pool)) - at_limit == set(expected) - at_limit
    assert len(set(as_sets(pool))) == len(pool)
    assert pool.is_complete
    assert pool.complete_within == tolerance
    return len(pool)


@pytest.mark.parametrize("tolerance", [0.0, 0.003, 0.02, 0.2, 2.0])
@pytest.mark.parametrize("case", [random_problem, wild_problem, mixed_problem])
def test_the_set_is_the_list_by_brute_force(case, tolerance):
    """On random problems of all kinds, each selection within the tolerance and no other."""
    sizes = [assert_is_brute_force(case(seed), tolerance) for seed in range(70)]
    assert min(sizes) >= 1
    assert max(sizes) > 1


def signed_loss(problem, support):
    """Return the loss by plain definition: the least of part of the rules that keep their signs."""
    losses = []
    for size in range(len(support) + 1):
        for part in map(list, itertools.combinations(support, size)):
            A = problem.statistics.G[np.ix_(part, part)] + np.eye(size) / problem.gamma
            w = np.linalg.solve(A, problem.statistics.q[part])
            if (problem.signs[part] * w >= 0).all():
                losses.append(plain_loss(problem, part))
    return min(losses)


@pytest.mark.parametrize("tolerance", [0.0, 0.02, 0.5])
@pytest.mark.parametrize("floor", ["sum", "each"])
def test_signs_of_weights_are_kept(floor, tolerance):
    """Each rule set within the tolerance by the best weights of its signs, and no other."""
    sizes = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        problem = random_problem(seed, max_rules=int(rng.integers(1, 4)))
        signs = rng.integers(-1, 2, problem.m) if seed % 2 else np.ones(problem.m, int)
        problem = replace(problem, signs=signs)
        if floor == "each":
            problem = problem.with_floor("each")
            problem = problem.at(int(rng.choice([0.0, 0.5, 1.0]) * problem.max_stability))
        near = near_optimal(problem, tolerance, EVERYTHING, Options(time_limit=None))
        losses = {each: signed_loss(problem, each) for each in all_selections(problem)[0]}
        limit, unit = (1.0 + tolerance) * min(losses.values()), 1e-9 * problem.null_loss
        within = {each for each, loss in losses.items() if loss <= limit + 1e-4 * unit}
        assert within <= set(as_sets(near))
        assert all(losses[each] <= limit + unit for each in as_sets(near))
        assert near.is_complete
        sizes.append(len(near))
    assert max(sizes) > 1


def test_fixed_rules_are_in_every_selection_or_in_none():
    """Rules fixed in and out count for smaller selections too."""
    for seed in range(20):
        problem = replace(floored(hard_problem(m=10, k=4, seed=seed), 0.5))
        problem = replace(problem, fixed_in=(2,), fixed_out=(5, 7), min_stability=0)
        assert_is_brute_force(problem, 0.3)
        pool = near_optimal(problem, 0.3)
        assert 2 in pool.core
        assert pool.frequency[[5, 7]].tolist() == [0.0, 0.0]


def test_equal_columns_are_listed_each():
    """Twins, of which the search for one optimum takes the first, are different selections."""
    rng = np.random.default_rng(3)
    M = rng.normal(size=(30, 5))
    M = np.column_stack([M, M])
    counts = np.ones(10, dtype=np.int64)
    problem = Problem.from_matrix(M, M[:, 0] - M[:, 1], counts, max_rules=2, gamma=100.0)
    pool = near_optimal(problem, 0.0)
    twins = {(0, 1), (0, 6), (1, 5), (5, 6)}
    assert twins == set(as_sets(pool))
    assert len(set(np.round(pool.losses, 9))) == 1


def test_the_best_comes_first_and_is_the_optimum():
    """Losses ascend from that of `solve`, and all figures are those of the plain definitions."""
    problem = floored(hard_problem(), 0.6)
    pool = near_optimal(problem, 0.05)
    assert pool.losses[0] == pytest.approx(solve(problem, options=Options(gap=0.0)).loss, rel=1e-9)
    assert (np.diff(pool.losses) >= 0).all()
    assert len(pool) > 10
    for support, loss, stability in zip(pool, pool.losses, pool.stabilities, strict=True):
        assert problem.is_feasible(support)
        assert plain_loss(problem, support) == pytest.approx(loss, rel=1e-9)
        assert stability == problem.stability(support)
        assert loss <= 1.05 * pool.losses[0] * (1 + 1e-9)


@pytest.mark.parametrize("most", [1, 7, 60])
def test_a_pool_that_is_full_has_the_best(most):
    """The best so many of all, and nothing is missing up to the last of them."""
    for seed in range(12):
        problem = floored(hard_problem(m=11, k=4, seed=seed), 0.4)
        supports, losses = brute_force_pool(problem, 0.5)
        pool = near_optimal(problem, 0.5, most)
        if len(supports) <= most:
            assert pool.is_complete
            continue
        assert pool.status is Status.SOLUTION_LIMIT
        assert not pool.is_complete
        assert len(pool) == most
        np.testing.assert_allclose(pool.losses, losses[:most], rtol=1e-9)
        last = losses[most - 1] / losses[0] - 1.0
        assert pool.complete_within == pytest.approx(last, abs=1e-9)


@pytest.mark.parametrize(
    ("limit", "status"),
    [
        ({"node_limit": 64}, Status.NODE_LIMIT),
        ({"node_limit": 640}, Status.NODE_LIMIT),
        ({"open_nodes": 20}, Status.NODE_LIMIT),
        ({"time_limit": 1e-9}, Status.TIME_LIMIT),
    ],
    ids=str,
)
def test_a_search_that_is_cut_short_says_up_to_where_nothing_is_missing(limit, status):
    """Each selection below that is in the pool; it may be none, and then the share is negative."""
    problem = floored(hard_problem(m=24, k=5), 0.5)
    whole = near_optimal(problem, 0.3, EVERYTHING)
    part = near_optimal(problem, 0.3, EVERYTHING, Options(**limit))
    assert part.status is status
    assert not part.is_complete
    assert len(part) < len(whole)
    assert part.complete_within < 0.3
    missing = set(as_sets(whole)) - set(as_sets(part))
    least = min(plain_loss(problem, support) for support in missing)
    assert least >= part.limit * (1 - 1e-9)
    assert set(as_sets(part)) <= {each for each, _ in zip(*all_tuples(problem), strict=True)}


def all_tuples(problem):
    """Return all feasible selections of few rules less than full size, and their losses."""
    found, losses = [], []
    for size in (problem.size, problem.size - 1, problem.size - 2):
        for support in itertools.combinations(range(problem.m), size):
            if problem.is_feasible(np.array(support)):
                found.append(support)
                losses.append(0.0)
    return found, losses


def test_an_interrupt_ends_with_what_was_listed():
    """Ctrl-C, here from the callback, is no error."""

    def interrupt(snapshot):
        if snapshot.steps > 200:
            raise KeyboardInterrupt

    problem = floored(hard_problem(), 0.5)
    pool = near_optimal(problem, 0.1, options=Options(progress=interrupt))
    assert pool.status is Status.INTERRUPTED
    assert len(pool) >= 1
    assert "interrupted" in repr(pool)


def test_progress_is_told_of():
    """The bound rises towards the limit of the list, the loss is the best so far."""
    seen = []
    pool = near_optimal(floored(hard_problem(), 0.5), 0.02, options=Options(progress=seen.append))
    assert len(seen) > 3
    assert seen[-1].loss == pool.losses[0]
    assert seen[-1].steps <= pool.nodes
    assert all(snapshot.bound <= snapshot.loss for snapshot in seen)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.1, 0.5]))
def test_the_summary_counts_the_selections(seed, tolerance):
    """Frequencies, core and least losses are those of a count by hand."""
    problem = mixed_problem(seed)
    pool = near_optimal(problem, tolerance)
    sets = [set(support.tolist()) for support in pool]
    for i in range(problem.m):
        assert pool.frequency[i] == pytest.approx(sum(i in each for each in sets) / len(sets))
    assert set(pool.core.tolist()) == set.intersection(*sets)
    summary = pool.summary(backend="pandas").to_dict("list")
    assert set(summary["rule"]) == set.union(*sets)
    assert summary["frequency"] == sorted(summary["frequency"], reverse=True)
    for rule, in_all, having, lacking in zip(
        summary["rule"], summary["in_all"], summary["least_loss_with"],
        summary["least_loss_without"], strict=True,
    ):  # fmt: skip
        assert in_all == (rule in pool.core)
        with_it = [loss for each, loss in zip(sets, pool.losses, strict=True) if rule in each]
        without = [loss for each, loss in zip(sets, pool.losses, strict=True) if rule not in each]
        assert having == min(with_it)
        assert lacking == min(without) if without else math.isnan(lacking)
    frame = pool.frame(backend="pandas").to_dict("list")
    assert [tuple(support) for support in frame["support"]] == as_sets(pool)
    assert frame["excess"][0] == 0.0


def test_a_pool_reads_well():
    """How many, how far, what is proven, what they share."""
    pool = near_optimal(floored(hard_problem(), 0.8), 0.01)
    assert repr(pool).startswith(f"NearOptimalSet({len(pool)} rule sets within 1.00%, complete, ")
    assert repr(pool).endswith("rules in all of them, optimal)")
    assert pool[0].tolist() == next(iter(pool)).tolist()


@pytest.mark.parametrize(
    "wrong",
    [{"tolerance": -0.1}, {"tolerance": math.nan}, {"tolerance": "1%"}, {"max_solutions": 0},
     {"max_solutions": 2.5}],
    ids=str,
)  # fmt: skip
def test_bad_parameters_are_refused(wrong):
    """With the name of the parameter."""
    with pytest.raises(InvalidParameter, match=next(iter(wrong))):
        near_optimal(hard_problem(), **wrong)


def test_limits_on_selections_are_refused():
    """Smaller selections may break what larger ones keep, so the pool would not be complete."""
    problem = hard_problem(m=10, k=3)
    limited = replace(problem, constraints=LinearConstraints(np.ones((1, 10)), np.array([2.0])))
    with pytest.raises(InvalidParameter, match="A z <= b"):
        near_optimal(limited)


def test_many_leaves_at_once_fit_the_room(monkeypatch):
    """A tolerance that takes in everything lists thousands of selections, and loses none."""
    monkeypatch.setattr(branch_and_bound, "FIRST_SLOTS", 2)
    problem = hard_problem(m=14, k=4)
    pool = near_optimal(problem, 1e6, EVERYTHING)
    assert len(pool) == len(all_selections(problem)[0])


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_list_the_same(threads):
    """Whatever worker lists a selection, the set has it once, in the same place."""
    problem = floored(hard_problem(), 0.5)
    single = near_optimal(problem, 0.03)
    several = near_optimal(problem, 0.03, options=Options(threads=threads))
    assert as_sets(single) == as_sets(several)
    np.testing.assert_array_equal(single.losses, several.losses)
    assert len(single) > 20


# --- the logistic loss ----------------------------------------------------------------------------


@pytest.mark.parametrize("tolerance", [0.0, 0.01, 0.1, 1.0])
def test_the_set_of_classifiers_is_the_list_by_brute_force(tolerance):
    """On small problems of all kinds, each selection within the tolerance and no other."""
    sizes = []
    for seed in range(60):
        rows, problem = random_logistic_problem(seed)
        problem = replace(problem, signs=None)  # which the oracle does not know
        near = near_optimal(problem, tolerance, EVERYTHING, Options(time_limit=None))
        expected = brute_force_logistic_pool(rows, problem, tolerance)
        limit = (1.0 + tolerance) * min(expected.values())
        unit = problem.null_loss  # of rounding; ties are in, and losses 1e-9 above them may be
        ties = {each for each, loss in expected.items() if loss < limit + 1e-11 * unit}
        assert ties <= set(as_sets(near))
        assert all(loss <= limit + 1e-8 * unit for loss in near.losses)
        assert len(set(as_sets(near))) == len(near)
        assert near.is_complete
        for support, loss in zip(near, near.losses, strict=True):
            assert problem.is_feasible(support)
            assert problem.loss(support) == loss
        sizes.append(len(near))
    assert max(sizes) > 3


def test_a_large_set_of_classifiers_is_that_of_many_nodes():
    """The best of hundreds of nodes is that of `solve`, with threads and without."""
    problem = floored(hard_classes(), 0.8)
    near = near_optimal(problem, 0.005)
    best = solve(problem, options=Options(gap=0.0))
    assert near.nodes > 100
    assert near.losses[0] == pytest.approx(best.loss, rel=1e-9)
    assert as_sets(near)[0] == tuple(best.support.tolist())
    assert (near.losses <= 1.005 * near.losses[0] * (1 + 1e-8)).all()
    again = near_optimal(problem, 0.005, options=Options(threads=2))
    assert as_sets(near) == as_sets(again)
    most = near_optimal(problem, 0.005, 3)
    assert most.status is Status.SOLUTION_LIMIT
    assert as_sets(most) == as_sets(near)[:3]


@pytest.mark.parametrize(
    ("limit", "status"),
    [({"node_limit": 20}, Status.NODE_LIMIT), ({"time_limit": 1e-9}, Status.TIME_LIMIT)],
    ids=str,
)
def test_a_set_of_classifiers_that_is_cut_short_says_so(limit, status):
    """Nothing is missing below its limit."""
    problem = floored(hard_classes(), 0.8)
    whole = near_optimal(problem, 0.01, EVERYTHING)
    part = near_optimal(problem, 0.01, EVERYTHING, Options(**limit))
    assert part.status is status
    missing = set(as_sets(whole)) - set(as_sets(part))
    assert missing
    assert min(problem.loss(np.array(each)) for each in missing) >= part.limit * (1 - 1e-9)


def test_the_old_names_still_work():
    """They warn, and are the new ones."""
    for module in (mossrules.solver, mossrules.frontier):
        with pytest.warns(DeprecationWarning, match="near_optimal"):
            assert module.solve_pool is near_optimal
        with pytest.warns(DeprecationWarning, match="NearOptimalSet"):
            assert module.SolutionPool is type(near_optimal(hard_problem(m=6, k=2)))
