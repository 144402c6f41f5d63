"""GLRM: a LASSO over rules in which a long rule pays more than a short one.

Wei, Dash, Gao and Gunluk, "Generalized Linear Rule Models", 2019, without linear terms. In standard
deviations of the target, as everywhere:

    min over b of 1/(2n) |z - a - A b|^2 + 1/2 sum_k (lambda_0 + lambda_1 d_k) |b_k|

with d_k the number of literals of rule k, and columns A of 0 and 1; or with the logistic loss of
two classes over n in place of the squares. Rules are those of a pool or come from column generation
(`column_generation`), and a path of falling lambda_0 leads to as many as are allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from mossrules import defaults
from mossrules._common import check_flag, check_integer, check_number
from mossrules._typing import FloatArray, IntArray
from mossrules.baselines.base import (
    Baseline,
    BaselineClassifier,
    BaselineRegressor,
    ChosenRules,
    Source,
    Variant,
)
from mossrules.baselines.column_generation import (
    ColumnGeneration,
    LogisticMaster,
    Prices,
    SquaredMaster,
    count_literals,
)
from mossrules.baselines.designs import Design
from mossrules.baselines.logistic import Logistic
from mossrules.baselines.paths import Loss, PathPoint, Solve, follow_path, solve_closely
from mossrules.candidates.codes import EncodedTable
from mossrules.candidates.forest import ForestGenerator
from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.rules import Rule
from mossrules.candidates.search import Candidates, encode_rows
from mossrules.candidates.statistics import compute_patterns, compute_statistics
from mossrules.data.chunks import resolve_n_jobs
from mossrules.data.rows import Rows
from mossrules.exceptions import InvalidTable, SolveLimitWarning, warn_user
from mossrules.learning.fit import no_candidates, target_varies
from mossrules.learning.log_loss import refit_log_odds
from mossrules.learning.squared_error import refit_weights
from mossrules.learning.stability_levels import count_untied

__all__ = [
    "Generated",
    "GlrmClassifier",
    "GlrmRegressor",
    "choose_rules",
    "generate_rules",
    "prices_in_proportion",
    "prices_of_length",
]

PAPER_LENGTH_PRICE = 0.005  # lambda_1 in the notebooks of the MOSS paper
# No rule is worth it at the first of these, as a rule that holds on half of the rows, and explains
# all there is, has a correlation of 1/2 with the target; 0.05 is the default of the authors' code.
STRENGTHS = np.geomspace(1.0, 1e-3, 200)
HALVINGS = 20  # of the last step, in search of a point with as many rules as allowed


class GeneratedRules(Baseline):
    """What GLRM is for any target: column generation, and a path of prices."""

    _of_classes = False  # whether the loss is the logistic one
    strength_: float
    length_price: float
    beam_width: int
    max_length: int
    n_bins: int

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be, before any work."""
        super().check_parameters()
        check_number("length_price", self.length_price, minimum=0.0)
        check_flag("refit", self.refit)
        check_integer("beam_width", self.beam_width)
        check_integer("max_length", self.max_length)

    def _prices(self) -> Prices:
        return prices_in_proportion(self.length_price)

    def _find_own(self, rows: Rows) -> Candidates:
        nothing = no_candidates(rows, n_trees=1)
        if not target_varies(rows):
            return nothing
        jobs = resolve_n_jobs(self.n_jobs)
        try:
            # Binned as for a forest, so that all methods have the same cut points.
            data = encode_rows(
                rows, ForestGenerator(), n_bins=self.n_bins, cuts="quantile", n_jobs=jobs
            )
        except InvalidTable:
            return nothing  # the table was seen to be sound: all its columns are constant
        # The logistic loss is of classes 0 and 1 as they are, so strengths are in their units.
        unit = float(data.moments.variance) ** 0.5 * data.target_grid.step
        generated = generate_rules(
            data,
            self._prices(),
            self.max_rules,
            width=self.beam_width,
            max_length=self.max_length,
            master=LogisticMaster if self._of_classes else SquaredMaster,
            scale=unit if self._of_classes else 1.0,
        )
        if not generated.converged:
            warn_user(
                "Column generation stopped before all worthwhile rules were added; lower "
                "max_length or max_rules.",
                SolveLimitWarning,
            )
        if not generated.rules:
            return nothing
        # In canonical order: that of the search would decide where rules tie.
        rules = tuple(sorted(generated.rules, key=lambda rule: rule.sort_key))
        # No tree has these rules: one search counts as one tree, which found them all.
        pool = CandidatePool(rules, (frozenset({0}),) * len(rules), n_trees=1)
        statistics = compute_statistics(data, pool, n_jobs=jobs)
        patterns = compute_patterns(data, pool, n_jobs=jobs) if self._of_classes else None
        return Candidates(data.binning, pool, statistics, patterns)

    def _set_candidates(self, candidates: Candidates) -> None:
        self.strength_ = float("nan")  # without candidates there is none
        super()._set_candidates(candidates)


