"""What follows for other rules when some are fixed: by floor, symmetry, constraints and the bound.

`rules_left` and `stability_left` are what is still to be had from the free rules: K rules and
stability E. A best selection has exactly k rules, because another rule never raises H2.

All that has to do with constraints A z <= b is skipped where there are none.
"""

from __future__ import annotations

import numpy as np

from mossrules._compiled import njit
from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.solver.kernels.relaxation import gain_of
from mossrules.solver.kernels.state import (
    FREE,
    IN,
    NOBODY,
    OUT,
    Constraints,
    Data,
    Node,
    Precedence,
)

# --- duplicates ---------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def chain_duplicates(
    G: FloatArray, keys: FloatArray, rules: IntArray, before: IntArray, after: IntArray
) -> None:
    """Link rules with equal columns of G, in the order given; they have equal `keys`, in a row.

    Columns are compared by |G_ip - G_jp| <= 1e-13 sqrt(G_jj G_pp): the keys alone, correlations
    with the target, would take columns for equal that only explain it equally well.
    """
    m = G.shape[0]
    for a in range(rules.shape[0]):
        i = rules[a]
        for b in range(a - 1, -1, -1):
            j = rules[b]
            if keys[b] != keys[a]:
                break
            if after[j] >= 0:  # not the last of its chain
                continue
            tolerance = 1e-26 * G[j, j]
            same = True
            for p in range(m):
                if (G[i, p] - G[j, p]) ** 2 > tolerance * G[p, p]:
                    same = False
                    break
            if same:
                before[i], after[j] = j, i
                break


@njit(cache=True, nogil=True)
def put_in(
    counts: FloatArray,
    precedence: Precedence,
    decision: AnyArray,
    i: int,
    rules_left: float,
    stability_left: float,
) -> tuple[bool, float, float]:
    """Fix rule i in, and its duplicates that come before it; return whether possible, K and E."""
    while i >= 0 and decision[i] == FREE:
        decision[i] = IN
        rules_left -= 1.0
        stability_left -= counts[i]
        i = precedence.before[i]
    return (i < 0 or decision[i] == IN) and rules_left >= 0.0, rules_left, stability_left


@njit(cache=True, nogil=True)
def put_out(precedence: Precedence, decision: AnyArray, i: int) -> bool:
    """Fix rule i out, and its duplicates that come after it; return whether that is possible."""
    while i >= 0 and decision[i] == FREE:
        decision[i] = OUT
        i = precedence.after[i]
    return i < 0 or decision[i] == OUT


# --- the floor ----------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def fix_by_floor(
    counts: FloatArray,
    precedence: Precedence,
    decision: AnyArray,
    rules_left: float,
    stability_left: float,
) -> tuple[bool, float, float]:
    """Fix what the floor decides.

    With slack s = (the K largest free counts) - E, a rule whose count is more than s below the K-th
    cannot be in, and one more than s above the next cannot be out. Returns whether the node can
    still be feasible, K and E.
    """
    while True:
        n_free, largest, last, following = 0.0, 0.0, 0.0, -np.inf
        # One pass by falling count, O(m), finds the K largest, the last of them and the next.
        for i in precedence.by_count:
            if decision[i] == FREE:
                n_free += 1.0
                if n_free <= rules_left:
                    largest += counts[i]
                    last = counts[i]
                elif n_free == rules_left + 1.0:
                    following = counts[i]
        slack = largest - stability_left
        if n_free < rules_left or slack < 0.0:
            return False, rules_left, stability_left
        changed = False
        position = 0.0
        for i in precedence.by_count:
            if decision[i] != FREE:
                continue
            position += 1.0
            if position <= rules_left and counts[i] - following > slack:
                possible, K, E = put_in(counts, precedence, decision, i, rules_left, stability_left)
            elif position > rules_left and (rules_left == 0.0 or counts[i] < last - slack):
                possible, K, E = put_out(precedence, decision, i), rules_left, stability_left
            else:
                continue
            if not possible:
                return False, rules_left, stability_left
            changed = True
            if rules_left != K:
                # Positions have moved: start again from the new numbers.
                rules_left, stability_left = K, E
                break
        if not changed:
            return True, rules_left, stability_left


