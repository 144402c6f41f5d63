"""`RuleSet`: rules with weights and an intercept, and all that is needed to apply them.

The class keeps, checks and applies rules. What is made of them stands in modules of its own, which
know rule sets by their attributes only: `explanation`, `importance` and the exports.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from mossrules._common import check_number
from mossrules._frames import Backend, make_frame
from mossrules._refusals import names_input
from mossrules._typing import AnyArray, BoolArray, FloatArray
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import Condition, Rule, named_levels
from mossrules.candidates.search import Candidates
from mossrules.candidates.statistics import rule_columns
from mossrules.data.chunks import RowRange
from mossrules.data.columns import Label
from mossrules.data.reading import Reading
from mossrules.data.table import Table
from mossrules.exceptions import InvalidParameter
from mossrules.model.calibration import Calibration, ThresholdPerformance
from mossrules.model.events import Events
from mossrules.model.explanation import Explanation, Link, inverse_link
from mossrules.model.export_json import from_json, to_json
from mossrules.model.export_python import to_python
from mossrules.model.export_sql import to_sql
from mossrules.model.export_text import one_line, to_html, to_latex, to_markdown, to_text
from mossrules.model.importance import feature_importances, importance_frame, rule_importances
from mossrules.model.track_record import TrackRecord
from mossrules.model.values import used_columns, used_values

__all__ = ["RuleSet"]


@dataclass(frozen=True, eq=False, repr=False)
class RuleSet:
    """Rules, each with its effect on the prediction, in the target's own units.

    The prediction is the intercept plus the weights of the rules that hold, added in float64 in
    the order of `rules`: the same bits here, in `explain` and in exported programs.

    With `link="logit"` that sum is the log-odds of an outcome, and the prediction its probability,
    1 / (1 + exp(-sum)): each rule that holds multiplies the odds by the exponential of its weight.

    Rules with the largest effects come first, since readers who have to answer for a rule set start
    with them (ties are in the fixed order of the rules themselves).

    Two rule sets are equal when they have the same rules, whatever the weights: recurrence is about
    finding the same rules again. A rule refers to numbers by bin, so equal rule sets of different
    data may differ in cut points, and a comparison is meaningful only among refits with the same
    `n_bins`. Compare `to_json()` to ask for equality in every bit.

    Parameters
    ----------
    rules
        Distinct rules, in any order, with one entry of `weights`, `support` and `proportion` for
        each.
    weights
        Effect of each rule: what it adds to the prediction where it holds.
    intercept
        The prediction where no rule holds.
    binning
        How values become bins; columns that no rule uses are left out, and so are levels of
        categories that fewer than ten rows of training had, where no rule names them.
    columns
        Names of all columns of the training table, by which arrays are read.
    support
        Coverage: share of the training rows (of their weight) where each rule holds.
    proportion
        Tree frequency: share of the trees that contain each rule.
    target
        Name of the target, if it has one.
    link
        "identity", or "logit" where weights are log-odds and predictions are probabilities.
    outcome
        With "logit", the class whose probability is predicted.
    calibration
        With "logit", training rows by their prediction and by their outcome.
    events
        With "logit", how many training rows have the outcome and how many have not.
    track_record
        How often each rule was found when the analysis was repeated, where that was measured.

    Examples
    --------
    >>> from mossrules import find_candidates
    >>> X = {"age": [20, 30, 40, 50], "smoker": [False, True, False, True]}
    >>> candidates = find_candidates(X, [1.0, 5.0, 2.0, 6.0], n_trees=20, max_depth=1)
    >>> position = candidates.texts.index("smoker is true")
    >>> ruleset = RuleSet.from_candidates(candidates, [position], [4.0], 1.5)
    >>> ruleset.predict({"age": [25, 70], "smoker": [True, False]})
    array([5.5, 1.5])
    >>> ruleset.explain({"smoker": True})
      +1.500  (intercept)
      +4.000  smoker is true
    = +5.500  prediction
    """

    rules: tuple[Rule, ...]
    weights: FloatArray
    intercept: float
    binning: Binning
    columns: tuple[str, ...]
    support: FloatArray
    proportion: FloatArray
    target: str | None = None
    link: Link = "identity"
    outcome: Label | None = None
    calibration: Calibration | None = None
    track_record: TrackRecord | None = None
    events: Events | None = None

    def __post_init__(self) -> None:
        _check_link(self.link, self.outcome, self.calibration, self.events)
        rules = tuple(self.rules)
        # Adding 0.0 makes 0.0 of -0.0: a sum has none, and exports would write "-0.0".
        weights = _numbers("weights", self.weights, len(rules)) + 0.0
        shares = {
            name: _shares(name, getattr(self, name), len(rules))
            for name in ("support", "proportion")
        }
        intercept = float(_numbers("intercept", [self.intercept], 1)[0]) + 0.0
        _check_rules(rules, self.binning, tuple(self.columns))
        # Canonical whatever the order given, so that sums of floats, and exports, are the same too.
        order = sorted(range(len(rules)), key=lambda i: (-abs(weights[i]), rules[i].sort_key))
        # What is kept may be passed on: columns and rare levels that no rule names stay behind.
        named = named_levels(rules)
        canonical: dict[str, object] = {
            "rules": tuple(rules[i] for i in order),
            "weights": _frozen(weights[order]),
            "intercept": intercept,
            "binning": Binning(
                tuple(
                    self.binning[name].without_rare(named[name])
                    for name in self.columns
                    if name in named
                ),
                self.binning.named,
                self.binning.reading.kept(named),
            ),
            "columns": tuple(self.columns),
            **{name: _frozen(values[order]) for name, values in shares.items()},
        }
        if self.track_record is not None:
            _check_record(self.track_record, self, weights)
            known = tuple(self.track_record.rules[i] for i in order)
            # Ranges of people are theirs, and not to be stored or sent with the rules.
            canonical["track_record"] = replace(self.track_record, rules=known, people_ranges=None)
        for name, value in canonical.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_candidates(
        cls,
        candidates: Candidates,
        positions: Sequence[int] | AnyArray,
        weights: Sequence[float] | AnyArray,
        intercept: float,
        *,
        target: str | None = None,
        link: Link = "identity",
        outcome: Label | None = None,
        calibration: Calibration | None = None,
        events: Events | None = None,
    ) -> RuleSet:
        """Return the rules at some positions of the candidates, with weights in target units.

        The columns that a solver weighs are `statistics.values` times 0 or 1 of a scaled target:
        a weight w of its own is `w * statistics.values[i] * statistics.target_scale` here; with
        the link "logit" it is `w * statistics.values[i]`.

        Parameters
        ----------
        candidates
            Of `find_candidates`, or of an estimator.
        positions, weights
            Of the chosen rules, as in `Solution.support`, and their effects.
        intercept, target, link, outcome, calibration, events
            As in `RuleSet`.
        """
        chosen = [int(position) for position in positions]
        if not all(0 <= position < len(candidates) for position in chosen):
            raise InvalidParameter(
                f"positions must be between 0 and {len(candidates) - 1}, as there are "
                f"{len(candidates)} candidates; got {chosen}."
            )
        return cls(
            rules=tuple(candidates.pool.rules[i] for i in chosen),
            weights=np.asarray(weights, dtype=np.float64),
            intercept=intercept,
            binning=candidates.binning,
            columns=candidates.binning.names,
            support=candidates.statistics.support[chosen] / candidates.statistics.n,
            proportion=candidates.pool.proportions[chosen],
            target=target,
            link=link,
            outcome=outcome,
            calibration=calibration,
            events=events,
        )

    # --- as a collection of rules ---------------------------------------------------------------

    @property
    def reading(self) -> Reading:
        """How the values of the training file were read; files to predict for are read likewise."""
        return self.binning.reading

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that some rule looks at, in the order of the training table."""
        return self.binning.names

    @property
    def rare_levels(self) -> tuple[tuple[str, Label], ...]:
        """Columns and levels that rules name though fewer than ten rows of training had them.

        Whoever reads the rules learns them. A rule set that was read from JSON does not know.
        """
        return tuple(
            (column.name, level)
            for column in self.binning.columns
            for level in column.levels
            if level in column.rare
        )

    @property
    def texts(self) -> list[str]:
        """The rules in the user's units."""
        return [rule.text(self.binning) for rule in self.rules]

    @property
    def events_per_rule(self) -> float | None:
        """Training rows of the rarer class for each rule; None where that is not known.

        Below 10, effects are unreliable: see docs/classification.md.
        """
        if self.events is None or not self.rules:
            return None
        return self.events.rarer / len(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __contains__(self, rule: object) -> bool:
        return rule in self.rules

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RuleSet):
            return NotImplemented
        return frozenset(self.rules) == frozenset(other.rules)

    def __hash__(self) -> int:
        return hash(frozenset(self.rules))

    def __reduce__(self) -> tuple[type[RuleSet], tuple[object, ...]]:
        # Through the constructor, so that a copy is as immutable as the original.
        fields = (self.rules, self.weights, self.intercept, self.binning, self.columns)
        shares = (self.support, self.proportion)
        link = (self.target, self.link, self.outcome, self.calibration)
        return RuleSet, (*fields, *shares, *link, self.track_record, self.events)

    # --- predictions ----------------------------------------------------------------------------

    @names_input("X")
    def predict(self, X: Any) -> FloatArray:
        """Return the prediction for each row of a table; with the link "logit", the probability.

        Columns are found by name, whatever their order, and others may be there; an array has all
        columns of training, in the same order. After training on an array, so has any table that
        lacks the names x0, x1, ... which stand in the rules.
        """
        return np.asarray(inverse_link(self.link, self.decision_function(X)), dtype=np.float64)

    @names_input("X")
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities that the outcome does not occur, and that it does: (rows, 2)."""
        if self.link != "logit":
            raise InvalidParameter("These rules predict a number and no probability; call predict.")
        probability = self.predict(X)
        return np.column_stack([1.0 - probability, probability])

    @names_input("X")
    def decision_function(self, X: Any) -> FloatArray:
        """Return the intercept plus the weights of the rules that hold, for each row of a table.

        With the link "logit" these are log-odds, else they are the predictions.
        """
        table = used_columns(X, self.binning, self.columns)
        totals = np.full(table.n_rows, self.intercept)
        # One rule after the other. A product of matrices would be shorter and might be faster, but
        # it adds in an order of its own, so that exports could not give the same bits.
        for rows, holds in self._activations(table):
            part = totals[rows.start : rows.stop]
            for weight, where in zip(self.weights, holds, strict=True):
                np.add(part, weight, out=part, where=where)
        return totals

    @names_input("X")
    def holds(self, X: Any) -> BoolArray:
        """Return for each row of a table and each rule whether it holds there: (rows, rules)."""
        return self._holds(used_columns(X, self.binning, self.columns))

    @names_input("row")
    def explain(self, row: Any, *, threshold: float = 0.5) -> Explanation:
        """Return which rules hold for one row, and the effect of each on its prediction.

        The row is a mapping from names to values, a pandas Series, a sequence of the values of all
        columns of training, or a table of one row. With the link "logit", it also says what to
        decide when one acts on probabilities of at least `threshold`.
        """
        holds = self._holds(used_values(row, self.binning, self.columns))[0]
        return Explanation(
            rules=self.rules,
            texts=tuple(self.texts),
            weights=tuple(self.weights.tolist()),
            holds=tuple(holds.tolist()),
            intercept=self.intercept,
            target=self.target,
            link=self.link,
            outcome=self.outcome,
            calibration=self.calibration,
            threshold=check_number("threshold", threshold, minimum=0.0),
        )

    @names_input("self")
    def thresholds(self, *miss_costs: float, backend: Backend | None = None) -> Any:
        """Return thresholds of the probability, and how well each works on training rows.

        One for each cost of missing the outcome, in false alarms (1 if none is given), and the one
        of the best balanced accuracy. Columns: `purpose`, `threshold`, the share of rows `flagged`,
        `sensitivity`, `specificity`, `precision` and `balanced_accuracy`.
        """
        if self.calibration is None:
            raise InvalidParameter(
                "These rules carry no predictions of training rows, by which thresholds are judged."
            )
        advice = self.calibration.advice(miss_costs or (1.0,))
        columns: dict[str, list[Any]] = {"purpose": list(advice)}
        for name in ThresholdPerformance._fields:
            columns[name] = [getattr(performance, name) for performance in advice.values()]
        return make_frame(columns, backend)

    def _holds(self, table: Table) -> BoolArray:
        where = np.empty((table.n_rows, len(self)), dtype=bool)
        for rows, holds in self._activations(table):
            where[rows.start : rows.stop] = holds.T
        return where

    def _activations(self, table: Table) -> Iterator[tuple[RowRange, BoolArray]]:
        """Yield chunks of rows and whether each rule holds there: (rules, rows)."""
        for rows in table.ranges() if self.rules else ():
            yield rows, rule_columns(self.rules, self.binning, self.binning.encode(table, rows))

    # --- importance -----------------------------------------------------------------------------

    def rule_importances(self, backend: Backend | None = None) -> Any:
        """Return a row per rule, the most important first: `rule`, `importance` and `share`.

        The importance is the standard deviation over the training rows of what the rule adds,
        `|weight| * sqrt(support * (1 - support))`, in the target's units; shares add up to 1.
        """
        return importance_frame("rule", rule_importances(self), backend)

    def feature_importances(self, backend: Backend | None = None) -> Any:
        """Return a row per feature in use, the most important first: its `importance` and `share`.

        A rule's importance is divided equally among its features.
        """
        return importance_frame("feature", feature_importances(self), backend)

    # --- exports --------------------------------------------------------------------------------

    def to_text(self) -> str:
        """Return a table for people to read; weights are rounded, see `to_frame` for all digits."""
        return to_text(self)

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a row per rule: its text, weight, support and proportion.

        With the link "logit", `odds_ratio` is what the odds are multiplied by where it holds. With
        a track record, `found` and `near` are numbers of refits, of `refits` in all, and
        `weight_lower` and `weight_upper` the interval of the effect, the rule set held fixed. As a
        pandas frame, or polars or pyarrow by name.
        """
        return make_frame(self.frame_columns(), backend)

    def frame_columns(self) -> dict[str, list[Any]]:
        """Return the columns of `to_frame`."""
        columns = {
            "rule": self.texts,
            "weight": self.weights.tolist(),
            "support": self.support.tolist(),
            "proportion": self.proportion.tolist(),
        }
        if self.link == "logit":
            with np.errstate(over="ignore"):
                columns["odds_ratio"] = np.exp(self.weights).tolist()
        if self.track_record is not None:
            known = self.track_record.columns()
            columns |= {name: known[name] for name in ("found", "near", "refits")}
            columns["weight_lower"] = known["effect_lower"]
            columns["weight_upper"] = known["effect_upper"]
        return columns

    def to_markdown(self) -> str:
        """Return a table in GitHub's Markdown."""
        return to_markdown(self)

    def to_latex(self) -> str:
        r"""Return a LaTeX tabular; the document needs `\usepackage{booktabs}`."""
        return to_latex(self)

    def to_json(self) -> str:
        """Return all of the rule set, bit for bit, as versioned JSON; see `from_json`."""
        return to_json(self)

    @classmethod
    @names_input("cls")
    def from_json(cls, text: str | bytes) -> RuleSet:
        """Return the rule set of a text that `to_json` wrote.

        Everything is checked and nothing is executed; what is wrong raises `InvalidFile`.
        """
        return from_json(cls, text)

    @names_input("self")
    def to_sql(
        self,
        table: str | Sequence[str] | None = None,
        dialect: str = "ansi",
        *,
        keep: Sequence[str] = (),
    ) -> str:
        """Return the prediction as an SQL expression or, with a table, as a whole SELECT.

        A probability is written without EXP, which not every SQLite has: as a product of odds.

        Parameters
        ----------
        table
            Name of the table, or names such as ("schema", "table").
        dialect
            "ansi" (runs in DuckDB, SQLite and others), "duckdb" or "sqlite".
        keep
            Columns to select beside the prediction, such as a key.
        """
        return to_sql(self, table, dialect, keep)

    def to_python(self, name: str = "predict") -> str:
        """Return the source of a function from a row, as a mapping, to its prediction.

        It needs nothing but Python.
        """
        return to_python(self, name)

    def _repr_html_(self) -> str:
        return to_html(self)

    def __repr__(self) -> str:
        return to_text(self)


