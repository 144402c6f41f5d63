"""Two models on the same rows: where their rules hold, and how far apart their predictions are.

One pass over chunks of rows, or over partitions of Dask, each of which becomes a `Tally`: sums that
add up. Memory does not grow with the rows.

Notation (of one outcome; sums run over rows, with their weights w)
    h_i, g_j   1 where rule i of the old, rule j of the new rule set holds, else 0
    both       sum w h_i g_j, so that the rows where just one holds are old_i + new_j - 2 both_ij,
               and those where either holds are old_i + new_j - both_ij
    a, b       predictions of the old and of the new model
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mossrules._typing import AnyArray, BoolArray, FloatArray
from mossrules.data.chunks import ChunkSource, LocalChunks, RowRange
from mossrules.data.columns import Column, Label
from mossrules.data.dask_partitions import DaskChunks, check_dask
from mossrules.data.files import scan_files
from mossrules.data.table import (
    Table,
    finite_numbers,
    is_dask,
    names_files,
    read_weights,
    target_column,
)
from mossrules.exceptions import InvalidTable, InvalidTarget, UnsupportedType
from mossrules.model.ruleset import RuleSet
from mossrules.model.rulesets import RuleSets
from mossrules.model.values import reading_options

__all__ = ["Side", "Tally", "class_key", "compare_on_rows", "scan_used"]

HALF = 0.5  # the probability on whose other side a class is decided otherwise
ROUNDING = 1e-12  # of the mean: predictions that vary less are constant


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two models, and its rule sets by outcome; None stands for a number."""

    name: str
    model: RuleSet | RuleSets
    sets: Mapping[Hashable, RuleSet]

    @classmethod
    def of(cls, name: str, model: RuleSet | RuleSets) -> Side:
        """Return a model with its rule sets by outcome."""
        if isinstance(model, RuleSet):
            return cls(name, model, {class_key(model.outcome): model})
        return cls(name, model, {class_key(label): each for label, each in model.items()})

    @property
    def first(self) -> RuleSet:
        """A rule set that has what all of them share: columns, link and target."""
        return next(iter(self.sets.values()))

    def predict(self, table: Table) -> dict[Hashable, FloatArray]:
        """Return what the model predicts of each outcome."""
        if isinstance(self.model, RuleSet):
            return dict.fromkeys(self.sets, self.model.predict(table))
        return dict(zip(self.sets, self.model.predict_proba(table).T, strict=True))


def class_key(label: Label | None) -> Hashable:
    """Return what stands for a class: equal for 1, 1.0 and "1", which files do not tell apart."""
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return None if label is None else str(label)


# --- sums -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Tally:
    """Sums over some rows, of one outcome."""

    weight: float
    old: FloatArray  # (old rules,)
    new: FloatArray  # (new rules,)
    both: FloatArray  # (old rules, new rules)
    means: FloatArray  # of a and b
    moments: FloatArray  # sum w (a - mean)(b - mean)': (2, 2)
    apart: float  # sum w |a - b|
    largest: float  # |a - b|
    other_side: float  # weight of the rows with just one of a and b at a half or more

    @classmethod
    def of(
        cls, holds: tuple[BoolArray, BoolArray], a: FloatArray, b: FloatArray, w: FloatArray
    ) -> Tally:
        """Return the sums over the rows of a chunk."""
        H, G = (each.astype(np.float64) for each in holds)
        both, total = np.stack([a, b]), float(w.sum())
        means = both @ w / total if total else np.zeros(2)
        centred = both - means[:, None]
        difference = np.abs(a - b)
        crossed = (a >= HALF) != (b >= HALF)
        return cls(
            weight=total,
            old=w @ H,
            new=w @ G,
            both=(H * w[:, None]).T @ G,
            means=means,
            moments=(centred * w) @ centred.T,
            apart=float(w @ difference),
            largest=float(difference[w > 0].max(initial=0.0)),
            other_side=float(w @ crossed),
        )

    def __add__(self, other: Tally) -> Tally:
        """Return the sums over the rows of both."""
        weight = self.weight + other.weight
        share = other.weight / weight if weight else 0.0
        # Chan, Golub and LeVeque (1983): what moments about two means lack about the common one.
        shift = other.means - self.means
        return Tally(
            weight=weight,
            old=self.old + other.old,
            new=self.new + other.new,
            both=self.both + other.both,
            means=self.means + share * shift,
            moments=self.moments + other.moments + self.weight * share * np.outer(shift, shift),
            apart=self.apart + other.apart,
            largest=max(self.largest, other.largest),
            other_side=self.other_side + other.other_side,
        )

    @property
    def correlation(self) -> float:
        """Of the predictions; NaN where one of the two is constant."""
        variances = np.diagonal(self.moments) / self.weight
        if (np.sqrt(variances) <= ROUNDING * np.abs(self.means)).any():
            return float("nan")
        bounded = self.moments[0, 1] / self.weight / np.sqrt(variances.prod())
        return float(np.clip(bounded, -1.0, 1.0))

    @property
    def differ(self) -> FloatArray:
        """Share of the rows where just one of two rules holds: (old rules, new rules)."""
        return (self.old[:, None] + self.new - 2.0 * self.both) / self.weight

    @property
    def jaccard(self) -> FloatArray:
        """Share of the rows where either rule holds in which both do; NaN where neither ever does.

        Of shape (old rules, new rules).
        """
        either = self.old[:, None] + self.new - self.both
        return np.divide(self.both, either, out=np.full_like(either, np.nan), where=either > 0)


