"""What methods have made of the folds of a table: accuracy and recurrence, side by side.

Values only: nothing here fits. `Evaluation.frame` has what happened, `Evaluation.summary` what
follows. Both come as lists too (`columns`, `summary_columns`), for programs without data frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.stats import rankdata

from mossrules import defaults
from mossrules._common import cached_property, check_choice
from mossrules._deprecated import Renamed
from mossrules._display import display_class
from mossrules._frames import Backend, make_frame
from mossrules._typing import FloatArray
from mossrules.budget import left_out_in_words, stopped_in_words
from mossrules.data.table import did_you_mean
from mossrules.evaluation.agreement import (
    MEASURES,
    SAME_ROWS,
    Agreement,
    Estimate,
    Identity,
    Measure,
)
from mossrules.evaluation.frontier_evaluation import standard_error
from mossrules.exceptions import InvalidParameter
from mossrules.solver.result import Status

if TYPE_CHECKING:
    from mossrules.data.table import Table
    from mossrules.model.ruleset import RuleSet

__all__ = [
    "FAILED",
    "LABELS",
    "METRICS",
    "NAN",
    "Evaluation",
    "MethodFold",
    "MethodSummary",
    "Task",
]

Task = Literal["regression", "classification"]
NAN = float("nan")
PROVING = (Status.OPTIMAL.value, Status.TIME_LIMIT.value)  # methods that prove, and could not
FAILED = "failed"

# The first of each is the one that methods are ranked by, unless another is asked for.
METRICS: dict[Task, tuple[str, ...]] = {
    "regression": ("r2", "error"),
    "classification": ("auc", "log_loss", "balanced_accuracy", "brier"),
}
LABELS = {
    "r2": "R2",
    "error": "squared error",
    "auc": "AUC",
    "log_loss": "log-loss",
    "balanced_accuracy": "balanced accuracy",
    "brier": "Brier score",
}
LARGER_IS_BETTER = ("r2", "auc", "balanced_accuracy")


@dataclass(frozen=True, eq=False)
class MethodFold:
    """What one method has made of one fold.

    See Also
    --------
    mossrules.evaluation.Evaluation : Has them, as `folds` of a method.
    """

    method: str  #: its name
    fold: int  #: from 0
    status: str  #: "failed", "fitted", or the status of its solution if it has a certificate
    failure: str | None = None  #: the reason, if it failed
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
    """What one method has made of all folds; measures of recurrence are None without rules.

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
    accuracy against recurrence.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.evaluation import evaluate
    >>> X = {"age": range(20, 60), "smoker": [False, True] * 20}
    >>> y = [1.0, 5.0] * 10 + [3.0, 9.0] * 10
    >>> model = MossRegressor(3, max_depth=1, n_trees=20)
    >>> evaluation = evaluate({"MOSS": model}, X, y, cv=3)
    >>> evaluation.summaries[0]
    MethodSummary(MOSS: R2 0.948 +- 0.009, Dice 0.778, 3 rules)
    >>> evaluation.folds("MOSS")[0].rules.texts
    ['smoker is true', 'age > 40', 'age > 35']
    >>> evaluation.summary(backend="pandas")[["method", "dice", "n_rules"]].round(2)
      method  dice  n_rules
    0   MOSS  0.78      3.0
    """

    results: tuple[MethodFold, ...]  #: by method, then by fold
    settings: Mapping[str, str]  #: the methods as they are written in Python, in order
    seconds: float  #: that it took
    identity: Identity = defaults.IDENTITY  #: when two rules count as the same
    overlap: float = SAME_ROWS  #: share of rows for the identity "rows"
    table: Table | None = field(default=None, repr=False)  #: all rows, for the identity "rows"
    metric: str = "r2"  #: the one that methods are ranked by
    asked: int = 0  #: folds that there were to be: with a `time_budget`, some may be left out

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
    def cut_short(self) -> str | None:
        """What was cut short for lack of time, in sentences; None where nothing was."""
        ours = [fold for fold in self.results if fold.status in PROVING]
        late = sum(fold.status == Status.TIME_LIMIT.value for fold in ours)
        sentences = [
            left_out_in_words(self.asked, self.n_folds, "fold"),
            stopped_in_words(late, len(ours)),
        ]
        return " ".join(filter(None, sentences)) or None

    @property
    def failures(self) -> list[MethodFold]:
        """The folds without a model, each with its `failure`."""
        return [result for result in self.results if result.failed]

    def folds(self, method: str) -> list[MethodFold]:
        """Return what a method has made of each fold."""
        if method not in self.settings:
            raise InvalidParameter(
                f"There is no method {method!r}; choose from "
                f"{', '.join(map(repr, self.methods))}.{did_you_mean(method, self.methods)}"
            )
        return [result for result in self.results if result.method == method]

    def rule_sets(self, method: str) -> list[RuleSet]:
        """Return the rule sets of a method, one from each fold that has one."""
        return [fold.rules for fold in self.folds(method) if fold.rules is not None]

    def n_candidates(self, method: str) -> int | None:
        """Return how many distinct rules a method could choose from in some fold, if known."""
        done = [fold for fold in self.folds(method) if not fold.failed]
        known = [fold.candidates for fold in done if fold.candidates is not None]
        return len(frozenset[str]().union(*known)) if known and len(known) == len(done) else None

    # --- summary --------------------------------------------------------------------------------

    @cached_property
    def summaries(self) -> tuple[MethodSummary, ...]:
        """What each method has made of all folds."""
        return _ranked([self._summarise(method) for method in self.methods])

    def _summarise(self, method: str) -> MethodSummary:
        folds = self.folds(method)
        done = [fold for fold in folds if not fold.failed]
        scores = {name: np.array([fold.score(name) for fold in done]) for name in self.metrics}
        sizes = [float(len(rules)) for rules in self.rule_sets(method)]
        return MethodSummary(
            method=method,
            metric=self.metric,
            scores={name: _mean(values) for name, values in scores.items()},
            errors={name: standard_error(values) for name, values in scores.items()},
            n_rules=_mean(sizes),
            failed=len(folds) - len(done),
            # Medians, as the first fold may have waited for compiled code to load.
            seconds=_median([fold.seconds for fold in done]),
            search_seconds=_median([fold.search_seconds for fold in done]),
            **self._stability(method),
        )

    def _stability(self, method: str) -> dict[str, Any]:
        """Return every measure of the rule sets of a method; None where it cannot be had."""
        sets = self.rule_sets(method)
        if len(sets) < 2:
            return dict.fromkeys((*MEASURES, "nogueira"))
        table = self.table if self.identity == "rows" else None
        agreement = Agreement.of(sets, identity=self.identity, X=table, overlap=self.overlap)
        estimates: dict[str, Any] = {measure: agreement.mean(measure) for measure in MEASURES}
        known = self.n_candidates(method)
        # Candidates are counted by codes. By thresholds one of them may be several rules.
        among = None if known is None else max(1, known, agreement.distinct)
        return {**estimates, "nogueira": None if among is None else agreement.nogueira(among)}

    # --- showing --------------------------------------------------------------------------------

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of `frame` as lists."""

        def of(*names: str) -> dict[str, list[Any]]:
            return {name: [getattr(result, name) for result in self.results] for name in names}

        return {
            **of("method", "fold", "status", "failure"),
            **{name: [result.score(name) for result in self.results] for name in self.metrics},
            **of("n_rules", "seconds", "search_seconds", "seed"),
            "settings": [self.settings[result.method] for result in self.results],
        }

    def summary_columns(self) -> dict[str, list[Any]]:
        """Return the columns of `summary` as lists."""
        rows = [_flat(summary) for summary in self.summaries]
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
        recurrence with its interval, `dice`, `dice_lower`, `dice_upper` and so on, missing for
        methods without rules; mean `n_rules`; how many folds `failed`; the median of `seconds` and
        `search_seconds`; and ranks, 1 being best.

        `rank_r2` is by mean R2 among all methods (`rank_auc` by AUC, and so on: see `by`),
        `rank_dice` by Dice among those with rules. `rank_combined` is the paper's: the mean of both
        ranks, each among the methods with rules. Methods that tie share the mean of their ranks.
        One that failed on a fold has no rank: its means are of other folds than everyone else's.
        """
        return make_frame(self.summary_columns(), backend)

    def plot(self, ax: Any = None, *, measure: Measure | Literal["nogueira"] = "dice") -> Any:
        """Draw recurrence against R2, or AUC, and return the `ComparisonDisplay` of matplotlib.

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
        if self.asked > self.n_folds:
            parts.append(f"{self.asked} asked for")
        return f"Evaluation({', '.join(parts)}, same {self.identity}, {self.seconds:.2g} s)"

    def __str__(self) -> str:
        width = max(len("method"), *map(len, self.methods))
        metric = f"{LABELS[self.metric]} (s.e.)"
        heading = f"{'method':{width}}   {metric:15} Dice [interval]      rules  combined rank"
        lines = [repr(self), heading]
        for row in self.summaries:
            dice = ""
            if row.dice is not None:
                dice = f"{row.dice.estimate:.3f} [{row.dice.lower:.3f}, {row.dice.upper:.3f}]"
            size = "" if np.isnan(row.n_rules) else f"{row.n_rules:.3g}"
            rank = "" if np.isnan(row.rank_combined) else f"{row.rank_combined:.3g}"
            score = f"{row.score:6.3f} ({row.score_se:.3f})"
            line = f"{row.method:{width}}  {score:15}  {dice:20} {size:>5}  {rank}".rstrip()
            lines.append(line + (f"  failed on {row.failed} folds" if row.failed else ""))
        lines += [] if self.cut_short is None else [self.cut_short]
        return "\n".join(lines)


