"""What may be selected: size, floor, fixings, limits and signs, the same whatever the loss.

A problem adds a loss to it: the squared one in `squared`, the logistic one in `logistic`. All that
methods, masters, frontiers and checks ask of a loss is named here, so that another loss is one more
subclass. Problems are frozen: those that differ in a floor share all that was computed of them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

import numpy as np

from mossrules._arrays import number_array
from mossrules._common import cached_property, check_choice, check_integer, check_number
from mossrules._deprecated import Renamed
from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InfeasibleProblem, InvalidParameter
from mossrules.solver.problems.approved import check_approved, n_approved
from mossrules.solver.problems.each_floor import (
    least_count,
    most_stable_under_limits,
    rules_below,
)
from mossrules.solver.problems.linear_constraints import LinearConstraints

__all__ = ["Fit", "FloorKind", "SelectionProblem", "check_point", "whole_counts"]

# What `min_stability` is the least of: the sum of the counts of all rules, or the count of each.
FloorKind = Literal["sum", "each"]

# Solving for weights loses about as many digits as the condition of G_SS + I/gamma has, which is of
# the order of gamma times the largest curvature; a float has 16.
MAX_CONDITION = 1e12
# Sums of counts are exact as floats up to the first. Integer solvers, whose tolerance is 1e-10 at
# best, tell one count from the next up to the second.
LARGEST_SUM, LARGEST_LIMITED = 2**53, 10**9
FEW_ROUNDINGS = 8  # of a share times a whole number: a floor may be this far above a whole one
# Losses and curvatures beyond these have squares that a search cannot add up. The gammas that go
# with them are within the squares of these.
SMALLEST, LARGEST = 1e-60, 1e60
EPSILON = 2.0**-52  # how far apart floats near 1 are


class Fit(NamedTuple):
    """The best weights of a selection, the intercept beside them, and the loss."""

    weights: FloatArray
    intercept: float
    loss: float


class SelectionProblem(ABC):
    """Select at most `max_rules` rules with at least `min_stability` counts and the least loss."""

    max_rules: int
    gamma: float
    min_stability: int
    fixed_in: Sequence[int]
    fixed_out: Sequence[int]
    constraints: LinearConstraints | None
    signs: IntArray | None
    floor: FloorKind
    approved: Sequence[int]
    min_approved: int

    def _check_conditions(self) -> None:
        """Put the fields of the conditions into their final form, or say what is wrong."""
        check_choice("floor", self.floor, get_args(FloorKind))
        check = {
            "max_rules": check_integer("max_rules", self.max_rules),
            "gamma": check_number("gamma", self.gamma),
            "min_stability": _whole_floor(self.min_stability),
            "fixed_in": _positions("fixed_in", self.fixed_in, self.m),
            "fixed_out": _positions("fixed_out", self.fixed_out, self.m),
            "approved": _positions("approved", self.approved, self.m),
            "min_approved": check_integer("min_approved", self.min_approved, minimum=0),
        }
        for name, value in check.items():
            object.__setattr__(self, name, value)
        self._check_gamma()
        self._check_fixings()
        if not isinstance(self.constraints, LinearConstraints | None):
            kind = type(self.constraints).__name__
            raise InvalidParameter(f"constraints is of type {kind}; pass LinearConstraints.")
        if self.constraints is not None and self.constraints.m != self.m:
            raise InvalidParameter(
                f"The constraints have {self.constraints.m} columns and there are "
                f"{self.m} rules; give A one column per rule."
            )
        object.__setattr__(self, "signs", _signs(self.signs, self.m))
        self._check_counts()
        _check_floor(self)
        check_approved(self)

    @property
    @abstractmethod
    def largest_curvature(self) -> float:
        """What the loss curves by at most in the weight of one rule."""

    # Losses closer than this share of that of no rule count as equal.
    precision: ClassVar[float] = 1e-12

    @property
    def margin(self) -> float:
        """The distance at which a search takes losses for equal."""
        return self.precision * self.null_loss

    @cached_property
    def rounding(self) -> float:
        """How well losses and bounds are known: what is said of them holds to within this.

        It is `precision` of the loss of no rule, but for extreme gammas, at which solving for the
        weights loses more digits: of w'E w, where E is a rounding error of the matrix, w'w is at
        most 2 gamma times that loss, and E at most max_rules times the largest curvature, rounded.
        """
        lost = EPSILON * min(self.max_rules, self.m) * self.gamma * self.largest_curvature
        return max(self.precision, lost) * self.null_loss

    def safe_bound(self, bound: float) -> float:
        """Return a bound less what rounding may have added to it beyond `precision`."""
        return bound - (self.rounding - self.margin)

    def is_proven(self, loss: float, bound: float, gap: float) -> bool:
        """Tell whether a bound proves a gap; the one definition, for searches and checks."""
        # Thrice: a search ends where losses count as equal, its loss is recomputed, and its bound
        # is made safe.
        return bool(loss - bound <= gap * loss + 3.0 * self.rounding)

    def _check_scale(self) -> None:
        """Refuse numbers whose squares are lost, or too large for floats."""
        sizes = {
            "The loss without rules": self.null_loss,
            "The largest sum of squares of a rule's column": self.largest_curvature,
        }
        for what, size in sizes.items():
            if size != 0 and not SMALLEST <= size <= LARGEST:
                raise InvalidParameter(
                    f"{what} is {size:.2g}, and must be from {SMALLEST:g} to {LARGEST:g}; choose "
                    "other units for the target, the columns or the weights."
                )
        if not SMALLEST**2 <= self.gamma <= LARGEST**2:
            raise InvalidParameter(
                f"gamma is {self.gamma:g}, and must be from {SMALLEST**2:g} to {LARGEST**2:g}; one "
                "over the sum of squares of a column is a usual value."
            )

    def _check_gamma(self) -> None:
        """Refuse a gamma at which weights are lost in rounding."""
        self._check_scale()
        if self.gamma * self.largest_curvature > MAX_CONDITION:
            raise InvalidParameter(
                f"gamma is {self.gamma:g}; with these rules, weights are lost in rounding above "
                f"{MAX_CONDITION / self.largest_curvature:.2g}."
            )

    def _check_counts(self) -> None:
        """Refuse counts that solvers could not tell apart."""
        largest = int(self.counts.max())
        if largest > LARGEST_SUM // min(self.max_rules, self.m):
            raise InvalidParameter(
                f"A rule has a count of {largest}; counts of {self.max_rules} rules may add up to "
                f"at most 2^53, so divide all of them."
            )
        if self.constraints is not None and largest > LARGEST_LIMITED:
            raise InvalidParameter(
                f"A rule has a count of {largest}; with limits A z <= b counts may be at most "
                f"{LARGEST_LIMITED:,}, so divide all of them."
            )

    def _check_fixings(self) -> None:
        both = sorted(set(self.fixed_in) & set(self.fixed_out))
        if both:
            raise InvalidParameter(f"Rules {both} are both fixed in and fixed out; choose one.")
        if len(self.fixed_in) > self.max_rules:
            raise InfeasibleProblem(
                f"{len(self.fixed_in)} rules are fixed in and max_rules is {self.max_rules}; raise "
                "max_rules or fix fewer."
            )

    # --- what there is --------------------------------------------------------------------------

    @property
    @abstractmethod
    def counts(self) -> IntArray:
        """Number of trees in which each rule appears."""

    @property
    def m(self) -> int:
        """Number of candidate rules."""
        return len(self.counts)

    @cached_property
    def free(self) -> IntArray:
        """Positions of the rules that are neither fixed in nor fixed out, ascending."""
        decided = [*self.fixed_in, *self.fixed_out]
        return np.setdiff1d(np.arange(self.m), np.array(decided, dtype=np.int64))

    @property
    def is_limited(self) -> bool:
        """Whether there are limits `A z <= b` on the selection or signs of weights."""
        return self.constraints is not None or self.signs is not None

    @property
    def size(self) -> int:
        """Rules in a best selection without a floor: one more never raises H2, so all are used.

        Nor does one more lower the sum of the counts; a floor on each rule may leave fewer.
        """
        return min(self.max_rules, len(self.fixed_in) + len(self.free))

    @cached_property
    def most_stable(self) -> IntArray:
        """The selection of the largest H1, limits `A z <= b` left aside; ascending positions."""
        # Of equal counts the first rules, so that there is one answer whatever sorts them.
        order = self.free[np.argsort(-self.counts[self.free], kind="stable")]
        fixed = np.array(self.fixed_in, dtype=np.int64)
        return np.sort(np.concatenate([fixed, order[: self.size - len(fixed)]]))

    @cached_property
    def max_stability_unlimited(self) -> int:
        """The largest H1 of a selection of full size, limits `A z <= b` left aside."""
        return self._least_or_sum(self.most_stable, self.fixed_in)

    @property
    def largest_floor(self) -> int:
        """The largest floor that may be asked for, limits `A z <= b` left aside.

        On each rule it is the largest count: above `max_stability_unlimited`, fewer than max_rules
        rules are left, and at last none.
        """
        return self.max_stability_unlimited if self.floor == "sum" else int(self.counts.max())

    @cached_property
    def most_stable_feasible(self) -> IntArray | None:
        """The selection of the largest H1 that keeps all limits, or None where none keeps them.

        Under floor "each", of those of as many rules as the limits allow.
        """
        if self.constraints is None:
            return self.most_stable
        if self.floor == "each":
            return most_stable_under_limits(self.keeping((), 0), self.constraints)
        return self.constraints.cheapest(
            -self.counts.astype(np.float64),
            self.max_rules,
            self.fixed_in,
            self.fixed_out,
        )

    @property
    def max_stability(self) -> int:
        """The largest H1 of a selection that keeps all limits; 0 where none does.

        Under floor "each" it is the count of the last of the `max_rules` most frequent rules that
        may be chosen, or of as many as limits allow together.
        """
        best = self.most_stable_feasible
        # Of approved rules too: a share of it means the same whatever has been approved.
        return 0 if best is None else self._least_or_sum(best, self.fixed_in)

    @property
    def max_approved(self) -> int:
        """The most approved rules that a selection may have which meets size, fixings and limits.

        -1 where no selection does.
        """
        counting = self.counting_approved()
        best = counting.most_stable_feasible
        return -1 if best is None else counting.stability(best)

    eps_max = Renamed("max_stability")
    largest_stability = Renamed("max_stability_unlimited")

    def at(self, min_stability: int) -> Self:
        """Return the same problem at another floor."""
        # Not `replace`, which would check all data again: a frontier makes thousands of these.
        other = copy(self)
        object.__setattr__(other, "min_stability", _whole_floor(min_stability))
        _check_floor(other)
        return other

    def restricted(self, fixed_out: Iterable[int], constraints: LinearConstraints | None) -> Self:
        """Return the same problem with more rules fixed out, and other limits."""
        other = copy(self)  # as in `at`, but what depends on fixings and limits is found anew
        out = tuple(sorted({*self.fixed_out, *map(int, fixed_out)}))
        object.__setattr__(other, "fixed_out", out)
        object.__setattr__(other, "constraints", constraints)
        _forget(other, "free", "most_stable", "max_stability_unlimited", "most_stable_feasible")
        if not set(out).isdisjoint(self.fixed_in):
            raise InfeasibleProblem("A rule would be both fixed in and fixed out; fix fewer.")
        _check_floor(other)
        return other

    def with_floor(self, floor: FloorKind) -> Self:
        """Return the same problem with the other kind of floor, or this kind, set to 0."""
        check_choice("floor", floor, get_args(FloorKind))
        other = copy(self)  # as in `at`
        object.__setattr__(other, "floor", floor)
        check_approved(other)
        object.__setattr__(other, "min_stability", 0)
        _forget(other, "max_stability_unlimited", "most_stable_feasible")
        return other

    def as_sum(self) -> Self:
        """Return a problem with floor "sum" and the same feasible selections: the one to solve."""
        if self.floor == "sum":
            return self
        if self.min_approved:
            return self.counting_approved().at(self.min_approved)
        below = rules_below(self, self.min_stability).tolist()
        return self.keeping((), 0).with_floor("sum").restricted(below, self.constraints)

    def keeping(self, approved: Iterable[int], min_approved: int) -> Self:
        """Return the same problem with at least `min_approved` of these rules in a selection."""
        other = copy(self)  # as in `at`
        object.__setattr__(other, "approved", _positions("approved", list(approved), self.m))
        object.__setattr__(
            other, "min_approved", check_integer("min_approved", min_approved, minimum=0)
        )
        check_approved(other)
        return other

    def counting_approved(self) -> Self:
        """Return the problem in which only approved rules count, one each, with the floor at 0.

        A floor on the sum is then one on the number of approved rules. That on each rule is met: it
        only fixes rules out (`each_floor`), and then needs no count any more.
        """
        counts = np.zeros(self.m, dtype=np.int64)
        counts[list(self.approved)] = 1
        below = rules_below(self, self.min_stability).tolist()
        other = self.keeping((), 0).with_floor("sum").with_counts(counts)
        return other.restricted(below, self.constraints)

    @abstractmethod
    def with_counts(self, counts: IntArray) -> Self:
        """Return a copy with other counts; what depends on them is to be forgotten."""

    def possible_rules(self) -> IntArray:
        """Return the rules of any selection that meets size, floor and fixings, ascending.

        Limits `A z <= b` are left aside.
        """
        counts, fixed = self.counts, np.array(self.fixed_in, dtype=np.int64)
        if self.floor == "each":
            return np.union1d(fixed, np.setdiff1d(self.free, rules_below(self, self.min_stability)))
        rules_left = self.size - len(fixed)
        if rules_left == 0:
            return fixed
        largest = np.sort(counts[self.free])[::-1][: rules_left - 1]
        needed = self.min_stability - self.stability(fixed) - int(largest.sum())
        free = self.free[counts[self.free] >= needed]
        return np.union1d(np.union1d(fixed, free), self.most_stable).astype(np.int64)

    # --- selections -------------------------------------------------------------------------------

    def stability(self, support: IntArray) -> int:
        """Return H1 of a selection: the sum of its counts, or under floor "each" the least.

        The least is over rules that are neither fixed in nor approved; of none, it is the largest
        of all counts.
        """
        return self._least_or_sum(support, (*self.fixed_in, *self.approved))

    def _least_or_sum(self, support: IntArray, exempt: Sequence[int]) -> int:
        S = np.asarray(support, dtype=np.int64)
        if self.floor == "each":
            return least_count(self.counts, np.setdiff1d(S, exempt))
        return int(self.counts[S].sum())

    def is_feasible(self, support: IntArray) -> bool:
        """Tell whether a selection meets every condition of the problem."""
        # Nothing is taken for granted: positions come from integer solvers, files and users too.
        chosen = {int(i) for i in support}
        return (
            len(chosen) == len(support) <= self.max_rules
            and chosen.issubset(range(self.m))
            and self.stability(support) >= self.min_stability
            and chosen.issuperset(self.fixed_in)
            and chosen.isdisjoint(self.fixed_out)
            and n_approved(self, chosen) >= self.min_approved
            and (self.constraints is None or self.constraints.holds(support))
        )

    def gains(self, r: FloatArray) -> FloatArray:
        """Return (gamma/2) r_i^2 of every rule, where its sign is not the wrong one; 0 there.

        With r = q - G w this is the rate -dH2/dz_i at which the loss falls. A rule that may only
        push the other way than r asks for has no part in the minimum, nor in the gradient.
        """
        if self.signs is not None:
            r = np.where(self.signs * r < 0, 0.0, r)
        return np.asarray(0.5 * self.gamma * r**2, dtype=np.float64)

    # --- problems made from this one ------------------------------------------------------------

    def padded(self) -> Self:
        """Return the problem with `max_rules` blanks after its rules, if it has limits.

        Where there are limits `A z <= b`, another rule may break one, so that a best selection may
        have fewer than max_rules rules. Blanks are rules that hold nowhere and count for nothing:
        they make up the number, and a search looks for exactly max_rules rules, as without limits.
        """
        if self.constraints is None:
            return self
        padded = self._with_blanks(self.max_rules)
        best = self.most_stable_feasible
        return padded if best is None else padded.knowing(padded.filled(best))

    def filled(self, support: IntArray) -> IntArray:
        """Return a selection of a padded problem with as many blanks as make it full size."""
        blanks = np.arange(self.m - self.max_rules, self.m)
        return np.append(support, blanks[: max(0, self.size - len(support))])

    def knowing(self, most_stable_feasible: IntArray) -> Self:
        """Return the problem with its most stable feasible selection, if it is known already.

        Under limits it is an integer program's, which need not be solved again.
        """
        # A field would be copied to problems of other fixings by `replace`, where it does not hold.
        other = copy(self)
        vars(other)["most_stable_feasible"] = most_stable_feasible
        return other

    @abstractmethod
    def _with_blanks(self, n: int) -> Self:
        """Return the problem with n more rules, which hold nowhere and count for nothing."""

    def _padded_counts(self, n: int) -> IntArray:
        """Return the counts, and those of n blanks, which are not to change H1."""
        blank = 0 if self.floor == "sum" else int(self.counts.max())
        return np.pad(self.counts, (0, n), constant_values=blank)

    def _padded_conditions(self, n: int) -> dict[str, Any]:
        """Return the fields that have an entry for each rule, those of the loss left aside."""
        return {
            "signs": None if self.signs is None else np.pad(self.signs, (0, n)),
            "constraints": None if self.constraints is None else self.constraints.padded(n),
        }

    # --- what methods ask of the loss -----------------------------------------------------------

    @property
    @abstractmethod
    def null_loss(self) -> float:
        """The loss of no rule at all: the scale of all others."""

    @abstractmethod
    def fit(self, support: IntArray) -> Fit:
        """Return the best weights of a selection, and its loss H2."""

    def weights(self, support: IntArray) -> FloatArray:
        """Return the best weights of a selection."""
        return self.fit(support).weights

    def loss(self, support: IntArray) -> float:
        """Return H2 of a selection."""
        return self.fit(support).loss

    def tangent_at(self, support: IntArray) -> tuple[float, FloatArray]:
        """Return H2 and its gradient in z at a selection."""
        z = np.zeros(self.m)
        z[support] = 1.0
        return self.tangent(z)

    @abstractmethod
    def tangent(self, z: FloatArray) -> tuple[float, FloatArray]:
        """Return H2 and its gradient at any point of [0, 1]^m."""

    @abstractmethod
    def relaxed_weights(self, z: FloatArray) -> FloatArray:
        """Return the best weights (m,) at a point of [0, 1]^m."""

    @abstractmethod
    def dual_parts(self, w: FloatArray) -> tuple[float, FloatArray]:
        """Return C and g (m,) of the lower bound H2(z) >= C - g'z that weights w (m,) give."""

    @property
    @abstractmethod
    def data(self) -> object:
        """What is known of the rows: `Statistics` or `Patterns`."""

    @property
    @abstractmethod
    def loss_parts(self) -> tuple[object, ...]:
        """The arrays and numbers of `data` that the loss depends on: all but the counts."""

    def has_same_loss(self, other: SelectionProblem) -> bool:
        """Tell whether a tangent of one problem's loss is one of the other's."""
        if self.gamma != other.gamma or not all(
            one is another or (isinstance(one, float) and one == another)
            for one, another in zip(self.loss_parts, other.loss_parts, strict=False)
        ):
            return False
        if self.signs is None or other.signs is None:
            return self.signs is other.signs
        return np.array_equal(self.signs, other.signs)

    @abstractmethod
    def data_parts(self) -> Iterator[bytes]:
        """Yield all numbers that the loss depends on, gamma left aside."""

    def __repr__(self) -> str:
        extras = [
            f", {len(part)} {name}"
            for part, name in ((self.fixed_in, "fixed in"), (self.fixed_out, "fixed out"))
            if part
        ]
        if self.constraints is not None:
            extras.append(f", {self.constraints!r}")
        if self.signs is not None:
            extras.append(f", {np.count_nonzero(self.signs)} signs")
        if self.floor != "sum":
            extras.append(f", floor={self.floor!r}")
        if self.approved:
            extras.append(f", {self.min_approved} of {len(self.approved)} approved")
        return (
            f"{type(self).__name__}(m={self.m:,}, max_rules={self.max_rules}, "
            f"gamma={self.gamma:g}, min_stability={self.min_stability} of "
            f"{self.max_stability_unlimited}{''.join(extras)})"
        )


