"""Check a proof that no allowed rule set has a loss below a bound.

With `reading`, `losses` and `limits` this is all that a proof needs to be checked: they import
nothing but NumPy and each other, nothing of the solver. What is checked here, and why that is a
proof, is in docs/proofs.md, whose letters these modules have; others can be written from that page
alone.

A file states a problem and proves one or more claims about it, each by a tree. At a node some rules
are in, some are out, and the rest are free. A node is closed when nothing is left below it, or when
a dual point (weights w, prices lambda and mu) gives a lower bound of at least the claim. Nothing
that the file says of a node is believed: which rules are in or out is derived here.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from mossrules.solver.proofs.limits import FREE, IN, OUT, Limits, Prices, State
from mossrules.solver.proofs.losses import EPS, Squared
from mossrules.solver.proofs.reading import (
    MAGIC,
    Array,
    ProofRefused,
    Source,
    check_claim,
    check_header,
)

__all__ = ["Claim", "Proof", "check_proof"]

LARGEST = 1e300  # that is said of a bound: a rational number may be too large for a float
LEAF, STEP, BRANCH, EMPTY, PRICES, GROUP = 1, 2, 3, 4, 5, 6


@dataclass(frozen=True)
class Claim:
    """One claim that was proven: no rule set with this floor has a loss below `bound`.

    See Also
    --------
    mossrules.solver.check_proof : Returns it, in `claims`.
    """

    min_stability: int  #: the floor that it is about
    bound: float
    records: int  #: of its tree
    support: tuple[int, ...]  #: a rule set that is allowed at this floor
    loss: float  #: at least the loss of that rule set; infinity where none is named

    def __str__(self) -> str:
        gap = f", {(self.loss - self.bound) / self.loss:.3%} below" if self.loss > 0 else ""
        return (
            f"no loss is below {self.bound:.9g} at floor {self.min_stability}{gap} that of a rule "
            f"set of {len(self.support)} rules, {self.loss:.9g} ({self.records:,} records)"
        )


@dataclass(frozen=True)
class Proof:
    """What a file was found to prove.

    See Also
    --------
    mossrules.solver.check_proof : Returns it.
    """

    header: dict[str, Any] = field(repr=False)  #: the problem, as the file states it
    claims: tuple[Claim, ...]  #: in the order of the file
    kept: tuple[int, ...] = field(repr=False)  #: the rules that the file has
    exact: bool  #: whether it was checked in rational arithmetic

    def __str__(self) -> str:
        how = "in rational arithmetic" if self.exact else "with rounding errors subtracted"
        return "\n".join([f"proven ({how}):", *(f"  {claim}" for claim in self.claims)])


def check_proof(path: str | Path, *, exact: bool = False) -> Proof:
    """Check all claims of a file, in floats less their rounding errors or in exact rationals.

    Raises `ProofRefused`, with the record at fault, unless everything is proven.
    """
    try:
        with gzip.open(path, "rb") as stream:
            return _check(Source(stream), exact=exact)
    except (EOFError, OSError, zlib.error) as error:
        raise ProofRefused(f"It cannot be read, is cut off or damaged: {error}.") from None


@np.errstate(all="ignore")
def _check(source: Source, *, exact: bool) -> Proof:
    if source.take(len(MAGIC)) != MAGIC:
        raise source.refuse("it is no proof of this kind")
    header = source.text()
    check_header(source, header)
    m, n = header["rules"], header["kept"]
    counts = source.array("counts", "<i8", (m,), header)
    if not ((counts >= 0) & (counts <= 2**53 // header["max_rules"])).all():
        raise source.refuse("a count is negative or too large")
    kept = source.array("kept", "<u4", (n,), header).astype(np.int64)
    if (np.diff(kept) <= 0).any() or kept[-1] >= m:
        raise source.refuse("its rules are not ascending or not there")
    limits = Limits(source, header, kept)
    loss = Squared(source, header)
    tree, claims = _Tree(source, header, limits, counts, loss), list[Claim]()
    while True:
        source.place = f"claim {len(claims) + 1}"
        mark = source.take(1)
        if mark == b"E" and claims:
            break
        if mark != b"P":
            raise source.refuse("there is neither a claim nor the end")
        claim, before = source.text(), source.records
        check_claim(source, claim, n, m)
        tree.begin(claim)
        loss_of_support = tree.witness(claim)
        tree.check(exact=exact)
        claims.append(
            Claim(
                claim["min_stability"], claim["bound"], source.records - before,
                tuple(claim["support"]), loss_of_support,
            )
        )  # fmt: skip
    source.place = "the end"
    if struct.unpack("<Q", source.take(8))[0] != source.records:
        raise source.refuse("there are not as many records as it says")
    seal = source.seen.digest()
    if source.take(len(seal)) != seal:
        raise source.refuse("the file is not as it was written")
    if source.stream.read(1):
        raise source.refuse("something follows")
    return Proof(header, tuple(claims), tuple(kept.tolist()), exact)


# --- the tree -----------------------------------------------------------------------------------


class _Tree:
    """Checks one claim."""

    def __init__(self, source: Source, header: Any, limits: Any, counts: Any, loss: Any) -> None:
        self.source, self.header, self.limits, self.loss = source, header, limits, loss
        self.all_counts, self.n = counts, header["kept"]
        self.blanks = header["max_rules"] if len(limits.b) else 0
        self.before: dict[int, int] = {}
        self.after: dict[int, int] = {}

    def begin(self, claim: Any) -> None:
        """Take over a claim: what floor and fixings decide, and which rules are duplicates."""
        header, counts, kept = self.header, self.all_counts, self.limits.kept
        m, self.floor, self.claim = header["rules"], claim["min_stability"], claim["bound"]
        inside, outside, approved = np.zeros((3, m), dtype=bool)
        inside[header["fixed_in"]] = outside[header["fixed_out"]] = True
        approved[header["approved"]] = True
        if header["floor"] == "each":
            outside |= (counts < self.floor) & ~inside & ~approved
            self.floor = header["min_approved"]
            counts = approved.astype(np.int64) if self.floor else counts
        possible = m - int(outside.sum()) + self.blanks
        self.size = min(header["max_rules"], possible)
        # The file may leave out rules with which no rule set of this size meets the floor.
        free = ~(inside | outside)
        K, E = self.size - int(inside.sum()), self.floor - int(counts[inside].sum())
        with_it = counts + np.sort(counts[free])[::-1][: max(0, K - 1)].sum()
        left_out = inside | (free & (with_it >= E))
        left_out[kept] = False
        if left_out.any():
            raise self.source.refuse(f"rule {int(np.argmax(left_out))} is left out of the file")
        self.decision = decision = np.full(self.n + self.blanks, FREE, dtype=np.int8)
        decision[: self.n][outside[kept]], decision[: self.n][inside[kept]] = OUT, IN
        self.counts = np.concatenate([counts[kept], np.zeros(self.blanks, dtype=np.int64)])
        self.by_count = np.argsort(-self.counts, kind="stable")
        self._pair(claim["duplicates"], decision)

    def _pair(self, pairs: Any, decision: Array) -> None:
        """Take over which free rule is in before which other one: one that does the same."""
        self.before, self.after, place = {}, {}, {i: n for n, i in enumerate(self.by_count)}
        for i, j in pairs:
            if not (
                0 <= i < self.n and 0 <= j < self.n
                and decision[i] == decision[j] == FREE
                and place[i] < place[j]  # so that no chain bites its tail
                and i not in self.after and j not in self.before
                and self.loss.same(i, j) and self.limits.same(i, j)
            ):  # fmt: skip
                raise self.source.refuse(f"rules {i} and {j} are no duplicates in this order")
            self.after[i], self.before[j] = j, i

    def witness(self, claim: Any) -> float:
        """Return at least the loss of the rule set that a claim names, if it is allowed."""
        decision = self.decision[: self.n]
        places = np.searchsorted(self.limits.kept, claim["support"])
        here = np.append(self.limits.kept, -1)[places] == claim["support"]
        chosen, w = np.zeros(self.n, dtype=bool), np.array(claim["weights"], dtype=np.float64)
        chosen[places[here]] = True
        if not (
            here.all()
            and chosen.sum() <= self.header["max_rules"]
            and not (chosen & (decision == OUT)).any()
            and chosen[decision == IN].all()
            and self.counts[: self.n][chosen].sum() >= self.floor
            and self.limits.kept_by(chosen)
            and (self.loss.signs[places] * w >= 0).all()
        ):
            raise self.source.refuse("the rule set that it names is not allowed")
        return float(self.loss.loss(places, w))

    # --- what follows from what is decided

    def put(self, decision: Array, i: int | None, side: int) -> bool:
        chain = self.before if side == IN else self.after
        while i is not None and decision[i] == FREE:
            decision[i], i = side, chain.get(i)
        return i is None or bool(decision[i] == side)

    def _settle(self, state: State) -> bool:
        """Decide what size, floor and limits decide; False where nothing is left."""
        decision, c = state.decision, self.counts
        while True:
            undecided = int((decision == FREE).sum()) + int((state.groups == FREE).sum())
            inside = decision == IN
            K, E = self.size - int(inside.sum()), self.floor - int(c[inside].sum())
            free = self.by_count[decision[self.by_count] == FREE]
            if K < 0 or len(free) < K:
                return False
            first, others = free[:K], free[K:]
            slack = int(c[first].sum()) - E
            if slack < 0:
                return False
            if K > 0 and len(others):
                out = others[c[others] < c[first[-1]] - slack]
                into = first[c[first] - c[others[0]] > slack]
            else:
                into, out = first, others
            for side, rules in ((IN, into), (OUT, out)):
                if not all(self.put(decision, i, side) for i in rules.tolist()):
                    return False
            if self.blanks and not self.limits.settle(self, state):
                return False
            if undecided == int((decision == FREE).sum()) + int((state.groups == FREE).sum()):
                return True

    # --- bounds

    def bound(self, state: State, lam: float, mu: float, rules: Array, w: Array) -> Any:
        """Return the bound of a dual point, and with each free rule in, and out."""
        constant, gains = self.loss.in_floats(rules, w)
        g = np.append(gains, np.zeros(self.blanks))
        inside, free, o = state.decision == IN, state.decision == FREE, state.prices.offset
        K, E = self.size - int(inside.sum()), self.floor - int(self.counts[inside].sum())
        u = g - (lam - mu * self.counts + o)
        above = np.maximum(0.0, u)
        paid = [constant, lam * K, mu * E, state.prices.allowance]
        paid += [float(above[free].sum()), float(g[inside].sum()), float(o[inside].sum())]
        signs = (1.0, -1.0, 1.0, -1.0, -1.0, -1.0, 1.0)
        size = g + lam + mu * self.counts + np.abs(o)
        off = (len(g) + 16) * EPS * (sum(map(abs, paid)) + float(np.abs(o).sum()))
        off += 8 * EPS * float(size[free | inside].sum()) + state.prices.off
        L = sum(sign * part for sign, part in zip(signs, paid, strict=True)) - off
        size = 8 * EPS * (size + abs(L)) + state.prices.off
        return L, L + np.maximum(0.0, -u) - size, L + above - size

    def bound_exactly(self, state: State, lam: float, mu: float, rules: Array, w: Array) -> Any:
        """Return the same in rational numbers."""
        constant, gains = self.loss.exactly(rules, w)
        g, prices = gains + [Fraction(0)] * self.blanks, (Fraction(lam), Fraction(mu))
        o, allowance = state.prices.exact or ([Fraction(0)] * len(g), Fraction(0))
        u = [a - prices[0] + prices[1] * c - b
             for a, b, c in zip(g, o, self.counts.tolist(), strict=True)]  # fmt: skip
        inside, free = np.flatnonzero(state.decision == IN), state.decision == FREE
        K, E = self.size - len(inside), self.floor - int(self.counts[inside].sum())
        L = constant - prices[0] * K + prices[1] * E - allowance
        L -= sum((g[i] - o[i] for i in inside.tolist()), Fraction(0))
        L -= sum((max(Fraction(0), u[i]) for i in np.flatnonzero(free).tolist()), Fraction(0))
        into = np.array([L + max(0, -x) for x in u], dtype=object)
        return L, into, np.array([L + max(0, x) for x in u], dtype=object)

    # --- the records

    def check(self, *, exact: bool) -> None:
        """Go through the tree: a node, all below it with a rule in, and all below it without."""
        source, self.exact = self.source, exact
        groups = np.full(len(self.limits.in_group), FREE, dtype=np.int8)
        prices = Prices(np.zeros(len(self.decision)), 0.0, 0.0)
        root = State(self.decision.copy(), groups, prices)
        waiting = [root if self._settle(root) else None]
        while waiting:
            state, what, kind = waiting.pop(), "something is left there", STEP
            while kind not in (LEAF, EMPTY):
                source.records += 1
                source.place, kind = f"record {source.records}", source.take(1)[0]
                if kind in (LEAF, STEP):
                    state, L = self._relaxed(state)
                    what = f"its bound is {L!r}"
                elif kind in (BRANCH, GROUP):
                    state, other = self._children(state, kind)
                    waiting.append(other)
                elif kind == PRICES and self.blanks:
                    state = self.limits.priced(source, state, self.blanks, exact=exact)
                elif kind != EMPTY:
                    raise source.refuse(f"there is no kind {kind} here")
                if len(waiting) > 2 * (self.n + len(groups)) + 64:
                    raise source.refuse("the tree is deeper than there are rules")
            if state is not None:
                raise source.refuse(f"{what}, and the claim is {self.claim!r}")

    def _relaxed(self, state: State | None) -> tuple[State | None, float]:
        """Read a dual point; return what it leaves, and its bound."""
        lam, mu, rules, w = self._point()
        if state is None:
            return None, np.inf
        bound = self.bound_exactly if self.exact else self.bound
        L, into, out = bound(state, lam, mu, rules, w)
        said = float(max(-LARGEST, min(L, LARGEST)))
        if self.claim <= L:
            return None, said
        # With a rule that reaches the claim when in, nothing is to be found: it is out.
        state, free = state.copy(), state.decision == FREE
        for side, reached in ((OUT, into), (IN, out)):
            for i in np.flatnonzero(free & (reached >= self.claim)).tolist():
                if not self.put(state.decision, i, side):
                    return None, said
        return state if self._settle(state) else None, said

    def _point(self) -> tuple[float, float, Array, Array]:
        """Read prices and weights."""
        source = self.source
        lam, mu = source.floats(2).tolist()
        if lam < 0 or mu < 0:
            raise source.refuse("a price is negative")
        n = source.number()
        if n > self.loss.n_weights:
            raise source.refuse(f"{n} weights are more than there are rules")
        rules = np.frombuffer(source.take(4 * n), "<u4").astype(np.int64)
        if n and (rules[-1] >= self.loss.n_weights or (np.diff(rules) <= 0).any()):
            raise source.refuse("its rules are not ascending or not there")
        return lam, mu, rules, source.floats(n)

    def _children(self, state: State | None, kind: int) -> tuple[State | None, State | None]:
        """Read what to branch on; return what is left with it in, and without it."""
        place = self.source.number()
        if place >= (self.n if kind == BRANCH else len(self.limits.in_group)):
            raise self.source.refuse(f"there is no rule or group {place}")
        return self._child(state, place, IN, kind), self._child(state, place, OUT, kind)

    def _child(self, state: State | None, i: int, side: int, kind: int) -> State | None:
        if state is None:
            return None
        child = state.copy()
        if kind == BRANCH:
            possible = self.put(child.decision, i, side)
        else:
            possible = child.groups[i] in (FREE, side)
            child.groups[i] = side
        return child if possible and self._settle(child) else None
