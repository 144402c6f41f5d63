"""Branch and bound for the logistic loss, by the kernels of the squared one.

A node is relaxed by a `NodeRelaxer`, on squared problems that touch the logistic one. Which rule to
branch on is tried out on the problem that touches at the node's own weights alone.

Rules that the floor or the root decide are left out, and patterns that differ in nothing else
become one: what is left of tens of thousands of rows often is some hundreds of patterns.

The loop is in Python, and not compiled as that of the squared loss is: a node costs milliseconds
here, of which the loop is next to nothing, and compiling it would take half a minute more.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import NamedTuple

import numpy as np

from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.solver.bounds.duality import DualPoint
from mossrules.solver.kernels.fixing import fix_by_bound, fix_by_conditions, put_in, put_out
from mossrules.solver.kernels.incumbents import margin_of, relaxed_selection, try_rounding
from mossrules.solver.kernels.relaxation import residual_of
from mossrules.solver.kernels.search import choose_rule, drop_weights, learn
from mossrules.solver.kernels.state import IN, OUT, Data, Node, NodeWorkspace, make_node_workspace
from mossrules.solver.options import Clock, Options
from mossrules.solver.problems.logistic import LogisticProblem
from mossrules.solver.problems.quadratic_model import QuadraticModel
from mossrules.solver.result import Outcome, Status
from mossrules.solver.search.instance import logistic_selection
from mossrules.solver.search.node_relaxer import NodeRelaxer, NodeState, RelaxedNode
from mossrules.solver.search.state import Floor, SearchState, TreeSearch

__all__ = ["LogisticTree", "solve_logistic_by_branch_and_bound"]

POLISH = 64  # nodes after which a relaxed selection is improved by exchanges whatever its loss


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
    floor = Floor(problem.min_stability, known=bound)
    return LogisticTree.of([problem], options, [floor], start).run(clock)


# --- nodes --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Open:
    """An open node: its fixings, where its next relaxation starts, and what touches there."""

    bound: float
    proven: float  # by the multipliers, and so at most the bound; rises by mu with the floor
    node: Node
    q: FloatArray
    half_yy: float
    stale: bool = False  # relaxed at a lower floor


class _Child(NamedTuple):
    """A child to be relaxed: whether its rule is in, and None where nothing is left below."""

    up: bool
    state: NodeState | None
    workspace: NodeWorkspace  # a thread's own


# --- the search ---------------------------------------------------------------------------------


class LogisticTree(TreeSearch):
    """A tree of nodes, least bound first, for a problem with constraints on rules at most.

    It is that problem at several floors, the lowest first. With constraints there is one floor, and
    the problem must be padded; at their `prices`, bounds heed them.
    """

    quiet_seconds = 0.25  # a step is one node

    def __init__(
        self,
        problems: Sequence[LogisticProblem],
        state: SearchState,
        start: IntArray | None = None,
        prices: FloatArray | None = None,
    ) -> None:
        self.problems, self.state, self.start, self.prices = problems, state, start, prices
        # Fitting a selection takes as long as a node: once is enough.
        self.losses: dict[bytes, float] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._plant()

    @classmethod
    def of(
        cls,
        problems: Sequence[LogisticProblem],
        options: Options,
        floors: Sequence[Floor],
        start: IntArray | None = None,
        prices: FloatArray | None = None,
    ) -> LogisticTree:
        """Return the tree of a problem at some floors, of which something may be known."""
        state = SearchState(options, problems[0].margin, floors)
        return cls(problems, state, start, prices)

    @property
    def problem(self) -> LogisticProblem:
        """The problem at the floor being searched."""
        return self.problems[self.state.at]

    # --- the root -------------------------------------------------------------------------------

    @property
    def _is_planted(self) -> bool:
        return self._has_root

    def _plant(self) -> None:
        """Forget all nodes; the root is relaxed when the search begins, which may take long."""
        self.planted_at, self._nodes_at_planting = self.state.at, 0
        self.state.dropped = np.inf
        self.open: list[tuple[float, int, _Open]] = []
        self.number = count()  # of nodes, so that equal bounds have an order
        self.current = 0.0  # bound of the node at hand
        self.root_bound = 0.0
        self.n_relaxed = 0
        self.relaxer: NodeRelaxer | None = None
        self.dual: DualPoint | None = None
        self._has_root = False

    def _begin(self) -> Status | None:
        if self.relaxer is None:
            self.prepare()
        return None if self._has_root else self._grow_root()

    def prepare(self) -> NodeRelaxer:
        """Leave out what the floor decides, find a good selection, and set up the root there."""
        known = self.state.best
        start = known.support if self.start is None and np.isfinite(known.loss) else self.start
        best, model, rules = logistic_selection(self.problem, start)
        self._take(rules[best.support], best.loss)
        w = model.weights(best.support)
        self.is_cheap = model.is_cheap  # whether another curvature takes next to no time
        return self._set_up(model, rules, w)

    def _set_up(self, model: QuadraticModel, rules: IntArray, w: FloatArray) -> NodeRelaxer:
        lists_all = self.state.lists_all
        self.relaxer = NodeRelaxer(model, rules, w, self.prices, lists_all=lists_all)
        self._second_workspace = make_node_workspace(len(self.relaxer.w))  # of the other thread
        self.state.tell_kernels(self.relaxer.search.bounds)
        return self.relaxer

    def _grow_root(self) -> Status | None:
        """Relax the root, leave out what it decides, and make it the first open node.

        Where the curvature at the incumbent would take long, the root is relaxed with that of no
        weights first, and again when fewer rules are left.
        """
        for again in (not self.is_cheap, False):
            relaxer = self.prepared
            if relaxer.left(relaxer.decision)[0] == 0.0:
                self._leaf(relaxer.decision)
                self.current = np.inf
                return Status.OPTIMAL
            relaxed = self.relax_root()
            if relaxed.lower >= self.state.cutoff or self.state.known >= self.state.cutoff:
                self.state.drop(relaxed.lower)
                self.current = np.inf
                return Status.OPTIMAL
            if not self._leave_out(relaxed):
                self.current = np.inf
                return Status.OPTIMAL
            if not again or self.state.clock.left() <= 0.0:
                break
        relaxer = self.prepared
        data, _ = relaxer.touching(relaxer.w)
        node = Node(relaxer.decision, relaxer.w, np.empty(0), relaxed.node.multipliers)
        self._push(_Open(self.root_bound, relaxed.lower, node, data.q, data.half_yy))
        self.current, self._has_root = np.inf, True
        return None

    @property
    def prepared(self) -> NodeRelaxer:
        """What relaxes nodes, once the root is set up."""
        assert self.relaxer is not None  # noqa: S101  tells mypy what `_begin` has seen to
        return self.relaxer

    def relax_root(self) -> RelaxedNode:
        """Relax the root, and round it."""
        relaxed = self.prepared.relax_root()
        self.root_bound = self.current = max(self.root_bound, relaxed.lower)
        if self.dual is None:  # by floor and fixings alone; later roots rest on the cutoff too
            self.dual = self.prepared.dual_point(relaxed, self.problem)
        self._round(relaxed, polish=True)
        return relaxed

    def _leave_out(self, relaxed: RelaxedNode) -> bool:
        """Go on with the rules that the root does not decide; False when nothing is left."""
        relaxer = self.prepared
        left = relaxer.left(relaxer.decision)
        decision = relaxer.decision.copy()
        node = relaxed.node._replace(decision=decision)
        possible, rules_left, stability_left, fixed = fix_by_bound(
            relaxer.data, relaxer.precedence, node, *left, self._margin(relaxed, relaxed.lower)
        )
        if fixed:
            self.state.drop(self.state.cutoff)
        if possible:
            possible, _, _ = fix_by_conditions(
                relaxer.data, relaxer.precedence, decision, rules_left, stability_left
            )
        if not possible:
            return False
        kept = decision[:-1] != OUT
        inside = relaxer.own[:-1][decision[:-1] == IN]
        here = relaxer.problem.reduced(relaxer.own[:-1][kept], inside)
        w = (relaxer.instance.flip * relaxed.node.w)[np.append(kept, True)]
        rules = relaxer.rules[kept]
        if len(inside) == here.size:
            self._offer(rules)
            return False
        self._set_up(QuadraticModel.of(here, w), rules, w)
        return True

    # --- nodes ----------------------------------------------------------------------------------

    def _margin(self, relaxed: RelaxedNode, bound: float) -> float:
        """Return how far below the cutoff a relaxed node is, at the worst floor that needs it."""
        bounds, mu = self.prepared.search.bounds, relaxed.node.multipliers[1]
        return float(margin_of(bounds, self.state.above, bound, relaxed.lower, mu))

    def _raise_floor(self, by: float) -> None:
        relaxer = self.prepared
        eps = float(self.state.floor.min_stability)
        relaxer.search = relaxer.search._replace(eps=eps)
        self.state.tell_kernels(relaxer.search.bounds)
        self.n_relaxed, carried, self.open = 0, self.open, []
        for _, _, node in carried:
            mu = float(node.node.multipliers[1])
            proven = node.proven + by * mu
            bound = max(node.bound, proven)
            bounds = relaxer.search.bounds
            if margin_of(bounds, self.state.above, bound, proven, mu) > -np.inf:
                self._push(replace(node, bound=bound, proven=proven, stale=True))
            else:
                self.state.drop(bound)
        if self.dual is not None:  # the same weights and multipliers, at the higher floor
            d, w = self.dual, np.zeros(self.problem.m)
            w[d.rules] = d.weights
            self.dual = DualPoint.at(
                self.problem, w, d.lam, d.mu, fixed_in=d.fixed_in, fixed_out=d.fixed_out
            )
            self.root_bound = max(self.root_bound, self.dual.bound)

    def _loop(self) -> Status:
        # Kernels and NumPy release the interpreter where a node is relaxed. Both children of a node
        # are relaxed at once then, to the cutoff before either: what is found does not depend on
        # which thread is the faster.
        several = self.state.options.threads > 1
        with ThreadPoolExecutor(2) if several else nullcontext() as self._pool:
            return super()._loop()

    def _step(self) -> Status | None:
        if self._is_outgrown:
            self._plant_anew()
            return self._begin()
        self.current, _, node = heapq.heappop(self.open)
        if node.stale:
            self._relax_anew(node)
        else:
            self._expand(node)
        self.current = np.inf
        return None

    def _has_work(self) -> bool:
        return super()._has_work() and self.open[0][0] < self.state.cutoff

    def _started(self, open_node: _Open) -> Data:
        """Put a node into the search that kernels see; return the problem that touches there."""
        relaxer, start = self.prepared, open_node.node
        data = relaxer.data._replace(q=open_node.q, half_yy=open_node.half_yy)
        node = relaxer.search.node
        node.decision[:], node.w[:] = start.decision, start.w
        node.multipliers[:] = start.multipliers
        residual_of(data, node.w, node.r)
        return data

    def _relax_anew(self, stale: _Open) -> None:
        """Relax a node at this floor that was relaxed at a lower one, before it is branched on."""
        relaxer = self.prepared
        s, data = relaxer.search, self._started(stale)
        self.n_relaxed += 1
        left = relaxer.left(stale.node.decision)
        state = self._settled(NodeState(s.node, *left).copy())
        child, relaxed = self._relax_child(data, _Child(False, state, s.workspace.node))
        if child.state is not None and relaxed is not None:
            self._judge(relaxed, stale.bound, child.state)

    def _expand(self, parent: _Open) -> None:
        """Choose a rule, and relax the children with it in and out."""
        relaxer = self.prepared
        s = relaxer.search
        data = self._started(parent)
        left = relaxer.left(parent.node.decision)
        relaxed_selection(data, s.node, s.workspace.z)
        rule = choose_rule(data, s, parent.bound, *left)
        self._look_at_improvement()
        z = float(s.workspace.z[rule])
        children = self._children(NodeState(s.node, *left).copy(), rule, z)
        # Without threads `map` is lazy: the second child has the cutoff that the first one leaves.
        each = map if self._pool is None else self._pool.map
        for child, relaxed in each(partial(self._relax_child, data), children):
            reached = np.inf
            if child.state is not None and relaxed is not None:
                reached = self._judge(relaxed, parent.bound, child.state)
            learn(s.past, rule, z, child.up, reached - parent.bound)

    def _children(self, parent: NodeState, rule: int, z: float) -> Iterator[_Child]:
        """Yield the children with a rule in and out, the likelier first."""
        workspaces = (self.prepared.search.workspace.node, self._second_workspace)
        for up, workspace in zip((z >= 0.5, z < 0.5), workspaces, strict=True):
            self.n_relaxed += 1
            yield _Child(up, self._fixed(parent.copy(), rule, up), workspace)

    def _relax_child(self, data: Data, child: _Child) -> tuple[_Child, RelaxedNode | None]:
        """Return a child with the point at which it is relaxed; run in a thread of its own."""
        if child.state is None:
            return child, None
        drop_weights(data, child.state.node)
        return child, self.prepared.relax(data, child.state, child.workspace)

    def _fixed(self, state: NodeState, rule: int, up: bool) -> NodeState | None:
        """Fix one rule, and what follows from it; None where nothing is left below."""
        relaxer, decision = self.prepared, state.node.decision
        if not up:
            return self._settled(state) if put_out(relaxer.precedence, decision, rule) else None
        possible, K, E = put_in(relaxer.data.counts, relaxer.precedence, decision, rule, *state[1:])
        return self._settled(NodeState(state.node, K, E)) if possible else None

    def _settled(self, state: NodeState) -> NodeState | None:
        """Fix what floor and size decide; None where nothing is left, or one selection only."""
        relaxer = self.prepared
        possible, K, E = fix_by_conditions(
            relaxer.data, relaxer.precedence, state.node.decision, *state[1:]
        )
        if possible and K == 0.0:
            self._leaf(state.node.decision)
        return NodeState(state.node, K, E) if possible and K > 0.0 else None

    def _judge(self, relaxed: RelaxedNode, known: float, state: NodeState) -> float:
        """Round a relaxed node and keep it if it is of use; return its bound."""
        bound = max(relaxed.lower, known)
        if bound < self.state.cutoff and not self.state.lists_all:
            self._round(relaxed, polish=self.n_relaxed % POLISH == 0)
        margin = self._margin(relaxed, bound)
        if margin > -np.inf:
            self._keep(relaxed, bound, margin, state)
        else:
            self.state.drop(bound)
        return bound

    def _keep(self, relaxed: RelaxedNode, bound: float, margin: float, state: NodeState) -> None:
        """Fix what the bound decides and store the node."""
        data, node = relaxed.data, relaxed.node
        possible, rules_left, stability_left, fixed = fix_by_bound(
            data, self.prepared.precedence, node, *state[1:], margin
        )
        if fixed:  # what was fixed rests on the cutoff
            self.state.drop(self.state.cutoff)
            left = NodeState(node, rules_left, stability_left)
            if not possible or self._settled(left) is None:
                return
            node.w[node.decision == OUT] = 0.0
        self._push(_Open(bound, relaxed.lower, node, data.q, data.half_yy))

    def _push(self, node: _Open) -> None:
        heapq.heappush(self.open, (node.bound, next(self.number), node))

    # --- selections -----------------------------------------------------------------------------

    def _leaf(self, decision: AnyArray) -> None:
        """Evaluate the only selection left, the rules fixed in."""
        self.state.drop(self._offer(self.prepared.rules[decision[:-1] == IN]))

    def _round(self, relaxed: RelaxedNode, *, polish: bool) -> None:
        """Round a relaxed node to a selection."""
        relaxer, node = self.prepared, relaxed.node
        s = relaxer.search
        relaxed_selection(relaxed.data, node, s.workspace.z)
        try_rounding(relaxed.data, s, node.decision, relaxer.decision, polish)
        if polish:
            s.selections.best[:] = s.workspace.chosen
            s.counters.improved = 1
        self._look_at_improvement()

    def _look_at_improvement(self) -> None:
        """Fit what the kernels take for an improvement on the touching problem."""
        relaxer = self.prepared
        s = relaxer.search
        if s.counters.improved:
            s.counters.improved = 0
            chosen = np.sort(s.selections.best)[:-1]  # the last is the intercept
            self._offer(relaxer.rules[chosen])
        self.state.tell_kernels(s.bounds)

    def _offer(self, support: IntArray) -> float:
        """Return the loss of a selection, and take it over where it is the best."""
        support = np.sort(support)
        key = support.tobytes()
        if key not in self.losses:
            self.losses[key] = self._loss(support)
            self._take(support, self.losses[key])
            self.state.tell_kernels(self.prepared.search.bounds)
        return self.losses[key]

    def _loss(self, support: IntArray) -> float:
        """Return the loss of a selection; infinity where it is not asked for."""
        broken = self.problem.constraints is not None and not self.problem.is_feasible(support)
        if broken or self.state.lists_all:  # a list computes losses itself
            return np.inf
        relaxer = self.prepared
        return relaxer.problem.loss(relaxer.own[np.searchsorted(relaxer.rules, support)])

    def _take(self, support: IntArray, loss: float) -> None:
        """Take a selection over, at every floor where it is better."""
        if self.state.lists_all:
            self.state.offer_all([support])
        else:
            self.state.offer(support, loss, self.problem.stability(support))

    # --- where it stands ------------------------------------------------------------------------

    @property
    def _n_open(self) -> int:
        return len(self.open)

    @property
    def _least_open(self) -> float:
        return min([self.current, *(entry[0] for entry in self.open[:1])])

    @property
    def nodes(self) -> int:
        """Nodes relaxed so far at this floor."""
        return self.given_up + self.n_relaxed

    def _root_dual(self) -> DualPoint | None:
        return self.dual

    def _counters(self) -> dict[str, float]:
        counters = {
            "nodes": float(self.nodes),
            "open_nodes": float(self._n_open),
            "root_bound": self.root_bound,
            "root_gap": self._root_gap(self.root_bound),
        }
        if self.relaxer is None:  # interrupted before the root
            return counters
        return counters | {
            "rules_left_by_root": float(len(self.relaxer.rules)),
            "patterns_left_by_root": float(self.relaxer.problem.patterns.n_patterns),
        }
