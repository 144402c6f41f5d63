"""Compile the kernels once before the tests, whose processes would each compile all of them.

`warm.py search` compiles the exact solver, `warm.py learning` the rest:
halves that share next to nothing, for two processes. Kernels in numba's cache are only loaded.
"""

import sys

import numpy as np

from mossrules import MossClassifier, MossRegressor
from mossrules.baselines import FireRegressor, GlrmRegressor, RuleFitClassifier, RuleFitRegressor
from mossrules.solver.search.branch_and_bound import compile_kernels


def compile_learning() -> None:
    """Fit what has kernels of its own to a few rows."""
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(40, 3)), rng.uniform(1.0, 2.0, 40)
    y = X[:, 0] + (X[:, 1] > 0)
    settings = {"n_trees": 8, "n_bins": 3}
    for sample_weight in (None, weights):
        MossRegressor(4, solver="coordinate-descent", **settings).fit(X, y, sample_weight)
    MossClassifier(4, solver="coordinate-descent", **settings).fit(X, y > y.mean())
    for learner in (FireRegressor, GlrmRegressor, RuleFitRegressor):
        learner(4, **settings).fit(X, y)
    RuleFitClassifier(4, **settings).fit(X, y > y.mean())


if __name__ == "__main__":
    {"search": compile_kernels, "learning": compile_learning}[sys.argv[1]]()
