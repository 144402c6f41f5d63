"""The paper's Algorithm 1 as its authors run it: the reference to beat.

Written afresh from the paper and our notes on its notebooks: cuts at integer points only, one
integer program per iteration, kept and grown from one to the next. Nothing is slowed on purpose,
and three things are kinder than the original: loss and gradient come from the statistics in
O(m k) instead of from all rows, the gap is that of the best selection so far instead of the last,
and masters are those of our own cutting plane, tuned for it. The bound is what a master has
proven, where the original takes its objective, which may be off by the master's own gap.
"""

from __future__ import annotations

import time

import numpy as np

from mossrules._common import Clock
from mossrules.solver import Options, Problem, Solution, Status
from mossrules.solver.bounds.duality import Cut
from mossrules.solver.cutting_plane.loop import make_master
from mossrules.solver.cutting_plane.master import MasterStatus
from mossrules.solver.options import relative_gap
from mossrules.solver.result import Report

__all__ = ["MASTER_GAP", "TOLERANCE", "solve_as_authors"]

TOLERANCE = 0.05  # to which the paper's experiments were run
MASTER_GAP = 1e-3


def solve_as_authors(problem: Problem, options: Options) -> Solution:
    """Solve to a relative gap, starting at the largest counts, with the master of the options.

    Of the report's figures, `master_cpu_seconds` are of all masters together.
    """
    clock = Clock(options.time_limit)
    master = make_master(problem, options, scale=0.5 * problem.statistics.yy or 1.0)
    # Cuts cannot close a gap that the master itself leaves open.
    master_gap = min(MASTER_GAP, options.gap / 10)
    support = best = problem.most_stable
    loss, bound, masters, cpu_seconds = np.inf, 0.0, 0, 0.0
    while True:
        cut = Cut.at_support(problem, support)
        if cut.value < loss:
            best, loss = support, cut.value
        if relative_gap(loss, bound) <= options.gap:
            status = Status.OPTIMAL
            break
        if clock.left() <= 0.0:
            status = Status.TIME_LIMIT
            break
        if masters == options.node_limit:
            status = Status.NODE_LIMIT
            break
        master.add_cut(cut.constant, cut.gradient)
        began = time.process_time()
        found = master.solve(seconds=clock.left(), gap=master_gap)
        cpu_seconds += time.process_time() - began
        masters += 1
        if found.status is MasterStatus.INTERRUPTED:
            raise KeyboardInterrupt
        bound = max(bound, found.bound)
        support = best if found.support is None else found.support
    figures = {"masters": float(masters), "master_cpu_seconds": cpu_seconds}
    report = Report("authors", "asked for", clock.elapsed(), options.gap, figures)
    return Solution.of(problem, best, bound, status, report)
