"""`MossRegressor`, and what it shares with `MossClassifier`: parameters, the fit, the trade-off.

Parameters become `Settings`, the steps of `learning` do the work, and what they return becomes
attributes. A new parameter is a line in the constructors (scikit-learn reads their signatures, so
they are written out) and a field of the same name in `Settings`.
"""

from __future__ import annotations

import os
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import fields, replace
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from mossrules import defaults
from mossrules._display import model_html, write_report
from mossrules._files import check_outputs
from mossrules._refusals import names_input
from mossrules.budget import Budget
from mossrules.candidates.search import numbering_of
from mossrules.data.files import find_files
from mossrules.data.table import names_files
from mossrules.estimators.base import RuleEstimator, RuleRegressor, approved_by
from mossrules.evaluation.folds import split_rows
from mossrules.evaluation.track_record import track_record
from mossrules.evaluation.trade_off import cross_validate
from mossrules.exceptions import InvalidParameter, SolveLimitWarning, warn_user
from mossrules.learning.fit import FittedRules, Settings, choose_rules, fit_rules
from mossrules.learning.near import check_near
from mossrules.learning.objective import Directions, Intercept, Objective, Shrinkage
from mossrules.learning.squared_error import SquaredError
from mossrules.learning.stability_levels import (
    AUTO,
    Stability,
    Ties,
    default_stability,
    read_shares,
)

if TYPE_CHECKING:
    from mossrules.constraints.kinds import Constraint
    from mossrules.data.rows import Rows
    from mossrules.evaluation.frontier_evaluation import FrontierEvaluation
    from mossrules.frontier.near import NearFrontier
    from mossrules.frontier.result import Frontier
    from mossrules.frontier.sweep import Listener
    from mossrules.solver.options import Method, Snapshot
    from mossrules.solver.problems.selection import FloorKind, SelectionProblem
    from mossrules.solver.problems.squared import Problem
    from mossrules.solver.result import Solution

__all__ = ["MossEstimator", "MossRegressor"]

# Shares that "auto" looks at: in equal ratios from 1 to 0.05, for the sum in equal steps to 0.5.
AUTO_POINTS = 11


