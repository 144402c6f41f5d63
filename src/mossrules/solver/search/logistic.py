"""Branch and bound for the logistic loss, by the kernels of the squared one.

A node is relaxed on the squared problem that touches its parent's weights (see `touching`): the
kernels take a few steps there, the loss is found anew where they end, and the bound at that point
is proven. One or two such rounds are enough, each a pass over the patterns. Which rule to branch on
is tried out on the touching problem alone.

Rules that the floor or the root decide are left out, and patterns that differ in nothing else
become one: what is left of tens of thousands of rows often is some hundreds of patterns.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

import numpy as np

from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.solver.bounds.duality import DualPoint
from mossrules.solver.kernels.branching import choose_rule, drop_weights, learn
from mossrules.solver.kernels.fixing import fix_by_bound, put_in, put_out
from mossrules.solver.kernels.incumbents import cutoff_of, relaxed_selection, try_rounding
from mossrules.solver.kernels.limits import fix_by_conditions
from mossrules.solver.kernels.relaxation import ascend, lower_and_upper, residual_of
from mossrules.solver.kernels.root import first_multipliers
from mossrules.solver.kernels.state import (
    FREE,
    GAP,
    IMPROVED,
    IN,
    LOSS,
    MARGIN,
    OUT,
    Data,
    make_search,
)
from mossrules.solver.options import Clock, Options, Snapshot
from mossrules.solver.problems.logistic import LogisticProblem
from mossrules.solver.problems.quadratic_model import QuadraticModel
from mossrules.solver.result import Outcome, Status
from mossrules.solver.search.heuristics import Incumbent, local_search
from mossrules.solver.search.instance import Instance

__all__ = ["LogisticTree", "solve_logistic_by_branch_and_bound"]

ROUNDING = 1e-9  # of the loss without rules: losses closer than this count as equal
ROOT_ROUNDS, ROOT_STEPS = 12, 20
ROUNDS, STEPS = 3, 4  # of a node: points of touching, and steps of the ascent at each
ENOUGH = 0.03  # of what is missing to the cutoff: a smaller gain is not worth another round
POLISH = 64  # nodes after which a relaxed selection is improved by exchanges whatever its loss
REPORT_SECONDS = 0.25


def solve_logistic_by_branch_and_bound(
    problem: LogisticProblem,
    options: Options,
    *,
    clock: Clock,
    start: IntArray | None = None,
    bound: float = 0.0,
) -> Outcome:
    """Return the best selection found and the bound that the search has proven.

    `start` is a selection to begin with, and `bound` a lower bound that is known to hold.
    """
    tree = LogisticTree(problem, options, clock, known=bound)
    try:
        tree.prepare(start)
        status = tree.run()
    except KeyboardInterrupt:
        if not np.isfinite(tree.best.loss):
            raise
        status = Status.INTERRUPTED
    return Outcome(tree.best.support, tree.bound, status, tree.figures(), tree.dual)


# --- nodes --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Node:
    """Fixings, and where the next relaxation starts: w, multipliers, and what touches there."""

    bound: float
    fate: AnyArray
    w: FloatArray
    multipliers: FloatArray
    q: FloatArray
    half: float


class _State(NamedTuple):
    """A node being relaxed: its fixings, K and E, and what the kernels change in place."""

    fate: AnyArray
    room: float
    floor: float
    w: FloatArray
    r: FloatArray
    multipliers: FloatArray

    def bounds(self, data: Data) -> tuple[float, float]:
        """Return the bound proven at these weights and multipliers, and what it is below."""
        lam, mu = self.multipliers
        centre = self.floor / self.room
        lower, upper = lower_and_upper(
            data, self.fate, self.room, centre, lam - mu * centre, mu, self.w, self.r
        )
        return float(lower), float(upper)


@dataclass(frozen=True, eq=False)
class _Relaxed:
    """A point at which a node was relaxed, and the bound that it proves."""

    lower: float
    w: FloatArray
    r: FloatArray
    multipliers: FloatArray
    data: Data  # of the squared problem that touches there


class _Bench:
    """All that relaxing nodes needs of a problem: columns, curvature and room to work."""

    def __init__(
        self, model: QuadraticModel, rules: IntArray, w: FloatArray, options: Options,
        prices: FloatArray | None,
    ) -> None:  # fmt: skip
        squared = model.squared_problem(model.point(w))
        self.instance = instance = Instance.of(squared, prices)
        self.own = instance.rules  # positions in the model's problem; the last is the intercept
        self.rules = rules[self.own[:-1]]  # positions in the user's problem
        self.columns = model.columns.take(instance.rules, instance.flip)
        self.problem, self.data = model.problem, instance.data
        self.fate = instance.fate
        free = instance.order[instance.fate[instance.order] == FREE]
        # Twins that count differently in limits are none.
        self.twins = self.columns.twins(free if model.problem.constraints is None else free[:0])
        self.w = instance.flip * w[instance.rules]
        self.search = make_search(squared.size, squared.min_stability, instance.order, *self.twins)
        self.search.numbers[[GAP, MARGIN]] = (
            options.gap,
            ROUNDING * model.problem.null_loss,
        )

    def touching(self, w: FloatArray) -> tuple[Data, FloatArray]:
        """Return the squared problem that touches at weights, and r there."""
        point = self.columns.point(w)
        Gw = self.data.G @ w
        half = point.f + float(w @ (point.r + 0.5 * Gw))
        return self.data._replace(q=point.r + Gw, half=half), point.r

    def left(self, fate: AnyArray) -> tuple[float, float]:
        """Return what is still to be had from free rules: K and E."""
        inside = fate == IN
        return (
            float(self.search.k - np.count_nonzero(inside)),
            self.search.eps - float(self.data.counts[inside].sum()),
        )

    def relax(
        self, data: Data, state: _State, *, rounds: int = ROUNDS, steps: int = STEPS
    ) -> _Relaxed:
        """Raise the bound of a node on the squared problems that touch along the way."""
        cutoff = float(cutoff_of(self.search.numbers))
        best: _Relaxed | None = None
        for _ in range(rounds):
            ascend(data, *state, cutoff, steps, self.search.small)
            data, r = self.touching(state.w)
            state = state._replace(r=r)
            lower, upper = state.bounds(data)
            if best is None or lower > best.lower:
                best = _Relaxed(lower, state.w.copy(), r.copy(), state.multipliers.copy(), data)
            if lower >= cutoff or upper - lower < ENOUGH * (cutoff - lower):
                break
        assert best is not None  # noqa: S101  there is one round at least
        return best


# --- the search ---------------------------------------------------------------------------------


@dataclass(eq=False)
class LogisticTree:
    """A tree of nodes, least bound first, for a problem with limits on rules at most.

    With limits, the problem must have blanks; at their `prices`, bounds heed them.
    """

    problem: LogisticProblem
    options: Options
    clock: Clock
    known: float = 0.0  # a bound that holds
    prices: FloatArray | None = None
    best: Incumbent = field(default_factory=lambda: Incumbent(np.empty(0, dtype=np.int64), np.inf))
    open: list[tuple[float, int, _Node]] = field(default_factory=list)
    dropped: float = np.inf  # least bound of what was dropped
    current: float = 0.0  # bound of the node at hand
    root_bound: float = 0.0
    nodes: int = 0
    dual: DualPoint | None = None
    losses: dict[bytes, float] = field(default_factory=dict)  # of selections that were fitted
    reported: float = 0.0
    is_cheap: bool = True  # whether another curvature takes next to no time
    number: Iterator[int] = field(
        default_factory=count
    )  # of nodes, so that equal bounds have an order

    def prepare(self, start: IntArray | None) -> None:
        """Leave out what the floor decides, find a good selection, and set up the root there."""
        rules = self.problem.possible_rules()
        problem = self.problem
        most_stable = None if problem.constraints is None else problem.most_stable_feasible
        here = problem.reduced(rules, problem.fixed_in, most_stable_feasible=most_stable)
        known = None if start is None else np.searchsorted(rules, np.intersect1d(start, rules))
        model = QuadraticModel.of(here)
        found, model = local_search(model, known)
        self.best.offer(rules[found.support], found.loss)
        w = model.weights(found.support)
        self.is_cheap = model.is_cheap
        self._set_up(_Bench(model, rules, w, self.options, self.prices))

    def run(self) -> Status:
        """Relax the root, leave out what it decides, and search below it.

        Where the curvature at the incumbent would take long, the root is relaxed with that of no
        weights first, and again when fewer rules are left.
        """
        for again in (not self.is_cheap, False):
            room, floor = self.bench.left(self.bench.fate)
            if room == 0.0:
                self._leaf(self.bench.fate)
                self.current = np.inf
                return Status.OPTIMAL
            relaxed = self.relax_root(room, floor)
            if relaxed.lower >= self.cutoff or self.known >= self.cutoff:
                self.dropped, self.current = min(self.dropped, relaxed.lower), np.inf
                return Status.OPTIMAL
            if not self._leave_out(relaxed, room, floor):
                self.current = np.inf
                return Status.OPTIMAL
            if not again or self.clock.left() <= 0.0:
                break
        self._push(self._root(relaxed))
        self.current = np.inf
        return self._search()

    def _set_up(self, bench: _Bench) -> None:
        self.bench = bench
        self._tell_loss()

    def relax_root(self, room: float, floor: float) -> _Relaxed:
        """Relax the root, and round it."""
        bench = self.bench
        w = bench.w.copy()
        data, r = bench.touching(w)
        multipliers = np.array(first_multipliers(data, bench.fate, room, floor, r))
        state = _State(bench.fate, room, floor, w, r, multipliers)
        relaxed = bench.relax(data, state, rounds=ROOT_ROUNDS, steps=ROOT_STEPS)
        self.root_bound = self.current = max(self.root_bound, relaxed.lower)
        if self.dual is None:  # by floor and fixings alone; later roots rest on the cutoff too
            self.dual = self._dual_point(relaxed)
        self._round(relaxed, bench.fate, polish=True)
        return relaxed

    def _dual_point(self, relaxed: _Relaxed) -> DualPoint:
        """Return what proves the root bound in the problem's positions, by the plain formula."""
        bench, problem = self.bench, self.problem
        w = np.zeros(problem.m)
        w[bench.rules] = (bench.instance.flip * relaxed.w)[:-1]
        decided = np.zeros(problem.m, dtype=bool)  # by the floor, not by the problem's fixings
        decided[problem.free] = True
        inside = bench.rules[(bench.fate[:-1] == IN) & decided[bench.rules]]
        decided[bench.rules] = False
        lam, mu = np.maximum(0.0, relaxed.multipliers)
        if problem.constraints is not None:  # limits may have decided too, which no one can check
            return DualPoint.at(problem, w, lam, mu, prices=self.prices)
        return DualPoint.at(problem, w, lam, mu, fixed_in=inside, fixed_out=np.flatnonzero(decided))

    def _leave_out(self, relaxed: _Relaxed, room: float, floor: float) -> bool:
        """Go on with the rules that the root does not decide; False when nothing is left."""
        bench = self.bench
        fate = bench.fate.copy()
        margin = self.cutoff - relaxed.lower
        possible, room, floor, fixed = fix_by_bound(
            bench.data, fate, *bench.twins, room, floor, *relaxed.multipliers, relaxed.r, margin
        )
        if fixed:
            self.dropped = min(self.dropped, self.cutoff)
        if possible:
            possible, room, floor = fix_by_conditions(
                bench.data, bench.search.order, fate, *bench.twins, room, floor
            )
        if not possible:
            return False
        kept = fate[:-1] != OUT
        inside = bench.own[:-1][fate[:-1] == IN]
        here = bench.problem.reduced(bench.own[:-1][kept], inside)
        w = (bench.instance.flip * relaxed.w)[np.append(kept, True)]
        rules = bench.rules[kept]
        if len(inside) == here.size:
            self._offer(rules)
            return False
        self._set_up(_Bench(QuadraticModel.of(here, w), rules, w, self.options, self.prices))
        return True

    def _root(self, relaxed: _Relaxed) -> _Node:
        """Return the root of the tree, at the weights that it was relaxed to."""
        bench = self.bench
        data, _ = bench.touching(bench.w)
        bound, multipliers = self.root_bound, relaxed.multipliers
        return _Node(bound, bench.fate, bench.w, multipliers, data.q, data.half)

    def _search(self) -> Status:
        while self.open and self.open[0][0] < self.cutoff and self.known < self.cutoff:
            if self.clock.left() <= 0.0:
                return Status.TIME_LIMIT
            if self._out_of_nodes():
                return Status.NODE_LIMIT
            self.current, _, node = heapq.heappop(self.open)
            self._expand(node)
            self.current = np.inf
            self._report()
        return Status.OPTIMAL

    def _out_of_nodes(self) -> bool:
        limit = self.options.node_limit
        over = limit is not None and self.nodes >= limit
        return over or len(self.open) > self.options.open_nodes

    def _expand(self, node: _Node) -> None:
        """Choose a rule, and relax the children with it in and out."""
        bench, s = self.bench, self.bench.search
        data = bench.data._replace(q=node.q, half=node.half)
        s.fate[:], s.w[:], s.multipliers[:] = node.fate, node.w, node.multipliers
        residual_of(data, s.w, s.r)
        room, floor = bench.left(node.fate)
        relaxed_selection(data, s.fate, s.multipliers, s.w, s.z)
        rule = choose_rule(data, s, node.bound, room, floor)
        self._look_at_improvement()
        z, r = float(s.z[rule]), s.r.copy()
        for up in (z >= 0.5, z < 0.5):
            self.nodes += 1
            start = (node.w.copy(), r.copy(), node.multipliers.copy())
            child = self._fixed(_State(node.fate.copy(), room, floor, *start), rule, up)
            reached = np.inf if child is None else self._child(data, node.bound, child)
            learn(s.past, rule, z, up, reached - node.bound)

    def _fixed(self, state: _State, rule: int, up: bool) -> _State | None:
        """Fix one rule, and what follows from it; None where nothing is left below."""
        s, data, fate = self.bench.search, self.bench.data, state.fate
        room, floor = state.room, state.floor
        if up:
            possible, room, floor = put_in(data.counts, fate, s.before, rule, room, floor)
        else:
            possible = put_out(fate, s.after, rule)
        return self._settled(state._replace(room=room, floor=floor)) if possible else None

    def _settled(self, state: _State) -> _State | None:
        """Fix what floor and size decide; None where nothing is left, or one selection only."""
        s = self.bench.search
        possible, room, floor = fix_by_conditions(
            self.bench.data, s.order, state.fate, s.before, s.after, state.room, state.floor
        )
        if possible and room == 0.0:
            self._leaf(state.fate)
        return state._replace(room=room, floor=floor) if possible and room > 0.0 else None

    def _child(self, data: Data, known: float, state: _State) -> float:
        """Relax one child and keep it if it is of use; return its bound."""
        drop_weights(data, state.fate, state.w, state.r)
        relaxed = self.bench.relax(data, state)
        bound = max(relaxed.lower, known)
        if bound < self.cutoff:
            self._round(relaxed, state.fate, polish=self.nodes % POLISH == 0)
        if bound >= self.cutoff:
            self.dropped = min(self.dropped, bound)
        else:
            self._keep(relaxed, bound, state)
        return bound

    def _keep(self, relaxed: _Relaxed, bound: float, state: _State) -> None:
        """Fix what the bound decides and store the child."""
        s, data, fate = self.bench.search, relaxed.data, state.fate
        possible, room, floor, fixed = fix_by_bound(
            data, fate, s.before, s.after, state.room, state.floor, *relaxed.multipliers,
            relaxed.r, self.cutoff - relaxed.lower,
        )  # fmt: skip
        if fixed:  # what was fixed rests on the cutoff
            self.dropped = min(self.dropped, self.cutoff)
            left = state._replace(room=room, floor=floor)
            if not possible or self._settled(left) is None:
                return
            relaxed.w[fate == OUT] = 0.0
        self._push(_Node(bound, fate, relaxed.w, relaxed.multipliers, data.q, data.half))

    def _push(self, node: _Node) -> None:
        heapq.heappush(self.open, (node.bound, next(self.number), node))

    # --- selections -----------------------------------------------------------------------------

    def _leaf(self, fate: AnyArray) -> None:
        """Evaluate the only selection left, the rules fixed in."""
        self.dropped = min(self.dropped, self._offer(self.bench.rules[fate[:-1] == IN]))

    def _round(self, relaxed: _Relaxed, fate: AnyArray, *, polish: bool) -> None:
        """Round a relaxed node to a selection."""
        s = self.bench.search
        relaxed_selection(relaxed.data, fate, relaxed.multipliers, relaxed.w, s.z)
        try_rounding(relaxed.data, s, fate, self.bench.fate, polish)
        if polish:
            s.incumbent[:] = s.chosen
            s.tally[IMPROVED] = 1
        self._look_at_improvement()

    def _look_at_improvement(self) -> None:
        """Fit what the kernels take for an improvement on the touching problem."""
        s = self.bench.search
        if s.tally[IMPROVED]:
            s.tally[IMPROVED] = 0
            chosen = np.sort(s.incumbent)[:-1]  # the last is the intercept
            self._offer(self.bench.rules[chosen])
        self._tell_loss()

    def _offer(self, support: IntArray) -> float:
        """Return the loss of a selection, and keep it if it is the best."""
        key = np.sort(support).tobytes()
        if key not in self.losses:
            here = np.searchsorted(self.bench.rules, np.sort(support))
            own = self.bench.own[here]
            keeps = self.problem.constraints is None or self.problem.is_feasible(support)
            self.losses[key] = self.bench.problem.loss(own) if keeps else np.inf
            self.best.offer(support, self.losses[key])
            self._tell_loss()
        return self.losses[key]

    def _tell_loss(self) -> None:
        self.bench.search.numbers[LOSS] = self.best.loss

    # --- where it stands ------------------------------------------------------------------------

    @property
    def cutoff(self) -> float:
        """The bound from which a node is of no use."""
        margin = ROUNDING * self.problem.null_loss
        return self.best.loss - max(self.options.gap * self.best.loss, margin)

    @property
    def bound(self) -> float:
        """No selection has a smaller loss than this."""
        least = min(self.dropped, self.current, *(entry[0] for entry in self.open[:1]), np.inf)
        return min(self.best.loss, max(self.known, least))

    def _report(self) -> None:
        now = time.perf_counter()
        if self.options.progress is not None and now - self.reported > REPORT_SECONDS:
            self.reported = now
            self.options.progress(
                Snapshot(self.clock.elapsed(), self.nodes, self.best.loss, self.bound)
            )

    def figures(self) -> dict[str, float]:
        """Return counts of what was done."""
        loss = self.best.loss
        return {
            "nodes": float(self.nodes),
            "open_nodes": float(len(self.open)),
            "root_bound": self.root_bound,
            "root_gap": (loss - min(loss, self.root_bound)) / loss if loss > 0 else 0.0,
            "rules_left_by_root": float(len(self.bench.rules)),
            "patterns_left_by_root": float(self.bench.problem.patterns.n_patterns),
        }
