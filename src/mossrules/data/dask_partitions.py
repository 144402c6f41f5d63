"""Rows of Dask collections: partitions are chunks, worked on where they are.

A fold is one graph: each partition is read, worked on and let go, and results are combined in a
tree, so that what travels is histograms and counts. What is kept (codes) stays on the workers.
Dask computes again what a lost worker had, from the same rows and numbers: the result is the same.
"""

from __future__ import annotations

import copy
import importlib.util
import operator
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate, pairwise
from typing import Any, Unpack

import numpy as np

from mossrules._typing import AnyArray
from mossrules.data.chunks import (
    ChunkSource,
    Effort,
    Item,
    LocalChunks,
    New,
    Result,
    RowRange,
    fold_parts,
    itself,
    join_folds,
    memory_bytes,
    only_fold,
    split_parts,
)
from mossrules.data.columns import Column, Kind, Label, labels_as, read_as
from mossrules.data.table import Table, did_you_mean, is_dask
from mossrules.exceptions import InvalidTable, InvalidTarget, MissingDependency

__all__ = [
    "DaskChunks",
    "on_cluster",
    "on_workers",
    "partition_table",
    "predict_partitions",
    "read_partitions",
]

# Wide enough that the tree is shallow, narrow enough that a worker holds few results at a time.
FAN_IN = 8  # results that are combined at once
TARGET = "y"  # name of the target that comes beside an array


@dataclass(frozen=True)
class DaskChunks(ChunkSource[Item]):
    """Chunks on the current Dask client: what `parts` makes of delayed items."""

    items: Sequence[Any]
    parts: Callable[[Any], Sequence[Item]] = itself

    def fold(
        self,
        work: Callable[[Item], Result],
        combine: Callable[[Result, Result], Result],
        **how: Unpack[Effort],
    ) -> Result:
        """Return `combine` over `work(chunk)` for all chunks, combined in a tree on the workers."""
        from dask.base import compute  # noqa: PLC0415  optional
        from dask.delayed import delayed  # noqa: PLC0415

        # Once in the graph, however many partitions there are.
        task = delayed(partial(_fold_item, self.parts, work, combine), traverse=False)
        # All partitions in one graph: Dask then places work where the data are, and repeats the
        # part of a worker that is lost. One task for each combination of eight keeps traffic
        # between neighbours.
        level = [delayed(_call)(task, item) for item in self.items]
        while len(level) > 1:
            level = [
                delayed(partial(_join_all, combine))(level[first : first + FAN_IN])
                for first in range(0, len(level), FAN_IN)
            ]
        results: list[Result] = compute(level[0])[0]
        self._tell(how)
        return only_fold(results)

    def split(
        self,
        work: Callable[..., Sequence[New]],
        *,
        keep: bool,
        beside: Sequence[tuple[Any, ...]] | None = None,
        **how: Unpack[Effort],
    ) -> DaskChunks[New]:
        """Return what becomes of the chunks, kept on the workers or made in each fold."""
        from dask.base import persist  # noqa: PLC0415
        from dask.delayed import delayed  # noqa: PLC0415

        more = [delayed(each, traverse=False) for each in beside or [()] * len(self.items)]
        if beside is not None:
            # What is beside the chunks goes to the workers once, and not again in each fold.
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
                more = persist(*more)
        items = [delayed(_pair)(item, each) for item, each in zip(self.items, more, strict=True)]
        parts = partial(split_parts, self.parts, work)
        if not keep:
            return DaskChunks(items, parts)
        task = delayed(parts, traverse=False)
        made = persist(*(delayed(_call)(task, item) for item in items))
        self._tell(how)
        return DaskChunks(made, _pieces)

    def _tell(self, how: Effort) -> None:
        """Report a pass as a whole: a graph does not say how far it is."""
        progress = how.get("progress")
        if progress is not None:
            progress(how.get("stage", ""), len(self.items), len(self.items))

    @property
    def memory(self) -> int:
        """Bytes of memory of all workers, or of this machine where there is no cluster."""
        if importlib.util.find_spec("distributed") is None:
            return memory_bytes()
        from distributed import default_client  # noqa: PLC0415  optional

        try:
            workers = default_client().scheduler_info(n_workers=-1)["workers"].values()
        except ValueError:  # there is no client
            return memory_bytes()
        return sum(worker["memory_limit"] or memory_bytes() for worker in workers)

    def __iter__(self) -> Iterator[Item]:
        from dask.base import compute  # noqa: PLC0415

        for item in self.items:
            yield from self.parts(compute(item)[0])

    def __len__(self) -> int:
        return len(self.items)


