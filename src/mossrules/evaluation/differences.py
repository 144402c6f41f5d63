"""What differs between two rule sets, as values: pairs of rules, rules without a partner, figures.

`comparing_rule_sets.py` makes these, and `difference_words.py` puts them into words. Every rule of
both sides is told exactly once: in a pair, among those that are gone, or among the new ones.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from mossrules._display import comparison_html, comparison_page
from mossrules._files import write_file
from mossrules._frames import Backend, make_frame
from mossrules.data.columns import Label
from mossrules.evaluation.difference_words import to_markdown, to_text

__all__ = [
    "ConditionChange",
    "OneRule",
    "OutcomeComparison",
    "Pairing",
    "PredictionAgreement",
    "RulePair",
    "RuleSetComparison",
]

FORMAT, VERSION = "mossrules comparison of rule sets", 1

Pairing = Literal["kept", "moved", "same rows"]


@dataclass(frozen=True)
class OneRule:
    """A rule of one of the two rule sets.

    See Also
    --------
    mossrules.evaluation.RuleSetComparison : Has them, in pairs or alone.
    """

    position: int  #: among the rules of its rule set, from 0
    text: str  #: the rule as it is printed
    effect: float  #: what it adds to the prediction, for classes to the log-odds
    training_coverage: float  #: share of its own training rows where it holds
    coverage: float | None = None  #: share of the rows of X where it holds
    found: int | None = None  #: refits of its own analysis that found it, by its track record
    refits: int | None = None  #: of how many


@dataclass(frozen=True)
class ConditionChange:
    """A condition in the old and in the new rule of a pair.

    See Also
    --------
    mossrules.evaluation.RuleSetComparison : Has them, in the pairs that were kept or moved.
    """

    column: str  #: the column that both conditions look at
    old: str  #: the condition as the old rule prints it
    new: str  #: as the new rule does

    @property
    def changed(self) -> bool:
        """Whether the two read differently."""
        return self.old != self.new


@dataclass(frozen=True)
class RulePair:
    """A rule of the old rule set and the one that stands for it in the new.

    See Also
    --------
    mossrules.evaluation.RuleSetComparison : Has them, as `pairs` of its outcomes.
    """

    # Of the second, columns and directions are the same, and cut points or levels differ; the last
    # have other conditions, and hold on nearly the same rows of X.
    pairing: Pairing  #: "kept", "moved" or "same rows"
    old: OneRule  #: of the old rule set
    new: OneRule  #: of the new rule set
    conditions: tuple[ConditionChange, ...] = ()  #: of kept and moved rules, one by one
    distance: float | None = None  #: of moved rules, by which they were paired
    differ: float | None = None  #: share of the rows of X where just one of the two holds
    jaccard: float | None = None  #: of the rows of X where either holds, the share where both do
    effect_changed: bool = False  #: whether the effect changed by more than was asked for

    @property
    def sign_flipped(self) -> bool:
        """Whether one effect is above zero and the other below."""
        return self.old.effect * self.new.effect < 0.0

    @property
    def relative_change(self) -> float:
        """Change of the effect over the old one: above zero where it grew, -1 where none is left.

        Below -1 the sign flipped. Infinite where the old effect is zero, and the new is not.
        """
        change = self.new.effect - self.old.effect
        if change == 0.0:
            return 0.0
        return change / self.old.effect if self.old.effect else math.inf


@dataclass(frozen=True)
class PredictionAgreement:
    """How far apart two predictions are, over the rows of X.

    See Also
    --------
    mossrules.evaluation.RuleSetComparison : Has them, as `predictions` of its outcomes.
    """

    correlation: float  #: of the two predictions; NaN where one is constant
    mean_difference: float  #: mean absolute difference
    largest_difference: float  #: largest absolute difference
    other_side: float | None  #: of classes, share of the rows on the other side of 0.5


@dataclass(frozen=True)
class OutcomeComparison:
    """The rules of one outcome: a number, or a class.

    See Also
    --------
    mossrules.evaluation.RuleSetComparison : Has them, as `outcomes`.
    """

    outcome: Label | None  #: the class; None of a number
    pairs: tuple[RulePair, ...]  #: kept first, then moved, then on the same rows
    gone: tuple[OneRule, ...]  #: rules of the old rule set alone
    new: tuple[OneRule, ...]  #: rules of the new rule set alone
    intercepts: tuple[float | None, float | None]  #: old and new; None where a side lacks the class
    dice: float | None  #: rules that read the same, over the mean number of rules
    weighted_overlap: float | None  #: the smaller shares of importance, summed over rules kept
    predictions: PredictionAgreement | None = None  #: on the rows of X

    @property
    def kept(self) -> tuple[RulePair, ...]:
        """The pairs that read the same, whatever their effects."""
        return self._paired("kept")

    @property
    def moved(self) -> tuple[RulePair, ...]:
        """The pairs of the same columns and directions with other cut points or levels."""
        return self._paired("moved")

    @property
    def same_rows(self) -> tuple[RulePair, ...]:
        """The pairs of other conditions that hold on nearly the same rows."""
        return self._paired("same rows")

    @property
    def effect_changed(self) -> tuple[RulePair, ...]:
        """The pairs, of any kind, whose effect changed by more than was asked for."""
        return tuple(pair for pair in self.pairs if pair.effect_changed)

    @property
    def sign_flipped(self) -> tuple[RulePair, ...]:
        """The pairs, of any kind, whose effects have opposite signs."""
        return tuple(pair for pair in self.pairs if pair.sign_flipped)

    @property
    def n_old(self) -> int:
        """Number of rules of the old rule set."""
        return len(self.pairs) + len(self.gone)

    @property
    def n_new(self) -> int:
        """Number of rules of the new rule set."""
        return len(self.pairs) + len(self.new)

    def _paired(self, pairing: Pairing) -> tuple[RulePair, ...]:
        return tuple(pair for pair in self.pairs if pair.pairing == pairing)


@dataclass(frozen=True, repr=False)
class RuleSetComparison:
    """Two rule sets side by side, as `mossrules.compare_rule_sets` returns it.

    It prints as text that a person can read and sign. `frame` has a row for each rule or pair,
    `to_json` everything, and `page` writes a page for any browser.

    Examples
    --------
    >>> from mossrules import MossRegressor, compare_rule_sets
    >>> X = {"age": list(range(20, 60)), "smoker": [False, True] * 20}
    >>> y = [1.0, 5.0] * 10 + [3.0, 9.0] * 10
    >>> old = MossRegressor(2, n_trees=20).fit(X, y)
    >>> new = MossRegressor(2, n_trees=20).fit(X, [2 * value for value in y])
    >>> found = compare_rule_sets(old, new, X)
    >>> found.outcomes[0].dice, len(found.outcomes[0].effect_changed)
    (1.0, 2)
    >>> found.frame(backend="pandas")[["pairing", "old_rule", "effect_change"]]
      pairing        old_rule  effect_change
    0    kept  smoker is true            1.0
    1    kept        age > 40            1.0
    """

    names: tuple[str, str]  #: of the two: names of files, or "old" and "new"
    targets: tuple[str | None, str | None]  #: names of the two targets, where they have one
    link: Literal["identity", "logit"]  #: as of both rule sets
    outcomes: tuple[OutcomeComparison, ...]  #: one, or one for each class
    notes: tuple[str, ...]  #: sentences on what else differs: columns, classes, targets
    effect_change: float  #: a larger change of an effect, over the old, is told
    same_rows: float  #: Jaccard from which rows are nearly the same
    rows: int | None = None  #: of X
    likeliest_differs: float | None = None  #: of several classes, share of rows that change class

    @property
    def dice(self) -> float:
        """Mean over outcomes that both have: rules that read the same, over the mean number."""
        return _mean([each.dice for each in self.outcomes])

    @property
    def weighted_overlap(self) -> float:
        """Mean over outcomes that both have: shares of importance in common."""
        return _mean([each.weighted_overlap for each in self.outcomes])

    @property
    def is_same(self) -> bool:
        """Whether both have the same rules with the same effects and intercepts."""
        return all(
            not (each.gone or each.new)
            and each.intercepts[0] == each.intercepts[1]
            and all(pair.pairing == "kept" and not pair.relative_change for pair in each.pairs)
            for each in self.outcomes
        )

    # --- exports --------------------------------------------------------------------------------

    def frame(self, backend: Backend | None = None) -> Any:
        """Return a row for each pair and for each rule alone, as a data frame.

        Columns: `outcome` (of classes), `pairing` ("kept", "moved", "same rows", "gone" or "new"),
        `effect_changed`, `sign_flipped`, `old_rule`, `new_rule`, `old_effect`, `new_effect`,
        `effect_change` (relative), the coverage of each rule in its training rows and, of a
        comparison on rows, in these, with `differ` and `jaccard` of pairs.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default: the first that is installed
            The library of the frame.
        """
        records = [record for each in self.outcomes for record in _records(each)]
        names = [*_FRAME]
        if self.link == "logit":
            names.insert(0, "outcome")
        if self.rows is not None:
            names += ["old_coverage", "new_coverage", "differ", "jaccard"]
        return make_frame({name: [each.get(name) for each in records] for name in names}, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dicts, lists, numbers and texts; None where a number is undefined.

        With what can be derived from the fields: whether signs flipped, and the relative change of
        each effect.
        """
        content = asdict(self)
        content["outcomes"] = [_outcome_dict(each) for each in self.outcomes]
        document = {
            "format": FORMAT,
            "version": VERSION,
            **content,
            "dice": self.dice,
            "weighted_overlap": self.weighted_overlap,
        }
        plain: dict[str, Any] = _plain(document)
        return plain

    def to_json(self) -> str:
        """Return what `to_dict` does, as JSON."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def to_text(self) -> str:
        """Return the comparison for people to read, on lines of at most 96 letters."""
        return to_text(self)

    def to_markdown(self) -> str:
        """Return the comparison as tables in GitHub's Markdown."""
        return to_markdown(self)

    def to_html(self) -> str:
        """Return the comparison as a page that loads nothing and holds no row of the data.

        Names of columns and levels are shown as they are, and cannot do anything.
        """
        return comparison_page(self)

    def page(self, path: str | os.PathLike[str]) -> None:
        """Write the page of `to_html` to a file, whole or not at all.

        Parameters
        ----------
        path
            Where to write, such as "changes.html".
        """
        write_file(Path(path), self.to_html())

    def _repr_html_(self) -> str:
        return comparison_html(self)

    def __repr__(self) -> str:
        return to_text(self)


