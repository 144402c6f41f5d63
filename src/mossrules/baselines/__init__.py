"""Other methods that find short rule sets, to compare with: on the same candidates or their own.

An estimator for each method (`sirus.py`, `fire.py`, `glrm.py`, `rulefit.py`), and its mathematics
in modules that know no estimator. `registry.py` lists what is compared, for `mossrules compare`,
the report and research. The same rules and folds for all is what makes comparisons fair: keep it
so.
"""

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
