"""RuleFit: rules, and perhaps linear terms, chosen by the LASSO (Friedman and Popescu, 2008).

The loss is that of squares or the logistic one; `paths` walks down the penalties, `boosted_trees`
and `rulefit_columns` are what is RuleFit's own.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import expit
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from mossrules import defaults
from mossrules._common import check_choice
from mossrules._typing import FloatArray, IntArray
from mossrules.baselines.base import (
    Baseline,
    BaselineClassifier,
    BaselineRegressor,
    ChosenRules,
    Source,
    Variant,
    require_rows,
)
from mossrules.baselines.boosted_trees import BoostedTrees
from mossrules.baselines.designs import Design, Folds
from mossrules.baselines.logistic import Logistic
from mossrules.baselines.paths import LassoPoint, Loss, lasso_at, lasso_path
from mossrules.baselines.rulefit_columns import LinearTerms, first_tree_means
from mossrules.candidates.search import Candidates, numbering_of, resolve_seed
from mossrules.data.chunks import RowRange
from mossrules.data.rows import Rows
from mossrules.estimators.base import read_features
from mossrules.evaluation.folds import deal, groups_by_number
from mossrules.exceptions import InvalidParameter, SolveLimitWarning, warn_user
from mossrules.learning.fit import find_in_rows
from mossrules.learning.stability_levels import count_untied
from mossrules.model.importance import rule_importances

__all__ = ["N_FOLDS", "LassoRules", "Penalty", "RuleFitClassifier", "RuleFitRegressor", "points_of"]

Penalty = Literal["smallest", "cv"]
Means = Literal["all", "first"]

N_FOLDS = 3
N_ALPHAS, N_ALPHAS_OF_THE_PAPER = 100, 1000
OVERSHOOT = 2  # the path is followed to this many times the size, as it may come back


class LassoRules(Baseline):
    """What RuleFit is for any target: boosted trees, and a path of penalties."""

    linear_terms: bool
    penalty: Penalty
    n_trees: int | Literal["auto"]
    n_bins: int
    linear_: Any  # LinearTerms; of more than two classes, a dict of them
    alpha_: Any
    tree_size: float
    learning_rate: float
    random_state: Any

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be, before any work."""
        super().check_parameters()
        check_choice("linear_terms", self.linear_terms, (False, True))
        check_choice("penalty", self.penalty, get_args(Penalty))
        if self.n_trees == "auto" and self.source == "own":
            raise InvalidParameter(
                "n_trees is 'auto', which is for forests, and source='own' boosts trees; pass a "
                "number of trees, or set source='pool'."
            )
        self._trees(seed=0)

    def _trees(self, seed: int) -> BoostedTrees:
        # With "auto" they are not grown, and only the other two parameters are looked at.
        n_trees = defaults.PLAIN_TREES if self.n_trees == "auto" else self.n_trees
        return BoostedTrees(n_trees, self.tree_size, self.learning_rate, seed)

    def _find_own(self, rows: Rows) -> Candidates:
        return find_in_rows(
            rows,
            n_trees=self.n_trees,
            generator=self._trees(resolve_seed(self.random_state)),
            n_bins=self.n_bins,
            cuts="quantile",
            inner_nodes=True,
            patterns=is_classifier(self),
            n_jobs=self.n_jobs,
        )

    def _set_candidates(self, candidates: Candidates) -> None:
        self.linear_, self.alpha_ = LinearTerms.none(), 0.0  # without candidates
        super()._set_candidates(candidates)

    def _reads_rows(self) -> bool:
        """Whether sums are needed that candidates do not have."""
        return self.linear_terms or self.penalty == "cv"

    def _read(self, rows: Rows | None) -> tuple[Rows, LinearTerms]:
        """Return the rows and their linear terms."""
        rows = require_rows(
            rows,
            "linear_terms=True and penalty='cv' need rows",
            "set linear_terms=False and penalty='smallest'",
        )
        return rows, LinearTerms.of_rows(rows) if self.linear_terms else LinearTerms.none()


