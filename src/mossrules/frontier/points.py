"""A point of a frontier: the floor that was asked for, and the solution there; also as JSON.

Numbers survive the round trip bit for bit, so that a run which goes on from its checkpoint ends
with what one that was never stopped finds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.checkpoint import read_count, read_number, read_truth
from mossrules.solver.bounds.duality import DualPoint
from mossrules.solver.result import Report, Solution, Status

__all__ = [
    "FORMAT",
    "VERSION",
    "FrontierPoint",
    "point_from_dict",
    "point_to_dict",
    "read_numbers",
    "read_positions",
]

FORMAT, VERSION = "mossrules frontier", 1  # of frontiers, and of checkpoints of their runs


@dataclass(frozen=True, eq=False)
class FrontierPoint:
    """A floor and the solution there; `reused` if other floors proved it without a search.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.frontier import solve_frontier
    >>> model = MossRegressor(2, n_trees=20).fit({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0])
    >>> point = solve_frontier(model.problem_, [14, 5]).entries[-1]
    >>> point.floor, point.solution.stability, point.reused
    (5, 11, False)
    """

    floor: int  #: least stability that was asked for
    solution: Solution  #: the best rule set found there
    reused: bool = False


def point_to_dict(point: FrontierPoint) -> dict[str, Any]:
    """Return a point as plain values."""
    # Field by field, so that names in files do not change with names in the code.
    solution = point.solution
    return {
        "floor": int(point.floor),
        "reused": point.reused,
        "support": solution.support.tolist(),
        "weights": solution.weights.tolist(),
        "intercept": solution.intercept,
        "loss": solution.loss,
        "stability": int(solution.stability),
        "bound": solution.bound,
        "status": solution.status.name,
        "report": {
            "method": solution.report.method,
            "reason": solution.report.reason,
            "seconds": solution.report.seconds,
            "asked_gap": solution.report.asked_gap,
            "figures": dict(solution.report.counters),  # the file keeps the name that it began with
        },
        "dual": None if solution.dual is None else _dual_to_dict(solution.dual),
    }


def _dual_to_dict(dual: DualPoint) -> dict[str, Any]:
    return {
        "rules": dual.rules.tolist(),
        "weights": dual.weights.tolist(),
        "lam": dual.lam,
        "mu": dual.mu,
        "bound": dual.bound,
        "fixed_in": dual.fixed_in.tolist(),
        "fixed_out": dual.fixed_out.tolist(),
        "prices": dual.prices.tolist(),
    }


def point_from_dict(content: Mapping[str, Any]) -> FrontierPoint:
    """Return a point of plain values; raises where they are none, or contradict each other."""
    report, dual = content["report"], content["dual"]
    solution = Solution(
        support=read_positions(content["support"]),
        weights=read_numbers(content["weights"]),
        loss=float(read_number(content["loss"])),
        stability=read_count(content["stability"]),
        bound=float(read_number(content["bound"])),
        status=Status[content["status"]],
        report=Report(
            method=str(report["method"]),
            reason=str(report["reason"]),
            seconds=float(read_number(report["seconds"])),
            asked_gap=float(read_number(report["asked_gap"])),
            counters={str(name): read_number(value) for name, value in report["figures"].items()},
        ),
        intercept=float(read_number(content.get("intercept", 0.0))),  # older files have none
        dual=None if dual is None else _dual_from_dict(dual),
    )
    if len(solution.support) != len(solution.weights):
        raise ValueError("a solution has another number of weights than rules")
    if not solution.bound <= solution.loss:  # also where one of them is NaN
        raise ValueError("a bound is above the loss, or one of them is not a number")
    return FrontierPoint(read_count(content["floor"]), solution, read_truth(content["reused"]))


def _dual_from_dict(content: Mapping[str, Any]) -> DualPoint:
    return DualPoint(
        rules=read_positions(content["rules"]),
        weights=read_numbers(content["weights"]),
        lam=float(read_number(content["lam"])),
        mu=float(read_number(content["mu"])),
        bound=float(read_number(content["bound"])),
        fixed_in=read_positions(content["fixed_in"]),
        fixed_out=read_positions(content["fixed_out"]),
        prices=read_numbers(content.get("prices", [])),  # older files have none
    )


def read_positions(values: Any) -> IntArray:
    """Return a list of positions of rules, ascending."""
    positions = np.array([read_count(value) for value in values], dtype=np.int64)
    if (np.diff(positions) <= 0).any():
        raise ValueError("positions are not ascending")
    return positions


def read_numbers(values: Any) -> FloatArray:
    """Return a list of numbers."""
    return np.array([read_number(value) for value in values], dtype=np.float64)
