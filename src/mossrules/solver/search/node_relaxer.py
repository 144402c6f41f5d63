"""Relaxing nodes of the logistic loss, on squared problems that touch it.

At any weights a squared problem touches the logistic one (see `quadratic_model`). The kernels take
a few steps on it, the loss is found anew where they end, and the bound that the kernels compute at
that point, of the problem that touches there, is one of the logistic loss: whatever the curvature.
One or two such rounds are enough, each a pass over the patterns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.solver.bounds.duality import DualPoint
from mossrules.solver.kernels.incumbents import cutoff_of
from mossrules.solver.kernels.relaxation import ascend, first_multipliers, lower_and_upper
from mossrules.solver.kernels.state import (
    FREE,
    IN,
    Data,
    Node,
    NodeWorkspace,
    Precedence,
    make_search,
)
from mossrules.solver.problems.logistic import LogisticProblem
from mossrules.solver.problems.quadratic_model import QuadraticModel
from mossrules.solver.search.instance import Instance

__all__ = ["NodeRelaxer", "NodeState", "RelaxedNode"]

ROOT_ROUNDS, ROOT_STEPS = 12, 20
ROUNDS, STEPS = 3, 4  # of a node: points of touching, and steps of the ascent at each
ENOUGH = 0.03  # of what is missing to the cutoff: a smaller gain is not worth another round


class NodeState(NamedTuple):
    """A node being relaxed, K and E; the kernels change the node in place."""

    node: Node
    rules_left: float
    stability_left: float

    def copy(self) -> NodeState:
        """Return a state that kernels may change without changing this one."""
        return self._replace(node=Node(*(each.copy() for each in self.node)))

    def bounds(self, data: Data) -> tuple[float, float]:
        """Return the bound proven at these weights and multipliers, and what it is below."""
        lam, mu = self.node.multipliers
        centre = self.stability_left / self.rules_left
        lower, upper = lower_and_upper(
            data, self.node, self.rules_left, centre, lam - mu * centre, mu
        )
        return float(lower), float(upper)


@dataclass(frozen=True, eq=False)
class RelaxedNode:
    """A point at which a node was relaxed, and the bound that it proves."""

    lower: float
    node: Node
    data: Data  # of the squared problem that touches there


class NodeRelaxer:
    """All that relaxing nodes needs of a problem: columns, curvature and arrays to work in."""

    def __init__(
        self,
        model: QuadraticModel,
        rules: IntArray,
        w: FloatArray,
        prices: FloatArray | None,
        *,
        lists_all: bool = False,
    ) -> None:
        squared = model.squared_problem(model.point(w))
        self.instance = instance = Instance.of(squared, prices)
        self.own = instance.rules  # positions in the model's problem; the last is the intercept
        self.rules = rules[self.own[:-1]]  # positions in the user's problem
        self.prices = prices
        self.columns = model.columns.take(instance.rules, instance.flip)
        self.problem, self.data = model.problem, instance.data
        self.decision = instance.decision
        free = instance.by_count[instance.decision[instance.by_count] == FREE]
        # Duplicates that count differently in constraints are none, and a list has all of them.
        apart = lists_all or model.problem.constraints is not None
        links = self.columns.duplicates(free[:0] if apart else free)
        self.precedence = Precedence(instance.by_count, *links)
        self.w = instance.flip * w[instance.rules]
        self.search = make_search(squared.size, squared.min_stability, self.precedence)

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

    def relax_root(self) -> RelaxedNode:
        """Relax the root, from the weights that the problem was set up at."""
        w = self.w.copy()
        data, r = self.touching(w)
        state = NodeState(Node(self.decision, w, r, np.zeros(2)), *self.left(self.decision))
        state.node.multipliers[:] = first_multipliers(data, *state)
        workspace = self.search.workspace.node
        return self.relax(data, state, workspace, rounds=ROOT_ROUNDS, steps=ROOT_STEPS)

    def relax(
        self,
        data: Data,
        state: NodeState,
        workspace: NodeWorkspace,
        *,
        rounds: int = ROUNDS,
        steps: int = STEPS,
    ) -> RelaxedNode:
        """Raise the bound of a node on the squared problems that touch along the way."""
        cutoff = float(cutoff_of(self.search.bounds))
        best: RelaxedNode | None = None
        # The best point is kept, not the last: a step on a model that fits badly may end lower.
        for _ in range(rounds):
            ascend(data, *state, cutoff, steps, workspace)
            node = state.node
            data, r = self.touching(node.w)
            state = state._replace(node=node._replace(r=r))
            lower, upper = state.bounds(data)
            if best is None or lower > best.lower:
                here = Node(node.decision, node.w.copy(), r.copy(), node.multipliers.copy())
                best = RelaxedNode(lower, here, data)
            if lower >= cutoff or upper - lower < ENOUGH * (cutoff - lower):
                break
        assert best is not None  # noqa: S101  there is one round at least
        return best

    def dual_point(self, relaxed: RelaxedNode, problem: LogisticProblem) -> DualPoint:
        """Return what proves the bound of a root in the problem's positions, by the plain formula.

        `problem` is that of the user, of which this relaxes a part.
        """
        w = np.zeros(problem.m)
        w[self.rules] = (self.instance.flip * relaxed.node.w)[:-1]
        lam, mu = np.maximum(0.0, relaxed.node.multipliers)
        if problem.constraints is not None:  # they may have decided too, which no one can check
            return DualPoint.at(problem, w, lam, mu, prices=self.prices)
        decided = np.zeros(problem.m, dtype=bool)  # by the floor, not by the problem's fixings
        decided[problem.free] = True
        inside = self.rules[(self.decision[:-1] == IN) & decided[self.rules]]
        decided[self.rules] = False
        return DualPoint.at(problem, w, lam, mu, fixed_in=inside, fixed_out=np.flatnonzero(decided))
