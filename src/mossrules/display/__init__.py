"""What people look at: plots, the report page and notebook views, a data object behind each."""

from mossrules.display.plots import (
    ComparisonDisplay,
    ConsistencyDisplay,
    EffortDisplay,
    EvaluationDisplay,
    FrontierDisplay,
    ImportanceDisplay,
    RulesDisplay,
    StructureDisplay,
)

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
