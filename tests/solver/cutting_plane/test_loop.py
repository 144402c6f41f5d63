import itertools
from dataclasses import replace

import numpy as np
import pytest

from mossrules.exceptions import InvalidParameter, MossError
from mossrules.solver.bounds.duality import Cut
from mossrules.solver.cutting_plane import loop as cutting_plane
from mossrules.solver.cutting_plane.loop import CutPool, solve_by_cutting_plane
from mossrules.solver.cutting_plane.master import MasterResult, MasterStatus
from mossrules.solver.options import Clock, Options
from mossrules.solver.problems.squared import LinearConstraints, Problem
from mossrules.solver.result import Status
from support.cases import wild_problem
from support.oracles import brute_force, random_problem

PACKAGES = {"highs": "highspy", "scip": "pyscipopt", "gurobi": "gurobipy"}
MASTERS = pytest.mark.parametrize("master", PACKAGES)


def run(problem, *, clock=None, start=None, cuts=None, **settings):
    """Solve to the optimum, unless the settings say otherwise."""
    options = Options(**{"gap": 0.0, "time_limit": None, **settings})
    return solve_by_cutting_plane(
        problem, options, clock=clock or Clock(options.time_limit), start=start, cuts=cuts
    )


def wide_problem(m=60, max_rules=8, gamma=0.005, **settings):
    """Return a problem that takes a master many nodes."""
    rng = np.random.default_rng(0)
    M = (rng.random((200, m)) < 0.5) * rng.normal(size=m)
    y = M @ rng.normal(size=m) + rng.normal(size=200)
    settings |= {"max_rules": max_rules, "gamma": gamma}
    return Problem.from_matrix(M, y / y.std(), rng.integers(1, 50, m), **settings)


class ScriptedClock:
    """A clock that says what it is told: its last answer for ever."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def left(self):
        """Return the next answer, or raise it."""
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, type):
            raise answer
        return answer

    def elapsed(self):
        """Return some time."""
        return 1.0


class StubMaster:
    """A master that returns what it is told."""

    def __init__(self, *results):
        self.results = [MasterResult(*result, result[-1]) for result in results]

    def add_cut(self, constant, gradient):
        """Take any cut."""

    def solve(self, **_):
        """Return the next result."""
        return self.results.pop(0)

    def solve_relaxed(self, **_):
        """Prove nothing."""
        return MasterResult(MasterStatus.OPTIMAL, None, 0.0, 0.0)


# --- the optimum ----------------------------------------------------------------------------------


def assert_optimal(problem, outcome):
    """Check an outcome at gap 0 against brute force."""
    best, _ = brute_force(problem)
    assert outcome.status is Status.OPTIMAL
    assert problem.is_feasible(outcome.support)
    assert problem.loss(outcome.support) == pytest.approx(best, rel=1e-9)
    assert best * (1 - 1e-6) <= outcome.bound <= best * (1 + 1e-12)


@pytest.mark.parametrize("batch", range(4))
def test_the_optimum_is_that_of_brute_force(batch):
    """At gap 0 loss and bound meet the least loss of all selections."""
    for seed in range(80 * batch, 80 * (batch + 1)):
        problem = random_problem(seed)
        assert_optimal(problem, run(problem))


@pytest.mark.parametrize(("master", "seeds"), [("scip", range(20)), ("gurobi", range(40))])
def test_other_masters_find_the_same_optimum(master, seeds):
    """SCIP and Gurobi agree with brute force as HiGHS does."""
    pytest.importorskip(PACKAGES[master])
    for seed in seeds:
        problem = random_problem(seed)
        assert_optimal(problem, run(problem, master=master))


@MASTERS
def test_a_gap_is_closed_as_far_as_asked_and_truly(master):
    """With a gap allowed, the bound holds and the loss is within the gap of it."""
    pytest.importorskip(PACKAGES[master])
    for seed in range(30):
        problem = random_problem(seed)
        best, _ = brute_force(problem)
        outcome = run(problem, master=master, gap=0.05)
        loss = problem.loss(outcome.support)
        assert outcome.status is Status.OPTIMAL
        assert outcome.bound <= best * (1 + 1e-12)
        assert best * (1 - 1e-12) <= loss <= outcome.bound / 0.95


@pytest.mark.parametrize("gap", [0.01, 0.1, 0.5])
@pytest.mark.parametrize(
    ("master", "seeds"), [("highs", range(24)), ("scip", range(8)), ("gurobi", range(12))]
)
def test_bounds_hold_at_every_floor_whatever_the_gap(master, seeds, gap):
    """From floor to floor with one pool of cuts, no bound is above what brute force finds."""
    pytest.importorskip(PACKAGES[master])
    for seed in seeds:
        problem, pool, start = random_problem(seed), CutPool(), None
        top = problem.max_stability_unlimited
        for floor in (top, int(0.8 * top), int(0.5 * top), 0):
            each = problem.at(floor)
            outcome = run(each, master=master, gap=gap, cuts=pool, start=start)
            start, (best, _) = outcome.support, brute_force(each)
            assert outcome.status is Status.OPTIMAL
            assert each.is_feasible(start)
            assert outcome.bound <= best * (1 + 1e-12)
            assert each.loss(start) * (1 - gap) <= outcome.bound * (1 + 1e-5)


@MASTERS
def test_limits_and_fixed_rules_are_kept(master):
    """With A z <= b and rules fixed in and out, the answer is brute force's, infeasible or not."""
    pytest.importorskip(PACKAGES[master])
    statuses = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        problem = random_problem(seed, floor=0.5)
        limits = LinearConstraints(
            rng.integers(-3, 4, (2, problem.m)) * 0.5, rng.integers(-4, 3, 2) * 0.5
        )
        fixed = rng.permutation(problem.m)[:2]
        problem = replace(
            problem, constraints=limits, fixed_out=fixed[:1], fixed_in=fixed[1:], min_stability=0
        )
        outcome = run(problem, master=master)
        statuses.append(outcome.status)
        if outcome.status is Status.INFEASIBLE:
            assert brute_force(problem)[1] is None
            assert outcome.support is None
            assert outcome.bound == np.inf
        else:
            assert_optimal(problem, outcome)
    assert set(statuses) == {Status.OPTIMAL, Status.INFEASIBLE}


