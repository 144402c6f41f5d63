"""The trade-off out of sample: on each fold rules are found once and chosen at many floors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any

import numpy as np

from mossrules._checks import check_integer, check_number
from mossrules._typing import FloatArray
from mossrules.candidates.rules import Rule
from mossrules.candidates.search import Candidates, resolve_seed
from mossrules.data.canonical_order import Rows, take_rows
from mossrules.data.chunks import resolve_n_jobs
from mossrules.estimators.evaluated import FoldPoint, FrontierEvaluation
from mossrules.estimators.finding import find_in_rows, generation
from mossrules.estimators.folds import Split, over_folds
from mossrules.exceptions import InvalidParameter
from mossrules.frontier import FrontierProgress
from mossrules.learning.stability_levels import at_stability
from mossrules.model import RuleSet
from mossrules.progress import Clock, progress_line
from mossrules.solver import Snapshot, Solution, Status
from mossrules.solver.search.branch_and_bound import compile_kernels
from mossrules.stability.identity import SAME_ROWS, Identity

__all__ = ["LEAST_SHARE", "EvaluationProgress", "cross_validate", "read_shares"]

# "medium", the 40th of the paper's floors, is at 0.42 to 0.51 of the largest stability on the
# tables that were looked at, and "high" at 0.89 to 0.96.
LEAST_SHARE = 0.5
SOON = 1e-3  # seconds for a fold that comes when the time is over: it takes what is at hand


@dataclass(frozen=True)
class EvaluationProgress:
    """Where an evaluation stands after a floor of a fold, or a learner on a fold.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.evaluation import evaluate
    >>> X = {"age": range(24), "smoker": [False, True] * 12}
    >>> y = [1.0, 5.0, 1.0, 6.0] * 6
    >>> model = MossRegressor(2, max_depth=1, n_trees=20)
    >>> found = evaluate({"MOSS": model}, X, y, cv=2, n_jobs=1, progress=print)
    MOSS, fold 0, ... s
    MOSS, fold 1, ... s
    """

    done: int  #: steps that are finished
    total: int  #: folds times points, or times learners
    fold: int  #: of the last step
    seconds: float  #: since the start
    learner: str | None = None  #: of the last step, where learners are compared

    def __str__(self) -> str:
        who = "" if self.learner is None else f"{self.learner}, "
        return f"{who}fold {self.fold}, {self.seconds:.1f} s"


Listener = Callable[[EvaluationProgress], object]


def read_shares(points: int | Iterable[float]) -> FloatArray:
    """Return shares of the largest stability, descending: equal steps to a half, or those given."""
    if not isinstance(points, Iterable):
        return np.linspace(1.0, LEAST_SHARE, check_integer("points", points))
    shares = sorted({check_number("points", share) for share in points}, reverse=True)
    if not shares or shares[0] > 1:
        raise InvalidParameter(
            f"points is {points!r}; pass a number of them, or shares of the largest stability in "
            "(0, 1]."
        )
    return np.array(shares)


def cross_validate(
    model: Any,
    rows: Rows,
    splits: Sequence[Split],
    shares: FloatArray,
    *,
    gap: float,
    time_limit: float | None = None,
    identity: Identity = "codes",
    overlap: float = SAME_ROWS,
    n_jobs: int | None = None,
    progress: Listener | None = None,
    verbose: bool = False,
) -> FrontierEvaluation:
    """Evaluate a `MossEstimator` at shares of the largest stability; it stays as it is."""
    if model.solver != "coordinate-descent":
        compile_kernels()  # not in several threads, nor within the limit of time
    # A generator gives another seed at each call: all folds have the first one.
    seed = resolve_seed(model.random_state)
    threads = resolve_n_jobs(n_jobs)
    jobs = min(threads, len(splits))
    run = _Run(model, rows, shares, gap, seed, time_limit, len(splits), jobs, threads // jobs)
    with progress_line(verbose, len(splits) * len(shares), "evaluation") as show:
        run.listeners = [each for each in (progress, show) if each is not None]
        found = run.follow(splits)
    rules = frozenset[Rule]().union(*(candidates.pool.rules for candidates, _ in found))
    return FrontierEvaluation.of(
        [points for _, points in found],
        n_candidates=len(rules),
        gap=gap,
        seconds=run.clock.elapsed(),
        identity=identity,
        table=rows.table if identity == "rows" else None,
        overlap=overlap,
    )


# --- the run --------------------------------------------------------------------------------------


@dataclass
class _Run:
    """Folds being evaluated, on threads, within one budget of time."""

    model: Any  # a MossEstimator, whose module imports this one
    rows: Rows
    shares: FloatArray
    gap: float
    seed: int
    time_limit: float | None
    folds: int
    jobs: int  # folds at a time
    n_jobs: int  # threads of each
    listeners: list[Listener] = field(default_factory=list)
    clock: Clock = field(default_factory=lambda: Clock(None))
    limit: Clock | None = None  # from the first choice on: compiling the forest does not count
    begun: int = 0
    done: dict[int, int] = field(default_factory=dict)  # points, by fold
    lock: Lock = field(default_factory=Lock)
    stop: Event = field(default_factory=Event)

    def follow(self, splits: Sequence[Split]) -> list[tuple[Candidates, list[FoldPoint]]]:
        """Return what each fold finds."""
        return over_folds(self.evaluate, splits, self.jobs, self.stop)

    def evaluate(self, fold: int, train: Any, test: Any) -> tuple[Candidates, list[FoldPoint]]:
        """Find rules in the training rows, choose at all floors, and predict the test rows."""
        training = self.rows.part(train)
        search = {**generation(self.model), "random_state": self.seed, "n_jobs": self.n_jobs}
        candidates = find_in_rows(training, **search)
        model = copy(self.model)
        model.verbose = 0
        model._target_name = None  # noqa: SLF001  rules of folds are compared, not shown
        model._take(candidates)  # noqa: SLF001  what fit does, without its choice
        solutions = self._solve(fold, model)
        score = _Scorer(model, self.rows, test)
        points = [
            score(fold, float(share), solution)
            for share, solution in zip(self.shares, solutions, strict=True)
        ]
        self._tell(fold, len(self.shares))
        return candidates, points

    def _solve(self, fold: int, model: Any) -> list[Solution]:
        """Return the choice at each share, neighbours from one search."""
        problem = model.problem_
        if problem is None:
            return [model._nothing()] * len(self.shares)  # noqa: SLF001
        floors = [at_stability(problem, float(share)).min_stability for share in self.shares]

        def look(_: Snapshot) -> None:
            if self.stop.is_set():
                raise KeyboardInterrupt

        def tell(state: FrontierProgress) -> None:
            self._tell(fold, state.done)

        frontier = model._solve_floors(  # noqa: SLF001  as frontier does
            sorted(set(floors), reverse=True),
            self.gap,
            time_budget=self._budget(),
            n_jobs=self.n_jobs,
            watch=look,
            progress=tell,
        )
        by_floor = {entry.floor: entry.solution for entry in frontier.entries}
        found = [by_floor.get(floor) for floor in floors]
        if any(each is None or each.status is Status.INTERRUPTED for each in found):
            raise KeyboardInterrupt  # which a sweep takes for a wish to have what there is
        return [each for each in found if each is not None]

    def _budget(self) -> float | None:
        """Return the seconds for one more fold: its part of what is left."""
        if self.time_limit is None:
            return None
        with self.lock:
            self.limit = self.limit or Clock(self.time_limit)
            rounds = -(-(self.folds - self.begun) // self.jobs)
            self.begun += 1
        return max(SOON, self.limit.left() / rounds)

    def _tell(self, fold: int, done: int) -> None:
        with self.lock:
            self.done[fold] = done
            state = EvaluationProgress(
                done=sum(self.done.values()),
                total=self.folds * len(self.shares),
                fold=fold,
                seconds=self.clock.elapsed(),
            )
            for listener in self.listeners:
                listener(state)


class _Scorer:
    """Predicts the test rows of a fold, once for each selection."""

    def __init__(self, model: Any, rows: Rows, test: Any) -> None:
        self.model = model
        self.table = take_rows(rows.table, test)
        self.target = rows.target[test]
        self.weights = None if rows.weights is None else rows.weights[test]
        self.known: dict[bytes, tuple[RuleSet, float, float]] = {}

    def __call__(self, fold: int, share: float, solution: Solution) -> FoldPoint:
        rules, r2, error = self._score(solution)
        problem = self.model.problem_
        largest = problem.max_stability if problem is not None else 0
        return FoldPoint(
            fold=fold,
            share=share,
            stability=solution.stability / largest if largest else 1.0,
            loss=solution.loss,
            gap=solution.gap,
            status=solution.status,
            r2=r2,
            error=error,
            rules=rules,
        )

    def _score(self, solution: Solution) -> tuple[RuleSet, float, float]:
        model = self.model
        if not solution.has_selection:
            return model._make_rules(model._nothing()), float("nan"), float("nan")  # noqa: SLF001
        key = solution.support.tobytes()
        if key not in self.known:
            rules = model._make_rules(solution)  # noqa: SLF001
            found = model._measure(self.target, rules.predict(self.table), self.weights)  # noqa: SLF001
            self.known[key] = (rules, *found)
        return self.known[key]
