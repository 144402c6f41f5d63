"""Random problems through every method, and their certificates against each other.

Each problem is solved by all methods that accept it, and by brute force where it is small enough
and of a kind for which there is one. A mismatch is any of these:

* a bound above the loss that another method, or brute force, has found;
* a proven gap that is not there;
* a solution that `Solution.verify` contradicts, or that is infeasible where there is a selection;
* a list of near-optimal selections that is not the list by brute force;
* an error that is none of ours, be it of a method, of `verify` or of brute force.

A method that refuses a problem, or that says of itself that its arithmetic has failed, is counted.

`make soak` takes an hour, and keeps what it saw in docs/quality and docs/soak.md.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mossrules._files import write_file
from mossrules.exceptions import InfeasibleProblem, InvalidParameter, LicenceLimit, MossError
from mossrules.frontier import solve_frontier
from mossrules.solver import Options, Solution, Status, near_optimal, solve
from mossrules.solver.search.branch_and_bound import compile_kernels
from research.harness.clone import ROOT
from research.quality._page import made, table
from research.quality._record import Record
from support.cases import hard_problem, limited_problem, mixed_problem, wild_problem
from support.oracles import (
    brute_force,
    brute_force_limited,
    brute_force_logistic,
    brute_force_pool,
    plain_loss,
    random_logistic_problem,
    random_problem,
)

__all__ = ["Tally", "arguments", "examine", "problems", "run"]

MASTERS = {"highs": "highspy", "scip": "pyscipopt", "gurobi": "gurobipy"}
LIMIT = 2.0  # seconds for each method
POOL_LIMIT = 60.0  # seconds for a list, of which none of these takes one
LATE = 3.0  # times its limit, and a second: a method that takes longer does not heed it
CLOSE = 1e-6  # of the loss without rules: the tolerance of integer masters
LARGER_EVERY = 8
GAPS = (0.0, 1e-3, 0.05)
TOLERANCES = (0.0, 0.02, 0.2)  # of the lists of near-optimal selections
LISTED = ("squared", "squared, degenerate", "squared, many ties")  # small, and without limits
EVERYTHING = 100_000  # more selections than a problem has of which all are listed
Best = Callable[[], float]  # the least loss there is, by brute force
Way = Callable[[Any, Options], Solution]


# --- problems -------------------------------------------------------------------------------------


def problems(seed: int) -> Iterator[tuple[str, Any, Best | None]]:
    """Yield problems of all kinds in turn, for ever, with a way to list all selections."""
    number = seed * 1_000_003
    while True:
        number += 1
        squared = random_problem(number)
        yield "squared", squared, lambda p=squared: brute_force(p)[0]
        wild = wild_problem(number, strongest=6.0)
        yield "squared, degenerate", wild, lambda p=wild: brute_force(p)[0]
        mixed = mixed_problem(number)
        yield "squared, many ties", mixed, lambda p=mixed: brute_force(p)[0]
        limited = limited_problem(number)
        yield "squared, with limits or signs", limited, lambda p=limited: brute_force_limited(p)[0]
        rows, logistic = random_logistic_problem(number)
        yield "logistic", logistic, lambda r=rows, p=logistic: brute_force_logistic(r, p)
        if number % LARGER_EVERY == 0:  # they take as long as all others together
            larger = hard_problem(m=30 + number % 30, k=3 + number % 4, seed=number)
            share = (number // LARGER_EVERY) % 10
            yield "squared, larger", larger.at(larger.max_stability_unlimited * share // 10), None


def methods() -> dict[str, Way]:
    """Return the ways to solve a problem on this machine."""
    found: dict[str, Way] = {
        "branch and bound": lambda p, options: solve(p, "branch-and-bound", options),
        "branch and bound, among other floors": solve_among_others,
        "coordinate descent": lambda p, options: solve(p, "coordinate-descent", options),
    }
    for master, package in MASTERS.items():
        if importlib.util.find_spec(package) is not None:
            found[f"cutting plane, {master}"] = lambda p, options, master=master: solve(
                p, "cutting-plane", replace(options, master=master)
            )
    return found


def solve_among_others(problem: Any, options: Options) -> Solution:
    """Solve at its own floor and at two more, in one tree where they are close; verify all."""
    floor, most = problem.min_stability, problem.max_stability_unlimited
    floors = sorted({floor // 2, floor, (floor + most) // 2})
    frontier = solve_frontier(problem, floors, options=options)
    solutions = {entry.floor: entry.solution for entry in frontier.entries}
    for other in set(floors) - {floor}:
        if solutions[other].has_selection:
            verified = solutions[other].verify(problem.at(other))
            assert verified.passed, f"at floor {other}:\n{verified}"  # noqa: S101  a mismatch
    return solutions[floor]


# --- one problem ----------------------------------------------------------------------------------


@dataclass
class Tally:
    """What was seen so far."""

    problems: Counter[str] = field(default_factory=Counter)
    solved: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)  # by methods that do not take a problem
    failed: Counter[str] = field(default_factory=Counter)  # of which the method itself says so
    proven: Counter[str] = field(default_factory=Counter)
    late: Counter[str] = field(default_factory=Counter)
    listed: int = 0  # problems of which all selections were tried
    pools: int = 0  # lists of near-optimal selections held against brute force
    mismatches: list[str] = field(default_factory=list)

    def add(self, name: str, what: str) -> None:
        """Note a mismatch, and show it at once."""
        self.mismatches.append(f"{name}: {what}")
        print(f"MISMATCH {self.mismatches[-1]}", flush=True)

    def add_failure(self, name: str, how: str) -> None:
        """Note an error that is being handled, and is none of ours."""
        self.add(name, f"{how} failed:\n{traceback.format_exc(limit=-3)}")


def examine(kind: str, problem: Any, best: Best | None, gap: float, tally: Tally) -> None:
    """Solve a problem by all methods and compare what they say."""
    number = sum(tally.problems.values())
    tally.problems[kind] += 1
    name = f"problem {number} ({kind}, gap {gap:g})"
    found, bounds = solve_by_all(name, problem, gap, tally)
    scale = problem.null_loss or 1.0
    losses = {how: each.loss for how, each in found.items()}
    least = None if best is None else least_loss(name, best, tally)
    if least is not None:
        tally.listed += 1
        losses["brute force"] = least
    if least == np.inf:
        for how, each in found.items():
            if each.status is not Status.INFEASIBLE:
                tally.add(name, f"{how} says {each}, and no selection is feasible")
        return
    for how, bound in bounds.items():
        for other, loss in losses.items():
            if bound > loss + CLOSE * scale:
                tally.add(name, f"bound {bound!r} of {how} is above {loss!r} of {other}")
    for how, each in found.items():
        check(name, how, each, problem, tally)
        if least is not None and each.loss < least - CLOSE * scale:
            tally.add(name, f"loss {each.loss!r} of {how} is below the least there is, {least!r}")


def least_loss(name: str, best: Best, tally: Tally) -> float | None:
    """Return the least loss by brute force; None if that fails."""
    try:
        return best()
    except Exception:  # noqa: BLE001  whatever it is, it is a defect
        tally.add_failure(name, "brute force")
        return None


def solve_by_all(
    name: str, problem: Any, gap: float, tally: Tally
) -> tuple[dict[str, Solution], dict[str, float]]:
    """Return what each method makes of a problem, and the bound that each has for it."""
    found, bounds = {}, {}
    for how, way in methods().items():
        start = time.monotonic()
        try:
            found[how] = way(problem, Options(gap=gap, time_limit=LIMIT))
        except (InvalidParameter, LicenceLimit):
            tally.refused[how] += 1
            continue
        except InfeasibleProblem:  # which is a claim about the problem, as a solution's is
            tally.failed[how] += 1
            bounds[how] = np.inf
            continue
        except MossError:  # a master whose arithmetic fails, and which is not believed
            tally.failed[how] += 1
            continue
        except Exception:  # noqa: BLE001  whatever it is, it is a defect
            tally.add_failure(name, how)
            continue
        bounds[how] = found[how].bound
        tally.solved[how] += 1
        tally.proven[how] += found[how].status in (Status.OPTIMAL, Status.INFEASIBLE)
        tally.late[how] += time.monotonic() - start > LATE * LIMIT + 1.0
    return found, bounds


def check(name: str, how: str, solution: Solution, problem: Any, tally: Tally) -> None:
    """Check one solution by itself."""
    if not solution.has_selection:
        return
    if solution.bound > solution.loss:
        tally.add(name, f"{how} has a bound above its own loss")
    try:
        verified = solution.verify(problem)
    except Exception:  # noqa: BLE001  whatever it is, it is a defect
        tally.add_failure(name, f"the verification of {how}")
        return
    if not verified.passed:
        tally.add(name, f"{how} does not verify:\n{verified}")


def examine_pool(problem: Any, tolerance: float, tally: Tally) -> None:
    """Hold the list of near-optimal selections against all selections there are."""
    name = f"problem {sum(tally.problems.values()) - 1} (list within {tolerance:g})"
    try:
        pool = near_optimal(problem, tolerance, EVERYTHING, Options(time_limit=POOL_LIMIT))
        expected, losses = brute_force_pool(problem, tolerance)
    except Exception:  # noqa: BLE001  whatever it is, it is a defect
        tally.add_failure(name, "the list")
        return
    tally.pools += 1
    limit = (1.0 + tolerance) * losses.min()
    for support in {tuple(each.tolist()) for each in pool} ^ set(expected):
        # Whether one at the very limit is in the list is a matter of rounding.
        if abs(plain_loss(problem, support) - limit) > CLOSE * problem.null_loss:
            tally.add(name, f"{support} is in one list only")
    if not pool.is_complete:
        tally.add(name, f"{pool} does not claim to be complete")


# --- the run --------------------------------------------------------------------------------------


def soak(minutes: float, seed: int) -> Tally:
    """Examine problems until the time is over."""
    compile_kernels()  # or the first problem would seem to take a minute
    tally, end = Tally(), time.monotonic() + 60.0 * minutes
    shown = 0.0
    for number, (kind, problem, best) in enumerate(problems(seed)):
        if time.monotonic() > end:
            break
        examine(kind, problem, best, GAPS[number // 5 % len(GAPS)], tally)
        if kind in LISTED:
            examine_pool(problem, TOLERANCES[number // 5 % len(TOLERANCES)], tally)
        if time.monotonic() > shown + 60.0:
            shown = time.monotonic()
            total = sum(tally.problems.values())
            print(f"{total:,} problems, {len(tally.mismatches)} mismatches", flush=True)
    return tally


def run(minutes: float, seed: int) -> Record:
    """Examine problems for so long; write docs/soak.md."""
    tally = soak(minutes, seed)
    record = as_record(tally, minutes, seed)
    write_file(ROOT / "docs" / "soak.md", page(record, tally))
    return record


def arguments(parser: argparse.ArgumentParser) -> None:
    """Say what may be asked for."""
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)


def as_record(tally: Tally, minutes: float, seed: int) -> Record:
    """Return what was seen, method by method."""
    total, solved = sum(tally.problems.values()), sum(tally.solved.values())
    return Record(
        title="Soak test",
        asked=(
            "Random problems go through every method, and what each claims is held against what "
            "the others and brute force found."
        ),
        seen=(
            f"{total:,} problems, {solved:,} solutions, {len(tally.mismatches):,} mismatches; "
            f"{tally.listed:,} problems by brute force, {tally.pools:,} lists of near-optimal "
            "selections by brute force"
        ),
        passed=not tally.mismatches,
        command=f"make soak MINUTES={minutes:g} SEED={seed}",
        table=[
            {
                "Method": how,
                "solutions": tally.solved[how],
                "proven": tally.proven[how],
                "not for this method": tally.refused[how],
                "failed, and said so": tally.failed[how],
                "ended late": tally.late[how],
            }
            for how in methods()
        ],
        notes=[
            (
                f"A method has {LIMIT:g} seconds for a problem, and is late after {LATE:g} times "
                "that and a second more."
            ),
            (
                "'failed, and said so': the answer of a master contradicted what is known of the "
                "problem, and was refused with an error instead of being believed."
            ),
        ],
    )


def page(record: Record, tally: Tally) -> str:
    """Return docs/soak.md: the record, the kinds of problems, and each mismatch."""
    lines = [
        "# Soak test\n",
        (
            f"{record.asked} **{record.seen}.** A mismatch is a bound above any loss found, a loss "
            "below the least there is, a claim that `solution.verify(problem)` refutes, a list of "
            "near-optimal selections that lacks one or has one too many, or an error that is none "
            f"of ours. Written by `{record.command}` {made(record)}; [all parts](quality.md).\n"
        ),
        *table([{"Kind of problem": kind, "problems": n} for kind, n in tally.problems.items()]),
        "",
        *table(record.table),
    ]
    if tally.mismatches:
        lines += ["", "## Mismatches", "", "```", *tally.mismatches[:50], "```"]
    return "\n".join(lines) + "\n"