def test_limits_may_make_fewer_rules_the_best():
    """Where a limit excludes all pairs, the best single rule is found."""
    problem = random_problem(3, floor=0.0, max_rules=3)
    limits = LinearConstraints(np.ones((1, problem.m)), np.array([1.5]))
    outcome = run(replace(problem, constraints=limits))
    assert len(outcome.support) == 1
    assert_optimal(replace(problem, max_rules=1), outcome)


def test_no_loss_depends_on_the_size_of_the_data():
    """A billion times the rows, with gamma in proportion, give the same selection and gap."""
    problem = random_problem(8, max_rules=3)
    data, factor = problem.statistics, 1e9
    large = replace(data, G=data.G * factor, q=data.q * factor, yy=data.yy * factor)
    scaled = replace(problem, statistics=large, gamma=problem.gamma / factor)
    expected, outcome = run(problem), run(scaled)
    np.testing.assert_array_equal(outcome.support, expected.support)
    assert outcome.bound == pytest.approx(factor * expected.bound, rel=1e-7)


def test_a_constant_target_needs_no_master():
    """With nothing to explain the loss is 0, which is its own bound."""
    outcome = run(Problem.from_matrix(np.eye(4), np.zeros(4), np.arange(4), max_rules=2))
    assert (outcome.status, outcome.bound) == (Status.OPTIMAL, 0.0)
    assert outcome.counters["masters"] == 0


# --- cuts -----------------------------------------------------------------------------------------


def test_cuts_are_tangents_from_below():
    """A cut touches H2 where it was made, and is nowhere above it."""
    rng = np.random.default_rng(0)
    problem = wide_problem(m=20)
    support = np.array([2, 3, 11])
    for cut in (Cut.at_support(problem, support), Cut.at_point(problem, rng.random(20))):
        assert cut.constant + cut.gradient @ cut.z == pytest.approx(problem.relaxed_loss(cut.z))
        for _ in range(50):
            z = rng.random(20) * (rng.random(20) < 0.5)
            assert cut.constant + cut.gradient @ z <= problem.relaxed_loss(z) * (1 + 1e-9)
    np.testing.assert_allclose(
        Cut.at_support(problem, support).gradient,
        problem.gradient(np.isin(np.arange(20), support).astype(float)),
    )


