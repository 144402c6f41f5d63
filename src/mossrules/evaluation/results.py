"""What methods have made of the folds of a table: accuracy and stability, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata

from mossrules._common import cached_property, check_choice
from mossrules._deprecated import Renamed
from mossrules._display import display_class
from mossrules._frames import Backend, make_frame
from mossrules._typing import FloatArray
from mossrules.data.table import Table, did_you_mean
from mossrules.evaluation.agreement import SAME_ROWS, Agreement, Estimate, Identity, Measure
from mossrules.evaluation.frontier_evaluation import MEASURES, standard_error
from mossrules.evaluation.metrics import LABELS, LARGER_IS_BETTER, METRICS
from mossrules.exceptions import InvalidParameter
from mossrules.model.ruleset import RuleSet

__all__ = ["FAILED", "Evaluation", "MethodFold", "MethodSummary"]

NAN = float("nan")
FAILED = "failed"


@dataclass(frozen=True, eq=False)
class MethodFold:
    """What one method has made of one fold.

    See Also
    --------
    mossrules.evaluation.Evaluation : Has them, as `folds` of a method.
    """

    method: str  #: its name
    fold: int  #: from 0
    status: str  #: "failed", "fitted", or that of the choice if it has a certificate
    failure: str | None = None  #: the error's sentence
    seed: int | None = None  #: of the method in this fold
    scores: Mapping[str, float] = field(default_factory=dict)  #: by metric, on the test rows
    seconds: float = NAN  #: to fit, once there were candidates
    search_seconds: float = NAN  #: to find candidates, once for all methods that share them
    rules: RuleSet | None = None  #: None for methods without rules
    candidates: frozenset[str] | None = field(default=None, repr=False)  #: short names of rules

    learner = Renamed("method")

    def score(self, metric: str) -> float:
        """Return one of the scores; NaN where there is none."""
        return self.scores.get(metric, NAN)

    @property
    def r2(self) -> float:
        """R2 on the test rows, of a regressor."""
        return self.score("r2")

    @property
    def error(self) -> float:
        """Mean squared error there."""
        return self.score("error")

    @property
    def failed(self) -> bool:
        """Whether there is no model."""
        return self.status == FAILED

    @property
    def n_rules(self) -> int | None:
        """Number of rules, if the model has any notion of them."""
        return None if self.rules is None else len(self.rules)


@dataclass(frozen=True, eq=False)
class MethodSummary:
    """What one method has made of all folds; measures of stability are None without rules.

    See Also
    --------
    mossrules.evaluation.Evaluation : Has them, as `summaries`.
    """

    method: str  #: its name
    metric: str  #: the one that ranks are by
    scores: Mapping[str, float]  #: mean over the folds that did not fail, by metric
    errors: Mapping[str, float]  #: standard errors of these means
    n_rules: float  #: mean number of rules
    failed: int  #: folds
    seconds: float  #: median to fit, once there were candidates
    search_seconds: float  #: median to find them
    dice: Estimate | None  #: agreement between folds
    jaccard: Estimate | None  #: likewise
    ochiai: Estimate | None  #: likewise
    pog: Estimate | None  #: likewise
    nogueira: Estimate | None  #: likewise, corrected for chance
    rank_score: float = NAN  #: by the metric
    rank_dice: float = NAN  #: by Dice, from 1
    rank_combined: float = NAN  #: mean of both ranks

    learner = Renamed("method")

    @property
    def score(self) -> float:
        """The mean of the metric that ranks are by."""
        return self.scores.get(self.metric, NAN)

    @property
    def score_se(self) -> float:
        """Its standard error."""
        return self.errors.get(self.metric, NAN)

    @property
    def r2(self) -> float:
        """Mean R2, of a regressor."""
        return self.scores.get("r2", NAN)

    @property
    def r2_se(self) -> float:
        """Its standard error."""
        return self.errors.get("r2", NAN)

    @property
    def error(self) -> float:
        """Mean squared error, of a regressor."""
        return self.scores.get("error", NAN)

    def __repr__(self) -> str:
        parts = [f"{LABELS[self.metric]} {self.score:.3f} +- {self.score_se:.3f}"]
        if self.dice is not None:
            parts += [f"Dice {self.dice.estimate:.3f}", f"{self.n_rules:.3g} rules"]
        if self.failed:
            parts.append(f"{self.failed} folds failed")
        return f"MethodSummary({self.method}: {', '.join(parts)})"


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Every method on every fold.

    `frame` has one row for each method and fold, `summary` one for each method, and `plot` draws
    accuracy against stability.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.evaluation import evaluate
    >>> X = {"age": range(24), "smoker": [False, True] * 12}
    >>> y = [1.0, 5.0, 1.0, 6.0] * 6
    >>> model = MossRegressor(2, max_depth=1, n_trees=20)
    >>> found = evaluate({"MOSS": model}, X, y, cv=3)
    >>> found.summaries[0]
    MethodSummary(MOSS: R2 0.957 +- 0.012, Dice 1.000, 2 rules)
    >>> found.folds("MOSS")[0].rules.texts
    ['smoker is false', 'smoker is true']
    >>> found.summary(backend="pandas")[["method", "dice", "n_rules"]]
      method  dice  n_rules
    0    MOSS   1.0      2.0
    """

    results: tuple[MethodFold, ...]  #: by method, then by fold
    settings: Mapping[str, str]  #: the methods as one would write them down, in order
    seconds: float  #: that it took
    identity: Identity = "codes"  #: when two rules count as the same
    overlap: float = SAME_ROWS  #: share of rows for the identity "rows"
    table: Table | None = field(default=None, repr=False)  #: all rows, for the identity "rows"
    metric: str = "r2"  #: the one that methods are ranked by

    learners = Renamed("methods")

    @property
    def metrics(self) -> tuple[str, ...]:
        """All that was measured: of regressors, or of classifiers."""
        return next(names for names in METRICS.values() if self.metric in names)

    def by(self, metric: str) -> Evaluation:
        """Return the same results with another metric for ranks and figures: "log_loss", say."""
        check_choice("metric", metric, self.metrics)
        return replace(self, metric=metric)

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods."""
        return tuple(self.settings)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.results) // len(self.settings)

    @property
    def failures(self) -> list[MethodFold]:
        """The folds without a model, each with its `failure`."""
        return [each for each in self.results if each.failed]

    def folds(self, method: str) -> list[MethodFold]:
        """Return what a method has made of each fold."""
        if method not in self.settings:
            raise InvalidParameter(
                f"There is no method {method!r}; choose from "
                f"{', '.join(map(repr, self.methods))}.{did_you_mean(method, self.methods)}"
            )
        return [each for each in self.results if each.method == method]

    def rule_sets(self, method: str) -> list[RuleSet]:
        """Return the rule sets of a method, one from each fold that has one."""
        return [each.rules for each in self.folds(method) if each.rules is not None]

    def n_candidates(self, method: str) -> int | None:
        """Return how many distinct rules a method could choose from in some fold, if known."""
        known = [each.candidates for each in self.folds(method) if not each.failed]
        sets = [each for each in known if each is not None]
        return len(frozenset[str]().union(*sets)) if sets and len(sets) == len(known) else None

    # --- summary --------------------------------------------------------------------------------

    @cached_property
    def summaries(self) -> tuple[MethodSummary, ...]:
        """What each method has made of all folds."""
        return _ranked([self._summarise(method) for method in self.methods])

    def _summarise(self, method: str) -> MethodSummary:
        folds = self.folds(method)
        done = [each for each in folds if not each.failed]
        scores = {name: np.array([each.score(name) for each in done]) for name in self.metrics}
        sizes = [float(len(rules)) for rules in self.rule_sets(method)]
        return MethodSummary(
            method=method,
            metric=self.metric,
            scores={name: _mean(values) for name, values in scores.items()},
            errors={name: standard_error(values) for name, values in scores.items()},
            n_rules=_mean(sizes),
            failed=len(folds) - len(done),
            seconds=_median([each.seconds for each in done]),
            search_seconds=_median([each.search_seconds for each in done]),
            **self._stability(method),
        )

    def _stability(self, method: str) -> dict[str, Any]:
        """Return every measure of the rule sets of a method; None where it cannot be had."""
        sets = self.rule_sets(method)
        if len(sets) < 2:
            return dict.fromkeys((*MEASURES, "nogueira"))
        table = self.table if self.identity == "rows" else None
        agreement = Agreement.of(sets, identity=self.identity, X=table, overlap=self.overlap)
        found: dict[str, Any] = {each: agreement.mean(each) for each in MEASURES}
        known = self.n_candidates(method)
        # Read as thresholds, one rule of bins may be several.
        among = None if known is None else max(1, known, agreement.distinct)
        return {**found, "nogueira": None if among is None else agreement.nogueira(among)}

    # --- showing --------------------------------------------------------------------------------

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of `frame` as lists."""

        def of(*names: str) -> dict[str, list[Any]]:
            return {name: [getattr(each, name) for each in self.results] for name in names}

        return {
            **of("method", "fold", "status", "failure"),
            **{name: [each.score(name) for each in self.results] for name in self.metrics},
            **of("n_rules", "seconds", "search_seconds", "seed"),
            "settings": [self.settings[each.method] for each in self.results],
        }

    def summary_columns(self) -> dict[str, list[Any]]:
        """Return the columns of `summary` as lists."""
        rows = [_flat(each) for each in self.summaries]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each method and fold.

        Columns: `method`, `fold`, `status` and, where it is "failed", the sentence of the
        `failure`; on the test rows `r2` and `error`, the mean squared one, or of classifiers `auc`,
        `log_loss`, `balanced_accuracy` and `brier`; `n_rules`, missing for methods without rules;
        `seconds` to fit and `search_seconds` to find candidates (the same search for all methods
        that share it; missing for methods that have none); `seed` and `settings`.
        """
        return make_frame(self.columns(), backend)

    def summary(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each method.

        Columns: mean `r2` over the folds with its standard error `r2_se`, and mean `error`, the
        squared one, or of classifiers all of their metrics with standard errors; each measure of
        stability with its interval, `dice`, `dice_lower`, `dice_upper` and so on, missing for
        methods without rules; mean `n_rules`; how many folds `failed`; the median of `seconds` and
        `search_seconds`; and ranks, 1 being best.

        `rank_r2` is by mean R2 among all methods (`rank_auc` by AUC, and so on: see `by`),
        `rank_dice` by Dice among those with rules. `rank_combined` is the paper's: the mean of both
        ranks, each among the methods with rules. Methods that tie share the mean of their ranks.
        One that failed on a fold has no rank: its means are of other folds than everyone else's.
        """
        return make_frame(self.summary_columns(), backend)

    def plot(self, ax: Any = None, *, measure: Measure | Literal["nogueira"] = "dice") -> Any:
        """Draw stability against R2, or AUC, with matplotlib, and return the `ComparisonDisplay`.

        Parameters
        ----------
        ax
            Matplotlib's axes to draw on; by default those of a new figure.
        measure
            What the horizontal axis has: "dice", "jaccard", "ochiai", "pog" or "nogueira".
        """
        display = display_class("ComparisonDisplay")
        return display.from_evaluation(self, measure=measure).plot(ax)

    def __repr__(self) -> str:
        parts = [f"{len(self.methods)} methods, {self.n_folds} folds"]
        if self.failures:
            parts.append(f"{len(self.failures)} fits failed")
        return f"Evaluation({', '.join(parts)}, same {self.identity}, {self.seconds:.2g} s)"

    def __str__(self) -> str:
        width = max(len("method"), *map(len, self.methods))
        metric = f"{LABELS[self.metric]} (s.e.)"
        heading = f"{'method':{width}}   {metric:15} Dice [interval]      rules  combined rank"
        lines = [repr(self), heading]
        for each in self.summaries:
            dice = ""
            if each.dice is not None:
                dice = f"{each.dice.estimate:.3f} [{each.dice.lower:.3f}, {each.dice.upper:.3f}]"
            size = "" if np.isnan(each.n_rules) else f"{each.n_rules:.3g}"
            rank = "" if np.isnan(each.rank_combined) else f"{each.rank_combined:.3g}"
            score = f"{each.score:6.3f} ({each.score_se:.3f})"
            line = f"{each.method:{width}}  {score:15}  {dice:20} {size:>5}  {rank}".rstrip()
            lines.append(line + (f"  failed on {each.failed} folds" if each.failed else ""))
        return "\n".join(lines)


