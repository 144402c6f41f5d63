"""What a track record says of rows that hang together, without groups and with them.

Patients of a hospital share more than columns tell. Each simulation draws 50 clusters of 8 rows,
some columns of which are the cluster's own, and a part of the target that its rows share. Its
analysis has two track records, one that knows the clusters and one that does not, and both are held
against what analyses of fresh samples, of other clusters, come to:

    recurrence      share of refits that find a rule, and share of fresh samples that do
    spread          half the width of an effect's interval (held fixed), in units of the half width
                    that the coefficients of these very rules have over fresh samples: 1 is right
    predictions     fresh analyses' predictions within people's 95 % ranges

`python -m research.studies.clusters` takes some minutes; its table is in docs/trackrecord.md.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from mossrules import MossRegressor
from mossrules._typing import FloatArray, IntArray
from mossrules.evaluation.agreement import key_of_each
from mossrules.evaluation.sandwich import independent_columns
from mossrules.evaluation.track_record import track_record

SIMULATIONS = 100
CLUSTERS, SIZE = 50, 8
REFITS, FRESH = 40, 20
SHARES = {"no clusters": 0.0, "weak clusters": 0.5, "strong clusters": 1.5}  # sd of what is shared
NORMAL = 1.959964


@dataclass(frozen=True)
class Said:
    """What one track record says, and what fresh samples come to."""

    found: FloatArray  # of each rule
    fresh: FloatArray
    spread: FloatArray  # ratios of half widths
    inside: float  # share of fresh predictions


def draw(seed: Any, shared: float) -> tuple[pd.DataFrame, FloatArray, IntArray]:
    """Return columns, target and clusters: c columns are the same for all rows of a cluster."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(CLUSTERS), SIZE)
    own = rng.normal(size=(CLUSTERS * SIZE, 4))
    of_cluster = rng.normal(size=(CLUSTERS, 4))[cluster]
    names = [*(f"x{i}" for i in range(4)), *(f"c{i}" for i in range(4))]
    X = pd.DataFrame(np.column_stack([own, of_cluster]), columns=names)
    signal = 1.5 * (X["x0"] > 0) + 1.0 * (X["c0"] > 0) + 0.7 * (X["x1"] > 0.5)
    noise = rng.normal(size=len(X)) + shared * rng.normal(size=CLUSTERS)[cluster]
    return X, signal.to_numpy() + noise, cluster


def simulate(seed: int, shared: float) -> dict[bool, Said]:
    """Return what a record says that does not know the clusters (False), and one that does."""
    X, y, cluster = draw(seed, shared)
    samples = [draw([seed, i], shared) for i in range(FRESH)]
    return {told: _one(X, y, cluster if told else None, samples, seed) for told in (False, True)}


def _one(X: pd.DataFrame, y: FloatArray, groups: Any, samples: list[Any], seed: int) -> Said:
    told = groups is not None

    def model(number: int) -> MossRegressor:
        return MossRegressor(6, n_trees=200, n_jobs=1, random_state=number)

    mine = model(seed).fit(X, y, groups=groups)
    record: Any = track_record(
        mine, X, y, refits=REFITS, groups=groups, n_jobs=1, random_state=seed
    )
    fresh = [
        model(seed + 1 + i).fit(X_, y_, groups=c if told else None).rules_
        for i, (X_, y_, c) in enumerate(samples)
    ]
    theirs = [set(key_of_each(each, "thresholds")) for each in fresh]
    shares = [np.mean([key in t for t in theirs]) for key in key_of_each(mine.rules_, "thresholds")]
    again = [_coefficients(mine.rules_, X_, y_) for X_, y_, _ in samples]
    wide = NORMAL * np.nanstd(again, axis=0, ddof=1)
    half = [(each.held_fixed.upper - each.held_fixed.lower) / 2 for each in record.rules]
    ranges = record.people_ranges
    predicted = np.stack([each.predict(X.iloc[ranges.rows]) for each in fresh])
    inside = (ranges.lower <= predicted) & (predicted <= ranges.upper)
    return Said(
        np.array([each.found / record.refits for each in record.rules]),
        np.array(shares, dtype=np.float64),
        np.array(half) / wide,
        float(inside.mean()),
    )


def _coefficients(rules: Any, X: pd.DataFrame, y: FloatArray) -> FloatArray:
    """Return the coefficients of the regression on rules; NaN of those that others determine."""
    M = np.column_stack([np.ones(len(X)), rules.holds(X)]).astype(float)
    known = independent_columns(M)
    found = np.full(M.shape[1], np.nan)
    found[known] = np.linalg.lstsq(M[:, known], y, rcond=None)[0]
    return found[1:]


def run(name: str, simulations: int) -> Iterator[str]:
    """Yield a line of the table for a record without groups, and one with them."""
    one = delayed(_quietly)
    done = Parallel(n_jobs=2)(one(seed, SHARES[name]) for seed in range(simulations))
    for told, how in ((False, "not told"), (True, "told")):
        said = [each[told] for each in done]
        found = np.concatenate([each.found for each in said])
        fresh = np.concatenate([each.fresh for each in said])
        gaps = [np.mean(each.found - each.fresh) for each in said if len(each.found)]
        error = np.std(gaps, ddof=1) / np.sqrt(len(gaps))
        spread = np.nanmedian(np.concatenate([each.spread for each in said]))
        inside = np.mean([each.inside for each in said])
        yield (
            f"| {name} | {how} | {found.mean():.2f} | {fresh.mean():.2f} | "
            f"{np.mean(gaps):+.2f} ({error:.2f}) | {spread:.2f} | {inside:.1%} |"
        )


def _quietly(seed: int, shared: float) -> dict[bool, Said]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of searches that end at their limit
        return simulate(seed, shared)


def main() -> None:
    """Run the kinds of clusters that are named, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=[*SHARES])
    parser.add_argument("--simulations", type=int, default=SIMULATIONS)
    asked = parser.parse_args()
    sys.stdout.write(
        "| source | clusters | refits that find a rule | fresh samples | difference (s.e.) | "
        "width of effects' intervals (median; 1 is right) | predictions within ranges |\n"
        "|---|---|---:|---:|---:|---:|---:|\n"
    )
    for name in asked.names:
        for line in run(name, asked.simulations):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
