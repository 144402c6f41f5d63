"""SIRUS: the rules that appear in most trees (Benard, Biau, da Veiga and Scornet, 2021).

`frequent_rules` has the mathematics; here are the two estimators and what they choose.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from mossrules import defaults
from mossrules._common import check_number
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
from mossrules.baselines.designs import Design, Folds
from mossrules.baselines.frequent_rules import (
    STEP,
    best_by_folds,
    best_by_gcv,
    independent_rules,
    settled_trees,
    solve_ridge,
)
from mossrules.candidates.search import Candidates, resolve_seed
from mossrules.data.columns import Label
from mossrules.data.rows import Rows
from mossrules.exceptions import InvalidParameter, SolveLimitWarning, warn_user
from mossrules.learning.fit import find_in_rows
from mossrules.learning.squared_error import refit_weights
from mossrules.learning.stability_levels import count_untied
from mossrules.model import RuleSet
from mossrules.model.export_text import event_text

__all__ = ["FrequentRules", "SirusClassifier", "SirusRegressor"]

N_FOLDS = 10
AGREEMENT = 0.95  # between two forests, on average, when there are enough trees
MAX_TREES = 64_000


class FrequentRules(Baseline):
    """What SIRUS is for any target: the most frequent rules that do not depend on others."""

    p0: float | None
    n_trees: int | Literal["auto"]
    generator: Any
    random_state: Any

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be, before any work."""
        super().check_parameters()
        if self.p0 is not None and check_number("p0", self.p0, minimum=0.0) >= 1:
            raise InvalidParameter(f"p0 is {self.p0!r}; pass a share of the trees in [0, 1).")
        if self.n_trees == "auto" and not isinstance(self.generator, str):
            raise InvalidParameter(
                "n_trees is 'auto', and the trees of another generator are given; pass a number "
                "of trees, or set generator='forest'."
            )

    def _find_own(self, rows: Rows) -> Candidates:
        parameters = {**self.search_parameters(), "inner_nodes": True}
        if self.n_trees != "auto":
            return find_in_rows(rows, **parameters)
        # One seed for all forests; a random generator would give each another.
        parameters["random_state"] = resolve_seed(self.random_state)
        return _grow_until_settled(rows, parameters)

    def _n_frequent(self, candidates: Candidates) -> int:
        """Return how many of the candidates, which are sorted, are in more trees than p0 asks."""
        if self.p0 is None:
            return len(candidates)
        return int(np.count_nonzero(candidates.pool.proportions > self.p0))


