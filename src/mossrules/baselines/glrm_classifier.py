"""`GlrmClassifier`: logistic regression over rules, long ones dearer, by column generation.

Wei, Dash, Gao and Gunluk, "Generalized Linear Rule Models", 2019: their model of two classes.
"""

from __future__ import annotations

from typing import Any

from mossrules import defaults
from mossrules.baselines._base import BaselineClassifier, Choice, Source
from mossrules.baselines._glrm import choose_rules
from mossrules.baselines._logistic import Logistic
from mossrules.baselines.glrm import GeneratedRules
from mossrules.candidates.search import Candidates
from mossrules.data.canonical_order import Rows
from mossrules.learning.log_odds import refit_log_odds

__all__ = ["GlrmClassifier"]


class GlrmClassifier(GeneratedRules, BaselineClassifier):
    """GLRM: log-odds for conjunctions, most of them zero, by a penalty that grows with length.

    The mean logistic loss plus (lambda_0 + lambda_1 * literals) / 2 times the size of each weight,
    followed along a path of falling lambda_0 to the last solution with at most `max_rules` rules;
    lambda_1 is in proportion to lambda_0, as in the defaults of the authors' code.

    With `source="own"` rules come from column generation, as in `GlrmRegressor`: it looks for
    conjunctions that would lower this objective. On the shared pool all of its rules are columns
    from the start. There are no linear terms.

    Parameters
    ----------
    max_rules : int, default=15
        Most rules in the model; of more than two classes, for each of them.
    source, length_price, beam_width, max_length
        As in `GlrmRegressor`.
    refit : bool, default=True
        Whether weights and intercept are fitted anew to the chosen rules, as the authors do, and
        with the small ridge of `MossClassifier`.
    n_trees, max_depth, n_bins, max_features, generator, class_weight, random_state, n_jobs
        As in `MossClassifier`; column generation uses no forest.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    rules_ : RuleSet, or RuleSets
        Of two classes, rules for the log-odds of the second; of more, a rule set for each.
    strength_ : float
        lambda_0 at which it was found; NaN where there are no candidates.
    candidates_, pool_, n_features_in_, feature_names_in_
        As in `GlrmRegressor`. Of more than two classes, these and `strength_` are by class.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = GlrmClassifier(max_rules=5, source="own").fit(X, y)
    >>> len(model.rules_), model.score(X, y) > 0.9
    (5, True)
    """

    _of_classes = True
    _figures = ("strength_",)

    def __init__(
        self,
        max_rules: int = defaults.MAX_RULES,
        *,
        source: Source = "pool",
        length_price: float = 0.2,
        refit: bool = True,
        beam_width: int = 1,
        max_length: int = 10,
        n_trees: int = defaults.N_TREES,
        max_depth: int = defaults.MAX_DEPTH,
        n_bins: int = defaults.N_BINS,
        max_features: float = defaults.MAX_FEATURES,
        generator: Any = "forest",
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.max_rules = max_rules
        self.source = source
        self.length_price = length_price
        self.refit = refit
        self.beam_width = beam_width
        self.max_length = max_length
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.n_bins = n_bins
        self.max_features = max_features
        self.generator = generator
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _choose(self, candidates: Candidates, rows: Rows | None) -> Choice:  # noqa: ARG002
        loss = Logistic.of_rules(candidates)
        point = choose_rules(
            loss,
            candidates.pool.rules,
            self._prices(),
            self.max_rules,
            scale=candidates.statistics.target_scale,
        )
        self.strength_ = point.strength
        choice = Choice.of_weights(point.w, loss.intercept(point.w))
        if not self.refit or candidates.patterns is None or len(choice.support) == 0:
            return choice
        found = refit_log_odds(candidates.patterns, choice.support)
        return Choice(choice.support, found.weights, found.intercept)
