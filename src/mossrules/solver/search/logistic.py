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
from mossrules.solver.kernels.fixing import fix_by_bound, fix_by_conditions, put_in, put_out
from mossrules.solver.kernels.incumbents import cutoff_of, relaxed_selection, try_rounding
from mossrules.solver.kernels.relaxation import (
    ascend,
    first_multipliers,
    lower_and_upper,
    residual_of,
)
from mossrules.solver.kernels.search import choose_rule, drop_weights, learn
from mossrules.solver.kernels.state import FREE, IN, OUT, Data, Node, Precedence, make_search
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
class _Open:
    """An open node: its fixings, where its next relaxation starts, and what touches there."""

    bound: float
    node: Node
    q: FloatArray
    half_yy: float


class _State(NamedTuple):
    """A node being relaxed, K and E; the kernels change the node in place."""

    node: Node
    rules_left: float
    stability_left: float

    def bounds(self, data: Data) -> tuple[float, float]:
        """Return the bound proven at these weights and multipliers, and what it is below."""
        lam, mu = self.node.multipliers
        centre = self.stability_left / self.rules_left
        lower, upper = lower_and_upper(
            data, self.node, self.rules_left, centre, lam - mu * centre, mu
        )
        return float(lower), float(upper)


@dataclass(frozen=True, eq=False)
class _Relaxed:
    """A point at which a node was relaxed, and the bound that it proves."""

    lower: float
    node: Node
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
        self.decision = instance.decision
        free = instance.by_count[instance.decision[instance.by_count] == FREE]
        # Duplicates that count differently in constraints are none.
        linked = free if model.problem.constraints is None else free[:0]
        self.precedence = Precedence(instance.by_count, *self.columns.twins(linked))
        self.w = instance.flip * w[instance.rules]
        self.search = make_search(squared.size, squared.min_stability, self.precedence)
        self.search.bounds.gap = options.gap
        self.search.bounds.margin = ROUNDING * model.problem.null_loss

    def touching(self, w: FloatArray) -> tuple[Data, FloatArray]:
        """Return the squared problem that touches at weights, and r there."""
        point = self.columns.point(w)
        Gw = self.data.G @ w
        half_yy = point.f + float(w @ (point.r + 0.5 * Gw))
        return self.data._replace(q=point.r + Gw, half_yy=half_yy), point.r

    def left(self, decision: AnyArray) -> tuple[float, float]:
        """Return what is still to be had from free rules: K and E."""
        inside = decision == IN
        return (
            float(self.search.k - np.count_nonzero(inside)),
            self.search.eps - float(self.data.counts[inside].sum()),
        )

    def relax(
        self, data: Data, state: _State, *, rounds: int = ROUNDS, steps: int = STEPS
    ) -> _Relaxed:
        """Raise the bound of a node on the squared problems that touch along the way."""
        cutoff = float(cutoff_of(self.search.bounds))
        best: _Relaxed | None = None
        for _ in range(rounds):
            ascend(data, *state, cutoff, steps, self.search.workspace.node)
            node = state.node
            data, r = self.touching(node.w)
            state = state._replace(node=node._replace(r=r))
            lower, upper = state.bounds(data)
            if best is None or lower > best.lower:
                here = Node(node.decision, node.w.copy(), r.copy(), node.multipliers.copy())
                best = _Relaxed(lower, here, data)
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
    open: list[tuple[float, int, _Open]] = field(default_factory=list)
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
            left = self.bench.left(self.bench.decision)
            if left[0] == 0.0:
                self._leaf(self.bench.decision)
                self.current = np.inf
                return Status.OPTIMAL
            relaxed = self.relax_root(*left)
            if relaxed.lower >= self.cutoff or self.known >= self.cutoff:
                self.dropped, self.current = min(self.dropped, relaxed.lower), np.inf
                return Status.OPTIMAL
            if not self._leave_out(relaxed, *left):
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

    def relax_root(self, rules_left: float, stability_left: float) -> _Relaxed:
        """Relax the root, and round it."""
        bench = self.bench
        w = bench.w.copy()
        data, r = bench.touching(w)
        node = Node(bench.decision, w, r, np.zeros(2))
        node.multipliers[:] = first_multipliers(data, node, rules_left, stability_left)
        state = _State(node, rules_left, stability_left)
        relaxed = bench.relax(data, state, rounds=ROOT_ROUNDS, steps=ROOT_STEPS)
        self.root_bound = self.current = max(self.root_bound, relaxed.lower)
        if self.dual is None:  # by floor and fixings alone; later roots rest on the cutoff too
            self.dual = self._dual_point(relaxed)
        self._round(relaxed, polish=True)
        return relaxed

    def _dual_point(self, relaxed: _Relaxed) -> DualPoint:
        """Return what proves the root bound in the problem's positions, by the plain formula."""
        bench, problem = self.bench, self.problem
        w = np.zeros(problem.m)
        w[bench.rules] = (bench.instance.flip * relaxed.node.w)[:-1]
        decided = np.zeros(problem.m, dtype=bool)  # by the floor, not by the problem's fixings
        decided[problem.free] = True
        inside = bench.rules[(bench.decision[:-1] == IN) & decided[bench.rules]]
        decided[bench.rules] = False
        lam, mu = np.maximum(0.0, relaxed.node.multipliers)
        if problem.constraints is not None:  # limits may have decided too, which no one can check
            return DualPoint.at(problem, w, lam, mu, prices=self.prices)
        return DualPoint.at(problem, w, lam, mu, fixed_in=inside, fixed_out=np.flatnonzero(decided))

    def _leave_out(self, relaxed: _Relaxed, rules_left: float, stability_left: float) -> bool:
        """Go on with the rules that the root does not decide; False when nothing is left."""
        bench = self.bench
        decision = bench.decision.copy()
        node = relaxed.node._replace(decision=decision)
        margin = self.cutoff - relaxed.lower
        possible, rules_left, stability_left, fixed = fix_by_bound(
            bench.data, bench.precedence, node, rules_left, stability_left, margin
        )
        if fixed:
            self.dropped = min(self.dropped, self.cutoff)
        if possible:
            possible, _, _ = fix_by_conditions(
                bench.data, bench.precedence, decision, rules_left, stability_left
            )
        if not possible:
            return False
        kept = decision[:-1] != OUT
        inside = bench.own[:-1][decision[:-1] == IN]
        here = bench.problem.reduced(bench.own[:-1][kept], inside)
        w = (bench.instance.flip * relaxed.node.w)[np.append(kept, True)]
        rules = bench.rules[kept]
        if len(inside) == here.size:
            self._offer(rules)
            return False
        self._set_up(_Bench(QuadraticModel.of(here, w), rules, w, self.options, self.prices))
        return True

    def _root(self, relaxed: _Relaxed) -> _Open:
        """Return the root of the tree, at the weights that it was relaxed to."""
        bench = self.bench
        data, _ = bench.touching(bench.w)
        node = Node(bench.decision, bench.w, np.empty(0), relaxed.node.multipliers)
        return _Open(self.root_bound, node, data.q, data.half_yy)

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

    def _expand(self, parent: _Open) -> None:
        """Choose a rule, and relax the children with it in and out."""
        bench, s, start = self.bench, self.bench.search, parent.node
        node, z = s.node, s.workspace.z
        data = bench.data._replace(q=parent.q, half_yy=parent.half_yy)
        node.decision[:], node.w[:] = start.decision, start.w
        node.multipliers[:] = start.multipliers
        residual_of(data, node.w, node.r)
        left = bench.left(start.decision)
        relaxed_selection(data, node, z)
        rule = choose_rule(data, s, parent.bound, *left)
        self._look_at_improvement()
        z_rule, r = float(z[rule]), node.r.copy()
        for up in (z_rule >= 0.5, z_rule < 0.5):
            self.nodes += 1
            copy = Node(start.decision.copy(), start.w.copy(), r.copy(), start.multipliers.copy())
            child = self._fixed(_State(copy, *left), rule, up)
            reached = np.inf if child is None else self._child(data, parent.bound, child)
            learn(s.past, rule, z_rule, up, reached - parent.bound)

    def _fixed(self, state: _State, rule: int, up: bool) -> _State | None:
        """Fix one rule, and what follows from it; None where nothing is left below."""
        bench, decision = self.bench, state.node.decision
        if not up:
            return self._settled(state) if put_out(bench.precedence, decision, rule) else None
        possible, rules_left, stability_left = put_in(
            bench.data.counts, bench.precedence, decision, rule, *state[1:]
        )
        return self._settled(_State(state.node, rules_left, stability_left)) if possible else None

    def _settled(self, state: _State) -> _State | None:
        """Fix what floor and size decide; None where nothing is left, or one selection only."""
        possible, rules_left, stability_left = fix_by_conditions(
            self.bench.data, self.bench.precedence, state.node.decision, *state[1:]
        )
        if possible and rules_left == 0.0:
            self._leaf(state.node.decision)
        return _State(state.node, rules_left, stability_left) if possible and rules_left else None

    def _child(self, data: Data, known: float, state: _State) -> float:
        """Relax one child and keep it if it is of use; return its bound."""
        drop_weights(data, state.node)
        relaxed = self.bench.relax(data, state)
        bound = max(relaxed.lower, known)
        if bound < self.cutoff:
            self._round(relaxed, polish=self.nodes % POLISH == 0)
        if bound >= self.cutoff:
            self.dropped = min(self.dropped, bound)
        else:
            self._keep(relaxed, bound, state)
        return bound

    def _keep(self, relaxed: _Relaxed, bound: float, state: _State) -> None:
        """Fix what the bound decides and store the child."""
        data, node = relaxed.data, relaxed.node
        possible, rules_left, stability_left, fixed = fix_by_bound(
            data, self.bench.precedence, node, *state[1:], self.cutoff - relaxed.lower
        )
        if fixed:  # what was fixed rests on the cutoff
            self.dropped = min(self.dropped, self.cutoff)
            left = _State(node, rules_left, stability_left)
            if not possible or self._settled(left) is None:
                return
            node.w[node.decision == OUT] = 0.0
        self._push(_Open(bound, node, data.q, data.half_yy))

    def _push(self, node: _Open) -> None:
        heapq.heappush(self.open, (node.bound, next(self.number), node))

    # --- selections -----------------------------------------------------------------------------

    def _leaf(self, decision: AnyArray) -> None:
        """Evaluate the only selection left, the rules fixed in."""
        self.dropped = min(self.dropped, self._offer(self.bench.rules[decision[:-1] == IN]))

    def _round(self, relaxed: _Relaxed, *, polish: bool) -> None:
        """Round a relaxed node to a selection."""
        s, node = self.bench.search, relaxed.node
        relaxed_selection(relaxed.data, node, s.workspace.z)
        try_rounding(relaxed.data, s, node.decision, self.bench.decision, polish)
        if polish:
            s.selections.best[:] = s.workspace.chosen
            s.counters.improved = 1
        self._look_at_improvement()

    def _look_at_improvement(self) -> None:
        """Fit what the kernels take for an improvement on the touching problem."""
        s = self.bench.search
        if s.counters.improved:
            s.counters.improved = 0
            chosen = np.sort(s.selections.best)[:-1]  # the last is the intercept
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
        self.bench.search.bounds.loss = self.best.loss

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
