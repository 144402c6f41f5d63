"""scikit-learn's view of mossrules: estimators that are glue, with the mathematics elsewhere."""

from mossrules.estimators.classifier import MossClassifier
from mossrules.estimators.regressor import MossRegressor
from mossrules.learning.candidate_search import candidates_for, generation

__all__ = ["MossClassifier", "MossRegressor", "candidates_for", "generation"]
