"""What commands print and write: results to standard output, everything else to the other one.

Tables and figures that several commands have are here; those of one command are beside it.
"""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from mossrules import _late as late
from mossrules.exceptions import InvalidParameter
from mossrules.progress import StageListener

__all__ = [
    "as_csv",
    "certificate",
    "check_plot",
    "errors",
    "figure_bytes",
    "fits",
    "format_interval",
    "format_number",
    "is_excel",
    "out",
    "print_json",
    "print_line",
    "print_plain",
    "progress",
    "rules_table",
    "share_of_largest",
    "solution_content",
    "table_file",
    "table_of",
]

ANY_WIDTH = 10_000
PLOTS = (".png", ".svg", ".pdf")

out = Console(highlight=False)
errors = Console(highlight=False, stderr=True)


# --- lines, JSON and CSV --------------------------------------------------------------------------


@contextmanager
def progress(stage: str) -> Iterator[StageListener]:
    """Show what is being done and how far it is, where someone is there to see it."""
    if not errors.is_terminal:
        yield lambda _stage, _done, _total: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True) as bar:
        tasks = {stage: bar.add_task(stage, total=None)}

        def show(stage: str, done: int | None, total: int | None) -> None:
            if stage not in tasks:
                bar.remove_task(tasks.popitem()[1])
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        yield show


def print_plain(text: str) -> None:
    """Print text as it is: on lines as long as they are, with brackets that are just brackets."""
    sys.stdout.write(f"{text}\n")


def print_line(*parts: str | tuple[str, str]) -> None:
    """Print a line of text for people, parts of it with a style."""
    out.print(Text.assemble(*parts), soft_wrap=True)


def print_json(content: Any) -> None:
    """Print content for machines; numbers that JSON does not have are null."""
    print_plain(json.dumps(_finite(content), indent=2, allow_nan=False))


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _finite(value) for name, value in content.items()}
    if isinstance(content, list):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def as_csv(columns: Mapping[str, Sequence[Any]]) -> str:
    """Return columns as the text of a CSV file; None is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def table_file(path: Path, columns: Mapping[str, Sequence[Any]]) -> str | bytes:
    """Return columns as the content of a file of that name: an Excel file, or CSV."""
    if is_excel(path):
        return late.excel.to_excel(columns)
    return as_csv(columns)


def is_excel(path: Path | None) -> bool:
    """Tell whether a file is to be one of Excel, and refuse that at once where it cannot be."""
    if path is None or path.suffix.lower() != ".xlsx":
        return False
    late.excel.check_openpyxl("Writing .xlsx")
    return True


# --- tables ---------------------------------------------------------------------------------------


def table_of(*, left: Sequence[str] = (), right: Sequence[str] = (), last: str = "") -> Table:
    """Return an empty table: columns of words, then of numbers, then one whose lines may break."""
    table = Table()
    for heading in left:
        table.add_column(heading, no_wrap=True)
    for heading in right:
        table.add_column(heading, justify="right", no_wrap=True)
    if last:
        table.add_column(last, overflow="fold")
    return table


def fits(table: Table) -> bool:
    """Whether a table is no wider than what it is printed on, so that no cell is cut off."""
    wide = out.options.update_width(ANY_WIDTH)  # else a table measures as what is there
    return out.measure(table, options=wide).maximum <= out.width


def rules_table(ruleset: late.model.RuleSet) -> Table:
    """Return one line for each rule of a model."""
    *headings, last = late.export_text.header(ruleset)
    table = table_of(right=headings, last=last)
    for row in late.export_text.table_rows(ruleset):
        # Not as markup: names of columns have brackets too.
        table.add_row(*map(Text, (*row.numbers, row.rule)))
    return table


def format_interval(estimate: Any) -> str:
    """Return an estimate with its interval."""
    ends = f"{format_number(estimate.lower, '.2f')}, {format_number(estimate.upper, '.2f')}"
    return f"{estimate.estimate:.3f} [{ends}]"


def format_number(value: float, form: str) -> str:
    """Return a number in a form, and a dash where there is none."""
    return "-" if math.isnan(value) else f"{value:{form}}"


# --- the certificate ------------------------------------------------------------------------------


def certificate(solution: late.solver.Solution) -> str:
    """Return one line on how good the choice is known to be."""
    status = late.solver.Status
    seconds = f"{solution.report.seconds:.2g} s"
    if solution.status is status.OPTIMAL:
        return f"Optimal: proven to within {solution.gap:.2%} of the best rule set, in {seconds}."
    if solution.status is status.HEURISTIC:
        return f"Heuristic: found by {solution.report.method} in {seconds}, without a proof."
    return (
        f"Not proven: {solution.status.value} after {seconds}, with a gap of {solution.gap:.2%} "
        "left; allow more time, or a larger gap."
    )


def solution_content(solution: late.solver.Solution, stability_share: float) -> dict[str, Any]:
    """Return a choice and its certificate, for machines."""
    return {
        "status": solution.status.value,
        "rules": len(solution.support),
        "loss": solution.loss,
        "bound": solution.bound,
        "gap": solution.gap,
        "stability": solution.stability,
        "stability_share": stability_share,
        "method": solution.report.method,
        "seconds": solution.report.seconds,
    }


def share_of_largest(model: Any) -> float:
    """Return the stability of a MOSS model as a share of the largest that there is."""
    largest = 0 if model.problem_ is None else model.problem_.max_stability
    return min(1.0, model.solution_.stability / largest) if largest else 1.0


# --- figures --------------------------------------------------------------------------------------


def check_plot(path: Path) -> None:
    """Refuse a plot that cannot be drawn, before any work."""
    if path.suffix.lower() not in PLOTS:
        raise InvalidParameter(f"--plot is {str(path)!r}; end it in one of {', '.join(PLOTS)}.")
    late.axes.load("matplotlib.figure")


def figure_bytes(
    draw: Callable[[Any], object], path: Path, size: tuple[float, float] = (6.4, 4.4)
) -> bytes:
    """Return what a function draws on axes, as the content of a file of that name."""
    # Not by pyplot, which may open a window.
    figure = late.axes.load("matplotlib.figure").Figure(figsize=size, layout="constrained")
    draw(figure.add_subplot())
    content = io.BytesIO()
    figure.savefig(content, format=path.suffix.lower().removeprefix("."), dpi=150)
    return content.getvalue()