# --- checks -------------------------------------------------------------------------------------


def _forget(problem: SelectionProblem, *names: str) -> None:
    """Forget what was computed of another problem, which this one is a copy of."""
    for name in names:
        vars(problem).pop(name, None)


def _check_floor(problem: SelectionProblem) -> None:
    largest = problem.largest_floor  # with limits, whether it is met is for the search
    if problem.min_stability > largest and problem.floor == "each":
        raise InfeasibleProblem(
            f"min_stability is {problem.min_stability}, but no rule is in more than {largest} "
            "trees; ask for at most that."
        )
    if problem.min_stability > largest:
        raise InfeasibleProblem(
            f"min_stability is {problem.min_stability}, but no {problem.max_rules} rules that may "
            f"be selected have more than {largest} counts together; ask for at most that."
        )


def whole_counts(counts: Any) -> IntArray:
    """Return counts as integers; proportions are a likely mistake."""
    counts = np.asarray(counts)
    if counts.dtype.kind not in "iu":
        counts = number_array("counts", counts)
    if counts.dtype.kind not in "iu" and not np.array_equal(counts, np.round(counts)):
        raise InvalidParameter(
            "The counts are not whole numbers; pass the number of trees of each rule, not a share."
        )
    return np.asarray(counts, dtype=np.int64)


