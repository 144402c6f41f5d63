"""The rule set people hold in their hands: to print, audit, explain, export and deploy."""

from mossrules.model.explanation import Explanation
from mossrules.model.ruleset import RuleSet
from mossrules.model.rulesets import RuleSets

__all__ = ["Explanation", "RuleSet", "RuleSets"]
