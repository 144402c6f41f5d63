"""Small random tables of all kinds, and what it is for two models to be the same."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mossrules import MossClassifier, MossRegressor
from mossrules.candidates.rules import Rule

N_TABLES = 60
NEAR = 1e-6  # of the largest weight


def tables():
    """Yield pairs of a frame and a target: 40 to 120 rows, 3 to 6 columns, many ties."""
    for seed in range(N_TABLES):
        rng = np.random.default_rng(seed)
        n, p = int(rng.integers(40, 121)), int(rng.integers(3, 7))
        columns = {f"{'cdxyab'[j]}{j}": column(rng, n) for j in range(p)}
        effects = (
            rng.normal() * (pd.factorize(pd.Series(each))[0] > 1) for each in columns.values()
        )
        y = np.asarray(sum(effects) + rng.normal(size=n))
        yield pd.DataFrame(columns), (np.round(2 * y), np.round(y, 1), y)[seed % 3]


def column(rng, n):
    """Return numbers with or without many ties, labels, or truth values; some are missing."""
    kind, holes = rng.integers(0, 4), rng.random(n) < (0.15 if rng.random() < 0.4 else 0.0)
    if kind == 0:
        return np.where(holes, np.nan, rng.normal(size=n).round(2))
    if kind == 1:
        return np.where(holes, np.nan, rng.integers(0, 5, n))
    if kind == 2:
        labels = rng.choice(["red", "green", "blue", "grey"], n).astype(object)
        labels[holes] = None
        return labels
    return rng.random(n) < 0.4


def numbers_of(frame):
    """Return a table as an array of numbers."""
    columns = (
        frame[name] if frame[name].dtype.kind in "fb" else pd.factorize(frame[name])[0]
        for name in frame
    )
    return np.column_stack([np.asarray(each, dtype=np.float64) for each in columns])


def regressor(X, y, weights=None, **parameters):
    """Return a quick regressor, fitted, that draws by what rows and columns hold."""
    how = {"n_trees": 32, "generator": "forest", "n_jobs": 1, **parameters}
    return MossRegressor(5, **how).fit(X, y, weights)


def classifier(X, y, weights=None, **parameters):
    """Return a quick classifier, likewise."""
    how = {"n_trees": 32, "generator": "forest", "n_jobs": 1, **parameters}
    return MossClassifier(4, **how).fit(X, y, weights)


def assert_same(one, other, factor=1.0, names=None, offset=None):
    """Hold two models to the same rules, their weights times a factor; names may be others.

    With an offset, the intercept is times the factor too, and moved by it.
    """
    rules, expected = one.rules_, {}
    for rule, weight in zip(rules.rules, rules.weights, strict=True):
        renamed = (
            replace(part, feature=(names or {}).get(part.feature, part.feature))
            for part in rule.conditions
        )
        expected[Rule.of(renamed)] = factor * weight
    found = dict(zip(other.rules_.rules, other.rules_.weights, strict=True))
    assert found.keys() == expected.keys()
    near = NEAR * max([abs(weight) for weight in expected.values()], default=1.0)
    assert found == pytest.approx(expected, abs=near)
    assert one.pool_.counts.tolist() == other.pool_.counts.tolist()
    if offset is not None:
        intercept = factor * rules.intercept + offset
        assert other.rules_.intercept == pytest.approx(intercept, rel=NEAR, abs=near)


WEIGHTS = {
    "ones": lambda _rng, n: np.ones(n),
    "whole": lambda rng, n: rng.integers(1, 4, n).astype(float),
    "large": lambda rng, n: rng.integers(10, 14, n).astype(float),  # no repetitions, in so few rows
    "fractions": lambda rng, n: 0.1 + rng.random(n).round(2),
}


def with_idle_rows(rng, table):
    """Return a table with rows of weight zero anywhere among its own.

    They have categories, numbers and targets that no other row has, and groups and classes too.
    """
    idle = table.sample(int(rng.integers(5, len(table))), replace=True, random_state=rng)
    for name in idle.columns.difference(["y", "weight", "group"]):
        if idle[name].dtype.kind == "f":
            idle[name] = 1000.0 + 100.0 * idle[name]
        elif idle[name].dtype.kind != "b":
            idle[name] = rng.choice(["0 unseen", "unseen", "red"], len(idle))
    if table["y"].dtype.kind == "f":
        inside = rng.uniform(table["y"].min(), table["y"].max(), len(idle))
        idle["y"] = np.where(rng.random(len(idle)) < 0.8, inside, 50.0 * inside)
    else:
        idle["y"] = rng.choice([*table["y"].unique(), "no such class"], len(idle))
    idle["weight"] = 0.0
    idle["group"] = rng.integers(0, 40, len(idle))
    places = np.sort(rng.permutation(len(table) + len(idle))[: len(table)])
    order = np.empty(len(table) + len(idle), dtype=np.int64)
    order[places] = np.arange(len(table))
    order[np.setdiff1d(np.arange(len(order)), places)] = len(table) + np.arange(len(idle))
    return pd.concat([table, idle]).iloc[order].reset_index(drop=True)
