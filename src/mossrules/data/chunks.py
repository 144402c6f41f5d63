"""Folds over chunks of rows: map, then combine in whatever order results arrive.

Everything that reads rows is written as a fold of a `ChunkSource` with an exact, associative and
commutative `combine`, so the result cannot depend on the chunking, on where the chunks are, on the
number of threads or on which chunk finishes first. Chunks of this process, slices of a table or
parts of files, are `LocalChunks`, worked on by threads.
"""

from __future__ import annotations

import operator
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from functools import partial, reduce
from itertools import islice
from numbers import Integral
from typing import Any, Generic, TypedDict, TypeVar, Unpack

import joblib

from mossrules._common import check_integer
from mossrules.exceptions import InvalidParameter

Item = TypeVar("Item")
New = TypeVar("New")
Result = TypeVar("Result")

Progress = Callable[[str, int, int], None]  # (what is being done, chunks done, chunks in all)


class Effort(TypedDict, total=False):
    """How a fold is worked on; the result never depends on it."""

    n_jobs: int  # threads of this process: a cluster has threads of its own
    stage: str  # what is being done, for `progress`
    progress: Progress | None


# Chunks should be long enough that what is done once for each of them (an empty histogram, say)
# costs little, and short enough that the codes of one stay in a cache and threads end together.
MAX_CHUNK_ROWS = 1 << 16
MIN_CHUNK_ROWS = 1 << 11
MOST_JOBS = 2**15


@dataclass(frozen=True)
class RowRange:
    """Rows start..stop-1 of the whole table."""

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


