"""Short rule sets that predict well, and that you can expect to find again."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mossrules._deprecated import find_old_modules
from mossrules._version import __version__

if TYPE_CHECKING:
    from mossrules.candidates.ensembles import FittedEnsemble
    from mossrules.candidates.pool import CandidatePool
    from mossrules.candidates.rules import Rule
    from mossrules.candidates.search import Candidates, find_candidates
    from mossrules.defaults import PAPER
    from mossrules.estimators import MossClassifier, MossRegressor
    from mossrules.evaluation import (
        FrontierEvaluation,
        RuleSetComparison,
        compare_rule_sets,
        evaluate_frontier,
    )
    from mossrules.exceptions import MossError
    from mossrules.frontier import Frontier
    from mossrules.model import RuleSet, RuleSets
    from mossrules.statistics import Statistics

__all__ = [
    "PAPER",
    "CandidatePool",
    "Candidates",
    "FittedEnsemble",
    "Frontier",
    "FrontierEvaluation",
    "MossClassifier",
    "MossError",
    "MossRegressor",
    "Rule",
    "RuleSet",
    "RuleSetComparison",
    "RuleSets",
    "Statistics",
    "__version__",
    "compare_rule_sets",
    "evaluate_frontier",
    "find_candidates",
]

# Names are imported when first used: numba and narwhals take longer to load than `import mossrules`
# should take.
_HOME = {
    "PAPER": "mossrules.defaults",
    "CandidatePool": "mossrules.candidates.pool",
    "Candidates": "mossrules.candidates.search",
    "FittedEnsemble": "mossrules.candidates.ensembles",
    "Frontier": "mossrules.frontier",
    "FrontierEvaluation": "mossrules.evaluation",
    "MossClassifier": "mossrules.estimators",
    "MossError": "mossrules.exceptions",
    "MossRegressor": "mossrules.estimators",
    "Rule": "mossrules.candidates.rules",
    "RuleSet": "mossrules.model",
    "RuleSetComparison": "mossrules.evaluation",
    "RuleSets": "mossrules.model",
    "Statistics": "mossrules.statistics",
    "compare_rule_sets": "mossrules.evaluation",
    "evaluate_frontier": "mossrules.evaluation",
    "find_candidates": "mossrules.candidates.search",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'mossrules' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


find_old_modules()
