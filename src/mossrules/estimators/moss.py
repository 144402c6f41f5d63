"""What `MossRegressor` and `MossClassifier` share: parameters, the choice, and the trade-off."""

from __future__ import annotations

import os
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self, get_args

from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from mossrules import defaults
from mossrules._checks import check_integer
from mossrules._display import model_html, write_report
from mossrules._files import check_place
from mossrules._typing import FloatArray, IntArray
from mossrules._warn import warn_user
from mossrules.candidates.search import Candidates
from mossrules.data.canonical_order import Rows
from mossrules.estimators.base import RuleEstimator
from mossrules.estimators.cross_validation import cross_validate, read_shares
from mossrules.estimators.evaluated import FrontierEvaluation
from mossrules.estimators.folds import split_rows
from mossrules.exceptions import InvalidParameter, SolveLimitWarning
from mossrules.frontier import Frontier, solve_frontier
from mossrules.frontier.sweep import Listener
from mossrules.learning.constraints import Constraint, check_constraints
from mossrules.learning.fitting import no_frontier
from mossrules.learning.stability_levels import (
    AUTO,
    Stability,
    Ties,
    at_stability,
    check_choice,
    check_stability,
    floors_of,
    method_for,
)
from mossrules.model import RuleSet
from mossrules.solver import Options, Snapshot, Solution, Status, solve
from mossrules.solver.options import Method
from mossrules.solver.problems.selection import SelectionProblem

__all__ = ["MossEstimator"]

AUTO_POINTS = 11  # shares that "auto" looks at: from 1 to 0.5 in steps of 0.05
AUTO_GAP = 0.01  # of its choices on folds


