"""How good and how stable models are on data that they have not seen."""

from mossrules.estimators.cross_validation import EvaluationProgress
from mossrules.estimators.evaluated import EvaluatedPoint, FoldPoint, FrontierEvaluation
from mossrules.evaluation.frontier import evaluate_frontier

__all__ = [
    "EvaluatedPoint",
    "EvaluationProgress",
    "FoldPoint",
    "FrontierEvaluation",
    "evaluate_frontier",
]
