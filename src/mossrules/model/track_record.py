"""What refits say of a rule set: how often each rule was found again, and what else varies.

These are the values; `evaluation.track_record` measures them. A rule set carries its record
wherever it goes, so there is no row of the data in it: of people it has summaries only, and their
own ranges stay with the object that `track_record` returned.

Notation
    k, n    refits that found a rule, and all refits; k/n estimates how often another analysis
            would. Its interval, Wilson's (`shares.py`), tells of the number of refits alone: more
            refits make it narrower.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from mossrules._display import display_class
from mossrules._frames import Backend, make_frame
from mossrules.budget import left_out_in_words, stopped_in_words
from mossrules.checkpoint import parse_document, refuse_damage
from mossrules.exceptions import InvalidParameter
from mossrules.model.export_text import one_line
from mossrules.model.json_schema import violation

if TYPE_CHECKING:
    from mossrules._typing import FloatArray, IntArray

__all__ = ["Interval", "Measured", "PeopleRanges", "RuleRecord", "TrackRecord"]

FORMAT, VERSION = "mossrules track record", 1
RECORD_SCHEMA = {"$ref": "#/$defs/track_record"}
SCHEMES = {
    "subsample": "a random {part} of the rows",
    "bootstrap": "as many rows, drawn with replacement",
    "folds": "{part} of the rows",
}
PARTS = {1 / 3: "third", 1 / 2: "half", 2 / 3: "two thirds"}
COUNTS = ("refits", "failed", "seed", "rows", "asked", "stopped")
FEW_GROUPS = 10  # fewer than so many make few different refits
NEARLY = 0.015  # groups differ in size, and a third of them is not exactly a third of the rows


class Interval(NamedTuple):
    """From here to there; NaN where there is none."""

    lower: float
    upper: float


class Measured(NamedTuple):
    """A measure with its interval."""

    value: float
    lower: float
    upper: float


@dataclass(frozen=True)
class RuleRecord:
    """What refits say of one rule.

    See Also
    --------
    mossrules.evaluation.TrackRecord : Has them, as `rules`.
    """

    rule: str  #: as it is printed
    found: int  #: refits that have it, as printed
    near: int  #: refits that have it or one near it: see `mossrules.evaluation.track_record`
    found_interval: Interval  #: Wilson's, of found over all refits
    effect: float  #: in the rule set
    held_fixed: Interval  #: of the effect, if these rules are kept
    whole_analysis: Interval  #: of the effect, over the refits that found the rule
    same_sign: float  #: share of these in which the effect has the same sign; NaN of none
    coverage: float  #: share of all rows, of their weight, where the rule holds
    n: int  #: number of these rows
    observed: float  #: mean target of these rows; of classes their event rate; NaN if withheld
    events: int | None = None  #: of classes, rows of these that have the outcome
    approved: bool = False  #: whether refits were asked to keep it, as the model's `near` has it


@dataclass(frozen=True, eq=False)
class PeopleRanges:
    """Which predictions refits give to each row, which may be a person.

    Rows of many are a sample: `rows` says which ones.

    See Also
    --------
    mossrules.evaluation.TrackRecord : Has them, as `people_ranges`.
    """

    rows: IntArray  #: positions in the table, as it was given
    prediction: FloatArray  #: of the model
    lower: FloatArray  #: lower end over refits
    upper: FloatArray  #: upper end over refits
    other_side: FloatArray  #: share of refits that put the row on the other side of the threshold

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each person."""
        names = [each.name for each in fields(self)]
        return make_frame({name: getattr(self, name).tolist() for name in names}, backend)


