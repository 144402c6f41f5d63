"""Columns -> small integer codes, with cuts learned from training rows only.

Codes (uint8)
    0          missing
    1, 2, ...  bins of an ordered column from low to high, or levels of a categorical one
    last + 1   (categorical only) any level not seen in training, or too rare to have its own code

Bin j of a number is `cut[j-1] < x <= cut[j]`, so a row's code depends on that row alone.
Cuts sit between two neighbouring training values, at the number with the fewest digits there.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Context
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mossrules._common import cached_property, check_integer
from mossrules._typing import AnyArray, CodeArray, FloatArray, IntArray
from mossrules.candidates.column_summaries import TableFound, ValuesFound, check_finite, summarise
from mossrules.candidates.kernels.codes import encode_numbers
from mossrules.candidates.round_cuts import find_round_cuts
from mossrules.data.chunks import Progress, RowRange, fold
from mossrules.data.columns import NUMBERS, Column, Kind, Label
from mossrules.data.reading import Reading
from mossrules.data.values import Family, as_levels, as_numbers, families_of, float_labels
from mossrules.defaults import MIN_ROWS_SHOWN
from mossrules.exceptions import InvalidParameter, InvalidTable

if TYPE_CHECKING:
    from mossrules.candidates.cut_points import CutPoints
    from mossrules.data.rows import Rows
    from mossrules.data.table import Table

FindCuts = Callable[[FloatArray, IntArray | None], FloatArray]

MISSING = 0
MAX_BINS = 250  # codes are uint8, less those for missing and for unseen levels
SAMPLE_ROWS = 100_000  # rows that cuts are taken from when there are more
SAMPLE_VALUES = 50_000_000  # the same limit for very wide tables


@dataclass(frozen=True)
class BinnedColumn:
    """How the values of one column map to codes, and back to words.

    `cuts` are the thresholds between the bins (of numbers, or of the ranks of ordered levels).
    `levels` are the labels of a categorical or ordered column. Of a categorical one `rare` are
    those that few rows of training had: `without_rare` leaves them out of what is passed on.
    """

    name: str
    kind: Kind
    cuts: tuple[float, ...] = ()
    levels: tuple[Label, ...] = ()
    rare: frozenset[Label] = field(default=frozenset(), repr=False, compare=False)
    families: frozenset[Family] = field(default=frozenset(), repr=False, compare=False)  # of labels
    code_of_level: dict[Label | None, int] = field(
        init=False, repr=False, compare=False, hash=False
    )

    def __post_init__(self) -> None:
        if self.kind is Kind.ORDERED:
            ranks = np.arange(len(self.levels))
            codes = 1 + np.searchsorted(np.array(self.cuts), ranks, side="left")
        else:
            codes = 1 + np.arange(len(self.levels))
        families = self.families.union(families_of(self.levels))
        object.__setattr__(self, "families", families)
        code_of_level = dict(zip(self.levels, codes.tolist(), strict=True))
        object.__setattr__(self, "code_of_level", {None: MISSING, **code_of_level})

    def without_rare(self, named: Collection[Label | None]) -> BinnedColumn:
        """Return the column less its rare levels, but for those that are named by a rule.

        Rules hold on the same values as before: a label without a code satisfies no condition that
        names levels, and every one that is of all others, as a level does that no rule names.
        """
        if self.rare.issubset(named):
            return self
        kept = tuple(level for level in self.levels if level not in self.rare or level in named)
        return replace(self, levels=kept, rare=self.rare.intersection(kept))

    @property
    def n_values(self) -> int:
        """Number of bins or levels seen in training; they have codes 1 to n_values."""
        return len(self.levels) if self.kind is Kind.CATEGORICAL else len(self.cuts) + 1

    @property
    def n_codes(self) -> int:
        """Number of distinct codes, missing and unseen among them."""
        return self.n_values + (2 if self.kind is Kind.CATEGORICAL else 1)

    @property
    def is_nominal(self) -> bool:
        """Whether a split takes one level against the rest; two levels just have one cut."""
        return self.kind is Kind.CATEGORICAL and len(self.levels) > 2

    def encode(self, column: Column, rows: RowRange) -> CodeArray:
        """Return the codes of some rows of a table's column."""
        read = column.read if self.kind in NUMBERS else column.labels
        return self.encode_values(read(rows.start, rows.stop), column.kind)

    def encode_values(self, values: AnyArray, kind: Kind) -> CodeArray:
        """Return the codes of values that were read from a column of some kind."""
        if self.kind in NUMBERS:
            values = as_numbers(self.name, values, truth=self.kind is Kind.BOOLEAN)
            check_finite(self.name, values)
            codes = np.empty(len(values), dtype=np.uint8)
            encode_numbers(values, np.array(self.cuts, dtype=np.float64), codes)
            return codes
        if values.dtype != object:
            values = float_labels(self.name, values, truth=kind is Kind.BOOLEAN)
        values = as_levels(self.name, self.levels, values, self.families)
        # A level that training did not know is one more category, but has no place in an order.
        unseen = self.n_values + 1 if self.kind is Kind.CATEGORICAL else MISSING
        lookup = self.code_of_level
        return np.fromiter(
            (lookup.get(label, unseen) for label in values), dtype=np.uint8, count=len(values)
        )


