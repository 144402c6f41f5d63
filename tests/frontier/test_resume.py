"""Runs that are interrupted, killed or disturbed, and what a later run makes of their checkpoint.

This file is also the program that gets killed: it starts itself, waits until the run says that it
has stalled at the place in question, and sends the signal. Nothing depends on the machine's speed.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from mossrules import checkpoint, frontier, progress
from mossrules.exceptions import InvalidFile
from mossrules.frontier import frontier_from_json, frontier_to_json, solve_frontier
from mossrules.solver import Options, Problem, Status
from mossrules.solver.problems.squared import LinearConstraints
from support import environment
from support.cases import hard_problem

resource = pytest.importorskip("resource", reason="signals and limits are those of POSIX")

TRACED = (str(Path(frontier.__file__).parent), checkpoint.__file__, progress.__file__)
ENOUGH = 2  # points in the checkpoint before the run is disturbed
STALL = 120.0  # seconds: far beyond what it takes to send a signal
STALLED = "stalled"


class Case(NamedTuple):
    """A way to solve, and which floors of which problem."""

    method: str
    kind: str


CASES = [
    Case(method, kind)
    for method in ("branch-and-bound", "cutting-plane")
    for kind in ("listed", "complete")
]
TREE = Case("branch-and-bound", "searched")  # most floors take some slices of search
ENDLESS = Case("branch-and-bound", "endless")  # all but the most stable one take for ever


def arguments(case, **settings):
    """Return the problem of a case and the settings to solve it with."""
    options = Options(gap=0.0, time_limit=None, **settings)
    if case in (TREE, ENDLESS):
        problem = hard_problem() if case == TREE else hard_problem(m=100, k=10)
        top = problem.max_stability_unlimited
        floors = range(top // 2, int(0.8 * top), 4) if case == TREE else [0, top // 2, top]
        return problem, floors, case.method, options
    rng = np.random.default_rng(6)
    M = rng.normal(size=(30, 8))
    y = M @ rng.normal(size=8) + rng.normal(size=30)
    problem = Problem.from_matrix(M, y, rng.integers(1, 25, size=8), max_rules=3, gamma=1.0)
    epsilons = (
        "complete" if case.kind == "complete" else range(0, problem.max_stability_unlimited, 6)
    )
    return problem, epsilons, case.method, options


@cache
def whole(case):
    """Return the frontier of a run that nothing disturbs."""
    return solve_frontier(*arguments(case))


def figures(entry):
    """Return all that must not depend on interruptions."""
    solution = entry.solution
    return (
        entry.floor,
        solution.support.tolist(),
        solution.weights.tolist(),
        solution.loss,
        solution.stability,
        solution.bound,
        solution.status,
    )


def assert_same(found, case):
    """Check that a frontier is that of an undisturbed run."""
    expected = whole(case)
    assert [figures(e) for e in found.entries] == [figures(e) for e in expected.entries]
    assert found.complete == expected.complete


def names_in(directory):
    """Return the names of all files in a directory."""
    return sorted(path.name for path in directory.iterdir())


def n_stored(path):
    """Return the number of points in a checkpoint, which must be readable."""
    return len(json.loads(path.read_text())["entries"]) if path.exists() else 0


# --- the run that is disturbed --------------------------------------------------------------------


class Disturbed:
    """A run in a process of its own that stalls, once, where it is told to."""

    def __init__(self, case, path, stall, n_jobs):
        self.case, self.path, self.stall, self.n_jobs = case, path, stall, n_jobs
        self.stalled = self.signalled = False
        self.looks = 0  # of searches at their listener, after the signal
        self.lock = threading.Lock()

    def run(self):
        """Solve, and print what came out."""
        signal.signal(signal.SIGINT, self.interrupt)  # a shell may have it ignored
        os.replace = self.before(os.replace, "replace")
        if self.stall == "full disc":
            resource.setrlimit(resource.RLIMIT_FSIZE, (1500, resource.RLIM_INFINITY))
        found = solve_frontier(
            *arguments(self.case, progress=self.in_search),
            checkpoint=self.path,
            n_jobs=self.n_jobs,
            progress=lambda _: self.wait("point"),
        )
        print(frontier_to_json(found))  # noqa: T201

    def wait(self, place, *, enough=ENOUGH):
        """Stall if this is the place, and tell the parent before that."""
        with self.lock:
            here = place == self.stall and not self.stalled and n_stored(self.path) >= enough
            self.stalled |= here
        if here:
            print(STALLED, flush=True)  # noqa: T201
            time.sleep(0.0 if place == "thread" else STALL)

    def in_search(self, _):
        """Listen to the solver; threads must come to an end soon after the signal."""
        self.wait("search")
        self.wait("thread", enough=1)
        self.looks += self.signalled
        if self.looks > 100:
            os._exit(3)

    def interrupt(self, number, frame):
        """Note that the signal has come, and do what Python does."""
        self.signalled = True
        signal.default_int_handler(number, frame)

    def before(self, function, place):
        """Return the function with a stall before it."""

        def stalling(*positional, **named):
            self.wait(place)
            return function(*positional, **named)

        return stalling


def start(case, path, stall, n_jobs=1):
    """Start a run in a process of its own."""
    command = [sys.executable, __file__, *case, str(path), stall, str(n_jobs)]
    return subprocess.Popen(
        command,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def disturb(case, path, stall, number, n_jobs=1):
    """Start a run, send it a signal where it stalls, and return its exit code and what it says."""
    with start(case, path, stall, n_jobs) as process:
        try:
            said = process.stdout.readline()
            if said.strip() == STALLED:
                process.send_signal(number)
            rest, errors = process.communicate()
        finally:
            process.kill()
    assert said.strip() == STALLED, f"the run never came to stall: {said}{errors}"
    return process.returncode, rest, errors


def interrupted(case, path, stall, n_jobs=1):
    """Return the frontier of a run that is sent SIGINT."""
    code, said, errors = disturb(case, path, stall, signal.SIGINT, n_jobs)
    assert code == 0, errors
    return frontier_from_json(said)


def killed(case, path, stall, n_jobs=1):
    """Kill a run where it stalls; nothing is left but its files."""
    code, said, _ = disturb(case, path, stall, signal.SIGKILL, n_jobs)
    assert code == -signal.SIGKILL
    assert said == ""


def resume(case, path, **settings):
    """Go on with a run."""
    return solve_frontier(*arguments(case), checkpoint=path, **settings)


# --- interrupts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES[::3], ids="-".join)
def test_ctrl_c_between_points_returns_what_there_is_and_a_second_run_goes_on(case, tmp_path):
    """The first run ends with the points that it has stored, the second with all of them."""
    path = tmp_path / "frontier.json"
    part = interrupted(case, path, "point")
    assert ENOUGH <= len(part.entries) == n_stored(path) < len(whole(case).entries)
    rest = resume(case, path)
    assert_same(rest, case)
    seconds = {entry.floor: entry.solution.report.seconds for entry in rest.entries}
    for entry in part.entries:  # the very same solutions, not solved again
        assert seconds[entry.floor] == entry.solution.report.seconds
    assert names_in(tmp_path) == [path.name]


@pytest.mark.parametrize("case", [TREE, CASES[2]], ids="-".join)
def test_ctrl_c_in_the_middle_of_a_search_ends_the_run(case, tmp_path):
    """The floor being searched is the last; it is INTERRUPTED or left out, and not stored."""
    path = tmp_path / "frontier.json"
    part = interrupted(case, path, "search")
    open_floors = [e for e in part.entries if e.solution.status is Status.INTERRUPTED]
    assert len(open_floors) <= 1
    assert len(part.entries) - len(open_floors) == n_stored(path) >= ENOUGH
    assert len(part.entries) < len(whole(case).entries)
    assert_same(resume(case, path), case)


def test_ctrl_c_ends_the_searches_of_all_threads(tmp_path):
    """Soon after the signal no thread is searching any more; the run ends with what it has."""
    path = tmp_path / "frontier.json"
    part = interrupted(ENDLESS, path, "thread", n_jobs=2)
    solved = [e for e in part.entries if e.solution.status is not Status.INTERRUPTED]
    assert [entry.floor for entry in solved] == [part.max_stability]


@pytest.mark.parametrize("case", CASES, ids="-".join)
@pytest.mark.parametrize("stop", [1, 3])
def test_an_interrupt_from_the_listener_keeps_the_points_so_far(case, stop, tmp_path):
    """KeyboardInterrupt out of the callback is an interrupt like any other."""

    def listener(state):
        if state.done == stop:
            raise KeyboardInterrupt

    path = tmp_path / "frontier.json"
    part = solve_frontier(*arguments(case), checkpoint=path, progress=listener)
    assert len(part.entries) == stop == n_stored(path)
    assert_same(resume(case, path), case)


def interrupted_at(line, *positional, **named):
    """Solve with an interrupt before the given line of the package that is run; count the lines."""
    lines, before = 0, sys.gettrace()

    def trace(frame, event, _):
        nonlocal lines
        if not frame.f_code.co_filename.startswith(TRACED):
            return None
        lines += event == "line"
        if event == "line" and lines == line:
            raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        return solve_frontier(*positional, **named), lines
    except KeyboardInterrupt:
        return None, lines
    finally:
        sys.settrace(before)


# Raised between a `with` block and its end, the interrupt leaves a file to the garbage collector.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_an_interrupt_may_come_at_any_line(tmp_path):
    """Whatever is being done when it comes, a second run ends with what an undisturbed one has."""
    case = Case("branch-and-bound", "complete")
    _, n_lines = interrupted_at(None, *arguments(case), checkpoint=tmp_path / "undisturbed.json")
    step = n_lines // 25
    for line in range(1 + step // 2, n_lines, step):
        path = tmp_path / f"{line}.json"
        part, _ = interrupted_at(line, *arguments(case), checkpoint=path)
        assert part is None or abs(len(part.entries) - n_stored(path)) <= 1
        assert_same(resume(case, path), case)


def test_an_interrupted_walk_is_not_complete():
    """Points that were never looked for may be missing."""

    def listener(_):
        raise KeyboardInterrupt

    case = Case("branch-and-bound", "complete")
    part = solve_frontier(*arguments(case), progress=listener)
    assert len(part.entries) < len(whole(case).entries)
    assert not part.complete


def test_an_error_in_the_listener_is_passed_on_and_the_checkpoint_is_good(tmp_path):
    """What was solved before the error is kept."""

    def listener(state):
        if state.done == 3:
            raise RuntimeError("no more")

    case, path = CASES[0], tmp_path / "frontier.json"
    for n_jobs in (1, 2):
        with pytest.raises(RuntimeError, match="no more"):
            solve_frontier(
                *arguments(case), checkpoint=path, progress=listener, n_jobs=n_jobs, verbose=True
            )
        assert n_stored(path) >= 3
    assert_same(resume(case, path), case)


# --- kills ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES[1:3], ids="-".join)
def test_a_killed_run_leaves_a_checkpoint_to_go_on_from(case, tmp_path):
    """Killed between two points, the run leaves the points so far and no other file."""
    path = tmp_path / "frontier.json"
    killed(case, path, "point")
    assert ENOUGH <= n_stored(path) < len(whole(case).entries)
    assert names_in(tmp_path) == [path.name]
    assert_same(resume(case, path), case)
    assert names_in(tmp_path) == [path.name]


@pytest.mark.parametrize(
    ("case", "n_jobs"), [(TREE, 1), (TREE, 2), (CASES[2], 1)], ids=["tree", "two jobs", "cuts"]
)
def test_a_run_killed_in_the_middle_of_a_search_goes_on(case, n_jobs, tmp_path):
    """The search begins again; what others had proven is kept."""
    path = tmp_path / "frontier.json"
    killed(case, path, "search", n_jobs)
    assert ENOUGH <= n_stored(path) < len(whole(case).entries)
    assert_same(resume(case, path, n_jobs=3 - n_jobs), case)


def test_a_run_killed_while_it_writes_leaves_the_old_checkpoint(tmp_path):
    """The old file is whole until the new one takes its place, however often that fails."""
    case, path = CASES[0], tmp_path / "frontier.json"
    killed(case, path, "replace")
    assert n_stored(path) == ENOUGH
    before = path.read_bytes()
    killed(case, path, "replace")
    assert path.read_bytes() == before
    assert_same(resume(case, path), case)


def test_a_kill_while_writing_leaves_no_file_for_ever(tmp_path):
    """A later run uses or removes what an earlier one left half written."""
    case, path = CASES[0], tmp_path / "frontier.json"
    killed(case, path, "replace")
    resume(case, path)
    assert names_in(tmp_path) == [path.name]


def test_a_full_disc_ends_the_run_and_leaves_the_old_checkpoint(tmp_path):
    """When the new file cannot be written, the error says so and the old one is still good."""
    case, path = CASES[0], tmp_path / "frontier.json"
    with start(case, path, "full disc") as process:
        _, errors = process.communicate()
    assert process.returncode == 1
    assert "File too large" in errors
    assert 1 <= n_stored(path) < len(whole(case).entries)
    assert names_in(tmp_path) == [path.name]
    assert_same(resume(case, path), case)


def test_the_checkpoint_is_up_to_date_after_each_floor(tmp_path):
    """At any time all floors that have been searched are stored, the last one excepted."""
    path, searches, last, behind = tmp_path / "frontier.json", 0, np.inf, []

    def listener(snapshot):
        nonlocal searches, last
        if snapshot.steps <= last:  # another search has begun
            behind.append(searches - n_stored(path))
            searches += 1
        last = snapshot.steps

    solve_frontier(*arguments(TREE, progress=listener), checkpoint=path, reuse=False)
    assert searches >= 8
    assert max(behind) <= 0


# --- what a checkpoint is good for ----------------------------------------------------------------


@pytest.mark.parametrize("case", [*CASES, TREE], ids="-".join)
def test_a_finished_run_is_read_and_not_solved_again(case, tmp_path):
    """Even the seconds of each point are those of the first run, and the file stays as it is."""
    path, looks = tmp_path / "frontier.json", []
    first = solve_frontier(*arguments(case), checkpoint=path)
    written, when = path.read_bytes(), path.stat().st_mtime_ns
    again = solve_frontier(*arguments(case, progress=looks.append), checkpoint=path, n_jobs=2)
    assert_same(again, case)
    assert not looks
    entries = [json.loads(frontier_to_json(each))["entries"] for each in (first, again)]
    assert entries[0] == entries[1]
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (written, when)


def test_floors_where_nothing_is_feasible_are_not_solved_again(tmp_path):
    """That is a result like any other."""
    path, looks = tmp_path / "frontier.json", []
    problem, _, _, options = arguments(CASES[0])
    one_rule = LinearConstraints(np.ones((1, problem.m)), np.array([1.0]))
    problem = replace(problem, constraints=one_rule)
    floors = [0, 9, problem.max_stability_unlimited - 1, problem.max_stability_unlimited]
    first = solve_frontier(problem, floors, options=options, checkpoint=path)
    statuses = [entry.solution.status for entry in first.entries]
    assert statuses == [Status.INFEASIBLE] * 2 + [Status.OPTIMAL] * 2
    assert n_stored(path) == 4
    listening = replace(options, progress=looks.append)
    again = solve_frontier(problem, floors, options=listening, checkpoint=path)
    assert not looks
    assert [figures(e) for e in again.entries] == [figures(e) for e in first.entries]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_number_of_jobs_may_change_from_run_to_run(n_jobs, tmp_path):
    """A run goes on with more or fewer jobs and ends with the same."""

    def listener(state):
        if state.done == 4:
            raise KeyboardInterrupt

    path = tmp_path / "frontier.json"
    solve_frontier(*arguments(TREE), checkpoint=path, progress=listener, n_jobs=n_jobs)
    assert 4 <= n_stored(path) < len(whole(TREE).entries)
    assert_same(resume(TREE, path, n_jobs=3 - n_jobs), TREE)


def other_problems():
    """Return what may differ from the problem and the settings of the checkpoint."""
    problem, epsilons, method, options = arguments(CASES[0])
    data = problem.statistics
    G, q, counts = data.G.copy(), data.q.copy(), data.counts.copy()
    counts[0] += 1
    G[0, 0] = np.nextafter(G[0, 0], np.inf)
    q[0] = np.nextafter(q[0], 0.0)

    def other(**changes):
        return replace(problem, statistics=replace(data, **changes)), epsilons, method

    return {
        "counts": other(counts=counts),
        "columns": other(G=G),
        "fit": other(q=q),
        "target": other(yy=np.nextafter(data.yy, np.inf)),
        "size": (replace(problem, max_rules=4), epsilons, method),
        "gamma": (replace(problem, gamma=2.0), epsilons, method),
        "fixed in": (replace(problem, fixed_in=[int(data.counts.argmax())]), epsilons, method),
        "fixed out": (replace(problem, fixed_out=[1]), epsilons, method),
        "floors": (problem, list(epsilons)[1:], method),
        "complete": (problem, "complete", method),
        "method": (problem, epsilons, "cutting-plane"),
        "gap": (problem, epsilons, method, replace(options, gap=0.01)),
        "root cuts": (problem, epsilons, method, replace(options, root_cuts=3)),
    }


@pytest.mark.parametrize("what", other_problems())
def test_a_checkpoint_of_another_problem_or_other_settings_is_refused(what, tmp_path):
    """Points of another problem are not taken for this one's, and the file is not touched."""
    path = tmp_path / "frontier.json"
    solve_frontier(*arguments(CASES[0]), checkpoint=path)
    before = path.read_bytes()
    options = arguments(CASES[0])[-1]
    problem, epsilons, method, *rest = other_problems()[what]
    with pytest.raises(InvalidFile, match="another problem or other settings"):
        solve_frontier(problem, epsilons, method, *(rest or [options]), checkpoint=path)
    with pytest.raises(InvalidFile, match="another problem or other settings"):
        resume(CASES[0], path, reuse=False)
    assert path.read_bytes() == before