class RuleFitRegressor(LassoRules, BaselineRegressor):
    """Rules chosen by the LASSO.

    The prediction is an intercept plus the weights of the rules that hold. Weights are those of
    least squares with a penalty on their absolute values: the larger the penalty, the fewer are not
    zero. A path of penalties, from the largest down, leads to `max_rules` rules.

    Parameters
    ----------
    max_rules : int, default=15
        Most terms in the model: rules and, if there are any, linear terms.
    linear_terms : bool, default=False
        Whether numeric columns may be terms themselves, cut off at their 2.5 % and 97.5 %
        quantiles; needs rows. They are not rules: `linear_` has them, and `predict` adds them to
        what `rules_` predicts.
    penalty : {"smallest", "cv"}, default="smallest"
        Of the penalties that give at most `max_rules` terms, the published variant takes the
        smallest, or the best on rows left out of three folds, which needs rows.
    means : {"all", "first"}, default="all"
        Rows over which the paper's variant takes a rule's mean target: all training rows or, as its
        authors do, the bootstrap sample of the first tree with the rule. The latter is noisy; it
        needs rows, the forest of "pool", and a seed.
    n_trees : int or "auto", default=2000
        Trees that candidates are taken from; "auto", with `source="pool"`, is as in
        `MossRegressor`.
    max_depth, n_bins, max_features, generator, random_state, n_jobs
        The search for candidates, as in `MossRegressor`; `n_bins` and the last two also for
        `source="own"`.
    tree_size, learning_rate : float, default=4 and 0.01
        Mean number of leaves and learning rate of the boosted trees of `source="own"`.
    source : {"pool", "own"}, default="pool"
        "pool" takes the leaves of the forest that all methods share; "own" takes all nodes of
        boosted trees of random sizes, as published.
    variant : {"published", "paper"}, default="published"
        "paper" is what the MOSS paper compares with: columns of the rules' mean targets instead of
        ones, no intercept, and the first of 1000 penalties that gives exactly `max_rules` rules,
        less those that tie there (see `SirusRegressor`); at most that many if none does.

    Attributes
    ----------
    rules_ : RuleSet
        Rules, weights and intercept; the whole model unless there are linear terms.
    linear_ : LinearTerms
        The linear terms; none by default.
    alpha_ : float
        The penalty, on scikit-learn's scale for a target of variance 1; 0 without candidates.
    candidates_, pool_, n_features_in_, feature_names_in_
        As in `MossRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = RuleFitRegressor(max_rules=6, linear_terms=True).fit(X, y)
    >>> len(model.rules_) + len(model.linear_) <= 6
    True
    """

    def __init__(
        self,
        max_rules: int = defaults.MAX_RULES,
        *,
        linear_terms: bool = False,
        penalty: Penalty = "smallest",
        means: Means = "all",
        n_trees: int | Literal["auto"] = defaults.PLAIN_TREES,
        max_depth: int = defaults.MAX_DEPTH,
        n_bins: int = defaults.PLAIN_BINS,
        max_features: float = defaults.PLAIN_MAX_FEATURES,
        generator: Any = defaults.GENERATOR,
        tree_size: float = 4,
        learning_rate: float = 0.01,
        source: Source = "pool",
        variant: Variant = "published",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.max_rules = max_rules
        self.linear_terms = linear_terms
        self.penalty = penalty
        self.means = means
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.n_bins = n_bins
        self.max_features = max_features
        self.generator = generator
        self.tree_size = tree_size
        self.learning_rate = learning_rate
        self.source = source
        self.variant = variant
        self.random_state = random_state
        self.n_jobs = n_jobs

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be, before any work."""
        super().check_parameters()
        if self.variant == "paper" and self.linear_terms:
            raise InvalidParameter(
                "The MOSS paper compares with rules alone; set linear_terms=False, or "
                "variant='published'."
            )
        check_choice("means", self.means, get_args(Means))
        has_seed = self.random_state is None or isinstance(self.random_state, int | np.integer)
        if self.means == "first" and not (
            self.variant == "paper"
            and self.source == "pool"
            and self.generator in ("forest", "paper-forest")
            and has_seed
        ):
            raise InvalidParameter(
                "means='first' is for variant='paper' with source='pool', generator='forest' and "
                "an integer as random_state; set these, or means='all'."
            )

    def _choose(self, candidates: Candidates, rows: Rows | None) -> ChosenRules:
        choose = self._as_the_paper if self.variant == "paper" else self._as_published
        point, chosen = choose(candidates, rows)
        self.alpha_ = point.alpha
        _warn_if_cut_short(point, 0.5 * candidates.statistics.yy)
        return chosen

    def _as_published(
        self, candidates: Candidates, rows: Rows | None
    ) -> tuple[LassoPoint, ChosenRules]:
        statistics = candidates.statistics
        # Rules alone need no rows: their sums are in the statistics.
        design, folds, terms = Design.of_rules(statistics), None, LinearTerms.none()
        if self._reads_rows():
            rows, terms = self._read(rows)
            folds = _fold_sums(candidates, rows, terms, N_FOLDS if self.penalty == "cv" else 1)
            design = folds.design()
        points = points_of(design, self.max_rules)
        point = points[-1]
        if folds is not None and self.penalty == "cv":
            point = _best_of_squares(points, folds)
        rules, slopes = np.split(point.weights, [len(candidates)])
        self.linear_ = terms.weighed(slopes * terms.factors * statistics.target_scale)
        return point, ChosenRules.of_weights(rules, design.intercept(point.weights))

    def _as_the_paper(
        self, candidates: Candidates, rows: Rows | None
    ) -> tuple[LassoPoint, ChosenRules]:
        statistics = candidates.statistics
        means = statistics.values
        if self.means == "first":
            rows = require_rows(rows, "means='first' needs rows", "set means='all'")
            rows = rows.numbered(numbering_of(self.generator))
            means = first_tree_means(candidates, rows, resolve_seed(self.random_state))
        # Columns of `Statistics` are v_i where a rule holds; factors make them its mean here.
        factors = np.divide(means, statistics.values, out=np.zeros_like(means),
                            where=statistics.values != 0)  # fmt: skip
        # No means taken off the columns, and so no intercept.
        nothing = np.zeros(len(candidates))
        raw = Design(statistics.G, statistics.q, statistics.yy, statistics.n, nothing)
        size = count_untied(statistics.counts, self.max_rules)
        points = points_of(raw.scaled(factors), size, n_alphas=N_ALPHAS_OF_THE_PAPER)
        # Sizes may skip a number: the notebooks leave the fold out then, this takes less.
        point = next((point for point in points if point.size == size), points[-1])
        return point, ChosenRules.of_weights(point.weights * means, 0.0)

    def predict(self, X: Any) -> FloatArray:
        """Return the prediction for each row: that of `rules_`, plus the linear terms if any."""
        check_is_fitted(self)
        table = read_features(self, X, self._ignored)
        predictions = self.rules_.predict(table)
        return predictions + self.linear_.predict(table) if len(self.linear_) else predictions

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each column of X in what rules and linear terms move; all 0 where they do not.

        A linear term moves predictions by its weight times the standard deviation of its column.
        """
        amounts: FloatArray = super().feature_importances_
        amounts *= sum(rule.importance for rule in rule_importances(self.rules_))
        np.add.at(amounts, list(self.linear_.positions), self.linear_.importances)
        total = float(amounts.sum())
        return amounts / total if total > 0 else amounts


class RuleFitClassifier(LassoRules, BaselineClassifier):
    """Rules chosen by logistic regression with a penalty on absolute weights.

    The log-odds are an intercept plus the weights of the rules that hold. The larger the penalty,
    the fewer weights are not zero. A path of penalties, from the largest down, leads to `max_rules`
    rules.

    Parameters
    ----------
    max_rules : int, default=15
        Most terms in the model, rules and linear terms; of more than two classes, for each of them.
    linear_terms : bool, default=False
        Whether numeric columns may be terms themselves, as in `RuleFitRegressor`; needs rows.
    penalty : {"smallest", "cv"}, default="smallest"
        Of the penalties that give at most `max_rules` terms, the smallest, or the one with the
        smallest log-loss on rows left out of three folds, which needs rows.
    n_trees, max_depth, n_bins, max_features, generator, tree_size, learning_rate, source, \
random_state, n_jobs
        As in `RuleFitRegressor`. The boosted trees of `source="own"` are those of squared error, of
        a target of 0 and 1.
    outcome : label, default=None
        Of two classes the one that the rules are for, as in `MossClassifier`.
    class_weight : None, "balanced" or dict from classes to weights, default=None
        Multiplies the weights of rows, as in `MossClassifier`.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    rules_ : RuleSet, or RuleSets
        Of two classes, rules for the log-odds of the outcome; of more, a rule set for each. The
        whole model unless there are linear terms.
    linear_ : LinearTerms
        The linear terms, in log-odds; none by default.
    alpha_ : float
        The penalty; scikit-learn's `C` is one over it and the number of rows. 0 without candidates.
    candidates_, pool_, n_features_in_, feature_names_in_
        As in `RuleFitRegressor`. Of more than two classes, these (but for the last two), `linear_`
        and `alpha_` are by class.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RuleFitClassifier(max_rules=6, n_trees=100).fit(X, y)
    >>> len(model.rules_) <= 6, model.score(X, y) > 0.9
    (True, True)
    """

    _by_class = ("linear_", "alpha_")

    def __init__(
        self,
        max_rules: int = defaults.MAX_RULES,
        *,
        linear_terms: bool = False,
        penalty: Penalty = "smallest",
        n_trees: int | Literal["auto"] = defaults.PLAIN_TREES,
        max_depth: int = defaults.MAX_DEPTH,
        n_bins: int = defaults.PLAIN_BINS,
        max_features: float = defaults.PLAIN_MAX_FEATURES,
        generator: Any = defaults.GENERATOR,
        tree_size: float = 4,
        learning_rate: float = 0.01,
        source: Source = "pool",
        outcome: Any = None,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.max_rules = max_rules
        self.linear_terms = linear_terms
        self.penalty = penalty
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.n_bins = n_bins
        self.max_features = max_features
        self.generator = generator
        self.tree_size = tree_size
        self.learning_rate = learning_rate
        self.source = source
        self.outcome = outcome
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _choose(self, candidates: Candidates, rows: Rows | None) -> ChosenRules:
        terms, by_row = LinearTerms.none(), None
        if self._reads_rows():
            rows, terms = self._read(rows)
            linear = terms.columns(rows.table) * terms.factors if len(terms) else None
            by_row = Logistic.by_row(candidates, rows, linear)
        # Of rules alone, rows with the same columns count as one, which is much faster.
        loss = by_row if by_row is not None and self.linear_terms else Logistic.of_rules(candidates)
        points = points_of(loss, self.max_rules)
        point = points[-1]
        if rows is not None and by_row is not None and self.penalty == "cv":
            folds = deal(N_FOLDS, len(rows.target), groups_by_number(rows))
            point = _best_of_logistic(points, by_row, folds)
        self.alpha_ = point.alpha
        _warn_if_cut_short(point, loss.null_loss)
        rules, slopes = np.split(point.weights, [len(candidates)])
        self.linear_ = terms.weighed(slopes * terms.factors)
        return ChosenRules.of_weights(rules, loss.intercept(point.weights))

    def decision_function(self, X: Any) -> FloatArray:
        """Return log-odds of the second class (rows,), or of each of several (rows, classes).

        Those of `rules_`, plus the linear terms if any.
        """
        table = self._features(X)
        totals = self.rules_.decision_function(table)
        if not self.linear_terms:
            return self._of_second(totals)
        if isinstance(self.linear_, LinearTerms):
            return self._of_second(totals + self.linear_.predict(table))
        linear = [terms.predict(table) for terms in self.linear_.values()]
        return totals + np.column_stack(linear).astype(np.float64)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class, in the order of `classes_`: (rows, classes)."""
        if not self.linear_terms:
            return super().predict_proba(X)
        chances = expit(self.decision_function(X))
        if chances.ndim == 1:
            return np.column_stack([1.0 - chances, chances])
        chances = np.maximum(chances, np.finfo(np.float64).tiny)
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))


# --- what they choose -----------------------------------------------------------------------------


def points_of(loss: Loss, size: int, *, n_alphas: int = N_ALPHAS) -> list[LassoPoint]:
    """Return the points of the path with at most so many weights."""
    path = lasso_path(loss, n_alphas=n_alphas)
    followed = takewhile(lambda point: point.size <= OVERSHOOT * size, path)
    return [point for point in followed if point.size <= size]


def _warn_if_cut_short(point: LassoPoint, null_loss: float) -> None:
    if not point.converged:
        warn_user(
            f"The descent to the LASSO's weights ended with a gap of {point.gap:.2g} left, of a "
            f"loss of {null_loss:.4g} without rules; lower max_rules.",
            SolveLimitWarning,
        )


def _fold_sums(candidates: Candidates, rows: Rows, terms: LinearTerms, n_folds: int) -> Folds:
    """Return the sums of all rules' columns with linear terms beside them."""

    def more(part: RowRange) -> FloatArray:
        return terms.columns(rows.table, part) * terms.factors

    everything = np.arange(len(candidates))
    return Folds.of_rows(candidates, everything, rows, n_folds=n_folds, more=more)


def _best_of_squares(points: list[LassoPoint], folds: Folds) -> LassoPoint:
    """Return the point whose penalty has the smallest squared error on rows left out."""
    alphas = np.array([point.alpha for point in points])
    errors = folds.errors(lambda part: [point.weights for point in lasso_at(part, alphas)])
    return points[int(np.argmin(errors))]


def _best_of_logistic(points: list[LassoPoint], loss: Logistic, fold: IntArray) -> LassoPoint:
    """Return the point whose penalty has the smallest log-loss on rows left out.

    `fold` is that of each row, as in `Folds`. Losses are not sums that could be taken apart, so
    each fold is fitted from its rows.
    """
    alphas = np.array([point.alpha for point in points])
    errors = np.zeros(len(points))
    for number in np.unique(fold):
        train, test = loss.of_rows(fold != number), loss.of_rows(fold == number)
        for i, point in enumerate(lasso_at(train, alphas)):
            errors[i] += test.loss(point.weights, train.intercept(point.weights))
    return points[int(np.argmin(errors))]
