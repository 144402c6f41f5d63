"""Small random problems against exact arithmetic: bounds, losses, statuses and whole frontiers.

Every selection of each problem is tried: by ratios of determinants of integers for numbers, by
brute force from the rows for classes (tests/support/exact.py). Branch and bound has every problem;
the other methods, complete frontiers and the whole of `verify` have one in some. Wrong is

* a bound above the optimum by more than the stated rounding, or above its own loss;
* a status other than optimal or infeasible, or one that is not true;
* a loss that is not that of its selection, or not the least there is;
* a selection that breaks a condition, a stability that is another, a largest stability that is not;
* a certificate that `verify` refutes, and an error that is none of ours.

Problems that are refused in a sentence, such as those of units whose squares floats cannot hold,
are counted. Every mistake is printed with the seed that makes it again.
"""

from __future__ import annotations

import argparse
import math
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from mossrules.exceptions import InfeasibleProblem, InvalidParameter, MossError
from mossrules.frontier import solve_frontier
from mossrules.solver import Options, Solution, Status, solve
from mossrules.solver.options import MASTER_ROUNDING
from mossrules.solver.problems.selection import SelectionProblem
from research.quality._record import Record
from support.exact import DRAWN, Answers, Drawn

__all__ = ["arguments", "examine", "mistakes", "run"]

EXACT = Options(gap=0.0)
OTHERS_EVERY, FRONTIER_EVERY, FULLY_EVERY = 15, 20, 10
FLOORS_TRIED = 6  # of a frontier, each against all selections
COUNTED = ("problems", "optimal", "infeasible", "refused", "solutions", "frontiers", "mistakes")


def examine(drawn: Drawn, number: int, seen: Counter[str]) -> Iterator[str]:
    """Yield what is wrong with the answers to a problem."""
    seen["problems"] += 1
    try:
        free, floor = drawn.make()
    except InvalidParameter:
        seen["refused"] += 1
        return
    answers = Answers(free, drawn.rows)
    yield from _largest_stability(answers)
    try:
        problem = free.at(floor)
    except InfeasibleProblem:
        seen["infeasible"] += 1
        if answers.least(floor) < math.inf:
            yield f"floor {floor} is refused as too high, and a selection meets it"
        return
    solution = solve(problem, "branch-and-bound", EXACT)
    seen[solution.status.value] += 1
    seen["solutions"] += 1
    yield from mistakes(solution, problem, answers, fully=number % FULLY_EVERY == 0)
    if number % OTHERS_EVERY == 0:
        yield from _others(problem, answers, seen)
    if number % FRONTIER_EVERY == 0:
        seen["frontiers"] += 1
        yield from _frontier(free, answers)


def _largest_stability(answers: Answers) -> Iterator[str]:
    """Look at the largest sum of counts there is, which floors are shares of."""
    problem = answers.problem
    largest = max((stability for stability, _ in answers.pairs), default=0)
    if problem.floor == "sum" and problem.max_stability != largest:
        yield f"the largest stability is {largest}, not {problem.max_stability}"


def mistakes(
    solution: Solution,
    problem: SelectionProblem,
    answers: Answers,
    *,
    fully: bool = False,
    tolerance: float = 0.0,
    proven: bool = True,
) -> Iterator[str]:
    """Yield what is wrong with a solution; `tolerance` is relative, that of an integer master."""
    least = answers.least(problem.min_stability)
    if least == math.inf:
        if solution.status is not Status.INFEASIBLE:
            yield f"{solution}, and nothing is feasible"
        return
    if solution.status is Status.INFEASIBLE:
        yield "infeasible, and a selection is feasible"
        return
    if proven and solution.status is not Status.OPTIMAL:
        yield f"status {solution.status.value}"
    spare = Fraction(tolerance) * Fraction(least)
    above = Fraction(solution.bound) - Fraction(least)
    if above > answers.rounding + spare:
        yield f"the bound is {_share(above, problem)} of the null loss above the optimum"
    if solution.bound > solution.loss:
        yield "the bound is above its own loss"
    yield from _selection(solution, problem, answers)
    beyond = Fraction(solution.loss) - Fraction(least)
    if proven and solution.status is Status.OPTIMAL and beyond > 3 * answers.known + spare:
        yield f"'optimal' is {_share(beyond, problem)} of the null loss above the optimum"
    verified = solution.verify(problem, quick=not fully)
    if not verified.passed:
        yield f"verify refutes it:\n{verified}"


def _selection(solution: Solution, problem: SelectionProblem, answers: Answers) -> Iterator[str]:
    support = tuple(solution.support.tolist())
    pair = answers.of(support)
    if pair is None:
        yield f"{support} breaks a condition"
        return
    stability, loss = pair
    if stability != solution.stability or stability < problem.min_stability:
        yield f"stability is {stability}, not {solution.stability}, of {problem.min_stability}"
    apart = abs(Fraction(solution.loss) - Fraction(loss))
    if apart > answers.known:
        yield f"the loss is off by {_share(apart, problem)} of the null loss"


def _share(loss: Fraction, problem: SelectionProblem) -> str:
    return f"{float(loss / Fraction(problem.null_loss or 1.0)):.3g}"


