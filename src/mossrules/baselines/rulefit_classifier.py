"""`RuleFitClassifier`: rules, and perhaps linear terms, chosen by L1 logistic regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from mossrules import defaults
from mossrules._typing import FloatArray
from mossrules.baselines._base import BaselineClassifier, Choice, Source
from mossrules.baselines._lasso import LassoPoint, lasso_at
from mossrules.baselines._linear import LinearTerms
from mossrules.baselines._logistic import Logistic
from mossrules.baselines.rulefit import N_FOLDS, LassoRules, Penalty, points_of
from mossrules.candidates.search import Candidates
from mossrules.candidates.statistics import rule_columns
from mossrules.data.canonical_order import Rows
from mossrules.data.chunks import row_ranges
from mossrules.data.table import Table
from mossrules.exceptions import InvalidParameter

__all__ = ["RuleFitClassifier"]


class RuleFitClassifier(LassoRules, BaselineClassifier):
    """Rules chosen by logistic regression with a price on absolute weights.

    The log-odds are an intercept plus the weights of the rules that hold. The larger the price, the
    fewer weights are not zero; a path of prices, from the largest down, leads to `max_rules` rules.

    Parameters
    ----------
    max_rules : int, default=15
        Most terms in the model, rules and linear terms; of more than two classes, for each of them.
    linear_terms : bool, default=False
        Whether numeric columns may be terms themselves, as in `RuleFitRegressor`; needs rows.
    penalty : {"smallest", "cv"}, default="smallest"
        Of the prices that give at most `max_rules` terms, the smallest, or the one of the least
        log-loss on rows left out of three folds, which needs rows.
    n_trees, max_depth, n_bins, max_features, generator, tree_size, learning_rate, source, \
random_state, n_jobs
        As in `RuleFitRegressor`. The boosted trees of `source="own"` are those of squared error, of
        a target of 0 and 1.
    class_weight : None, "balanced" or dict from classes to weights, default=None
        Multiplies the weights of rows, as in `MossClassifier`.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    rules_ : RuleSet, or RuleSets
        Of two classes, rules for the log-odds of the second; of more, a rule set for each. The
        whole model unless there are linear terms.
    linear_ : LinearTerms
        The linear terms, in log-odds; none by default.
    alpha_ : float
        The price; scikit-learn's `C` is one over it and the number of rows. 0 without candidates.
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

    linear_: Any  # LinearTerms, of more than two classes by class
    alpha_: Any
    _figures = ("linear_", "alpha_")

    def __init__(
        self,
        max_rules: int = defaults.MAX_RULES,
        *,
        linear_terms: bool = False,
        penalty: Penalty = "smallest",
        n_trees: int = defaults.N_TREES,
        max_depth: int = defaults.MAX_DEPTH,
        n_bins: int = defaults.N_BINS,
        max_features: float = defaults.MAX_FEATURES,
        generator: Any = "forest",
        tree_size: float = 4,
        learning_rate: float = 0.01,
        source: Source = "pool",
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
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    # --- choice ---------------------------------------------------------------------------------

    def _learn(self, rows: Rows | None) -> None:
        self.linear_, self.alpha_ = LinearTerms.none(), 0.0
        super()._learn(rows)

    def _choose(self, candidates: Candidates, rows: Rows | None) -> Choice:
        if self.linear_terms or self.penalty == "cv":
            by_row, terms = self._read(candidates, rows)
            loss = by_row if self.linear_terms else Logistic.of_rules(candidates)
            points = points_of(loss, self.max_rules)
            point = points[-1] if self.penalty == "smallest" else _best(points, by_row)
        else:
            loss, terms = Logistic.of_rules(candidates), LinearTerms.none()
            point = points_of(loss, self.max_rules)[-1]
        self.alpha_ = point.alpha
        self._warn(point, loss.null_loss)
        rules, linear = np.split(point.weights, [len(candidates)])
        self.linear_ = terms.weighed(linear * terms.factors)
        return Choice.of_weights(rules, loss.intercept(point.weights))

    def _read(self, candidates: Candidates, rows: Rows | None) -> tuple[Logistic, LinearTerms]:
        """Return the loss row by row, with linear terms beside the rules."""
        if rows is None:
            raise InvalidParameter(
                "linear_terms=True and penalty='cv' need rows and only candidates were given; call "
                "fit, or set linear_terms=False and penalty='smallest'."
            )
        terms = LinearTerms.of_rows(rows) if self.linear_terms else LinearTerms.none()
        table, binning, rules = rows.table, candidates.binning, candidates.pool.rules
        parts = [
            rule_columns(rules, binning, binning.encode(table, part))
            for part in row_ranges(table.n_rows)
        ]
        columns = np.concatenate(parts, axis=1)
        if len(terms):
            linear = (terms.columns(table) * terms.factors).T
            columns = np.concatenate([columns.astype(np.float64), linear])
        weights = np.ones(table.n_rows) if rows.weights is None else rows.weights
        return Logistic(columns, weights, rows.target), terms

    # --- using ----------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> FloatArray:
        """Return log-odds of the second class (rows,), or of each of several (rows, classes).

        Those of `rules_`, plus the linear terms if any.
        """
        table = self._features(X)
        totals = self.rules_.decision_function(table)
        if not self.linear_terms:
            return totals
        if isinstance(self.linear_, LinearTerms):
            return totals + _said(self.linear_, table)
        return totals + np.column_stack([_said(each, table) for each in self.linear_.values()])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class, in the order of `classes_`: (rows, classes)."""
        if not self.linear_terms:
            return super().predict_proba(X)
        there = expit(self.decision_function(X))
        if there.ndim == 1:
            return np.column_stack([1.0 - there, there])
        there = np.maximum(there, np.finfo(np.float64).tiny)
        return np.asarray(there / there.sum(axis=1, keepdims=True))


def _said(terms: LinearTerms, table: Table) -> FloatArray:
    return terms.predict(table) if len(terms) else np.zeros(table.n_rows)


def _best(points: list[LassoPoint], loss: Logistic) -> LassoPoint:
    """Return the point whose penalty has the least log-loss on rows left out.

    The i-th row is in fold i modulo the number of folds, as in `Folds`.
    """
    alphas = np.array([point.alpha for point in points])
    fold = np.arange(loss.A.shape[1]) % N_FOLDS
    errors = np.zeros(len(points))
    for number in range(N_FOLDS):
        train, test = loss.of_rows(fold != number), loss.of_rows(fold == number)
        for place, point in enumerate(lasso_at(train, alphas)):
            errors[place] += test.loss(point.weights, train.intercept(point.weights))
    return points[int(np.argmin(errors))]
