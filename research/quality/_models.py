"""Fit models of many kinds and print all that is in them, bit for bit; the argument is N_JOBS.

`quality.determinism` runs this in processes that differ in one respect each, and compares.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from mossrules import MossClassifier, MossRegressor
from mossrules.constraints import AtMostFeatures, OnlyUp
from mossrules.frontier import solve_frontier
from mossrules.solver import Options, Problem, solve

__all__ = ["everything"]


def table(seed: int, n: int, *, ties: bool) -> tuple[dict[str, Any], Any]:
    """Return columns and a target; with ties, both have few values."""
    rng = np.random.default_rng(seed)
    X: dict[str, Any] = {f"x{i}": rng.normal(size=n) for i in range(8)}
    y = 2.0 * (X["x0"] > 0) + (X["x1"] > 0.5) * (X["x2"] < 0.3) + rng.normal(size=n)
    if ties:
        X, y = {name: np.round(values) for name, values in X.items()}, np.round(y)
    X["kind"] = rng.choice(["a", "b", "c"], n)
    return X, y


def model(fitted: Any, X: Any) -> dict[str, Any]:
    """Return what is in a fitted model."""
    values = fitted.predict_proba(X) if hasattr(fitted, "predict_proba") else fitted.predict(X)
    return {
        "rules": fitted.rules_.texts,
        "status": fitted.solution_.status.value,
        "weights": [*fitted.rules_.weights.tolist(), fitted.rules_.intercept],
        "loss": [fitted.solution_.loss],
        "bound": [fitted.solution_.bound],
        "predictions": hashlib.sha256(values.tobytes()).hexdigest(),
    }


def frontier(found: Any) -> dict[str, Any]:
    """Return what is in a frontier."""
    solutions = [entry.solution for entry in found.entries]
    return {
        "rules": [each.support.tolist() for each in solutions],
        "status": [each.status.value for each in solutions],
        "weights": [weight for each in solutions for weight in each.weights.tolist()],
        "loss": [each.loss for each in solutions],
        "bound": [each.bound for each in solutions],
    }


def everything(n_jobs: int) -> dict[str, dict[str, Any]]:
    """Return all models, by name."""
    found = {}
    shared = {"n_jobs": n_jobs, "random_state": 0, "time_limit": None}
    for number, ties in enumerate((False, True)):
        X, y = table(number, 250, ties=ties)
        kind = "ties" if ties else "no ties"
        regressor = MossRegressor(6, n_trees=150, gap=0.0, stability=0.8, **shared).fit(X, y)
        found[f"numbers, {kind}"] = model(regressor, X)
        found[f"frontier, {kind}"] = frontier(regressor.frontier(12, 0.001))
        limits = [AtMostFeatures(3), OnlyUp("x0")]
        limited = MossRegressor(6, n_trees=100, constraints=limits, **shared).fit(X, y)
        found[f"constraints, {kind}"] = model(limited, X)
        classifier = MossClassifier(5, n_trees=100, **shared).fit(X, y > 1)
        found[f"classes, {kind}"] = model(classifier, X)
        for solver in ("coordinate-descent", "cutting-plane"):
            other = MossRegressor(3, n_trees=50, solver=solver, gap=0.02, stability=0.9, **shared)
            found[f"{solver}, {kind}"] = model(other.fit(X, y), X)
    found["CSV in chunks"] = streamed(MossRegressor(5, n_trees=60, **shared))
    rng = np.random.default_rng(5)
    M = rng.integers(0, 2, size=(80, 30)) * rng.normal(size=30).round(2)
    problem = Problem.from_matrix(
        M, M @ rng.normal(size=30), rng.integers(1, 99, 30), max_rules=4, gamma=0.1
    )
    found["matrix"] = frontier(
        solve_frontier(problem, [0, 100, 200], options=Options(gap=0.0), n_jobs=n_jobs)
    )
    found["matrix"]["status"].append(solve(problem).status.value)
    return found


def streamed(learner: Any) -> dict[str, Any]:
    """Return the model of a file of more than one chunk of rows."""
    X, y = table(7, 70_000, ties=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        lines = [",".join([*X, "y"])]
        lines += [",".join(map(str, row)) for row in zip(*X.values(), y, strict=True)]
        path.write_text("\n".join(lines) + "\n", "utf-8")
        learner.fit(path, "y")
    return model(learner, {name: values[:500] for name, values in X.items()})


def main() -> None:
    """Print all models as JSON; Python writes numbers so that they are read back bit for bit."""
    warnings.simplefilter("ignore")
    json.dump(everything(int(sys.argv[1])), sys.stdout)


if __name__ == "__main__":
    main()