def _ranked(found: list[MethodSummary]) -> tuple[MethodSummary, ...]:
    """Return the summaries with ranks; those that failed on a fold have none."""
    score = np.array([NAN if each.failed else _good(each) for each in found])
    stable = [NAN if each.failed or each.dice is None else each.dice.estimate for each in found]
    dice = np.array(stable)
    among = np.where(
        np.isnan(dice), NAN, score
    )  # methods without rules take no part in the combined rank
    combined = (_ranks(among) + _ranks(dice)) / 2.0
    ranks = zip(_ranks(score).tolist(), _ranks(dice).tolist(), combined.tolist(), strict=True)
    return tuple(
        replace(each, rank_score=of_score, rank_dice=of_dice, rank_combined=of_both)
        for each, (of_score, of_dice, of_both) in zip(found, ranks, strict=True)
    )


def _good(summary: MethodSummary) -> float:
    """Return the score, larger being better."""
    return summary.score if summary.metric in LARGER_IS_BETTER else -summary.score


def _ranks(values: FloatArray) -> FloatArray:
    """Return ranks from the largest down, NaN staying NaN; what differs by rounding ties."""
    ranks: FloatArray = rankdata(-np.round(values, 12), nan_policy="omit")
    return ranks


def _flat(summary: MethodSummary) -> dict[str, Any]:
    """Return the figures of a method, each measure with its interval."""
    row: dict[str, Any] = {}
    for each in fields(summary):
        name, value = each.name, getattr(summary, each.name)
        if name == "scores":
            for metric, score in value.items():
                row[metric] = score
                if metric != "error":
                    row[f"{metric}_se"] = summary.errors[metric]
        elif name in (*MEASURES, "nogueira"):
            row[name] = NAN if value is None else value.estimate
            row[f"{name}_lower"] = NAN if value is None else value.lower
            row[f"{name}_upper"] = NAN if value is None else value.upper
        elif name == "rank_score":
            row[f"rank_{summary.metric}"] = value
        elif name not in ("metric", "errors"):
            row[name] = value
    return row


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else NAN


def _median(values: list[float]) -> float:
    return float(np.median(values)) if values else NAN