@dataclass(frozen=True)
class Binning:
    """The codes of a whole table."""

    columns: tuple[BinnedColumn, ...]
    named: bool = True  # False when the names were made up for an array
    reading: Reading = field(default_factory=Reading)  # how the values of files were read

    @property
    def names(self) -> tuple[str, ...]:
        """Column names, in training order."""
        return tuple(self._positions)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {column.name: position for position, column in enumerate(self.columns)}

    @property
    def n_codes(self) -> int:
        """The largest number of codes of any column."""
        return max(column.n_codes for column in self.columns)

    @property
    def nominal_levels(self) -> IntArray:
        """Number of levels of the columns that are split by equality, 0 for the others."""
        return np.array(
            [column.n_values if column.is_nominal else 0 for column in self.columns], dtype=np.int64
        )

    def __getitem__(self, name: str) -> BinnedColumn:
        return self.columns[self.index(name)]

    def index(self, name: str) -> int:
        """Return the position of a column."""
        try:
            return self._positions[name]
        except KeyError:
            raise InvalidParameter(f"There is no column {name!r} in this binning.") from None

    def encode(self, table: Table, rows: RowRange | None = None) -> CodeArray:
        """Return codes (columns, rows) of a table that has, by name, the training columns."""
        table = table.select(self.names)
        rows = RowRange(0, table.n_rows) if rows is None else rows
        codes = np.empty((len(self.columns), len(rows)), dtype=np.uint8)
        for position, (binned, column) in enumerate(zip(self.columns, table.columns, strict=True)):
            codes[position] = binned.encode(column, rows)
        return codes


