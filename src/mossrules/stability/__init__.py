"""Do repeated analyses find the same rules? One definition of each measure, for everyone."""

from mossrules.stability.agreement import Agreement, Estimate, Measure
from mossrules.stability.identity import Identity
from mossrules.stability.measures import (
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
