"""What a search leaves behind where a proof is asked for: every child, and what closes it.

The log is one flat array of numbers, which costs the kernels nothing to compile and a search
without a proof one comparison per child. An entry is nine numbers,

    label, parent, rule, side, kind, bound, lambda, mu, n

and then n positions and n weights. The rule is `NOBODY`
where an entry goes on at its parent rather than branching; side is 1 where the rule is in. Labels
rise, so a parent stands before its children. `proofs.writing` turns the log into a proof.
"""

from __future__ import annotations

from mossrules._compiled import njit
from mossrules.solver.kernels.state import Search

HEAD = 9
POINT, SELECTION, EMPTY = 0, 1, 2  # kinds: a relaxed node, the only selection left, nothing left


@njit(cache=True, nogil=True)
def log_is_full(search: Search) -> bool:
    """Tell whether the next two children, and what follows from them, may find no room."""
    m = search.node.w.shape[0]
    return search.counters.logged + 4 * (HEAD + 2 * m) > search.log.shape[0]


@njit(cache=True, nogil=True)
def log_child(search: Search, parent: int, rule: int, side: int, kind: int, bound: float) -> int:
    """Log the child at hand, or the selection at hand, and return the label it has from now on."""
    log, child, at = search.log, search.child, search.counters.logged
    search.counters.labels += 1
    label = search.counters.labels
    n = 0
    if kind == POINT:
        for i in range(child.w.shape[0]):
            if child.w[i] != 0.0:
                n += 1
    elif kind == SELECTION:
        n = search.k
    log[at] = label
    log[at + 1] = parent
    log[at + 2] = rule
    log[at + 3] = side
    log[at + 4] = kind
    log[at + 5] = bound
    log[at + 6] = child.multipliers[0]
    log[at + 7] = child.multipliers[1]
    log[at + 8] = n
    at += HEAD
    if kind == POINT:
        for i in range(child.w.shape[0]):
            if child.w[i] != 0.0:
                log[at] = i
                log[at + n] = child.w[i]
                at += 1
    elif kind == SELECTION:
        for a in range(n):
            log[at] = search.workspace.chosen[a]
            log[at + n] = search.workspace.weights[a]
            at += 1
    search.counters.logged = at + n
    return label
