"""What a report shows, as values: made by `collect`, drawn by `render`, and tested by itself.

`ReportData.content()` is all of it as JSON; programs may read it, so its names stay as they are.
A report is made to be passed on. No row of the data is in it, and neither are values that fewer
than MIN_ROWS_SHOWN rows have: no extremes of columns, no rare levels, and for quantiles a round
number nearby. Rules may name such a level, if they are those of the model.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from mossrules._typing import AnyArray, FloatArray
from mossrules.candidates.cuts import BinnedColumn, shortest_between
from mossrules.candidates.thresholds import readable
from mossrules.data.columns import NUMBERS, Column, Kind, Label
from mossrules.defaults import MIN_ROWS_SHOWN
from mossrules.evaluation.agreement import Identity
from mossrules.learning.fit import FittedRules
from mossrules.learning.stability_levels import exempt_in_words, floor_in_words
from mossrules.model import RuleSet
from mossrules.model.track_record import TrackRecord
from mossrules.solver import Solution, Status
from mossrules.solver.problems.selection import FloorKind, SelectionProblem

__all__ = [
    "BaselinePoint",
    "CertificateSummary",
    "ColumnSummary",
    "EvaluatedSummary",
    "ReportData",
    "ReportPoint",
    "ReportRule",
    "TargetSummary",
    "json_label",
    "quantiles",
]

FORMAT, VERSION = "mossrules report", 1
EXACT = 2**53  # whole numbers below it are doubles, the only numbers that scripts have
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)  # no extremes: they are single people's values
MANY_LEVELS = 12
ROUNDING = 1e-12  # losses that are relatively closer count as equal in the search, too


# --- columns ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ColumnSummary:
    """A column of the data, and what a reader may type for it."""

    name: str
    kind: str
    used: bool  # by a rule of some point
    missing: float | None = None  # share of the rows
    quantiles: tuple[float, ...] | None = None  # 5, 25, 50, 75 and 95 %, of numbers
    levels: tuple[tuple[Label, float], ...] | None = None  # the common ones and their shares
    others: float | None = None  # share of all other levels
    typical: Label | None = None  # value that an input begins with
    choices: tuple[Label, ...] | None = None  # levels that training knew, but for rare ones

    @classmethod
    def of_model(cls, column: BinnedColumn, *, used: bool) -> ColumnSummary:
        """Return what a fitted model alone knows of a column, of which rare levels are left out."""
        typical: Label | None = None
        if column.kind is Kind.NUMERIC and column.cuts:
            # Without rows the middle cut point is the best guess at a median.
            typical, _ = readable(column.cuts[(len(column.cuts) - 1) // 2])
        elif column.kind is Kind.BOOLEAN:
            typical = False
        elif column.levels:
            typical = json_label(column.levels[0])
        choices = tuple(map(json_label, column.levels)) or None
        return cls(column.name, column.kind.value, used, typical=typical, choices=choices)

    @classmethod
    def of_rows(
        cls, column: BinnedColumn, values: Column, n_rows: int, *, used: bool
    ) -> ColumnSummary:
        """Return the summary of a column whose rows are at hand."""
        known = cls.of_model(column, used=used)
        summarize = _with_numbers if values.kind in NUMBERS else _with_levels
        return summarize(known, values.read(0, n_rows))


def quantiles(values: AnyArray) -> tuple[float, ...] | None:
    """Return about the quantiles of numbers, none of which is missing; None of a few numbers."""
    if len(values) < MIN_ROWS_SHOWN:
        return None
    ordered = np.sort(values)
    return tuple(_quantile(ordered, share) for share in QUANTILES)


def _quantile(ordered: FloatArray, share: float) -> float:
    """Return a quantile that many rows have; else the shortest number among rows as many, nearby.

    A quantile of a column in which all values differ is the value of somebody.
    """
    # The lower of two middle values: the median of whole numbers is one.
    place = int((len(ordered) - 1) * share)
    value = ordered[place]
    first, last = np.searchsorted(ordered, value), np.searchsorted(ordered, value, side="right")
    if last - first >= MIN_ROWS_SHOWN:
        return float(value)
    start = min(max(place - MIN_ROWS_SHOWN // 2, 0), len(ordered) - MIN_ROWS_SHOWN)
    return shortest_between(float(ordered[start]), float(ordered[start + MIN_ROWS_SHOWN - 1]))


def _with_levels(known: ColumnSummary, values: AnyArray) -> ColumnSummary:
    n_rows = len(values)
    present = [json_label(label) for label in values.tolist() if label is not None]
    counts = Counter(present).most_common()
    named = [(label, count) for label, count in counts[:MANY_LEVELS] if count >= MIN_ROWS_SHOWN]
    others = len(present) - sum(count for _, count in named)
    return replace(
        known,
        missing=1.0 - len(present) / n_rows,
        levels=tuple((label, count / n_rows) for label, count in named),
        others=others / n_rows,
        typical=named[0][0] if named and 2 * len(present) >= n_rows else None,
    )


def _with_numbers(known: ColumnSummary, values: AnyArray) -> ColumnSummary:
    # NaN is what a missing number is read as, whatever the table had.
    present = values[~np.isnan(values)]
    missing = 1.0 - len(present) / len(values)
    if known.kind != Kind.BOOLEAN.value:
        found = quantiles(present)
        typical = None if missing > 0.5 or found is None else found[QUANTILES.index(0.5)]
        return replace(known, missing=missing, quantiles=found, typical=typical)
    true = float(np.count_nonzero(present)) / len(values)
    return replace(
        known,
        missing=missing,
        levels=((True, true), (False, 1.0 - missing - true)),
        typical=bool(np.median(present) > 0.5) if missing <= 0.5 else None,
    )


@dataclass(frozen=True)
class TargetSummary:
    """What is predicted, over the rows: a number, or a class that some of them have."""

    kind: str  # "number" or "class"
    mean: float | None = None
    deviation: float | None = None
    quantiles: tuple[float, ...] | None = None
    share: float | None = None  # of the rows that have the class
    events: str | None = None  # how many rows that is for each rule
    few_events: str | None = None  # a warning, where they are few
    auc: float | None = None  # of the fitted model on these rows
    balanced_accuracy: float | None = None  # likewise, at a probability of one half


# --- points -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReportRule:
    """A rule in words, and as tests that a program without our encoder can make."""

    text: str
    support: float  # coverage: share of rows where the rule holds
    proportion: float  # tree frequency: share of trees that contain it
    tests: tuple[Mapping[str, Any], ...]  # fields of an `Interval`, or of `Levels`
    n: int | None = None  # number of rows where the rule holds
    mean: float | None = None  # target of these rows: of classes the rate of the outcome
    events: int | None = None  # of classes, rows of these that have the outcome


@dataclass(frozen=True)
class CertificateSummary:
    """How good a rule set is known to be."""

    status: str
    gap: float
    asked: float
    bound: float
    seconds: float
    method: str
    sentence: str

    @classmethod
    def of(cls, fitted: FittedRules, solution: Solution, rule_set: RuleSet) -> CertificateSummary:
        """Return the certificate of a solution, of which `rule_set` is what the refit keeps."""
        return cls(
            status=solution.status.value,
            gap=solution.gap,
            asked=solution.report.asked_gap,
            bound=solution.bound,
            seconds=solution.report.seconds,
            method=solution.report.method,
            sentence=" ".join(_certificate_sentences(fitted, solution, rule_set)),
        )


def _certificate_sentences(
    fitted: FittedRules, solution: Solution, rule_set: RuleSet
) -> Iterator[str]:
    problem = fitted.problem
    if problem is None:  # without candidates there is one set, that of no rules
        yield _proof(solution, fitted.settings.max_rules, "")
        return
    asked = ["meets the constraints"] if fitted.settings.constraints else []
    asked += [f"keeps {problem.min_approved} approved rules"] if problem.min_approved else []
    limits = f" that {' and '.join(asked)}" if asked else ""
    yield _proof(solution, problem.max_rules, limits)
    if len(solution.support) == 0:
        return
    if problem.floor == "sum":
        yield "An equally stable set is one whose tree frequencies add up to at least as much."
    else:
        n_trees = fitted.candidates.pool.n_trees
        sentence = floor_in_words(problem, n_trees, solution.support)
        if sentence is not None:
            yield sentence
        if solution.stability:
            yield _equally_stable(problem, n_trees, solution)
    chosen, left_out = len(solution.support), len(solution.support) - len(rule_set)
    if left_out:
        why = (
            "is left out here: the others already express it, or it hardly changes"
            if left_out == 1
            else "are left out here: the others already express them, or they hardly change"
        )
        yield (
            f"All of this is about the {chosen} rules that the search chose. {left_out} of them "
            f"{why} a prediction."
        )


def _proof(solution: Solution, max_rules: int, limits: str) -> str:
    # Without "equally stable" and "candidate" the sentence would claim too much: the proof is
    # about rules that the forest offered, and about sets above the same floor on stability.
    others = f"equally stable set of up to {max_rules} candidate rules{limits}"
    gap = f"{100.0 * solution.gap:.2g} %"
    if solution.status is Status.OPTIMAL and not solution.gap > ROUNDING:
        return f"Proven: no {others} fits better."
    if solution.status is Status.OPTIMAL:
        return f"Proven: no {others} fits more than {gap} better."
    if solution.status is Status.HEURISTIC:
        return (
            f"Not proven: these rules come from an approximate method ({solution.report.method}); "
            f"another {others} may fit better."
        )
    return (
        f"Not proven: the search stopped early ({solution.status.value}, after "
        f"{solution.report.seconds:.1f} s). Another {others} may fit up to {gap} better."
    )


def _equally_stable(problem: SelectionProblem, n_trees: int, solution: Solution) -> str:
    """Return what a set must have to be as stable as one whose rarest rule is in as few trees."""
    # In trees, as a share that is rounded would allow too few sets or too many.
    least = solution.stability
    exempt = exempt_in_words(problem, solution.support, least).replace("was not", "were")
    but = f", those{exempt} aside," if exempt else ""
    return (
        f"An equally stable set is one whose rules{but} were each found in at least {least:,} of "
        f"the {n_trees:,} trees."
    )


@dataclass(frozen=True)
class EvaluatedSummary:
    """What cross-validation says of a point."""

    score: float
    score_se: float
    dice: float
    dice_low: float
    dice_high: float
    rules: float
    stopped: int  # folds whose search ran out of time


@dataclass(frozen=True)
class ReportPoint:
    """A rule set of the trade-off; `rules` are positions among those of the report."""

    stability: float  # share of the largest
    explained: float  # share of the loss without rules: what was optimised
    loss: float
    intercept: float
    rules: tuple[int, ...]
    weights: tuple[float, ...]
    certificate: CertificateSummary
    exports: Mapping[str, str]
    training: float | None = None  # the score on the training rows, of refitted weights
    found: tuple[int, ...] | None = None  # folds that have each rule at this point
    evaluated: EvaluatedSummary | None = None


@dataclass(frozen=True)
class BaselinePoint:
    """Another method, measured on the same folds."""

    name: str
    score: float
    score_se: float
    dice: float | None
    dice_low: float | None
    dice_high: float | None
    rules: float | None
    what: str = ""


# --- the whole ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReportData:
    """All that a report shows.

    See Also
    --------
    mossrules.display.report.collect : Makes it.
    """

    title: str  #: heading of the page
    target: str | None  #: name of the target, if it has one
    outcome: Label | None  #: of classes, the one that is predicted
    link: str  #: "identity", or "logit" of classes
    score: str  #: what scores are, on training rows and on others
    made: Mapping[str, Any]  #: releases, commit, command and data that made it
    settings: Sequence[tuple[str, str]]  #: parameters of the model, by name
    rows: int  #: of training
    columns: Sequence[ColumnSummary]  #: what is told of each
    rules: Sequence[ReportRule]  #: of all points
    points: Sequence[ReportPoint]  #: of the trade-off, the most stable first
    chosen: int  #: position of the model among the points
    knee: int | None = None  #: position of the knee, if there is one
    advised: int | None = None  #: position of what cross-validation would pick
    folds: int | None = None  #: of cross-validation; None without
    target_summary: TargetSummary | None = None  #: quantiles of a target that is a number
    baselines: Sequence[BaselinePoint] = field(default_factory=tuple)  #: other methods
    floor: FloorKind = "sum"  #: what the stability score is of: the "sum" of counts, or "each"
    identity: Identity = "thresholds"  #: when two rules are the same
    track_record: TrackRecord | None = None  #: of the model's own rules, without single people
    not_repeated: str | None = None  #: why the analysis could not be repeated, if it could not
    groups: int | None = None  #: number of groups that rows belong to; None without
    repetitions: int | None = None  #: rows that those with whole weights stand for; None without
    rare_levels: Sequence[tuple[str, Label]] = ()  #: of fewer than ten rows, named by the model
    left_out: int = 0  #: points of the trade-off whose rules name a level of a few rows
    fold_gap: float | None = None  #: that searches on folds have to prove; None without folds
    cut_short: Sequence[str] = ()  #: what there was no time for, in sentences

    def content(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        fields = asdict(replace(self, track_record=None))
        if self.track_record is not None:
            fields["track_record"] = self.track_record.to_dict()
        columns, rows, target = (fields.pop(name) for name in ("columns", "rows", "target_summary"))
        if fields["floor"] == "sum":  # as before there was another
            del fields["floor"]
        if fields["identity"] == "thresholds":
            del fields["identity"]
        for name in ("left_out", "rare_levels", "cut_short", "fold_gap"):
            if not fields[name]:
                del fields[name]
        beside = {name: fields.pop(name) for name in ("groups", "repetitions")}
        known = {name: number for name, number in beside.items() if number is not None}
        data = {"rows": rows, **known, "columns": columns, "target": target}
        content: dict[str, Any] = _strict(
            {"format": FORMAT, "version": VERSION, **fields, "data": data}
        )
        return content

    def __repr__(self) -> str:
        folds = "" if self.folds is None else f", {self.folds} folds"
        late = ", cut short for lack of time" if self.cut_short else ""
        return f"ReportData({len(self.points)} points, {len(self.rules)} rules{folds}{late})"


def json_label(label: Label) -> Label:
    """Return a label as scripts can hold it: numbers that are infinite, or no doubles, as texts."""
    too_large = isinstance(label, int) and abs(label) >= EXACT
    return str(label) if too_large or (isinstance(label, float) and math.isinf(label)) else label


def _strict(value: Any) -> Any:
    """Return a value without NaN and infinities, which JSON lacks: they become null."""
    if isinstance(value, Mapping):
        return {key: _strict(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
