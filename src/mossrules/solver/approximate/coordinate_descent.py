"""The paper's approximate algorithm: coordinate descent with a price on rules and on counts.

Notation (the rest as in `squared`)
    t_i            lambda_1 - lambda_2 c_i, the price of rule i; -inf when fixed in, +inf when out
    u_i            q_i - sum_{j != i} G_ij w_j
    gain_i         1/2 u_i^2 / (G_ii + 1/gamma): the fall in loss by the best weight for rule i
    score_i        gain_i + lambda_2 c_i: at a fixed point, the rules with score > lambda_1 are in

Where weights have signs, gain_i is 0 for a u_i of the wrong one.

For given lambda_2 the path follows lambda_1 from one fixed point to the next: the largest score
outside is the lambda_1 at which descent moves again, so there is no grid to choose, and rules come
in one or a few at a time. The way back, by the smallest score inside, gives a second selection.
lambda_2 then rises from 0 until the floor on counts is met. Selections are cut or filled to the
size, and rules are swapped for ones with more counts where a selection stays below the floor.

The logistic loss has no such gain in closed form. For it the path runs on squared problems that
touch it: first at no weights, then at the best selection so far, until the loss falls no more.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mossrules._common import MOST_POINTS, check_integer, check_number
from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InvalidParameter
from mossrules.solver.approximate.repair import lifted, resized
from mossrules.solver.bounds.duality import DualPoint
from mossrules.solver.kernels.descent import descend
from mossrules.solver.options import Clock, Options
from mossrules.solver.problems.logistic import LogisticProblem
from mossrules.solver.problems.quadratic_model import QuadraticModel
from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.problems.squared import Problem
from mossrules.solver.result import Outcome, Status
from mossrules.solver.search.instance import MAX_ROUNDS, WORTHWHILE
from mossrules.solver.search.state import Floor, Incumbent, SearchState

__all__ = ["PathPoint", "penalised_path", "penalty_grid", "solve_by_coordinate_descent"]

TOLERANCE = 1e-8  # of yy/2: a sweep that lowers the objective by less is the last
MAX_SWEEPS = 1000
MARGIN = 1e-9  # relative step past a score, so that rounding cannot undo the step
MAX_STEPS = 20  # along lambda_1, for each rule of the size
OVERSHOOT = 2  # the path goes on to this many times the size before it turns back
GROWTH = 4.0  # of lambda_2 while the floor is not met
BISECTIONS = 8  # of the last such step
REPORT_SECONDS = 0.25


class PathPoint(NamedTuple):
    """A selection and the penalties that led to it."""

    support: IntArray
    lambda_1: float
    lambda_2: float


def solve_by_coordinate_descent(
    problem: SelectionProblem, options: Options, *, clock: Clock, start: IntArray | None = None
) -> Outcome:
    """Return a good feasible selection and a valid, though rarely close, lower bound.

    When the time is over the best selection so far is returned; there always is one: the first is
    `start`, feasible or not, or else what greedy filling gives, brought to the size and the floor.
    `counters` have the penalties of the path that led to the selection of the squared loss (yy/2
    and 0 for the first), or the squared problems that were made to touch the logistic one.
    """
    _refuse_limits(problem)
    if isinstance(problem, LogisticProblem):
        support, counters = _descend_on_logistic(problem, options, clock, start)
    else:
        assert isinstance(problem, Problem)  # noqa: S101  there are two losses
        search = _descend_on_squared(problem, options, clock, start)
        support = search.best.support
        counters = {
            "sweeps": search.descent.sweeps,
            "penalties": search.descent.penalties,
            "lambda_1": search.best.lambda_1,
            "lambda_2": search.best.lambda_2,
        }
    # The bound of the selection's own weights costs one evaluation, and is better than none.
    dual = DualPoint.of_selection(problem, support)
    return Outcome(support, max(0.0, dual.bound), Status.HEURISTIC, counters, dual)


def _descend_on_squared(
    problem: Problem, options: Options, clock: Clock, start: IntArray | None
) -> _Search:
    """Return the search over the penalties, at its end."""
    search = _Search.of(problem, options, clock)
    first = _with_fixings(problem, () if start is None else start)
    search.offer(PathPoint(resized(problem, first), _no_rule_price(problem), 0.0))
    search.run()
    return search


def _descend_on_logistic(
    problem: LogisticProblem, options: Options, clock: Clock, start: IntArray | None
) -> tuple[IntArray, dict[str, float]]:
    """Return the best selection on squared problems that touch the logistic one, and counters."""
    rules = problem.possible_rules()
    here = problem.reduced(rules, problem.fixed_in)
    model = QuadraticModel.of(here)
    best = Incumbent(here.most_stable, here.loss(here.most_stable))
    sweeps, rounds, w = 0, 0, np.zeros(here.m + 1)
    given = None if start is None else np.searchsorted(rules, np.intersect1d(start, rules))
    while rounds < MAX_ROUNDS:
        rounds += 1
        squared = model.squared_problem(model.point(w))
        search = _descend_on_squared(squared, options, clock, given)
        sweeps += search.descent.sweeps
        support = search.best.support
        support = support[support < here.m]  # the intercept's column is the last, and always in
        loss = here.loss(support)
        better = loss < best.loss * (1.0 - WORTHWHILE)
        best.offer(support, loss)
        # The first round is not judged: its problem touches at no weights, far from any selection.
        if (rounds > 1 and not better) or clock.left() <= 0:
            break
        w = model.weights(best.support)
        model = model.curved_at(w) if model.is_cheap else model
        given = np.append(best.support, here.m)
    return rules[best.support], {"sweeps": float(sweeps), "rounds": float(rounds)}


def penalised_path(
    problem: Problem, lambda_2: Iterable[float], *, clock: Clock | None = None
) -> list[PathPoint]:
    """Return the best selection of the problem's size found at each lambda_2, in the order given.

    The floor plays no part: lambda_2 stands for it. When the time is over the list ends early.
    """
    _refuse_limits(problem)
    clock = Clock(None) if clock is None else clock
    descent = _Descent(problem, clock)
    points: list[PathPoint] = []
    for value in lambda_2:
        price = check_number("lambda_2", value, minimum=0)
        if clock.left() <= 0:
            break
        points.append(min(descent.path(price), key=lambda point: _penalised_loss(problem, point)))
    return points


def penalty_grid(problem: Problem, points: int = 50) -> FloatArray:
    """Return values of lambda_2: 0, and then from where counts hardly matter to where they decide.

    A whole count is never worth more than all of the loss, yy/2.
    """
    check_integer("points", points, minimum=2, maximum=MOST_POINTS)
    top = _no_rule_price(problem)
    return np.concatenate(
        [[0.0], np.geomspace(_lowest_price(problem), max(top, 1e-300), points - 1)]
    )


# --- the search over lambda_2 ---------------------------------------------------------------------


@dataclass
class _Search:
    """The search for the lambda_2 that suits the floor."""

    problem: Problem
    state: SearchState
    best: PathPoint = field(init=False)  # that the best selection is of

    @classmethod
    def of(cls, problem: Problem, options: Options, clock: Clock) -> _Search:
        # Told of now, so that nothing is said of a search that is over in no time.
        floors, now = [Floor(problem.min_stability)], time.perf_counter()
        return cls(problem, SearchState(options, 0.0, floors, clock=clock, told=now))

    def __post_init__(self) -> None:
        self.descent = _Descent(self.problem, self.state.clock)

    def run(self) -> None:
        """Raise lambda_2 from 0 until the floor is met, then bisect the last step."""
        top = _no_rule_price(self.problem)
        # The lambda_2 at which the floor is met is not known by its order of magnitude, so it grows
        # by a factor, and is bisected in logarithms.
        low, high = 0.0, _lowest_price(self.problem)
        if self.try_price(low):
            return
        while not self.try_price(high):
            if high > top or self.state.clock.left() <= 0:
                return
            low, high = high, GROWTH * high
        for _ in range(BISECTIONS):
            if self.state.clock.left() <= 0:
                return
            middle = float(np.sqrt(low * high)) if low > 0 else 0.5 * high
            if self.try_price(middle):
                high = middle
            else:
                low = middle

    def try_price(self, lambda_2: float) -> bool:
        """Follow the path of one lambda_2 and tell whether it meets the floor by itself."""
        met = False
        for point in self.descent.path(lambda_2):
            met |= self.problem.stability(point.support) >= self.problem.min_stability
            self.offer(point)
        # Nothing is proven on the way but that no loss is negative.
        self.state.tell(self.descent.penalties, 0.0, REPORT_SECONDS)
        return met

    def offer(self, point: PathPoint) -> None:
        """Keep a selection, lifted to the floor, if it is the best so far."""
        point = point._replace(support=lifted(self.problem, point.support))
        loss = self.problem.loss(point.support)
        if loss < self.state.best.loss:
            self.best = point
        self.state.offer(point.support, loss)


def _lowest_price(problem: Problem) -> float:
    """Return a lambda_2 at which all the counts together are worth a ten-thousandth of the loss."""
    return max(0.5e-4 * problem.statistics.yy / max(1, problem.max_stability_unlimited), 1e-300)


def _no_rule_price(problem: Problem) -> float:
    """Return the lambda_1 at which no rule comes in for its fit: all of the loss."""
    return 0.5 * problem.statistics.yy


def _penalised_loss(problem: Problem, point: PathPoint) -> float:
    return problem.loss(point.support) - point.lambda_2 * problem.stability(point.support)


# --- the path over lambda_1 -----------------------------------------------------------------------


class _Descent:
    """Coordinate descent at one fixed point after another; keeps w, r and the rules inside."""

    def __init__(self, problem: Problem, clock: Clock) -> None:
        data = problem.statistics
        self.problem, self.clock = problem, clock
        self.G, self.q = np.ascontiguousarray(data.G), data.q
        self.d = np.diagonal(data.G) + 1.0 / problem.gamma
        # What is added to the price of each rule, so that kernels need not know of fixings.
        self.fixed = np.zeros(problem.m)
        self.fixed[list(problem.fixed_in)] = -np.inf
        self.fixed[list(problem.fixed_out)] = np.inf
        self.free = self.fixed == 0
        none = np.zeros(problem.m, dtype=np.int64)
        self.signs = none if problem.signs is None else problem.signs
        self.sweeps = self.penalties = 0

    def path(self, lambda_2: float) -> Iterator[PathPoint]:
        """Yield selections of the problem's size: from below it, from above, and on the way back.

        When the time is over, what there is by then is brought to the size.
        """
        size = self.problem.size
        self.lambda_2, self.worth = lambda_2, lambda_2 * self.problem.statistics.counts
        self.w, self.r = np.zeros(self.problem.m), self.q.copy()
        self.inside = np.zeros(self.problem.m, dtype=bool)
        self._descend_at(_no_rule_price(self.problem) + float(self.worth.max()))
        yield self._resized(self._lower_price(size))
        # Rules may come in several at a time, so that the size itself is passed over. What there is
        # just above it is cut, and on the way back from further above, rules that came early and
        # that later ones replace are the first to leave.
        if len(self.point.support) > size:
            yield self._resized(self.point)
            self._lower_price(OVERSHOOT * size)
            self._raise_price(size)
            yield self._resized(self.point)

    @property
    def point(self) -> PathPoint:
        return PathPoint(np.flatnonzero(self.inside), self.lambda_1, self.lambda_2)

    def _resized(self, point: PathPoint) -> PathPoint:
        return point._replace(support=resized(self.problem, point.support, self.lambda_2))

    def _lower_price(self, size: int) -> PathPoint:
        """Lower lambda_1 until more than `size` rules are in; return the last point before that."""
        before = self.point
        for _ in range(MAX_STEPS * size):
            if len(self.point.support) > size or self.clock.left() <= 0:
                break
            before = self.point
            score = float(self._scores()[self.free & ~self.inside].max(initial=0.0))
            if score <= 0:
                break
            self._step_past(score, -MARGIN)
        return before

    def _raise_price(self, size: int) -> None:
        """Raise lambda_1 until at most `size` rules are in."""
        for _ in range(MAX_STEPS * size):
            if len(self.point.support) <= size or self.clock.left() <= 0:
                break
            self._step_past(float(self._scores()[self.free & self.inside].min()), MARGIN)

    def _scores(self) -> FloatArray:
        # u_i leaves rule i itself out of the residual: G_ii w_i is added back.
        u = self.r + (self.d - 1.0 / self.problem.gamma) * self.w
        u[self.signs * u < 0] = 0.0
        return 0.5 * u**2 / self.d + self.worth

    def _step_past(self, score: float, margin: float) -> None:
        """Go just past a score: the smallest step of lambda_1 by which a rule changes sides."""
        before = self.inside.copy()
        # So small a step may be within the tolerance of descent: it grows until a rule moves.
        while True:
            self._descend_at(max(0.0, score * (1.0 + margin)))
            if self.lambda_1 == 0 or (self.inside != before).any():
                return
            margin *= 10.0

    def _descend_at(self, lambda_1: float) -> None:
        """Descend to a fixed point of the penalties, from where the last one was."""
        self.lambda_1 = lambda_1
        self.penalties += 1
        self.sweeps += descend(
            self.G,
            1.0 / self.problem.gamma,
            lambda_1 - self.worth + self.fixed,
            self.signs,
            TOLERANCE * 0.5 * self.problem.statistics.yy,
            MAX_SWEEPS,
            self.w,
            self.r,
            self.inside,
        )
        # Afresh, so that rounding does not build up over the path.
        S = np.flatnonzero(self.inside)
        self.r = self.q - self.w[S] @ self.G[S]


# --- fixings and limits ---------------------------------------------------------------------------


def _with_fixings(problem: Problem, start: Iterable[int]) -> IntArray:
    """Return a selection with the fixings kept."""
    kept = (set(map(int, start)) | set(problem.fixed_in)) - set(problem.fixed_out)
    return np.array(sorted(kept), dtype=np.int64)


def _refuse_limits(problem: SelectionProblem) -> None:
    if problem.constraints is not None:
        raise InvalidParameter(
            "Coordinate descent, the approximate algorithm, keeps no limits such as AtMostFeatures "
            "and AtMostPerFeature. Leave them out, or choose exactly: solver='auto' in an "
            "estimator, method='auto' in solve, solve_frontier for approximate_frontier."
        )
