"""What one would otherwise use: other learners of rules, on the same candidates or on their own."""

from mossrules.baselines.fire import FireRegressor
from mossrules.baselines.glrm import GlrmRegressor
from mossrules.baselines.rulefit import RuleFitRegressor
from mossrules.baselines.sirus import SirusRegressor

__all__ = ["FireRegressor", "GlrmRegressor", "RuleFitRegressor", "SirusRegressor"]
