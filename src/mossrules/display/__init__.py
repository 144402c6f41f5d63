"""What people look at: plots, the report page and notebook views, a data object behind each.

A display is values first (`frame()`, `ReportData`), which tests can compare, and a drawing of just
those. Results find this room through `_display.py` alone; nothing below imports it.
"""

from mossrules.display.plots.consistency import ConsistencyDisplay
from mossrules.display.plots.effects import SplitEffectsDisplay
from mossrules.display.plots.effort import EffortDisplay
from mossrules.display.plots.evaluation import ComparisonDisplay, EvaluationDisplay
from mossrules.display.plots.frontier import FrontierDisplay
from mossrules.display.plots.performance import CalibrationDisplay, SubgroupDisplay
from mossrules.display.plots.rules import ImportanceDisplay, RulesDisplay
from mossrules.display.plots.structure import StructureDisplay
from mossrules.display.plots.track_record import TrackRecordDisplay
from mossrules.display.plots.trust import TrustDisplay

__all__ = [
    "CalibrationDisplay",
    "ComparisonDisplay",
    "ConsistencyDisplay",
    "EffortDisplay",
    "EvaluationDisplay",
    "FrontierDisplay",
    "ImportanceDisplay",
    "RulesDisplay",
    "SplitEffectsDisplay",
    "StructureDisplay",
    "SubgroupDisplay",
    "TrackRecordDisplay",
    "TrustDisplay",
]
