"""Labels of any kind -> classes and numbers: what a classifier learns from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mossrules._common import check_number
from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.data.canonical_order import are_repetitions
from mossrules.data.columns import NUMBERS, Column, Kind
from mossrules.data.table import finite_numbers
from mossrules.data.values import EXACT, Family, Label, families_of
from mossrules.exceptions import InvalidColumn, InvalidParameter, InvalidTarget, MossError

__all__ = [
    "check_class_weight",
    "label_array",
    "label_values",
    "python_label",
    "read_labels",
    "read_target",
    "scale_weights",
    "sort_labels",
    "weigh_classes",
]


def read_target(
    column: Column, n_rows: int, weights: FloatArray | None = None, *, of_classes: bool
) -> tuple[FloatArray, AnyArray | None]:
    """Return the target of all rows, and the classes of which it has the positions.

    Classes are those of rows that count; the position of others says nothing.
    """
    if not of_classes:
        return finite_numbers(column, 0, n_rows), None
    classes, codes = read_labels(column, n_rows)
    if weights is not None:
        counted = np.unique(codes[weights > 0])
        if 2 <= len(counted) < len(classes):
            places = np.zeros(len(classes), dtype=np.int64)
            places[counted] = np.arange(len(counted))
            classes, codes = classes[counted], places[codes]
    return codes.astype(np.float64), classes


def read_labels(column: Column, n_rows: int, *, minimum: int = 2) -> tuple[AnyArray, IntArray]:
    """Return the classes, sorted, and the position of each row's class among them."""
    values = label_values(column, 0, n_rows)
    classes = sort_labels(column.name, set(values.tolist()), minimum=minimum)
    place = {label: position for position, label in enumerate(classes.tolist())}
    return classes, np.array([place[label] for label in values.tolist()], dtype=np.int64)


def label_values(column: Column, start: int, stop: int) -> AnyArray:
    """Return the labels of some rows: whole numbers, truth values or text, none missing."""
    try:
        values = column.read(start, stop)
    except MossError as error:
        raise InvalidTarget(f"{column.name} must hold labels. {error}") from error
    bad = _is_missing(values, column.kind)
    if bad.any():
        raise InvalidTarget(
            f"{column.name} has {np.count_nonzero(bad)} missing or infinite labels (NaN or inf); "
            "remove these rows first."
        )
    if column.kind is Kind.NUMERIC:
        return _whole(column, values, start, stop)
    return values > 0 if column.kind is Kind.BOOLEAN else values


def sort_labels(name: str, found: set[Any], *, minimum: int = 2) -> AnyArray:
    """Return the classes that a target has, sorted, in an array of their own type."""
    # By type and then by value, as scikit-learn has them where all are of one type.
    labels = sorted(found, key=lambda label: (type(label).__name__, label))
    if len(labels) < minimum:
        only = f" ({labels[0]!r} on every row)" if labels else ""
        raise InvalidTarget(
            f"{name} has {len(labels)} class{'' if labels else 'es'}{only}, and rules tell "
            "classes apart; pass labels of two classes at least."
        )
    return label_array(name, labels)


