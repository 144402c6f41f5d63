"""How good models are on rows that they have not seen, and whether their rules are found again.

All refits and folds are made here: `folds.py` assigns rows to folds and runs them, with progress,
for `comparison.py` (whose checkpoint is `record.py`) and `trade_off.py`; `assess.py` makes refits,
`trust.py` has the measures of the trust table, and `assessment.py` is that table. Agreement is
defined once, in `agreement.py`. Methods are asked for no more than `learning/method.py` says.
"""

from mossrules._deprecated import old_names
from mossrules.evaluation.assess import assess
from mossrules.evaluation.assessment import Assessment, MethodTrust
from mossrules.evaluation.comparison import evaluate
from mossrules.evaluation.folds import EvaluationProgress
from mossrules.evaluation.frontier_evaluation import EvaluatedPoint, FoldPoint, FrontierEvaluation
from mossrules.evaluation.results import Evaluation, MethodFold, MethodSummary
from mossrules.evaluation.trade_off import evaluate_frontier

__all__ = [
    "Assessment",
    "EvaluatedPoint",
    "Evaluation",
    "EvaluationProgress",
    "FoldPoint",
    "FrontierEvaluation",
    "MethodFold",
    "MethodSummary",
    "MethodTrust",
    "assess",
    "evaluate",
    "evaluate_frontier",
]

__getattr__ = old_names(__name__, {"LearnerFold": "MethodFold", "LearnerSummary": "MethodSummary"})
