"""Computing `Patterns` in one pass over the rows; the notation is that of `mossrules.patterns`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from mossrules.candidates.codes import EncodedChunk, EncodedTable
from mossrules.candidates.cuts import Binning
from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.rules import Rule
from mossrules.candidates.statistics import activations
from mossrules.data.chunks import Progress
from mossrules.exceptions import InvalidTarget
from mossrules.patterns import (
    PackedRows,
    Patterns,
    collapse,
    mean_targets,
    pack_columns,
    pack_rows,
)

__all__ = ["compute_patterns"]


def compute_patterns(
    data: EncodedTable,
    pool: CandidatePool,
    *,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Patterns:
    """Return the patterns of a pool of rules on the training rows; class 1 is the larger target."""
    rows, (positives, negatives) = data.chunks.fold(
        partial(_chunk_patterns, pool.rules, data.binning),
        _joined,
        n_jobs=n_jobs,
        stage="counting patterns",
        progress=progress,
    )
    bits = pack_columns(rows, len(pool))
    positives, negatives = positives * data.weight_step, negatives * data.weight_step
    values = mean_targets(bits, positives, negatives)
    return Patterns(bits, positives, negatives, values, pool.counts, pool.n_trees)


def _chunk_patterns(rules: Sequence[Rule], binning: Binning, chunk: EncodedChunk) -> PackedRows:
    bits = activations(rules, binning, chunk.codes)
    ones = chunk.target > 0
    highest = np.unique(chunk.target[ones])
    if len(highest) > 1:
        raise InvalidTarget("The target has more than two values; pass 0 and 1.")
    n = len(chunk)
    weights = np.ones(n, dtype=np.int64) if chunk.weights is None else chunk.weights
    return collapse(pack_rows(bits, n), np.stack([weights * ones, weights * ~ones]))


def _joined(one: PackedRows, other: PackedRows) -> PackedRows:
    rows = np.concatenate([one[0], other[0]])
    return collapse(rows, np.concatenate([one[1], other[1]], axis=1))
