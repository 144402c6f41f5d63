"""The trade-off out of sample: on each fold, candidates are found once and chosen at many floors.

`evaluate_frontier` is for users and reads what they give; `cross_validate` does the work, for it
and for `stability="auto"`. A fold is fitted by the steps of `learning`, without an estimator.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mossrules import defaults
from mossrules._common import cached_property, check_listener, check_number
from mossrules._deprecated import old_parameters
from mossrules._refusals import names_input
from mossrules._typing import FloatArray
from mossrules.budget import Budget, read_budget
from mossrules.candidates.rules import Rule
from mossrules.candidates.search import Candidates, numbering_of, resolve_seed
from mossrules.data.columns import Label
from mossrules.data.labels import python_label
from mossrules.data.outcome import outcome_place
from mossrules.data.rows import Rows, read_rows
from mossrules.data.table import Table, take_rows
from mossrules.evaluation.agreement import SAME_ROWS, Identity, check_identity
from mossrules.evaluation.folds import FoldRun, Listener, Split, split_rows
from mossrules.evaluation.frontier_evaluation import FoldPoint, FrontierEvaluation
from mossrules.exceptions import UnsupportedType
from mossrules.frontier import FrontierProgress
from mossrules.learning.fit import Settings, build_problem, find_in_rows, rule_set_of, solve_floors
from mossrules.learning.log_loss import LogLoss
from mossrules.learning.method import RuleMethod
from mossrules.learning.stability_levels import at_stability, read_shares
from mossrules.model.ruleset import RuleSet
from mossrules.solver import Snapshot, Solution, Status
from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.search.branch_and_bound import compile_kernels

__all__ = ["cross_validate", "evaluate_frontier"]


@old_parameters({"time_limit": "time_budget"})
@names_input("X")
def evaluate_frontier(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = defaults.FOLDS,
    points: int | Iterable[float] = defaults.FRONTIER_POINTS,
    groups: Any = None,
    sample_weight: Any = None,
    identity: Identity = defaults.IDENTITY,
    overlap: float = SAME_ROWS,
    gap: float = defaults.FOLD_GAP,
    time_budget: float | Budget | None = None,
    n_jobs: int | None = None,
    progress: Listener | None = None,
    verbose: bool = False,
) -> Any:
    """Cross-validate the trade-off: R2 and the recurrence of the rules, at each of its points.

    On each fold, candidates are found once, and the choices at all points share one search.

    A point is a share of the largest stability score that rules of a fold can have. The paper takes
    the i-th of the floors of each fold; but how far down that is depends on the counts of that fold
    alone. A share means the same in all of them, and on all rows: `MossRegressor(stability=share)`
    is the model whose accuracy and recurrence a point estimates.

    Parameters
    ----------
    estimator : MossRegressor or MossClassifier
        Its `stability` is not used, and it is not fitted. For classes, `r2` is the share of the
        log-loss that is explained, and `error` the log-loss.
    X, y, sample_weight, groups : as in `MossRegressor.fit`
        Weights count on test rows too. Rows of a group are in the same fold.
    cv : int, splitter of scikit-learn, or pairs of training and test rows, default=10
        A number of folds shuffles the rows, always in the same way, whatever the order in which
        they are given. Folds of a classifier have equal shares of both classes, as far as groups
        allow. For rows in time, pass `TimeSeriesSplit`.
    points : int or shares, default=50
        How many points, in equal steps from 1 to 0.5 (from the most stable rules to about the
        paper's "medium"), or with floor="each" in equal ratios from 1 to 0.05; or the shares, in
        (0, 1].
    identity, overlap
        When rules of two folds count as the same, as in `mossrules.stability.dice`; "rows" looks at
        all rows of X.
    gap : float, default=0.05
        Largest optimality gap of each rule set of a fold. A closer proof changes what is measured
        by less than folds differ, and takes many times as long (docs/choosing.md).
    time_budget : float, optional
        Seconds for all folds (and classes) together, shared among them, beside those that the
        estimator allows each search. Searches that run out of either have the best rule set found
        so far with a bound, and count as `stopped`; `cut_short` says so in a sentence. Growing
        trees is not cut short.
    n_jobs : int or None, default=None
        Threads, over folds first; None uses all cores. The result does not depend on it, unless
        the time is over.
    progress
        Called with an `EvaluationProgress` after each step.
    verbose
        Whether to show a line of progress in the terminal.

    Returns
    -------
    FrontierEvaluation
        Of more than two classes, a dict with that of each against all others.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mossrules import MossRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = MossRegressor(max_rules=5, n_trees=100)
    >>> evaluation = evaluate_frontier(model, X, y, cv=5, points=[1.0, 0.9, 0.7])
    >>> evaluation.shares
    array([1. , 0.9, 0.7])
    >>> best = evaluation.choose("best")
    >>> chosen = model.set_params(stability=best.share).fit(X, y)
    """
    if not isinstance(estimator, RuleMethod) or not hasattr(estimator, "select"):
        raise UnsupportedType(
            f"estimator is a {type(estimator).__name__}; pass a MossRegressor or MossClassifier, "
            "which have a trade-off to look at."
        )
    check_listener(progress, "EvaluationProgress")
    check_identity(identity, overlap)
    read_budget(time_budget)  # which refuses what is none
    check_number("gap", gap, minimum=0.0)
    estimator.check_parameters()
    shares = read_shares(points, estimator.settings().floor)
    found: dict[Label | None, FrontierEvaluation] = {}
    asked = _read_rows(estimator, X, y, sample_weight, groups)
    if any(settings.solver != "coordinate-descent" for settings, _ in asked.values()):
        compile_kernels()  # not in several threads, nor on anyone's time
    budget = read_budget(time_budget)
    for number, (label, (settings, given)) in enumerate(asked.items()):
        # Folds go by the numbers of rows too.
        rows = given.numbered(numbering_of(settings.search.get("generator")))
        found[label] = cross_validate(
            settings.but(gap=gap, n_jobs=n_jobs),
            rows,
            split_rows(rows, cv, stratify=isinstance(settings.objective, LogLoss)),
            shares,
            time_budget=budget.next_of(len(asked) - number),
            identity=identity,
            overlap=overlap,
            progress=progress,
            verbose=verbose,
        )
    if None in found:
        return found[None]
    return {label: each for label, each in found.items() if label is not None}


def _read_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any
) -> dict[Label | None, tuple[Settings, Rows]]:
    """Return the settings of a fit and the rows for it, by class where there are several."""
    settings = estimator.settings()
    if not isinstance(settings.objective, LogLoss):
        return {None: (settings, read_rows(X, y, sample_weight, groups, whole=True))}
    how = {"of_classes": True, "class_weight": estimator.class_weight, "whole": True}
    rows = read_rows(X, y, sample_weight, groups, **how)
    place = outcome_place(rows.classes, estimator.outcome)
    labels = [python_label(label) for label in rows.classes]
    if len(labels) > 2:
        return {
            label: (estimator.member(label).settings(), rows.one_vs_rest(number))
            for number, label in enumerate(labels)
        }
    outcome = replace(settings.objective, outcome=labels[place], events=None)
    return {None: (settings.but(objective=outcome), rows.one_vs_rest(place))}


def cross_validate(
    settings: Settings,
    rows: Rows,
    splits: Sequence[Split],
    shares: FloatArray,
    *,
    time_budget: Budget | None = None,
    identity: Identity = defaults.IDENTITY,
    overlap: float = SAME_ROWS,
    progress: Listener | None = None,
    verbose: bool = False,
) -> FrontierEvaluation:
    """Evaluate a fit at shares of the largest stability, in the time that all folds share."""
    if settings.solver != "coordinate-descent":
        compile_kernels()  # not in several threads, nor within the limit of time
    budget = Budget() if time_budget is None else time_budget
    run = FoldRun(splits, len(shares), settings.n_jobs, budget=budget)
    # A generator gives another seed at each call: all folds have the first one.
    seed = resolve_seed(settings.search.get("random_state"))
    search = {**settings.search, "random_state": seed, "n_jobs": run.threads}
    # Rules of folds are compared, not shown: they need no name of the target.
    settings = settings.but(search=search, target=None, n_jobs=run.threads)
    work = _FoldWork(run, settings, rows, shares)
    with run.shown(progress, verbose=verbose):
        folds = run.map(work)
    rules = frozenset[Rule]().union(*(candidates.pool.rules for candidates, _ in folds))
    return FrontierEvaluation.of(
        [points for _, points in folds],
        n_candidates=len(rules),
        gap=settings.gap,
        seconds=run.seconds,
        identity=identity,
        table=rows.table if identity == "rows" else None,
        overlap=overlap,
    )


# --- a fold ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _FoldWork:
    """What is done on a fold: find rules in the training rows, choose, and predict the others."""

    run: FoldRun
    settings: Settings
    rows: Rows
    shares: FloatArray

    def __call__(self, fold: int, train: Any, test: Any) -> tuple[Candidates, list[FoldPoint]]:
        """Return the candidates of a fold, and what it has at each share."""
        candidates = find_in_rows(self.rows.take(train), **self.settings.search)
        problem = build_problem(candidates, self.settings)
        solutions = self._solve(fold, candidates, problem)
        score = _Scorer(self.settings, candidates, problem, self.rows, test)
        points = [
            score(fold, float(share), solution)
            for share, solution in zip(self.shares, solutions, strict=True)
        ]
        self.run.tell(fold, len(self.shares))
        return candidates, points

    def _solve(
        self, fold: int, candidates: Candidates, problem: SelectionProblem | None
    ) -> list[Solution]:
        """Return the choice at each share, neighbours from one search."""
        if problem is None:
            return [self.settings.objective.null_solution(candidates)] * len(self.shares)
        floors = [at_stability(problem, float(share)).min_stability for share in self.shares]

        def look(_: Snapshot) -> None:
            self.run.check()

        def tell(state: FrontierProgress) -> None:
            self.run.tell(fold, state.done)

        frontier = solve_floors(
            problem,
            sorted(set(floors), reverse=True),
            self.settings,
            self.settings.gap,
            time_budget=self.run.parts[fold],
            watch=look,
            progress=tell,
        )
        by_floor = {entry.floor: entry.solution for entry in frontier.entries}
        solutions = [by_floor[floor] for floor in floors if floor in by_floor]
        if len(solutions) < len(floors) or any(
            solution.status is Status.INTERRUPTED for solution in solutions
        ):
            raise KeyboardInterrupt  # which a sweep takes for a wish to have what there is
        return solutions


@dataclass(frozen=True)
class _Scorer:
    """Predicts the test rows of a fold, once for each selection."""

    settings: Settings
    candidates: Candidates
    problem: SelectionProblem | None
    rows: Rows
    test: Any
    # Neighbouring points often have the same rules: they are refitted and scored once.
    known: dict[bytes, tuple[RuleSet, float, float]] = field(default_factory=dict)

    def __call__(self, fold: int, share: float, solution: Solution) -> FoldPoint:
        rules, r2, error = self._score(solution)
        largest = self.problem.max_stability if self.problem is not None else 0
        return FoldPoint(
            fold=fold,
            share=share,
            stability=min(1.0, solution.stability / largest) if largest else 1.0,
            loss=solution.loss,
            gap=solution.gap,
            status=solution.status,
            r2=r2,
            error=error,
            rules=rules,
        )

    def _score(self, solution: Solution) -> tuple[RuleSet, float, float]:
        objective, parts = self.settings.objective, (self.candidates, self.problem)
        if not solution.has_selection:
            nothing = objective.null_solution(self.candidates)
            return rule_set_of(*parts, nothing, self.settings), float("nan"), float("nan")
        key = solution.support.tobytes()
        if key not in self.known:
            rules = rule_set_of(*parts, solution, self.settings)
            weights = None if self.rows.weights is None else self.rows.weights[self.test]
            score = objective.score(
                self.candidates, self.rows.target[self.test], rules.predict(self.table), weights
            )
            self.known[key] = (rules, *score)
        return self.known[key]

    @cached_property
    def table(self) -> Table:
        """The test rows."""
        return take_rows(self.rows.table, self.test)
