"""What follows for other rules when some are fixed: by the floor, by symmetry, by the bound.

`room` and `floor` are what is still to be had from the free rules: K rules and stability E. A best
selection has exactly k rules, because another rule never raises H2.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.solver.kernels.relaxation import gain_of
from mossrules.solver.kernels.state import FREE, IN, OUT, Data


@njit(cache=True, nogil=True)
def chain_twins(
    G: FloatArray, keys: FloatArray, rules: IntArray, before: IntArray, after: IntArray
) -> None:
    """Link rules with equal columns of G, in the order given; they have equal `keys`, in a row."""
    m = G.shape[0]
    for a in range(rules.shape[0]):
        i = rules[a]
        for b in range(a - 1, -1, -1):
            j = rules[b]
            if keys[b] != keys[a]:
                break
            if after[j] >= 0:  # not the last of its chain
                continue
            limit = 1e-26 * G[j, j]
            same = True
            for p in range(m):
                if (G[i, p] - G[j, p]) ** 2 > limit * G[p, p]:
                    same = False
                    break
            if same:
                before[i], after[j] = j, i
                break


@njit(cache=True, nogil=True)
def put_in(
    counts: FloatArray, fate: AnyArray, before: IntArray, i: int, room: float, floor: float
) -> tuple[bool, float, float]:
    """Fix rule i in, and with it the twins that come before it; return if possible, K and E."""
    while i >= 0 and fate[i] == FREE:
        fate[i] = IN
        room -= 1.0
        floor -= counts[i]
        i = before[i]
    return (i < 0 or fate[i] == IN) and room >= 0.0, room, floor


@njit(cache=True, nogil=True)
def put_out(fate: AnyArray, after: IntArray, i: int) -> bool:
    """Fix rule i out, and with it the twins that come after it; return whether that is possible."""
    while i >= 0 and fate[i] == FREE:
        fate[i] = OUT
        i = after[i]
    return i < 0 or fate[i] == OUT


@njit(cache=True, nogil=True)
def fix_by_floor(
    counts: FloatArray,
    order: IntArray,
    fate: AnyArray,
    before: IntArray,
    after: IntArray,
    room: float,
    floor: float,
) -> tuple[bool, float, float]:
    """Fix what the floor decides; `order` lists all rules by falling count.

    With slack s = (the K largest free counts) - E, a rule whose count is more than s below the K-th
    cannot be in, and one more than s above the next cannot be out. Returns whether the node can
    still be feasible, K and E.
    """
    while True:
        n_free, largest, last, following = 0.0, 0.0, 0.0, -np.inf
        for i in order:
            if fate[i] == FREE:
                n_free += 1.0
                if n_free <= room:
                    largest += counts[i]
                    last = counts[i]
                elif n_free == room + 1.0:
                    following = counts[i]
        slack = largest - floor
        if n_free < room or slack < 0.0:
            return False, room, floor
        changed = False
        position = 0.0
        for i in order:
            if fate[i] != FREE:
                continue
            position += 1.0
            if position <= room and counts[i] - following > slack:
                possible, room_now, floor_now = put_in(counts, fate, before, i, room, floor)
            elif position > room and (room == 0.0 or counts[i] < last - slack):
                possible, room_now, floor_now = put_out(fate, after, i), room, floor
            else:
                continue
            if not possible:
                return False, room, floor
            changed = True
            if room_now != room:
                # Positions have moved: start again from the new numbers.
                room, floor = room_now, floor_now
                break
        if not changed:
            return True, room, floor


@njit(cache=True, nogil=True)
def fix_by_bound(
    data: Data,
    fate: AnyArray,
    before: IntArray,
    after: IntArray,
    room: float,
    floor: float,
    lam: float,
    mu: float,
    r: FloatArray,
    margin: float,
) -> tuple[bool, float, float, int]:
    """Fix rules whose reduced price is above the distance between bound and cutoff.

    With s_i = (gamma/2) r_i^2 - lambda + mu c_i - o_i, forcing rule i in costs -s_i when s_i < 0,
    forcing it out costs s_i when s_i > 0. r and the multipliers must be those that gave the bound.
    Returns whether the node can still hold something better, K, E and the number of rules fixed.
    """
    fixed = 0
    for i in range(r.shape[0]):
        if fate[i] != FREE:
            continue
        s = gain_of(data, i, r[i]) - lam + mu * data.counts[i] - data.limits.offset[i]
        possible = True
        if s < -margin:
            possible = put_out(fate, after, i)
        elif s > margin:
            possible, room, floor = put_in(data.counts, fate, before, i, room, floor)
        else:
            continue
        fixed += 1
        if not possible:
            return False, room, floor, fixed
    return True, room, floor, fixed
