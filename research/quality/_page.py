"""Write docs/quality.md from the records of all parts: `python -m research.quality page`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mossrules._files import write_file
from research.harness.tables import anchor, escape, markdown_table
from research.quality._record import FOLDER, Cell, Record, read_records

__all__ = ["PAGE", "made", "page", "table", "write_page"]

PAGE = FOLDER.with_suffix(".md")

INTRODUCTION = """\
# Quality

<!-- Written by `python -m research.quality page` from docs/quality; do not edit. -->

What was checked beyond [the suite that runs at every change](testing.md), with what result, and \
the command that does it again. Each part names the commit it was run at; the figures are those of \
that run, and this page is written from its records.
"""


def page(records: Mapping[str, Record]) -> str:
    """Return the page: all parts in a table, then each with its details."""
    head = markdown_table(
        ("Part", "Seen", "Passed", "Again"),
        (
            (
                f"[{record.title}](#{anchor(record.title)})",
                record.seen,
                _word(record),
                f"`{_command(record)}`",
            )
            for record in records.values()
        ),
    )
    sections = ["\n".join(_section(record)) for record in records.values()]
    return "\n".join([INTRODUCTION, *head, "", "\n\n".join(sections)]) + "\n"


def write_page(parts: Sequence[str]) -> None:
    """Write the page, with the parts in this order; those without a record are left out."""
    records = read_records()
    write_file(PAGE, page({part: records[part] for part in parts if part in records}))


def _section(record: Record) -> Iterator[str]:
    yield f"## {record.title}\n"
    yield f"{record.asked}\n"
    yield f"**{record.seen}**\n"
    if record.table:
        yield from table(record.table)
        yield ""
    yield from (f"* {note}" for note in record.notes)
    if record.notes:
        yield ""
    yield f"`{_command(record)}`, {_duration(record.seconds)}, {made(record)}."


def made(record: Record) -> str:
    """Return the day of a record, and the releases and the commit that made it."""
    made_by = ", ".join(f"{name} {value}" for name, value in record.made_by.items() if value)
    return f"on {record.day}, with {made_by}"


def table(rows: Sequence[Mapping[str, Cell]]) -> list[str]:
    """Return the lines of a table, numbers to the right."""
    columns = list(rows[0])
    right = [name for name in columns if all(isinstance(row[name], int | float) for row in rows)]
    cells = [[_cell(row[name]) for name in columns] for row in rows]
    return markdown_table(columns, cells, right=right)


def _cell(value: Cell) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else escape(value)


def _command(record: Record) -> str:
    """Return how to do it again; records older than `research/` have the name of before."""
    return record.command.replace("python -m quality", "python -m research.quality")


def _word(record: Record) -> str:
    return "yes" if record.passed else "**no**"


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.1f} minutes" if seconds >= 60 else f"{seconds:.1f} seconds"