def test_a_cut_demands_the_same_by_gentler_slopes():
    """Whatever the selection, the demand is what the cut says, or that no loss is negative."""
    steep = 0
    for seed in range(30):
        problem = replace(random_problem(seed), gamma=100.0)
        everything = np.array(list(itertools.product([0.0, 1.0], repeat=problem.m)))
        cut = Cut.at_support(problem, np.arange(seed % problem.m))
        steep += (cut.slopes != cut.gradient).any()
        asked = np.maximum(0.0, cut.constant + everything @ cut.slopes)
        meant = np.maximum(0.0, cut.constant + everything @ cut.gradient)
        np.testing.assert_allclose(asked, meant, atol=1e-9 * problem.null_loss)
    assert steep > 10


@MASTERS
def test_steep_cuts_prove_no_more_than_there_is(master):
    """With slopes of 40,000 beside others of 1e-6, HiGHS once took the second best for optimal."""
    assert_optimal(problem := wild_problem(192, strongest=6.0), run(problem, master=master))


def test_cuts_serve_other_floors_and_sizes():
    """Re-used cuts give the optimum of every floor and size, with fewer masters."""
    problem = wide_problem(m=12, max_rules=4)
    top = problem.max_stability_unlimited
    sequence = [problem.at(floor) for floor in (top, top - 5, top - 20, top - 50, 0)]
    sequence.append(replace(problem, max_rules=5))
    pool = CutPool()
    afresh = sum(run(each).counters["masters"] for each in sequence)
    again = 0.0
    for each in sequence:
        outcome = run(each, cuts=pool)
        assert_optimal(each, outcome)
        again += outcome.counters["masters"]
    assert again < afresh
    assert outcome.counters["cuts"] == len(pool) == len(list(pool))


def test_a_solved_problem_is_solved_again_by_one_master():
    """All cuts of the first run are there, and the first master proves it."""
    problem, pool = wide_problem(m=12, max_rules=4), CutPool()
    first = run(problem, cuts=pool)
    size = len(pool)
    second = run(problem, cuts=pool)
    assert first.counters["masters"] > second.counters["masters"] == 1
    assert len(pool) == size
    np.testing.assert_array_equal(first.support, second.support)
    assert repr(pool) == f"CutPool({size} cuts, {size} of them at selections)"


@MASTERS
def test_the_relaxation_may_be_proof_enough(master):
    """With cuts from above and a gap to spare, a lower floor needs no integer program."""
    pytest.importorskip(PACKAGES[master])
    problem, pool = wide_problem(m=40, gamma=0.001), CutPool()
    top = problem.max_stability_unlimited
    first = run(problem.at(top - 10), master=master, gap=0.02, cuts=pool)
    second = run(problem.at(top - 11), master=master, gap=0.05, cuts=pool, start=first.support)
    assert (second.status, second.counters["masters"]) == (Status.OPTIMAL, 0)
    assert second.counters["relaxations"] == 1
    loss = problem.loss(second.support)
    assert 0.95 * loss <= second.bound < run(problem.at(top - 11), master=master).bound


@MASTERS
def test_the_same_is_found_again(master):
    """Where a target ends the masters, they end at the same place each time."""
    pytest.importorskip(PACKAGES[master])
    problem = wide_problem(m=40, gamma=0.01, min_stability=150)
    one, other = (run(problem, master=master, gap=0.1) for _ in range(2))
    assert one.counters["masters"] > 1
    np.testing.assert_array_equal(one.support, other.support)
    assert one.bound == other.bound


def test_cuts_of_another_problem_are_refused():
    """A tangent with another gamma or other data is no bound here."""
    problem, pool = random_problem(1), CutPool()
    run(problem, cuts=pool)
    with pytest.raises(InvalidParameter, match="another gamma"):
        run(replace(problem, gamma=2 * problem.gamma), cuts=pool)
    with pytest.raises(InvalidParameter, match="other statistics"):
        run(random_problem(1), cuts=pool)


