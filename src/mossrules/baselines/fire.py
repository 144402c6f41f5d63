"""`FireRegressor`: few rules of a forest by a concave penalty, neighbouring leaves fused.

Liu and Mazumder, "FIRE: An Optimization Approach for Fast Interpretable Rule Extraction", 2023.
"""

from __future__ import annotations

from typing import Any

from mossrules import defaults
from mossrules._checks import check_number
from mossrules._warn import warn_user
from mossrules.baselines._base import BaselineRegressor, Choice, Source, Variant
from mossrules.baselines._fire import FirePath
from mossrules.candidates.cuts import MAX_BINS
from mossrules.candidates.search import Candidates
from mossrules.data.canonical_order import Rows
from mossrules.estimators.finding import find_in_rows, generation
from mossrules.exceptions import SolveLimitWarning
from mossrules.learning.stability_levels import untied

__all__ = ["FireRegressor"]

OWN_CANDIDATES = 5000  # most leaves of its own forest: their Gram matrix has 200 MB


class FireRegressor(BaselineRegressor):
    """FIRE: weights for the leaves of a forest, most of them zero, by block coordinate descent.

    "published": squared error, plus the minimax concave penalty (MCP) on the weight of each leaf of
    each tree, plus a price for differences between leaves that are neighbours in a tree. A block of
    the descent is a tree; blocks become active when they would move most. "paper": each distinct
    rule once, standardised, one at a time and without fusion; and `max_rules` less those rules
    that tie in count there (see `SirusRegressor`).

    Solutions are followed along a path of falling prices to the last one with at most `max_rules`
    rules. Of a penalty that is not convex they are stationary points. The intercept is free, and
    weights are not fitted anew, as this penalty hardly shrinks them.

    Parameters
    ----------
    max_rules : int, default=15
        Most rules in the model.
    source : {"pool", "own"}, default="pool"
        "pool" is the forest that all learners share. "own" are the leaves of a forest on columns
        of up to 250 bins instead of `n_bins`, as the authors do not bin, with up to 5000 of them.
    variant : {"published", "paper"}, default="published"
        The authors' method, or what the MOSS paper compares with.
    gamma : float, default=1.1
        How concave the penalty is, greater than 1: near 1 it all but counts rules, and the larger
        it is the nearer to the lasso.
    fusion : float, default=0.1
        Price of differing neighbours, as a multiple of the price of size; 0 is no fusion. Only
        for "published". (The authors search a grid of both prices by validation.)
    n_trees, max_depth, n_bins, max_features, generator, random_state, n_jobs
        The forest, as in `MossRegressor`.

    Attributes
    ----------
    rules_ : RuleSet
        The model.
    price_ : float
        The price of size at which it was found, for a target of variance one; NaN where there
        are no candidates.
    candidates_, pool_, n_features_in_, feature_names_in_
        As in `MossRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = FireRegressor(max_rules=5, random_state=0).fit(X, y)
    >>> len(model.rules_), model.score(X, y) > 0.4
    (5, True)
    """

    price_: float

    def __init__(
        self,
        max_rules: int = defaults.MAX_RULES,
        *,
        source: Source = "pool",
        variant: Variant = "published",
        gamma: float = 1.1,
        fusion: float = 0.1,
        n_trees: int = defaults.N_TREES,
        max_depth: int = defaults.MAX_DEPTH,
        n_bins: int = defaults.N_BINS,
        max_features: float = defaults.MAX_FEATURES,
        generator: Any = "forest",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.max_rules = max_rules
        self.source = source
        self.variant = variant
        self.gamma = gamma
        self.fusion = fusion
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.n_bins = n_bins
        self.max_features = max_features
        self.generator = generator
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("gamma", self.gamma, above=1.0)
        check_number("fusion", self.fusion, minimum=0.0)

    def _find_own(self, rows: Rows) -> Candidates:
        parameters = {**generation(self), "n_bins": MAX_BINS}
        return find_in_rows(rows, max_candidates=OWN_CANDIDATES, **parameters)

    def _learn(self, rows: Rows | None) -> None:
        self.price_ = float("nan")  # without candidates there is none
        super()._learn(rows)

    def _choose(self, candidates: Candidates, rows: Rows | None) -> Choice:  # noqa: ARG002
        statistics, most = candidates.statistics, self.max_rules
        if self.variant == "published":
            path = FirePath.of_leaves(candidates, gamma=self.gamma, fusion=self.fusion)
        else:
            path = FirePath.of_rules(statistics, gamma=self.gamma)
            most = untied(statistics.counts, most)
        point = path.follow(most)
        if not point.converged:
            warn_user(
                "The descent stopped before its weights were stationary; choose a gamma nearer to "
                "1, or lower max_rules.",
                SolveLimitWarning,
            )
        self.price_ = point.strength
        return Choice.of_weights(path.weights(point.w), path.intercept(point.w))