def _fold_item(parts: Any, work: Any, combine: Any, item: Any) -> list[Any]:
    return fold_parts(work, combine, parts(item))


def _join_all(combine: Any, results: list[list[Any]]) -> list[Any]:
    # Combining may add in place, and a result may be needed again if a worker is lost.
    first = copy.deepcopy(results[0])
    return reduce(partial(join_folds, combine), results[1:], first)


def _call(task: Any, item: Any) -> Any:
    return task(item)


def _pair(item: Any, beside: Any) -> tuple[Any, Any]:
    return item, beside


def _pieces(made: list[Any]) -> list[Any]:
    return made


def on_cluster(work: Callable[[Any], Result], items: Sequence[Any]) -> list[Result]:
    """Return the results of some work on each item, in their order, made by Dask's workers."""
    check_dask()
    from dask.base import compute  # noqa: PLC0415  optional
    from dask.delayed import delayed  # noqa: PLC0415

    task = delayed(work, traverse=False)
    tasks = [delayed(_call)(task, delayed(item, traverse=False)) for item in items]
    return list(compute(*tasks))


def check_dask() -> None:
    """Say what to install where Dask is not there."""
    if importlib.util.find_spec("dask") is None:
        raise MissingDependency('Dask is not installed; run pip install "mossrules[dask]".')


# --- rows -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Found:
    """What one partition says of the columns."""

    n_rows: int
    kinds: tuple[tuple[Kind, tuple[Label, ...], bool], ...]  # with whether any value is there


def read_partitions(X: Any, y: Any) -> tuple[Table, DaskChunks[Any], str]:
    """Return the table of a Dask frame or array, its partitions, and the target's name.

    `y` is the name of a column, or a Dask series or array of the partitions of X, which becomes one
    of the columns. One pass finds the lengths of the partitions and the kinds of the columns, and
    of the table no more is here: it cannot be read.
    """
    check_dask()
    parts, names, target = _partitions(X, y)
    partitions = DaskChunks[Any](parts)
    found = partitions.fold(_look, operator.or_)
    looks = [found[position] for position in sorted(found)]
    columns = tuple(
        _column(name, [look.kinds[position] for look in looks])
        for position, name in enumerate(names)
    )
    # Dask does not know the lengths of partitions, and offsets need them all.
    edges = [0, *accumulate(look.n_rows for look in looks)]
    spans = tuple(RowRange(start, stop) for start, stop in pairwise(edges))
    return Table(columns, edges[-1], parts=spans), partitions, target


