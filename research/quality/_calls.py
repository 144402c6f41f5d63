"""Interrupt calls of the library in one process, again and again; the arguments are SEED COUNT.

Prints "calls" for each call, "stopped" for each that was, and a line "DEFECT ..." for each time
that threads or processes are left, or that a model differs afterwards.
"""

import _thread
import multiprocessing
import random
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

from mossrules import MossRegressor
from mossrules.baselines import SirusRegressor
from mossrules.evaluation import evaluate, evaluate_frontier
from mossrules.frontier import solve_frontier
from mossrules.solver import Options, Status, solve
from support.cases import hard_problem
from support.model_cases import wild_table

X, Y = wild_table(1, n=200)
PROBLEM = hard_problem(m=40, k=6, seed=1)
LONG = Options(gap=0.0, time_limit=20.0)
IN_TIME = 5.0  # seconds in which threads have to end


def model() -> MossRegressor:
    """Return a learner that works on two threads."""
    return MossRegressor(6, n_trees=300, gap=0.0, n_jobs=2, random_state=0)


LEARNERS = {"MOSS": model(), "SIRUS": SirusRegressor(max_rules=6, n_trees=100, random_state=0)}

CALLS: dict[str, Callable[[], Any]] = {
    "fit": lambda: model().fit(X, Y).solution_,
    "solve": lambda: solve(PROBLEM, options=LONG),
    "cutting plane": lambda: solve(PROBLEM, "cutting-plane", LONG),
    "frontier": lambda: solve_frontier(PROBLEM, options=LONG, n_jobs=2),
    "evaluate": lambda: evaluate(LEARNERS, X, Y, cv=3, n_jobs=2),
    "evaluate a frontier": lambda: evaluate_frontier(model(), X, Y, cv=3, points=5, n_jobs=2),
}


def was_stopped(call: Callable[[], Any], seconds: float) -> bool:
    """Make a call, with Ctrl-C so many seconds later; return whether it was stopped."""
    timer = threading.Timer(seconds, _thread.interrupt_main)
    try:
        try:
            timer.start()
            found = call()
        finally:
            timer.cancel()
            timer.join()
    except KeyboardInterrupt:
        return True
    status = getattr(found, "status", None)
    return status is Status.INTERRUPTED or getattr(found, "interrupted", False)


def threads_left(before: list[threading.Thread]) -> list[str]:
    """Return the new threads that have not ended in time.

    Python may be interrupted just as it starts a thread, which nobody can wait for then; it ends
    by itself as soon as it hears that the work is to stop.
    """
    new = set(threading.enumerate()) - set(before)
    for each in new:
        each.join(IN_TIME)
    return sorted(each.name for each in new if each.is_alive())


def main(seed: int, count: int) -> None:
    """Interrupt each call so many times."""
    warnings.simplefilter("ignore")
    rng = random.Random(seed)  # noqa: S311  no secrets
    expected = model().fit(X, Y).rules_.to_json()
    for name, call in CALLS.items():
        begun = time.monotonic()
        was_stopped(call, 3.0)
        longest, before = min(time.monotonic() - begun, 3.0), threading.enumerate()
        for number in range(count):
            print("calls")
            if was_stopped(call, longest * (number + rng.random()) / count):
                print("stopped")
            left = [*threads_left(before), *map(str, multiprocessing.active_children())]
            if left:
                print(f"DEFECT {name}: {left} left")
        if model().fit(X, Y).rules_.to_json() != expected:
            print(f"DEFECT after {name} another model is found")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
