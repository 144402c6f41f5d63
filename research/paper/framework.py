"""What an experiment is: settings -> tasks -> rows -> tables and figures.

A module for each experiment makes one `Experiment`, named after the module, out of four parts:

    settings    a frozen dataclass of plain values, one for the full run and one for a quick look
    tasks       from settings to names of tasks, each of which can be run on its own
    run         from a task to rows: dicts of plain values, which together make one tidy table
    present     from all rows to tables and figures, with the paper's figures beside ours

The rest (data, records, provenance, files) is the same for all, and elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any, Generic, TypeVar

from mossrules.data.table import without as less
from mossrules.learning.stability_levels import Stability
from research.harness.reports import Row
from research.paper.datasets import Dataset, load_dataset
from research.paper.drawing import Figure
from research.paper.protocols import Protocol

__all__ = ["Experiment", "ExperimentContext", "Presentation", "Row", "TableOf"]

Settings = TypeVar("Settings")


@dataclass(frozen=True)
class ExperimentContext:
    """What a task may use: a protocol, data, and threads."""

    protocol: Protocol
    folder: Path | None = None  # of data; None fetches them from OpenML
    jobs: int | None = None

    def load(self, name: str, without: Sequence[str] = ()) -> Dataset:
        """Return a dataset, less some columns, its table prepared as the protocol has it."""
        found = load_dataset(name, self.folder)
        return replace(found, X=self.protocol.prepare(reduce(less, without, found.X)))

    def learners(
        self, settings: Any, data: Dataset, names: Sequence[str], **others: Any
    ) -> dict[str, Any]:
        """Return learners for a dataset, as settings have them; `others` come before those."""
        given = {**self._given(settings), **others}
        return self.protocol.learners(data.X, names=tuple(names), **given)

    def moss(self, settings: Any, data: Dataset, stability: Stability | None, **others: Any) -> Any:
        """Return MOSS at a stability, likewise."""
        return self.protocol.moss(stability, data.X, **{**self._given(settings), **others})

    def _given(self, settings: Any) -> dict[str, Any]:
        shared = ("max_rules", "n_trees", "seed")
        given = {name: getattr(settings, name) for name in shared if hasattr(settings, name)}
        return {"jobs": self.jobs, **given}


@dataclass(frozen=True)
class TableOf:
    """Rows under a heading, and what to know before reading them."""

    heading: str
    rows: Sequence[Row]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Presentation:
    """What is shown of the rows; figures are drawn only if they are asked for."""

    tables: Sequence[TableOf]
    figures: dict[str, Callable[[], Figure]] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment(Generic[Settings]):
    """One experiment; see the module for its parts."""

    name: str
    heading: str  # what it shows, in a few words
    title: str  # one sentence
    full: Settings
    quick: Settings
    tasks: Callable[[Settings], Sequence[str]]
    run: Callable[[Settings, str, ExperimentContext], Sequence[Row]]
    present: Callable[[Settings, Sequence[Row]], Presentation]
    # Whether the rows of a task are all there is to find; if not, the next run tries it again.
    settled: Callable[[Sequence[Row]], bool] = lambda _rows: True
