"""The benchmark of the estimator at toy sizes: that it measures what it says."""

import numpy as np
import pandas as pd

from mossrules import MossClassifier, MossRegressor
from research.benchmarks import _exports, estimator
from research.benchmarks.__main__ import SUBJECTS


def test_exports_agree_under_hostile_names():
    """SQL in both databases, Python and JSON predict what the model predicts."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(120, len(_exports.HOSTILE) + 2)))
    table[0] = rng.choice(["red", "blue", "it's"], 120)
    table[1] = table[1].where(table[1] < 1)
    hostile = _exports.with_hostile_names(table)
    assert len({name.casefold() for name in hostile.columns}) == hostile.shape[1]
    y = (table[0] == "red") + table[2] - 2 * table[1].fillna(3)
    row = _exports.compare_exports(hostile, y.to_numpy(), n_trees=100)
    assert row["rules"] == 15
    assert estimator.exports_figure([{"dataset": "toy", **row}]).measured <= 1e-12


def test_a_difference_would_be_seen():
    """The figure is the largest difference of all exports and tables."""
    rows = [
        {"dataset": "a", "rows": 9, "largest prediction": 99.0, "JSON": 0.0, "SQLite": 1e-3},
        {"dataset": "b", "rows": 9, "largest prediction": 99.0, "JSON": 0.0, "SQLite": 0.0},
    ]
    figure = estimator.exports_figure(rows)
    assert figure.measured == 1e-3
    assert figure.met is False


def test_fits_and_frontiers_are_timed(monkeypatch):
    """Times are positive, growth is their ratio, and the frontier has its floors."""
    monkeypatch.setattr(estimator, "MossRegressor", lambda: MossRegressor(3, n_trees=100))
    monkeypatch.setattr(estimator, "POINTS", 4)
    fits = estimator.fit_times((200, 400), repeats=1)
    assert [row["rows"] for row in fits] == [200, 400]
    assert all(0 < row["of which choosing s"] < row["fit s"] for row in fits)
    figures = estimator.fit_figures(fits)
    assert figures[-1].measured == fits[1]["fit s"] / fits[0]["fit s"]
    figure = estimator.frontier_figure("toy", *estimator.synthetic_table(200))
    assert figure.measured > 0
    assert figure.parts["floors"] == 4
    assert "estimator" in SUBJECTS


def test_a_classifier_is_timed_with_its_gap(monkeypatch):
    """The figure of classes has a time, the gap that was proven, and what was asked for."""
    small = MossClassifier(3, stability="high", n_trees=20)
    monkeypatch.setattr(estimator, "MossClassifier", lambda **_: small)
    X, y = estimator.synthetic_table(200)
    figure = estimator.classes_figure(X, y > 0, repeats=1)
    assert 0 < figure.parts["choosing"] < figure.measured
    assert figure.parts["gap"] < 1.001e-3
    assert small.stability == "high"
