"""What an auditor may ask of a rule set: which features and rules, how many, and pushing which way.

>>> [NeverUse("sex"), AtMostFeatures(3), OnlyUp("dose")]
[NeverUse('sex'), AtMostFeatures(3), OnlyUp('dose')]

Each is a value that says what it means for candidate rules; `apply_constraints` makes of them what
the solver takes: rules fixed in and out, limits `A z <= b` on rules and features, signs of weights.
"""

from __future__ import annotations

from mossrules._deprecated import old_names
from mossrules.constraints.compile import (
    apply_constraints,
    check_constraints,
    required_rules,
)
from mossrules.constraints.kinds import (
    AtMostConditions,
    AtMostFeatures,
    AtMostPerFeature,
    Constraint,
    Decreasing,
    Increasing,
    MustExclude,
    MustInclude,
    NeverUse,
    OnlyDown,
    OnlyUp,
    OwnDirection,
)

__all__ = [
    "AtMostConditions",
    "AtMostFeatures",
    "AtMostPerFeature",
    "Constraint",
    "Decreasing",
    "Increasing",
    "MustExclude",
    "MustInclude",
    "NeverUse",
    "OnlyDown",
    "OnlyUp",
    "OwnDirection",
    "apply_constraints",
    "check_constraints",
    "required_rules",
]

__getattr__ = old_names(__name__, {"limit_problem": "apply_constraints"})
