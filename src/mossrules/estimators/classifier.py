"""`MossClassifier`: short, stable rule sets for classes, as a scikit-learn estimator.

It differs from `MossRegressor` in the loss, and in that several classes have a model each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self

from sklearn.utils.validation import check_is_fitted

from mossrules import defaults
from mossrules.budget import read_budget
from mossrules.data.labels import check_class_weight
from mossrules.estimators.base import RuleClassifier, by_class
from mossrules.estimators.moss import MossEstimator
from mossrules.learning.log_loss import LogLoss
from mossrules.learning.objective import Directions, Intercept, Shrinkage
from mossrules.solver.result import Status

if TYPE_CHECKING:
    from mossrules.constraints.kinds import Constraint
    from mossrules.data.columns import Label
    from mossrules.learning.fit import FittedRules
    from mossrules.learning.stability_levels import Stability, Ties
    from mossrules.solver.options import Method
    from mossrules.solver.problems.selection import FloorKind

__all__ = ["MossClassifier"]


class MossClassifier(MossEstimator, RuleClassifier):
    """A few if-then rules whose log-odds add up, and that you can expect to find again.

    A forest of shallow trees proposes rules; the share of trees that contain a rule is its tree
    frequency. Of all sets of at most `max_rules` rules that are stable enough, `fit` finds the one
    with the least ridge-regularised logistic loss, and proves it to a stated gap.

    Trees split where the variance of a target of 0 and 1 falls most, which is where Gini's index
    falls most: the forest is one of classification trees.

    Of more than two classes, each has a rule set of its own against all others. Its log-odds are
    moved and stretched to fit training rows, each predicted by weights that were fitted without it,
    and the probabilities of all classes are divided by their sum.

    Parameters
    ----------
    max_rules, stability, floor, cv, ties, directions, shrinkage, n_trees, max_depth, n_bins, \
