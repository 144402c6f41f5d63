"""What an auditor may ask of a rule set; the code is in `mossrules.constraints`.

>>> [NeverUse("sex"), AtMostFeatures(3), OnlyUp("dose")]
[NeverUse('sex'), AtMostFeatures(3), OnlyUp('dose')]
"""

from mossrules.learning.constraints import (
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
    apply_constraints,
    check_constraints,
    required_rules,
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