class MossEstimator(RuleEstimator):
    """Chooses the best selection that is stable enough; a subclass says by which loss."""

    solution_: Solution
    problem_: SelectionProblem | None
    evaluation_: FrontierEvaluation

    def __init__(
        self,
        max_rules: int = defaults.MAX_RULES,
        *,
        stability: Stability = defaults.STABILITY,
        cv: Any = defaults.FOLDS_OF_A_CHOICE,
        ties: Ties = "keep",
        gamma: float | Literal["auto"] = "auto",
        n_trees: int = defaults.N_TREES,
        max_depth: int = defaults.MAX_DEPTH,
        n_bins: int = defaults.N_BINS,
        max_features: float = defaults.MAX_FEATURES,
        inner_nodes: bool = False,
        generator: Any = "forest",
        solver: Method = "auto",
        gap: float = defaults.GAP,
        time_limit: float | None = defaults.TIME_LIMIT,
        refit: bool = True,
        constraints: Sequence[Constraint] | Constraint | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_rules = max_rules
        self.stability = stability
        self.cv = cv
        self.ties = ties
        self.gamma = gamma
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.n_bins = n_bins
        self.max_features = max_features
        self.inner_nodes = inner_nodes
        self.generator = generator
        self.solver = solver
        self.gap = gap
        self.time_limit = time_limit
        self.refit = refit
        self.constraints = constraints
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # --- what depends on the loss ---------------------------------------------------------------

    @abstractmethod
    def _pose(self, candidates: Candidates) -> SelectionProblem:
        """Return the problem of choosing among candidates, with no floor yet."""

    @abstractmethod
    def _nothing(self) -> Solution:
        """Return the only selection there is where there are no candidates."""

    @abstractmethod
    def _make_rules(self, solution: Solution) -> RuleSet:
        """Return a selection of the candidates as a rule set."""

    @abstractmethod
    def _measure(
        self, target: FloatArray, predicted: FloatArray, weights: FloatArray | None
    ) -> tuple[float, float]:
        """Return the share explained, at most 1, and the mean loss of predictions."""

    # --- fitting --------------------------------------------------------------------------------

    def _take(self, candidates: Candidates) -> None:
        """Set what does not depend on the choice."""
        super()._take(candidates)
        self._report(repr(candidates))
        if hasattr(self, "evaluation_"):
            del self.evaluation_  # of an earlier fit
        self._frontiers: dict[tuple[object, ...], Frontier] = {}
        self.problem_ = None
        if len(candidates) > 0:
            self.problem_ = self._pose(candidates)

    def _check_parameters(self) -> None:
        check_integer("max_rules", self.max_rules)
        check_stability(self.stability)
        check_choice("ties", self.ties, get_args(Ties))
        check_choice("solver", self.solver, get_args(Method))
        if isinstance(self.gamma, str) and self.gamma != "auto":
            raise InvalidParameter(f"gamma is {self.gamma!r}; pass a positive number or 'auto'.")
        check_constraints(self.constraints)
        self._options(self.gap)

    @property
    def _needs_rows(self) -> bool:
        return self.stability == AUTO

    def _learn(self, rows: Rows | None) -> None:
        """Choose rules of the stability asked for."""
        if self.problem_ is None:
            self._settle(self._nothing())
            return
        options = self._options(self.gap)
        stability = self._cross_validate(rows) if self.stability == AUTO else self.stability
        self.problem_ = at_stability(self.problem_, stability)
        solution = solve(self.problem_, method_for(self.problem_, stability, self.solver), options)
        if solution.status not in (Status.OPTIMAL, Status.HEURISTIC):
            warn_user(
                f"The search for rules ended ({solution.status.value}) after "
                f"{solution.report.seconds:.1f} s with a gap of {solution.gap:.2%} left, where "
                f"{options.gap:.2%} was asked for; raise time_limit, or gap.",
                SolveLimitWarning,
            )
        self._settle(solution)

    def _cross_validate(self, rows: Rows | None) -> float:
        """Return the share that "auto" stands for, and keep what led to it."""
        if rows is None:
            raise InvalidParameter(
                "stability is 'auto', which needs rows to cross-validate, and there are candidates "
                "only; use fit, or pass a share such as that of evaluation_.choose()."
            )
        found = cross_validate(
            self,
            rows,
            split_rows(rows, self.cv, fewer=True, stratify=is_classifier(self)),
            read_shares(AUTO_POINTS),
            gap=max(self.gap, AUTO_GAP),
            time_limit=self.time_limit,
            n_jobs=self.n_jobs,
            verbose=self.verbose > 0,
        )
        self.evaluation_ = found
        self._report(repr(found))
        stopped = sum(point.stopped for point in found.points)
        if stopped:
            warn_user(
                f"Cross-validation for stability='auto' ended {stopped} of its "
                f"{found.n_folds * len(found.points)} searches before a gap of {found.gap:.2%} was "
                "proven; raise time_limit, or gap.",
                SolveLimitWarning,
            )
        return found.choose().share

    def _settle(self, solution: Solution) -> None:
        """Set what depends on the choice."""
        self.solution_ = solution
        self.rules_ = self._make_rules(solution)
        self._report(repr(solution))

    def _options(self, gap: float) -> Options:
        def report(snapshot: Snapshot) -> None:
            self._report(str(snapshot))

        loud = self.verbose > 1
        return Options(gap=gap, time_limit=self.time_limit, progress=report if loud else None)

    def _report(self, line: str) -> None:
        if self.verbose > 0:
            sys.stderr.write(f"{line}\n")

    # --- the trade-off --------------------------------------------------------------------------

    def frontier(
        self,
        points: int | Iterable[float] | Literal["complete"] = defaults.FRONTIER_POINTS,
        gap: float = defaults.FRONTIER_GAP,
        *,
        time_budget: float | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Listener | None = None,
    ) -> Frontier:
        """Return the best fit at many levels of stability, among the candidates that `fit` found.

        Parameters
        ----------
        points : int, shares or "complete", default=50
            How many floors of the paper's sequence, from the most stable down; or shares of the
            largest stability, in (0, 1]; "complete" is every point that no other beats in both
            stability and fit (ask for `gap=0` with it).
        gap : float, default=0.01
            Largest relative distance of each point from its optimum.
        time_budget : float, optional
            Seconds for all floors together.
        checkpoint, progress
            A file to go on from after a stop, and a function to call after each floor, as in
            `solve_frontier`.
        """
        check_is_fitted(self)
        if isinstance(points, Iterable) and not isinstance(points, str):
            points = tuple(read_shares(points).tolist())
        elif points != "complete":
            check_integer("points", points)
        key = (points, gap, time_budget)
        if key in self._frontiers:
            return self._frontiers[key]
        found = self._solve_frontier(*key, checkpoint=checkpoint, progress=progress)
        if not found.interrupted:  # then the same call may do better
            self._frontiers[key] = found
        return found

    def _solve_frontier(
        self,
        points: int | tuple[float, ...] | Literal["complete"],
        gap: float,
        time_budget: float | None,
        **record: Any,
    ) -> Frontier:
        if self.problem_ is None:
            return no_frontier(self.solution_, self.max_rules)
        floors: Sequence[int] | IntArray | Literal["complete"] = "complete"
        if isinstance(points, tuple):
            asked = (at_stability(self.problem_, share).min_stability for share in points)
            floors = list(dict.fromkeys(asked))  # few rules have few levels of stability
        elif points != "complete":
            floors = floors_of(self.problem_)[:points]
        return self._solve_floors(
            floors,
            gap,
            time_budget=time_budget,
            n_jobs=self.n_jobs,
            verbose=self.verbose > 0,
            **record,
        )

    def _solve_floors(
        self,
        floors: Sequence[int] | IntArray | Literal["complete"],
        gap: float,
        *,
        watch: Callable[[Snapshot], object] | None = None,
        **how: Any,
    ) -> Frontier:
        """Return the choices at many floors among the candidates; `watch` may interrupt them."""
        assert self.problem_ is not None  # noqa: S101  tells mypy what the callers know
        options = self._options(gap)
        if watch is not None:
            options = replace(options, progress=watch)
        return solve_frontier(self.problem_, floors, self.solver, options, **how)

    def __getattr__(self, name: str) -> Any:
        # Not a property: scikit-learn reads all of those to show a model in a notebook.
        if name == "frontier_" and "_frontiers" in vars(self):
            return self.frontier()
        if name == "feature_importances_":  # Python looks here when its property finds no fit
            check_is_fitted(self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def select(
        self,
        *,
        stability: Stability | None = None,
        index: int | None = None,
        max_loss: float | None = None,
        frontier: Frontier | None = None,
    ) -> Self:
        """Return the model at another point of the trade-off; give exactly one of the first three.

        No forest is grown: candidates are those that `fit` found, and this model stays as it is.

        Parameters
        ----------
        stability : {"high", "medium", "low"} or float in (0, 1]
            The model that `fit` finds with this parameter.
        index : int
            Position on the frontier, the most stable first.
        max_loss : float
            Of the frontier's points within this loss, the most stable.
        frontier : Frontier, optional
            Where `index` and `max_loss` look; by default `frontier_`.
        """
        check_is_fitted(self)
        if sum(value is not None for value in (stability, index, max_loss)) != 1:
            raise InvalidParameter("Give exactly one of stability, index and max_loss.")
        chosen = copy(self)
        if stability is not None:
            check_stability(stability)
            chosen.stability = stability
            chosen._learn(None)  # noqa: SLF001  one of this class
            return chosen
        frontier = self.frontier() if frontier is None else frontier
        solution = frontier.at(index=index, max_loss=max_loss)
        if self.problem_ is not None:
            # Its certificate is of the floor at which it was found, which it may well exceed.
            floors = {id(entry.solution): entry.floor for entry in frontier.entries}
            chosen.problem_ = self.problem_.at(floors[id(solution)])
            chosen.stability = frontier.share(solution.stability)
        chosen._settle(solution)  # noqa: SLF001
        return chosen

    # --- showing --------------------------------------------------------------------------------

    def report(self, path: str | os.PathLike[str], X: Any = None, y: Any = None, **how: Any) -> Any:
        """Write one page, for any browser, on which to choose a point of the trade-off.

        The file stands alone: it needs no network, and no row of the data is in it.

        Parameters
        ----------
        path : where to write it
        X, y : the rows of `fit`
            With them, the page has a summary of the data, and what each point is worth on folds.
        how
            See `mossrules.display.report.collect`: `cv`, `points`, `learners`, `title` and more.

        Returns
        -------
        ReportData
            What the page shows.
        """
        check_place(Path(path))
        return write_report(self, path, X, y, **how)

    def _html_repr(self) -> str:
        """Return what a notebook shows: of a fitted model, its rules."""
        if not hasattr(self, "rules_"):
            unfitted: str = super()._html_repr()
            return unfitted
        return model_html(self)
