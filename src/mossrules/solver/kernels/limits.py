"""Limits A z <= b on a selection: what they decide at a node, and which rules may come in.

All of this is skipped where there are no limits.
"""

from __future__ import annotations

from numba import njit

from mossrules._typing import AnyArray, IntArray
from mossrules.solver.kernels.fixing import fix_by_floor, put_in, put_out
from mossrules.solver.kernels.state import FREE, IN, NOBODY, Data, Limits


@njit(cache=True, nogil=True)
def keeps_with_change(limits: Limits, chosen: IntArray, n: int, leaves: int, enters: int) -> bool:
    """Tell whether the first n rules chosen, less one and with another, keep the limits.

    `leaves` and `enters` are rules, or -1 for none.
    """
    for row in range(limits.b.shape[0]):
        used = 0.0
        for a in range(n):
            used += limits.A[row, chosen[a]]
        if leaves >= 0:
            used -= limits.A[row, leaves]
        if enters >= 0:
            used += limits.A[row, enters]
        if used > limits.b[row]:
            return False
    return True


@njit(cache=True, nogil=True)
def keeps_limits(limits: Limits, chosen: IntArray, n: int) -> bool:
    """Tell whether the first n rules chosen keep the limits."""
    return keeps_with_change(limits, chosen, n, NOBODY, NOBODY)


@njit(cache=True, nogil=True)
def fix_by_limits(
    data: Data, fate: AnyArray, before: IntArray, after: IntArray, room: float, floor: float
) -> tuple[bool, float, float, bool]:
    """Fix the rules that no selection with what is fixed so far can have, or can do without.

    Each limit is held against the least that it must count. Returns whether the node can still be
    feasible, K, E, and whether anything was fixed.
    """
    limits, fixed = data.limits, False
    for row in range(limits.b.shape[0]):
        least = 0.0
        for i in range(fate.shape[0]):
            x = limits.A[row, i]
            if fate[i] == IN or (fate[i] == FREE and x < 0.0):
                least += x
        slack = limits.b[row] - least
        if slack < 0.0:
            return False, room, floor, fixed
        for i in range(fate.shape[0]):
            x = limits.A[row, i]
            if fate[i] != FREE or abs(x) <= slack:
                continue
            # Twins count alike, so that what comes in or goes out with i was decided as well.
            if x > 0.0:
                possible = put_out(fate, after, i)
            else:
                possible, room, floor = put_in(data.counts, fate, before, i, room, floor)
            fixed = True
            if not possible:
                return False, room, floor, fixed
    return True, room, floor, fixed


@njit(cache=True, nogil=True)
def fix_by_conditions(
    data: Data,
    order: IntArray,
    fate: AnyArray,
    before: IntArray,
    after: IntArray,
    room: float,
    floor: float,
) -> tuple[bool, float, float]:
    """Fix what the floor and the limits decide; return whether feasible, K and E."""
    while True:
        possible, room, floor = fix_by_floor(data.counts, order, fate, before, after, room, floor)
        if not possible or data.limits.b.shape[0] == 0:
            return possible, room, floor
        possible, room, floor, fixed = fix_by_limits(data, fate, before, after, room, floor)
        if not possible or not fixed:
            return possible, room, floor