def test_a_checkpoint_of_other_limits_is_refused(tmp_path):
    """Limits A z <= b are part of the problem, left side and right."""
    path = tmp_path / "frontier.json"
    problem, _, _, options = arguments(CASES[0])
    A, b = np.ones((1, problem.m)), np.array([2.0])
    first = replace(problem, constraints=LinearConstraints(A, b))
    solve_frontier(first, [0, 9], options=options, checkpoint=path)
    for limits in (LinearConstraints(A, b + 0.5), LinearConstraints(A * 0.9, b), None):
        other = replace(problem, constraints=limits)
        with pytest.raises(InvalidFile, match="another problem or other settings"):
            solve_frontier(other, [0, 9], "cutting-plane", options, checkpoint=path)


def test_the_floor_of_the_problem_itself_plays_no_part(tmp_path):
    """The same problem at another floor goes on with the same checkpoint."""
    path = tmp_path / "frontier.json"
    problem, *rest = arguments(CASES[0])
    solve_frontier(problem, *rest, checkpoint=path)
    before = path.read_bytes()
    assert_same(solve_frontier(problem.at(9), *rest, checkpoint=path), CASES[0])
    assert path.read_bytes() == before


@pytest.mark.parametrize("root_cuts", [0, 8])
def test_with_a_gap_the_cutting_plane_goes_on_to_the_same_bounds(root_cuts, tmp_path):
    """Where a gap is allowed, what is found depends on the cuts that there are."""
    path = tmp_path / "frontier.json"
    problem, epsilons, method, _ = arguments(Case("cutting-plane", "listed"))
    options = Options(gap=0.05, time_limit=None, root_cuts=root_cuts)

    def listener(state):
        if state.done == 3:
            raise KeyboardInterrupt

    expected = solve_frontier(problem, epsilons, method, options)
    settings = {"options": options, "checkpoint": path}
    solve_frontier(problem, epsilons, method, **settings, progress=listener)
    rest = solve_frontier(problem, epsilons, method, **settings)
    assert [figures(e) for e in rest.entries] == [figures(e) for e in expected.entries]