@MASTERS
def test_cuts_at_the_root_raise_its_bound_and_keep_the_optimum(master):
    """More fractional cuts prove more before the first master, and never too much."""
    pytest.importorskip(PACKAGES[master])
    problem = wide_problem(m=18, max_rules=5, gamma=0.01, min_stability=60)
    best, _ = brute_force(problem)
    outcomes = [run(problem, master=master, root_cuts=number) for number in (0, 4, 40)]
    none, few, many = (outcome.counters["root_bound"] for outcome in outcomes)
    assert none == 0.0 < few < many <= best
    for outcome in outcomes:
        assert_optimal(problem, outcome)
    assert outcomes[2].counters["masters"] < outcomes[0].counters["masters"]


def test_cuts_at_the_root_reach_the_relaxation():
    """With enough of them no relaxed point of the polytope lies below the root's bound by much."""
    problem = wide_problem(m=10, max_rules=3)
    pool = CutPool()
    outcome = run(problem, root_cuts=300, cuts=pool)
    least = min(problem.relaxed_loss(cut.z) for cut in pool if cut.z.sum() <= 3 + 1e-9)
    assert outcome.counters["root_bound"] == pytest.approx(least, rel=1e-5)
    assert outcome.counters["root_bound"] <= least


def test_the_root_may_prove_that_nothing_is_feasible():
    """Limits that no fractional point keeps need no integer master."""
    limits = LinearConstraints(np.ones((1, 60)), np.array([-1.0]))
    outcome = run(wide_problem(constraints=limits), root_cuts=5)
    assert outcome.status is Status.INFEASIBLE
    assert outcome.counters["masters"] == 0


# --- the start ------------------------------------------------------------------------------------


def test_a_start_is_used_as_it_is():
    """From the optimum, the first selection reported is the optimum, in ascending order."""
    problem = wide_problem(m=12, max_rules=3)
    best, support = brute_force(problem)
    losses = []
    outcome = run(problem, start=support[::-1], progress=lambda now: losses.append(now.loss))
    assert losses == [pytest.approx(best)] * len(losses)
    np.testing.assert_array_equal(outcome.support, support)


def test_a_start_that_is_not_feasible_only_cuts():
    """Its loss, which is too good, is neither returned nor in the way."""
    problem = wide_problem(m=12, max_rules=3)
    assert_optimal(problem, run(problem, start=np.arange(12)))


# --- limits of time and number --------------------------------------------------------------------


def test_the_time_limit_returns_the_best_so_far_and_an_honest_bound():
    """When time runs out between masters, the answer is not called optimal and the bound holds."""
    problem = wide_problem(m=18, max_rules=5, gamma=0.02)
    best, _ = brute_force(problem)
    bounds = []
    for masters in (0, 2, 5):  # each asks the clock three times
        outcome = run(problem, clock=ScriptedClock(*[9.0, 9.0, 9.0] * masters, 0.0))
        assert outcome.counters["masters"] == masters
        assert outcome.status is Status.TIME_LIMIT
        assert outcome.bound < best <= problem.loss(outcome.support) * (1 + 1e-12)
        bounds.append(outcome.bound)
    assert bounds[0] == 0.0 < bounds[1] < bounds[2]


@MASTERS
def test_a_master_stopped_by_the_clock_still_counts(master):
    """The dual bound of a master that ran out of time is above nothing, and below every loss."""
    pytest.importorskip(PACKAGES[master])
    problem = wide_problem(m=150, max_rules=15)
    outcome = run(problem, master=master, time_limit=1.0)
    assert outcome.status is Status.TIME_LIMIT
    rng = np.random.default_rng(0)
    others = [problem.loss(rng.choice(150, 15, replace=False)) for _ in range(100)]
    assert 0.0 < outcome.bound < problem.loss(outcome.support) < min(others)


def test_the_number_of_masters_can_be_limited():
    """`node_limit` masters are solved, and what they proved is returned."""
    problem = wide_problem(m=18, max_rules=5, gamma=0.02)
    outcome = run(problem, node_limit=2)
    assert outcome.status is Status.NODE_LIMIT
    assert outcome.counters["masters"] == 2
    assert 0.0 < outcome.bound < brute_force(problem)[0]