# --- checks -------------------------------------------------------------------------------------


def _check_link(link: str, outcome: object, calibration: object, events: object) -> None:
    if link not in get_args(Link):
        raise InvalidParameter(f"link is {link!r}; choose 'identity' or 'logit'.")
    if outcome is not None and (link != "logit" or not isinstance(outcome, Label)):
        raise InvalidParameter(
            f"outcome is {outcome!r}; pass text, a number or a truth value, with link='logit' only."
        )
    if calibration is not None and not (link == "logit" and isinstance(calibration, Calibration)):
        raise InvalidParameter("calibration must be a Calibration, with link='logit' only.")
    if events is not None and not (link == "logit" and isinstance(events, Events)):
        raise InvalidParameter("events must be Events, with link='logit' only.")


def _check_record(record: TrackRecord, ruleset: RuleSet, weights: FloatArray) -> None:
    """Refuse the record of other rules, or of other effects: it would say what was not measured."""
    measured = [(each.rule, each.effect) for each in record.rules]
    own = [
        (rule.text(ruleset.binning), weight)
        for rule, weight in zip(ruleset.rules, weights.tolist(), strict=True)
    ]
    outcome = None if ruleset.outcome is None else str(ruleset.outcome)
    if (measured, record.outcome) != (own, outcome):
        raise InvalidParameter(
            "track_record is of other rules, effects or another outcome; pass that of these rules, "
            "or None."
        )


