"""Nodes of a tree as the kernels see them: the one place where tests build what kernels take."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import assume

from mossrules.solver.kernels.state import (
    FREE,
    IN,
    OUT,
    Data,
    Node,
    Precedence,
    Search,
    make_node,
    make_search,
    no_constraints,
)
from mossrules.solver.problems.squared import Problem
from support.cases import wild_problem


@dataclass(frozen=True, eq=False)
class NodeCase:
    """A problem as kernels see it, and a node with some rules fixed; kernels may change the node.

    K and E are what is to be had from the free rules.
    """

    problem: Problem
    data: Data
    precedence: Precedence
    node: Node
    K: float
    E: float

    @property
    def decision(self):
        """What is decided of each rule."""
        return self.node.decision

    @property
    def free(self):
        """Positions of the rules that are not fixed."""
        return np.flatnonzero(self.decision == FREE)

    @property
    def inside(self):
        """Positions of the rules that are fixed in."""
        return np.flatnonzero(self.decision == IN)

    @property
    def eps(self):
        """The floor of the whole search."""
        return self.E + self.data.counts[self.inside].sum()

    def selections(self):
        """Yield the selections of exactly k rules that keep the fixings and meet the floor."""
        counts = self.data.counts
        for rest in itertools.combinations(self.free.tolist(), int(self.K)):
            if counts[list(rest)].sum() >= self.E:
                yield np.array([*self.inside, *rest], dtype=np.int64)

    def at(self, w, lam=0.0, mu=0.0) -> Node:
        """Return the node at weights and multipliers, with r = q - G w."""
        w = np.array(w, dtype=np.float64)
        r = self.data.q - self.data.G @ w
        return Node(self.decision.copy(), w, r, np.array([lam, mu], dtype=np.float64))

    def search(self, *, eps=None) -> Search:
        """Return a search that has just taken this node, and knows nothing."""
        eps = self.eps if eps is None else eps
        search = make_search(self.problem.size, eps, self.precedence)
        search.node.decision[:] = self.decision
        return search


def plain_order(counts) -> Precedence:
    """Return rules by falling count, of which none are duplicates."""
    by_count = np.argsort(-np.asarray(counts), kind="stable")
    return Precedence(by_count, np.full(len(by_count), -1), np.full(len(by_count), -1))


def data_of(problem: Problem) -> Data:
    """Return all rules of a problem in the form that kernels want."""
    s = problem.statistics
    return Data(
        G=np.ascontiguousarray(s.G),
        q=s.q.copy(),
        counts=s.counts.astype(np.float64),
        gamma=problem.gamma,
        half_yy=0.5 * s.yy,
        signed=False,
        bounded=np.zeros(problem.m, dtype=bool),
        constraints=no_constraints(problem.m),
    )


def random_node(seed: int, **settings) -> NodeCase:
    """Return a problem with some rules fixed at random; it need not have a feasible selection."""
    problem = wild_problem(seed, **{"strongest": 4, **settings})
    problem = replace(problem, fixed_in=(), fixed_out=(), min_stability=0)
    rng = np.random.default_rng([11, seed])
    order = rng.permutation(problem.m)
    n_in = int(rng.integers(0, min(problem.size, 3)))
    n_out = int(rng.integers(0, problem.m - problem.size + 1))
    node = make_node(problem.m)
    node.decision[order[:n_in]], node.decision[order[n_in : n_in + n_out]] = IN, OUT
    share = float(rng.choice([0.0, 0.5, 0.8, 0.95, 1.0, 1.1]))
    kept = replace(problem, fixed_in=order[:n_in], fixed_out=order[n_in : n_in + n_out])
    eps = int(share * kept.max_stability_unlimited)
    data = data_of(problem)
    return NodeCase(
        problem=kept if eps > kept.max_stability_unlimited else kept.at(eps),
        data=data,
        precedence=plain_order(data.counts),
        node=node,
        K=float(kept.size - n_in),
        E=float(eps - data.counts[node.decision == IN].sum()),
    )


def feasible_node(seed: int, **settings) -> NodeCase:
    """Return a random node with something to choose and a feasible selection, for hypothesis."""
    case = random_node(seed, **settings)
    assume(case.K > 0 and next(case.selections(), None) is not None)
    return case
