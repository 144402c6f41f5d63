"""The trust table: how far the rules of each method can be trusted, measured by refits.

Values only: `trust.py` has the measures, `assess.py` makes the refits. A new measure is a column in
`COLUMNS`, a field of `MethodTrust` and its value in `trust.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self, get_args

from mossrules._common import check_choice
from mossrules._display import display_class
from mossrules._frames import Backend, make_frame
from mossrules.budget import left_out_in_words, stopped_in_words
from mossrules.checkpoint import parse_document, read_count, read_number, refuse_damage, strict_json
from mossrules.data.table import did_you_mean
from mossrules.evaluation.refits import Scheme
from mossrules.evaluation.results import NAN, Task
from mossrules.exceptions import InvalidParameter

__all__ = ["COLUMNS", "Assessment", "MethodTrust", "trust_from_dict", "trust_to_dict"]

FORMAT, VERSION = "mossrules assessment", 1

# Measures in the order of the table, with their headings and how they are printed.
COLUMNS: Mapping[str, tuple[str, str]] = {
    "r2": ("R2", ".3f"),
    "skill": ("log-loss skill", ".3f"),
    "auc": ("AUC", ".3f"),
    "dice": ("Dice as printed", ".3f"),
    "dice_rows": ("Dice by rows", ".3f"),
    "weighted_overlap": ("weighted overlap", ".3f"),
    "same_sign": ("same sign", ".3f"),
    "opposing": ("against own rows", ".1%"),
    "idle": ("idle", ".1%"),
    "dependent": ("dependent effects", ".0%"),
    "instability": ("instability of predictions", ".3f"),
    "in_all": ("rules in every refit", ".3g"),
    "dice_seeds": ("Dice of seeds", ".3f"),
    "n_rules": ("rules", ".3g"),
    "seconds": ("seconds", ".2g"),
}
NOT_OF: Mapping[Task, tuple[str, ...]] = {
    "regression": ("skill", "auc"),
    "classification": ("r2",),
}


@dataclass(frozen=True)
class MethodTrust:
    """How far one method can be trusted; measures that it does not have are NaN.

    Of more than two classes, each of which has a rule set, measures of rules and of predictions are
    means over the classes.

    See Also
    --------
    mossrules.evaluation.Assessment : Has them, as `methods`.
    """

    method: str  #: its name
    settings: str = ""  #: as it is written in Python
    refits: int = 0  #: that did not fail, on which measures rest
    failed: int = 0  #: refits, and fits to all rows, without a model
    failure: str | None = None  #: the reason of the first
    r2: float = NAN  #: of numbers, over all rows left out, against the mean of the training rows
    skill: float = NAN  #: of classes: share of the log-loss of the training shares that is gone
    auc: float = NAN  #: of classes, mean over refits
    dice: float = NAN  #: mean over pairs of refits, of rules that read the same
    dice_rows: float = NAN  #: likewise, of rules that hold on nearly the same rows
    weighted_overlap: float = NAN  #: shares of importance in common, mean over pairs of refits
    same_sign: float = NAN  #: share of common rules whose effects have the same sign
    opposing: float = NAN  #: share of rules whose effect opposes the mean of their own rows
    idle: float = NAN  #: share of rules under 1 % of the largest importance
    dependent: float = NAN  #: share of refits whose rules and intercept are linearly dependent
    instability: float = NAN  #: mean 95 % range of a person's prediction, in sds of the target
    in_all: float = NAN  #: rules found in every refit
    dice_seeds: float = NAN  #: of fits to the same rows with several seeds
    n_rules: float = NAN  #: mean number of rules
    seconds: float = NAN  #: of a fit, the median
    stopped: int = 0  #: fits whose search had no more time before its proof


@dataclass(frozen=True, eq=False, repr=False)
class Assessment:
    """The trust table of several methods: a row for each.

    `frame` has all measures under short names, `summary` those that the methods have under
    headings, `plot` draws accuracy against recurrence as printed, and `to_json` keeps it all.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.evaluation import assess
    >>> X = {"age": range(20, 60), "smoker": [False, True] * 20}
    >>> y = [1.0, 5.0] * 10 + [3.0, 9.0] * 10
    >>> table = assess({"MOSS": MossRegressor(3, max_depth=1, n_trees=20)}, X, y)
    >>> round(table["MOSS"].dice, 2), table["MOSS"].n_rules
    (0.77, 2.8)
    >>> table.frame(backend="pandas")[["method", "dice", "same_sign", "opposing"]].round(2)
      method  dice  same_sign  opposing
    0   MOSS  0.77        1.0       0.0
    >>> Assessment.from_json(table.to_json()) == table
    True
    """

    methods: tuple[MethodTrust, ...]  #: a row each
    task: Task  #: "regression" or "classification"
    refits: int  #: asked for
    scheme: Scheme  #: "folds" or "bootstrap"
    seeds: int  #: fits to all rows, each with its own seed
    n_rows: int  #: of the table
    elapsed: float  #: seconds in all

    def __getitem__(self, name: str) -> MethodTrust:
        for method in self.methods:
            if method.method == name:
                return method
        names = [method.method for method in self.methods]
        raise InvalidParameter(
            f"There is no method {name!r}; choose from {', '.join(map(repr, names))}."
            f"{did_you_mean(name, names)}"
        )

    def __eq__(self, other: object) -> bool:
        # By their texts: NaN is not equal to itself.
        return isinstance(other, Assessment) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    @property
    def cut_short(self) -> str | None:
        """What was cut short for lack of time, in a line for each method; None where nothing was.

        `refits` and `stopped` of a method have the numbers.
        """
        lines = []
        for each in self.methods:
            made = each.refits + each.failed
            late = [
                left_out_in_words(self.refits, made, "refit"),
                stopped_in_words(each.stopped, made, "searches of refits"),
            ]
            lines += [f"{each.method}: {words}" for words in late if words is not None]
        return "\n".join(lines) or None

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures of this task, in the order of the table."""
        return tuple(name for name in COLUMNS if name not in NOT_OF[self.task])

    # --- showing --------------------------------------------------------------------------------

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of `frame` as lists."""
        names = ("method", *self.measures, "refits", "failed", "failure", "settings")
        return {name: [getattr(each, name) for each in self.methods] for name in names}

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each method: all fields of `MethodTrust` that its task has."""
        return make_frame(self.columns(), backend)

    def summary(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each method with the headings of the trust table, rounded.

        Measures that no method has are left out.
        """
        return make_frame(self.summary_columns(), backend)

    def summary_columns(self) -> dict[str, list[Any]]:
        """Return the columns of `summary` as lists."""
        shown: dict[str, list[Any]] = {"method": [each.method for each in self.methods]}
        for name in self.measures:
            values = [getattr(each, name) for each in self.methods]
            if not all(map(math.isnan, values)):
                shown[COLUMNS[name][0]] = [round(value, 3) for value in values]
        return shown

    def plot(self, ax: Any = None) -> Any:
        """Draw R2, or AUC, against Dice as printed, and return the `TrustDisplay` of matplotlib.

        Parameters
        ----------
        ax
            Matplotlib's axes to draw on; by default those of a new figure.
        """
        return display_class("TrustDisplay").from_assessment(self).plot(ax)

    def __repr__(self) -> str:
        parts = [f"{len(self.methods)} methods", f"{self.refits} refits ({self.scheme})"]
        failed = sum(each.failed for each in self.methods)
        parts += [f"{failed} fits failed"] if failed else []
        return f"Assessment({', '.join(parts)}, {self.elapsed:.2g} s)"

    def __str__(self) -> str:
        return "\n".join([repr(self), *self._lines()])

    def _lines(self) -> list[str]:
        """Return the table on its side: a line for each measure, a column for each method."""
        rows = [["", *(each.method for each in self.methods)]]
        for name in self.measures:
            heading, form = COLUMNS[name]
            values = [getattr(each, name) for each in self.methods]
            rows.append(
                [heading, *("-" if math.isnan(each) else format(each, form) for each in values)]
            )
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
            for row in rows
        ]
        failures = [each for each in self.methods if each.failed]
        lines += [f"{each.method}: {each.failed} fits failed. {each.failure}" for each in failures]
        return lines + ([] if self.cut_short is None else [self.cut_short])

    # --- files ----------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Return the table as versioned JSON; see `from_json`."""
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        content["methods"] = [trust_to_dict(each) for each in self.methods]
        return strict_json({"format": FORMAT, "version": VERSION, **content})

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the table of a text that `to_json` wrote; what is wrong is `InvalidFile`."""
        what, remedy = "The text", "pass what Assessment.to_json returned"
        content = parse_document(text, what, remedy, FORMAT, VERSION)
        with refuse_damage(f"{what} is damaged", remedy):
            check_choice("task", content["task"], get_args(Task))
            check_choice("scheme", content["scheme"], get_args(Scheme))
            counts = {name: read_count(content[name]) for name in ("refits", "seeds", "n_rows")}
            return cls(
                methods=tuple(map(trust_from_dict, content["methods"])),
                task=content["task"],
                scheme=content["scheme"],
                elapsed=float(read_number(content["elapsed"])),
                **counts,
            )


def trust_to_dict(trust: MethodTrust) -> dict[str, Any]:
    """Return the row of a method as content of a file."""
    content = {field.name: getattr(trust, field.name) for field in fields(trust)}
    if not trust.stopped:  # as before there was a `time_budget`
        del content["stopped"]
    return content


def trust_from_dict(content: Any) -> MethodTrust:
    """Return the row of a method from content of a file; what is wrong raises."""
    content = {"stopped": 0, **content}
    if content.keys() != {field.name for field in fields(MethodTrust)}:
        raise KeyError("the measures of a method")
    failure = content["failure"]
    return MethodTrust(
        method=str(content["method"]),
        settings=str(content["settings"]),
        refits=read_count(content["refits"]),
        failed=read_count(content["failed"]),
        stopped=read_count(content["stopped"]),
        failure=None if failure is None else str(failure),
        **{name: float(read_number(content[name])) for name in COLUMNS},
    )
