"""What a check found, as values: of each column what it is taken for, and what looks wrong.

`TableCheck` is printed as one table, 80 columns wide, and is a frame and JSON as well.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from mossrules._frames import Backend, make_frame

__all__ = ["ColumnCheck", "Finding", "Severity", "TableCheck"]

FORMAT, VERSION = "mossrules check", 1
WIDTH = 80  # of the printed table: that of a terminal
MANY_COLUMNS = 40  # of a table with more, those in which nothing was found are counted, not listed
NAME, KIND, NUMBERS = 22, 10, 17  # letters that the name, the kind, and values with missing take
FRAME = (
    "column", "taken_for", "why", "values", "missing", "finding", "severity", "what", "remedy",
)  # fmt: skip
SIGN = 9  # that the sign of a finding takes, with the space before it


class Severity(StrEnum):
    """How sure it is that something is wrong.

    See Also
    --------
    mossrules.data.Finding : Has one, as `severity`.
    """

    WRONG = "wrong"  # fit and report stop
    SUSPECT = "suspect"  # they go on and say so
    NOTE = "note"  # worth knowing, and often meant


SIGNS = {Severity.WRONG: "WRONG", Severity.SUSPECT: "suspect", Severity.NOTE: "note"}
ORDER = tuple(Severity)


@dataclass(frozen=True)
class Finding:
    """One thing that looks wrong, and what to do about it.

    Examples
    --------
    >>> from mossrules.data import check
    >>> found = check({"age": [31, 45] * 6, "unit": ["a"] * 12})
    >>> print(found.findings[0].what)
    the same value, 'a', on every row
    """

    kind: str  #: a word or two, the same in every release, such as "identifier"
    severity: Severity  #: whether fit stops, warns or says nothing
    what: str  #: what was found
    remedy: str  #: what to do, with the option of the command line that does it
    column: str | None = None  #: None of the table as a whole

    def sentence(self) -> str:
        """Return the finding and its remedy as text on one line."""
        where = "" if self.column is None else f"Column {self.column!r}: "
        return f"{where}{self.what}; {self.remedy}."


@dataclass(frozen=True)
class ColumnCheck:
    """What a column is taken for, and why.

    Examples
    --------
    >>> from mossrules.data import check
    >>> check({"smoker": [True, False, None]}).columns[0].why
    'its values are true and false'
    """

    name: str  #: of the column
    taken_for: str  #: "number", "truth", "category", "ordered" or "not read"
    why: str  #: what of its values makes it so
    values: int  #: different ones, among the rows looked at
    missing: float  #: share of the rows looked at
    is_target: bool = False  #: whether it is what is predicted


@dataclass(frozen=True, repr=False)
class TableCheck:
    """What a table is taken for, and what looks wrong with it.

    See Also
    --------
    mossrules.data.check : Makes it.
    """

    rows: int  #: of the table
    looked_at: int  #: rows that were looked at: of a large table a part
    columns: Sequence[ColumnCheck]  #: the target last
    findings: Sequence[Finding] = field(default_factory=tuple)  #: those of the table last
    target: str | None = None  #: name of the target, if there is one

    @property
    def wrong(self) -> list[Finding]:
        """What is surely wrong: a model of such a table would be of no use."""
        return self._of(Severity.WRONG)

    @property
    def suspect(self) -> list[Finding]:
        """What may be wrong, and only someone who knows the data can tell."""
        return self._of(Severity.SUSPECT)

    @property
    def notes(self) -> list[Finding]:
        """What is worth knowing, and usually meant."""
        return self._of(Severity.NOTE)

    def _of(self, severity: Severity) -> list[Finding]:
        return [each for each in self.findings if each.severity is severity]

    def frame(self, backend: Backend | None = None) -> Any:
        """Return one row for each finding, and one for each column without any.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Library of the frame; by default the first that is installed.
        """
        lines: list[tuple[Any, ...]] = []
        about: tuple[Any, ...]
        found: list[tuple[Any, ...]]
        for column in (*self.columns, None):  # and the table as a whole
            about = (None,) * 5 if column is None else tuple(asdict(column).values())[:5]
            found = [
                (each.kind, str(each.severity), each.what, each.remedy)
                for each in self.of(about[0])
            ]
            if column is not None and not found:
                found = [(None,) * 4]
            lines += [(*about, *each) for each in found]
        return make_frame(
            dict(zip(FRAME, map(list, zip(*lines, strict=True)), strict=True)), backend
        )

    def of(self, column: str | None) -> list[Finding]:
        """Return what was found of a column, the worst first; of the table as a whole for None."""
        found = [each for each in self.findings if each.column == column]
        return sorted(found, key=lambda each: ORDER.index(each.severity))

    def to_json(self) -> str:
        """Return everything as JSON."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "rows": self.rows,
            "looked_at": self.looked_at,
            "target": self.target,
            "wrong": len(self.wrong),
            "suspect": len(self.suspect),
            "notes": len(self.notes),
            "columns": [asdict(column) for column in self.columns],
            "findings": [asdict(finding) for finding in self.findings],
        }
        return json.dumps(content, allow_nan=False, indent=2)

    def to_text(self) -> str:
        """Return one table of 80 columns: each finding stands below its column."""
        shown = self.columns
        if len(shown) > MANY_COLUMNS:
            found = {each.column for each in self.findings}
            shown = [each for each in shown if each.name in found or each.is_target]
        numbers = f"{'values':>8} {'missing':>8}"
        room = WIDTH - NAME - KIND - NUMBERS - 3
        lines = [f"{'column':<{NAME}} {'taken for':<{KIND}} {'why':<{room}} {numbers}", "-" * WIDTH]
        for column in shown:
            lines += self._column_lines(column, room)
        if len(shown) < len(self.columns):
            rest = len(self.columns) - len(shown)
            lines.append(f"({rest} more column{'s' * (rest > 1)}, in which nothing looks wrong)")
        if self.of(None):
            lines.append("(the table as a whole)")
            lines += [line for each in self.of(None) for line in _finding_lines(each)]
        return "\n".join([*lines, "-" * WIDTH, *textwrap.wrap(self.summary(), WIDTH)])

    def _column_lines(self, column: ColumnCheck, room: int) -> Iterator[str]:
        name = _cut(_shown(column.name), NAME)
        kind = f"{column.taken_for:<{KIND}}"
        numbers = f"{column.values:>8,} {_percent(column.missing):>8}"
        first, *others = textwrap.wrap(_why(column), room) or [""]
        yield f"{name:<{NAME}} {kind} {first:<{room}} {numbers}"
        for line in others:
            yield f"{'':<{NAME + KIND + 1}} {line}"
        for finding in self.of(column.name):
            yield from _finding_lines(finding)

    def summary(self) -> str:
        """Return in words how much was looked at, and how much looks wrong."""
        n_features = sum(not each.is_target for each in self.columns)
        of = f"{self.rows:,} rows, {n_features:,} feature{'s' * (n_features != 1)}"
        if self.looked_at < self.rows:
            of = (
                f"{of}; {self.looked_at:,} of the rows were looked at, in blocks spread over the "
                "table"
            )
        counts = [
            f"{len(found)} {words}"
            for found, words in (
                (self.wrong, "surely wrong"),
                (self.suspect, "suspect"),
                (self.notes, f"note{'s' * (len(self.notes) != 1)}"),
            )
            if found
        ]
        return f"{of}: {', '.join(counts) or 'nothing looks wrong'}."

    def __repr__(self) -> str:
        return self.to_text()


def _why(column: ColumnCheck) -> str:
    return f"the target: {column.why}" if column.is_target else column.why


def _finding_lines(finding: Finding) -> Iterator[str]:
    """Yield what was found beside its sign, and below it the remedy."""
    indent = " " * (SIGN + 2)
    first = f"  {SIGNS[finding.severity]:<{SIGN}}"
    for words, start in ((finding.what, first), (f"-> {finding.remedy}", indent)):
        yield from textwrap.wrap(
            _shown(words), WIDTH, initial_indent=start, subsequent_indent=indent
        )


def _percent(share: float) -> str:
    """Return a share in percent, of which 0 and 100 mean none and all."""
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{share:.0%}"


def _shown(text: str) -> str:
    """Return text with what does not show written as escapes, which cannot break the table."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