# --- rows and dicts -------------------------------------------------------------------------------

_FRAME = (
    "pairing", "effect_changed", "sign_flipped", "old_rule", "new_rule", "old_effect", "new_effect",
    "effect_change", "old_training_coverage", "new_training_coverage",
)  # fmt: skip


def _records(outcome: OutcomeComparison) -> list[dict[str, Any]]:
    """Return what the frame says of each pair and of each rule alone."""
    label = None if outcome.outcome is None else str(outcome.outcome)
    common = {"outcome": label, "effect_changed": False, "sign_flipped": False}
    paired = [
        {
            **common,
            **_side("old", pair.old),
            **_side("new", pair.new),
            "pairing": pair.pairing,
            "effect_changed": pair.effect_changed,
            "sign_flipped": pair.sign_flipped,
            "effect_change": pair.relative_change,
            "differ": pair.differ,
            "jaccard": pair.jaccard,
        }
        for pair in outcome.pairs
    ]
    gone = [{**common, **_side("old", each), "pairing": "gone"} for each in outcome.gone]
    new = [{**common, **_side("new", each), "pairing": "new"} for each in outcome.new]
    return [*paired, *gone, *new]


def _side(side: str, rule: OneRule) -> dict[str, Any]:
    return {
        f"{side}_rule": rule.text,
        f"{side}_effect": rule.effect,
        f"{side}_training_coverage": rule.training_coverage,
        f"{side}_coverage": rule.coverage,
    }


def _outcome_dict(outcome: OutcomeComparison) -> dict[str, Any]:
    content = asdict(outcome)
    for pair, record in zip(outcome.pairs, content["pairs"], strict=True):
        record["sign_flipped"] = pair.sign_flipped
        record["relative_change"] = pair.relative_change
    return content


def _plain(content: Any) -> Any:
    """Return content without tuples, and with None for numbers that JSON does not have."""
    if isinstance(content, dict):
        return {name: _plain(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def _mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else math.nan
