"""`SirusClassifier`: the rules that appear in most trees, averaged (Benard and others, 2021)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from mossrules import defaults
from mossrules._typing import FloatArray
from mossrules.baselines._base import BaselineClassifier, Choice, Source
from mossrules.baselines.sirus import FrequentRules
from mossrules.candidates.search import Candidates
from mossrules.data.canonical_order import Rows
from mossrules.data.columns import Label
from mossrules.model import RuleSet

__all__ = ["SirusClassifier"]


class SirusClassifier(FrequentRules, BaselineClassifier):
    """The most frequent rules of a forest, and the mean of what they say.

    As published: a rule is left out if it is a linear combination of more frequent ones (such as a
    rule and its opposite). Each rule says how frequent the class is among its rows, or among all
    others where it does not hold, and the probability is the mean over the rules. Rules of SIRUS
    thus add to a probability, not to log-odds: `rules_` has the link "identity".

    A mean of rates is never far from that of all rows: it ranks rows well, but as a probability it
    is too cautious, and its log-loss large.

    Parameters
    ----------
    max_rules : int, default=15
        Most rules in the model; of more than two classes, for each of them.
    p0 : float or None, default=None
        Only rules in a larger share of the trees than this are taken.
    n_trees, max_depth, n_bins, max_features, generator, source, random_state, n_jobs
        As in `SirusRegressor`.
    class_weight : None, "balanced" or dict from classes to weights, default=None
        Multiplies the weights of rows, as in `MossClassifier`.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    rules_ : RuleSet, or dict
        Of two classes, rules for the probability of the second; of more, a rule set for each.
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
        n_trees: int | Literal["auto"] = defaults.N_TREES,
        max_depth: int = defaults.MAX_DEPTH,
        n_bins: int = defaults.N_BINS,
        max_features: float = defaults.MAX_FEATURES,
        generator: Any = "forest",
        source: Source = "pool",
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
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _choose(self, candidates: Candidates, rows: Rows | None) -> Choice:  # noqa: ARG002
        support, design, steps = self._independent(candidates)
        w = steps / max(1, len(steps))
        chosen = np.flatnonzero(w)
        return Choice(support[chosen], w[chosen], design.intercept(w))

    def _learn(self, rows: Rows | None) -> None:
        self.rules_ = self._in_units(rows)  # of 0 and 1: it adds up rates, not log-odds

    def _joined(self, by_class: dict[Label, RuleSet]) -> Any:
        return by_class  # RuleSets are for log-odds

    def decision_function(self, X: Any) -> FloatArray:
        """Return by how much the probability of the second class is above one half: (rows,).

        Of more than two classes, what the rules of each say: (rows, classes).
        """
        table = self._features(X)
        if isinstance(self.rules_, RuleSet):
            return self.rules_.predict(table) - 0.5
        return np.column_stack([each.predict(table) for each in self.rules_.values()])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class, in the order of `classes_`: (rows, classes).

        Of more than two classes, what the rules of each say is divided by the sum over all.
        """
        said = self.decision_function(X)
        if said.ndim == 1:
            there = np.clip(said + 0.5, 0.0, 1.0)  # but for rounding it is there
            return np.column_stack([1.0 - there, there])
        said = np.clip(said, np.finfo(np.float64).tiny, 1.0)
        return np.asarray(said / said.sum(axis=1, keepdims=True))
