"""Do round cut points recur, and what do they cost? Beside those at quantiles.

Two analyses of each of the paper's thirty tables leave out a tenth of the rows each: which share of
a column's cut points do they have in common (Dice), and which share of the rows is in its largest
bin? Columns of at most as many values as bins are left out, as both cut them alike. Run
`python -m research.studies.round_cuts`; docs/cuts.md has the figures. It takes some seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import numpy as np

from mossrules._typing import FloatArray
from mossrules.candidates.cuts import find_cuts, find_round
from mossrules.stability import dice
from research.trust.tables import NUMBERS, load

BINS = 8
ROWS = (4000, 300)
KINDS: dict[str, Callable[..., FloatArray]] = {"round": find_round, "quantile": find_cuts}


def measure(name: str, n_rows: int) -> list[list[float]]:
    """Return for each numeric column Dice and largest bin, of both kinds of cut points."""
    table, rng = load(name, max(ROWS)), np.random.default_rng(0)
    kept = np.sort(rng.permutation(len(table.y))[:n_rows])
    left_out = (rng.choice(len(kept), len(kept) // 10, replace=False) for _ in range(2))
    parts = [np.delete(kept, rows) for rows in left_out]
    found = []
    for values in map(np.asarray, table.X.values()):
        if values.dtype.kind not in "fiu" or len(np.unique(_known(values[kept]))) <= BINS:
            continue
        column = []
        for find in KINDS.values():
            cuts = [find(_known(values[rows].astype(float)), None, BINS) for rows in (*parts, kept)]
            codes = np.searchsorted(cuts[-1], _known(values[kept]), side="left")
            column += [dice(*(set(part.tolist()) for part in cuts[:2]))]
            column += [float(np.bincount(codes).max()) / len(codes)]
        found.append(column)
    return found


def _known(values: FloatArray) -> FloatArray:
    return values[~np.isnan(values.astype(float))]


def lines() -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"| rows | tables | {' | '.join(f'{kind}: Dice | largest bin' for kind in KINDS)} |"
    yield "|---" * (2 + 2 * len(KINDS)) + "|"
    for n_rows in ROWS:
        tables = [found for name in NUMBERS if (found := measure(name, n_rows))]
        means = np.mean([np.mean(found, axis=0) for found in tables], axis=0)
        yield f"| {n_rows:,} | {len(tables)} | {' | '.join(f'{mean:.2f}' for mean in means)} |"


if __name__ == "__main__":
    for line in lines():
        sys.stdout.write(f"{line}\n")
