"""What one would otherwise use: other learners of rules, on the same candidates or on their own."""

from mossrules.baselines.sirus import SirusRegressor

__all__ = ["SirusRegressor"]