def test_a_heuristic_point_that_ran_out_of_time_is_tried_again(tmp_path):
    """A later run with more time is not left with what there was when the first one's was over."""
    rng = np.random.default_rng(41)
    M = (rng.random((60, 30)) < 0.5) * rng.normal(size=30)
    M[:, 10:20] = M[:, :10] + M[:, 20:] * 0.5
    y = M @ rng.normal(size=30) + rng.normal(size=60)
    counts = rng.integers(0, 40, 30)
    problem = Problem.from_matrix(M, y - y.mean(), counts, max_rules=5, gamma=1.0)
    floors = [int(0.6 * problem.max_stability_unlimited)]
    path, settings = tmp_path / "frontier.json", {"method": "coordinate-descent", "reuse": False}
    hasty = solve_frontier(problem, floors, options=Options(time_limit=1e-9), **settings)
    calm = solve_frontier(problem, floors, **settings)
    assert hasty.loss[0] > calm.loss[0] * 1.01
    first = Options(time_limit=1e-9)
    solve_frontier(problem, floors, options=first, checkpoint=path, **settings)
    second = solve_frontier(problem, floors, checkpoint=path, **settings)
    assert second.loss.tolist() == calm.loss.tolist()


def test_a_heuristic_point_that_ran_out_of_the_budget_is_not_stored(tmp_path):
    """Whether the time was over because of the floor's limit or of the budget is no matter."""
    path, problem = tmp_path / "frontier.json", hard_problem(m=200, k=10)
    settings = {"method": "coordinate-descent", "reuse": False, "checkpoint": path}
    solve_frontier(problem, [250], time_budget=1e-9, **settings)
    assert n_stored(path) == 0


