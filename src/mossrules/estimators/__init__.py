"""scikit-learn's view of mossrules: estimators that are glue, with the mathematics elsewhere."""

from mossrules.estimators.finding import candidates_for, generation
from mossrules.estimators.regressor import MossRegressor

__all__ = ["MossRegressor", "candidates_for", "generation"]
