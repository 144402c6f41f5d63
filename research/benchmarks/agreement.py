"""Whether our forest selects rules as often as scikit-learn's does."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor

from mossrules import CandidatePool, FittedEnsemble, Rule
from mossrules.candidates.codes import EncodedTable
from mossrules.candidates.forest import ForestGenerator, Generator
from research.benchmarks._data import Floats, codes_by_row, encode, read_openml, warm_up
from research.harness.measuring import THREADS
from research.harness.reports import Bound, Figure, Report, Row, Skipped
from research.paper.generated import generated_rows

TOP = 50
LEAST_PROPORTION = 0.005
MANY_DEVIATIONS = 3.0
Pools = list[dict[Rule, float]]  # of forests with different seeds: proportion of each rule


def run(*, quick: bool) -> Report:
    """Compare proportions on the galaxy data and on generated rows."""
    warm_up()
    n_trees, n_seeds = (500, 2) if quick else (5_000, 8)
    report = Report(
        "agreement",
        settings={"trees": n_trees, "seeds": n_seeds, "depth": 2, "top": TOP},
        notes=[
            "Both forests on the same codes, leaves only, counted by the same pool.",
            (
                f"Ratio: mean absolute difference of the {TOP} most frequent rules' "
                "proportions, ours against scikit-learn over all pairs of seeds, over the same "
                "between scikit-learn's own seeds."
            ),
            (
                f"z: difference of proportions over all {n_seeds} seeds of each side in "
                f"standard errors, for rules in more than {LEAST_PROPORTION:.1%} of trees."
            ),
        ],
    )
    datasets = {"generated 1,000 x 8": generated_rows(1_000, 8, seed=1)}
    try:
        datasets["galaxy"] = read_openml("690_visualizing_galaxy")
    except Skipped as reason:
        report.notes.append(f"galaxy left out: {reason}")
    for name, (X, y) in datasets.items():
        data, codes = encode_codes(X, y)
        ours = [our_proportions(data, n_trees, seed) for seed in range(n_seeds)]
        theirs = [their_proportions(data, codes, y, n_trees, seed) for seed in range(n_seeds)]
        figures, worst = compare(name, ours, theirs, n_trees)
        report.figures += figures
        report.tables[f"largest z, {name}"] = worst
    return report


def encode_codes(X: object, y: Floats) -> tuple[EncodedTable, pd.DataFrame]:
    """Return codes as a table of integers, encoded once more: its levels are kept as they are."""
    codes = pd.DataFrame(codes_by_row(encode(X, y)).astype(np.int64))
    codes.columns = [f"x{position}" for position in range(codes.shape[1])]
    data = encode(codes, y)
    if not np.array_equal(codes_by_row(data), codes):
        raise RuntimeError("Encoding codes changed them, so the two forests would differ.")
    return data, codes


def our_proportions(data: EncodedTable, n_trees: int, seed: int) -> dict[Rule, float]:
    """Return the share of our trees in which each rule is a leaf."""
    return proportions(ForestGenerator(n_trees=n_trees, seed=seed), data)


def their_proportions(
    data: EncodedTable, codes: pd.DataFrame, y: Floats, n_trees: int, seed: int
) -> dict[Rule, float]:
    """Return the share of scikit-learn's trees in which each rule is a leaf."""
    model = RandomForestRegressor(
        n_trees, max_depth=2, max_features=1 / 3, random_state=seed, n_jobs=THREADS
    ).fit(codes, y)
    return proportions(FittedEnsemble(model), data)


def proportions(source: Generator, data: EncodedTable) -> dict[Rule, float]:
    """Return the share of a source's trees in which each rule is a leaf."""
    paths = source.paths(data, n_jobs=THREADS)
    pool = CandidatePool.from_paths(paths, data.binning, source.n_trees)
    return dict(zip(pool.rules, pool.proportions.tolist(), strict=True))


def compare(name: str, ours: Pools, theirs: Pools, n_trees: int) -> tuple[list[Figure], list[Row]]:
    """Return the figures of one data set and the rules that differ most."""
    across = mean_difference(product(ours, theirs))
    within = mean_difference(combinations(theirs, 2))
    rows = z_scores(ours, theirs, n_trees)
    sizes = np.array([abs(row["z"]) for row in rows])
    figures = [
        Figure(
            f"{name}: difference over scikit-learn's own",
            across / within,
            "times",
            Bound("<=", 1.3),
            {"ours_to_theirs": across, "theirs_to_theirs": within},
        ),
        Figure(f"{name}: largest |z| of {len(rows)} rules", float(sizes.max())),
        Figure(f"{name}: share of |z| > 3", float(np.mean(sizes > MANY_DEVIATIONS))),
    ]
    return figures, rows[:5]


def mean_difference(pairs: Iterable[tuple[dict[Rule, float], dict[Rule, float]]]) -> float:
    """Return the mean over pairs of forests of the mean difference of their top rules."""
    return float(np.mean([top_difference(a, b) for a, b in pairs]))


def top_difference(a: dict[Rule, float], b: dict[Rule, float]) -> float:
    """Return the mean absolute difference over the rules most frequent in both together."""
    total = {rule: a.get(rule, 0.0) + b.get(rule, 0.0) for rule in a.keys() | b.keys()}
    top = sorted(total, key=lambda rule: (-total[rule], rule.sort_key))[:TOP]
    return float(np.mean([abs(a.get(rule, 0.0) - b.get(rule, 0.0)) for rule in top]))


def z_scores(ours: Pools, theirs: Pools, n_trees: int) -> list[Row]:
    """Return each frequent rule with its proportions and z, the largest first."""
    rows = []
    for rule in set().union(*ours, *theirs):
        mine = float(np.mean([pool.get(rule, 0.0) for pool in ours]))
        other = float(np.mean([pool.get(rule, 0.0) for pool in theirs]))
        pooled = (mine * len(ours) + other * len(theirs)) / (len(ours) + len(theirs))
        if pooled <= LEAST_PROPORTION:
            continue
        inverse_sizes = 1 / (len(ours) * n_trees) + 1 / (len(theirs) * n_trees)
        error = (pooled * (1 - pooled) * inverse_sizes) ** 0.5
        z = (mine - other) / error if error else 0.0
        rows.append({"rule": str(rule), "ours": mine, "scikit-learn": other, "z": z})
    return sorted(rows, key=lambda row: -abs(row["z"]))
