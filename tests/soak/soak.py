"""Random problems through every method, and their certificates against each other: `make soak`.

Each problem is solved by all methods that accept it, and by brute force where it is small enough
and of a kind for which there is one. A mismatch is any of these:

* a bound above the loss that another method, or brute force, has found;
* a proven gap that is not there;
* a solution that `Solution.verify` contradicts, or that is infeasible where there is a selection;
* an error that is none of ours.

    python tests/soak/soak.py --minutes 60 --seed 0 --report docs/soak.md
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from cases import hard_problem, limited_problem, mixed_problem, wild_problem
from mossrules._files import write_file
from mossrules._provenance import provenance
from mossrules.exceptions import MossError
from mossrules.solver import Options, Solution, Status, solve
from oracles import (
    brute_force,
    brute_force_limited,
    brute_force_logistic,
    random_logistic_problem,
    random_problem,
)

MASTERS = {"highs": "highspy", "scip": "pyscipopt", "gurobi": "gurobipy"}
LIMIT = 2.0  # seconds for each method
LATE = 3.0  # times its limit, and a second: a method that takes longer does not heed it
CLOSE = 1e-6  # of the loss without rules: the tolerance of integer masters
LARGER_EVERY = 8
GAPS = (0.0, 1e-3, 0.05)
Best = Callable[[], float]  # the least loss there is, by brute force


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
            yield "squared, larger", larger.at(larger.largest_stability * share // 10), None


def methods() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the ways to solve a problem on this machine."""
    found: dict[str, tuple[str, dict[str, Any]]] = {
        "branch and bound": ("branch-and-bound", {}),
        "coordinate descent": ("coordinate-descent", {}),
    }
    for master, package in MASTERS.items():
        if importlib.util.find_spec(package) is not None:
            found[f"cutting plane, {master}"] = ("cutting-plane", {"master": master})
    return found


# --- one problem ----------------------------------------------------------------------------------


@dataclass
class Tally:
    """What was seen so far."""

    problems: Counter[str] = field(default_factory=Counter)
    solved: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)  # by methods that do not take a problem
    proven: Counter[str] = field(default_factory=Counter)
    late: Counter[str] = field(default_factory=Counter)
    listed: int = 0  # problems of which all selections were tried
    mismatches: list[str] = field(default_factory=list)

    def add(self, name: str, what: str) -> None:
        """Note a mismatch, and show it at once."""
        self.mismatches.append(f"{name}: {what}")
        print(f"MISMATCH {self.mismatches[-1]}", flush=True)


def examine(kind: str, problem: Any, best: Best | None, gap: float, tally: Tally) -> None:
    """Solve a problem by all methods and compare what they say."""
    number = sum(tally.problems.values())
    tally.problems[kind] += 1
    name = f"problem {number} ({kind}, gap {gap:g})"
    found = solve_by_all(name, problem, gap, tally)
    scale = problem.null_loss or 1.0
    losses = {how: each.loss for how, each in found.items()}
    if best is not None:
        tally.listed += 1
        losses["brute force"] = least = best()
        if np.isinf(least):
            for how, each in found.items():
                if each.status is not Status.INFEASIBLE:
                    tally.add(name, f"{how} says {each}, and no selection is feasible")
            return
    for how, each in found.items():
        check(name, how, each, problem, tally)
        for other, loss in losses.items():
            if each.bound > loss + CLOSE * scale:
                tally.add(name, f"bound {each.bound!r} of {how} is above {loss!r} of {other}")
        if best is not None and each.loss < least - CLOSE * scale:
            tally.add(name, f"loss {each.loss!r} of {how} is below the least there is, {least!r}")


def solve_by_all(name: str, problem: Any, gap: float, tally: Tally) -> dict[str, Solution]:
    """Return what each method makes of a problem."""
    found = {}
    for how, (method, more) in methods().items():
        start = time.monotonic()
        options = Options(gap=gap, time_limit=LIMIT, **more)
        try:
            found[how] = solve(problem, method, options)
        except MossError:
            tally.refused[how] += 1
            continue
        except Exception:  # noqa: BLE001  whatever it is, it is a defect
            tally.add(name, f"{how} failed:\n{traceback.format_exc(limit=-3)}")
            continue
        tally.solved[how] += 1
        tally.proven[how] += found[how].status in (Status.OPTIMAL, Status.INFEASIBLE)
        tally.late[how] += time.monotonic() - start > LATE * LIMIT + 1.0
    return found


def check(name: str, how: str, solution: Solution, problem: Any, tally: Tally) -> None:
    """Check one solution by itself."""
    if not solution.has_selection:
        return
    if solution.bound > solution.loss:
        tally.add(name, f"{how} has a bound above its own loss")
    verified = solution.verify(problem)
    if not verified.passed:
        tally.add(name, f"{how} does not verify:\n{verified}")


# --- the run --------------------------------------------------------------------------------------


def soak(minutes: float, seed: int) -> Tally:
    """Examine problems until the time is over."""
    tally, end = Tally(), time.monotonic() + 60.0 * minutes
    shown = 0.0
    for number, (kind, problem, best) in enumerate(problems(seed)):
        if time.monotonic() > end:
            break
        examine(kind, problem, best, GAPS[number // 5 % len(GAPS)], tally)
        if time.monotonic() > shown + 60.0:
            shown = time.monotonic()
            total = sum(tally.problems.values())
            print(f"{total:,} problems, {len(tally.mismatches)} mismatches", flush=True)
    return tally


def report(tally: Tally, minutes: float, seed: int) -> str:
    """Return what was seen as a page of Markdown."""
    total, solved = sum(tally.problems.values()), sum(tally.solved.values())
    made_by = ", ".join(f"{name} {value}" for name, value in provenance().items())
    lines = [
        "# Soak test",
        "",
        (
            f"Random problems through every method, for {minutes:g} minutes with seed {seed}: "
            f"**{total:,} problems, {solved:,} solutions, {len(tally.mismatches)} mismatches.** Of "
            f"{tally.listed:,} problems all selections were tried by brute force. A mismatch is a "
            "bound above any loss found, a loss below the least there is, a claim that "
            "`solution.verify(problem)` refutes, or an error that is none of ours. Written by "
            "`make soak`."
        ),
        "",
        f"Made by {made_by}.",
        "",
        *_table("Kind of problem", {"problems": tally.problems}),
        "",
        *_table(
            "Method",
            {
                "solutions": tally.solved,
                "proven": tally.proven,
                "not for this method": tally.refused,
                "ended late": tally.late,
            },
        ),
    ]
    if tally.mismatches:
        lines += ["", "## Mismatches", "", "```", *tally.mismatches[:50], "```"]
    return "\n".join(lines) + "\n"


def _table(first: str, columns: Mapping[str, Counter[str]]) -> list[str]:
    names = sorted({name for counter in columns.values() for name in counter})
    head = [f"| {first} | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    return head + [
        f"| {name} | {' | '.join(f'{counter[name]:,}' for counter in columns.values())} |"
        for name in names
    ]


def main() -> int:
    """Run; exit with 1 if there is a mismatch."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--report", type=Path, help="where to write a page about the run")
    asked = parser.parse_args()
    tally = soak(asked.minutes, asked.seed)
    text = report(tally, asked.minutes, asked.seed)
    print(text)
    if asked.report is not None:
        write_file(asked.report, text)
    return int(bool(tally.mismatches))


if __name__ == "__main__":
    sys.exit(main())