def fit_binning(
    rows: Rows,
    *,
    n_bins: int = 10,
    cuts: CutPoints | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Binning:
    """Learn the cuts and levels of every column from the training rows.

    A numeric column with at most `n_bins` distinct values keeps them; otherwise its cuts are the
    quantiles j / n_bins (of a fixed sample of SAMPLE_ROWS rows when there are more), or where
    `cuts` says.
    Rows of weight zero are as if they were not there, and an integer weight is as good as that
    many rows. (Weights are used as integers: sums of those do not depend on the chunking.)
    """
    # All columns in one pass: files would otherwise be opened once for each. Sorting in memory
    # comes after it, a column per thread.
    n_bins = check_integer("n_bins", n_bins, minimum=2, maximum=MAX_BINS)
    if cuts is not None:
        cuts.check_columns(rows.columns)
    limit = min(SAMPLE_ROWS, max(1000, SAMPLE_VALUES // len(rows.columns)))
    summary = rows.chunks.fold(
        partial(summarise, limit),
        partial(TableFound.combine, limit=limit),
        n_jobs=n_jobs,
        stage="reading columns",
        progress=progress,
    )

    def bin_column(position: int) -> dict[int, BinnedColumn]:
        column, found = rows.columns[position], summary.columns[position]
        given = None if cuts is None else _given_cuts(cuts, column, found, rows)
        if given is not None:
            return {position: BinnedColumn(column.name, column.kind, given, column.levels)}
        find = find_round if cuts is not None and cuts.rule == "round" else find_cuts
        return {position: _bin_column(column, found, summary.weights, partial(find, n_bins=n_bins))}

    binned = fold(bin_column, range(len(rows.columns)), operator.ior, n_jobs=n_jobs)
    columns = tuple(binned[position] for position in range(len(rows.columns)))
    some_vary = any(column.n_values > 1 for column in columns)
    some_miss = any(found.n_missing and found.n_present for found in summary.columns)
    if not some_vary and not some_miss:
        raise InvalidTable(
            "Every column is constant or all missing, so there is nothing to make rules from; "
            "check that the right columns were passed."
        )
    return Binning(columns, rows.named, rows.reading)


# --- from summaries to cuts ---------------------------------------------------------------------


def _given_cuts(
    cuts: CutPoints, column: Column, found: ValuesFound, rows: Rows
) -> tuple[float, ...] | None:
    """Return the cuts that a column is given, None if it has to find its own."""
    low, high = found.low, found.high
    if column.kind is Kind.ORDERED:
        ranks = [rank for rank, level in enumerate(column.levels) if found.counts[level]]
        low, high = min(ranks, default=np.inf), max(ranks, default=-np.inf)
    # A part of the rows, such as a fold, may lack the few that a cut sets apart.
    given = cuts.of(column, low, high, checked=not rows.is_part)
    return None if given is None else tuple(given)


def _bin_column(
    column: Column, summary: ValuesFound, weights: IntArray | None, find: FindCuts
) -> BinnedColumn:
    if column.kind is Kind.CATEGORICAL:
        # Most frequent first when there are too many; the order of the codes is that of the labels.
        ranked = sorted(summary.counts, key=lambda label: (-summary.counts[label], _order(label)))
        levels = tuple(sorted(ranked[:MAX_BINS], key=_order))
        rare = frozenset(each for each in levels if summary.n_rows[each] < MIN_ROWS_SHOWN)
        return BinnedColumn(column.name, column.kind, levels=levels, rare=rare)
    if column.kind is Kind.ORDERED:
        ranks = [rank for rank, level in enumerate(column.levels) if summary.counts[level]]
        counts = np.array([summary.counts[column.levels[rank]] for rank in ranks], dtype=np.int64)
        cuts = np.floor(find(np.array(ranks, dtype=np.float64), counts))
        return BinnedColumn(column.name, column.kind, tuple(cuts.tolist()), column.levels)
    numbers = np.empty(0) if summary.numbers is None else summary.numbers
    present = ~np.isnan(numbers)
    numbers, weights = numbers[present], None if weights is None else weights[present]
    if len(numbers) < summary.n_present:
        # The extremes of all rows, so that a column that varies has a cut whatever the sample.
        numbers = np.append(numbers, [summary.low, summary.high])
        weights = None if weights is None else np.append(weights, [0, 0])
    cuts = find(numbers, weights)
    return BinnedColumn(column.name, column.kind, tuple(cuts.tolist()))


def _order(label: Label) -> tuple[str, Label]:
    return type(label).__name__, label


def find_cuts(values: FloatArray, weights: IntArray | None, n_bins: int) -> FloatArray:
    """Return increasing cuts: between all distinct values if they are few, else at quantiles.

    A quantile at the largest value is cut below it, others above: values that differ have a cut.
    """
    # Cuts go between training values and never through one: a row's bin must not depend on how
    # a threshold was rounded.
    values, cumulative = _distinct(values, weights)
    below = np.arange(len(values) - 1)  # a cut may follow each of these
    if len(below) >= n_bins:
        # The first that has at least j / n_bins of the weight: integers, so exactly.
        wanted = np.arange(1, n_bins) * cumulative[-1]
        first = np.searchsorted(n_bins * cumulative[below], wanted, side="left")
        below = below[np.unique(np.minimum(first, len(below) - 1))]
    return np.array([shortest_between(values[i], values[i + 1]) for i in below])


def find_round(values: FloatArray, weights: IntArray | None, n_bins: int) -> FloatArray:
    """Return increasing cuts: between all distinct values if they are few, else round numbers."""
    distinct, cumulative = _distinct(values, weights)
    if len(distinct) <= n_bins:
        return find_cuts(values, weights, n_bins)
    return find_round_cuts(distinct, cumulative, min(n_bins, MAX_BINS - 2))  # two are for tails


def _distinct(values: FloatArray, weights: IntArray | None) -> tuple[FloatArray, IntArray]:
    """Return the distinct values, increasing, with the weight up to each of them."""
    if weights is None:
        values, cumulative = np.sort(values), np.arange(1, len(values) + 1)
    else:
        order = np.argsort(values)
        values, cumulative = values[order], np.cumsum(weights[order])
    last = np.append(values[1:] > values[:-1], True)[: len(values)]
    return values[last], cumulative[last]


def shortest_between(low: float, high: float) -> float:
    """Return the number with the fewest significant digits in [low, high).

    Among those with equally few it is the one nearest the middle (zero has no digits at all).
    """
    if low <= 0.0 < high:
        return 0.0
    # Not (low + high) / 2, which may overflow.
    middle = low / 2 + high / 2
    # Thresholds are read by people: 27.2 says as much as 27.15384 if no value lies between. 17
    # digits tell any two floats apart, so 16 tries are enough.
    for digits in range(1, 17):
        nearest = float(f"{middle:.{digits - 1}e}")
        if low <= nearest < high:
            return nearest
        # Unless the middle rounds to `high`, there is none: the first from `low` on tells.
        first = float(Context(digits, ROUND_CEILING).create_decimal(repr(float(low))))
        if first < high:
            return first
    return float(low)
