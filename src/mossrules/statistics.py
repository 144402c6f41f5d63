"""What a solver sees of the rows; the code is in `mossrules.candidates.statistics`."""

from mossrules.candidates.statistics import Statistics

__all__ = ["Statistics"]
