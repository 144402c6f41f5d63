"""What fit and report do with what a check finds: they stop, or warn and go on."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from mossrules import _late as late
from mossrules import defaults
from mossrules.cli._options import File, Task
from mossrules.cli._output import errors
from mossrules.exceptions import InvalidTable

__all__ = ["check_before", "look_at", "warn_of_rare"]

MOST_WARNINGS = 10  # more would hide what the command prints


def look_at(table: Any, file: File, task: Task, *, max_rules: int) -> late.data.TableCheck:
    """Return what looks wrong in a table, as its options say what it is."""
    return late.data.check(
        table,
        file.target,
        sample_weight=file.weights,
        groups=file.groups,
        of_classes=_of_classes(task),
        max_rules=max_rules,
        declared=_declared(file),
    )


def check_before(table: Any, file: File, task: Task, *, max_rules: int, anyway: bool) -> None:
    """Look at a table before anything is learned from it, and stop if it is surely wrong."""
    found = look_at(table, file, task, max_rules=max_rules)
    # Of few events the model warns itself, when it is known how many rules there are.
    told = [each for each in found.suspect if each.kind != "few events"]
    if anyway:
        told = [*found.wrong, *told]
    for finding in told[:MOST_WARNINGS]:
        _tell("warning", finding.sentence())
    if len(told) > MOST_WARNINGS:
        more = len(told) - MOST_WARNINGS
        _tell("warning", f"There {'is' if more == 1 else 'are'} {more} more; see mossrules check.")
    if anyway or not found.wrong:
        return
    for finding in found.wrong:
        _tell("wrong", finding.sentence())
    several = len(found.wrong) > 1
    things = f"{len(found.wrong)} things that are" if several else "something that is"
    raise InvalidTable(
        f"{file.data.name} has {things} surely wrong, as said above; mend "
        f"{'them' if several else 'it'}, or add --anyway to go on regardless."
    )


def _of_classes(task: Task) -> bool | None:
    """Return whether a target is a class, where that was said."""
    return None if task is Task.AUTO else task is Task.CLASSIFICATION


def _declared(file: File) -> list[str]:
    """Return the columns of which a user has said what they are."""
    named = dict.fromkeys([*(file.categorical or ()), *file.known_types])
    return [name for name in named if name not in file.no_features]


def warn_of_rare(model: Any) -> None:
    """Tell of rules that single out so few rows that a reader may know who they are."""
    members = getattr(model, "estimators_", None) or {None: model}
    rare = dict.fromkeys(pair for each in members.values() for pair in each.rules_.rare_levels)
    if rare:
        named = ", ".join(f"{name} is {level}" for name, level in [*rare][:5])
        more = f" and {len(rare) - 5} more" if len(rare) > 5 else ""
        _tell(
            "warning",
            f"Rules name levels that fewer than {defaults.MIN_ROWS_SHOWN} rows have ({named}"
            f"{more}), so whoever gets the model learns of these rows; join such levels with "
            "others, or leave the column out by --drop.",
        )


def _tell(kind: str, sentence: str) -> None:
    style = "bold red" if kind == "wrong" else "bold yellow"
    errors.print(Text.assemble((f"{kind}: ", style), sentence), soft_wrap=True)
