"""Branch and bound under limits `A z <= b` for the logistic loss: groups as in `limited`."""

from __future__ import annotations

import numpy as np

from mossrules._typing import IntArray
from mossrules.exceptions import InfeasibleProblem
from mossrules.solver.bounds.duality import DualPoint
from mossrules.solver.options import Clock, Options
from mossrules.solver.problems.logistic import LogisticProblem
from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.result import Outcome, Status
from mossrules.solver.search.group_branching import LimitedSearch, Relaxation, run_limited
from mossrules.solver.search.instance import has_selection
from mossrules.solver.search.logistic import LogisticTree

__all__ = ["solve_logistic_limited"]


def solve_logistic_limited(
    problem: LogisticProblem,
    options: Options,
    *,
    clock: Clock,
    start: IntArray | None = None,
    bound: float = 0.0,
) -> Outcome:
    """Return the best selection found that keeps the limits, and the bound that is proven.

    `start` is a selection to begin with, and `bound` a lower bound that is known to hold.
    """
    return run_limited(_LogisticSearch, problem, options, clock=clock, start=start, bound=bound)


class _LogisticSearch(LimitedSearch):
    """The search for the logistic loss."""

    def _tree(self, problem: SelectionProblem, dual: DualPoint | None) -> LogisticTree:
        """Return the tree over the rules of a problem, its root ready to be relaxed."""
        assert isinstance(problem, LogisticProblem)  # noqa: S101  tells mypy what is searched
        if not has_selection(problem):
            raise InfeasibleProblem("There is no selection without the groups left out.")
        padded = problem.padded()
        own = self.best.support
        start = own if problem.constraints is None else padded.filled(own)
        prices = None if dual is None else dual.prices
        tree = LogisticTree(padded, self.options, self.clock, prices=prices)
        tree.prepare(start if padded.is_feasible(start) else None)
        self._offer(tree.best.support)
        return tree

    def _first_selection(self, problem: SelectionProblem) -> IntArray:
        return self._tree(problem, None).best.support

    def _relax(self, problem: SelectionProblem, dual: DualPoint | None) -> Relaxation:
        tree = self._tree(problem, dual)
        rules_left, stability_left = tree.bench.left(tree.bench.decision)
        worth = np.zeros(tree.problem.m)
        if rules_left == 0.0:
            return Relaxation(tree.best.loss, worth[: self.problem.m])
        relaxed = tree.relax_root(rules_left, stability_left)
        self._offer(tree.best.support)
        self._take_dual(tree)
        G = tree.bench.data.G
        worth[tree.bench.rules] = (np.abs(relaxed.node.w) * np.sqrt(np.diagonal(G)))[:-1]
        return Relaxation(relaxed.lower, worth[: self.problem.m])

    def _search_leaf(self, problem: SelectionProblem) -> Status:
        fresh = problem.constraints is None or self.choices > 0
        tree = self._tree(problem, self._prices(problem) if fresh else self._first_prices(problem))
        tree.best.loss = min(tree.best.loss, self.best.loss)  # what is not better is of no use
        status = tree.run()
        self.nodes += tree.nodes
        self._offer(tree.best.support)
        self.finished = min(self.finished, tree.bound)
        self._take_dual(tree)
        return status

    def _take_dual(self, tree: LogisticTree) -> None:
        """Keep what proves the bound of the first root, in the positions of the problem."""
        found = tree.dual
        if self.dual is None and found is not None:
            w = np.zeros(tree.problem.m)
            w[found.rules] = found.weights
            w = w[: self.problem.m]
            self.dual = DualPoint.at(self.problem, w, found.lam, found.mu, prices=tree.prices)