class SirusRegressor(FrequentRules, BaselineRegressor):
    """The most frequent rules of a forest.

    As published, a rule is left out if it is a linear combination of more frequent ones (such as a
    rule and its opposite). Each rule predicts the mean target of its rows, and the mean of all
    others where it does not hold. The model adds up these predictions with non-negative weights
    from ridge regression; a rule of weight zero is not in the model.

    Parameters
    ----------
    max_rules : int, default=15
        Most rules in the model.
    p0 : float or None, default=None
        Only rules with a larger tree frequency than this are taken.
    ridge : {"gcv", "cv"} or float, default="gcv"
        Penalty of the published variant, on glmnet's scale for a target of variance 1. "cv" is the
        best on rows left out of ten folds, as in the R package. "gcv", generalised
        cross-validation, comes close to it without rows, so it works in `fit_candidates` too.
    n_trees : int or "auto", default=2000
        Trees of the forest. "auto" is as in `MossRegressor`; with `source="own"` it is as
        published: as many thousands as are needed until two forests would have 95 % of their rules
        in common.
    max_depth, n_bins, max_features, generator, random_state, n_jobs
        The search for candidates, as in `MossRegressor`.
    source : {"pool", "own"}, default="pool"
        "pool" takes the leaves of the trees as candidates, like `MossRegressor`; "own" takes inner
        nodes too, as published.
    variant : {"published", "paper"}, default="published"
        "paper" is what the MOSS paper compares with: the most frequent rules, dependent or not, and
        weights of any sign from least squares with a small ridge. Where the last rule is in as many
        trees as the next, all rules in that many trees are left out.

    Attributes
    ----------
    rules_ : RuleSet
        The model: rules, weights and intercept.
    candidates_, pool_, n_features_in_, feature_names_in_
        As in `MossRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = SirusRegressor(max_rules=8, source="own").fit(X, y)
    >>> len(model.rules_) <= 8
    True
    """

    def __init__(
        self,
        max_rules: int = defaults.MAX_RULES,
        *,
        p0: float | None = None,
        ridge: float | Literal["gcv", "cv"] = "gcv",
        n_trees: int | Literal["auto"] = defaults.PLAIN_TREES,
        max_depth: int = defaults.MAX_DEPTH,
        n_bins: int = defaults.PLAIN_BINS,
        max_features: float = defaults.PLAIN_MAX_FEATURES,
        generator: Any = defaults.GENERATOR,
        source: Source = "pool",
        variant: Variant = "published",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.max_rules = max_rules
        self.p0 = p0
        self.ridge = ridge
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.n_bins = n_bins
        self.max_features = max_features
        self.generator = generator
        self.source = source
        self.variant = variant
        self.random_state = random_state
        self.n_jobs = n_jobs

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be, before any work."""
        super().check_parameters()
        if self.ridge not in ("gcv", "cv"):
            check_number("ridge", self.ridge)

    def _choose(self, candidates: Candidates, rows: Rows | None) -> ChosenRules:
        n_frequent = self._n_frequent(candidates)
        if self.variant == "paper":
            return _most_frequent(candidates, min(self.max_rules, n_frequent))
        rules = _take_independent(candidates, n_frequent, self.max_rules)
        # With one rule there is nothing to share out: its prediction is the model.
        w = rules.steps
        if np.count_nonzero(w) > 1:
            w = rules.steps * solve_ridge(rules.outputs, self._penalty(candidates, rules, rows))
        return rules.with_weights(w)

    def _penalty(
        self, candidates: Candidates, rules: _IndependentRules, rows: Rows | None
    ) -> float:
        if self.ridge == "gcv":
            return best_by_gcv(rules.outputs)
        if self.ridge != "cv":
            return float(self.ridge)
        rows = require_rows(rows, "Cross-validation needs rows", "choose a penalty without folds")
        folds = Folds.of_rows(candidates, rules.support, rows, n_folds=N_FOLDS)
        return best_by_folds(rules.outputs, folds.scaled(rules.steps))


class SirusClassifier(FrequentRules, BaselineClassifier):
    """The most frequent rules of a forest, and the mean of their rates.

    As published: a rule is left out if it is a linear combination of more frequent ones (such as a
    rule and its opposite). Each rule has two rates: how frequent the class is among its rows, and
    among all others. The probability is the mean of the rules' rates. Effects of SIRUS rules thus
    add to a probability, not to log-odds: `rules_` has the link "identity".

    A mean of rates is never far from that of all rows: it ranks rows well, but as a probability it
    is too cautious, and its log-loss is large.

    Parameters
    ----------
    max_rules : int, default=15
        Most rules in the model; of more than two classes, for each of them.
    p0 : float or None, default=None
        Only rules with a larger tree frequency than this are taken.
    n_trees, max_depth, n_bins, max_features, generator, source, random_state, n_jobs
        As in `SirusRegressor`.
    outcome : label, default=None
        Of two classes the one that the rules are for, as in `MossClassifier`.
    class_weight : None, "balanced" or dict from classes to weights, default=None
        Multiplies the weights of rows, as in `MossClassifier`.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    rules_ : RuleSet, or dict
        Of two classes, rules for the probability of the outcome; of more, a rule set for each.
    candidates_, pool_, n_features_in_, feature_names_in_
        As in `SirusRegressor`; of more than two classes, the first two by class.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = SirusClassifier(max_rules=8, n_trees=100).fit(X, y)
    >>> len(model.rules_), model.score(X, y) > 0.9
    (8, True)
    """

    def __init__(
        self,
        max_rules: int = defaults.MAX_RULES,
        *,
        p0: float | None = None,
        n_trees: int | Literal["auto"] = defaults.PLAIN_TREES,
        max_depth: int = defaults.MAX_DEPTH,
        n_bins: int = defaults.PLAIN_BINS,
        max_features: float = defaults.PLAIN_MAX_FEATURES,
        generator: Any = defaults.GENERATOR,
        source: Source = "pool",
        outcome: Any = None,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.max_rules = max_rules
        self.p0 = p0
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.n_bins = n_bins
        self.max_features = max_features
        self.generator = generator
        self.source = source
        self.outcome = outcome
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _choose(self, candidates: Candidates, rows: Rows | None) -> ChosenRules:  # noqa: ARG002
        rules = _take_independent(candidates, self._n_frequent(candidates), self.max_rules)
        # No weights are fitted for classes: each rule counts alike, as published.
        return rules.with_weights(rules.steps / max(1, len(rules.steps)))

    def _learn(self, rows: Rows | None) -> None:
        rules = self._rules_in_target_units(rows)  # it adds up rates, not log-odds
        event = event_text(rules.target, self._outcome)
        self.rules_ = replace(rules, target=f"probability of {event}")

    def _joined(self, by_class: dict[Label, RuleSet]) -> Any:
        return by_class  # RuleSets are for log-odds

    def decision_function(self, X: Any) -> FloatArray:
        """Return by how much the probability of the second class is above one half: (rows,).

        Of more than two classes, the mean rate of the rules of each: (rows, classes).
        """
        table = self._features(X)
        if isinstance(self.rules_, RuleSet):
            return self._of_second(self.rules_.predict(table) - 0.5)
        return np.column_stack([rules.predict(table) for rules in self.rules_.values()])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class, in the order of `classes_`: (rows, classes).

        Of more than two classes, the mean rate of each is divided by the sum over all.
        """
        rates = self.decision_function(X)
        if rates.ndim == 1:
            second = np.clip(rates + 0.5, 0.0, 1.0)  # but for rounding it is there
            return np.column_stack([1.0 - second, second])
        rates = np.clip(rates, np.finfo(np.float64).tiny, 1.0)
        return np.asarray(rates / rates.sum(axis=1, keepdims=True))


# --- what they choose -----------------------------------------------------------------------------


class _IndependentRules(NamedTuple):
    """The rules that are taken, their columns of 0 and 1, and what each predicts.

    That is by how much the mean target inside a rule is above that outside: its step.
    """

    support: IntArray
    design: Design
    steps: FloatArray

    @property
    def outputs(self) -> Design:
        """The columns of what the rules predict."""
        return self.design.scaled(self.steps)

    def with_weights(self, w: FloatArray) -> ChosenRules:
        """Return those whose weight is not zero."""
        used = np.flatnonzero(w)
        return ChosenRules(self.support[used], w[used], self.design.intercept(w))


def _take_independent(candidates: Candidates, n_frequent: int, max_rules: int) -> _IndependentRules:
    """Return the most frequent rules, less those that depend on more frequent ones."""
    rules = candidates.pool.rules[:n_frequent]
    support = independent_rules(rules, candidates.binning, max_rules)
    design = Design.of_rules(candidates.statistics).take(support)
    # Least squares on one centred column of 0 and 1 is the mean inside less that outside: c / C.
    spread = np.diagonal(design.C)
    steps = np.divide(design.c, spread, out=np.zeros_like(design.c), where=spread > 0)
    return _IndependentRules(support, design, steps)


def _most_frequent(candidates: Candidates, max_rules: int) -> ChosenRules:
    """Return the most frequent rules with weights of least squares, as the MOSS paper has it."""
    statistics = candidates.statistics
    support = np.arange(min(count_untied(statistics.counts, max_rules), len(candidates)))
    w, intercept = refit_weights(statistics, support)
    return ChosenRules(support, w * statistics.values[support], intercept)


def _grow_until_settled(rows: Rows, parameters: dict[str, Any]) -> Candidates:
    """Return the candidates of the smallest forest, in thousands of trees, that is settled."""
    # Doubling costs at most twice the last forest, and trees that are asked about once are not
    # asked about again; growing a thousand at a time would cost the square of their number.
    asked, n_trees = 0, STEP
    while True:
        candidates = find_in_rows(rows, **{**parameters, "n_trees": n_trees})
        settled = settled_trees(candidates.pool, AGREEMENT, after=asked)
        if settled == n_trees:
            return candidates
        if settled is not None:
            return find_in_rows(rows, **{**parameters, "n_trees": settled})
        if n_trees >= MAX_TREES:
            warn_user(
                f"Forests of {n_trees} trees would still not agree to {AGREEMENT:.0%} on the "
                "rules to take; the model is that of the last one.",
                SolveLimitWarning,
            )
            return candidates
        asked, n_trees = n_trees, 2 * n_trees
