"""Second implementations, slow and plain, that the library is tested against."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import numpy as np
import pytest

from mossrules.binning import fit_binning
from mossrules.chunks import row_ranges
from mossrules.columns import Kind
from mossrules.encoded import encode_table
from mossrules.rules import Levels
from mossrules.table import Table

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


def encode(X, y, *, n_bins=10, weights=None, chunk_rows=None, n_jobs=1, source=None):
    """Take raw arrays through binning to the encoded table that the forest reads."""
    table = Table.from_any(X)
    chunks = row_ranges(table.n_rows, n_jobs=n_jobs, chunk_rows=chunk_rows)
    weights = None if weights is None else np.asarray(weights, dtype=np.float64)
    binning = fit_binning(table, chunks, n_bins=n_bins, weights=weights, n_jobs=n_jobs)
    binning = binning if source is None else source.adapt(binning)
    target = np.asarray(y, dtype=np.float64)
    return encode_table(table, target, binning, chunks, weights=weights, n_jobs=n_jobs)


def openml(name: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Read one of the paper's numeric datasets (target last), or skip where it is not there."""
    path = SHARED_DATA / "openml" / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip(f"needs the paper's dataset {name}, which is not part of the repository")
    with gzip.open(path, "rt") as lines:
        header = next(lines).strip().split(",")
        values = np.loadtxt(lines, delimiter=",")
    return header[:-1], values[:, :-1], values[:, -1]


# --- SplitMix64 and Poisson(1) in Python integers ------------------------------------------------

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


def mix(state: int) -> int:
    """Return the SplitMix64 output of a state (Steele, Lea and Flood, 2014)."""
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
    return state ^ (state >> 31)


def stream_key(seed: int, purpose: int, index: int) -> int:
    """Return the key of a stream."""
    key = mix((mix((seed + _GOLDEN) & _MASK) + purpose * _GOLDEN) & _MASK)
    return mix((key + index * _GOLDEN) & _MASK)


def bootstrap_weights(seed: int, tree: int, n_rows: int) -> np.ndarray:
    """Return how often each row is drawn into a tree."""
    key = stream_key(seed, 1, tree // 4)
    weights = np.empty(n_rows, dtype=np.int64)
    for row in range(n_rows):
        uniform = (mix((key + row * _GOLDEN) & _MASK) >> (16 * (tree % 4))) & 0xFFFF
        weights[row] = poisson_quantile((uniform + 0.5) / 65536)
    return weights


def poisson_quantile(probability: float) -> int:
    """Return the smallest count whose Poisson(1) distribution function reaches `probability`."""
    count, term, cumulative = 0, math.exp(-1.0), math.exp(-1.0)
    while cumulative < probability:
        count += 1
        term /= count
        cumulative += term
    return count


# --- rules evaluated on raw values ----------------------------------------------------------------


def holds(rule, binning, X: dict[str, np.ndarray]) -> np.ndarray:
    """Evaluate a rule on raw columns by its thresholds, without codes."""
    result = np.ones(len(next(iter(X.values()))), dtype=bool)
    for condition in rule.conditions:
        result &= _condition_holds(condition, binning[condition.feature], X[condition.feature])
    return result


def _condition_holds(condition, column, values: np.ndarray) -> np.ndarray:
    if isinstance(condition, Levels):
        inside = np.array([value in condition.levels for value in values])
        return inside if condition.inside else ~inside
    if column.kind is Kind.ORDERED:
        ranks = {level: rank for rank, level in enumerate(column.levels)}
        values = np.array([ranks.get(value, np.nan) for value in values])
    values = values.astype(np.float64)
    missing = np.isnan(values)
    thresholds = [-np.inf, *column.cuts, np.inf]
    lower = thresholds[condition.low - 1]
    upper = thresholds[min(condition.high, len(thresholds) - 1)]
    inside = (values > lower) & (values <= upper) if condition.low <= condition.high else False
    return np.where(missing, condition.missing, inside).astype(bool)


def dense_statistics(columns: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None):
    """Return (N, v, G, q, yy, n) of 0/1 rule columns by floating-point matrix products."""
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    mean = np.average(y, weights=weights)
    scale = np.sqrt(np.average((y - mean) ** 2, weights=weights))
    z = (y - mean) / scale
    A = columns.astype(np.float64)
    N = A.T @ (weights[:, None] * A)
    s = A.T @ (weights * z)
    v = np.divide(s, np.diag(N), out=np.zeros_like(s), where=np.diag(N) > 0)
    M = A * v
    return (
        N,
        v,
        M.T @ (weights[:, None] * M),
        M.T @ (weights * z),
        float(weights @ z**2),
        weights.sum(),
    )
