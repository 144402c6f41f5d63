"""`MossRegressor`: a short, stable rule set for a numeric target, as a scikit-learn estimator."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Literal, get_args

from sklearn.utils.validation import check_is_fitted

from mossrules._checks import check_integer
from mossrules._typing import IntArray
from mossrules.candidates import Candidates
from mossrules.constraints import Constraint, check_constraints
from mossrules.estimators.base import RuleRegressor
from mossrules.estimators.choices import (
    AUTO,
    Stability,
    Ties,
    at_stability,
    check_choice,
    check_stability,
    floors_of,
    method_for,
    pose_problem,
)
from mossrules.estimators.cross_validation import cross_validate, read_shares
from mossrules.estimators.evaluated import FrontierEvaluation
from mossrules.estimators.fitting import make_rules, no_frontier, no_rules
from mossrules.estimators.folds import split_rows
from mossrules.estimators.order import Rows
from mossrules.exceptions import InvalidParameter, SolveLimitWarning
from mossrules.frontier import Frontier, solve_frontier
from mossrules.frontier.progress import Listener
from mossrules.solver import Options, Problem, Snapshot, Solution, Status, solve
from mossrules.solver.options import Method

__all__ = ["MossRegressor"]

AUTO_POINTS = 11  # shares that "auto" looks at: from 1 to 0.5 in steps of 0.05
AUTO_GAP = 0.01  # of its choices on folds


class MossRegressor(RuleRegressor):
    """A few if-then rules that predict well and come out the same when the data are perturbed.

    A forest of shallow trees proposes rules; the share of trees that contain a rule is its
    stability. Of all selections of at most `max_rules` rules that are stable enough, `fit` finds
    the one that fits best, and proves it.

    Numbers, booleans, strings and categories are used as they are, and values may be missing. The
    same rows, in any order, and the same `random_state` give the same rules, bit for bit.

    Parameters
    ----------
    max_rules : int, default=15
        Most rules in the model.
    stability : {"high", "medium", "low", "auto"} or float in (0, 1], default="high"
        How stable the selection has to be: the 3rd or the 40th floor of the paper's sequence, or a
        share of the largest stability that `max_rules` rules can have. "low" sets no floor and
        uses the paper's approximate algorithm. "auto" cross-validates the shares 1, 0.95, ..., 0.5
        and takes the most stable one whose mean R2 is within one standard error of the best.
    cv : int, splitter of scikit-learn, or pairs of training and test rows, default=5
        Folds of "auto", as in `evaluate_frontier`; there are fewer where they would have fewer than
        two rows each. For groups, pass pairs.
    ties : {"keep", "drop"}, default="keep"
        "drop" lowers `max_rules` where its last rule ties in count with the next, to leave out all
        that tie, as the paper's authors do.
    gamma : float or "auto", default="auto"
        Weights are shrunk less the larger it is; "auto" is 30 over the number of rows.
    n_trees, max_depth, n_bins, max_features
        The forest: trees, their depth (1 to 6), bins of a numeric column, and share of the columns
        that each split looks at.
    generator : "forest", "noisy-target", or a fitted ensemble, default="forest"
        Where rules come from; see `find_candidates`. Wrap an ensemble of scikit-learn in
        `FittedEnsemble` for cross-validation, which would clone, and so empty, a bare one.
    solver : {"auto", "branch-and-bound", "cutting-plane", "coordinate-descent"}, default="auto"
        How to choose; see `mossrules.solver.solve`.
    gap : float, default=1e-3
        Largest relative distance from the optimum.
    time_limit : float or None, default=60.0
        Seconds for choosing; a fit that needs more warns with `SolveLimitWarning`. "auto" has as
        many again for all of its folds.
    refit : bool, default=True
        Whether weights and intercept are fitted anew to the chosen rules, without the shrinking
        that `gamma` makes.
    constraints : list of constraints, optional
        What the rule set has to keep to: features never to use, rules that must or must not be in
        it, so many rules per feature or features in all, features that may only push one way; see
        `mossrules.constraints`. Stability is then a share of what can be had under them, and "low"
        is solved exactly where the approximate algorithm cannot keep to them.
    random_state : int, NumPy generator or None, default=None
        Seed of the forest; None is the seed 0.
    n_jobs : int or None, default=None
        Threads; None uses all cores. The result does not depend on it.
    verbose : int, default=0
        1 reports each step, 2 also where the search stands.

    Attributes
    ----------
    rules_ : RuleSet
        The model: rules, weights and intercept, to read, explain and export.
    solution_ : Solution
        The selection with its certificate.
    problem_ : Problem or None
        What it solves, for `solution_.verify(problem_)`; None where there are no candidates.
    candidates_ : Candidates
        The rules to choose from, and their statistics.
    pool_ : CandidatePool
        The same rules with the trees that contain each.
    evaluation_ : FrontierEvaluation
        With "auto", what cross-validation has found at each share; not there where there are no
        candidates.
    frontier_ : Frontier
        What stability costs: `frontier()`, computed when first asked for.
    feature_importances_ : array of shape (n_features_in_,)
        Share of each column in what the rules move; see `RuleSet.feature_importances`.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Their names, if X has names of text.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = MossRegressor(max_rules=5, random_state=0).fit(X, y)
    >>> len(model.rules_), model.solution_.status.value
    (5, 'optimal')
    >>> looser = model.select(stability=0.5)  # the same candidates, another choice
    >>> looser.score(X, y) > model.score(X, y)
    True
    """

    solution_: Solution
    problem_: Problem | None
    evaluation_: FrontierEvaluation

    def __init__(
        self,
        max_rules: int = 15,
        *,
        stability: Stability = "high",
        cv: Any = 5,
        ties: Ties = "keep",
        gamma: float | Literal["auto"] = "auto",
        n_trees: int = 500,
        max_depth: int = 2,
        n_bins: int = 10,
        max_features: float = 1 / 3,
        generator: Any = "forest",
        solver: Method = "auto",
        gap: float = 1e-3,
        time_limit: float | None = 60.0,
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
        self.generator = generator
        self.solver = solver
        self.gap = gap
        self.time_limit = time_limit
        self.refit = refit
        self.constraints = constraints
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

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
            self.problem_ = pose_problem(
                candidates,
                max_rules=self.max_rules,
                ties=self.ties,
                gamma=self.gamma,
                constraints=self.constraints,
            )

    def _check_parameters(self) -> None:
        check_integer("max_rules", self.max_rules)
        check_stability(self.stability)
        check_choice("ties", self.ties, get_args(Ties))
        check_choice("solver", self.solver, get_args(Method))
        if isinstance(self.gamma, str) and self.gamma != "auto":
            raise InvalidParameter(f"gamma is {self.gamma!r}; pass a positive number or 'auto'.")
        check_constraints(self.constraints)
        self._options(self.gap)

    def _learn(self, rows: Rows | None) -> None:
        """Choose rules of the stability asked for."""
        if self.problem_ is None:
            self._settle(no_rules(self.candidates_.statistics))
            return
        options = self._options(self.gap)
        stability = self._cross_validate(rows) if self.stability == AUTO else self.stability
        self.problem_ = at_stability(self.problem_, stability)
        solution = solve(self.problem_, method_for(self.problem_, stability, self.solver), options)
        if solution.status not in (Status.OPTIMAL, Status.HEURISTIC):
            warnings.warn(
                f"The search for rules ended ({solution.status.value}) after "
                f"{solution.report.seconds:.1f} s with a gap of {solution.gap:.2%} left, where "
                f"{options.gap:.2%} was asked for; raise time_limit, or gap.",
                SolveLimitWarning,
                stacklevel=3,
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
            split_rows(rows, self.cv, fewer=True),
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
            warnings.warn(
                f"Cross-validation for stability='auto' ended {stopped} of its "
                f"{found.n_folds * len(found.points)} searches before a gap of {found.gap:.2%} was "
                "proven; raise time_limit, or gap.",
                SolveLimitWarning,
                stacklevel=4,
            )
        return found.choose().share

    def _settle(self, solution: Solution) -> None:
        """Set what depends on the choice."""
        self.solution_ = solution
        self.rules_ = make_rules(
            self.candidates_,
            solution,
            refit=self.refit,
            target=self._target_name,
            signs=None if self.problem_ is None else self.problem_.signs,
        )
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
        points: int | Literal["complete"] = 50,
        gap: float = 0.01,
        *,
        time_budget: float | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Listener | None = None,
    ) -> Frontier:
        """Return the best fit at many levels of stability, among the candidates that `fit` found.

        Parameters
        ----------
        points : int or "complete", default=50
            How many floors of the paper's sequence, from the most stable down; "complete" is every
            point that no other beats in both stability and fit (ask for `gap=0` with it).
        gap : float, default=0.01
            Largest relative distance of each point from its optimum.
        time_budget : float, optional
            Seconds for all floors together.
        checkpoint, progress
            A file to go on from after a stop, and a function to call after each floor, as in
            `solve_frontier`.
        """
        check_is_fitted(self)
        if points != "complete":
            check_integer("points", points)
        key = (points, gap, time_budget)
        if key not in self._frontiers:
            self._frontiers[key] = self._solve_frontier(
                *key, checkpoint=checkpoint, progress=progress
            )
        return self._frontiers[key]

    def _solve_frontier(
        self,
        points: int | Literal["complete"],
        gap: float,
        time_budget: float | None,
        **record: Any,
    ) -> Frontier:
        if self.problem_ is None:
            return no_frontier(self.solution_, self.max_rules)
        floors: IntArray | Literal["complete"] = "complete"
        if points != "complete":
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
    ) -> MossRegressor:
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
            chosen.problem_ = self.problem_.at(solution.stability)
            chosen.stability = frontier.share(solution.stability)
        chosen._settle(solution)  # noqa: SLF001
        return chosen
