"""From the name of an experiment to its files."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mossrules._files import write_file
from mossrules._provenance import provenance
from mossrules._signals import check_interrupted
from mossrules.exceptions import MissingDependency
from research.harness.records import RECORD, ROWS, Record, as_csv
from research.paper.framework import Experiment, ExperimentContext, Presentation, Row, TableOf
from research.paper.markdown import page
from research.paper.protocols import Way, protocol_for
from research.paper.registry import find_experiment

__all__ = ["Finished", "Step", "draw_figures", "reproduce"]


@dataclass(frozen=True)
class Step:
    """Where a run stands."""

    task: str
    done: int  # tasks, this one among them if it is finished
    total: int
    seconds: float | None  # that the task took; None when it begins


@dataclass(frozen=True)
class Finished:
    """What a run has left."""

    rows: Sequence[Row]
    tables: Sequence[TableOf]
    paths: Sequence[Path]  # of all files written
    reused: int  # tasks of an earlier run
    undrawn: str | None = None  # why there are no figures, if there are none


def reproduce(
    name: str,
    *,
    out: Path,
    data: Path | None = None,
    protocol: Way = "paper",
    quick: bool = False,
    jobs: int | None = None,
    listen: Callable[[Step], object] = lambda _step: None,
) -> Finished:
    """Run an experiment, or what is left of it, and write its rows, tables and figures.

    Files are in the folder `out`/NAME-PROTOCOL, or NAME-PROTOCOL-quick. A run that was stopped goes
    on where it was, as each task is recorded when it is finished.

    Parameters
    ----------
    name : of the experiment; see `experiment_names`
    out : folder for results
    data : folder of tables; see `load_dataset`
    protocol : {"paper", "ours"}
    quick : whether a look of a minute or two is enough
    jobs : threads; all cores by default
    listen : called with a `Step` when a task begins and when it ends
    """
    experiment = find_experiment(name)
    settings = experiment.quick if quick else experiment.full
    folder = out / f"{name}-{protocol}{'-quick' if quick else ''}"
    context = ExperimentContext(protocol_for(protocol), data, jobs)
    described = {"experiment": name, "protocol": protocol, "quick": quick, **asdict(settings)}
    record = Record.open(folder / RECORD, described)
    tasks = list(experiment.tasks(settings))
    record.keep(experiment.settled)
    reused = sum(task in record.tasks for task in tasks)
    for task in _left(tasks, record, listen):
        rows = _run(experiment, settings, task, context)
        check_interrupted()  # a search may have made a result of what it had
        record.add(task, rows)
    rows = record.rows(tasks)
    shown = experiment.present(settings, rows)
    paths = [folder / ROWS, folder / "results.md"]
    write_file(paths[0], as_csv(rows))
    figures, undrawn = draw_figures(shown, folder)
    write_file(paths[1], page(experiment, described, rows, shown, [path.name for path in figures]))
    return Finished(rows, shown.tables, [*paths, *figures], reused, undrawn)


def _left(tasks: Sequence[str], record: Record, listen: Callable[[Step], object]) -> Iterator[str]:
    """Yield the tasks that the record does not have, and tell where the run stands."""
    left = [task for task in tasks if task not in record.tasks]
    for done, task in enumerate(left, len(tasks) - len(left)):
        listen(Step(task, done, len(tasks), None))
        started = time.perf_counter()
        yield task
        listen(Step(task, done + 1, len(tasks), time.perf_counter() - started))


def _run(
    experiment: Experiment[Any], settings: Any, task: str, context: ExperimentContext
) -> list[Row]:
    """Return the rows of a task, each with what made it."""
    started = time.perf_counter()
    found = experiment.run(settings, task, context)
    same = {"experiment": experiment.name, "protocol": context.protocol.way, "task": task}
    made = {
        "seed": settings.seed,
        "settings": json.dumps(asdict(settings)),
        "task_seconds": round(time.perf_counter() - started, 3),
        **provenance(),
    }
    return [{**same, **row, **made} for row in found]


def draw_figures(
    shown: Presentation, folder: Path, dpi: int = 150
) -> tuple[list[Path], str | None]:
    """Write the figures, of so many dots per inch, or return why there are none."""
    paths = []
    for name, draw in shown.figures.items():
        try:
            figure = draw()
        except MissingDependency as reason:
            return [], str(reason)
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=dpi)
        paths.append(folder / f"{name}.png")
        write_file(paths[-1], content.getvalue())
    return paths, None
