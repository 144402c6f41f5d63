"""Floors that share a tree."""

import numpy as np
import pytest

from mossrules.solver import solve
from mossrules.solver.options import Clock, Options
from mossrules.solver.problems.squared import Problem
from mossrules.solver.result import Status
from mossrules.solver.search import branch_and_bound, floor_groups, instance, state
from mossrules.solver.search.branch_and_bound import solve_by_branch_and_bound
from mossrules.solver.search.floor_groups import make_floor_groups, solve_floors
from support.cases import hard_classes, hard_problem, mixed_problem, swap_nothing, wild_problem
from support.oracles import brute_force, brute_force_logistic, random_logistic_problem

WIDE = 1e9  # a span that puts all floors into one group


def unlimited():
    """Return a clock without a limit."""
    return Clock(None)


def spread_floors(problem, number):
    """Return floors from the largest stability down, evenly spread, without repeats."""
    top = problem.max_stability_unlimited
    return sorted({int(floor) for floor in np.linspace(0, top, number)}, reverse=True)


def solve_all(problem, floors, options, clock=unlimited):
    """Return (problem, outcome) at each floor, the highest group first."""
    return [
        pair
        for group in make_floor_groups(problem, floors)
        for pair in zip(group.problems, solve_floors(group, options, clock), strict=True)
    ]


def assert_holds(problem, outcome, gap):
    """Check that the bound is below the optimum, and that what is solved is within the gap."""
    best, _ = brute_force(problem)
    slack = Problem.precision * problem.statistics.yy
    assert problem.is_feasible(outcome.support)
    assert outcome.bound <= best + slack
    loss = problem.loss(outcome.support)
    if outcome.status is Status.OPTIMAL:
        assert loss - outcome.bound <= gap * loss + slack


@pytest.mark.parametrize("gap", [0.0, 0.02, 0.1, 0.4])
@pytest.mark.parametrize("case", [wild_problem, mixed_problem])
def test_every_floor_of_a_shared_tree_has_its_optimum(monkeypatch, case, gap):
    """Whatever was dropped or fixed for lower floors, each floor ends within the gap."""
    monkeypatch.setattr(floor_groups, "SPAN", WIDE)
    nodes = 0
    for seed in range(150):
        problem = case(seed).at(0)
        for here, outcome in solve_all(problem, spread_floors(problem, 6), Options(gap=gap)):
            assert outcome.status is Status.OPTIMAL
            assert_holds(here, outcome, gap)
            nodes += outcome.counters["nodes"]
    assert nodes > 50 or gap == 0.4


@pytest.mark.parametrize("gap", [0.0, 0.05, 0.2])
def test_poor_first_selections_make_no_bound_false(monkeypatch, gap):
    """Cutoffs of higher floors that later come down leave nothing unaccounted for."""
    monkeypatch.setattr(floor_groups, "SPAN", WIDE)
    monkeypatch.setattr(instance, "improve_by_swaps", swap_nothing)
    for seed in range(150):
        problem = mixed_problem(seed).at(0)
        for here, outcome in solve_all(problem, spread_floors(problem, 7), Options(gap=gap)):
            assert outcome.status is Status.OPTIMAL
            assert_holds(here, outcome, gap)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_tree_that_serves_badly_is_planted_anew(monkeypatch, threads):
    """However often that happens, the answers are those of separate searches."""
    monkeypatch.setattr(floor_groups, "SPAN", WIDE)
    monkeypatch.setattr(branch_and_bound, "SLICE", 4)
    monkeypatch.setattr(branch_and_bound, "FIRST_SLOTS", 2)
    monkeypatch.setattr(state, "FEWEST", 5)
    monkeypatch.setattr(state, "REPLANT", 0)
    planted, plant = [], branch_and_bound.SquaredTree._plant

    def count(self):
        planted.append(self.state.at)
        plant(self)

    monkeypatch.setattr(branch_and_bound.SquaredTree, "_plant", count)
    problem = hard_problem()
    floors = spread_floors(problem, 8)
    for here, outcome in solve_all(problem, floors, Options(gap=0.0, threads=threads)):
        alone = solve_by_branch_and_bound(here, Options(gap=0.0), clock=Clock(None))
        assert here.loss(outcome.support) == pytest.approx(here.loss(alone.support), rel=1e-9)
        assert outcome.bound == pytest.approx(alone.bound, rel=1e-9)
    assert len(planted) > len(floors)  # of which one for each search that stands alone


