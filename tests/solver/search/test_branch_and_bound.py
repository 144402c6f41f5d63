import itertools
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from mossrules import find_candidates
from mossrules.exceptions import InvalidParameter
from mossrules.solver.cutting_plane.loop import solve_by_cutting_plane
from mossrules.solver.kernels.state import IN
from mossrules.solver.options import Clock, Options
from mossrules.solver.problems.squared import LinearConstraints, Problem
from mossrules.solver.result import Status
from mossrules.solver.search import branch_and_bound, instance
from mossrules.solver.search.branch_and_bound import Root, SquaredTree, solve_by_branch_and_bound
from mossrules.solver.search.instance import Instance, first_selection
from mossrules.solver.search.state import Incumbent
from support.cases import floored, hard_problem, mixed_problem, swap_nothing, wild_problem
from support.oracles import brute_force


def run(problem, *, start=None, method=solve_by_branch_and_bound, clock=None, **settings):
    """Solve to the optimum, unless the settings say otherwise."""
    options = Options(**{"gap": 0.0, "time_limit": None, **settings})
    return method(problem, options, clock=clock or Clock(options.time_limit), start=start)


def assert_optimal(problem, outcome, *, rounding=Problem.precision, gap=0.0):
    """Check an outcome against brute force: feasible, within the gap, bound not too high."""
    best, _ = brute_force(problem)
    slack = rounding * problem.statistics.yy / 2
    loss = problem.loss(outcome.support)
    assert outcome.status is Status.OPTIMAL
    assert problem.is_feasible(outcome.support)
    assert outcome.bound <= best + slack
    assert best - slack <= loss
    if gap == 0.0:
        assert loss <= best * (1 + 1e-9) + slack
    assert outcome.bound >= loss * (1 - gap) * (1 - 1e-12) - 2 * slack


# --- the optimum ----------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", range(8))
def test_the_optimum_is_that_of_brute_force(batch):
    """At gap 0 loss and bound meet the least loss of all selections, whatever the columns."""
    for seed in range(150 * batch, 150 * (batch + 1)):
        problem = wild_problem(seed, strongest=8)
        assert_optimal(problem, run(problem))


def test_the_optimum_is_found_where_the_ridge_is_all_but_gone():
    """Up to the largest gamma that a problem accepts, only rounding is lost."""
    for seed in range(200):
        problem = wild_problem(seed, strongest=11.9)
        assert_optimal(problem, run(problem), rounding=1e-10)


@pytest.mark.parametrize("seed", range(12))
def test_trees_of_some_depth_end_at_the_optimum(seed):
    """Problems without structure, which the root does not decide, are solved all the same."""
    problem = floored(hard_problem(m=20, k=5, seed=seed, gamma=10.0 ** (seed - 6)), seed / 11)
    assert_optimal(problem, run(problem))


def test_the_random_problems_are_hard_enough():
    """Many of the problems above are not decided at the root, and some take a hundred nodes."""
    nodes = [run(wild_problem(seed, strongest=8)).counters["nodes"] for seed in range(400)]
    assert sum(n > 2 for n in nodes) > 80
    assert max(nodes) > 100


@pytest.mark.parametrize("batch", range(2))
def test_the_cutting_plane_agrees(batch):
    """The paper's method finds the same optimum where HiGHS has digits enough."""
    compared = 0
    for seed in range(60 * batch, 60 * (batch + 1)):
        problem = wild_problem(seed, strongest=3)
        outcome = run(problem)
        loss, yy = problem.loss(outcome.support), problem.statistics.yy
        if loss < 1e-4 * yy:
            continue
        other = run(problem, method=solve_by_cutting_plane)
        assert other.status is Status.OPTIMAL
        assert problem.loss(other.support) == pytest.approx(loss, rel=1e-9)
        assert other.bound <= loss * (1 + 1e-12)
        compared += 1
    assert compared > 40


@pytest.mark.parametrize("gap", [1e-4, 1e-2, 1e-1, 0.5])
def test_a_gap_is_closed_as_far_as_asked_and_truly(gap):
    """With a gap allowed, the bound holds and the loss is within the gap of it."""
    for seed in range(120):
        problem = wild_problem(seed, strongest=8)
        assert_optimal(problem, run(problem, gap=gap), gap=gap)


def start_poorly(monkeypatch):
    """Let searches begin with the most stable selection: no swaps, and the root's are not taken."""
    offer = Incumbent.offer

    def offer_but_not_the_second(self, support, loss):
        self.offers = getattr(self, "offers", 0) + 1
        if self.offers != 2:
            offer(self, support, loss)

    monkeypatch.setattr(instance, "improve_by_swaps", swap_nothing)
    monkeypatch.setattr(Incumbent, "offer", offer_but_not_the_second)