def test_what_is_stored_is_not_lost_to_a_run_without_time(tmp_path):
    """A floor that an earlier run has proven stays proven, however little time a later one has."""

    def listener(state):
        if state.done == 6:
            raise KeyboardInterrupt

    path = tmp_path / "frontier.json"
    solve_frontier(*arguments(TREE), checkpoint=path, progress=listener)
    assert n_stored(path) == 6
    hasty = resume(TREE, path, time_budget=1e-9)
    assert sum(entry.solution.status is Status.OPTIMAL for entry in hasty.entries) >= 6
    assert_same(resume(TREE, path), TREE)


# --- files that are in the way --------------------------------------------------------------------


def test_directories_on_the_way_to_the_checkpoint_are_made(tmp_path):
    """A checkpoint may be asked for where there is no directory yet."""
    path = tmp_path / "runs" / "today" / "frontier.json"
    solve_frontier(*arguments(CASES[0]), checkpoint=str(path))
    assert n_stored(path) == len(whole(CASES[0]).entries)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"format": 3}'])
def test_a_file_that_is_no_checkpoint_is_refused_and_kept(content, tmp_path):
    """Someone may want what is in it."""
    path = tmp_path / "frontier.json"
    path.write_bytes(content)
    with pytest.raises(InvalidFile):
        solve_frontier(*arguments(CASES[0]), checkpoint=path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "damage",
    [
        {"entries": None},
        {"entries": [{}]},
        {"cuts": None},
        {"cuts": []},
        {"cuts": [[{"rules": [10**6], "z": [1.0]}]] * 3},
        {"cuts": [[{"rules": [0], "z": []}]] * 3},
        {"cuts": [[{"rules": [0], "z": [-3.0]}]] * 3},
    ],
    ids=str,
)
def test_a_damaged_checkpoint_is_refused_and_kept(damage, tmp_path):
    """Whatever is wrong in it, the error says to remove it."""
    path, case = tmp_path / "frontier.json", CASES[2]
    problem, _, method, options = arguments(case)
    solve_frontier(problem, [0, 9, 18], method, options, checkpoint=path)
    content = json.dumps(json.loads(path.read_text()) | damage)
    path.write_text(content)
    with pytest.raises(InvalidFile, match="remove it"):
        solve_frontier(problem, [0, 9, 18], method, options, checkpoint=path)
    assert path.read_text() == content


