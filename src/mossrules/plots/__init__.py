"""Figures: each has its data first, as a frame, and a drawing of exactly that by matplotlib."""

from mossrules.plots.comparison import ComparisonDisplay
from mossrules.plots.consistency import ConsistencyDisplay
from mossrules.plots.effort import EffortDisplay
from mossrules.plots.evaluation import EvaluationDisplay
from mossrules.plots.frontier import FrontierDisplay
from mossrules.plots.importance import ImportanceDisplay
from mossrules.plots.rules import RulesDisplay
from mossrules.plots.structure import StructureDisplay

__all__ = [
    "ComparisonDisplay",
    "ConsistencyDisplay",
    "EffortDisplay",
    "EvaluationDisplay",
    "FrontierDisplay",
    "ImportanceDisplay",
    "RulesDisplay",
    "StructureDisplay",
]