def _partitions(X: Any, y: Any) -> tuple[list[Any], list[str], str]:
    """Return delayed (number, columns) of each partition, the names, and that of the target."""
    from dask.delayed import delayed  # noqa: PLC0415

    if hasattr(X, "to_delayed") and hasattr(X, "columns"):
        target = y if isinstance(y, str) else TARGET
        if not isinstance(y, str):
            if not is_dask(y) or target in X.columns:
                raise InvalidTarget("y is not in the Dask frame; add it as a column and name that.")
            X = X.assign(**{target: y})
        names = [str(name) for name in X.columns]
        if target not in names:
            raise InvalidTarget(
                f"The target {target!r} is not a column of the table; pass the name of one."
                + did_you_mean(target, names)
            )
        parts = X.to_delayed()
    else:
        if X.ndim != 2 or not is_dask(y) or y.ndim != 1:
            raise InvalidTable("Of Dask arrays, pass X of two dimensions and y of one.")
        X = X.rechunk({1: -1})
        blocks, values = X.to_delayed()[:, 0], y.rechunk((X.chunks[0],)).to_delayed()
        parts = [delayed(_array_columns)(*each) for each in zip(blocks, values, strict=True)]
        names, target = [*(f"x{place}" for place in range(X.shape[1])), TARGET], TARGET
    return [delayed(_pair)(place, part) for place, part in enumerate(parts)], names, target


def _array_columns(X: AnyArray, y: AnyArray) -> dict[str, AnyArray]:
    return {**{f"x{place}": X[:, place] for place in range(X.shape[1])}, TARGET: y}


def _look(part: tuple[int, Any]) -> dict[int, _Found]:
    table = Table.from_any(part[1])
    kinds = []
    for column in table.columns:
        there = column.kind in (Kind.BOOLEAN, Kind.ORDERED)
        if not there and column.kind is not Kind.UNSUPPORTED:
            values = column.read(0, table.n_rows)
            missing = np.isnan(values) if column.kind is Kind.NUMERIC else values == None  # noqa: E711
            there = not bool(np.all(missing))
        kinds.append((column.kind, column.levels, there))
    return {part[0]: _Found(table.n_rows, tuple(kinds))}


def _column(name: str, kinds: Sequence[tuple[Kind, tuple[Label, ...], bool]]) -> Column:
    """Return a column of the kind that its values have; it is read on the workers only."""
    # The first partition that has any value decides: an empty column of strings looks like numbers.
    kind, levels, _ = next((each for each in kinds if each[2]), kinds[0])
    return Column(name, kind, _not_here, levels)


def _not_here(start: int, stop: int) -> AnyArray:
    raise InvalidTable(f"Rows {start} to {stop} are on a cluster; compute the collection first.")


def partition_table(columns: Sequence[Column], part: tuple[int, Any]) -> Table:
    """Return the rows of a partition, with the columns that all partitions have."""
    table = Table.from_any(part[1])
    same = tuple(
        Column(
            expected.name,
            expected.kind,
            partial(read_as, expected, found),
            expected.levels,
            partial(labels_as, expected, found),
        )
        for expected, found in zip(columns, table.columns, strict=True)
    )
    return Table(same, table.n_rows)


def on_workers(chunks: LocalChunks[Item]) -> DaskChunks[Item]:
    """Return chunks of files, which the workers of the cluster read."""
    check_dask()
    from dask.delayed import delayed  # noqa: PLC0415

    items = [delayed(item, traverse=False) for item in chunks.items]
    return DaskChunks(items, chunks.parts)


# --- predictions ----------------------------------------------------------------------------------


def predict_partitions(X: Any, predict: Callable[[Any], AnyArray], example: AnyArray) -> Any:
    """Return predictions of each partition, as a lazy series or array.

    `example` is what `predict` gives for no rows: of one dimension, or of two for probabilities.
    """
    if not hasattr(X, "columns"):
        X = X.rechunk({1: -1})
        if example.ndim == 1:
            return X.map_blocks(predict, drop_axis=1, dtype=example.dtype)
        chunks = (X.chunks[0], (example.shape[1],))
        return X.map_blocks(predict, chunks=chunks, dtype=example.dtype)
    import pandas as pd  # noqa: PLC0415  Dask frames are of pandas

    make = pd.Series if example.ndim == 1 else pd.DataFrame
    return X.map_partitions(partial(_as_frame, make, predict), meta=make(example))


def _as_frame(make: Any, predict: Any, frame: Any) -> Any:
    return make(predict(frame), index=frame.index)
