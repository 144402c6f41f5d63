"""What the kernels share: the data of a solve, a node, a search's state, and arrays to work in.

All of it is plain arrays in named tuples, which numba passes without Python objects. What changes
during a search is changed in place. A field that is added here costs compile time in every kernel
that takes the tuple: numba hands on each array as seven values.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, cast

import numpy as np

from mossrules._typing import AnyArray, BoolArray, FloatArray, IntArray

# What one kernel passes to another as a constant, or counts up from one, is a NumPy scalar: for a
# plain number or bool, numba compiles the other, and all below it, anew for that very value.
NOBODY = np.int64(-1)  # in place of a rule
FREE, IN, OUT = 0, 1, 2  # the decision on a rule
CAPACITY = (
    192  # rules in a node's workspace at most; more than a few dozen matter at bad starts only
)


# --- what stays the same ------------------------------------------------------------------------


class Constraints(NamedTuple):
    """Constraints A z <= b on a selection z; there is none where `b` is empty.

    Of every selection that keeps them, `offset`'z <= `allowance`: one inequality that stands for
    all of them in bounds.
    """

    A: FloatArray  # (constraints, m)
    b: FloatArray
    offset: FloatArray  # (m,)
    allowance: float


class Data(NamedTuple):
    """The numbers of a problem."""

    G: FloatArray
    q: FloatArray
    counts: FloatArray
    gamma: float
    half_yy: float  # yy / 2
    signed: bool  # whether any weight may not be negative
    bounded: BoolArray  # and which
    constraints: Constraints


class Precedence(NamedTuple):
    """Which rules go before which others.

    Rules with equal columns are duplicates, and form a chain: one of them is in only if that before
    it is in, which cuts off all but one of the trees that differ by their order.
    """

    by_count: IntArray  # rules by falling count
    before: IntArray  # the duplicate that must be in before this one, or -1
    after: IntArray


def no_constraints(m: int) -> Constraints:
    """Return the constraints of m rules that have none."""
    return Constraints(np.zeros((0, m)), np.zeros(0), np.zeros(m), 0.0)


# --- a node -------------------------------------------------------------------------------------


class Node(NamedTuple):
    """What is decided at a node, and the point at which it is relaxed: w, r = q - G w, prices."""

    decision: AnyArray  # FREE, IN or OUT for each rule
    w: FloatArray
    r: FloatArray
    multipliers: FloatArray  # lambda and mu


def make_node(m: int) -> Node:
    """Return the node of m free rules at which nothing is known."""
    return Node(np.zeros(m, np.int8), np.zeros(m), np.zeros(m), np.zeros(2))


class NodeWorkspace(NamedTuple):
    """A dense copy of the rules that matter at a node, and arrays to relax it in.

    The first n of each are in use. A copy is worth its cost: 20 to 60 rules of hundreds matter, and
    their block of G stays in the processor's cache.
    """

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
    best_w: FloatArray  # (m,), of the best bound so far
    best_r: FloatArray


def make_node_workspace(m: int) -> NodeWorkspace:
    """Return a workspace for `CAPACITY` of m rules."""
    n = CAPACITY
    return NodeWorkspace(
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
        best_w=np.zeros(m),
        best_r=np.zeros(m),
    )


# --- a search -----------------------------------------------------------------------------------


class Bounds(Protocol):
    """Losses and bounds of a search, and what makes the cutoff of them."""

    loss: float  # the best known; or, where selections are listed, the loss below which they are
    gap: float  # relative, that is asked for
    least_dropped: float  # bound of anything that was left out
    margin: float  # losses closer than this count as equal
    lift: float  # of the cutoff, for what a proof has to claim less


class Counters(Protocol):
    """What was done in a search, counted."""

    nodes: int
    steps: int  # of the ascent
    trials: int  # children that were only tried
    improved: int  # selections better than the best known; set to 0 when they are taken over
    listed: int  # likewise for selections of a list
    labels: int  # given to children that were made
    logged: int  # numbers in the log; set to 0 when they are taken over


# Records, not arrays with a constant for each place: compiled code changes fields in place as
# Python does, and is passed one pointer for all of them.
_BOUNDS = np.dtype((np.record, [(name, np.float64) for name in Bounds.__annotations__]))
_COUNTERS = np.dtype((np.record, [(name, np.int64) for name in Counters.__annotations__]))


def make_bounds() -> Bounds:
    """Return the bounds of a search that knows no selection and has dropped nothing."""
    bounds = cast("Bounds", np.zeros(1, _BOUNDS)[0])
    bounds.loss = bounds.least_dropped = np.inf
    return bounds


def make_counters() -> Counters:
    """Return counters that are all 0."""
    return cast("Counters", np.zeros(1, _COUNTERS)[0])


class Selections(NamedTuple):
    """Selections that a search has found: the best here and at higher floors, or a list of all.

    Nodes that are of no use at this floor may be of use at a higher one, to which the search will
    go on with the same tree: `above` says what is known there. A search with room in `listed` does
    not look for the best selection but for all below the loss in its bounds.
    """

    best: IntArray  # (k,)
    above: FloatArray  # (higher floors, 2): by how much, and the least loss known there
    best_above: IntArray  # (higher floors, k)
    listed: IntArray  # (room, k)


class Workspace(NamedTuple):
    """Arrays to work in, of no meaning between two nodes but for `z` and `chosen`."""

    z: FloatArray  # (m,): the relaxed selection
    chosen: IntArray  # (k,): the selection at hand
    allowed: BoolArray
    candidates: IntArray
    merit: FloatArray
    factor: FloatArray  # (k, k)
    weights: FloatArray  # (k,)
    node: NodeWorkspace


class Search(NamedTuple):
    """One worker's view of a search."""

    k: int
    eps: float
    precedence: Precedence
    past: FloatArray  # (m, 4): rise of the bound per unit of z and how often, down and up
    bounds: Bounds
    counters: Counters
    selections: Selections
    node: Node  # being branched on
    child: Node
    workspace: Workspace
    log: FloatArray  # of what a proof is made of (see `kernels.log`); empty where none is asked for


def make_search(
    k: int, eps: float, precedence: Precedence, *, list_capacity: int = 0, log_size: int = 0
) -> Search:
    """Return a search that has seen nothing yet."""
    m = len(precedence.by_count)
    return Search(
        k=k,
        eps=float(eps),
        precedence=precedence,
        past=np.zeros((m, 4)),
        bounds=make_bounds(),
        counters=make_counters(),
        selections=Selections(
            best=np.zeros(k, np.int64),
            above=np.zeros((0, 2)),
            best_above=np.zeros((0, k), np.int64),
            listed=np.zeros((list_capacity, k), np.int64),
        ),
        node=make_node(m),
        child=make_node(m),
        workspace=Workspace(
            z=np.zeros(m),
            chosen=np.zeros(k, np.int64),
            allowed=np.zeros(m, np.bool_),
            candidates=np.zeros(m, np.int64),
            merit=np.zeros(m),
            factor=np.zeros((k, k)),
            weights=np.zeros(k),
            node=make_node_workspace(m),
        ),
        log=np.zeros(log_size),
    )
