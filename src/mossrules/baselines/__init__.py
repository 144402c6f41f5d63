"""Other methods that find short rule sets, to compare with: on the same candidates or their own."""

from mossrules.baselines.fire import FireRegressor
from mossrules.baselines.glrm import GlrmClassifier, GlrmRegressor
from mossrules.baselines.rulefit import RuleFitClassifier, RuleFitRegressor
from mossrules.baselines.sirus import SirusClassifier, SirusRegressor

__all__ = [
    "FireRegressor",
    "GlrmClassifier",
    "GlrmRegressor",
    "RuleFitClassifier",
    "RuleFitRegressor",
    "SirusClassifier",
    "SirusRegressor",
]