def _numbers(name: str, values: Any, n: int) -> FloatArray:
    numbers = np.array(values, dtype=np.float64)
    if numbers.shape != (n,) or not np.isfinite(numbers).all():
        expected = "a number" if name == "intercept" else f"one number for each of the {n} rules"
        raise InvalidParameter(f"{name} must be {expected}, finite; got {values!r}.")
    return numbers


def _shares(name: str, values: Any, n: int) -> FloatArray:
    shares = _numbers(name, values, n)
    if ((shares < 0) | (shares > 1)).any():
        raise InvalidParameter(f"{name} must be between 0 and 1; got {values!r}.")
    return shares


def _frozen(values: FloatArray) -> FloatArray:
    values.setflags(write=False)
    return values


def _check_rules(rules: tuple[Rule, ...], binning: Binning, columns: tuple[str, ...]) -> None:
    if len(set(rules)) < len(rules):
        raise InvalidParameter("A rule appears twice; give each rule one weight.")
    if len(set(columns)) < len(columns):
        raise InvalidParameter("A name appears twice in columns; names must differ.")
    for rule in rules:
        if Rule.of(rule.conditions) != rule:
            raise InvalidParameter(
                f"The rule '{one_line(str(rule))}' is not in canonical form; make it with Rule.of."
            )
        for condition in rule.conditions:
            _check_condition(condition, binning[condition.feature])
            if condition.feature not in columns:
                raise InvalidParameter(
                    f"Column {condition.feature!r} is used by a rule and not among the columns "
                    "of training; add it."
                )


def _check_condition(condition: Condition, column: BinnedColumn) -> None:
    """Refuse a condition that its column cannot have, or that says nothing."""
    # NaN equals nothing, so no value would ever be found among such levels.
    if any(isinstance(level, float) and math.isnan(level) for level in column.levels):
        raise InvalidParameter(
            f"Column {column.name!r} has NaN among its levels; mark missing values as missing."
        )
    misfit = condition.misfit(column)
    if misfit is not None:
        raise InvalidParameter(f"The condition '{one_line(str(condition))}' {misfit}.")
