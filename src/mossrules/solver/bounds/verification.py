"""Checking a solution without the solver: by the plain definitions, and by weak duality.

A bound that a single dual point proves is checked in full: any w and multipliers will do, and
evaluating them takes a few lines (`duality.dual_bound`). What a tree of nodes or an integer
master adds to that is named as not checked. One test can still refute it: no neighbour of the
selection may have a loss below the bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.solver.bounds.duality import DualPoint, dual_bound
from mossrules.solver.options import MASTER_ROUNDING, relative_gap
from mossrules.solver.problems.each_floor import rules_below
from mossrules.solver.problems.logistic import LogisticProblem
from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.problems.squared import Problem

__all__ = ["Check", "Verification", "verify_claim"]

TOLERANCE = 1e-9  # relative
N_PROMISING = 20  # exchanges of each rule that are tried, where each takes a fit of its own


@dataclass(frozen=True)
class Check:
    """One thing that was recomputed.

    See Also
    --------
    mossrules.solver.Verification : Has them, as `checks`.
    """

    name: str  #: what was recomputed
    passed: bool  #: whether it agrees
    detail: str  #: in words, with the figures

    def __str__(self) -> str:
        return f"{'ok  ' if self.passed else 'FAIL'}  {self.name}: {self.detail}"


@dataclass(frozen=True)
class Verification:
    """What was recomputed, and what could not be.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> model = MossRegressor(2, n_trees=20).fit({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0])
    >>> found = model.solution_.verify(model.problem_)
    >>> print(found.checks[2])
    ok    loss: 0.0339..., recomputed 0.0339...
    >>> found.passed, len(found.unchecked)
    (True, 1)
    """

    checks: tuple[Check, ...]  #: what was recomputed
    unchecked: tuple[str, ...]  #: what rests on the search alone, a sentence each

    @property
    def passed(self) -> bool:
        """Whether everything that was recomputed agrees."""
        return all(check.passed for check in self.checks)

    @property
    def complete(self) -> bool:
        """Whether all agrees and nothing had to be taken on trust."""
        return self.passed and not self.unchecked

    def __str__(self) -> str:
        lines = [str(check) for check in self.checks]
        return "\n".join([*lines, *(f"not checked: {each}" for each in self.unchecked)])


def verify_claim(
    problem: SelectionProblem,
    *,
    support: IntArray,
    weights: FloatArray,
    loss: float,
    stability: int,
    bound: float,
    proven_gap: float | None,
    dual: DualPoint | None,
    search: str,
    quick: bool = False,
) -> Verification:
    """Check every figure of a solution against the problem, and unless `quick` try to refute it."""
    if not _are_rules(problem, support):
        wrong = Check("conditions", False, f"{len(support)} rules, some not of {problem!r}")
        return Verification((wrong,), ("all other figures: they belong to other rules",))
    checks = [
        _feasible(problem, support),
        _weights(problem, support, weights),
        _close("loss", loss, problem.loss(support), problem.null_loss, problem.rounding),
        _close("stability", stability, problem.stability(support)),
        Check("bound", bound <= loss, f"{bound:.9g} is not above the loss {loss:.9g}"),
    ]
    asked = problem
    problem = problem.as_sum()  # which bounds are of, whatever the kind of floor
    if not quick:
        checks += [_data(problem), _neighbours(problem, support, bound)]
    if proven_gap is not None:
        checks.append(_gap(problem, loss, bound, proven_gap))
    unchecked = []
    proven = -np.inf
    if dual is not None:
        more, proven = _dual_checks(problem, dual, asked)
        checks += more
    if bound > proven + TOLERANCE * abs(bound):
        said = "no dual point is stored" if dual is None else f"the dual point proves {proven:.9g}"
        unchecked.append(f"the bound {bound:.9g} rests on {search}; {said}")
    return Verification(tuple(checks), tuple(unchecked))


# --- single checks ------------------------------------------------------------------------------


def _close(
    name: str, claimed: float, recomputed: float, scale: float = 1.0, rounding: float = 0.0
) -> Check:
    allowed = TOLERANCE * max(abs(recomputed), scale) + rounding
    passed = abs(claimed - recomputed) <= allowed
    return Check(name, bool(passed), f"{claimed:.9g}, recomputed {recomputed:.9g}")


def _are_rules(problem: SelectionProblem, positions: IntArray) -> bool:
    return bool(((positions >= 0) & (positions < problem.m)).all())


def _gap(problem: SelectionProblem, loss: float, bound: float, asked: float) -> Check:
    # Asked for no gap at all, an integer master still leaves one.
    passed = problem.is_proven(loss, bound, max(asked, MASTER_ROUNDING))
    return Check("gap", passed, f"{relative_gap(loss, bound):.3g}, asked for {asked:g}")


def _weights(problem: SelectionProblem, support: IntArray, claimed: FloatArray) -> Check:
    recomputed = problem.weights(support)
    if claimed.shape != recomputed.shape:
        return Check("weights", False, f"{len(claimed)} for {len(recomputed)} rules")
    # Relative to the largest: of two nearly equal columns, a small weight has no digits of its own.
    largest = float(np.abs(recomputed).max(initial=0.0)) or 1.0
    apart = float(np.abs(claimed - recomputed).max(initial=0.0)) / largest
    return Check("weights", apart <= TOLERANCE, f"differ by {apart:.2g} of the largest")


def _feasible(problem: SelectionProblem, support: IntArray) -> Check:
    return Check("conditions", problem.is_feasible(support), f"{len(support)} rules of {problem!r}")


def _data(problem: SelectionProblem) -> Check:
    """Check that the data are those of some rows: duality rests on it."""
    if isinstance(problem, LogisticProblem):
        return _class_weights(problem)
    assert isinstance(problem, Problem)  # noqa: S101  there are two losses
    s = problem.statistics
    # Products of real columns and a real target have no negative eigenvalue; where there is one,
    # weak duality says nothing. Looked for in correlations, so that units play no part.
    scale = np.sqrt(np.append(np.diagonal(s.G), s.yy))
    scale = np.where(scale > 0, scale, 1.0)
    joint = np.block([[s.G, s.q[:, None]], [s.q[None, :], np.array([[s.yy]])]])
    minimum = float(np.linalg.eigvalsh(joint / np.outer(scale, scale))[0])
    return Check(
        "statistics", minimum > -1e-7, f"least eigenvalue of the correlations {minimum:.2g}"
    )


def _class_weights(problem: LogisticProblem) -> Check:
    """Check that no pattern has less than no rows of a class."""
    patterns = problem.patterns
    minimum = float(min(patterns.positives.min(), patterns.negatives.min()))
    return Check("patterns", minimum >= 0.0, f"least weight of a class {minimum:.2g}")


def _neighbours(problem: SelectionProblem, support: IntArray, bound: float) -> Check:
    """Try to refute the bound by every exchange of one rule for another."""
    chosen = set(support.tolist())
    minimum = np.inf
    outside = [j for j in problem.free.tolist() if j not in chosen]
    for i in sorted(chosen.difference(problem.fixed_in)):
        rest = np.array(sorted(chosen - {i}), dtype=np.int64)
        needed = problem.min_stability - problem.stability(rest)
        others = [j for j in outside if problem.counts[j] >= needed]
        if problem.constraints is not None:
            others = [j for j in others if problem.constraints.holds(np.append(rest, j))]
        loss = _min_loss_with_one_more(problem, rest, np.array(others, np.int64))
        minimum = min(minimum, loss)
    passed = minimum >= bound * (1 - TOLERANCE) - problem.rounding
    return Check("neighbours", bool(passed), f"no exchange of one rule is below {minimum:.9g}")


def _min_loss_with_one_more(problem: SelectionProblem, rest: IntArray, others: IntArray) -> float:
    """Return min_j H2(T + j): of the squared loss by the Schur complement of G_TT + I/gamma."""
    if len(others) == 0:
        return np.inf
    if isinstance(problem, LogisticProblem):  # no closed form: those that promise most
        _, gradient = problem.tangent_at(rest)
        others = others[np.argsort(gradient[others], kind="stable")[:N_PROMISING]]
    if problem.signs is not None or not isinstance(problem, Problem):
        return min(problem.loss(np.append(rest, j)) for j in others)
    s, ridge = problem.statistics, 1.0 / problem.gamma
    A = s.G[np.ix_(rest, rest)] + ridge * np.eye(len(rest))
    cross = s.G[np.ix_(rest, others)]
    correlated = s.q[others] - cross.T @ np.linalg.solve(A, s.q[rest])
    left = s.G[others, others] + ridge - (cross * np.linalg.solve(A, cross)).sum(axis=0)
    return float(problem.loss(rest) - 0.5 * (correlated**2 / left).max())


def _dual_checks(
    problem: SelectionProblem, dual: DualPoint, asked: SelectionProblem
) -> tuple[list[Check], float]:
    """Check the fixings by the floor, and recompute the bound of the dual point.

    `problem` has a floor on the sum; `asked` is as it was asked for, maybe with one on each rule.
    """
    positions = np.concatenate([dual.rules, dual.fixed_in, dual.fixed_out])
    if (
        not _are_rules(problem, positions)
        or len(dual.rules) != len(dual.weights)
        or not (0 <= dual.lam < np.inf and 0 <= dual.mu < np.inf and (dual.prices >= 0).all())
        or len(dual.prices) not in (0, _n_priced(problem))
    ):
        return [Check("dual point", False, "other rules or limits, or prices below 0")], -np.inf
    w = np.zeros(problem.m)
    w[dual.rules] = dual.weights
    proven = dual_bound(
        problem,
        w,
        dual.lam,
        dual.mu,
        prices=dual.prices,
        fixed_in=dual.fixed_in,
        fixed_out=dual.fixed_out,
    )
    by_floor = _decided_by_floor(problem, dual)
    n_in, n_out, why = len(dual.fixed_in), len(dual.fixed_out), ""
    if asked.floor == "each":
        n_out += len(rules_below(asked, asked.min_stability))
        why = f" (in fewer than {asked.min_stability:,} trees)"
    return [
        Check("fixed by the floor", by_floor, f"{n_in:,} rules in, {n_out:,} out{why}"),
        _close("bound of the dual point", dual.bound, proven, problem.null_loss, problem.rounding),
    ], proven if by_floor else -np.inf


def _n_priced(problem: SelectionProblem) -> int:
    limits = None if problem.constraints is None else problem.constraints.on_rules
    return 0 if limits is None else len(limits.b)


def _decided_by_floor(problem: SelectionProblem, dual: DualPoint) -> bool:
    """Tell whether no selection that meets the floor has `fixed_out` rules or lacks `fixed_in`.

    A rule is out if even with the largest counts beside it the floor is missed, and in if even the
    largest counts of the others miss it.
    """
    counts = problem.counts
    rules_left = problem.size - len(problem.fixed_in)
    had = problem.stability(np.array(problem.fixed_in, dtype=np.int64))
    free = np.sort(counts[problem.free])[::-1]
    if rules_left == 0:
        return len(dual.fixed_in) == 0
    with_it = had + int(free[: rules_left - 1].sum())
    # One more, as the rule itself is among the first: less its own count, the others are left.
    without_it = had + int(free[: rules_left + 1].sum())
    out = counts[dual.fixed_out] + with_it < problem.min_stability
    inside = without_it - counts[dual.fixed_in] < problem.min_stability
    enough = len(free) > rules_left  # otherwise every free rule is in, whatever the floor
    may_be_in = np.isin(dual.fixed_in, problem.free)
    return bool(out.all() and may_be_in.all() and (inside.all() or not enough))
