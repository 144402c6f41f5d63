"""What looks wrong between columns: copies, a column that gives the target away, repeated rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.data.checks.findings import Finding, Severity
from mossrules.data.checks.names import drop
from mossrules.data.checks.seen import SeenColumn

__all__ = ["check_copies", "check_leaks", "check_repeats"]

# With fewer rows, or fewer of them that differ, two columns may agree by chance.
MIN_ROWS, MIN_EACH = 30, 5
# Shares of the target that a column explains alone: 1 but for rounding, or as much as no column
# does that was measured before the outcome.
SURE_LEAK, LIKELY_LEAK = 0.999, 0.98
LIKELY_LEAK_OF_CLASSES = 0.99  # petals tell two of three kinds of iris apart by .98
# A column of as many values as rows explains everything, and predicts nothing.
MAX_VALUES_PER_ROW = 0.1
# Columns of which all pairs are compared; of more, only equal ones are found.
MAX_PAIRED = 200
MAX_PAIRED_ROWS = 5_000  # enough to see that two columns are one
NEARLY_EQUAL = 0.9999
# Rows that agree in all columns, for each that would in independent columns.
TIMES_CHANCE = 100


# --- copies ---------------------------------------------------------------------------------------


def check_copies(columns: Sequence[SeenColumn]) -> Iterator[Finding]:
    """Yield columns that say the same as one before them."""
    first: dict[bytes, str] = {}
    copies: set[str] = set()
    for column in columns:
        if column.n_distinct < 2:
            continue
        key = column.numbers.tobytes() + b"|" if column.is_numeric else _label_key(column)
        key += column.present.tobytes()
        if key in first:
            copies.add(column.name)
            yield _copy(column.name, f"the same as {first[key]!r} on every row", Severity.SUSPECT)
        first.setdefault(key, column.name)
    numeric = [
        each
        for each in columns
        if each.is_numeric and each.n_distinct > 2 and each.name not in copies
    ]
    if 2 <= len(numeric) <= MAX_PAIRED:
        yield from _nearly_equal(numeric)


def _label_key(column: SeenColumn) -> bytes:
    return "\x00".join(map(str, column.values[column.present].tolist())).encode("utf-8", "replace")


def _nearly_equal(columns: Sequence[SeenColumn]) -> Iterator[Finding]:
    """Yield numbers that are another column in other units."""
    if len(columns[0].values) < MIN_ROWS:
        return
    step = -(-len(columns[0].values) // MAX_PAIRED_ROWS)
    table = np.array([_filled(column)[::step] for column in columns])
    with np.errstate(invalid="ignore", divide="ignore"):
        alike = np.abs(np.corrcoef(table)) >= NEARLY_EQUAL
    for later, column in enumerate(columns):
        for before in range(later):
            if not alike[later, before]:
                continue
            same = column.present == columns[before].present
            if same.all():
                what = f"says the same as {columns[before].name!r}, in other units perhaps"
                yield _copy(column.name, what, Severity.NOTE)
                break


def _filled(column: SeenColumn) -> FloatArray:
    mean = column.numbers.mean() if np.isfinite(column.numbers).all() else np.nan
    return np.where(column.present, column.values, mean).astype(np.float64)


def _copy(name: str, what: str, severity: Severity) -> Finding:
    return Finding("duplicate", severity, what, f"leave one out: {drop(name)}", name)


# --- leaks ----------------------------------------------------------------------------------------


def check_leaks(
    columns: Sequence[SeenColumn], target: SeenColumn, *, of_classes: bool
) -> Iterator[Finding]:
    """Yield columns that are nearly the target: most are made of it, or measured after it."""
    known = target.present
    if np.count_nonzero(known) < MIN_ROWS or target.n_distinct < 2:
        return
    codes = target.codes[known]
    if of_classes and np.sort(np.bincount(codes))[-2] < MIN_EACH:
        return
    numbers = None if of_classes else np.asarray(target.values[known], dtype=np.float64)
    if numbers is not None:
        if not np.isfinite(numbers).all():
            return
        # Shares do not depend on the unit, and squares of the largest numbers are none.
        numbers /= max(np.abs(numbers).max(), np.finfo(float).tiny)
    likely = LIKELY_LEAK_OF_CLASSES if of_classes else LIKELY_LEAK
    for column in columns:
        present = column.present[known]
        share = _explained(column, known, present, codes, numbers)
        if share >= likely:
            yield _leak(column.name, target.name, share, "")
            continue
        if MIN_EACH <= np.count_nonzero(~present) <= len(present) - MIN_EACH:
            share = _by_levels(present.astype(np.int64), codes, numbers)
            if share >= likely:
                yield _leak(column.name, target.name, share, ", by where it is missing,")


def _leak(name: str, target: str, share: float, how: str) -> Finding:
    severity = Severity.WRONG if share >= SURE_LEAK else Severity.SUSPECT
    # Cut and not rounded: 100 % would say more than was found.
    words = "all" if share >= 1 - 1e-12 else f"{np.floor(1000 * share) / 10:.1f} %"
    what = f"nearly the target: alone{how} it explains {words} of {target!r}"
    remedy = f"if it is known only with or after the target: {drop(name)}"
    return Finding("leak", severity, what, remedy, name)


def _explained(
    column: SeenColumn,
    known: BoolArray,
    present: BoolArray,
    codes: IntArray,
    numbers: FloatArray | None,
) -> float:
    """Return the share of the target that a column explains, on the rows that have a value."""
    n = int(np.count_nonzero(present))
    if 2 * n < len(present) or n < MIN_ROWS or column.n_distinct < 2:
        return 0.0
    codes = codes[present]
    numbers = None if numbers is None else numbers[present]
    own = column.codes[known][present]
    shares = [0.0]
    if column.n_distinct <= MAX_VALUES_PER_ROW * n:
        shares.append(_by_levels(own, codes, numbers))
    if column.is_numeric and np.isfinite(column.numbers).all():
        values = np.asarray(column.values[known][present], dtype=np.float64)
        if numbers is not None:
            shares += [_r2(values, numbers), _r2(_ranks(own), _ranks(codes))]
        elif np.count_nonzero(np.bincount(codes)) == 2:
            shares.append(_separation(own, codes))
    return max(shares)


def _r2(a: FloatArray, b: FloatArray) -> float:
    """Return the squared correlation of two columns."""
    # Sums and no products of vectors, for which a library starts threads.
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = a - a.mean(), b - b.mean()
        scale = float(np.sqrt(np.sum(a * a)) * np.sqrt(np.sum(b * b)))
        share = float(np.sum(a * b) / scale) ** 2 if scale > 0 else 0.0
    return share if np.isfinite(share) else 0.0


def _ranks(places: IntArray) -> FloatArray:
    """Return ranks from places among sorted values; those of equal ones are their mean."""
    counts = np.bincount(places)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[places], dtype=np.float64)


def _separation(places: IntArray, codes: IntArray) -> float:
    """Return how well an order tells two classes apart: 2 |AUC - 1/2|."""
    one = codes == codes.max()
    n, m = int(np.count_nonzero(one)), int(np.count_nonzero(~one))
    if min(n, m) < MIN_EACH:
        return 0.0
    auc = (_ranks(places)[one].sum() - n * (n + 1) / 2) / (n * m)
    return float(abs(2 * auc - 1))


def _by_levels(own: IntArray, codes: IntArray, numbers: FloatArray | None) -> float:
    """Return the share of the target that the levels of a column explain."""
    if numbers is not None:
        counts = np.bincount(own)
        means = np.bincount(own, numbers) / np.maximum(counts, 1)
        total = float(np.sum((numbers - numbers.mean()) ** 2))
        within = float(np.sum((numbers - means[own]) ** 2))
        return 1 - within / total if total > 0 else 0.0
    # Errors of the best guess of a class, beside those of the most frequent class.
    table = np.zeros((own.max() + 1, codes.max() + 1), dtype=np.int64)
    np.add.at(table, (own, codes), 1)
    errors = len(codes) - int(table.max(axis=1).sum())
    without = len(codes) - int(table.sum(axis=0).max())
    return 1 - errors / without if without >= MIN_EACH else 0.0


# --- repeated rows --------------------------------------------------------------------------------


def check_repeats(columns: Sequence[SeenColumn], n_rows: int) -> Iterator[Finding]:
    """Yield whether rows agree in all columns more often than by chance."""
    places = np.zeros(n_rows, dtype=np.int64)
    chance = 1.0  # that two rows agree in independent columns
    for column in columns:
        shares = np.bincount(column.codes + 1) / max(n_rows, 1)
        chance *= float(shares @ shares)
        _, places = np.unique(
            places * (column.n_distinct + 1) + column.codes + 1, return_inverse=True
        )
        if places.max(initial=-1) == n_rows - 1:
            return
    counts = np.bincount(places)
    repeated = n_rows - len(counts)
    pairs = float(np.sum(counts * (counts - 1.0)) / 2)
    if repeated < 2 or pairs < TIMES_CHANCE * chance * n_rows * (n_rows - 1) / 2:
        return
    what = f"{repeated:,} rows are the same as another in every column"
    remedy = "remove them, or name by --groups which rows belong together"
    yield Finding("repeated rows", Severity.SUSPECT, what, remedy)
