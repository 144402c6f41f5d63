"""A floor on each rule against every selection there is: values, certificates and frontiers.

Run `python -m research.studies.each_floor 2000` for so many problems and a tenth as many complete
frontiers. Problems have up to 12 rules, of which up to 4 are chosen; half are of each loss, half of
those of the squared loss have centred columns, and some have signs, fixings, or limits on rules and
on features. It takes some minutes, and ends with an error if anything does not agree.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator

from mossrules.solver import Problem
from mossrules.solver.problems.selection import SelectionProblem
from research.harness.clone import ROOT

sys.path.append(str(ROOT / "tests"))

from support.each_floor_cases import (
    check_complete,
    check_solution,
    logistic_each,
    squared_each,
)

__all__ = ["run"]

FIRST = 1_000_000  # of the seeds: none that the test suite has
OUTSIDE = 10  # one frontier in so many looks at floors that leave fewer than max_rules rules too


def run(problems: int) -> Counter[str]:
    """Check so many problems, and a tenth as many complete frontiers; return what was seen."""
    seen: Counter[str] = Counter()
    for name, check in _checks(problems):
        try:
            seen[name] += 1
            for kind in check():
                seen[kind] += 1
        except Exception:  # noqa: BLE001  whatever it is, it is a mismatch
            seen["mismatches"] += 1
            print(f"MISMATCH, {name} {seen[name]}: {traceback.format_exc()}", flush=True)
    return seen


def _checks(problems: int) -> Iterator[tuple[str, Callable[[], list[str]]]]:
    for number in range(problems):
        yield "problems", lambda seed=FIRST + number: _one(seed)
    for number in range(problems // 10):
        yield "complete frontiers", lambda seed=FIRST + number: _frontier(seed)


def _one(seed: int) -> list[str]:
    rows, problem = _problem(seed)
    check_solution(problem, rows)
    return _kinds(problem, centred=seed % 4 == 2)


def _frontier(seed: int) -> list[str]:
    rows, problem = _problem(seed)
    problem = problem.at(0)
    everything = seed % OUTSIDE == 0
    check_complete(
        problem, rows, **({"max_stability": problem.largest_floor} if everything else {})
    )
    return []


def _problem(seed: int) -> tuple[object, SelectionProblem]:
    # Every other seed of the squared loss has centred columns.
    return logistic_each(seed) if seed % 2 else (None, squared_each(seed // 2))


def _kinds(problem: SelectionProblem, *, centred: bool) -> list[str]:
    """Return what is said of a problem in the count."""
    has = {
        "of numbers": isinstance(problem, Problem),
        "of numbers, centred": centred,
        "with signs": problem.signs is not None,
        "with rules fixed in": len(problem.fixed_in) > 0,
        "with rules fixed out": len(problem.fixed_out) > 0,
        "with limits": problem.constraints is not None,
        "with a floor that leaves rules out": len(problem.as_sum().free) < len(problem.free),
        "with a floor above the largest stability": problem.min_stability > problem.max_stability,
    }
    return [name for name, is_there in has.items() if is_there]


if __name__ == "__main__":
    started = time.perf_counter()
    found = run(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
    for name, count in found.items():
        print(f"{count:6,} {name}")
    print(f"{found['mismatches']:6,} mismatches, in {time.perf_counter() - started:.0f} s")
    sys.exit(bool(found["mismatches"]))
