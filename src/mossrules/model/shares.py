"""Wilson's interval for a share, wherever one is told: of refits, of rows, of predictions.

Notation
    p, n    the share, and of how many; of rows with weights n is an effective number
    z       a quantile, mostly of the normal distribution
    p_L, p_U  the ends (Wilson 1927): the q with (p - q)^2 = z^2 q (1 - q) / n. The usual
            p +- z sqrt(p (1 - p) / n) has no width where p is 0 or 1.
"""

from __future__ import annotations

import math

from scipy.special import ndtri

__all__ = ["normal_quantile", "wilson_ends"]


def normal_quantile(confidence: float) -> float:
    """Return the z of a two-sided interval."""
    return float(ndtri(0.5 + confidence / 2))


def wilson_ends(share: float, n: float, z: float) -> tuple[float, float]:
    """Return both ends of Wilson's interval; NaN of nothing.

    Examples
    --------
    >>> low, high = wilson_ends(18 / 20, 20, normal_quantile(0.95))
    >>> round(low, 3), round(high, 3)
    (0.699, 0.972)
    """
    if n <= 0 or math.isnan(share):
        return math.nan, math.nan
    # All of it times n, which may be so small, being weights, that its square is 0.
    middle = share * n + z * z / 2
    spread = z * math.sqrt(share * (1 - share) * n + z * z / 4)
    scale = n + z * z
    # Of none and of all one end is 0 or 1, which rounding would miss.
    lower = 0.0 if share == 0 else max(0.0, (middle - spread) / scale)
    upper = 1.0 if share == 1 else min(1.0, (middle + spread) / scale)
    return lower, upper
