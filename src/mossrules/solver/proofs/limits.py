"""Limits A (z, u) <= b on rules z and groups u: what they decide, and what they are worth.

u_g is 1 if a rule of group g is in. Of the standard library and NumPy only, as all that checks
proofs.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np

from mossrules.solver.proofs.losses import EPS, as_integers
from mossrules.solver.proofs.reading import Array, Source

__all__ = ["FREE", "IN", "OUT", "Limits", "Prices", "State"]

FREE, IN, OUT = 0, 1, 2


class Prices(NamedTuple):
    """What limits of prices y take from gains and bound, and what rounding may do to that."""

    offset: Array  # y'A of rules and blanks
    allowance: float  # y'b
    off: float
    exact: tuple[list[Fraction], Fraction] | None = None


class State(NamedTuple):
    """What is decided at a node, of each rule, blank and group; and the prices of limits."""

    decision: Array
    groups: Array
    prices: Prices

    def copy(self) -> State:
        """Return a state in which other things may be decided."""
        return self._replace(decision=self.decision.copy(), groups=self.groups.copy())


class Tree(Protocol):
    """What limits ask of the tree: the size of a rule set, and to put a rule in or out."""

    size: int

    def put(self, decision: Array, i: int | None, side: int) -> bool:
        """Put a rule in or out; False where it is on the other side."""


class Limits:
    """The limits of a file."""

    def __init__(self, source: Source, header: Any, kept: Array) -> None:
        n, rows, groups = header["kept"], header["limits"], header["groups"]
        self.kept, self.n = kept, n
        self.A = source.array("A", "<f8", (rows, n + groups), header)
        self.b = source.array("b", "<f8", (rows,), header)
        self.in_group = source.array("in_group", "u1", (groups, n), header) != 0
        if (self.A[:, n:] < 0).any():
            raise source.refuse("a group counts less than 0")
        whole = (np.round(self.A) == self.A).all(axis=1) & (np.abs(self.A).sum(axis=1) < 2.0**53)
        size = np.abs(self.A).sum(axis=1) + np.abs(self.b)
        self.tolerance = np.where(whole, 0.0, (n + groups + 16) * EPS * size)

    def same(self, i: int, j: int) -> bool:
        """Tell whether two rules count alike."""
        A, groups = self.A, self.in_group
        return bool((A[:, i] == A[:, j]).all() and (groups[:, i] == groups[:, j]).all())

    def kept_by(self, chosen: Array) -> bool:
        """Tell whether rules keep the limits."""
        groups = (self.in_group & chosen).any(axis=1)
        used = self.A[:, : self.n] @ chosen + self.A[:, self.n :] @ groups
        return bool((used <= self.b + self.tolerance).all())

    def settle(self, tree: Tree, state: State) -> bool:
        """Decide what the limits decide; False where they are broken."""
        rules, groups = state.decision[: self.n], state.groups
        for g, members in enumerate(self.in_group):
            has, left = (rules[members] == IN).any(), (rules[members] != OUT).any()
            if (groups[g] == OUT and has) or (groups[g] == IN and not left):
                return False
            groups[g] = IN if has else groups[g] if left else OUT
        d = np.concatenate([rules, groups])
        inside, free = self.A[:, d == IN].sum(axis=1), np.where(d == FREE, self.A, 0.0)
        least = inside + np.minimum(0.0, free).sum(axis=1)
        slack = self.b - least + self.tolerance
        if (slack < 0).any():
            return False
        out, into = ((x > slack[:, None]).any(axis=0) for x in (free, -free))
        groups[out[self.n :]] = OUT
        banned = out[: self.n] | self.in_group[groups == OUT].any(axis=0)
        for side, which in ((OUT, banned & (rules == FREE)), (IN, into[: self.n])):
            if not all(tree.put(state.decision, i, side) for i in np.flatnonzero(which).tolist()):
                return False
        # Where limits forbid nothing any more, a rule more does no harm: no blank is needed.
        most = inside + np.maximum(0.0, free).sum(axis=1)
        blank = self.n + np.flatnonzero(state.decision[self.n :] == FREE)
        if len(blank) and (most <= self.b - self.tolerance).all():
            K = tree.size - int((state.decision == IN).sum())
            needed = max(0, K - int((rules == FREE).sum()))
            state.decision[blank[:needed]], state.decision[blank[needed:]] = IN, OUT
        return True

    def priced(
        self, source: Source, state: State | None, blanks: int, *, exact: bool
    ) -> State | None:
        """Read prices of limits: with y >= 0, what keeps the limits has (y'A) z <= y'b."""
        y, A, n = source.floats(len(self.b)), self.A[:, : self.n], len(self.b)
        if (y < 0).any():
            raise source.refuse("a price is negative")
        offset, allowance = np.append(y @ A, np.zeros(blanks)), float(y @ self.b)
        off = (n + 8) * EPS * float((y @ np.abs(A)).sum() + y @ np.abs(self.b))
        rational = None
        if exact:
            whole, unit = as_integers(np.column_stack([A, self.b]))
            v, own = as_integers(y)
            parts = [Fraction(x, unit * own) for x in (v @ whole).tolist()]
            rational = [*parts[:-1], *[Fraction(0)] * blanks], parts[-1]
        return state and state._replace(prices=Prices(offset, allowance, off, rational))
