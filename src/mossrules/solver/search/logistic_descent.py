"""Good selections for the logistic loss quickly, on squared problems that touch it.

A squared problem is solved roughly by what serves the squared loss, exchanges of single rules or
coordinate descent. At the selection found, the next one is made to touch, until the logistic loss
itself falls no more. Nothing is proven by that.
"""

from __future__ import annotations

import numpy as np

from mossrules._typing import IntArray
from mossrules.exceptions import InvalidParameter
from mossrules.solver.bounds.relaxation import best_multipliers
from mossrules.solver.bounds.verification import DualPoint
from mossrules.solver.options import Clock, Options
from mossrules.solver.problems.logistic import LogisticProblem
from mossrules.solver.problems.quadratic_model import QuadraticModel
from mossrules.solver.result import Outcome, Status
from mossrules.solver.search.coordinate_descent import solve_by_coordinate_descent
from mossrules.solver.search.heuristics import Incumbent, first_selection
from mossrules.solver.search.instance import Instance

__all__ = ["local_search", "possible_rules", "solve_logistic_by_descent"]

MAX_ROUNDS = 8
WORTHWHILE = 1e-9  # relative fall in loss: a smaller one ends the search


def possible_rules(problem: LogisticProblem) -> IntArray:
    """Return the rules that are in any selection which meets size, floor and fixings, ascending."""
    counts, fixed = problem.counts, np.array(problem.fixed_in, dtype=np.int64)
    room = problem.size - len(fixed)
    if room == 0:
        return fixed
    largest = np.sort(counts[problem.free])[::-1][: room - 1]
    needed = problem.min_stability - problem.stability(fixed) - int(largest.sum())
    free = problem.free[counts[problem.free] >= needed]
    return np.union1d(np.union1d(fixed, free), problem.most_stable).astype(np.int64)


def local_search(
    model: QuadraticModel, start: IntArray | None = None
) -> tuple[Incumbent, QuadraticModel]:
    """Return a selection that no exchange of one rule for another seems to improve.

    With it comes the model with the curvature near there, if that is cheap to have.
    """
    problem, m = model.problem, model.problem.m
    most_stable = problem.most_stable_feasible
    assert most_stable is not None  # noqa: S101  tells mypy what the callers know
    best = Incumbent(most_stable, problem.loss(most_stable))
    if start is not None and len(start) == problem.size and problem.is_feasible(start):
        best.offer(start, problem.loss(start))
    w = np.zeros(m + 1)
    for _ in range(MAX_ROUNDS):
        squared = model.squared_problem(model.point(w), most_stable_feasible=most_stable)
        found = first_selection(Instance.of(squared), np.append(best.support, m)).support
        found = found[found < m]
        loss = problem.loss(found)
        if w.any() and loss >= best.loss * (1.0 - WORTHWHILE):
            break
        best.offer(found, loss)
        first = not w.any()
        w = model.weights(best.support)
        model = model.curved_at(w) if model.is_cheap and first else model
    return best, model


def solve_logistic_by_descent(
    problem: LogisticProblem, options: Options, *, clock: Clock, start: IntArray | None = None
) -> Outcome:
    """Return a good feasible selection and a valid, though rarely close, lower bound.

    Coordinate descent runs on the squared problem that touches at no weights, and then on those
    that touch at the best selection so far.
    """
    if problem.is_limited:
        raise InvalidParameter(
            "Coordinate descent keeps neither limits `A z <= b` nor signs of weights; use "
            'method="cutting-plane".'
        )
    rules = possible_rules(problem)
    here = problem.reduced(rules, problem.fixed_in)
    model = QuadraticModel.of(here)
    best = Incumbent(here.most_stable, here.loss(here.most_stable))
    sweeps, rounds, w = 0.0, 0, np.zeros(here.m + 1)
    given = None if start is None else np.searchsorted(rules, np.intersect1d(start, rules))
    while rounds < MAX_ROUNDS:
        rounds += 1
        squared = model.squared_problem(model.point(w))
        outcome = solve_by_coordinate_descent(squared, options, clock=clock, start=given)
        sweeps += outcome.counters["sweeps"]
        assert outcome.support is not None  # noqa: S101  there always is one
        found = outcome.support[outcome.support < here.m]
        loss = here.loss(found)
        better = loss < best.loss * (1.0 - WORTHWHILE)
        best.offer(found, loss)
        if (rounds > 1 and not better) or clock.left() <= 0:
            break
        w = model.weights(best.support)
        model = model.curved_at(w) if model.is_cheap else model
        given = np.append(best.support, here.m)
    support = rules[best.support]
    dual = dual_at(problem, support)
    counters = {"sweeps": sweeps, "rounds": float(rounds)}
    return Outcome(support, max(0.0, dual.bound), Status.HEURISTIC, counters, dual)


def dual_at(problem: LogisticProblem, support: IntArray) -> DualPoint:
    """Return the dual point of a selection's weights, at the best multipliers."""
    w = np.zeros(problem.m)
    w[support] = problem.weights(support)
    return DualPoint.at(problem, w, *best_multipliers(problem, w))