class GlrmRegressor(GeneratedRules, BaselineRegressor):
    """GLRM: weights for conjunctions, most of them zero, by a penalty that grows with length.

    Squared error plus (lambda_0 + lambda_1 * literals) / 2 times the size of each weight, for a
    target in standard deviations, followed along a path of falling lambda_0 to the last solution
    with at most `max_rules` rules. "published": lambda_1 is in proportion to lambda_0, as in the
    defaults of the authors' code. "paper": lambda_1 is 0.005 throughout, and `max_rules` less those
    rules of the pool that tie there (see `SirusRegressor`).

    With `source="own"` rules come from column generation: a beam search over conjunctions of the
    binned columns looks for those that would lower the objective; they are added, and the problem
    is solved again, until none is found. On the shared pool all rules are columns from the start.

    The authors' code has linear terms too, and the MOSS paper counts neither these nor rules of one
    literal. Here there are no linear terms, and every rule counts.

    Parameters
    ----------
    max_rules : int, default=15
        Most rules in the model.
    source : {"pool", "own"}, default="pool"
        The forest that all methods share, or column generation.
    variant : {"published", "paper"}, default="published"
        The authors' method, or what the MOSS paper compares with.
    length_price : float, default=0.2
        lambda_1 / lambda_0 of "published".
    refit : bool, default=True
        Whether weights and intercept are refitted to the chosen rules, as the authors do.
    beam_width : int, default=1
        How many conjunctions of each length the search of column generation keeps.
    max_length : int, default=10
        Most literals of a rule in column generation.
    n_trees, max_depth, max_features, generator, random_state
        The forest, as in `MossRegressor`; column generation uses none of them.
    n_bins, n_jobs
        As in `MossRegressor`.

    Attributes
    ----------
    rules_ : RuleSet
        The model. Rules of column generation have the tree frequency 1: there is one search.
    strength_ : float
        lambda_0 at which it was found; NaN where there are no candidates.
    candidates_, pool_, n_features_in_, feature_names_in_
        As in `MossRegressor`; the columns that were generated, where they were.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = GlrmRegressor(max_rules=5, source="own").fit(X, y)
    >>> len(model.rules_), model.score(X, y) > 0.4
    (5, True)
    """

    def __init__(
        self,
        max_rules: int = defaults.MAX_RULES,
        *,
        source: Source = "pool",
        variant: Variant = "published",
        length_price: float = 0.2,
        refit: bool = True,
        beam_width: int = 1,
        max_length: int = 10,
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
        self.length_price = length_price
        self.refit = refit
        self.beam_width = beam_width
        self.max_length = max_length
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.n_bins = n_bins
        self.max_features = max_features
        self.generator = generator
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _prices(self) -> Prices:
        if self.variant == "paper":
            return prices_of_length(PAPER_LENGTH_PRICE)
        return super()._prices()

    def _choose(self, candidates: Candidates, rows: Rows | None) -> ChosenRules:  # noqa: ARG002
        statistics, max_rules = candidates.statistics, self.max_rules
        if self.variant == "paper":
            max_rules = count_untied(statistics.counts, max_rules)
        design = Design.of_rules(statistics)
        point = choose_rules(design, candidates.pool.rules, self._prices(), max_rules)
        self.strength_ = point.strength
        chosen = ChosenRules.of_weights(point.w, design.intercept(point.w))
        if not self.refit:
            return chosen
        w, intercept = refit_weights(statistics, chosen.support)
        return ChosenRules(chosen.support, w * statistics.values[chosen.support], intercept)


class GlrmClassifier(GeneratedRules, BaselineClassifier):
    """GLRM: log-odds for conjunctions, most of them zero, by a penalty that grows with length.

    The mean logistic loss plus (lambda_0 + lambda_1 * literals) / 2 times the size of each weight,
    followed along a path of falling lambda_0 to the last solution with at most `max_rules` rules;
    lambda_1 is in proportion to lambda_0, as in the defaults of the authors' code.

    With `source="own"` rules come from column generation, as in `GlrmRegressor`: it looks for
    conjunctions that would lower this objective. On the shared pool all rules are columns from the
    start. There are no linear terms.

    Parameters
    ----------
    max_rules : int, default=15
        Most rules in the model; of more than two classes, for each of them.
    source, length_price, beam_width, max_length
        As in `GlrmRegressor`.
    refit : bool, default=True
        Whether weights and intercept are refitted to the chosen rules, as the authors do, with the
        small ridge of `MossClassifier`.
    n_trees, max_depth, n_bins, max_features, generator, outcome, class_weight, random_state, n_jobs
        As in `MossClassifier`; column generation uses no forest.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    rules_ : RuleSet, or RuleSets
        Of two classes, rules for the log-odds of the outcome; of more, a rule set for each.
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
    _by_class = ("strength_",)

    def __init__(
        self,
        max_rules: int = defaults.MAX_RULES,
        *,
        source: Source = "pool",
        length_price: float = 0.2,
        refit: bool = True,
        beam_width: int = 1,
        max_length: int = 10,
        n_trees: int | Literal["auto"] = defaults.PLAIN_TREES,
        max_depth: int = defaults.MAX_DEPTH,
        n_bins: int = defaults.PLAIN_BINS,
        max_features: float = defaults.PLAIN_MAX_FEATURES,
        generator: Any = defaults.GENERATOR,
        outcome: Any = None,
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
        self.outcome = outcome
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _choose(self, candidates: Candidates, rows: Rows | None) -> ChosenRules:  # noqa: ARG002
        loss = Logistic.of_rules(candidates)
        point = choose_rules(
            loss,
            candidates.pool.rules,
            self._prices(),
            self.max_rules,
            scale=candidates.statistics.target_scale,
        )
        self.strength_ = point.strength
        chosen = ChosenRules.of_weights(point.w, loss.intercept(point.w))
        if not self.refit or candidates.patterns is None or len(chosen.support) == 0:
            return chosen
        refitted = refit_log_odds(candidates.patterns, chosen.support)
        return ChosenRules(chosen.support, refitted.weights, refitted.intercept)


# --- what they choose -----------------------------------------------------------------------------


class Generated(NamedTuple):
    """Rules, and whether no rule that the search finds would still have lowered the objective."""

    rules: tuple[Rule, ...]
    converged: bool


def prices_in_proportion(ratio: float) -> Prices:
    """Return prices of which lambda_1 is always `ratio` times lambda_0."""

    def prices(strength: float, lengths: IntArray) -> FloatArray:
        return 0.5 * strength * (1.0 + ratio * lengths.astype(np.float64))

    return prices


def prices_of_length(extra: float) -> Prices:
    """Return prices of which lambda_1 is always `extra`, while lambda_0 falls."""

    def prices(strength: float, lengths: IntArray) -> FloatArray:
        return 0.5 * (strength + extra * lengths.astype(np.float64))

    return prices


def choose_rules(
    loss: Loss, rules: Sequence[Rule], prices: Prices, max_rules: int, *, scale: float = 1.0
) -> PathPoint:
    """Return the point of the path with as many rules as allowed, over columns that are given.

    Strengths are multiples of `scale`, the standard deviation of the target: 1 for squares.
    """
    lengths: IntArray = np.array([count_literals(rule) for rule in rules], dtype=np.int64)

    def solve(strength: float, start: FloatArray) -> PathPoint:
        return PathPoint.of_weights(strength, solve_closely(loss, prices(strength, lengths), start))

    return _follow(solve, loss.m, max_rules, scale)


def generate_rules(
    data: EncodedTable,
    prices: Prices,
    max_rules: int,
    *,
    width: int,
    max_length: int,
    master: type[SquaredMaster | LogisticMaster] = SquaredMaster,
    scale: float = 1.0,
) -> Generated:
    """Return the columns that are generated on the way to a point with as many rules as allowed."""
    problem = ColumnGeneration.of(data, prices, width=width, max_length=max_length, master=master)
    point = _follow(problem.solve, 0, max_rules, scale)
    return Generated(tuple(problem.rules), point.converged)


def _follow(solve: Solve, n_columns: int, max_rules: int, scale: float) -> PathPoint:
    strengths = scale * STRENGTHS
    start = PathPoint(float(strengths[0]), np.zeros(n_columns), 0)
    return follow_path(solve, start, strengths[1:].tolist(), max_rules, halvings=HALVINGS)
