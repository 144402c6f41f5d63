"""What one would pick instead: other packages on the same folds, judged by the same definitions.

Each package runs in an interpreter that has it; see `peer_packages`. All see the rows of the same
folds; those of other packages see them as numbers, a column for each level of a category, and the
median of the training rows for what is missing. R2 is computed here from predictions, and whether
two rules are the same is decided here from their thresholds; see `peer_rules`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import r2_score

from mossrules._common import cached_property
from mossrules._typing import CodeArray, FloatArray, IntArray
from mossrules.candidates.rules import Rule
from mossrules.data.rows import read_rows
from mossrules.evaluation.agreement import SAME_ROWS, matches, pairwise
from mossrules.evaluation.folds import split_rows
from mossrules.evaluation.methods import Source
from mossrules.exceptions import SolveLimitWarning
from mossrules.solver.search.branch_and_bound import compile_kernels
from mossrules.stability import Agreement
from research.harness.processes import ask
from research.paper.datasets import Dataset
from research.paper.framework import Experiment, ExperimentContext, Row
from research.paper.numbers import Numbers
from research.paper.peer_packages import PEERS, SCRIPT, Peer
from research.paper.peer_rules import LINEAR, Comparison, Cuts, holds
from research.paper.peer_tables import present
from research.paper.protocols import DEFAULT, MedianFilled, MedianFiller

__all__ = ["EXPERIMENT", "Settings"]

OURS = "mossrules"  # the task of our own learners
# From 159 to 4177 rows; with and without categories and gaps; of few values and of many.
DATASETS = (
    "auto_price", "visualizing_galaxy", "autoMpg", "ESL", "no2", "stock", "socmob", "abalone",
)  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """What is run."""

    datasets: tuple[str, ...] = DATASETS
    ours: tuple[str, ...] = ("MOSS-H", DEFAULT, "SIRUS")
    peers: tuple[str, ...] = tuple(PEERS)
    max_rules: int = 15
    folds: int = 5  # some of the packages take their time
    n_trees: int | None = None  # of ours, as the protocol has it; others have their own defaults
    seconds: float = 3600.0  # for all folds of a peer
    seed: int = 0


def tasks(settings: Settings) -> list[str]:
    """Return each dataset with our learners, and with each peer."""
    sides = (OURS, *settings.peers)
    return [f"{dataset}: {side}" for dataset in settings.datasets for side in sides]


def run(settings: Settings, task: str, context: ExperimentContext) -> list[Row]:
    """Return one row for each learner of a side."""
    dataset, side = task.split(": ", 1)
    data = context.load(dataset)
    folds = list(folds_of(data, settings.folds, fill=context.protocol.is_paper))
    if side == OURS:
        return [
            summary(data, learner, [fit_ours(model, fold) for fold in folds])
            for learner, model in our_learners(settings, data, context).items()
        ]
    peer = PEERS[side]
    python = peer.interpreter()
    if python is None:
        return [summary(data, side, [], peer.remedy)]
    found, failure = fit_peer(python, peer, folds, settings)
    return [summary(data, side, found, failure)]


def settled(rows: Sequence[Row]) -> bool:
    """Tell whether a task was measured, and need not be tried again."""
    return all(row["failed"] < row["folds"] for row in rows)


# --- a fold ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fold:
    """Rows to learn from and rows to predict."""

    whole: Any  # all rows of the table
    X: Any
    y: FloatArray
    new: Any
    target: FloatArray  # of the rows to predict

    @cached_property
    def cuts(self) -> Cuts:
        """The bins on which rules are compared."""
        return Cuts.of(self.X)

    @cached_property
    def numbers(self) -> Numbers:
        """How others see the rows."""
        return Numbers.of(self.X)


@dataclass(frozen=True)
class Found:
    """What a learner made of a fold."""

    r2: float = float("nan")
    terms: frozenset[Rule | str] | None = None  # rules, and the columns of linear terms
    bits: CodeArray | None = None  # rows on which each rule holds, eight to a byte
    seconds: float = float("nan")
    cpu: float = float("nan")
    version: str = ""
    failure: str | None = None

    @property
    def linear(self) -> frozenset[str]:
        """The linear terms."""
        return frozenset(each for each in self.terms or () if isinstance(each, str))


def folds_of(data: Dataset, n_folds: int, *, fill: bool) -> Iterator[Fold]:
    """Give the folds that every experiment has, with medians for gaps if they are to be filled."""
    rows = read_rows(data.X, data.y, whole=True)
    source = Source(data.X, None)

    def part(positions: IntArray) -> tuple[Any, FloatArray]:
        return source.take(rows.origin[positions]), rows.target[positions]

    for train, test in split_rows(rows, n_folds):
        X, y = part(train)
        new, target = part(test)
        see = MedianFiller().fit(X).transform if fill else _as_it_is
        yield Fold(see(data.X), see(X), y, see(new), target)


def _as_it_is(X: Any) -> Any:
    return X


def our_learners(settings: Settings, data: Dataset, context: ExperimentContext) -> dict[str, Any]:
    """Return our learners on one thread; medians are not theirs to fill, as folds have them."""
    found = context.learners(settings, data, settings.ours, jobs=1)
    return {
        name: model.learner if isinstance(model, MedianFilled) else model
        for name, model in found.items()
    }


def fit_ours(model: Any, fold: Fold) -> Found:
    """Return what one of our learners makes of a fold."""
    compile_kernels()  # before any clock
    begun, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SolveLimitWarning)
        fitted = clone(model).fit(fold.X, fold.y)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    rules = fitted.rules_
    return Found(
        r2=float(r2_score(fold.target, fitted.predict(fold.new))),
        terms=frozenset(rules.rules),
        bits=np.packbits(rules.holds(fold.whole).T, axis=1),
        seconds=seconds,
        cpu=cpu,
    )


def fit_peer(
    python: str, peer: Peer, folds: Sequence[Fold], settings: Settings
) -> tuple[list[Found], str | None]:
    """Return what a peer makes of the folds, and how it failed if it did."""
    job = {
        "peer": peer.key,
        "max_rules": settings.max_rules,
        "seed": settings.seed,
        "folds": [
            {
                "X": fold.numbers.read(fold.X),
                "y": fold.y,
                "new": fold.numbers.read(fold.new),
            }
            for fold in folds
        ],
    }
    answers = ask(python, SCRIPT, job, settings.seconds)
    found = [
        read_answer(answer, fold) for answer, fold in zip(answers.results, folds, strict=False)
    ]
    missing = [Found(failure=answers.failure) for _ in range(len(folds) - len(found))]
    return found + missing, answers.failure


def read_answer(answer: Mapping[str, Any], fold: Fold) -> Found:
    """Return what a peer said of a fold, by our definitions."""
    if "failure" in answer:
        return Found(failure=answer["failure"], version=answer["version"])
    terms, bits = None, None
    if answer["terms"] is not None:
        names = fold.numbers.names
        named: list[list[Comparison]] = [
            [(names[column], comparison, value) for column, comparison, value in term]
            for term in answer["terms"]
        ]
        rules = [term for term in named if term[0][1] != LINEAR]
        linear = {term[0][0] for term in named if term[0][1] == LINEAR}
        terms = frozenset[Rule | str]([*map(fold.cuts.rule, rules), *linear])
        matrix = fold.numbers.read(fold.whole)
        place = {name: i for i, name in enumerate(names)}
        rows = [holds(rule, matrix, place) for rule in rules]
        bits = np.packbits(np.reshape(rows, (len(rows), len(matrix))).astype(bool), axis=1)
    return Found(
        r2=float(r2_score(fold.target, answer["predictions"])),
        terms=terms,
        bits=bits,
        seconds=answer["seconds"],
        cpu=answer["cpu"],
        version=answer["version"],
    )


# --- over folds -----------------------------------------------------------------------------------


def summary(data: Dataset, learner: str, found: Sequence[Found], failure: str | None = None) -> Row:
    """Return a learner's row: means over the folds that it did, and medians of seconds."""
    done = [each for each in found if each.failure is None]
    r2 = np.array([each.r2 for each in done])
    ruled = [each for each in done if each.terms is not None]
    dice = rows_dice = None
    if len(ruled) > 1:
        terms = [each.terms for each in ruled if each.terms is not None]
        dice = Agreement.of(terms, identity="codes").mean("dice")
        rows_dice = float(_on_rows(ruled).mean("dice"))
    failures = [each.failure for each in found if each.failure is not None]
    return {
        "dataset": data.name,
        "rows": len(data.y),
        "substitute": data.substitute,
        "learner": learner,
        "version": next((each.version for each in found if each.version), None),
        "folds": max(len(found), 1),
        "failed": len(found) - len(done) if found else 1,
        "r2": float(r2.mean()) if done else None,
        "r2_se": float(r2.std(ddof=1) / np.sqrt(len(r2))) if len(done) > 1 else None,
        "dice": None if dice is None else dice.estimate,
        "dice_se": None if dice is None else dice.standard_error,
        "dice_rows": rows_dice,
        "terms": _mean([len(each.terms or ()) for each in ruled]),
        "linear": _mean([len(each.linear) for each in ruled]),
        "seconds": _median([each.seconds for each in done]),
        "cpu_seconds": _median([each.cpu for each in done]),
        "failure": next(iter(failures), failure),
    }


def _on_rows(found: Sequence[Found]) -> Agreement:
    """Return the agreement of rules that hold on nearly the same rows, and of linear terms."""

    def count(one: Found, other: Found) -> int:
        if one.bits is None or other.bits is None:
            return 0
        return matches(one.bits, other.bits, SAME_ROWS) + len(one.linear & other.linear)

    shared = pairwise(list(found), count)
    return Agreement(shared, int(shared.max()), f"rows to {SAME_ROWS:g}")


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _median(values: Sequence[float]) -> float | None:
    return float(np.median(values)) if values else None


EXPERIMENT = Experiment(
    "peers",
    "Other packages on the same folds",
    "Other packages on the same folds: SIRUS, RuleFit, FIGS and EBM beside MOSS.",
    Settings(),
    Settings(("ESL", "no2"), folds=3, n_trees=200),
    tasks,
    run,
    present,
    settled,
)