@pytest.mark.parametrize(
    "damage",
    [
        {"support": [0, 1, 99]},
        {"support": [0, 1, 2, 3], "weights": [1.0] * 4},
        {"stability": 0},
        {"loss": 1e9},
        {"loss": "inf", "bound": 0.0},
        {"floor": 10**6},
        {"status": "INFEASIBLE", "loss": "inf", "support": [], "weights": []},
    ],
    ids=str,
)
@pytest.mark.parametrize("case", CASES[1:3], ids=str)
def test_a_point_that_the_problem_contradicts_is_refused(case, damage, tmp_path):
    """A walk that believed in a wrong stability would not come to an end."""
    path = tmp_path / "frontier.json"
    solve_frontier(*arguments(case), checkpoint=path)
    content = json.loads(path.read_text())
    content["entries"][-1] |= damage
    path.write_text(json.dumps(content))
    with pytest.raises(InvalidFile, match="remove it"):
        solve_frontier(*arguments(case), checkpoint=path)


def test_a_directory_is_no_checkpoint(tmp_path):
    """The error says that it cannot be read."""
    with pytest.raises(InvalidFile, match="cannot be read"):
        solve_frontier(*arguments(CASES[0]), checkpoint=tmp_path)


def test_a_frontier_and_a_checkpoint_are_not_taken_for_each_other(tmp_path):
    """Both are JSON of the same points."""
    path = tmp_path / "frontier.json"
    path.write_text(frontier_to_json(whole(CASES[0])))
    with pytest.raises(InvalidFile):
        solve_frontier(*arguments(CASES[0]), checkpoint=path)
    path.unlink()
    solve_frontier(*arguments(CASES[0]), checkpoint=path)
    with pytest.raises(InvalidFile):
        frontier_from_json(path.read_text())


