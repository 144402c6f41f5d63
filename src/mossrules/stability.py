"""Do repeated analyses find the same rules? The code is in `mossrules.evaluation`."""

from mossrules.evaluation.agreement import Agreement, Estimate, Identity, Measure
from mossrules.evaluation.measures import (
    consistent_rules,
    dice,
    empirical_stability,
    jaccard,
    nogueira,
    ochiai,
    pog,
)

__all__ = [
    "Agreement",
    "Estimate",
    "Identity",
    "Measure",
    "consistent_rules",
    "dice",
    "empirical_stability",
    "jaccard",
    "nogueira",
    "ochiai",
    "pog",
]