def _ranked(summaries: list[MethodSummary]) -> tuple[MethodSummary, ...]:
    """Return the summaries with ranks, 1 being best."""
    # A method that failed on a fold has means of other folds than everyone else's, and no rank.
    whole = [None if summary.failed else summary for summary in summaries]
    score = np.array([NAN if summary is None else _good(summary) for summary in whole])
    dice = np.array(
        [NAN if row is None or row.dice is None else row.dice.estimate for row in whole]
    )
    # Methods without rules take no part in the combined rank.
    among = np.where(np.isnan(dice), NAN, score)
    combined = (_ranks(among) + _ranks(dice)) / 2.0
    columns = (_ranks(score).tolist(), _ranks(dice).tolist(), combined.tolist())
    return tuple(
        replace(summary, rank_score=of_score, rank_dice=of_dice, rank_combined=of_both)
        for summary, of_score, of_dice, of_both in zip(summaries, *columns, strict=True)
    )


def _good(summary: MethodSummary) -> float:
    """Return the score, larger being better."""
    return summary.score if summary.metric in LARGER_IS_BETTER else -summary.score


def _ranks(values: FloatArray) -> FloatArray:
    """Return ranks from the largest down, the mean of theirs for ties; NaN stays NaN."""
    # Methods that choose the same rules may differ in the last bits of a mean.
    ranks: FloatArray = rankdata(-np.round(values, 12), nan_policy="omit")
    return ranks


def _flat(summary: MethodSummary) -> dict[str, Any]:
    """Return the row of a method in `summary`, each measure with its interval."""
    row: dict[str, Any] = {}
    for column in fields(summary):
        name, value = column.name, getattr(summary, column.name)
        if name == "scores":
            for metric, score in value.items():
                row[metric] = score
                if metric != "error":
                    row[f"{metric}_se"] = summary.errors[metric]
        elif name in (*MEASURES, "nogueira"):
            for suffix, end in (("", "estimate"), ("_lower", "lower"), ("_upper", "upper")):
                row[f"{name}{suffix}"] = NAN if value is None else getattr(value, end)
        elif name == "rank_score":
            row[f"rank_{summary.metric}"] = value
        elif name not in ("metric", "errors"):
            row[name] = value
    return row


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else NAN


def _median(values: list[float]) -> float:
    return float(np.median(values)) if values else NAN
