"""Limits on a selection beside its size and stability: `A z <= b`, on rules and groups of rules.

Notation (the rest as in `squared`)
    u_g        1 where a rule of group g is selected, else 0: the largest z_i of the group    (p,)
    A z <= b   with one column for each rule, and then one for each group: A_z z + A_u u <= b

"At most two rules on age" is a row over rules, "at most three features" a row over groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module

import numpy as np

from mossrules._arrays import number_array
from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.exceptions import InvalidParameter, MossError

__all__ = ["LinearConstraints", "unit_of"]

# Of HiGHS. For whole numbers its own gap and tolerances, 1e-6, are more than one of ten million.
QUIET = {"output_flag": False, "threads": 1, "mip_rel_gap": 0.0}
EXACT = {
    "mip_abs_gap": 0.0,
    "mip_feasibility_tolerance": 1e-10,
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
}


@dataclass(frozen=True, eq=False)
class LinearConstraints:
    """Further limits `A z <= b` on the selection z: one row per limit, one column per rule.

    With `groups`, a row for each group that marks its rules, A has one more column for each group:
    what it counts when any rule of the group is selected. These may not be negative.

    Examples
    --------
    At most one of the first two of three rules.

    >>> limits = LinearConstraints([[1, 1, 0]], [1])
    >>> limits.holds([0, 2]), limits.holds([0, 1])
    (True, False)
    """

    A: FloatArray  #: (limits, rules + groups)
    b: FloatArray  #: (limits,)
    groups: BoolArray = field(default_factory=lambda: np.empty((0, 0), dtype=bool))

    def __post_init__(self) -> None:
        A, b = (number_array(name, getattr(self, name)).astype(np.float64) for name in "Ab")
        groups = number_array("groups", self.groups).astype(bool)
        if A.ndim != 2 or b.shape != A.shape[:1]:
            raise InvalidParameter(
                f"A has shape {A.shape} and b {b.shape}; A z <= b needs one row of A for each "
                "entry of b."
            )
        if not (np.isfinite(A).all() and np.isfinite(b).all()):
            raise InvalidParameter("A z <= b has entries that are not finite; leave those out.")
        if groups.size == 0:
            groups = np.empty((0, A.shape[1]), dtype=bool)
        if groups.ndim != 2 or sum(groups.shape) != A.shape[1]:
            raise InvalidParameter(
                f"A has {A.shape[1]} columns and groups has shape {groups.shape}; A needs a column "
                "for each rule and each group."
            )
        # u_g is only held from below, by z_i <= u_g: a row that gains by it would take it for 1
        # where no rule of the group is selected.
        if (A[:, groups.shape[1] :] < 0).any():
            raise InvalidParameter("A counts a group less than 0; only rules may count so.")
        for name, value in (("A", A), ("b", b), ("groups", groups)):
            object.__setattr__(self, name, value)

    @property
    def m(self) -> int:
        """Number of rules."""
        return int(self.groups.shape[1])

    @property
    def of_rules(self) -> FloatArray:
        """The part of A that counts rules (rows, m)."""
        return self.A[:, : self.m]

    @property
    def of_groups(self) -> FloatArray:
        """The part of A that counts groups (rows, p)."""
        return self.A[:, self.m :]

    def holds(self, support: IntArray) -> bool:
        """Tell whether a selection keeps all the limits, up to rounding."""
        S = np.asarray(support, dtype=np.int64)
        used = self.of_rules[:, S].sum(axis=1) + self.of_groups @ self.groups[:, S].any(axis=1)
        return bool((used <= self.maximum).all())

    @property
    def maximum(self) -> FloatArray:
        """What the rows may count: b, and a little for the rounding of sums of A."""
        # Sums of whole numbers are exact, and one too many is one too many.
        is_whole = (np.round(self.A) == self.A).all(axis=1)
        room = 1e-9 * (1.0 + np.abs(self.b))
        whole = np.floor(self.b + np.minimum(room, 1e-6))
        return np.asarray(np.where(is_whole, whole, self.b + room), dtype=np.float64)

    def with_linked_groups(self) -> tuple[FloatArray, FloatArray]:
        """Return rows over (z, u) with 0 <= u <= 1 free: A, b and z_i <= u_g for rules of groups.

        As groups count for no less than 0, the smallest u that the links allow is the one meant, so
        u need not be integer: that keeps the binary variables of a master to those of rules.
        """
        g, i = np.nonzero(self.groups)
        links = np.zeros((len(g), self.A.shape[1]))
        links[np.arange(len(g)), i] = 1.0
        links[np.arange(len(g)), self.m + g] = -1.0
        return np.vstack([self.A, links]), np.concatenate([self.b, np.zeros(len(g))])

    def cheapest(
        self,
        cost: FloatArray,
        size: int,
        fixed_in: Sequence[int],
        fixed_out: Sequence[int],
        floor: tuple[IntArray, int] | None = None,
    ) -> IntArray | None:
        """Return the selection of at most `size` rules of the lowest cost that keeps the limits.

        `floor` is what rules count, and the minimum for the selection. None where no selection with
        the fixings keeps all. It is an integer program, for HiGHS: with general A even the question
        whether there is any selection is hard, so nothing simpler will do.
        """
        highspy = import_module("highspy")  # not scipy's, which prints to the terminal
        A, b = self.with_linked_groups()
        n = A.shape[1]
        low, high = np.zeros(n), np.ones(n)
        low[list(fixed_in)], high[list(fixed_out)] = 1.0, 0.0
        # The tolerances of the solver are absolute, and losses are of any size. Counts are left
        # whole: it then knows that a better selection is better by one, however large they are.
        is_whole = bool((np.round(cost) == cost).all())
        scale = 1.0 if is_whole else float(np.abs(cost).max())
        program = highspy.Highs()
        for name, value in (QUIET | EXACT if is_whole else QUIET).items():
            program.setOptionValue(name, value)
        columns = np.arange(n, dtype=np.int32)
        program.addVars(n, low, high)
        program.changeColsCost(n, columns, np.append(cost / scale, np.zeros(n - self.m)))
        kinds = np.full(self.m, int(highspy.HighsVarType.kInteger), dtype=np.uint8)
        program.changeColsIntegrality(self.m, columns[: self.m], kinds)
        rows, limits = [*A, np.where(columns < self.m, 1.0, 0.0)], [*b, float(size)]
        if floor is not None:
            unit = unit_of(floor[0])
            rows.append(np.append(-floor[0] / unit, np.zeros(n - self.m)))
            limits.append(-floor[1] / unit)
        for row, maximum in zip(rows, limits, strict=True):
            used = np.flatnonzero(row).astype(np.int32)
            program.addRow(-highspy.kHighsInf, maximum, len(used), used, row[used])
        program.run()
        program.resetGlobalScheduler(False)  # HiGHS keeps one for each thread
        # Anything but an optimum that keeps the limits is no answer: "infeasible" must be proven.
        status = program.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            return None
        support = np.flatnonzero(np.array(program.getSolution().col_value)[: self.m] > 0.5)
        if status != highspy.HighsModelStatus.kOptimal or not self.holds(support):
            raise MossError(
                f"HiGHS could not find what limits A z <= b allow ({status}); scale the rows of A "
                "to entries near 1."
            )
        return support

    @property
    def on_rules(self) -> LinearConstraints | None:
        """The limits that count no groups, if there are any."""
        rows = ~self.of_groups.any(axis=1)
        return LinearConstraints(self.of_rules[rows], self.b[rows]) if rows.any() else None

    @property
    def is_mixed(self) -> bool:
        """Whether a limit counts rules and groups at once."""
        return bool((self.of_rules.any(axis=1) & self.of_groups.any(axis=1)).any())

    def padded(self, n: int) -> LinearConstraints:
        """Return the same limits with n more rules, which count for nothing."""
        A = np.hstack([self.of_rules, np.zeros((len(self.b), n)), self.of_groups])
        return LinearConstraints(A, self.b, np.pad(self.groups, ((0, 0), (0, n))))

    def __repr__(self) -> str:
        groups = f" with {len(self.groups)} groups" if len(self.groups) else ""
        return f"LinearConstraints({len(self.b)} limits{groups})"


def unit_of(counts: IntArray) -> float:
    """Return a unit in which counts are about 1, for solvers whose tolerances are absolute.

    It is a power of two, so that nothing is rounded.
    """
    return float(2.0 ** np.ceil(np.log2(max(1, int(counts.max(initial=0))))))
