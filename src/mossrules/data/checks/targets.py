"""What looks wrong with the target: missing values, rare classes, too few rows for the rules."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mossrules.data.checks.findings import Finding, Severity
from mossrules.data.checks.seen import SeenColumn
from mossrules.data.columns import Kind
from mossrules.defaults import MIN_EVENTS_PER_RULE, MIN_ROWS_SHOWN

__all__ = ["check_target"]

# Of the rows that each rule should have, `MIN_EVENTS_PER_RULE`, half is too few for certain: from
# five on estimates of logistic models hold up (Vittinghoff and McCulloch 2007).
FEWEST_EVENTS_PER_RULE = 5
MANY_CLASSES = 20  # more labels may be names, or numbers that are text


def check_target(target: SeenColumn, *, of_classes: bool, max_rules: int) -> Iterator[Finding]:
    """Yield what looks wrong with a target beside how its values are written."""
    n_missing = len(target.values) - target.n_present
    if n_missing:
        what = f"the target is missing on {n_missing:,} row{'s' * (n_missing > 1)}"
        remedy = "leave these rows out of the file, or find out their target"
        yield Finding("missing target", Severity.WRONG, what, remedy, target.name)
    if target.n_present == 0:
        return
    if target.n_distinct == 1:
        what, remedy = "the target is the same on every row", "there is nothing to learn of it"
        yield Finding("constant", Severity.SUSPECT, what, remedy, target.name)
        return
    yield from _check_classes(target) if of_classes else _check_number(target)
    yield from _check_events(target, of_classes=of_classes, max_rules=max_rules)


def _check_classes(target: SeenColumn) -> Iterator[Finding]:
    if target.n_distinct > MANY_CLASSES:
        what = f"the target has {target.n_distinct:,} classes, each with a rule set of its own"
        remedy = "join classes, or name another target; a number is --task regression"
        yield Finding("many classes", Severity.SUSPECT, what, remedy, target.name)
        return
    counts = target.level_counts
    rare = int(np.count_nonzero(counts < MIN_ROWS_SHOWN))
    if rare:
        fewest = int(counts.min())
        what = f"a class has {fewest:,} row{'s' * (fewest > 1)}"
        if rare > 1:
            what = f"{rare} classes have fewer than {MIN_ROWS_SHOWN} rows"
        remedy = "join it with another class, or add rows of it"
        yield Finding("rare class", Severity.SUSPECT, what, remedy, target.name)


def _check_number(target: SeenColumn) -> Iterator[Finding]:
    if target.kind is not Kind.NUMERIC or target.n_distinct > 2:
        return
    what = "the target has two values, and is taken for a number"
    remedy = "if they are classes: --task classification"
    yield Finding("two values", Severity.NOTE, what, remedy, target.name)


def _check_events(target: SeenColumn, *, of_classes: bool, max_rules: int) -> Iterator[Finding]:
    """Yield whether there are too few rows, or rows of the rarer class, for the rules."""
    if of_classes and target.n_distinct > 2:  # each class has rules of its own: see rare classes
        return
    n = int(target.level_counts.min()) if of_classes else target.n_present
    rows = "rows of the rarer class" if of_classes else "rows"
    if n >= MIN_EVENTS_PER_RULE * max_rules:
        return
    are_few = of_classes and n < FEWEST_EVENTS_PER_RULE * max_rules
    severity = Severity.SUSPECT if are_few else Severity.NOTE
    what = f"{n:,} {rows} for up to {max_rules} rules: fewer than {MIN_EVENTS_PER_RULE} for each"
    remedy = f"allow fewer rules: --max-rules {max(1, n // MIN_EVENTS_PER_RULE)}"
    yield Finding("few events", severity, what, remedy, target.name)