# --- constraints --------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def keeps_with_change(
    constraints: Constraints, chosen: IntArray, n: int, leaves: int, enters: int
) -> bool:
    """Tell whether the first n rules chosen, less one and with another, keep the constraints.

    `leaves` and `enters` are rules, or -1 for none.
    """
    for row in range(constraints.b.shape[0]):
        used = 0.0
        for a in range(n):
            used += constraints.A[row, chosen[a]]
        if leaves >= 0:
            used -= constraints.A[row, leaves]
        if enters >= 0:
            used += constraints.A[row, enters]
        if used > constraints.b[row]:
            return False
    return True


@njit(cache=True, nogil=True)
def keeps_constraints(constraints: Constraints, chosen: IntArray, n: int) -> bool:
    """Tell whether the first n rules chosen keep the constraints."""
    return keeps_with_change(constraints, chosen, n, NOBODY, NOBODY)


@njit(cache=True, nogil=True)
def fix_by_constraints(
    data: Data,
    precedence: Precedence,
    decision: AnyArray,
    rules_left: float,
    stability_left: float,
) -> tuple[bool, float, float, bool]:
    """Fix the rules that no selection with what is fixed so far can have, or can do without.

    Each constraint is held against the least that it must count. Returns whether the node can still
    be feasible, K, E, and whether anything was fixed.
    """
    constraints, fixed = data.constraints, False
    for row in range(constraints.b.shape[0]):
        minimum = 0.0
        for i in range(decision.shape[0]):
            x = constraints.A[row, i]
            if decision[i] == IN or (decision[i] == FREE and x < 0.0):
                minimum += x
        slack = constraints.b[row] - minimum
        if slack < 0.0:
            return False, rules_left, stability_left, fixed
        for i in range(decision.shape[0]):
            x = constraints.A[row, i]
            if decision[i] != FREE or abs(x) <= slack:
                continue
            # Duplicates count alike, so that what comes in or goes out with i was decided as well.
            if x > 0.0:
                possible = put_out(precedence, decision, i)
            else:
                possible, rules_left, stability_left = put_in(
                    data.counts, precedence, decision, i, rules_left, stability_left
                )
            fixed = True
            if not possible:
                return False, rules_left, stability_left, fixed
    return True, rules_left, stability_left, fixed


@njit(cache=True, nogil=True)
def fix_by_conditions(
    data: Data,
    precedence: Precedence,
    decision: AnyArray,
    rules_left: float,
    stability_left: float,
) -> tuple[bool, float, float]:
    """Fix what the floor and the constraints decide; return whether feasible, K and E."""
    while True:
        possible, rules_left, stability_left = fix_by_floor(
            data.counts, precedence, decision, rules_left, stability_left
        )
        if not possible or data.constraints.b.shape[0] == 0:
            return possible, rules_left, stability_left
        # What constraints decide moves the slack of the floor, so that it may decide more.
        possible, rules_left, stability_left, fixed = fix_by_constraints(
            data, precedence, decision, rules_left, stability_left
        )
        if not possible or not fixed:
            return possible, rules_left, stability_left


# --- the bound ----------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def fix_by_bound(
    data: Data,
    precedence: Precedence,
    node: Node,
    rules_left: float,
    stability_left: float,
    margin: float,
) -> tuple[bool, float, float, int]:
    """Fix rules whose reduced price is above the distance between bound and cutoff.

    With s_i = (gamma/2) r_i^2 - lambda + mu c_i - o_i, forcing rule i in costs -s_i when s_i < 0,
    forcing it out costs s_i when s_i > 0. r and the multipliers must be those that gave the bound.
    Returns whether the node can still hold something better, K, E and the number of rules fixed.
    """
    # Prices are those of before: after each fixing K and E change, but not what the bound proves.
    fixed = 0
    lam, mu = node.multipliers[0], node.multipliers[1]
    for i in range(node.r.shape[0]):
        if node.decision[i] != FREE:
            continue
        s = gain_of(data, i, node.r[i]) - lam + mu * data.counts[i] - data.constraints.offset[i]
        possible = True
        if s < -margin:
            possible = put_out(precedence, node.decision, i)
        elif s > margin:
            possible, rules_left, stability_left = put_in(
                data.counts, precedence, node.decision, i, rules_left, stability_left
            )
        else:
            continue
        fixed += 1
        if not possible:
            return False, rules_left, stability_left, fixed
    return True, rules_left, stability_left, fixed
