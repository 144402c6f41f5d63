"""Targets that are classes: which of them a command shows, and the rows with that as target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from mossrules import _late as late
from mossrules.cli._learning import Columns
from mossrules.cli._options import File, Task
from mossrules.exceptions import InvalidParameter

__all__ = ["OutcomeRows", "check_one", "class_labels", "find_label", "outcomes_of"]


@dataclass(frozen=True)
class OutcomeRows:
    """The rows of a file with one class as the target, or with the number that it is."""

    table: Columns
    target: Any  # the name of a column, or whether each row is of the class
    label: Any = None  # None where the target is a number
    name: str = ""  # such as "status = case"
    against_all: bool = False  # whether it is one of more than two classes

    @property
    def of_class(self) -> str:
        """What to add to a heading, such as " for status = case"."""
        return f" for {late.export_text.one_line(self.name)}" if self.name else ""

    def parameters(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of the estimator for these rows."""
        if self.label is None:
            return asked
        if not self.against_all:
            return {**asked, "outcome": self.label}
        near = asked.get("near")
        return asked if near is None else {**asked, "near": self._approved(near)}

    def _approved(self, near: late.model.RuleSet | late.model.RuleSets) -> late.model.RuleSet:
        """Return the approved rules of this class, of one whose name is told by the target."""
        own = near if isinstance(near, late.model.RuleSet) else near.get(self.label)
        if own is None or own.outcome != self.label:
            raise InvalidParameter(
                f"--near has no rules{self.of_class}; pass an approved model of the same classes."
            )
        return replace(own, outcome=None, track_record=None)


def class_labels(table: Columns, file: File) -> tuple[Any, Any]:
    """Return the classes of the target, and the position of each row's among them."""
    rows = late.table.Table.from_any(table)
    return late.labels.read_labels(late.table.target_column(rows, file.target), rows.n_rows)


def find_label(labels: Any, outcome: str) -> int:
    """Return the position of the class that --outcome names."""
    return late.outcome.find_class(labels, outcome, "--outcome")


def outcomes_of(table: Columns, file: File, task: Task) -> list[OutcomeRows]:
    """Return the rows for each model that the target asks for: of two classes there is one.

    Of more, each class has one, against all others, unless --outcome names one of them.
    """
    if task is not Task.CLASSIFICATION:
        return [OutcomeRows(table, file.target)]
    labels, codes = class_labels(table, file)
    names = [late.export_text.event_text(file.target, label) for label in labels.tolist()]
    known = [late.labels.python_label(label) for label in labels]
    if len(labels) == 2:
        late.outcome.warn_if_guessed(labels, file.outcome)
        place = late.outcome.outcome_place(labels, file.outcome)
        return [OutcomeRows(table, file.target, known[place], names[place])]
    places = [*range(len(labels))]
    if file.outcome is not None:
        places = [find_label(labels, file.outcome)]
    features = {name: values for name, values in table.items() if name != file.target}
    return [
        OutcomeRows(features, codes == place, known[place], names[place], against_all=True)
        for place in places
    ]


def check_one(outcomes: list[OutcomeRows], **options: Any) -> None:
    """Refuse options that name one file where several classes have a result each."""
    for name, value in options.items():
        if value is not None and len(outcomes) > 1:
            raise InvalidParameter(
                f"--{name} is one file, and each of the {len(outcomes)} classes has a result of "
                "its own; name one of them by --outcome."
            )
