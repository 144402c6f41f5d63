"""From folders of runs to one page of results, with a folder of details for each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mossrules._files import write_file
from mossrules.exceptions import InvalidFile
from research.harness.records import RECORD, ROWS, Record, as_csv
from research.paper.framework import Experiment, Presentation, Row, TableOf
from research.paper.markdown import PROTOCOLS, QUICK, makers, page, table
from research.paper.registry import experiment_names, find_experiment
from research.paper.running import draw_figures

__all__ = ["collect"]

MOST_ROWS = 20  # of a table on the page itself
MOST_LINES = 1000  # of rows beside it: more are raw material
DOTS = 80  # per inch: figures on a page need not be large
LONGEST = 200  # characters of a cell: longer ones are no figures, but models or settings
HEADING = """\
# Results

What `mossrules reproduce` has measured, each table with the paper's figures beside ours where it \
prints any. Long tables and settings are on the page of each run; rows behind them, if they \
are not too many, in its folder. This page was written by `mossrules reproduce --page \
docs/results.md --out DIR`, of a folder of such runs; [how to repeat them](reproducing.md), and \
[what explains differences from the paper](comparison_paper.md), measured on six of its tables."""


@dataclass(frozen=True)
class Run:
    """What a folder has of an experiment."""

    experiment: Experiment[Any]
    settings: Any
    described: Mapping[str, Any]
    rows: Sequence[Row]
    done: int  # tasks
    total: int

    @property
    def name(self) -> str:
        """Name of its folder."""
        quick = "-quick" if self.described["quick"] else ""
        return f"{self.experiment.name}-{self.described['protocol']}{quick}"

    @property
    def left(self) -> list[str]:
        """A sentence about tasks that were not run, if there are any."""
        if self.done == self.total:
            return []
        return [f"Not finished: {self.done} of {self.total} tasks were run."]

    def present(self) -> Presentation:
        """Return tables and figures; the first table says what was not run."""
        shown = self.experiment.present(self.settings, self.rows)
        first, *others = shown.tables
        first = replace(first, notes=[*first.notes, *self.left])
        return replace(shown, tables=[first, *others])


def collect(out: Path, target: Path, note: str | None = None) -> list[Path]:
    """Write one page about all runs of a folder, and a folder beside it with their details.

    Parameters
    ----------
    out : folder of results, as `reproduce` leaves it; runs may be unfinished
    target : the page, such as results.md; details are in the folder of its name without .md
    note : a sentence for its head: on what machine the runs were made, say
    """
    runs = _read(out)
    folder = target.with_suffix("")
    parts, paths = [HEADING, *([note] if note else [])], []
    for run in runs:
        shown = run.present()
        (folder / run.name).mkdir(parents=True, exist_ok=True)
        figures, _ = draw_figures(shown, folder / run.name, DOTS)
        names = [path.name for path in figures]
        details = {"results.md": page(run.experiment, run.described, run.rows, shown, names)}
        if len(run.rows) <= MOST_LINES:
            details[ROWS] = as_csv(slim(run.rows))
        for name, content in details.items():
            write_file(folder / run.name / name, content)
        paths += [*(folder / run.name / name for name in details), *figures]
        parts.append(_section(run, shown, f"{folder.name}/{run.name}", names))
    missing = [name for name in experiment_names() if name not in {r.experiment.name for r in runs}]
    parts += [f"Not run: {', '.join(missing)}."] if missing else []
    write_file(target, "\n\n".join(parts) + "\n")
    return [target, *paths]


def slim(rows: Sequence[Row]) -> list[Row]:
    """Return rows without what is the same in all of them and long texts, to six digits."""
    names = list(dict.fromkeys(name for row in rows for name in row))

    def is_kept(name: str) -> bool:
        values = {str(row.get(name)) for row in rows}
        return max(map(len, values)) <= LONGEST and (len(values) > 1 or len(rows) == 1)

    kept = [name for name in names if is_kept(name)]
    return [{name: _short(row[name]) for name in kept if name in row} for row in rows]


def _short(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _section(run: Run, shown: Presentation, folder: str, figures: Sequence[str]) -> str:
    """Return what the page says of a run."""
    protocol = run.described["protocol"]
    parts = [
        f"## {run.experiment.heading} ({run.experiment.name}, protocol `{protocol}`)",
        run.experiment.title,
        PROTOCOLS[protocol],
    ]
    parts += [QUICK] if run.described["quick"] else []
    for each in shown.tables:
        if len(each.rows) <= MOST_ROWS:
            parts += [f"### {each.heading}", *_body(each)]
    parts += [f"![{name}]({folder}/{name})" for name in figures]
    parts.append(f"[All tables, and settings]({folder}/results.md). {makers(run.rows)}")
    return "\n\n".join(parts)


def _body(found: TableOf) -> list[str]:
    return [*([table(found)] if found.rows else []), *found.notes]


# --- reading --------------------------------------------------------------------------------------


def _read(out: Path) -> list[Run]:
    """Return the runs of a folder in the order of the paper; quick ones for want of full ones."""
    found = [_read_run(path) for path in sorted(out.glob(f"*/{RECORD}"))]
    if not found:
        raise InvalidFile(f"{out} has no folder with a {RECORD}; name one of mossrules reproduce.")
    full = {(run.experiment.name, run.described["protocol"]) for run in found if not _quick(run)}
    kept = [
        run
        for run in found
        if not _quick(run) or (run.experiment.name, run.described["protocol"]) not in full
    ]
    order = experiment_names()
    ways = tuple(PROTOCOLS)
    return sorted(
        kept,
        key=lambda run: (
            order.index(run.experiment.name),
            ways.index(run.described["protocol"]),
        ),
    )


def _quick(run: Run) -> bool:
    return bool(run.described["quick"])


def _read_run(path: Path) -> Run:
    record = Record.read(path)
    described = dict(record.settings)
    own = {
        name: _plain(value)
        for name, value in described.items()
        if name not in ("experiment", "protocol", "quick")
    }
    experiment = find_experiment(described["experiment"])
    try:
        settings = type(experiment.full)(**own)
    except TypeError as reason:
        raise InvalidFile(
            f"{path} has settings that {experiment.name} does not know ({reason}); run it again."
        ) from reason
    tasks = list(experiment.tasks(settings))
    rows = record.rows(tasks)
    if not rows:
        raise InvalidFile(f"{path} has no finished task; move its folder away, or go on with it.")
    done = sum(task in record.tasks for task in tasks)
    return Run(experiment, settings, described, rows, done, len(tasks))


def _plain(value: Any) -> Any:
    """Return a setting as it was: tuples, which a file has as lists."""
    return tuple(map(_plain, value)) if isinstance(value, list) else value
