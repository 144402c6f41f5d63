"""How to solve: tolerances, limits, and what to call on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from mossrules import defaults
from mossrules._common import Clock, check_integer, check_listener, check_number
from mossrules._files import check_place
from mossrules.exceptions import InvalidParameter

__all__ = ["MASTER_ROUNDING", "Clock", "Master", "Method", "Options", "Snapshot", "relative_gap"]

Method = Literal["auto", "branch-and-bound", "cutting-plane", "coordinate-descent"]
Master = Literal["highs", "scip", "gurobi"]

# Relative. Integer masters that are asked for no gap leave about this, and one whose proof is
# refuted by more, by a rule set that is known, has failed.
MASTER_ROUNDING = 1e-6


@dataclass(frozen=True)
class Snapshot:
    """Where a running search stands.

    Examples
    --------
    >>> print(Snapshot(seconds=1.5, steps=200, loss=10.0, bound=9.9))
        1.5 s        200 steps  loss 10  bound 9.9  gap 1.000%
    """

    seconds: float  #: since the start
    steps: int  #: nodes of branch and bound, masters solved by the cutting plane
    loss: float  #: of the best rule set so far
    bound: float  #: no rule set has a smaller loss than this

    @property
    def gap(self) -> float:
        """Relative distance between loss and bound."""
        return relative_gap(self.loss, self.bound)

    def __str__(self) -> str:
        return (
            f"{self.seconds:7.1f} s  {self.steps:>9,} steps  loss {self.loss:.6g}  "
            f"bound {self.bound:.6g}  gap {self.gap:.3%}"
        )


@dataclass(frozen=True)
class Options:
    """Settings of a solve; the defaults suit most problems.

    Parameters
    ----------
    gap
        Stop when (loss - bound) / loss is at most this; 0 asks for the optimum up to rounding.
    time_limit
        Seconds after which the best rule set so far is returned; None for no limit. Compiling the
        solver, once after installation, does not count.
    node_limit
        Maximum number of nodes of branch and bound, or of masters of the cutting plane; None for no
        limit.
    open_nodes
        Nodes of branch and bound kept in memory at once, half a kilobyte each, with space for as
        many again. A search that needs more stops with status NODE_LIMIT.
    threads
        Threads of branch and bound, or of the master. For the logistic loss two relax both children
        of a node at once, and more have no effect.
    master
        Integer solver of the cutting plane: "highs", "scip" or "gurobi".
    root_cuts
        Cuts at fractional points that the cutting plane makes before its first master. The paper
        has none, so the default is 0; 40 make it several times faster on most problems.
    seed
        Passed to the master. Branch and bound makes no random choices.
    progress
        Called with a `Snapshot` a few times a second.
    proof
        A file to write a proof of the bound to, which `check_proof` checks; None for none. Losses
        closer than 1e-9 of the loss without rules then count as equal.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.solver import solve
    >>> model = MossRegressor(2, n_trees=20).fit({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0])
    >>> solve(model.problem_, options=Options(gap=0.0, time_limit=10.0)).status.value
    'optimal'
    """

    gap: float = defaults.GAP
    time_limit: float | None = defaults.TIME_LIMIT
    node_limit: int | None = None
    open_nodes: int = 4_000_000
    threads: int = 1
    master: Master = "highs"
    root_cuts: int = 0
    seed: int = 0
    progress: Callable[[Snapshot], object] | None = None
    proof: str | Path | None = None

    def __post_init__(self) -> None:
        check_number("gap", self.gap, minimum=0)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit)
        if self.node_limit is not None:
            check_integer("node_limit", self.node_limit)
        check_integer("open_nodes", self.open_nodes)
        check_integer("threads", self.threads)
        check_integer("root_cuts", self.root_cuts, minimum=0)
        check_integer("seed", self.seed, minimum=0, maximum=2**31 - 1)
        if not isinstance(self.master, str) or self.master not in get_args(Master):
            raise InvalidParameter(
                f"master is {self.master!r}; choose from {', '.join(get_args(Master))}."
            )
        check_listener(self.progress, "snapshot")
        if self.proof is not None:
            if not isinstance(self.proof, str | Path):
                raise InvalidParameter(f"proof is {self.proof!r}; pass the path of a file.")
            check_place(Path(self.proof))


def relative_gap(loss: float, bound: float) -> float:
    """Return (loss - bound) / loss, and 0 when both are 0."""
    return (loss - bound) / loss if loss > 0 else 0.0
