"""How good models are on rows that they have not seen, and whether their rules are found again.

All refits and folds are made here: `folds.py` assigns rows to folds and runs them, with progress,
for `comparison.py` (whose checkpoint is `record.py`) and `trade_off.py`; `assess.py` makes refits,
`trust.py` has the measures of the trust table, and `assessment.py` is that table;
`track_record.py` repeats the analysis of one fitted model. Agreement is
defined once, in `agreement.py`. Methods are asked for no more than `learning/method.py` says.

Intervals: `parts.py` divides rows, fits and predicts for `sample_splitting.py` (effects on rows
that had no part in the choice; values in `effects.py`), `conformal.py` (predictions) and
`judging.py` (performance; values in `performance_table.py`), by `sandwich.py` and `influence.py`.

`comparing_rule_sets.py` puts two rule sets side by side: `rule_pairs.py` says which rule stands for
which, `side_by_side.py` looks at rows, `differences.py` has the values, `difference_words.py` the
words.
"""

from mossrules._deprecated import old_names
from mossrules.evaluation.assess import assess
from mossrules.evaluation.assessment import Assessment, MethodTrust
from mossrules.evaluation.comparing_rule_sets import compare_rule_sets
from mossrules.evaluation.comparison import evaluate
from mossrules.evaluation.conformal import PredictionIntervals, prediction_intervals
from mossrules.evaluation.differences import (
    ConditionChange,
    OneRule,
    OutcomeComparison,
    PredictionAgreement,
    RulePair,
    RuleSetComparison,
)
from mossrules.evaluation.effects import RuleEffect, SplitEffects
from mossrules.evaluation.folds import EvaluationProgress
from mossrules.evaluation.frontier_evaluation import EvaluatedPoint, FoldPoint, FrontierEvaluation
from mossrules.evaluation.influence import Interval
from mossrules.evaluation.judging import performance
from mossrules.evaluation.performance_table import (
    CalibrationCurve,
    CurvePoint,
    Performance,
    SubgroupPerformance,
)
from mossrules.evaluation.results import Evaluation, MethodFold, MethodSummary
from mossrules.evaluation.sample_splitting import split_effects
from mossrules.evaluation.track_record import track_record
from mossrules.evaluation.trade_off import evaluate_frontier
from mossrules.model.track_record import PeopleRanges, RuleRecord, TrackRecord

__all__ = [
    "Assessment",
    "CalibrationCurve",
    "ConditionChange",
    "CurvePoint",
    "EvaluatedPoint",
    "Evaluation",
    "EvaluationProgress",
    "FoldPoint",
    "FrontierEvaluation",
    "Interval",
    "MethodFold",
    "MethodSummary",
    "MethodTrust",
    "OneRule",
    "OutcomeComparison",
    "PeopleRanges",
    "Performance",
    "PredictionAgreement",
    "PredictionIntervals",
    "RuleEffect",
    "RulePair",
    "RuleRecord",
    "RuleSetComparison",
    "SplitEffects",
    "SubgroupPerformance",
    "TrackRecord",
    "assess",
    "compare_rule_sets",
    "evaluate",
    "evaluate_frontier",
    "performance",
    "prediction_intervals",
    "split_effects",
    "track_record",
]

__getattr__ = old_names(__name__, {"LearnerFold": "MethodFold", "LearnerSummary": "MethodSummary"})
