"""Figures: each has its data first, as a frame, and a drawing of exactly that by matplotlib."""

from mossrules.plots.effort import EffortDisplay
from mossrules.plots.evaluation import EvaluationDisplay
from mossrules.plots.frontier import FrontierDisplay

__all__ = ["EffortDisplay", "EvaluationDisplay", "FrontierDisplay"]