@dataclass(frozen=True)
class PeopleSummary:
    """How far the predictions of people depend on the rows that happened to be there."""

    n: int  #: people looked at
    mean_range: float  #: mean width of a person's range
    relative_range: float  #: the same in standard deviations of the target
    threshold: float | None = None  #: of a decision
    other_side: float = math.nan  #: mean share of people that a refit puts on the other side
    undecided: float = math.nan  #: share of people that a tenth of the refits put on another side

    def __str__(self) -> str:
        moves = f"{self.n:,} people: a prediction's range is {self.mean_range:.3g} wide on average"
        if not math.isnan(self.relative_range):
            moves += f" ({self.relative_range:.2f} standard deviations of the target)"
        sentences = [f"{moves}."]
        if self.threshold is not None and not math.isnan(self.undecided):
            moved = f"A refit puts {self.other_side:.1%} of them on the other side of"
            sentences.append(f"{moved} {self.threshold:g}, on average.")
            sentences.append(f"For {self.undecided:.1%} of them, a tenth of the refits or more do.")
        return "\n".join(sentences)


@dataclass(frozen=True, eq=False)
class TrackRecord:
    """How a rule set came out when its analysis was repeated.

    See Also
    --------
    mossrules.MossRegressor.track_record : Makes it, and says what its parts mean.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> X, y = {"age": range(40), "dose": [1, 2, 3, 4] * 10}, [1.0, 1.0, 4.0, 5.0] * 10
    >>> model = MossRegressor(2, n_trees=50).fit(X, y)
    >>> record = model.track_record(X, y, refits=10)
    >>> record.rules[0].rule, record.rules[0].found
    ('dose > 2', 10)
    >>> TrackRecord.from_json(record.to_json()).rules == record.rules
    True
    """

    rules: tuple[RuleRecord, ...]  #: in the order of the rule set
    intercept: Interval  #: of the intercept, if these rules are kept
    refits: int  #: those that came to an end
    failed: int  #: those that did not
    failure: str | None  #: why the first of these did not
    scheme: str  #: "subsample", "bootstrap" or "folds"
    share: float  #: of the rows in a refit, on average; repeated rows count once
    confidence: float  #: of all intervals
    seed: int  #: of the first refit
    rows: int  #: of the table
    groups: int | None  #: number of groups that stayed together; None without
    recurrence: Measured  #: Dice of the rule set and a refit's, as printed: mean and range
    overlap: Measured  #: the same weighted by importance
    n_rules: float  #: mean number of rules of a refit
    people_summary: PeopleSummary  #: what varies in predictions
    outcome: str | None = None  #: of classes, the one that is predicted
    asked: int | None = None  #: refits that there were to be; with a `time_budget` some may lack
    stopped: int = 0  #: refits whose search had no more time before its proof
    people_ranges: PeopleRanges | None = field(default=None, repr=False, compare=False)  #: of rows

    def __eq__(self, other: object) -> bool:
        # By their texts: NaN is not equal to itself.
        return isinstance(other, TrackRecord) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.to_json())

    @property
    def how(self) -> str:
        """What a refit was, in words."""
        words = (word for part, word in PARTS.items() if abs(self.share - part) < NEARLY)
        what = SCHEMES[self.scheme].format(part=next(words, f"{self.share:.0%}"))
        return what.replace("the rows", "the groups") if self.groups is not None else what

    @property
    def cautions(self) -> list[str]:
        """What a reader of the counts must know, in sentences."""
        sentences = []
        if self.groups is not None and self.groups < FEW_GROUPS:
            sentences.append(
                f"There are only {self.groups} groups, so few refits differ: what is said of "
                "refits is uncertain."
            )
        approved = sum(each.approved for each in self.rules)
        if approved:
            rules = "1 approved rule" if approved == 1 else f"{approved} approved rules"
            found = "it is" if approved == 1 else "they are"
            sentences.append(
                f"Refits were asked to keep the {rules} too, so that {found} found says little."
            )
        return [*sentences, *self.cut_short]

    @property
    def cut_short(self) -> list[str]:
        """What was cut short for lack of time, in sentences."""
        late = [
            left_out_in_words(self.asked or 0, self.refits + self.failed, "refit"),
            stopped_in_words(self.stopped, self.refits, "searches of refits"),
        ]
        return [sentence for sentence in late if sentence is not None]

    # --- showing --------------------------------------------------------------------------------

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of `frame` as lists."""
        rules = self.rules
        shown: dict[str, list[Any]] = {
            "rule": [each.rule for each in rules],
            "found": [each.found for each in rules],
            "refits": [self.refits] * len(rules),
            **_ends("found", [each.found_interval for each in rules]),
            "near": [each.near for each in rules],
            "effect": [each.effect for each in rules],
            **_ends("effect", [each.held_fixed for each in rules]),
            "same_sign": [each.same_sign for each in rules],
            "coverage": [each.coverage for each in rules],
            "n": [each.n for each in rules],
            "observed": [each.observed for each in rules],
        }
        if self.outcome is not None:
            shown["events"] = [each.events for each in rules]
        shown |= _ends("whole_analysis", [each.whole_analysis for each in rules])
        return shown | {"approved": [each.approved for each in rules]}

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each rule, as a pandas frame, or polars or pyarrow by name."""
        return make_frame(self.columns(), backend)

    def people(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each person: the prediction, and its range over refits.

        They stay with the record that `track_record` returned: one that was saved, or that a rule
        set carries, has `people_summary` only.
        """
        if self.people_ranges is None:
            raise InvalidParameter(
                "This track record has no ranges of single rows, as it was saved or belongs to a "
                "rule set; use the one that model.track_record(X, y) returned."
            )
        return self.people_ranges.frame(backend=backend)

    def plot(self, ax: Any = None) -> Any:
        """Draw how often each rule was found, and return the `TrackRecordDisplay` of matplotlib.

        Parameters
        ----------
        ax
            Matplotlib's axes to draw on; by default those of a new figure.
        """
        return display_class("TrackRecordDisplay").from_record(self).plot(ax)

    def summary(self) -> str:
        """Return in a few sentences what refits say of the whole rule set."""
        people = self.people_summary
        sentences = self._sentences_on_rules()
        if not math.isnan(people.relative_range):
            what, of_target = "probability", ""
            if self.outcome is None:
                what = "prediction"
                of_target = f" ({people.relative_range:.2f} standard deviations of the target)"
            sentences.append(
                f"Over refits, the {self.confidence:.0%} range of a row's {what} is "
                f"{people.mean_range:.3g} wide on average{of_target}."
            )
        if not math.isnan(people.undecided):
            sentences.append(
                f"{people.undecided:.0%} of the rows are on the other side of {people.threshold:g} "
                "in at least a tenth of the refits."
            )
        if self.failed:
            number = "1 refit" if self.failed == 1 else f"{self.failed} refits"
            sentences.append(f"{number} failed; the first: {one_line(str(self.failure))}")
        return "\n".join([*sentences, *self.cautions])

    def _sentences_on_rules(self) -> list[str]:
        """Return how many rules were found often, and what refits have in common with them."""
        refits = f"{self.refits} refits, each on {self.how}"
        if not self.rules:
            alike = round(self.recurrence.value * self.refits)
            return [f"There are no rules to find again; {alike} of {refits}, have none either."]
        often = sum(each.found >= 0.8 * self.refits for each in self.rules)
        rules = "1 rule was" if len(self.rules) == 1 else f"{len(self.rules)} rules were"
        value, low, high = self.recurrence
        interval = f"{self.confidence:.0%} range over refits: {low:.0%} to {high:.0%}"
        common = f"{value:.0%} of their rules in common on average ({interval})"
        weighted = f"weighted by importance, {_share_of(self.overlap)}"
        return [
            f"{often} of {rules} found in at least 80 % of {refits}.",
            f"A refit and this rule set have {common}; {weighted}.",
        ]

    def __repr__(self) -> str:
        texts = [one_line(each.rule) for each in self.rules]
        width = max(map(len, texts), default=4)
        effect = "effect" if self.outcome is None else "log-odds"
        lines = [f"  {'rule':{width}}  {'found':>9}  {'near':>4}  {effect} ({self.confidence:.0%})"]
        lines += [
            f"  {text:{width}}  {found_of(each, self):>9}  {each.near:>4}  {each.effect:+.4g} "
            f"({_interval_text(each.held_fixed)})"
            for text, each in zip(texts, self.rules, strict=True)
        ]
        return "\n".join([*(lines if self.rules else []), self.summary()])

    # --- as JSON --------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON holds it: without the ranges of people."""
        content = asdict(replace(self, people_ranges=None))
        del content["people_ranges"]
        if self.asked in (None, self.refits + self.failed):  # as before there was a `time_budget`
            del content["asked"]
        if not self.stopped:
            del content["stopped"]
        strict: dict[str, Any] = _without_nan(content)
        return strict

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return what `to_dict` has made."""
        wrong = violation(content, RECORD_SCHEMA)
        if wrong is not None:
            raise ValueError(wrong)
        rules = tuple(_read_rule(each) for each in content["rules"])
        read = {
            "rules": rules,
            "intercept": Interval(*map(_number, content["intercept"])),
            "recurrence": Measured(*map(_number, content["recurrence"])),
            "overlap": Measured(*map(_number, content["overlap"])),
            "people_summary": PeopleSummary(
                **_numbers(content["people_summary"], ("n", "threshold"))
            ),
            **{name: int(content[name]) for name in COUNTS if name in content},
        }
        record = cls(**{**content, **read})
        if any(not 0 <= each.found <= each.near <= record.refits for each in rules):
            raise ValueError("a rule was found more often than there were refits")
        return record

    def to_json(self) -> str:
        """Return the record as versioned JSON; see `from_json`."""
        content = {"format": FORMAT, "version": VERSION, **self.to_dict()}
        return json.dumps(content, allow_nan=False, indent=2)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the record of a text that `to_json` wrote; what is wrong is `InvalidFile`."""
        remedy = "pass the whole text that to_json returned"
        content = dict(parse_document(text, "The text", remedy, FORMAT, VERSION))
        with refuse_damage("The track record is damaged", remedy):
            del content["format"], content["version"]
            return cls.from_dict(content)


def _ends(name: str, intervals: Sequence[Interval]) -> dict[str, list[float]]:
    """Return the columns of the two ends of intervals."""
    return {
        f"{name}_lower": [each.lower for each in intervals],
        f"{name}_upper": [each.upper for each in intervals],
    }


def found_of(rule: RuleRecord, record: TrackRecord) -> str:
    """Return "18 of 20"."""
    return f"{rule.found} of {record.refits}"


def _interval_text(interval: Interval) -> str:
    return "-" if math.isnan(interval.lower) else f"{interval.lower:+.4g} to {interval.upper:+.4g}"


def _share_of(measured: Measured) -> str:
    return f"{measured.value:.0%} ({measured.lower:.0%} to {measured.upper:.0%})"


def _without_nan(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nan(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_without_nan(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _number(value: Any) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("a figure is not a number")
    return value


def _numbers(content: Mapping[str, Any], plain: Sequence[str]) -> dict[str, Any]:
    """Return fields of numbers, where null stands for NaN except in the plain ones."""
    return {key: value if key in plain else _number(value) for key, value in content.items()}


def _read_rule(content: Mapping[str, Any]) -> RuleRecord:
    intervals = ("found_interval", "held_fixed", "whole_analysis")
    ends = {name: Interval(*map(_number, content[name])) for name in intervals}
    figures = {name: _number(content[name]) for name in ("same_sign", "observed")}
    counts = {name: int(content[name]) for name in ("found", "near", "n")}  # JSON has 3.0 too
    return RuleRecord(**{**content, **ends, **figures, **counts})