class MossEstimator(RuleEstimator):
    """Chooses the rules that fit best among stable ones; a subclass says by which loss."""

    fitted_: FittedRules
    solution_: Solution
    problem_: SelectionProblem | None
    evaluation_: FrontierEvaluation

    def __init__(
        self,
        max_rules: int = defaults.MAX_RULES,
        *,
        stability: Stability | None = None,
        floor: FloorKind = defaults.FLOOR,
        cv: Any = defaults.FOLDS_OF_A_CHOICE,
        ties: Ties = "keep",
        directions: Directions = defaults.DIRECTIONS,
        shrinkage: Shrinkage = defaults.SHRINKAGE,
        intercept: Intercept = defaults.INTERCEPT,
        gamma: float | Literal["auto"] = "auto",
        n_trees: int | Literal["auto"] = defaults.N_TREES,
        max_depth: int = defaults.MAX_DEPTH,
        n_bins: int = defaults.N_BINS,
        cuts: Any = defaults.CUTS,
        max_features: float = defaults.MAX_FEATURES,
        inner_nodes: bool = defaults.INNER_NODES,
        max_overlap: float | None = defaults.MAX_OVERLAP,
        min_coverage: float | Literal["auto"] = defaults.MIN_COVERAGE,
        min_tree_frequency: float = defaults.MIN_TREE_FREQUENCY,
        generator: Any = defaults.GENERATOR,
        solver: Method = "auto",
        gap: float = defaults.GAP,
        time_limit: float | None = defaults.TIME_LIMIT,
        time_budget: float | None = None,
        refit: bool = True,
        refit_ridge: float | Literal["auto"] | None = defaults.REFIT_RIDGE,
        min_importance: float = defaults.MIN_IMPORTANCE,
        constraints: Sequence[Constraint] | Constraint | None = None,
        near: Any = None,
        keep: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_rules = max_rules
        self.stability = stability
        self.floor = floor
        self.cv = cv
        self.ties = ties
        self.directions = directions
        self.shrinkage = shrinkage
        self.intercept = intercept
        self.gamma = gamma
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.n_bins = n_bins
        self.cuts = cuts
        self.max_features = max_features
        self.inner_nodes = inner_nodes
        self.max_overlap = max_overlap
        self.min_coverage = min_coverage
        self.min_tree_frequency = min_tree_frequency
        self.generator = generator
        self.solver = solver
        self.gap = gap
        self.time_limit = time_limit
        self.time_budget = time_budget
        self.refit = refit
        self.refit_ridge = refit_ridge
        self.min_importance = min_importance
        self.constraints = constraints
        self.near = near
        self.keep = keep
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # --- what depends on the loss ---------------------------------------------------------------

    @abstractmethod
    def _objective(self) -> Objective:
        """Return the loss that rules are chosen by."""

    def _weighting(self) -> dict[str, Any]:
        """Return how weights are treated, in the words of `Objective`."""
        return {field.name: getattr(self, field.name) for field in fields(Objective)}

    def settings(self) -> Settings:
        """Return what this estimator asks of a fit."""
        shared = {field.name for field in fields(Settings)} & vars(self).keys()
        asked = {name: getattr(self, name) for name in shared}
        if self.stability is None:
            asked["stability"] = default_stability(self.floor)
        asked["near"] = approved_by(self)
        return Settings(
            objective=self._objective(),
            search=self.search_parameters(),
            target=self._target_name,
            **asked,
        )

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be, before any work."""
        if not isinstance(self.verbose, Integral):
            kind = type(self.verbose).__name__
            raise InvalidParameter(f"verbose is of type {kind}; pass 0, 1 or 2.")
        check_near(self.near, self.keep, self.floor, classifies=is_classifier(self))
        self.settings().check()

    # --- fitting --------------------------------------------------------------------------------

    @property
    def _needs_rows(self) -> bool:
        return self.stability == AUTO  # which takes folds of them

    def fit_rows(self, rows: Rows) -> Self:
        """Find rules in rows that were read, and choose among them, as `fit` does."""
        how = self._how(rows if rows.in_memory else None)
        fitted = fit_rules(rows, self.settings(), self._report, **how)
        self.__dict__.update(self._attributes(fitted))
        return self

    def _learn(self, rows: Rows | None) -> None:
        how = self._how(rows)
        self._report(self.candidates_)
        fitted = choose_rules(self.candidates_, self.settings(), **how)
        self._report(fitted.solution)
        self.__dict__.update(self._attributes(fitted))

    def _how(self, rows: Rows | None) -> dict[str, Any]:
        """Return how to find the stability that "auto" stands for, and who watches searches."""
        self.__dict__.pop("evaluation_", None)  # of an earlier fit
        find = None if rows is None else partial(self._cross_validate, rows)
        return {"find_stability": find, "watch": self._watch}

    def _attributes(self, fitted: FittedRules) -> dict[str, Any]:
        """Return what a fitted model shows, by the names of its attributes."""
        return {
            "fitted_": fitted,
            "candidates_": fitted.candidates,
            "pool_": fitted.candidates.pool,
            "problem_": fitted.problem,
            "solution_": fitted.solution,
            "rules_": fitted.rules,
        }

    def _cross_validate(self, rows: Rows, settings: Settings, budget: Budget) -> float:
        """Return the share that "auto" stands for, and keep what led to it."""
        rows = rows.numbered(numbering_of(self.generator))  # which folds go by too
        evaluation = cross_validate(
            settings.but(gap=max(self.gap, defaults.FOLD_GAP)),
            rows,
            split_rows(rows, self.cv, fewer=True, stratify=is_classifier(self)),
            read_shares(AUTO_POINTS, self.floor),
            time_budget=Budget(budget.limit(self.time_limit), budget.now),
            verbose=self.verbose > 0,
        )
        self.evaluation_ = evaluation
        self._report(evaluation)
        stopped = sum(point.stopped for point in evaluation.points)
        if stopped:
            warn_user(
                f"Cross-validation for stability='auto' ended {stopped} of its "
                f"{evaluation.n_folds * len(evaluation.points)} searches before a gap of "
                f"{evaluation.gap:.2%} was proven; raise "
                f"{'time_limit' if self.time_budget is None else 'time_budget'}, or gap.",
                SolveLimitWarning,
            )
        return evaluation.choose().share

    @property
    def _watch(self) -> Callable[[Snapshot], object] | None:
        """What is called with snapshots of searches, if anybody wants to see them."""
        return None if self.verbose < 2 else lambda snapshot: self._report(str(snapshot))

    def _report(self, thing: object) -> None:
        if self.verbose > 0:
            sys.stderr.write(f"{thing if isinstance(thing, str) else repr(thing)}\n")

    # --- the trade-off --------------------------------------------------------------------------

    @names_input("self")
    def frontier(
        self,
        points: int | Iterable[float] | Literal["complete"] = defaults.FRONTIER_POINTS,
        gap: float = defaults.FRONTIER_GAP,
        *,
        time_budget: float | Budget | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Listener | None = None,
    ) -> Frontier:
        """Return the best fit at many stability targets, among the candidates that `fit` found.

        Parameters
        ----------
        points : int, shares or "complete", default=50
            How many shares of the largest stability, in equal ratios from 1 to 0.05, or with
            `floor="sum"` how many floors of `epsilon_sequence`, from the most stable down; or
            those shares themselves, in (0, 1]; "complete" is every point that no other beats in
            both stability and fit (ask for `gap=0` with it).
        gap : float, default=0.01
            Largest optimality gap of each point.
        time_budget : float, optional
            Seconds for all floors together, of which each has a share. What is not proven in them
            has status TIME_LIMIT and its gap, and `cut_short` of the frontier says how much it is.
        checkpoint, progress
            A file from which an interrupted run resumes, and a function to call after each floor,
            as in `solve_frontier`.
        """
        check_is_fitted(self)
        return self.fitted_.frontier(
            points,
            gap,
            time_budget=time_budget,
            checkpoint=checkpoint,
            progress=progress,
            verbose=self.verbose > 0,
            watch=self._watch,
        )

    @names_input("self")
    def near_frontier(
        self,
        gap: float | None = None,
        *,
        time_budget: float | Budget | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Listener | None = None,
    ) -> NearFrontier:
        """Return what it costs to keep more of the approved rules: the best fit for each number.

        It is at the model's own stability target, of rules that are not approved.

        Parameters
        ----------
        gap : float, optional
            Largest optimality gap at each number of rules; by default that of the model.
        time_budget : float, optional
            Seconds for all points together.
        checkpoint, progress
            A file from which an interrupted run resumes, and a function to call after each point,
            as in `solve_frontier`.

        Returns
        -------
        NearFrontier
            Of several classes, a dict with that of each.
        """
        check_is_fitted(self)
        return self.fitted_.near_frontier(
            gap,
            time_budget=time_budget,
            checkpoint=checkpoint,
            progress=progress,
            verbose=self.verbose > 0,
            watch=self._watch,
        )

    def __getattr__(self, name: str) -> Any:
        # Not a property: scikit-learn reads all of those to show a model in a notebook.
        if name == "frontier_" and "fitted_" in self.__dict__:
            return self.frontier()
        if name == "feature_importances_":  # Python looks here when its property finds no fit
            check_is_fitted(self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @names_input("self")
    def select(
        self,
        *,
        stability: Stability | None = None,
        index: int | None = None,
        max_loss: float | None = None,
        keep: float | None = None,
        frontier: Frontier | None = None,
    ) -> Self:
        """Return the model at another point of the trade-off; give exactly one of the first four.

        No forest is grown: candidates are those that `fit` found, and this model stays as it is.

        Parameters
        ----------
        stability : {"high", "medium", "low"}, float in (0, 1], or int with `floor="each"`
            The model that `fit` finds with this parameter. A whole number from 2 on is a number of
            rules to choose from, as in `fit`; `frontier.at` takes it for a number of trees.
        index : int
            Position on the frontier, the most stable first. The model's `stability` is then the
            share of that point, with which `fit` finds as good a rule set.
        max_loss : float
            Of the frontier's points within this loss, the most stable.
        keep : float in (0, 1]
            With `near`: the model that `fit` finds with this share of the approved rules.
        frontier : Frontier, optional
            Where `index` and `max_loss` look; by default `frontier_`.
        """
        check_is_fitted(self)
        fitted = self.fitted_.at(
            stability=stability,
            index=index,
            max_loss=max_loss,
            keep=keep,
            frontier=frontier,
            watch=self._watch,
        )
        chosen = copy(self)
        chosen.__dict__.update(self._attributes(fitted), stability=fitted.settings.stability)
        chosen.keep = fitted.settings.keep
        self._report(fitted.solution)
        return chosen

    # --- repeating the analysis -----------------------------------------------------------------

    @names_input("X")
    def track_record(self, X: Any, y: Any, refits: int = 100, **how: Any) -> Any:
        """Repeat the analysis on parts of the rows, to see which rules come back, and what varies.

        Each refit does all that `fit` does, on some of the rows and with a seed of its own, but for
        what "auto" stands for: refits have the stability target that was chosen, and no more than
        1,000 trees. From then on `rules_` shows the record wherever it is printed, exported or
        stored.

        Parameters
        ----------
        X, y
            The rows of `fit`: a table, files or a Dask collection, which stay where they are.
        refits : int, default=100
            At least 2; with fewer than 40, intervals are those of normal distributions.
        **how
            scheme : {"subsample", "bootstrap", "folds"}, default="subsample"
                Whether refits have a random `share` of the rows (1/3 by default), as many rows
                drawn with replacement, or leave out a tenth. Refits to a third of the rows find a
                rule about as often as fresh samples of as many rows as there are; see
                docs/trackrecord.md.
            sample_weight, groups
                As in `fit`; rows of a group stay together in refits.
            confidence : float, default=0.95
                Of all intervals.
            threshold : float, optional
                Of a decision: how many rows change their side of it. 0.5 for classes.
            random_state : int, default=0
                The seed of the draws; refits have the next ones.
            n_jobs, progress, verbose, checkpoint
                Threads; a function or a line to tell about progress; a file from which an
                interrupted run resumes.

        Returns
        -------
        TrackRecord
            For each rule in how many refits it was found, as printed and nearly so, and intervals
            of its effect; for the rule set its recurrence; for people the ranges of their
            predictions. Of several classes, a dict with the record of each.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from mossrules import MossRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = MossRegressor(3, n_trees=200).fit(X, y)
        >>> record = model.track_record(X, y, refits=10)
        >>> record.refits, [each.found for each in record.rules]
        (10, [...])
        >>> bool(record.rules[0].coverage == model.rules_.support[0])
        True
        """
        check_is_fitted(self)
        records = track_record(self, X, y, refits=refits, **{"n_jobs": self.n_jobs, **how})
        self.set_records(records)
        return records

    def set_records(self, records: Any) -> None:
        """Let the rule set carry its track record."""
        self.rules_ = replace(self.rules_, track_record=records)
        self.fitted_ = replace(self.fitted_, rules=self.rules_)

    # --- showing --------------------------------------------------------------------------------

    @names_input("path")
    def report(self, path: str | os.PathLike[str], X: Any = None, y: Any = None, **how: Any) -> Any:
        """Write the interactive report: a page for any browser to choose a point of the trade-off.

        The file stands alone: it needs no network, and no row of the data is in it.

        Parameters
        ----------
        path : where to write it
        X, y : the rows of `fit`
            With them, the page has a summary of the data, and what each point is worth on folds.
        how
            See `mossrules.display.report.collect`: `cv`, `points`, `methods`, `title` and more.

        Returns
        -------
        ReportData
            What the page shows.
        """
        check_outputs({"path": Path(path)}, find_files(X) if names_files(X) else [])
        return write_report(self, path, X, y, **how)

    def _html_repr(self) -> str:
        """Return what a notebook shows: of a fitted model, its rules."""
        if not hasattr(self, "rules_"):
            unfitted: str = super()._html_repr()
            return unfitted
        return model_html(self)


# --- numbers --------------------------------------------------------------------------------------


class MossRegressor(MossEstimator, RuleRegressor):
    """A few if-then rules that predict well and that you can expect to find again.

    A forest of shallow trees proposes rules; the share of trees that contain a rule is its tree
    frequency. Of all sets of at most `max_rules` rules that are stable enough, `fit` finds the one
    that fits best, and proves it.

    Numbers, booleans, strings and categories are used as they are, and values may be missing. The
    same rows, in any order, and the same `random_state` give the same rules, bit for bit.

    Parameters
    ----------
    max_rules : int, default=15
        Most rules in the model.
    stability : {"high", "medium", "low", "auto"}, float in (0, 1], int or None, default=None
        The stability target: how often the trees must have found a rule for it to be in the model.
        None is 0.1, and "high" with `floor="sum"`.
        With the default `floor="each"`, 0.1 and 15 rules mean that every rule is in at least a
        tenth as many trees as the 15th most frequent rule. "high", "medium" and "low" are the
        shares 0.5, 0.2 and 0.1. A whole number from 2 on allows that many of the most frequent
        rules, with all that are as frequent as the last of them. "auto" cross-validates eleven
        shares, in equal ratios from 1 to 0.05, and takes, of those whose mean R2 is within one
        standard error of the best, the one whose rules recur most, as printed.
        With `floor="sum"` a share is of the largest sum of tree frequencies that `max_rules` rules
        can have, "high" and "medium" are the 3rd and the 40th floor of the paper's sequence, "low"
        sets no floor and uses the paper's approximate algorithm, and "auto" looks at the shares 1,
        0.95, ..., 0.5.
    floor : {"each", "sum"}, default="each"
        What the stability score is. "each": the tree frequency of the least frequent rule, so that
        the target holds for every rule but those that constraints require; the largest score is
        that of the `max_rules`-th most frequent rule. "sum", as in the paper: the tree frequencies
        of all chosen rules, added up, so that frequent rules make up for rare ones.
    cv : int, splitter of scikit-learn, or pairs of training and test rows, default=5
        Folds of "auto", as in `evaluate_frontier`; there are fewer where they would have fewer than
        two rows each. For groups, pass pairs.
    ties : {"keep", "drop"}, default="keep"
        "drop" lowers `max_rules` where its last rule ties in count with the next, to leave out all
        that tie, as the paper's authors do.
    directions : {"own", "free"}, default="own"
        "own": a rule raises the prediction if the mean target of its own rows is above that of all
        rows, and lowers it otherwise. "free": a weight may have any sign, as in the paper.
    shrinkage : {"frequency", "equal"}, default="frequency"
        How weights are shrunk when rules are chosen: "frequency" shrinks those of rules that few
        trees have found more, so that such a rule must fit the better to be chosen; "equal" shrinks
        all alike, as in the paper.
    intercept : {"chosen", "refitted"}, default="chosen"
        Whether rules are chosen beside the best intercept, or without one, as in the paper, where
        the refit adds it.
    gamma : float or "auto", default="auto"
        Larger gamma means less shrinkage of weights. "auto" is 1000 over the number of rows for the
        most frequent rule, and with `shrinkage="equal"` 30 over it for all.
    n_trees, max_depth, n_bins, max_features : default="auto", 2, 8 and 1/3
        The forest: trees, their depth (1 to 6), bins of a numeric column, and share of the columns
        that each split looks at. The paper has 500 trees and 10 bins; what the defaults rest on is
        in docs/estimator.md. `n_trees="auto"` grows as many trees as are needed for another seed to
        find nearly the same frequent rules, from 500 to 8,000; see `find_candidates`, and
        `pool_.n_trees` for how many they were.
    cuts : "round", "quantile", dict, earlier model or path, default="round"
        Where numbers and ordered categories are cut. "round" takes round numbers, which recur;
        "quantile" is the paper's. A dict has lists of cut points by column, such as
        `{"age": [18, 40, 65], "bmi": ["<25"]}`, in increasing order: 65 means `age <= 65` or
        `age > 65`, "<65" means `age < 65` or `age >= 65`, and of ordered categories a level is the
        last one below. A fitted model, a `RuleSet`, `RuleSets` or the path of their JSON means the
        cut points of that analysis. Columns without any are cut by default; see docs/cuts.md.
    inner_nodes : bool, default=True
        Whether the inner nodes of trees are candidates too: rules with fewer conditions, which
        recur more often.
    max_overlap : float or None, default=0.6
        A condition that keeps more than this share of the rows on which the rest of its rule holds
        is dropped; of a rule and its complement one is a candidate, and so of rules that hold on
        the same rows. None takes rules as trees have them, as in the paper.
    min_coverage : float or "auto", default="auto"
        Rows that a rule must hold on, and leave out: a share below 1, or a number. "auto" is 1 % of
        the rows, and no fewer than 5; of fewer than 50 rows a tenth of them.
    min_tree_frequency : float, default=0
        Share of the trees that a rule must be in.
    generator : {"forest", "paper-forest", "noisy-target"} or ensemble, default="forest"
        Where rules come from; see `find_candidates`. Wrap an ensemble of scikit-learn in
        `FittedEnsemble` for cross-validation, which would clone, and so empty, a bare one.
    solver : {"auto", "branch-and-bound", "cutting-plane", "coordinate-descent"}, default="auto"
        The algorithm that chooses rules; see `mossrules.solver.solve`.
    gap : float, default=1e-3
        Largest optimality gap: how much better, relatively, another rule set could be.
    time_limit : float or None, default=60.0
        Seconds for choosing; a fit that needs more warns with `SolveLimitWarning`. "auto" has the
        same time again for all of its folds.
    time_budget : float or None, default=None
        Seconds for a fit, shared among all of its searches: those of "auto" have two thirds at
        most, and of several classes each has its part. Growing trees is not cut short, so a fit may
        take longer. With both limits, a search ends at the first that it reaches.
    refit : bool, default=True
        Whether weights and intercept are fitted again to the chosen rules, without the shrinkage
        that `gamma` causes.
    refit_ridge : float, "auto" or None, default="auto"
        Ridge on the weights of the refit. "auto" takes the one of 13 with the smallest generalised
        cross-validation error; None is 0.001, which only settles ties, as in the paper.
    min_importance : float, default=0.01
        Rules of less than this share of the largest importance are not in the model, nor are rules
        that the others and the intercept express: `max_rules` is a maximum. 0 keeps all.
    constraints : list of constraints, optional
        What the rule set has to keep to: features never to use, rules that must or must not be in
        it, a number of rules per feature or of features in all, features that may only push one
        way; see `mossrules.constraints`. Stability is then a share of what is possible under them,
        and "low" is solved exactly under limits on features, which the approximate algorithm
        does not keep.
    near : rule set, fitted model or path, default=None
        An approved rule set to stay near: a `RuleSet`, `RuleSets`, a fitted model or the path of
        their JSON. Its rules are candidates as they were printed, whatever their tree frequency,
        and the model is the best that has at least the share `keep` of them; see docs/near.md.
    keep : float in (0, 1] or None, default=None
        Share of the approved rules to keep, rounded up to a whole number; None is 0.8.
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
        The chosen rules with their certificate.
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
    feature_importances_ : array of shape (n_features,)
        Share of each column in the effects of the rules; see `RuleSet.feature_importances`.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Their names, if X has names of text.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = MossRegressor(max_rules=4, random_state=0).fit(X, y)
    >>> model.rules_
    Predicted target is the intercept plus the effects of the rules that hold.
       effect  coverage  tree frequency  rule
      +100.54                            (intercept)
       +51.11     41.4%           28.6%  s5 > 4.75
       +45.88      9.5%            5.6%  bmi > 32.5
       +45.67     35.3%           27.0%  bmi > 27.5
       +29.33     33.9%           12.2%  bp > 100
    >>> model.solution_.status.value
    'optimal'
    >>> stricter = model.select(stability="high")  # each rule in more of the trees
    >>> stricter.rules_.texts
    ['bmi > 27.5', 's5 > 4.5', 's6 > 100', 'bp > 100']
    >>> bool(stricter.score(X, y) < model.score(X, y))
    True

    The parameters of the paper are in `PAPER`:

    >>> from mossrules import PAPER
    >>> paper = MossRegressor(max_rules=4, **PAPER).fit(X, y)
    >>> paper.rules_.texts[0]
    'bmi > 28.3 and bp > 102'
    """

    problem_: Problem | None

    def _objective(self) -> SquaredError:
        return SquaredError(**self._weighting())