cuts, max_features, inner_nodes, max_overlap, min_coverage, min_tree_frequency, min_importance, \
generator, solver, gap, time_limit, time_budget, constraints, near, keep, random_state, n_jobs, \
verbose
        As in `MossRegressor`; of more than two classes, of and for each rule set. By default every
        rule is in at least a tenth as many trees as the `max_rules`-th most frequent rule
        (`stability=0.1`), and raises the log-odds if its class is more frequent on its own rows
        than on all, or else lowers them (`directions="own"`). `stability="auto"` looks at the share
        of the log-loss that rules explain, where `MossRegressor` looks at R2.
    gamma : float or "auto", default="auto"
        Larger gamma means less shrinkage; "auto" is 300 (with `shrinkage="equal"` 30) over the
        number of rows and the variance of the class, which shrinks them as much as in regression.
    intercept : {"chosen", "refitted"}, default="chosen"
        Of no effect: the log-loss always has an intercept when rules are chosen.
    refit : bool, default=True
        Whether weights and intercept are refitted to the chosen rules, almost without the
        shrinkage of `gamma`.
    refit_ridge : float, "auto" or None, default="auto"
        Ridge on the log-odds of the refit. "auto" takes the one of seven with the smallest log-loss
        of rows left out, in one Newton step each; None is 1/9.
    outcome : label, default=None
        Of two classes the one whose probability the rules give. By default the one whose name says
        that something happened, such as 1, true, yes, case, positive, event or died (the other one
        is 0, no, control, alive and the like; see docs/classification.md). Where the names tell
        nothing it is the last in the order of labels, and `OutcomeWarning` says so.
    class_weight : None, "balanced" or dict from classes to weights, default=None
        Multiplies the weights of rows. "balanced" gives all classes the same total; probabilities
        are then those of a population in which classes are equally frequent.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    rules_ : RuleSet, or RuleSets
        Of two classes, rules for the log-odds of the outcome, `rules_.outcome`; of more, a mapping
        from each class to its rule set.
    estimators_ : dict
        Of more than two classes, the model of each against all others.
    solution_, problem_, candidates_, pool_, frontier_
        As in `MossRegressor`; of more than two classes, dicts by class.
    evaluation_ : FrontierEvaluation
        With "auto", what cross-validation has found at each share, where `r2` is the share of the
        log-loss that is explained, and `error` the log-loss; of more classes, in `estimators_`.
    feature_importances_ : array of shape (n_features,)
        Share of each column in what the rules move; of more than two classes, the mean.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Their names, if X has names of text.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = MossClassifier(max_rules=3, n_trees=100).fit(X, y)
    >>> model.rules_
    The log-odds of target = 1 are the intercept plus the effects of the rules that hold.
      log-odds  coverage  tree frequency  rule
        +3.657                            (intercept)
        -4.559     29.5%           20.0%  worst radius > 17.5
        -2.778     39.2%           38.0%  mean concave points > 0.05
        -2.672     30.2%           29.0%  worst concave points > 0.15
    The probability is 1 / (1 + exp(-log-odds)).
    >>> model.predict_proba(X[18:20]).round(2)
    array([[1.  , 0.  ],
           [0.03, 0.97]])
    >>> model.solution_.status.value
    'optimal'
    """

    _stabilities: Mapping[Label, Stability] = MappingProxyType({})  # of single classes

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
        outcome: Any = None,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            max_rules,
            stability=stability,
            floor=floor,
            cv=cv,
            ties=ties,
            directions=directions,
            shrinkage=shrinkage,
            intercept=intercept,
            gamma=gamma,
            n_trees=n_trees,
            max_depth=max_depth,
            n_bins=n_bins,
            cuts=cuts,
            max_features=max_features,
            inner_nodes=inner_nodes,
            max_overlap=max_overlap,
            min_coverage=min_coverage,
            min_tree_frequency=min_tree_frequency,
            generator=generator,
            solver=solver,
            gap=gap,
            time_limit=time_limit,
            time_budget=time_budget,
            refit=refit,
            refit_ridge=refit_ridge,
            min_importance=min_importance,
            constraints=constraints,
            near=near,
            keep=keep,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.outcome = outcome
        self.class_weight = class_weight

    def _objective(self) -> LogLoss:
        return LogLoss(self._outcome, self._is_member, self._events, **self._weighting())

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be, before any work."""
        super().check_parameters()
        check_class_weight(self.class_weight)

    def _attributes(self, fitted: FittedRules) -> dict[str, Any]:
        if self._is_member and fitted.solution.status is Status.INTERRUPTED:
            raise KeyboardInterrupt  # without the other classes there is no model
        return super()._attributes(fitted)

    # --- several classes ------------------------------------------------------------------------

    def set_stabilities(self, stabilities: Mapping[Label, Stability]) -> None:
        """Ask a stability of each class, in place of `stability`, in the next fits."""
        self._stabilities = dict(stabilities)

    def member(self, label: Label) -> Self:
        """Return the model of one class against all others, not yet fitted."""
        member = super().member(label)
        member.stability = self._stabilities.get(label, self.stability)
        return member

    def _attributes_of_all(self, members: dict[Any, Any]) -> dict[str, Any]:
        for name in ("fitted_", "evaluation_"):  # of an earlier fit; members have their own
            self.__dict__.pop(name, None)
        names = ("solution_", "problem_")
        return super()._attributes_of_all(members) | {n: by_class(members, n) for n in names}

    def set_records(self, records: Any) -> None:
        """Let the rule sets carry their track records."""
        if not self._has_members:
            super().set_records(records)
            return
        for label, member in self.estimators_.items():
            member.set_records(records[label])
        self.rules_ = self._joined({label: each.rules_ for label, each in self.estimators_.items()})

    def frontier(self, *how: Any, **more: Any) -> Any:
        """Return the trade-off, as `MossRegressor.frontier` does; of several classes, by class."""
        check_is_fitted(self)
        if self._has_members:
            return self._of_members("frontier", how, more)
        return super().frontier(*how, **more)

    def _of_members(self, name: str, how: Sequence[Any], more: Mapping[str, Any]) -> dict[Any, Any]:
        """Return what a method returns for each class; all share a `time_budget`."""
        budget, found = read_budget(more.get("time_budget")), {}
        for place, (label, member) in enumerate(self.estimators_.items()):
            part = budget.next_of(len(self.estimators_) - place)
            shared = {**more, "time_budget": part} if budget.is_limited else more
            found[label] = getattr(member, name)(*how, **shared)
        return found

    def __getattr__(self, name: str) -> Any:
        if name == "frontier_" and "estimators_" in self.__dict__:
            return self.frontier()
        return super().__getattr__(name)

    def near_frontier(self, *how: Any, **more: Any) -> Any:
        """Return what keeping more approved rules costs; of several classes, by class."""
        check_is_fitted(self)
        if self._has_members:
            return self._of_members("near_frontier", how, more)
        return super().near_frontier(*how, **more)

    def select(self, **point: Any) -> Self:
        """Return the model at another point of the trade-off, as `MossRegressor.select` does.

        Of several classes, that of each class at this point of its own trade-off.
        """
        check_is_fitted(self)
        if not self._has_members:
            return super().select(**point)
        chosen = copy(self)
        members = {label: member.select(**point) for label, member in self.estimators_.items()}
        chosen.__dict__.update(self._attributes_of_all(members))
        if point.get("stability") is not None:
            chosen.stability = point["stability"]
        if point.get("keep") is not None:
            chosen.keep = point["keep"]
        return chosen
