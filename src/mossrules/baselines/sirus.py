"""SIRUS: the rules that appear in most trees (Benard, Biau, da Veiga and Scornet, 2021)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from mossrules import defaults
from mossrules._checks import check_number
from mossrules._typing import FloatArray, IntArray
from mossrules._warn import warn_user
from mossrules.baselines._agreement import STEP, settled_trees
from mossrules.baselines._base import Baseline, BaselineRegressor, Choice, Source, Variant
from mossrules.baselines._design import Design
from mossrules.baselines._folds import Folds
from mossrules.baselines._independence import independent_rules
from mossrules.baselines._ridge import best_by_folds, best_by_gcv, solve_ridge
from mossrules.candidates.search import Candidates, resolve_seed
from mossrules.data.canonical_order import Rows
from mossrules.estimators.finding import find_in_rows, generation
from mossrules.exceptions import InvalidParameter, SolveLimitWarning
from mossrules.learning.fitting import refit_weights
from mossrules.learning.stability_levels import untied

__all__ = ["FrequentRules", "SirusRegressor"]

N_FOLDS = 10
AGREEMENT = 0.95  # between two forests, on average, when there are enough trees
MAX_TREES = 64_000


class FrequentRules(Baseline):
    """What SIRUS is for any target: the most frequent rules that do not depend on others."""

    p0: float | None
    n_trees: int | Literal["auto"]
    generator: Any
    random_state: Any

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.p0 is not None and check_number("p0", self.p0, minimum=0.0) >= 1:
            raise InvalidParameter(f"p0 is {self.p0!r}; pass a share of the trees in [0, 1).")
        if self.n_trees == "auto" and (
            self.source == "pool" or not isinstance(self.generator, str)
        ):
            raise InvalidParameter(
                "n_trees is 'auto', which is for a forest of SIRUS's own; pass a number of trees, "
                "or set source='own' and generator='forest'."
            )

    def _find_own(self, rows: Rows) -> Candidates:
        parameters = {**generation(self), "inner_nodes": True}
        if self.n_trees != "auto":
            return find_in_rows(rows, **parameters)
        parameters["random_state"] = resolve_seed(self.random_state)  # a generator moves on
        asked, n_trees = 0, STEP
        while True:
            candidates = find_in_rows(rows, **{**parameters, "n_trees": n_trees})
            enough = settled_trees(candidates.pool, AGREEMENT, after=asked)
            if enough == n_trees:
                return candidates
            if enough is not None:
                return find_in_rows(rows, **{**parameters, "n_trees": enough})
            if n_trees >= MAX_TREES:
                warn_user(
                    f"Forests of {n_trees} trees would still not agree to {AGREEMENT:.0%} on the "
                    "rules to take; the model is that of the last one.",
                    SolveLimitWarning,
                )
                return candidates
            asked, n_trees = n_trees, 2 * n_trees

    def _frequent(self, candidates: Candidates) -> int:
        """Return how many of the candidates, which are sorted, are frequent enough."""
        if self.p0 is None:
            return len(candidates)
        return int(np.count_nonzero(candidates.pool.proportions > self.p0))

    def _independent(self, candidates: Candidates) -> tuple[IntArray, Design, FloatArray]:
        """Return the rules to take, their columns, and what each predicts.

        That is by how much the mean target inside a rule is above that outside.
        """
        rules = candidates.pool.rules[: self._frequent(candidates)]
        support = independent_rules(rules, candidates.binning, self.max_rules)
        design = Design.of_rules(candidates.statistics).take(support)
        spread = np.diagonal(design.C)
        steps = np.divide(design.c, spread, out=np.zeros_like(design.c), where=spread > 0)
        return support, design, steps


class SirusRegressor(FrequentRules, BaselineRegressor):
    """The most frequent rules of a forest.

    As published, a rule is left out if it is a linear combination of more frequent ones (such as a
    rule and its opposite). Each rule predicts the mean target of its rows, or of all others where
    it does not hold, and the model adds up these predictions with non-negative weights from ridge
    regression; a rule of weight zero is not in the model.

    Parameters
    ----------
    max_rules : int, default=15
        Most rules in the model.
    p0 : float or None, default=None
        Only rules in a larger share of the trees than this are taken.
    ridge : {"gcv", "cv"} or float, default="gcv"
        Penalty of the published variant, of glmnet's scale for a target of variance 1. "cv" is the
        best on rows left out of ten folds, as in the R package; "gcv", generalised
        cross-validation, comes close to it without rows, and so works in `fit_candidates` too.
    n_trees : int or "auto", default=2000
        Trees of the forest. "auto", with `source="own"`, is as published: as many thousands as it
        takes until two forests would agree to 95 % on the rules to take.
    max_depth, n_bins, max_features, generator
        The search for candidates, as in `MossRegressor`.
    source : {"pool", "own"}, default="pool"
        "pool" takes the leaves of the trees for candidates, as `MossRegressor` does; "own" takes
        inner nodes too, as published.
    variant : {"published", "paper"}, default="published"
        "paper" is what the MOSS paper compares with: the most frequent rules without a look at
        dependence, weights of any sign from least squares with a small ridge, and where the last
        rule ties in count with the next, all that tie are left out.
    random_state : int, NumPy generator or None, default=None
        Seed of the forest; None is the seed 0.
    n_jobs : int or None, default=None
        Threads; None uses all cores. The result does not depend on it.

    Attributes
    ----------
    rules_ : RuleSet
        The model: rules, weights and intercept.
    candidates_ : Candidates
        The rules to choose from, and their statistics.
    pool_ : CandidatePool
        The same rules with the trees that contain each.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Their names, if X has names of text.

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
        n_trees: int | Literal["auto"] = defaults.N_TREES,
        max_depth: int = defaults.MAX_DEPTH,
        n_bins: int = defaults.N_BINS,
        max_features: float = defaults.MAX_FEATURES,
        generator: Any = "forest",
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.ridge not in ("gcv", "cv"):
            check_number("ridge", self.ridge)

    def _choose(self, candidates: Candidates, rows: Rows | None) -> Choice:
        if self.variant == "paper":
            most = min(self.max_rules, self._frequent(candidates))
            return _most_frequent(candidates, most)
        support, design, steps = self._independent(candidates)
        w = steps
        if np.count_nonzero(steps) > 1:
            outputs = design.scaled(steps)
            if self.ridge == "cv":
                folds = Folds.of_rows(candidates, support, rows, n_folds=N_FOLDS)
                ridge = best_by_folds(outputs, folds.scaled(steps))
            else:
                ridge = best_by_gcv(outputs) if self.ridge == "gcv" else float(self.ridge)
            w = steps * solve_ridge(outputs, ridge)
        chosen = np.flatnonzero(w)
        return Choice(support[chosen], w[chosen], design.intercept(w))


def _most_frequent(candidates: Candidates, max_rules: int) -> Choice:
    """Return the most frequent rules with weights of least squares, as the MOSS paper has it."""
    statistics = candidates.statistics
    support = np.arange(min(untied(statistics.counts, max_rules), len(candidates)))
    w, intercept = refit_weights(statistics, support)
    return Choice(support, w * statistics.values[support], intercept)