@dataclass(frozen=True, eq=False)
class Tallies:
    """Sums over some rows: of each outcome that both models have, and of all together."""

    rows: int
    weight: float
    likeliest: float  # weight of the rows whose likeliest class is another one
    by_outcome: Mapping[Hashable, Tally]

    def __add__(self, other: Tallies) -> Tallies:
        """Return the sums over the rows of both."""
        return Tallies(
            self.rows + other.rows,
            self.weight + other.weight,
            self.likeliest + other.likeliest,
            {key: each + other.by_outcome[key] for key, each in self.by_outcome.items()},
        )


def compare_on_rows(old: Side, new: Side, X: Any, sample_weight: Any) -> Tallies:
    """Return the sums over all rows of a table, of files, or of a Dask collection."""
    name = sample_weight if isinstance(sample_weight, str) else None
    chunks: ChunkSource[Any]
    if is_dask(X):
        if sample_weight is not None and name is None:
            raise UnsupportedType(
                "sample_weight has values of its own, and X is a Dask collection; add them to X as "
                "a column, and pass its name."
            )
        chunks = DaskChunks(_partitions(X))
        work = partial(_of_partition, old, new, name)
    else:
        sets = (*old.sets.values(), *new.sets.values())
        table = scan_used(sets, X, weights=name) if names_files(X) else Table.from_any(X)
        weights = sample_weight if name is None else _numbers(table, name)
        weights = read_weights(weights, table.n_rows)
        chunks = LocalChunks(table.ranges())
        work = partial(_of_rows, old, new, table, weights)
    if not len(chunks):
        raise _empty()
    found: Tallies = chunks.fold(work, operator.add)
    if not found.weight > 0:
        raise _empty()
    return found


def _empty() -> InvalidTable:
    return InvalidTable(
        "X has no rows, or none with a positive weight; pass the rows on which to compare, or "
        "leave X out."
    )


def scan_used(
    sets: Sequence[RuleSet], paths: Any, *, weights: str | None = None, **said: Any
) -> Table:
    """Return a table of files with the columns that rules use, as they were in training.

    What is said of the files beside (`said`) are options of `scan_files`.
    """
    # Text does not say whether 0 and 1 are numbers or labels; the rules do, unless they disagree.
    how = reading_options(paths, [each.binning for each in sets])
    if how["only"] is not None and weights is not None:
        how |= {name: [*how[name], weights] for name in ("only", "required")}
    return scan_files(paths, **how, **said)


def _partitions(X: Any) -> list[Any]:
    check_dask()
    return list(X.to_delayed() if hasattr(X, "columns") else X.rechunk({1: -1}).to_delayed()[:, 0])


def _numbers(table: Table, name: str) -> FloatArray:
    """Return the weights that a column of the table has."""
    try:
        column = target_column(table, name)
    except InvalidTarget:
        raise InvalidTarget(
            f"sample_weight is {name!r}, which is not a column of X; pass the name of one, or one "
            "number per row."
        ) from None
    return finite_numbers(column, 0, table.n_rows)


def _of_partition(old: Side, new: Side, weights: str | None, part: Any) -> Tallies:
    table = Table.from_any(part)
    w = np.ones(table.n_rows) if weights is None else _numbers(table, weights)
    if w.min(initial=0.0) < 0:
        raise InvalidTarget("sample_weight has negative values; weights must be zero or more.")
    return _tallies(old, new, table, w)


def _of_rows(
    old: Side, new: Side, table: Table, weights: FloatArray | None, rows: RowRange
) -> Tallies:
    columns = tuple(
        Column(
            each.name,
            each.kind,
            partial(_shifted, each.read, rows.start),
            each.levels,
            partial(_shifted, each.labels, rows.start),
        )
        for each in table.columns
    )
    w = np.ones(len(rows)) if weights is None else weights[rows.start : rows.stop]
    return _tallies(old, new, Table(columns, len(rows), table.named), w)


def _shifted(read: Any, offset: int, start: int, stop: int) -> AnyArray:
    values: AnyArray = read(offset + start, offset + stop)
    return values


def _tallies(old: Side, new: Side, table: Table, w: FloatArray) -> Tallies:
    a, b = old.predict(table), new.predict(table)
    likeliest = 0.0
    if isinstance(old.model, RuleSets) and isinstance(new.model, RuleSets):
        likeliest = float(w @ (_likeliest(a) != _likeliest(b)))
    return Tallies(
        rows=table.n_rows,
        weight=float(w.sum()),
        likeliest=likeliest,
        by_outcome={
            key: Tally.of(
                (old.sets[key].holds(table), new.sets[key].holds(table)), a[key], b[key], w
            )
            for key in old.sets
            if key in new.sets
        },
    )


def _likeliest(probabilities: Mapping[Hashable, FloatArray]) -> AnyArray:
    keys = np.array([*map(str, probabilities)], dtype=object)
    likeliest: AnyArray = keys[np.argmax(np.stack([*probabilities.values()]), axis=0)]
    return likeliest
