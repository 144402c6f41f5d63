"""`FireRegressor`: few rules of a forest by a concave penalty, neighbouring leaves fused.

Liu and Mazumder, "FIRE: An Optimization Approach for Fast Interpretable Rule Extraction", 2023.
Both versions walk down a path of prices, each solution the start of the next; `blocks` has the
descent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mossrules import defaults
from mossrules._common import check_number
from mossrules._typing import FloatArray
from mossrules.baselines.base import BaselineRegressor, ChosenRules, Source, Variant
from mossrules.baselines.blocks import BlockDescent, Blocks, Penalty, leaf_blocks
from mossrules.baselines.designs import Design
from mossrules.baselines.paths import PathPoint, follow_path, without_rounding
from mossrules.candidates.cuts import MAX_BINS
from mossrules.candidates.search import Candidates
from mossrules.data.rows import Rows
from mossrules.exceptions import SolveLimitWarning, warn_user
from mossrules.learning.fit import find_in_rows
from mossrules.learning.stability_levels import count_untied
from mossrules.statistics import Statistics

__all__ = ["FirePath", "FireRegressor"]

OWN_CANDIDATES = 5000  # most leaves of its own forest: their Gram matrix has 200 MB
STEPS = 100  # points of a path
SHORTEST = 1e-3  # the last one's price, as a share of the first one's
HALVINGS = 20  # of the last step, in search of a point with as many rules as allowed


class FireRegressor(BaselineRegressor):
    """FIRE: weights for the leaves of a forest, most of them zero, by block coordinate descent.

    "published": squared error, plus the minimax concave penalty (MCP) on the weight of each leaf of
    each tree, plus a price for differences between leaves that are neighbours in a tree. A block of
    the descent is a tree; blocks become active when they would move most. "paper": each distinct
    rule once, standardised, one at a time and without fusion; and `max_rules` less those rules
    that tie there (see `SirusRegressor`).

    Solutions are followed along a path of falling prices to the last one with at most `max_rules`
    rules. As the penalty is not convex, they are stationary points. The intercept is free, and
    weights are not refitted, as this penalty hardly shrinks them.

    Parameters
    ----------
    max_rules : int, default=15
        Most rules in the model.
    source : {"pool", "own"}, default="pool"
        "pool" is the forest that all methods share. "own" are the leaves of a forest on columns
        of up to 250 bins instead of `n_bins`, as the authors do not bin, with up to 5000 of them.
    variant : {"published", "paper"}, default="published"
        The authors' method, or what the MOSS paper compares with.
    gamma : float, default=1.1
        How concave the penalty is, greater than 1: near 1 it all but counts rules, and the larger
        it is the nearer to the lasso.
    fusion : float, default=0.1
        Price of differing neighbours, as a multiple of the price of size; 0 is no fusion. Only
        for "published". (The authors search a grid of both prices on rows held out.)
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
        n_trees: int | Literal["auto"] = defaults.PLAIN_TREES,
        max_depth: int = defaults.MAX_DEPTH,
        n_bins: int = defaults.PLAIN_BINS,
        max_features: float = defaults.PLAIN_MAX_FEATURES,
        generator: Any = defaults.GENERATOR,
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

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be, before any work."""
        super().check_parameters()
        check_number("gamma", self.gamma, above=1.0)
        check_number("fusion", self.fusion, minimum=0.0)

    def _find_own(self, rows: Rows) -> Candidates:
        # As many bins as a code can tell apart: the nearest to trees that do not bin.
        parameters = {**self.search_parameters(), "n_bins": MAX_BINS}
        return find_in_rows(rows, max_candidates=OWN_CANDIDATES, **parameters)

    def _set_candidates(self, candidates: Candidates) -> None:
        self.price_ = float("nan")  # without candidates there is none
        super()._set_candidates(candidates)

    def _choose(self, candidates: Candidates, rows: Rows | None) -> ChosenRules:  # noqa: ARG002
        statistics, max_rules = candidates.statistics, self.max_rules
        if self.variant == "published":
            path = FirePath.of_leaves(candidates, gamma=self.gamma, fusion=self.fusion)
        else:
            path = FirePath.of_rules(statistics, gamma=self.gamma)
            max_rules = count_untied(statistics.counts, max_rules)
        point = path.follow(max_rules)
        if not point.converged:
            warn_user(
                "The descent stopped before its weights were stationary; choose a gamma nearer to "
                "1, or lower max_rules.",
                SolveLimitWarning,
            )
        self.price_ = point.strength
        return ChosenRules.of_weights(path.weights(point.w), path.intercept(point.w))


# --- the path of prices ---------------------------------------------------------------------------


@dataclass(frozen=True)
class FirePath:
    """The problem at all prices; `factors` turn weights of its columns into those of 0 and 1.

    `gamma`, greater than one, is that of the minimax concave penalty; the price of differing
    neighbours is `fusion` times that of size, so that there is one path and not a grid of them.
    """

    descent: BlockDescent
    factors: FloatArray
    gamma: float
    fusion: float
    prices: FloatArray
    halvings: int

    @classmethod
    def of_leaves(cls, candidates: Candidates, *, gamma: float, fusion: float) -> FirePath:
        """Return the published problem: all leaves of all trees, a block for each tree.

        A column is the leaf's value where a row falls in it, and 0 elsewhere.
        """
        design = Design.of_values(candidates.statistics)
        # From the price that no leaf is worth, where a path has to begin: at zero.
        top = float(np.abs(design.c).max())
        return cls(
            BlockDescent(design, leaf_blocks(candidates.pool, candidates.binning)),
            candidates.statistics.values,
            gamma,
            fusion,
            np.geomspace(top, SHORTEST * top, STEPS) if top > 0.0 else np.zeros(1),
            HALVINGS,
        )

    @classmethod
    def of_rules(cls, statistics: Statistics, *, gamma: float) -> FirePath:
        """Return what the MOSS paper ran: each distinct rule once, on its own, without fusion.

        Columns have variance one, and prices are the same for all data: from that at which no
        column is worth it, even one that is the target, to a thousandth of it.
        """
        design = Design.of_rules(statistics)
        spread = np.sqrt(np.diagonal(design.C) / design.n)
        factors = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0.0)
        return cls(
            BlockDescent(design.scaled(factors), Blocks.single(statistics.m)),
            factors,
            gamma,
            0.0,
            design.n * np.geomspace(1.0, SHORTEST, STEPS),
            # The notebooks take a point of their grid as it is.
            halvings=0,
        )

    def follow(self, max_rules: int) -> PathPoint:
        """Return the point with the most rules that are no more than `max_rules`."""
        start = PathPoint(float(self.prices[0]), np.zeros(len(self.descent.blocks.rules)), 0)
        prices = self.prices[1:].tolist()
        return follow_path(self.solve, start, prices, max_rules, halvings=self.halvings)

    def solve(self, price: float, start: FloatArray) -> PathPoint:
        """Return the stationary point that a descent from `start` finds at one price."""
        end = self.descent.minimise(self.penalty(price), start)
        # Several leaves may be one rule, whose weights may cancel: rules are counted, not columns.
        n_rules = int(np.count_nonzero(self.weights(end.w)))
        return PathPoint(price, end.w, n_rules, end.converged)

    def penalty(self, price: float) -> Penalty:
        """Return what is paid at a price."""
        prices = np.full(len(self.descent.blocks.rules), price)
        return Penalty(prices, 1.0 / self.gamma, self.fusion * price)

    def weights(self, w: FloatArray) -> FloatArray:
        """Return the weight of each rule, of columns of 0 and 1."""
        return without_rounding(self.per_rule(w) * self.factors)

    def intercept(self, w: FloatArray) -> float:
        """Return the intercept that goes with them."""
        return self.descent.design.intercept(self.per_rule(w))

    def per_rule(self, w: FloatArray) -> FloatArray:
        """Return the weight of each rule, of the columns of the problem."""
        return self.descent.blocks.per_rule(w, self.descent.design.m)