def check_point(z: FloatArray, m: int) -> FloatArray:
    """Return a point of [0, 1]^m."""
    z = number_array("z", z).astype(np.float64)
    if z.shape != (m,) or not ((z >= 0) & (z <= 1)).all():
        raise InvalidParameter(f"z must have {m} entries between 0 and 1.")
    return z


def _whole_floor(value: Any) -> int:
    """Return the smallest integer that is at least `value`, as H1 is made of integers.

    A share of a whole number may be a rounding error above one: 0.07 * 100 is 7.000000000000001,
    and must not ask for 8 counts.
    """
    floor = check_number("min_stability", value, minimum=0)
    if isinstance(value, int | np.integer):
        return int(value)  # a float holds no more than 53 digits of it
    whole = math.floor(floor)
    return whole if floor - whole <= FEW_ROUNDINGS * math.ulp(floor) else whole + 1


def _signs(values: Any, m: int) -> IntArray | None:
    """Return the signs of weights; None if all are free."""
    if values is None:
        return None
    signs = number_array("signs", values)
    if signs.shape != (m,) or not np.isin(signs, (-1, 0, 1)).all():
        raise InvalidParameter(f"signs must be {m} numbers, one per rule, each -1, 0 or 1.")
    # None where all are free, so that weights are solved for without a quadratic program.
    return signs.astype(np.int64) if signs.any() else None


def _positions(name: str, values: Sequence[int], m: int) -> tuple[int, ...]:
    if not isinstance(values, Iterable):
        raise InvalidParameter(
            f"{name} is of type {type(values).__name__}; pass positions of rules."
        )
    return tuple(sorted({check_integer(name, i, minimum=0, maximum=m - 1) for i in values}))