def test_progress_is_reported_after_every_master():
    """Snapshots count the masters; losses fall, bounds rise, and they end at the outcome."""
    problem, seen = wide_problem(m=18, max_rules=5, gamma=0.02), []
    outcome = run(problem, progress=seen.append)
    assert [now.steps for now in seen] == list(range(1, int(outcome.counters["masters"]) + 1))
    losses, bounds = [now.loss for now in seen], [now.bound for now in seen]
    assert losses == sorted(losses, reverse=True)
    assert bounds == sorted(bounds)
    assert (losses[-1], bounds[-1]) == (problem.loss(outcome.support), outcome.bound)


def test_an_interrupt_returns_the_best_so_far():
    """Ctrl-C between masters loses neither the selection nor the bound."""
    problem = wide_problem(m=18, max_rules=5, gamma=0.02)
    best, _ = brute_force(problem)

    def press(now):
        if now.steps == 2:
            raise KeyboardInterrupt

    outcome = run(problem, progress=press)
    assert outcome.status is Status.INTERRUPTED
    assert outcome.counters["masters"] == 2
    assert 0.0 < outcome.bound < best <= problem.loss(outcome.support) * (1 + 1e-12)


def test_an_interrupted_master_ends_the_search(monkeypatch):
    """A master's own bound and selection count even when Ctrl-C stopped it."""
    problem = wide_problem(m=12, max_rules=4)
    _, support = brute_force(problem)
    z = np.isin(np.arange(12), support).astype(float)
    stub = StubMaster((MasterStatus.INTERRUPTED, z, 0.25))
    monkeypatch.setattr(cutting_plane, "make_master", lambda *_, **__: stub)
    outcome = run(problem)
    assert (outcome.status, outcome.bound) == (Status.INTERRUPTED, 0.25)
    np.testing.assert_array_equal(outcome.support, support)


def test_the_bound_is_the_best_of_all_masters(monkeypatch):
    """A last master that ran out of time takes nothing back, though it repeats a selection."""
    first = np.isin(np.arange(12), range(4)).astype(float)
    stub = StubMaster((MasterStatus.OPTIMAL, first, 0.5), (MasterStatus.TIME_LIMIT, first, 0.25))
    monkeypatch.setattr(cutting_plane, "make_master", lambda *_, **__: stub)
    outcome = run(wide_problem(m=12, max_rules=4))
    assert (outcome.status, outcome.bound) == (Status.TIME_LIMIT, 0.5)


def limited_problem():
    """Return a problem whose most stable selection breaks a limit."""
    return wide_problem(m=12, constraints=LinearConstraints(np.ones((1, 12)), np.array([1.0])))


def test_a_limit_met_before_anything_feasible_is_known_says_so():
    """There is no selection to return, and infeasible would be a lie."""
    with pytest.raises(MossError, match="time limit came before any selection that keeps"):
        run(limited_problem(), clock=ScriptedClock(0.0))


def test_an_interrupt_before_anything_feasible_is_known_goes_on():
    """With nothing to return, Ctrl-C is Ctrl-C."""
    with pytest.raises(KeyboardInterrupt):
        run(limited_problem(), clock=ScriptedClock(KeyboardInterrupt))


# --- masters that fail ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "chosen", "bound", "message"),
    [
        (MasterStatus.INFEASIBLE, None, np.inf, "says that nothing is feasible, but"),
        (MasterStatus.OPTIMAL, range(4), 1e9, "says that no selection has a loss below 1e"),
        (MasterStatus.OPTIMAL, range(5), 1.0, "breaks a limit by more than rounding"),
        (MasterStatus.OPTIMAL, "start", 1.0, "says that its optimum is at a loss of 1,"),
    ],
    ids=["infeasible", "bound too high", "infeasible selection", "repeated with a gap"],
)
def test_a_master_that_contradicts_what_is_known_is_not_believed(
    monkeypatch, status, chosen, bound, message
):
    """Claims that a known selection refutes are errors, not answers."""
    problem = wide_problem(m=12, max_rules=4)
    if chosen == "start":
        chosen = np.argsort(-problem.statistics.counts, kind="stable")[:4]
    z = None if chosen is None else np.isin(np.arange(12), list(chosen)).astype(float)
    stub = StubMaster((status, z, bound))
    monkeypatch.setattr(cutting_plane, "make_master", lambda *_, **__: stub)
    with pytest.raises(MossError, match=message):
        run(problem)
