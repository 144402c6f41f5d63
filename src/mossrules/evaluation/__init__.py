"""How good models are on rows that they have not seen, and whether their rules are found again."""

from mossrules._deprecated import old_names
from mossrules.evaluation.comparison import evaluate
from mossrules.evaluation.folds import EvaluationProgress
from mossrules.evaluation.frontier_evaluation import EvaluatedPoint, FoldPoint, FrontierEvaluation
from mossrules.evaluation.results import Evaluation, MethodFold, MethodSummary
from mossrules.evaluation.trade_off import evaluate_frontier

__all__ = [
    "EvaluatedPoint",
    "Evaluation",
    "EvaluationProgress",
    "FoldPoint",
    "FrontierEvaluation",
    "MethodFold",
    "MethodSummary",
    "evaluate",
    "evaluate_frontier",
]

__getattr__ = old_names(__name__, {"LearnerFold": "MethodFold", "LearnerSummary": "MethodSummary"})
