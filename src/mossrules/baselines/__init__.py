"""What one would otherwise use: other learners of rules, on the same candidates or on their own."""

from mossrules.baselines.fire import FireRegressor
from mossrules.baselines.glrm import GlrmRegressor
from mossrules.baselines.glrm_classifier import GlrmClassifier
from mossrules.baselines.rulefit import RuleFitRegressor
from mossrules.baselines.rulefit_classifier import RuleFitClassifier
from mossrules.baselines.sirus import SirusRegressor
from mossrules.baselines.sirus_classifier import SirusClassifier

__all__ = [
    "FireRegressor",
    "GlrmClassifier",
    "GlrmRegressor",
    "RuleFitClassifier",
    "RuleFitRegressor",
    "SirusClassifier",
    "SirusRegressor",
]