@pytest.mark.parametrize("gap", [0.0, 0.03, 0.1, 0.3, 0.6])
def test_a_poor_first_selection_makes_no_bound_false(monkeypatch, gap):
    """Without local search at the start, what a poor incumbent cuts off still counts as open."""
    start_poorly(monkeypatch)
    poor = 0
    for seed in range(300):
        problem = mixed_problem(seed)
        outcome = run(problem, gap=gap)
        assert_optimal(problem, outcome, gap=gap)
        poor += problem.loss(outcome.support) > brute_force(problem)[0] * (1 + 1e-6)
    assert poor > 10 if gap > 0 else poor == 0


@pytest.mark.parametrize("gap", [0.0, 0.02, 0.1])
def test_what_the_root_takes_away_is_accounted_for(monkeypatch, gap):
    """Each selection is among the rules left, or no better than what is recorded as dropped."""
    start_poorly(monkeypatch)
    reduced = 0
    for seed in range(300):
        problem = mixed_problem(seed)
        all_rules = Instance.of(problem)
        options = Options(gap=gap)
        root = Root.of(all_rules, first_selection(all_rules, None), options, None)
        tree = SquaredTree.of([root], options, [0.0])
        left, kept = tree.instance, tree.instance.rules[tree.instance.decision == IN]
        n_open = sum(each.sizes[0] for each in tree.trees)
        least = min(tree.state.dropped, root.best.loss) - Problem.precision * problem.statistics.yy
        for support in itertools.combinations(range(problem.m), problem.size):
            if problem.is_feasible(support):
                among = n_open and set(kept) <= set(support) <= set(left.rules)
                assert among or problem.loss(support) >= least, seed
        reduced += n_open and len(left.rules) < len(all_rules.rules)
    assert reduced > 5


def test_a_larger_gap_takes_fewer_nodes():
    """What is asked for is used: at 10 % a search stops earlier, with that gap still open."""
    problem = floored(hard_problem(m=20, k=5), 0.6)
    exact, rough = run(problem), run(problem, gap=0.1)
    assert 0 < rough.counters["nodes"] < exact.counters["nodes"]
    assert rough.bound < problem.loss(rough.support) * 0.95


@pytest.mark.parametrize(
    ("m", "k", "gamma", "share"),
    [(40, 5, 0.01, 0.9), (40, 6, 0.02, 0.85), (80, 8, 0.01, 0.95), (120, 5, 0.01, 0.9)],
)
def test_real_rules_agree_with_the_cutting_plane(m, k, gamma, share):
    """On candidate rules of the diabetes data both exact methods return the same loss."""
    X, y = load_diabetes(return_X_y=True)
    statistics = find_candidates(X, y, n_trees=200, max_candidates=m, n_jobs=1).statistics
    problem = floored(Problem(statistics, max_rules=k, gamma=gamma), share)
    ours = run(problem, gap=1e-6)
    theirs = run(problem, gap=1e-6, root_cuts=20, method=solve_by_cutting_plane)
    assert ours.status is theirs.status is Status.OPTIMAL
    loss = problem.loss(ours.support)
    assert loss == pytest.approx(problem.loss(theirs.support), rel=1e-6)
    assert max(ours.bound, theirs.bound) <= loss * (1 + 1e-12)
    assert ours.bound >= loss * (1 - 1.01e-6)


# --- special problems -----------------------------------------------------------------------------


def special_problems():
    """Return problems at the edge of what is allowed, by name."""
    rng = np.random.default_rng(1)
    M, y = rng.normal(size=(12, 6)), rng.normal(size=12)
    counts = np.array([5, 4, 4, 2, 1, 0])
    settings = {"max_rules": 3, "gamma": 2.0}
    plain = Problem.from_matrix(M, y, counts, **settings)
    two = {**settings, "max_rules": 2}
    return {
        "no target": Problem.from_matrix(M, 0 * y, counts, **settings),
        "zero columns": Problem.from_matrix(0 * M, y, counts, **settings),
        "one column six times": Problem.from_matrix(M[:, [0] * 6], y, counts, **settings),
        "opposite columns": Problem.from_matrix(M[:, :1] * [1, -1, 1, -1, 1, -1], y, counts, **two),
        "all rules": replace(plain, max_rules=6),
        "more places than rules": replace(plain, max_rules=9),
        "one rule": Problem.from_matrix(M[:, :1], y, [3], **settings),
        "one row": Problem.from_matrix(M[:1], y[:1], counts, **settings),
        "no counts": Problem.from_matrix(M, y, 0 * counts, **settings),
        "equal counts": Problem.from_matrix(M, y, 0 * counts + 7, **settings).at(21),
        "no floor": plain.at(0),
        "the highest floor": plain.at(plain.max_stability_unlimited),
        "one below the highest floor": plain.at(plain.max_stability_unlimited - 1),
        "all places taken": replace(plain, fixed_in=[5, 1, 3]),
        "all rules out": replace(plain, fixed_out=range(6)),
        "all but the floor's rules out": replace(plain, fixed_out=[3, 4, 5], min_stability=13),
        "the worst rule in": replace(plain, fixed_in=[5], min_stability=9),
    }