def _others(problem: SelectionProblem, answers: Answers, seen: Counter[str]) -> Iterator[str]:
    """Try the other methods, with what is stated of each."""
    for method in ("coordinate-descent", "cutting-plane"):
        try:
            solution = solve(problem, method, EXACT)  # type: ignore[arg-type]
        except InvalidParameter:
            continue  # not for this method
        except InfeasibleProblem as error:
            if answers.least(problem.min_stability) < math.inf:
                yield f"{method}: {error}"
            continue
        except MossError:  # a master whose arithmetic fails, and which is not believed
            seen["failed, and said so"] += 1
            continue
        seen["solutions"] += 1
        is_master = method == "cutting-plane"
        tolerance = MASTER_ROUNDING if is_master else 0.0
        wrong = mistakes(solution, problem, answers, tolerance=tolerance, proven=False)
        yield from (f"{method}: {each}" for each in wrong)


def _frontier(problem: SelectionProblem, answers: Answers) -> Iterator[str]:
    """Hold a complete frontier against the least loss at floors all along it."""
    frontier = solve_frontier(problem, "complete", options=EXACT)
    floors = sorted({stability for stability, _ in answers.pairs})
    for floor in floors[:: max(1, len(floors) // FLOORS_TRIED)]:
        if floor > problem.max_stability:
            continue  # of a floor on each rule: outside of the frontier
        found = [point.loss for point in frontier if point.stability >= floor]
        least = answers.least(floor)
        if not found:
            yield f"the frontier ends below {floor}"
        elif abs(Fraction(min(found)) - Fraction(least)) > 3 * answers.known:
            apart = _share(Fraction(min(found)) - Fraction(least), problem)
            yield f"the frontier is off by {apart} of the null loss at {floor}"
    if not frontier.complete:
        yield "the frontier is not complete"
    for entry in frontier.entries:
        least, bound = answers.least(entry.floor), entry.solution.bound
        if least < math.inf and bound > Fraction(least) + answers.rounding:
            yield f"the bound at floor {entry.floor} is above the optimum"


# --- the run --------------------------------------------------------------------------------------


def run(problems: int, seed: int, only: str | None) -> Record:
    """Examine so many problems, of all kinds in turn or of one, or as many as until Ctrl-C."""
    kinds = [only] if only else list(DRAWN)
    seen: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    shown, begun = time.monotonic(), time.process_time()
    try:
        for number in range(problems):
            kind = kinds[number % len(kinds)]
            try_one(kind, seed * 1_000_003 + number, number // len(kinds), seen[kind])
            if time.monotonic() > shown + 60.0:
                shown = time.monotonic()
                print(f"{number + 1:,} problems, {_total(seen)['mistakes']} mistakes", flush=True)
    except KeyboardInterrupt:  # what was tried so far is a record too, of fewer problems
        problems = number
    return _record(seen, problems, seed, time.process_time() - begun)


def try_one(kind: str, one: int, number: int, seen: Counter[str]) -> None:
    """Examine the problem of a seed, the nth of its kind; print what is wrong."""
    try:
        wrong = list(examine(DRAWN[kind](one), number, seen))
    except Exception:  # noqa: BLE001  whatever it is, it is a mistake
        wrong = [traceback.format_exc(limit=-3)]
    for each in wrong:
        seen["mistakes"] += 1
        print(f"MISTAKE, {kind} with seed {one}: {each}", flush=True)


def _total(seen: dict[str, Counter[str]]) -> Counter[str]:
    return sum(seen.values(), Counter[str]())


def _record(seen: dict[str, Counter[str]], problems: int, seed: int, seconds: float) -> Record:
    total = _total(seen)
    table: list[dict[str, Any]] = [
        {"Kind": kind, **{word: each[word] for word in COUNTED}} for kind, each in seen.items()
    ]
    return Record(
        title="Exact arithmetic",
        asked=(
            "No bound is above the optimum by more than the stated rounding, which is 10^-12 of "
            "the loss without rules for numbers and 10^-9 of it for classes; no status, loss, "
            "stability, frontier or certificate is wrong. Every selection of each problem is tried."
        ),
        seen=(
            f"{total['problems']:,} problems, {total['solutions']:,} solutions and "
            f"{total['frontiers']:,} complete frontiers, {total['mistakes']:,} mistakes"
        ),
        passed=not total["mistakes"],
        command=f"python -m research.quality exact --problems {problems} --seed {seed}",
        table=table,
        notes=[
            (
                "Of numbers all that is compared is exact, by determinants of integers; of classes "
                "it is what Newton's method or scipy finds from the rows."
            ),
            (
                "'refused': in one sentence, as units beyond 10^60, gammas at which weights are "
                "lost in rounding, and counts above 2^53, or above 10^9 under limits, are."
            ),
            (
                "Branch and bound has all problems. One in "
                f"{OTHERS_EVERY} is solved by coordinate descent and the cutting plane too, whose "
                f"master has a tolerance of {MASTER_ROUNDING:g} of the loss and in "
                f"{total['failed, and said so']:,} cases was not believed; one in {FRONTIER_EVERY} "
                f"has its complete frontier. {seconds / 60:.0f} minutes of one processor."
            ),
        ],
    )


def arguments(parser: argparse.ArgumentParser) -> None:
    """Say what may be asked for."""
    parser.add_argument("--problems", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=DRAWN, help="one kind")
