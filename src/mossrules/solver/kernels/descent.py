"""Cyclic coordinate descent on the ridge loss with a price for every rule that is in.

Minimises  1/2 |y - M w|^2 + |w|^2 / (2 gamma) + sum_{i in} t_i  over w and the set of rules that
are in (w_i = 0 for the others); the paper's appendix "Coordinate Descent Heuristic" has
t_i = lambda_1 - lambda_2 c_i. A rule that is in may have the weight 0: its count still counts.

Where a sign s_i is given, w_i is the best with s_i w_i >= 0, which is 0 where u_i / d_i has the
other sign: the objective in w_i alone is a parabola.
"""

from __future__ import annotations

from mossrules._compiled import njit
from mossrules._typing import BoolArray, FloatArray, IntArray


@njit(cache=True, nogil=True)
def descend(
    G: FloatArray,
    ridge: float,
    penalty: FloatArray,
    signs: IntArray,
    tolerance: float,
    max_sweeps: int,
    w: FloatArray,
    r: FloatArray,
    inside: BoolArray,
) -> int:
    """Sweep over the rules until a sweep lowers the objective by no more than `tolerance`.

    Updates w, r = q - G w and `inside` in place, and returns the number of sweeps made.
    `ridge` is 1 / gamma. A penalty of -inf puts a rule in, one of +inf keeps it out.
    `signs` are those of the weights: 1, -1, or 0 for any.
    A sweep costs O(m), and O(m) more for each weight that changes.
    """
    m = w.shape[0]
    for sweep in range(max_sweeps):
        fall = 0.0
        for i in range(m):
            if not inside[i] and 0.5 * r[i] * r[i] <= penalty[i] * (G[i, i] + ridge):
                continue  # most rules: out, and better so
            d = G[i, i] + ridge
            u = r[i] + G[i, i] * w[i]  # what M_i has in common with the residual of the others
            pull = 0.0 if signs[i] * u < 0.0 else u  # what a weight of its sign can take of it
            keep = 0.5 * pull * pull / d > penalty[i]
            new = pull / d if keep else 0.0
            step = new - w[i]
            # The objective in w_i alone is d/2 w_i^2 - u w_i, and t_i more when the rule is in.
            fall += step * (u - 0.5 * d * (w[i] + new))
            if keep != inside[i]:
                fall += -penalty[i] if keep else penalty[i]
                inside[i] = keep
            if step != 0.0:
                w[i] = new
                for j in range(m):
                    r[j] -= step * G[i, j]
        if fall <= tolerance:
            return sweep + 1
    return max_sweeps