def row_ranges(n_rows: int, *, n_jobs: int = 1, chunk_rows: int | None = None) -> list[RowRange]:
    """Split the rows into chunks: at least one per thread where that pays, none too large."""
    if chunk_rows is None:
        share = -(-n_rows // n_jobs)
        chunk_rows = max(MIN_CHUNK_ROWS, min(MAX_CHUNK_ROWS, share))
    length = check_integer("chunk_rows", chunk_rows)
    return [RowRange(start, min(start + length, n_rows)) for start in range(0, n_rows, length)]


def resolve_n_jobs(n_jobs: int | None) -> int:
    """Return the number of threads: all the process may use for None or -1.

    Results never depend on it. Inside a joblib worker (a grid search, say) it is the worker's
    share, so nested calls do not fight for cores.
    """
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise InvalidParameter(f"n_jobs is {n_jobs!r}; pass None or a non-zero integer.")
    if n_jobs is not None:
        check_integer("n_jobs", n_jobs, minimum=-MOST_JOBS, maximum=MOST_JOBS)
    return int(joblib.effective_n_jobs(-1 if n_jobs is None else n_jobs))


def fold(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    combine: Callable[[Result, Result], Result],
    *,
    n_jobs: int = 1,
    stage: str = "",
    progress: Progress | None = None,
) -> Result:
    """Return `combine` over `work(item)` for all items.

    At most `n_jobs + 1` results are under way or waiting to be combined, however many chunks there
    are. The first error stops the fold and is raised as it is.
    """
    if not items:
        raise InvalidParameter("There is nothing to fold over: no chunks were given.")
    total = len(items)

    def reported(results: Iterable[Result]) -> Iterator[Result]:
        for done, result in enumerate(results, start=1):
            yield result
            if progress is not None:
                progress(stage, done, total)

    # Closing stops the threads at once when `combine` or `progress` raises.
    with closing(_results(work, items, n_jobs)) as results:
        return reduce(combine, reported(results))


def _results(
    work: Callable[[Item], Result], items: Sequence[Item], n_jobs: int
) -> Generator[Result, None, None]:
    # Without threads, so that errors and profiles show where they come from.
    if n_jobs == 1 or len(items) == 1:
        yield from map(work, items)
        return
    # Not `pool.map`: it would take up all items at once, and results would pile up in memory where
    # combining is slower than working.
    waiting = iter(items)
    with ThreadPoolExecutor(n_jobs) as pool:
        # One more than there are threads, so that none idles while a result is combined.
        running = {pool.submit(work, item) for item in islice(waiting, n_jobs + 1)}
        try:
            while running:
                finished = wait(running, return_when=FIRST_COMPLETED).done.pop()
                running.remove(finished)
                yield finished.result()
                running |= {pool.submit(work, item) for item in islice(waiting, 1)}
        finally:
            pool.shutdown(cancel_futures=True)


# --- chunks wherever they are -------------------------------------------------------------------


class ChunkSource(ABC, Generic[Item]):
    """Chunks to fold over, in this process or elsewhere.

    `work` and `combine` may be sent to other processes: functions of modules, with arguments bound
    by `partial`, that hold no rows.
    """

    @abstractmethod
    def fold(
        self,
        work: Callable[[Item], Result],
        combine: Callable[[Result, Result], Result],
        **how: Unpack[Effort],
    ) -> Result:
        """Return `combine` over `work(chunk)` for all chunks."""

    @abstractmethod
    def split(
        self,
        work: Callable[..., Sequence[New]],
        *,
        keep: bool,
        beside: Sequence[tuple[Any, ...]] | None = None,
        **how: Unpack[Effort],
    ) -> ChunkSource[New]:
        """Return what becomes of the chunks: of each, one or more or none.

        With `keep`, the work is done now and its results stay where they are made; without, it is
        done again in each fold. `beside` has further arguments of the work for each chunk.
        """

    @property
    @abstractmethod
    def memory(self) -> int:
        """Bytes of memory where the chunks are."""

    @abstractmethod
    def __iter__(self) -> Iterator[Item]:
        """Bring the chunks here one after the other, in their order."""

    @abstractmethod
    def __len__(self) -> int:
        """Return their number."""


def fold_parts(
    work: Callable[[Item], Result],
    combine: Callable[[Result, Result], Result],
    parts: Sequence[Item],
) -> list[Result]:
    """Return the fold of the parts of a chunk as a list of one, or of none where it has no part."""
    results = map(work, parts)
    return [reduce(combine, results)] if parts else []


def join_folds(
    combine: Callable[[Result, Result], Result], one: list[Result], other: list[Result]
) -> list[Result]:
    """Combine two lists of one fold or none."""
    return [reduce(combine, one + other)] if one or other else []


def only_fold(found: list[Result]) -> Result:
    """Return the fold of all chunks, of which one at least must have a part."""
    for result in found:
        return result
    raise InvalidParameter("There is nothing to fold over: no chunk has any rows.")


def itself(item: Any) -> Sequence[Any]:
    """Return an item as its only part."""
    return (item,)


@dataclass(frozen=True)
class LocalChunks(ChunkSource[Item]):
    """Chunks of this process: what `parts` makes of items, which it may have to read first.

    Where it `reads` from files, one thread more than asked for works, so that reading overlaps
    computing.
    """

    items: Sequence[Any]
    parts: Callable[[Any], Sequence[Item]] = itself
    reads: bool = False

    def fold(
        self,
        work: Callable[[Item], Result],
        combine: Callable[[Result, Result], Result],
        **how: Unpack[Effort],
    ) -> Result:
        """Return `combine` over `work(chunk)` for all chunks, on threads."""
        how["n_jobs"] = how.get("n_jobs", 1) + self.reads
        results: list[Result] = fold(
            lambda item: fold_parts(work, combine, self.parts(item)),
            self.items,
            partial(join_folds, combine),
            **how,
        )
        return only_fold(results)

    def split(
        self,
        work: Callable[..., Sequence[New]],
        *,
        keep: bool,
        beside: Sequence[tuple[Any, ...]] | None = None,
        **how: Unpack[Effort],
    ) -> LocalChunks[New]:
        """Return what becomes of the chunks, made now and kept, or made in each fold."""
        more = [()] * len(self.items) if beside is None else beside
        items = list(zip(self.items, more, strict=True))
        parts = partial(split_parts, self.parts, work)
        # Nothing is read here. Each fold makes the chunks again, which costs time and no memory.
        if not keep:
            return LocalChunks(items, parts, self.reads)

        def made(position: int) -> dict[int, list[New]]:
            return {position: parts(items[position])}

        how["n_jobs"] = how.get("n_jobs", 1) + self.reads
        by_position = fold(made, range(len(items)), operator.ior, **how)
        return LocalChunks([part for _, made_of in sorted(by_position.items()) for part in made_of])

    @property
    def memory(self) -> int:
        """Bytes of memory of this machine, or four gigabytes where it does not tell."""
        return memory_bytes()

    def __iter__(self) -> Iterator[Item]:
        for item in self.items:
            yield from self.parts(item)

    def __len__(self) -> int:
        return len(self.items)


def split_parts(
    parts: Callable[[Any], Sequence[Item]],
    work: Callable[..., Sequence[New]],
    item: tuple[Any, tuple[Any, ...]],
) -> list[New]:
    """Return what becomes of the parts of an item, with what there is beside it."""
    inner, beside = item
    return [new for part in parts(inner) for new in work(part, *beside)]


def memory_bytes() -> int:
    """Return the memory of this machine, or four gigabytes where it does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 4 << 30
