"""The rule set people hold in their hands: to print, audit, explain, export and deploy.

`ruleset.py` and `rulesets.py` hold the rules; each form they are written in has an `export_*.py`.
To apply a rule set takes neither the rows it was made from nor a forest nor the solver. Exports
that predict have to predict what `RuleSet.predict` does: tests run them.
"""

from mossrules.model.explanation import Explanation
from mossrules.model.ruleset import RuleSet
from mossrules.model.rulesets import RuleSets

__all__ = ["Explanation", "RuleSet", "RuleSets"]
