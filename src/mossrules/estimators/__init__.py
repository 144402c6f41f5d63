"""scikit-learn's view of mossrules: estimators that are glue, with the mathematics elsewhere."""

from mossrules.estimators.classifier import MossClassifier
from mossrules.estimators.finding import candidates_for, generation
from mossrules.estimators.regressor import MossRegressor

__all__ = ["MossClassifier", "MossRegressor", "candidates_for", "generation"]
