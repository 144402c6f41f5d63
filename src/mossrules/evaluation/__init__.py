"""How good and how stable models are on data that they have not seen."""

from mossrules.estimators.cross_validation import EvaluationProgress
from mossrules.estimators.evaluated import EvaluatedPoint, FoldPoint, FrontierEvaluation
from mossrules.evaluation.comparison import evaluate
from mossrules.evaluation.frontier import evaluate_frontier
from mossrules.evaluation.results import Evaluation, LearnerFold, LearnerSummary

__all__ = [
    "EvaluatedPoint",
    "Evaluation",
    "EvaluationProgress",
    "FoldPoint",
    "FrontierEvaluation",
    "LearnerFold",
    "LearnerSummary",
    "evaluate",
    "evaluate_frontier",
]
