"""Frontiers as JSON, to keep them.

Numbers survive the round trip bit for bit. Whatever is wrong with a file, reading it raises
`InvalidFile` and nothing else.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mossrules._files import replace_file
from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InvalidFile
from mossrules.frontier.result import Frontier, FrontierPoint
from mossrules.solver.bounds.verification import DualPoint
from mossrules.solver.result import Report, Solution, Status

__all__ = ["frontier_from_json", "frontier_to_json"]

FORMAT, VERSION = "mossrules frontier", 1
SCALARS = (
    "largest_stability",
    "null_loss",
    "max_rules",
    "gamma",
    "complete",
    "seconds",
    "interrupted",
)


def frontier_to_json(frontier: Frontier) -> str:
    """Return a frontier as text.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.frontier import frontier_from_json
    >>> model = MossRegressor(2, n_trees=20).fit({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0])
    >>> text = frontier_to_json(model.frontier(points=3))
    >>> frontier_from_json(text).stability
    array([20, 17])
    """
    content: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    content |= {name: getattr(frontier, name) for name in SCALARS}
    content["entries"] = [entry_to_dict(entry) for entry in frontier.entries]
    return json.dumps(strict(content), allow_nan=False)


def frontier_from_json(text: str) -> Frontier:
    """Return the frontier of a text, or say what is wrong with it.

    See Also
    --------
    mossrules.frontier.frontier_to_json : Makes such texts.
    """
    content = parse(text, "The text", "pass what Frontier.to_json returned")
    with damage_is("The frontier cannot be read", "write it again with Frontier.to_json"):
        entries = tuple(entry_from_dict(entry) for entry in content["entries"])
        return Frontier(
            entries=entries,
            largest_stability=read_count(content["largest_stability"]),
            null_loss=float(read_number(content["null_loss"])),
            max_rules=read_count(content["max_rules"]),
            gamma=float(read_number(content["gamma"])),
            complete=_truth(content["complete"]),
            seconds=float(read_number(content["seconds"])),
            interrupted=_truth(content.get("interrupted", False)),  # older texts lack it
        )


def parse(
    text: str, what: str, remedy: str, *, form: str = FORMAT, version: int = VERSION
) -> Mapping[str, Any]:
    """Return the content of a text, or say that `what` is none and what to do."""
    try:
        content = json.loads(text)
    except (TypeError, ValueError, RecursionError) as reason:
        raise InvalidFile(f"{what} is not JSON; {remedy}.") from reason
    if not isinstance(content, dict) or content.get("format") != form:
        raise InvalidFile(f"{what} is not of a {form}; {remedy}.")
    if content.get("version") != version:
        raise InvalidFile(
            f"{what} has format version {repr(content.get('version'))[:50]} and this release reads "
            f"version {version}; use the release that wrote it."
        )
    return content


def write_checkpoint(path: Path, content: Mapping[str, Any]) -> None:
    """Put a record of a run in the place of the one before it, making its folder if need be."""
    text = json.dumps(strict(content), allow_nan=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text)
    except OSError as reason:
        raise InvalidFile(
            f"The checkpoint {path} cannot be written ({reason}); choose another path."
        ) from reason


def read_checkpoint(path: Path) -> str:
    """Return the text of a record of a run."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as reason:
        raise InvalidFile(f"The checkpoint {path} cannot be read: {reason}.") from reason


@contextmanager
def damage_is(what: str, remedy: str) -> Iterator[None]:
    """Turn what goes wrong with fields that are missing or of another kind into one sentence."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as reason:
        brief = f"{type(reason).__name__}: {str(reason)[:100]}"
        raise InvalidFile(f"{what} ({brief}); {remedy}.") from reason


# --- solutions ----------------------------------------------------------------------------------


def entry_to_dict(entry: FrontierPoint) -> dict[str, Any]:
    solution, dual = entry.solution, entry.solution.dual
    return {
        "floor": int(entry.floor),
        "reused": entry.reused,
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
        "dual": None if dual is None else {
            "rules": dual.rules.tolist(),
            "weights": dual.weights.tolist(),
            "lam": dual.lam,
            "mu": dual.mu,
            "bound": dual.bound,
            "fixed_in": dual.fixed_in.tolist(),
            "fixed_out": dual.fixed_out.tolist(),
            "prices": dual.prices.tolist(),
        },
    }  # fmt: skip


def entry_from_dict(content: Mapping[str, Any]) -> FrontierPoint:
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
        intercept=float(read_number(content.get("intercept", 0.0))),
        dual=None if dual is None else DualPoint(
            rules=read_positions(dual["rules"]),
            weights=read_numbers(dual["weights"]),
            lam=float(read_number(dual["lam"])),
            mu=float(read_number(dual["mu"])),
            bound=float(read_number(dual["bound"])),
            fixed_in=read_positions(dual["fixed_in"]),
            fixed_out=read_positions(dual["fixed_out"]),
            prices=read_numbers(dual.get("prices", [])),  # files of earlier releases have none
        ),
    )  # fmt: skip
    if len(solution.support) != len(solution.weights):
        raise ValueError("a solution has another number of weights than rules")
    if not solution.bound <= solution.loss:  # also where one of them is NaN
        raise ValueError("a bound is above the loss, or one of them is no number")
    return FrontierPoint(read_count(content["floor"]), solution, _truth(content["reused"]))


def strict(content: Any) -> Any:
    """Return content with text in place of NaN and infinities, which are no JSON."""
    if isinstance(content, dict):
        return {name: strict(value) for name, value in content.items()}
    if isinstance(content, list):
        return [strict(value) for value in content]
    return str(content) if isinstance(content, float) and not math.isfinite(content) else content


def read_number(value: Any) -> float:
    if value in ("nan", "inf", "-inf"):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("a figure is not a number")
    return value


def read_count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise TypeError("a count is not an integer from 0 on, of 63 bits at most")
    return value


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false is something else")
    return value


def read_positions(values: Any) -> IntArray:
    """Return a list of positions of rules, ascending."""
    found = np.array([read_count(value) for value in values], dtype=np.int64)
    if (np.diff(found) <= 0).any():
        raise ValueError("positions are not ascending")
    return found


def read_numbers(values: Any) -> FloatArray:
    """Return a list of numbers."""
    return np.array([read_number(value) for value in values], dtype=np.float64)
