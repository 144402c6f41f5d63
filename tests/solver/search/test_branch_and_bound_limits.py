import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from mossrules.solver.options import Clock, Options
from mossrules.solver.result import Status
from mossrules.solver.search import branch_and_bound
from mossrules.solver.search.branch_and_bound import solve_by_branch_and_bound
from support.cases import floored, hard_problem
from support.oracles import brute_force


def run(problem, *, start=None, clock=None, **settings):
    """Solve to the optimum, unless the settings say otherwise."""
    options = Options(**{"gap": 0.0, "time_limit": None, **settings})
    return solve_by_branch_and_bound(
        problem, options, clock=clock or Clock(options.time_limit), start=start
    )


# --- limits of time and number --------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("limit", "status"),
    [({"time_limit": 1e-6}, Status.TIME_LIMIT), ({"node_limit": 40}, Status.NODE_LIMIT)],
)
def test_a_limit_returns_the_best_so_far_and_an_honest_bound(limit, status, threads):
    """When a limit is reached the answer is not called optimal, feasible, and its bound holds."""
    for seed in range(40):
        problem = floored(hard_problem(m=20, k=5, seed=seed, gamma=10.0), 0.5)
        outcome = run(problem, threads=threads, **limit)
        best, _ = brute_force(problem)
        assert outcome.status in {status, Status.OPTIMAL}
        assert problem.is_feasible(outcome.support)
        assert 0 < outcome.bound <= best * (1 + 1e-12)
        if outcome.status is status:
            assert outcome.bound < problem.loss(outcome.support)
            assert outcome.counters["open_nodes"] > 0
        assert outcome.counters["nodes"] <= 41 * threads
    assert run(hard_problem(), threads=threads, **limit).status is status


def test_the_nodes_in_memory_can_be_limited():
    """A tree that grows too large ends the search with what it has proven."""
    problem = floored(hard_problem(), 0.6)
    outcome = run(problem, open_nodes=50)
    assert outcome.status is Status.NODE_LIMIT
    assert 50 < outcome.counters["open_nodes"] < 120
    assert outcome.counters["root_bound"] < outcome.bound < problem.loss(outcome.support)


def test_a_bound_that_is_known_is_not_searched_for():
    """At or above the cutoff it ends the search before it begins, and below it changes nothing."""
    problem = floored(hard_problem(), 0.6)
    expected = run(problem)
    loss = problem.loss(expected.support)
    settings = {"clock": Clock(None), "start": expected.support}
    outcome = solve_by_branch_and_bound(problem, Options(gap=0.0), bound=loss, **settings)
    assert (outcome.status, outcome.counters["nodes"]) == (Status.OPTIMAL, 0)
    assert outcome.bound == pytest.approx(loss)
    outcome = solve_by_branch_and_bound(problem, Options(gap=0.0), bound=0.5 * loss, **settings)
    assert outcome.bound == pytest.approx(expected.bound, rel=1e-11)
    outcome = solve_by_branch_and_bound(
        problem, Options(gap=0.0, node_limit=2), bound=0.99 * loss, **settings
    )
    assert (outcome.status, outcome.bound) == (Status.NODE_LIMIT, 0.99 * loss)


def test_more_nodes_prove_more():
    """The bound rises with the nodes allowed, from that of the root to the optimum."""
    problem = floored(hard_problem(), 0.6)
    outcomes = [run(problem, node_limit=limit) for limit in (2, 50, 500, 10**6)]
    bounds = [outcome.bound for outcome in outcomes]
    assert bounds == sorted(set(bounds))
    assert bounds[0] >= outcomes[0].counters["root_bound"]
    assert [outcome.status for outcome in outcomes] == [Status.NODE_LIMIT] * 3 + [Status.OPTIMAL]


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_is_honest(threads):
    """Snapshots never take anything back: losses fall, bounds rise, and the optimum is between."""
    problem, seen = floored(hard_problem(), 0.6), []
    outcome = run(problem, progress=seen.append, threads=threads)
    best = problem.loss(outcome.support)
    losses, bounds = [now.loss for now in seen], [now.bound for now in seen]
    assert len(seen) > 5
    assert losses == sorted(losses, reverse=True)
    assert np.diff(bounds).min() >= -1e-12 * best
    assert all(now.bound <= best * (1 + 1e-12) <= now.loss * (1 + 2e-12) for now in seen)
    assert [now.steps for now in seen] == sorted({now.steps for now in seen})
    assert outcome.counters["nodes"] >= seen[-1].steps


# --- interrupts -----------------------------------------------------------------------------------


def test_an_interrupt_returns_the_best_so_far():
    """Ctrl-C in the progress callback loses neither the selection nor the bound."""
    problem = floored(hard_problem(), 0.6)
    expected = problem.loss(run(problem).support)

    def press(now):
        if now.steps > 200:
            raise KeyboardInterrupt

    outcome = run(problem, progress=press)
    assert outcome.status is Status.INTERRUPTED
    assert outcome.counters["root_bound"] < outcome.bound < expected
    assert problem.loss(outcome.support) >= expected * (1 - 1e-12)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_within_a_slice_keeps_what_the_slice_found(monkeypatch, threads):
    """Nodes dropped and selections found just before Ctrl-C count, so that the bound holds."""
    real = branch_and_bound.run

    def interrupted(*arguments):
        real(*arguments)
        raise KeyboardInterrupt

    improved = 0
    for seed in range(150):
        problem = floored(hard_problem(m=16, k=5, seed=seed, gamma=100.0), 0.7)
        monkeypatch.setattr(branch_and_bound, "run", interrupted)
        outcome = run(problem, threads=threads)
        monkeypatch.setattr(branch_and_bound, "run", real)
        best, _ = brute_force(problem)
        assert outcome.bound <= best * (1 + 1e-10)
        root = run(problem, clock=Clock(0.0))  # stops before the first slice
        improved += problem.loss(outcome.support) < problem.loss(root.support) * (1 - 1e-9)
    assert improved > 0


INTERRUPTED_SOLVE = """
import signal, sys
from support.cases import hard_problem
from mossrules.solver import Options, solve

signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent may have had it ignored

def tell(now):
    print("running", flush=True)

problem = hard_problem(m=100, k=20)
options = Options(gap=0.0, time_limit=None, threads=int(sys.argv[1]), progress=tell)
solution = solve(problem, options=options)
print("ended", solution.status.name, len(solution.support), solution.bound < solution.loss)
print(solution.verify(problem).passed)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent otherwise there")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c_ends_a_solve_with_an_answer(threads):
    """A process that is sent SIGINT while it searches prints what it has, and ends well."""
    command = [sys.executable, "-c", INTERRUPTED_SOLVE, threads]
    places = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=places, **pipes) as process:
        try:
            assert process.stdout.readline() == "running\n"
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    lines = [line for line in out.splitlines() if line != "running"]
    assert (process.returncode, err) == (0, "")
    assert lines == ["ended INTERRUPTED 20 True", "True"]