def label_array(name: str, labels: Sequence[Any]) -> AnyArray:
    """Return labels as an array that keeps them: of truth values, whole numbers or objects."""
    found = families_of(labels)
    if found == {Family.TRUTH}:
        return np.array(labels, dtype=bool)
    if found == {Family.NUMBER} and all(label == label // 1 for label in labels):
        return _integers(name, [int(label) for label in labels])
    objects = np.empty(len(labels), dtype=object)
    objects[:] = labels
    return objects


def python_label(label: Any) -> Label:
    """Return a label as Python's own, which JSON knows."""
    found: Label = label.item() if isinstance(label, np.generic) else label
    return found


def _is_missing(values: AnyArray, kind: Kind) -> AnyArray:
    if kind in NUMBERS:
        return ~np.isfinite(values)
    return np.array([value is None for value in values.tolist()], dtype=bool)


def _whole(column: Column, values: FloatArray, start: int, stop: int) -> AnyArray:
    name, broken = column.name, values[values != np.round(values)]
    if len(broken):
        raise InvalidTarget(
            f"Unknown label type: {name} is continuous, {broken[0]:g} on some row; pass classes, "
            "or use a regressor."
        )
    if (np.abs(values) < EXACT).all():
        return values.astype(np.int64)
    try:
        return _integers(name, column.labels(start, stop).tolist())
    except InvalidColumn as error:
        raise InvalidTarget(str(error)) from error


def _integers(name: str, labels: Sequence[int]) -> AnyArray:
    """Return whole numbers in 64 bits, or refuse those that take more."""
    low, high = min(labels, default=0), max(labels, default=0)
    for kind in (np.int64, np.uint64):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return np.array(labels, dtype=kind)
    raise InvalidTarget(
        f"{name} labels classes by whole numbers that take more than 64 bits, from {low} to "
        f"{high}; convert them to text."
    )


# --- weights --------------------------------------------------------------------------------------


def check_class_weight(class_weight: Any) -> None:
    """Refuse what is neither None, "balanced" nor a dict of weights."""
    known = class_weight is None or isinstance(class_weight, Mapping)
    if not known and not (isinstance(class_weight, str) and class_weight == "balanced"):
        raise InvalidParameter(
            f"class_weight is {class_weight!r}; pass None, 'balanced' or a dict from classes to "
            "weights."
        )


def weigh_classes(
    classes: AnyArray,
    codes: IntArray,
    weights: FloatArray | None,
    class_weight: Any,
    *,
    several: bool = True,
) -> FloatArray | None:
    """Return what the weights of the rows of each class are multiplied by; None for nothing.

    "balanced" gives all classes the same total, and all rows together the total they had. Rows of
    a single class are refused, unless there need not be `several`.
    """
    check_class_weight(class_weight)
    factors = None
    given = np.ones(len(codes)) if weights is None else weights
    totals = _totals(codes, given, len(classes))
    if class_weight is not None:
        factors = (
            _balanced(totals)
            if isinstance(class_weight, str)
            else _from_mapping(classes, class_weight)
        )
        totals = totals * factors
    # A class may weigh nothing, by its rows or by class_weight; two must be left to tell apart.
    if several and np.count_nonzero(totals) < 2:
        raise InvalidTarget(
            "The weights leave rows of fewer than two classes; let rows of another class count."
        )
    return factors


def _totals(codes: IntArray, weights: FloatArray, n_classes: int) -> FloatArray:
    """Return the weight of each class, the same in any order of the rows."""
    if are_repetitions(weights):
        return np.bincount(codes, weights, minlength=n_classes).astype(np.float64)
    return np.array([math.fsum(weights[codes == code]) for code in range(n_classes)])


def scale_weights(weights: FloatArray) -> FloatArray:
    """Return weights of mean 1 over the rows that count, unless they are repetitions."""
    if are_repetitions(weights):
        return weights
    scaled = weights / weights.max()  # first, so that no sum overflows
    # A sum of floats in pieces would depend on the order of the rows, by its last bits.
    return np.asarray(scaled * (np.count_nonzero(scaled) / math.fsum(scaled)))


def _balanced(totals: FloatArray) -> FloatArray:
    each = totals.sum() / np.count_nonzero(totals)
    return np.asarray(np.divide(each, totals, out=np.zeros_like(totals), where=totals > 0))


def _from_mapping(classes: AnyArray, class_weight: Mapping[Any, Any]) -> FloatArray:
    known = classes.tolist()
    for weight in class_weight.values():
        check_number("class_weight", weight, minimum=0.0)
    # Some classes may have no row in a fold, but not all that it names.
    if not any(label in class_weight for label in known):
        raise InvalidParameter(
            f"class_weight names {', '.join(map(repr, [*class_weight][:10]))}, and the classes are "
            f"{', '.join(map(repr, known[:10]))}; name those."
        )
    return np.array([float(class_weight.get(label, 1.0)) for label in known])