def test_a_checkpoint_that_is_cut_off_is_named_with_the_remedy(tmp_path):
    """The error has the path, and says to remove the file."""
    path = tmp_path / "frontier.json"
    solve_frontier(*arguments(CASES[0]), checkpoint=path)
    path.write_text(path.read_text()[:200])
    with pytest.raises(InvalidFile, match=r"frontier\.json.*remove it"):
        solve_frontier(*arguments(CASES[0]), checkpoint=path)


def test_a_checkpoint_that_cannot_be_written_is_refused_before_any_floor_is_solved(tmp_path):
    """Hours of work must not end in an error that could have been known from the start."""
    (tmp_path / "taken").write_text("a file, not a directory")
    path, looks = tmp_path / "taken" / "frontier.json", []
    with pytest.raises(InvalidFile, match="taken"):
        solve_frontier(*arguments(TREE, progress=looks.append), checkpoint=path)
    assert not looks


def test_a_checkpoint_is_on_the_disc_before_it_takes_the_place_of_the_old_one(
    tmp_path, monkeypatch
):
    """Otherwise a power cut could leave a new file without its content."""
    calls = []
    for name in ("fsync", "replace"):
        function = getattr(os, name)

        def noted(*arguments, name=name, function=function):
            calls.append(name)
            return function(*arguments)

        monkeypatch.setattr(os, name, noted)
    solve_frontier(*arguments(CASES[0]), checkpoint=tmp_path / "frontier.json")
    n_written = calls.count("replace")
    assert n_written >= len(whole(CASES[0]).entries)
    assert calls == ["fsync", "replace"] * n_written


if __name__ == "__main__":
    method, kind, path, stall, n_jobs = sys.argv[1:]
    Disturbed(Case(method, kind), Path(path), stall, int(n_jobs)).run()
