"""How good predictions are on rows left out, with intervals, overall and for each subgroup.

Values only: `judging.py` makes the predictions and measures them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from mossrules._display import display_class
from mossrules._frames import Backend, make_frame
from mossrules.checkpoint import strict_json
from mossrules.data.columns import Label
from mossrules.evaluation.influence import CLASSES, NUMBERS, Interval
from mossrules.evaluation.results import Task
from mossrules.exceptions import InvalidParameter
from mossrules.model.export_text import event_text, one_line

__all__ = ["CalibrationCurve", "CurvePoint", "Performance", "SubgroupPerformance"]

FORMAT, VERSION = "mossrules performance", 1
ALL = "all"
WIDTH = 100  # letters of a printed table
FEW_EVENTS = 10  # with fewer, intervals that hold for many rows are rough
UNITS = ("mae", "rmse", "bias")  # measures in units of the target


@dataclass(frozen=True)
class SubgroupPerformance:
    """The measures of one subgroup, or of all rows, for one outcome.

    See Also
    --------
    mossrules.evaluation.Performance : Has them, as `rows`.
    """

    by: str | None  #: the column that makes the subgroup; None of all rows
    subgroup: str  #: its label; "all" of all rows
    outcome: Label | None  #: the class whose probability is judged; None of numbers
    n: int  #: rows
    events: int | None  #: rows with the outcome; None of numbers
    measures: Mapping[str, Interval]  #: by name, each with `estimate`, `lower` and `upper`
    note: str | None = None  #: why there are no measures


@dataclass(frozen=True)
class CurvePoint:
    """Rows with like predictions, and what was observed on them.

    See Also
    --------
    mossrules.evaluation.Performance : Has them, in its `curves`.
    """

    predicted: float  #: mean prediction
    observed: float  #: mean of the target; of classes, the share with the outcome
    lower: float  #: lower end of the interval of `observed`
    upper: float  #: upper end
    n: int  #: rows


@dataclass(frozen=True)
class CalibrationCurve:
    """What was observed where what was predicted, for one outcome.

    See Also
    --------
    mossrules.evaluation.Performance : Has them, as `curves`.
    """

    outcome: Label | None  #: the class; None of numbers
    points: tuple[CurvePoint, ...]  #: by tenths of the rows, from the lowest prediction on
    edges: tuple[float, ...]  #: of the histogram of predictions
    counts: tuple[int, ...]  #: rows in each of its bins
    events: tuple[int, ...] | None  #: of them, those with the outcome; None of numbers


@dataclass(frozen=True, eq=False, repr=False)
class Performance:
    """Measures of predictions on rows that the model has not seen, each with its interval.

    `frame` has a row for each measure of each subgroup, `print` shows them side by side, `plot`
    draws the calibration curve or a measure by subgroup.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mossrules import MossRegressor
    >>> from mossrules.evaluation import performance
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> found = performance(MossRegressor(3, n_trees=100), X, y, by="sex")
    >>> found["r2"].lower < found["r2"].estimate < found["r2"].upper
    True
    >>> list(found.frame(backend="pandas")["subgroup"].unique())
    ['all', '1', '2']
    """

    rows: tuple[SubgroupPerformance, ...]  #: all rows first, then each subgroup
    curves: tuple[CalibrationCurve, ...]  #: one for each outcome
    task: Task  #: "regression" or "classification"
    target: str | None  #: its name, if it has one
    confidence: float  #: of the intervals
    threshold: float  #: of a probability, from which rows are flagged
    folds: int | None  #: of the cross-validation; None of new rows
    groups: int | None = None  #: groups of rows, if there are any
    notes: tuple[str, ...] = ()  #: on weights and subgroups

    def __getitem__(self, measure: str) -> Interval:
        """Return a measure on all rows: with several classes, see `frame`."""
        return self._of(measure, self.rows[0])

    def _of(self, measure: str, row: SubgroupPerformance) -> Interval:
        if measure not in self.labels:
            listed = ", ".join(map(repr, self.labels))
            raise InvalidParameter(f"measure is {measure!r}; choose from {listed}.")
        return row.measures.get(measure, Interval(math.nan))

    @property
    def labels(self) -> Mapping[str, str]:
        """The measures of this task with their headings."""
        return NUMBERS if self.task == "regression" else CLASSES

    @property
    def outcomes(self) -> tuple[Label | None, ...]:
        """The classes whose probabilities are judged; None alone of numbers."""
        return tuple(curve.outcome for curve in self.curves)

    # --- showing --------------------------------------------------------------------------------

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of `frame` as lists."""
        columns: dict[str, list[Any]] = {
            name: []
            for name in ("by", "subgroup", "outcome", "measure", "estimate", "lower", "upper",
                         "n", "events", "note")
        }  # fmt: skip
        for row in self.rows:
            for measure in self.labels:
                outcome = None if row.outcome is None else str(row.outcome)
                head = (row.by or ALL, row.subgroup, outcome, measure, *self._of(measure, row))
                cells = (*head, row.n, row.events, row.note)
                for column, cell in zip(columns.values(), cells, strict=True):
                    column.append(cell)
        if self.task == "regression":
            del columns["outcome"], columns["events"]
        return columns

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return a row for each measure of each subgroup, with its interval and number of rows."""
        return make_frame(self.columns(), backend)

    def plot(self, kind: str = "calibration", ax: Any = None, **how: Any) -> Any:
        """Draw, and return the display.

        Parameters
        ----------
        kind : {"calibration", "subgroups"}, default="calibration"
            The calibration curve above a histogram of the predictions (`CalibrationDisplay`), or a
            measure of each subgroup (`SubgroupDisplay`).
        ax
            Matplotlib's axes to draw on; by default those of a new figure.
        **how
            `outcome`: of several classes, the one to draw. Of "subgroups" also `measure`, by
            default AUC or R2.
        """
        names = {"calibration": "CalibrationDisplay", "subgroups": "SubgroupDisplay"}
        if kind not in names:
            raise InvalidParameter(f"kind is {kind!r}; choose from 'calibration', 'subgroups'.")
        return display_class(names[kind]).from_performance(self, **how).plot(ax)

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def to_markdown(self) -> str:
        """Return the same tables in Markdown."""
        parts = [self._title()]
        for head, *cells in self._tables():
            rows = ["| " + " | ".join(text.replace("|", "\\|") for text in row) + " |"
                    for row in [head, *cells]]  # fmt: skip
            parts.append("\n".join([rows[0], "|:---" + "|---:" * (len(head) - 1) + "|", *rows[1:]]))
        return "\n\n".join([*parts, *self._remarks()])

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as dicts and lists, such as JSON has."""
        content: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        rows = [asdict(row) for row in self.rows]
        for row in rows:
            row["measures"] = {name: each._asdict() for name, each in row["measures"].items()}
        return content | {"rows": rows, "curves": [asdict(curve) for curve in self.curves]}

    def to_json(self) -> str:
        """Return all of it as JSON."""
        return strict_json({"format": FORMAT, "version": VERSION, **self.to_dict()})

    # --- text -----------------------------------------------------------------------------------

    def _title(self) -> str:
        where = "new rows" if self.folds is None else f"rows left out by {self.folds} folds"
        groups = "" if self.groups is None else f" in {self.groups} groups"
        interval = f"{self.confidence:.0%} intervals"
        return f"Performance on {self.rows[0].n} {where}{groups}, with {interval}."

    def _lines(self) -> Iterator[str]:
        yield self._title()
        for table in self._tables():
            yield ""
            widths = [max(map(len, column)) for column in zip(*table, strict=True)]
            for row in table:
                cells = [row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]
                yield f"  {'  '.join(cells)}".rstrip()
        remarks = [*self._remarks()]
        yield from ["", *remarks] if remarks else []

    def _remarks(self) -> Iterator[str]:
        if self.folds is not None:  # research/studies/coverage.py measures how much too narrow
            yield "Folds measure the method, by models of parts of the rows."
            yield "For one fitted model these intervals are too narrow: measure it on new rows."
        if self.task == "classification":
            yield (
                "Sensitivity, specificity and predictive values are of flagging rows whose "
                f"probability is at least {self.threshold:g}."
            )
        if any(row.measures and _fewest(row) < FEW_EVENTS for row in self.rows):
            yield (
                f"Where fewer than {FEW_EVENTS} rows have the outcome, or lack it, intervals are "
                "rough."
            )
        yield from map(one_line, self.notes)
        for row in self.rows:
            if row.note is not None:
                of = "" if len(self.curves) < 2 else f", {event_text(self.target, row.outcome)}"
                where = row.subgroup if row.by is None else f"{row.by} {row.subgroup}"
                yield f"{one_line(where + of)}: {row.note}, so nothing is measured."

    def _tables(self) -> Iterator[list[list[str]]]:
        """Yield tables of words, each with measures below and subgroups side by side."""
        for outcome in self.outcomes:
            of_outcome = [row for row in self.rows if row.outcome == outcome]
            for by in dict.fromkeys(row.by for row in of_outcome):
                subgroups = [row for row in of_outcome if row.by == by]
                title = "" if outcome is None else event_text(self.target, outcome)
                if by is not None:
                    title = f"{title}, by {by}".removeprefix(", ")
                yield from self._pieces(one_line(title), subgroups)

    def _pieces(self, title: str, rows: list[SubgroupPerformance]) -> Iterator[list[list[str]]]:
        """Yield the table of some rows in pieces that are no wider than a page."""
        first = [title, *self._counts, *self.labels.values()]
        table, width = [first], max(map(len, first))
        for row in rows:
            column = [one_line(row.subgroup), *self._cells(row)]
            if len(table) > 1 and width + 2 + max(map(len, column)) > WIDTH:
                yield [*map(list, zip(*table, strict=True))]
                table, width = [first], max(map(len, first))
            table.append(column)
            width += 2 + max(map(len, column))
        yield [*map(list, zip(*table, strict=True))]

    @property
    def _counts(self) -> list[str]:
        return ["rows"] if self.task == "regression" else ["rows", "events"]

    def _cells(self, row: SubgroupPerformance) -> list[str]:
        counts = [str(row.n)] if row.events is None else [str(row.n), str(row.events)]
        return [*counts, *(_cell(name, self._of(name, row)) for name in self.labels)]


def _fewest(row: SubgroupPerformance) -> float:
    """Return how many rows have the outcome, or lack it, whichever are fewer."""
    return math.inf if row.events is None else min(row.events, row.n - row.events)


def _cell(name: str, interval: Interval) -> str:
    """Return a measure and its interval as text; a dash for what is not known."""
    if math.isnan(interval.estimate):
        return "-"
    form = _form(interval) if name in UNITS else "z.3f"
    estimate = format(interval.estimate, form)
    if math.isnan(interval.lower):
        return f"{estimate} [-]"
    return f"{estimate} [{interval.lower:{form}}, {interval.upper:{form}}]"


def _form(interval: Interval) -> str:
    """Return how to write numbers in units of the target: with four digits of the largest."""
    largest = max(abs(each) for each in interval if not math.isnan(each))
    if largest and not 1e-4 <= largest < 1e9:
        return ".4g"  # decimals would fill the line with zeros
    magnitude = math.floor(math.log10(largest)) if largest else 0
    return f"z.{max(0, 3 - magnitude)}f"