@pytest.mark.parametrize("name", special_problems())
def test_the_edges_of_what_is_allowed_have_answers(name):
    """Degenerate data, full and empty selections and tight floors are solved, not refused."""
    problem = special_problems()[name]
    for gap in (0.0, 0.1):
        for threads in (1, 2):
            assert_optimal(problem, run(problem, gap=gap, threads=threads), gap=gap)


def test_answers_do_not_depend_on_the_size_of_the_data():
    """A billion times the rows, with gamma in proportion, give the same tree."""
    problem = floored(hard_problem(m=20, k=5), 0.6)
    data, factor = problem.statistics, 2.0**30
    large = replace(data, G=data.G * factor, q=data.q * factor, yy=data.yy * factor)
    scaled = replace(problem, statistics=large, gamma=problem.gamma / factor)
    expected, outcome = run(problem), run(scaled)
    np.testing.assert_array_equal(outcome.support, expected.support)
    assert outcome.counters["nodes"] == expected.counters["nodes"]
    assert outcome.bound == factor * expected.bound


def test_limits_on_the_selection_are_declined():
    """A z <= b needs blanks and prices: `solve` sees to them, and the message says so."""
    limits = LinearConstraints(np.ones((1, 20)), np.array([2.0]))
    with pytest.raises(InvalidParameter, match="which only `solve` takes"):
        run(hard_problem(m=20, constraints=limits))


# --- where it starts, and how it runs -------------------------------------------------------------


@pytest.mark.parametrize(
    "start", [[], [0], [3, 3, 3, 3, 3], [0, 1, 2, 3, 99], [-1, 0, 1, 2, 3], range(20), [15, 16, 17]]
)
def test_a_start_that_is_not_feasible_is_left_aside(start):
    """A selection of the wrong size, below the floor or of no rules changes nothing."""
    problem = floored(hard_problem(m=20, k=5), 0.9)
    expected = run(problem)
    outcome = run(problem, start=np.array(start, dtype=np.int64))
    np.testing.assert_array_equal(outcome.support, expected.support)
    assert outcome.counters == expected.counters


def test_one_thread_does_the_same_twice():
    """With one thread a search is a function of its problem: nodes, bound and selection."""
    problem = floored(hard_problem(), 0.6)
    first, second = run(problem, gap=1e-3), run(problem, gap=1e-3)
    np.testing.assert_array_equal(first.support, second.support)
    assert (first.bound, first.counters) == (second.bound, second.counters)
    assert first.counters["nodes"] > 500


@pytest.mark.parametrize("threads", [2, 3])
def test_more_threads_find_the_same(threads):
    """Nodes that are shared among threads are all searched, for any gap."""
    problem = floored(hard_problem(), 0.6)
    single = run(problem)
    loss = problem.loss(single.support)
    for gap in (0.0, 1e-3, 0.05):
        outcome = run(problem, threads=threads, gap=gap)
        found = problem.loss(outcome.support)
        assert outcome.status is Status.OPTIMAL
        assert loss * (1 - 1e-12) <= found <= loss / (1 - gap) * (1 + 1e-12)
        assert found * (1 - gap) * (1 - 2e-12) <= outcome.bound <= loss * (1 + 1e-12)
        assert outcome.counters["nodes"] > 200


@pytest.mark.parametrize("threads", [1, 2])
def test_a_tree_grows_when_its_room_is_used_up(monkeypatch, threads):
    """With room for one node at first, the tree grows and nothing is lost."""
    problem = floored(hard_problem(), 0.6)
    expected = run(problem)
    monkeypatch.setattr(branch_and_bound, "FIRST_SLOTS", 1)
    outcome = run(problem, threads=threads)
    np.testing.assert_array_equal(outcome.support, expected.support)
    assert outcome.bound == pytest.approx(expected.bound, rel=1e-11)
    if threads == 1:
        assert outcome.counters["nodes"] == expected.counters["nodes"]
