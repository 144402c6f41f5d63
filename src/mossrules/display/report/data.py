"""What a report shows, as values: made by `collect`, drawn by `render`, and tested by itself.

`ReportData.content()` is all of it as JSON can hold it; the page's script reads the same. No row of
the data is among it, since a report is made to be passed on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from mossrules.data.columns import Label

__all__ = [
    "BaselinePoint",
    "CertificateSummary",
    "ColumnSummary",
    "EvaluatedSummary",
    "ReportData",
    "ReportPoint",
    "ReportRule",
    "TargetSummary",
    "plain_label",
]

FORMAT, VERSION = "mossrules report", 1
EXACT = 2**53  # whole numbers below it are doubles, the only numbers that scripts have


@dataclass(frozen=True)
class ColumnSummary:
    """A column that rules could look at, and what a reader may type for it."""

    name: str
    kind: str
    used: bool  # by a rule of some point
    missing: float | None = None  # share of the rows
    quantiles: tuple[float, ...] | None = None  # 5, 25, 50, 75 and 95 %, of numbers
    levels: tuple[tuple[Label, float], ...] | None = None  # the common ones and their shares
    others: float | None = None  # share of all other levels
    typical: Label | None = None  # to begin with
    choices: tuple[Label, ...] | None = None  # every level that training knew


@dataclass(frozen=True)
class TargetSummary:
    """What is predicted, over the rows: a number, or a class that some of them have."""

    kind: str  # "number" or "class"
    mean: float | None = None
    deviation: float | None = None
    quantiles: tuple[float, ...] | None = None
    share: float | None = None  # of the rows that have the class


@dataclass(frozen=True)
class ReportRule:
    """A rule in words, and as tests that a program without our encoder can make."""

    text: str
    support: float
    proportion: float
    tests: tuple[Mapping[str, Any], ...]  # fields of an `Interval`, or of `Levels`


@dataclass(frozen=True)
class CertificateSummary:
    """How good a choice is known to be."""

    status: str
    gap: float
    asked: float
    bound: float
    seconds: float
    method: str
    sentence: str


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
    training: float | None = None  # the score on the training rows, of weights fitted anew
    found: tuple[int, ...] | None = None  # folds that have each rule at this point
    evaluated: EvaluatedSummary | None = None


@dataclass(frozen=True)
class BaselinePoint:
    """What another learner makes of the same folds."""

    name: str
    score: float
    score_se: float
    dice: float | None
    dice_low: float | None
    dice_high: float | None
    rules: float | None
    what: str = ""


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
    baselines: Sequence[BaselinePoint] = field(default_factory=tuple)  #: other learners

    def content(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        found = asdict(self)
        columns, rows, target = (found.pop(name) for name in ("columns", "rows", "target_summary"))
        data = {"rows": rows, "columns": columns, "target": target}
        content: dict[str, Any] = _plain(
            {"format": FORMAT, "version": VERSION, **found, "data": data}
        )
        return content

    def __repr__(self) -> str:
        folds = "" if self.folds is None else f", {self.folds} folds"
        return f"ReportData({len(self.points)} points, {len(self.rules)} rules{folds})"


def plain_label(label: Label) -> Label:
    """Return a label as scripts can hold it: numbers that are infinite, or no doubles, as texts."""
    too_large = isinstance(label, int) and abs(label) >= EXACT
    return str(label) if too_large or (isinstance(label, float) and math.isinf(label)) else label


def _plain(value: Any) -> Any:
    """Return a value without what JSON lacks: a number that is not finite is nothing."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
