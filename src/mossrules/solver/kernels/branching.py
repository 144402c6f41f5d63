"""Children of a node, and which rule to branch on.

A rule is judged by how much the bound rose, per unit of z, when it was fixed before (its
pseudo-costs, down and up). Until a rule has been fixed a few times, both its children are tried for
a few steps of the ascent.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mossrules._typing import AnyArray, FloatArray
from mossrules.solver.kernels.fixing import put_in, put_out
from mossrules.solver.kernels.incumbents import cutoff_of, evaluate_leaf
from mossrules.solver.kernels.limits import fix_by_conditions
from mossrules.solver.kernels.linalg import FAST
from mossrules.solver.kernels.relaxation import ascend
from mossrules.solver.kernels.state import (
    FREE,
    LEAST_DROPPED,
    NOBODY,
    OUT,
    STEPS,
    TRIALS,
    Data,
    Search,
)

CANDIDATES = 8  # rules that are tried out before branching, at most
RELIABLE = 4.0  # children seen on each side before a rule's past is trusted
STEPS_TO_TRY = np.int64(2)


# --- a child ------------------------------------------------------------------------------------


@njit(cache=True, nogil=True, fastmath=FAST)
def drop_weights(data: Data, fate: AnyArray, w: FloatArray, r: FloatArray) -> None:
    """Set the weights of rules that are out to zero, and bring r up to date."""
    m = w.shape[0]
    for i in range(m):
        if fate[i] == OUT and w[i] != 0.0:
            x = w[i]
            w[i] = 0.0
            row = data.G[i]
            for j in range(m):
                r[j] += row[j] * x


@njit(cache=True, nogil=True, inline="always")
def branch(
    data: Data, search: Search, i: int, up: bool, room: float, floor: float, steps: int
) -> tuple[float, float, float]:
    """Relax the child with rule i in or out, or the node itself where i is `NOBODY`.

    Returns its bound, infinity when nothing better can be in it, K and E.
    """
    s = search
    for j in range(s.fate.shape[0]):
        s.child_fate[j], s.child_w[j], s.child_r[j] = s.fate[j], s.w[j], s.r[j]
    s.child_multipliers[0], s.child_multipliers[1] = s.multipliers[0], s.multipliers[1]
    possible = True
    if i == NOBODY:
        pass
    elif up:
        possible, room, floor = put_in(data.counts, s.child_fate, s.before, i, room, floor)
    else:
        possible = put_out(s.child_fate, s.after, i)
    if possible:
        possible, room, floor = fix_by_conditions(
            data, s.order, s.child_fate, s.before, s.after, room, floor
        )
    if not possible:
        return np.inf, room, floor
    if room == 0.0:
        loss = evaluate_leaf(data, s, s.child_fate)
        s.numbers[LEAST_DROPPED] = min(s.numbers[LEAST_DROPPED], loss)
        return np.inf, room, floor
    drop_weights(data, s.child_fate, s.child_w, s.child_r)
    bound, taken = ascend(
        data, s.child_fate, room, floor, s.child_w, s.child_r, s.child_multipliers,
        cutoff_of(s.numbers), steps, s.small,
    )  # fmt: skip
    s.tally[STEPS] += taken
    return bound, room, floor


@njit(cache=True, nogil=True)
def learn(past: FloatArray, i: int, z: float, up: bool, rise: float) -> None:
    """Remember how much the bound rose per unit of z when rule i was fixed."""
    place = 2 if up else 0
    distance = (1.0 - z) if up else z
    if distance > 1e-3 and rise < np.inf:
        past[i, place] += max(0.0, rise) / distance
        past[i, place + 1] += 1.0


# --- which rule ---------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def list_candidates(data: Data, search: Search) -> int:
    """Fill `candidates` with rules of fractional z and `merit` with |w_i| sqrt(G_ii) weights."""
    n = 0
    for i in range(search.z.shape[0]):
        z = search.z[i]
        if search.fate[i] == FREE and 1e-5 < z < 1.0 - 1e-5:
            search.candidates[n] = i
            search.merit[n] = abs(search.w[i]) * math.sqrt(data.G[i, i]) * min(z, 1.0 - z)
            n += 1
    return n


@njit(cache=True, nogil=True)
def choose_rule(data: Data, search: Search, bound: float, room: float, floor: float) -> int:
    """Return the rule to branch on: by its past if that is known, else by trying both children."""
    s = search
    n = list_candidates(data, s)
    if n == 0:
        best, rule = -1.0, -1
        for i in range(s.z.shape[0]):
            if s.fate[i] == FREE and s.z[i] > best:
                best, rule = s.z[i], i
        return rule
    missing = cutoff_of(s.numbers) - bound
    best, rule, tried = -1.0, s.candidates[0], 0
    for _ in range(n):
        at = 0
        for a in range(1, n):
            if s.merit[a] > s.merit[at]:
                at = a
        if s.merit[at] < 0.0:
            break
        s.merit[at] = -1.0
        i = s.candidates[at]
        known = s.past[i, 1] >= RELIABLE and s.past[i, 3] >= RELIABLE
        if known:
            down = s.past[i, 0] / s.past[i, 1] * s.z[i]
            up = s.past[i, 2] / s.past[i, 3] * (1.0 - s.z[i])
        else:
            if tried >= CANDIDATES:
                continue
            tried += 1
            s.tally[TRIALS] += 2
            down = up = 0.0
            for side in range(2):  # one call, not two: a call is compiled where it stands
                reached, _room, _floor = branch(data, s, i, side == 1, room, floor, STEPS_TO_TRY)
                learn(s.past, i, s.z[i], side == 1, reached - bound)
                if side == 1:
                    up = reached - bound
                else:
                    down = reached - bound
        down = min(max(down, 1e-6 * missing), missing)
        up = min(max(up, 1e-6 * missing), missing)
        if down * up > best:
            best, rule = down * up, i
    return rule
