"""Tables and methods, each pair a task: measured by processes, and recorded when finished."""

from __future__ import annotations

import os
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from mossrules.evaluation import MethodTrust, assess
from mossrules.evaluation.assessment import trust_to_dict
from mossrules.exceptions import SolveLimitWarning
from research.harness.clone import DATA, write_text
from research.harness.processes import ONE_THREAD
from research.harness.records import ROWS, Record, as_csv
from research.harness.reports import say
from research.trust.methods import METHODS
from research.trust.peers import SECONDS, assess_peer
from research.trust.tables import load

__all__ = ["measure", "measure_all"]


def measure_all(
    tasks: list[tuple[str, str]],
    settings: dict[str, Any],
    out: Path,
    processes: int,
    data: Path,
    *,
    seconds: float = SECONDS,
) -> None:
    """Do the tasks that are not recorded, and record each; `seconds` are for a fit of a peer."""
    record = Record.open(out, settings)
    record.keep(lambda rows: all(row["failure"] is None for row in rows))
    left = [task for task in tasks if ": ".join(task) not in record.tasks]
    os.environ.update(ONE_THREAD)  # of the processes that are started below
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        under_way = {pool.submit(measure, *task, settings, data, seconds): task for task in left}
        for number, done in enumerate(as_completed(under_way), start=1):
            task = ": ".join(under_way[done])
            rows = done.result()
            record.add(task, rows)
            write_text(out.with_name(ROWS), as_csv(_flat(record)))
            say(f"{number} of {len(left)}: {task}")


def _flat(record: Record) -> list[dict[str, Any]]:
    """Return all rows of a record."""
    return [row for rows in record.tasks.values() for row in rows]


def measure(
    table_name: str,
    name: str,
    settings: dict[str, Any],
    data: Path = DATA,
    seconds: float = SECONDS,
) -> list[dict[str, Any]]:
    """Return the row of a method on a table; none if it is not for its kind of target."""
    method, table = METHODS[name], load(table_name, settings["max_rows"], data)
    how = {key: settings[key] for key in ("refits", "seeds", "scheme")}
    if method.peer is not None:
        limits = {"max_rules": settings["rules"], "seconds": seconds}
        trust = assess_peer(name, method.peer, table, **limits, **how)
        return [_row(trust, table.name, len(table.y), classes=table.classes)]
    prepared = method.make(table.X, settings["rules"], table.classes) if method.make else None
    if prepared is None:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SolveLimitWarning)
        found = assess({name: prepared.estimator}, prepared.X, table.y, n_jobs=1, **how)
    return [_row(found[name], table.name, len(table.y), classes=table.classes)]


def _row(trust: MethodTrust, table: str, n_rows: int, *, classes: bool) -> dict[str, Any]:
    """Return a row of the record."""
    return {"table": table, "classes": classes, "rows": n_rows, **trust_to_dict(trust)}
