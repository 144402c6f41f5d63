"""A fit, step by step: rows -> candidates -> problem -> solution -> rule set.

No scikit-learn here: estimators, evaluation, report and command line all call these functions, and
none of them does a step by itself. What depends on the loss is asked of an `Objective`. Where there
is nothing to find, there are no candidates, and no error: the mean is a model too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np

from mossrules import defaults
from mossrules._common import MOST_POINTS, check_choice, check_flag, check_integer, check_number
from mossrules._refusals import names_input
from mossrules._typing import IntArray
from mossrules.budget import Budget, read_budget
from mossrules.candidates.cut_points import read_cuts
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.enough_trees import LEAST_TREES
from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.search import Candidates, find_candidates, numbering_of
from mossrules.constraints.compile import check_constraints
from mossrules.data.chunks import resolve_n_jobs
from mossrules.data.rows import Rows, read_rows
from mossrules.exceptions import InvalidParameter, InvalidTable, SolveLimitWarning, warn_user
from mossrules.frontier.near import NearFrontier
from mossrules.frontier.points import FrontierPoint
from mossrules.frontier.result import Frontier
from mossrules.frontier.sweep import solve_frontier
from mossrules.learning.near import check_keep, keep_approved, near_frontier_of, near_sentence
from mossrules.learning.stability_levels import (
    AUTO,
    Stability,
    Ties,
    at_stability,
    check_stability,
    effective_max_rules,
    floor_in_words,
    method_for,
    read_shares,
    stability_floors,
)
from mossrules.model.rulesets import read_model
from mossrules.solver.methods import solve
from mossrules.solver.options import Method, Options, Snapshot
from mossrules.solver.problems.selection import FloorKind
from mossrules.solver.result import Solution, Status
from mossrules.statistics import Statistics

if TYPE_CHECKING:
    from mossrules.candidates.approved import ApprovedRules
    from mossrules.learning.objective import Objective
    from mossrules.model.ruleset import RuleSet
    from mossrules.solver.problems.selection import SelectionProblem

__all__ = [
    "FittedRules",
    "Points",
    "Settings",
    "build_problem",
    "candidates_for",
    "choose_rules",
    "find_in_rows",
    "fit_rules",
    "frontier_without_rules",
    "no_candidates",
    "rule_set_of",
    "solve_floors",
    "target_varies",
]

# What an estimator looks for, with its default parameters.
SEARCH: dict[str, Any] = {
    "n_trees": defaults.N_TREES,
    "max_depth": defaults.MAX_DEPTH,
    "n_bins": defaults.N_BINS,
    "cuts": defaults.CUTS,
    "max_features": defaults.MAX_FEATURES,
    "inner_nodes": defaults.INNER_NODES,
    "max_overlap": defaults.MAX_OVERLAP,
    "min_coverage": defaults.MIN_COVERAGE,
    "min_tree_frequency": defaults.MIN_TREE_FREQUENCY,
    "generator": defaults.GENERATOR,
}

Points = int | Iterable[float] | Literal["complete"]


@dataclass(frozen=True)
class Settings:
    """All parameters of a fit; those of `MossRegressor` have the same names and meanings.

    `search` are the parameters of the search for candidates, as `find_candidates` has them.
    """

    objective: Objective
    max_rules: int = defaults.MAX_RULES
    stability: Stability = defaults.STABILITY
    floor: FloorKind = defaults.FLOOR
    ties: Ties = "keep"
    gamma: float | Literal["auto"] = "auto"
    solver: Method = "auto"
    gap: float = defaults.GAP
    time_limit: float | None = defaults.TIME_LIMIT
    time_budget: float | None = None
    refit: bool = True
    constraints: Any = None
    near: ApprovedRules | None = None
    keep: float | None = None  # share of the rules in `near`; None is the default
    search: Mapping[str, Any] = field(default_factory=dict)
    target: str | None = None  # name of the target's column, for people to read
    n_jobs: int | None = None

    def check(self) -> None:
        """Refuse settings that cannot be, before any work."""
        check_integer("max_rules", self.max_rules)
        check_flag("inner_nodes", self.search.get("inner_nodes", False))
        check_choice("floor", self.floor, get_args(FloorKind))
        check_stability(self.stability, self.floor)
        check_choice("ties", self.ties, get_args(Ties))
        check_choice("solver", self.solver, get_args(Method))
        if "cuts" in self.search:
            read_cuts(cuts_in_file(self.search["cuts"]))
        if not isinstance(self.gamma, str):
            check_number("gamma", self.gamma)
        elif self.gamma != "auto":
            raise InvalidParameter(f"gamma is {self.gamma!r}; pass a positive number or 'auto'.")
        if self.constraints is not None:
            check_constraints(self.constraints)
        self.objective.check()
        self.options()
        read_budget(self.time_budget)

    def options(self, gap: float | None = None, progress: Any = None) -> Options:
        """Return the options of a solve, with another gap where one is given."""
        gap = self.gap if gap is None else gap
        return Options(gap=gap, time_limit=self.time_limit, progress=progress)

    def but(self, **changes: Any) -> Self:
        """Return the settings with some of them changed."""
        return replace(self, **changes)


# What finds the stability that "auto" stands for. It is handed in, as it cross-validates:
# evaluation is a room above, and imports this one.
FindStability = Callable[[Settings, Budget], float]
AUTO_SHARE = 2 / 3  # of what is left of a fit's time: the final search has the rest


@dataclass(frozen=True, eq=False)
class FittedRules:
    """Rules that were chosen among candidates, with all that led to them."""

    settings: Settings
    candidates: Candidates
    problem: SelectionProblem | None  # what `solution` solves; None where there are no candidates
    solution: Solution
    rules: RuleSet
    # By what was asked: a frontier takes seconds, and `select`, `frontier_` and reports ask again.
    frontiers: dict[tuple[object, ...], Frontier] = field(default_factory=dict)

    def rule_set(self, solution: Solution) -> RuleSet:
        """Return another choice among the candidates as a rule set."""
        return rule_set_of(self.candidates, self.problem, solution, self.settings)

    @property
    def floor_sentence(self) -> str | None:
        """In how many trees each rule is, in plain words; None without a floor on each rule."""
        if self.problem is None:
            return None
        return floor_in_words(self.problem, self.candidates.pool.n_trees, self.solution.support)

    @property
    def near_sentence(self) -> str | None:
        """How many approved rules are kept, in plain words; None where none are approved."""
        return near_sentence(self)

    # --- the trade-off --------------------------------------------------------------------------

    def frontier(
        self,
        points: Points = defaults.FRONTIER_POINTS,
        gap: float = defaults.FRONTIER_GAP,
        *,
        time_budget: float | Budget | None = None,
        verbose: bool = False,
        **record: Any,
    ) -> Frontier:
        """Return the best fit at many stability targets; `record` is as in `solve_frontier`."""
        if isinstance(points, Iterable) and not isinstance(points, str):
            points = tuple(read_shares(points).tolist())
        elif points != "complete":
            points = check_integer("points", points, maximum=MOST_POINTS)
        key = (points, gap, time_budget.seconds if isinstance(time_budget, Budget) else time_budget)
        if key in self.frontiers:
            return self.frontiers[key]
        frontier = self._solve(points, gap, time_budget=time_budget, verbose=verbose, **record)
        if not frontier.interrupted:  # then the same call may do better
            self.frontiers[key] = frontier
        return frontier

    def _solve(
        self, points: int | tuple[float, ...] | Literal["complete"], gap: float, **how: Any
    ) -> Frontier:
        if self.problem is None:
            return frontier_without_rules(
                self.solution, self.settings.max_rules, self.settings.floor
            )
        floors: Sequence[int] | IntArray | Literal["complete"] = "complete"
        if isinstance(points, int) and self.problem.floor == "each":
            # So many neighbouring counts would end far above the stability that is asked for.
            points = tuple(read_shares(points, "each").tolist())
        if isinstance(points, tuple):
            asked = (at_stability(self.problem, share).min_stability for share in points)
            floors = list(dict.fromkeys(asked))  # neighbouring shares may round to one floor
        elif isinstance(points, int):
            floors = stability_floors(self.problem)[:points]
        return solve_floors(self.problem, floors, self.settings, gap, **how)

    def near_frontier(self, gap: float | None = None, **how: Any) -> NearFrontier:
        """Return what it costs to keep more approved rules; `how` is as in `solve_frontier`."""
        gap = self.settings.gap if gap is None else gap
        return near_frontier_of(
            self, lambda problem, floors: solve_floors(problem, floors, self.settings, gap, **how)
        )

    def at(
        self,
        *,
        stability: Stability | None = None,
        index: int | None = None,
        max_loss: float | None = None,
        keep: float | None = None,
        frontier: Frontier | None = None,
        watch: Callable[[Snapshot], object] | None = None,
    ) -> FittedRules:
        """Return what is chosen at another point of the trade-off, among the same candidates."""
        if sum(value is not None for value in (stability, index, max_loss, keep)) != 1:
            raise InvalidParameter("Give exactly one of stability, index, max_loss and keep.")
        if keep is not None:
            check_keep(keep, self.settings.near)
            return choose_rules(self.candidates, self.settings.but(keep=keep), watch=watch)
        if stability is not None:
            settings = self.settings.but(stability=stability)
            settings.check()
            chosen = choose_rules(self.candidates, settings, problem=self.problem, watch=watch)
            return replace(chosen, frontiers=self.frontiers)
        frontier = self.frontier() if frontier is None else frontier
        solution = frontier.at(index=index, max_loss=max_loss)
        if self.problem is None:
            return self._with(solution, None, self.settings)
        # Its certificate is of the floor at which it was found, which its stability may exceed.
        floors = {id(entry.solution): entry.floor for entry in frontier.entries}
        problem = self.problem.at(floors[id(solution)])
        share = frontier.share(solution.stability)
        return self._with(solution, problem, self.settings.but(stability=share))

    def _with(
        self, solution: Solution, problem: SelectionProblem | None, settings: Settings
    ) -> FittedRules:
        rules = rule_set_of(self.candidates, problem, solution, settings)
        return replace(self, settings=settings, problem=problem, solution=solution, rules=rules)


# --- candidates -----------------------------------------------------------------------------------


@names_input("X")
def candidates_for(
    X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **parameters: Any
) -> Candidates:
    """Return the candidates that an estimator finds: those that its `fit` chooses from.

    Unlike those of `find_candidates` they do not depend on the order of the rows, and where nothing
    can be found (a constant target, constant columns) there are none, without an error.

    Parameters
    ----------
    X, y, sample_weight, groups
        As in `MossRegressor.fit`.
    **parameters
        Of the search; see `search_parameters`. By default they are those of `MossRegressor`, and
        not those of `find_candidates`.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 2.0]
    >>> candidates = candidates_for(X, y, n_trees=20)
    >>> one, two = (MossRegressor(k).fit_candidates(candidates) for k in (1, 2))
    >>> len(one.rules_), len(two.rules_)
    (1, 2)
    """
    n_jobs = resolve_n_jobs(parameters.get("n_jobs"))
    rows = read_rows(X, y, sample_weight, groups, n_jobs=n_jobs)
    return find_in_rows(rows, **{**SEARCH, **parameters})


def cuts_in_file(cuts: Any) -> Any:
    """Return the model that is in a file where `cuts` is its path, else `cuts` itself."""
    is_path = isinstance(cuts, os.PathLike) or (isinstance(cuts, str) and cuts.endswith(".json"))
    return read_model(Path(cuts)) if is_path else cuts


def find_in_rows(
    rows: Rows,
    *,
    n_trees: int | Literal["auto"] = defaults.PLAIN_TREES,
    cuts: Any = defaults.PLAIN_CUTS,
    **parameters: Any,
) -> Candidates:
    """Return the candidates of rows that were read; none where there is nothing to find."""
    rows = rows.numbered(numbering_of(parameters.get("generator", defaults.GENERATOR)))
    if not target_varies(rows):
        return no_candidates(rows, n_trees)
    try:
        cuts = cuts_in_file(cuts)
        return find_candidates(rows, None, n_trees=n_trees, cuts=cuts, **parameters)
    except InvalidTable:
        # The table itself was checked when it was read: all its columns are constant, or no tree
        # found a split. The mean is the model then.
        return no_candidates(rows, n_trees)


def target_varies(rows: Rows) -> bool:
    """Whether the target differs among the rows that count beside the largest weight."""
    # Weights enter sums as integers on a grid; a row whose weight rounds to 0 there has no say.
    low, high = (0.0, 0.0) if rows.is_constant else rows.span
    return low < high


def no_candidates(rows: Rows, n_trees: int | Literal["auto"]) -> Candidates:
    """Return what is found where the target or all columns are constant: no rules."""
    n_trees = LEAST_TREES if isinstance(n_trees, str) else n_trees  # which are enough for nothing
    empty = np.empty(0)
    weights = np.ones(len(rows.target)) if rows.weights is None else rows.weights
    n = float(weights.sum())
    # sqrt(mean((y - mean)^2)), scaled by the largest distance, as squares of numbers above 1e154
    # overflow.
    apart = rows.target - rows.mean
    largest = float(np.abs(apart).max()) or 1.0
    scale = largest * float(np.sqrt(np.average((apart / largest) ** 2, weights=weights)))
    return Candidates(
        Binning(
            tuple(BinnedColumn(column.name, column.kind) for column in rows.columns),
            rows.named,
            rows.reading,
        ),
        CandidatePool((), (), n_trees),
        Statistics(
            G=np.empty((0, 0)),
            q=empty,
            yy=n if scale > 0 else 0.0,
            n=n,
            values=empty,
            counts=np.empty(0, dtype=np.int64),
            support=empty,
            target_mean=rows.mean,
            target_scale=scale,
        ),
    )


# --- the choice -----------------------------------------------------------------------------------


def fit_rules(
    rows: Rows,
    settings: Settings,
    progress: Callable[[Candidates | Solution], object] | None = None,
    *,
    find_stability: FindStability | None = None,
    watch: Callable[[Snapshot], object] | None = None,
) -> FittedRules:
    """Find candidates in rows, choose among them, and return the rule set with all that led to it.

    `progress` is called with the candidates and with the solution as they come; the rest is as in
    `choose_rules`.
    """
    tell = progress or (lambda _: None)
    budget = read_budget(settings.time_budget)
    candidates = find_in_rows(rows, **settings.search)
    tell(candidates)
    fitted = choose_rules(
        candidates, settings, find_stability=find_stability, watch=watch, budget=budget
    )
    tell(fitted.solution)
    return fitted


def build_problem(candidates: Candidates, settings: Settings) -> SelectionProblem | None:
    """Return the problem of choosing among candidates, with no floor yet; None without any."""
    if len(candidates) == 0:
        return None
    problem = settings.objective.build_problem(
        candidates,
        max_rules=effective_max_rules(candidates.pool.counts, settings.max_rules, settings.ties),
        gamma=settings.gamma,
        constraints=settings.constraints,
    )
    if settings.floor == "sum":
        return problem
    return keep_approved(problem.with_floor(settings.floor), candidates, settings)


def choose_rules(
    candidates: Candidates,
    settings: Settings,
    *,
    problem: SelectionProblem | None = None,
    find_stability: FindStability | None = None,
    watch: Callable[[Snapshot], object] | None = None,
    budget: Budget | None = None,
) -> FittedRules:
    """Choose rules of the stability asked for among candidates, and prove how good they are.

    Parameters
    ----------
    problem : that of `build_problem` where it is known, at any floor
    find_stability : what finds the stability that "auto" stands for, from the settings
    watch : called with snapshots of the search
    budget : what is left of the time of a fit; by default all of it
    """
    budget = read_budget(settings.time_budget) if budget is None else budget
    problem = build_problem(candidates, settings) if problem is None else problem
    if problem is None:
        if settings.near is not None:
            warn_user(
                "There is nothing to learn from these rows, so no approved rule is kept.",
                UserWarning,
            )
        solution = settings.objective.null_solution(candidates)
    else:
        settings = _with_stability(settings, find_stability, budget)
        problem = at_stability(problem, settings.stability)
        method = method_for(problem, settings.stability, settings.solver)
        options = settings.options(progress=watch)
        options = replace(options, time_limit=budget.limit(options.time_limit))
        solution = solve(problem, method, options)
        _warn_of_limits(solution, settings)
    rules = rule_set_of(candidates, problem, solution, settings)
    return FittedRules(settings, candidates, problem, solution, rules)


def rule_set_of(
    candidates: Candidates,
    problem: SelectionProblem | None,
    solution: Solution,
    settings: Settings,
) -> RuleSet:
    """Return a solution as a rule set, refitted if the settings say so."""
    return settings.objective.rule_set(
        candidates, solution, problem, refit=settings.refit, target=settings.target
    )


def solve_floors(
    problem: SelectionProblem,
    floors: Sequence[int] | IntArray | Literal["complete"],
    settings: Settings,
    gap: float,
    *,
    watch: Callable[[Snapshot], object] | None = None,
    **how: Any,
) -> Frontier:
    """Return the choices at many floors; `watch` may interrupt them."""
    options = settings.options(gap, watch)
    how = {"n_jobs": settings.n_jobs, **how}
    return solve_frontier(problem, floors, settings.solver, options, **how)


def _with_stability(
    settings: Settings, find_stability: FindStability | None, budget: Budget
) -> Settings:
    if settings.stability != AUTO:
        return settings
    if find_stability is None:
        raise InvalidParameter(
            "stability is 'auto', which needs rows to cross-validate, and there are candidates "
            "only; use fit, or pass a share such as that of evaluation_.choose()."
        )
    return settings.but(stability=find_stability(settings, budget.part(AUTO_SHARE)))


def _warn_of_limits(solution: Solution, settings: Settings) -> None:
    if solution.status in (Status.OPTIMAL, Status.HEURISTIC):
        return
    warn_user(
        f"The search for rules ended ({solution.status.value}) after "
        f"{solution.report.seconds:.1f} s with a gap of {solution.gap:.2%} left, where "
        f"{settings.gap:.2%} was asked for; raise "
        f"{'time_limit' if settings.time_budget is None else 'time_budget'}, or gap.",
        SolveLimitWarning,
    )


def frontier_without_rules(
    solution: Solution, max_rules: int, floor: FloorKind = defaults.FLOOR
) -> Frontier:
    """Return the frontier of a model without candidates: one point."""
    return Frontier(
        entries=(FrontierPoint(0, solution),),
        max_stability=0,
        null_loss=solution.loss,
        max_rules=max_rules,
        gamma=float("nan"),
        complete=True,
        floor=floor,
    )