def test_sharing_a_tree_saves_nodes():
    """Neighbouring floors cost less together than each by itself."""
    problem = hard_problem(60, 8)
    top = problem.max_stability_unlimited
    floors = [int(share * top) for share in np.linspace(0.75, 0.7, 6)]
    options = Options(gap=0.01)
    together = sum(outcome.counters["nodes"] for _, outcome in solve_all(problem, floors, options))
    apart = sum(
        solve_by_branch_and_bound(problem.at(floor), options, clock=Clock(None)).counters["nodes"]
        for floor in floors
    )
    assert 0 < together < 0.7 * apart


def test_a_floor_at_its_limit_leaves_valid_bounds_and_a_tree_for_the_next(monkeypatch):
    """Bounds hold at each floor, never fall from floor to floor, and the search goes on."""
    monkeypatch.setattr(floor_groups, "SPAN", WIDE)
    problem = hard_problem()
    floors = spread_floors(problem, 6)
    exact = {
        here.min_stability: here.loss(outcome.support)
        for here, outcome in solve_all(problem, floors, Options(gap=0.0))
    }
    statuses, bounds = [], []
    for here, outcome in solve_all(problem, floors, Options(gap=0.0, node_limit=20)):
        assert outcome.bound <= exact[here.min_stability] * (1 + 1e-9)
        statuses.append(outcome.status)
        bounds.append(outcome.bound)
    assert bounds == sorted(bounds)
    assert Status.NODE_LIMIT in statuses


def test_groups_end_where_the_loss_has_risen_and_when_they_are_long(monkeypatch):
    """Each floor is in one group; the most stable group comes first, its lowest floor first."""
    problem = hard_problem()
    floors = spread_floors(problem, 40)
    groups = make_floor_groups(problem, floors)
    assert len(groups) > 1
    assert [floor for group in groups for floor in reversed(group.floors)] == floors
    for group in groups:
        assert list(group.floors) == sorted(group.floors)
        assert len(group.floors) <= floor_groups.LONGEST
        lowest, highest = group.known[0].best, group.known[-1].best
        assert highest.loss <= lowest.loss * (1 + floor_groups.SPAN)
        for here, known in zip(group.problems, group.known, strict=True):
            assert here.is_feasible(known.best.support)
            assert here.loss(known.best.support) == pytest.approx(known.best.loss, rel=1e-9)
    monkeypatch.setattr(floor_groups, "SPAN", WIDE)
    monkeypatch.setattr(floor_groups, "LONGEST", 3)
    assert [len(group.floors) for group in make_floor_groups(problem, floors[:7])] == [3, 3, 1]


# --- the logistic loss ----------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [1e-8, 0.05])
def test_floors_of_classifiers_that_share_a_tree_have_their_optimum(monkeypatch, gap):
    """Bounds and selections of each floor agree with brute force, wherever nodes were made."""
    monkeypatch.setattr(floor_groups, "SPAN", WIDE)
    for seed in range(40):
        rows, problem = random_logistic_problem(seed)
        problem = problem.at(0)
        slack = problem.margin
        for here, outcome in solve_all(problem, spread_floors(problem, 5), Options(gap=gap)):
            best, loss = brute_force_logistic(rows, here), here.loss(outcome.support)
            assert outcome.status is Status.OPTIMAL
            assert here.is_feasible(outcome.support)
            assert outcome.bound <= best * (1 + 1e-9)
            assert outcome.dual is None or outcome.dual.bound <= best * (1 + 1e-9)
            assert loss - outcome.bound <= gap * loss + 2 * slack


@pytest.mark.parametrize(("threads", "replant"), [(1, 2), (2, 2), (1, 0)])
def test_a_shared_tree_of_classifiers_agrees_with_trees_of_their_own(monkeypatch, threads, replant):
    """Nodes are carried from floor to floor, or the tree is planted anew, with threads or not."""
    monkeypatch.setattr(floor_groups, "SPAN", WIDE)
    monkeypatch.setattr(state, "REPLANT", replant)
    monkeypatch.setattr(state, "FEWEST", 1500 if replant else 5)
    problem, carried = hard_classes(), 0
    top = problem.max_stability_unlimited
    floors = [int(share * top) for share in (0.85, 0.82, 0.8, 0.7)]
    for here, outcome in solve_all(problem, floors, Options(gap=0.0, threads=threads)):
        alone = solve(here, options=Options(gap=0.0))
        assert here.loss(outcome.support) == pytest.approx(alone.loss, rel=1e-8)
        assert outcome.bound == pytest.approx(alone.bound, rel=1e-8)
        carried += outcome.counters["nodes"] < alone.report.counters["nodes"]
    assert carried > 0
