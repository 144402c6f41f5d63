"""What the kernels share: the data of a solve, room to work on a node, and a search's state."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mossrules._typing import AnyArray, BoolArray, FloatArray, IntArray

# What one kernel passes to another as a constant, or counts up from one, is a NumPy scalar: for a
# plain number or bool, numba compiles the other, and all below it, anew for that very value.
NOBODY = np.int64(-1)  # in place of a rule
FREE, IN, OUT = 0, 1, 2  # the fate of a rule
CAPACITY = 192  # rules in the small copy of a node at most
# Places in `Search.numbers` and `Search.tally`.
LOSS, GAP, LEAST_DROPPED, MARGIN = 0, 1, 2, 3
NODES, STEPS, TRIALS, IMPROVED, LISTED = 0, 1, 2, 3, 4


class Limits(NamedTuple):
    """Limits A z <= b on a selection z; there is none where `b` is empty.

    Of every selection that keeps them, `offset`'z <= `allowance`: one inequality that stands for
    all of them in bounds.
    """

    A: FloatArray  # (limits, m)
    b: FloatArray
    offset: FloatArray  # (m,)
    allowance: float


class Data(NamedTuple):
    """What stays the same for a whole solve."""

    G: FloatArray
    q: FloatArray
    counts: FloatArray
    gamma: float
    half: float  # yy / 2
    signed: bool  # whether any weight may not be negative
    bounded: BoolArray  # and which
    limits: Limits


def no_limits(m: int) -> Limits:
    """Return the limits of m rules that have none."""
    return Limits(np.zeros((0, m)), np.zeros(0), np.zeros(m), 0.0)


class Small(NamedTuple):
    """The rules that matter at a node, and room to work on them; n of each are in use."""

    rules: IntArray
    forced: IntArray  # 1 for rules fixed in
    bounded: BoolArray
    G: FloatArray
    diagonal: FloatArray
    counts: FloatArray  # centred
    offset: FloatArray
    w: FloatArray
    r: FloatArray
    price: FloatArray
    active: IntArray
    matrix: FloatArray
    residual: FloatArray
    by_lambda: FloatArray
    by_mu: FloatArray
    trial_w: FloatArray
    trial_r: FloatArray


def make_small() -> Small:
    """Return room for `CAPACITY` rules."""
    n = CAPACITY
    return Small(
        rules=np.zeros(n, np.int64),
        forced=np.zeros(n, np.int64),
        bounded=np.zeros(n, np.bool_),
        G=np.zeros((n, n)),
        diagonal=np.zeros(n),
        counts=np.zeros(n),
        offset=np.zeros(n),
        w=np.zeros(n),
        r=np.zeros(n),
        price=np.zeros(n),
        active=np.zeros(n, np.int64),
        matrix=np.zeros((n, n)),
        residual=np.zeros(n),
        by_lambda=np.zeros(n),
        by_mu=np.zeros(n),
        trial_w=np.zeros(n),
        trial_r=np.zeros(n),
    )


class Search(NamedTuple):
    """One worker's view of a search, and its room to work; `numbers` and `tally` are its state.

    Nodes that are of no use at this floor may be of use at a higher one, to which the search will
    climb with the same tree: `above` says what is known there. A search with room in `listed` does
    not look for the best selection but for all below the loss in `numbers`.
    """

    k: int
    eps: float
    order: IntArray  # rules by falling count
    before: IntArray  # the twin that must be in before this one, or -1
    after: IntArray
    past: FloatArray  # (m, 4): rise of the bound per unit of z and how often, down and up
    incumbent: IntArray
    above: FloatArray  # (higher floors, 2): by how much, and the least loss known there
    incumbents_above: IntArray  # (higher floors, k)
    listed: IntArray  # (room, k)
    numbers: FloatArray
    tally: IntArray
    fate: AnyArray
    w: FloatArray
    r: FloatArray
    multipliers: FloatArray
    child_fate: AnyArray
    child_w: FloatArray
    child_r: FloatArray
    child_multipliers: FloatArray
    z: FloatArray
    candidates: IntArray
    merit: FloatArray
    chosen: IntArray
    allowed: BoolArray
    factor: FloatArray
    room_for_w: FloatArray
    small: Small


def make_search(
    k: int, eps: float, order: IntArray, before: IntArray, after: IntArray, *, room_to_list: int = 0
) -> Search:
    """Return a search that has seen nothing yet."""
    m = len(order)
    return Search(
        k=k,
        eps=float(eps),
        order=order,
        before=before,
        after=after,
        past=np.zeros((m, 4)),
        incumbent=np.zeros(k, np.int64),
        above=np.zeros((0, 2)),
        incumbents_above=np.zeros((0, k), np.int64),
        listed=np.zeros((room_to_list, k), np.int64),
        numbers=np.array([np.inf, 0.0, np.inf, 0.0]),
        tally=np.zeros(5, np.int64),
        fate=np.zeros(m, np.int8),
        w=np.zeros(m),
        r=np.zeros(m),
        multipliers=np.zeros(2),
        child_fate=np.zeros(m, np.int8),
        child_w=np.zeros(m),
        child_r=np.zeros(m),
        child_multipliers=np.zeros(2),
        z=np.zeros(m),
        candidates=np.zeros(m, np.int64),
        merit=np.zeros(m),
        chosen=np.zeros(k, np.int64),
        allowed=np.zeros(m, np.bool_),
        factor=np.zeros((k, k)),
        room_for_w=np.zeros(k),
        small=make_small(),
    )
