"""Effects of rules that were estimated on rows which had no part in finding the rules.

Values only: `sample_splitting.py` finds the rules and estimates the effects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from mossrules._deprecated import Renamed
from mossrules._display import display_class
from mossrules._frames import Backend, make_frame
from mossrules.checkpoint import strict_json
from mossrules.data.columns import Label
from mossrules.evaluation.results import NAN
from mossrules.model.export_text import event_text, format_amounts, one_line
from mossrules.model.ruleset import RuleSet
from mossrules.model.rulesets import RuleSets

__all__ = ["INTERCEPT", "RuleEffect", "SplitEffects"]

FORMAT, VERSION = "mossrules split effects", 2  # in 1, `observed` was `mean`
INTERCEPT = "(intercept)"


@dataclass(frozen=True)
class RuleEffect:
    """The effect of one rule, estimated on rows that had no part in finding it.

    Of classes, effects are log-odds; `odds_ratio` is what the odds are multiplied by.

    See Also
    --------
    mossrules.evaluation.SplitEffects : Has them, as `effects`.
    """

    rule: str  #: as printed, or "(intercept)"
    outcome: Label | None  #: the class whose log-odds it moves; None of numbers
    effect: float  #: NaN where the second part does not determine it
    standard_error: float  #: whatever the spread of the errors, by leaving out each row or group
    lower: float  #: lower end of the interval of the effect
    upper: float  #: upper end
    p_value: float  #: two-sided, of the hypothesis that the effect is 0
    degrees: float  #: of freedom of the t distribution
    n: int  #: rows of the second part where the rule holds
    coverage: float  #: the share of these rows, or of their weight
    observed: float  #: mean target of these rows; of classes their event rate; NaN of few rows
    events: int | None  #: rows with the outcome where it holds; None of numbers
    first_effect: float  #: in the model of the first part
    note: str | None = None  #: why there is no effect or no interval

    mean = Renamed("observed")

    @property
    def odds_ratio(self) -> float:
        """What the odds are multiplied by where the rule holds; NaN of numbers."""
        return NAN if self.outcome is None else float(np.exp(self.effect))


@dataclass(frozen=True, eq=False, repr=False)
class SplitEffects:
    """Rules found in one part of the rows, and their effects on the other part.

    `frame` has a row for the intercept and for each rule, `plot` draws the intervals, and `rules`
    is the rule set with the new effects, to predict with and to export.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mossrules import MossRegressor
    >>> from mossrules.evaluation import split_effects
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> effects = split_effects(MossRegressor(3, n_trees=100), X, y)
    >>> effects.n_first, effects.n_second
    (221, 221)
    >>> bool(effects.frame(backend="pandas")["p_value"].iloc[1] < 0.05)
    True
    """

    effects: tuple[RuleEffect, ...]  #: the intercept and the rules, of each outcome
    rules: RuleSet | RuleSets  #: those with an effect, with the effects of the second part
    confidence: float  #: of the intervals
    n_first: int  #: rows in which the rules were found
    n_second: int  #: rows on which effects were estimated
    groups: tuple[int, int] | None = None  #: numbers of groups in the two parts
    target: str | None = None  #: its name, if it has one

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return a row for each intercept and rule: all fields of `RuleEffect`.

        Of classes, `odds_ratio` has its interval in `odds_lower` and `odds_upper`.
        """
        names = [field.name for field in fields(RuleEffect)]
        columns = {name: [getattr(each, name) for each in self.effects] for name in names}
        if any(each.outcome is not None for each in self.effects):
            columns["odds_ratio"] = [each.odds_ratio for each in self.effects]
            for end in ("lower", "upper"):
                columns[f"odds_{end}"] = np.exp(columns[end]).tolist()
            columns["outcome"] = [str(outcome) for outcome in columns["outcome"]]
        else:
            del columns["outcome"], columns["events"]
        return make_frame(columns, backend)

    def plot(self, ax: Any = None, *, outcome: Label | None = None) -> Any:
        """Draw the effects with their intervals, and return the `SplitEffectsDisplay`.

        Parameters
        ----------
        ax
            Matplotlib's axes to draw on; by default those of a new figure.
        outcome
            Of several classes, the one whose rules are drawn.
        """
        found = display_class("SplitEffectsDisplay").from_effects(self, outcome=outcome)
        return found.plot(ax)

    def to_json(self) -> str:
        """Return all of it as JSON; `rules.to_json()` is what `RuleSet.from_json` reads."""
        content: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        content["rules"] = self.rules.to_json()
        content["effects"] = [asdict(each) for each in self.effects]
        return strict_json({"format": FORMAT, "version": VERSION, **content})

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        found, judged = f"{self.n_first} rows", f"{self.n_second} others"
        if self.groups is not None:
            found += f" of {self.groups[0]} groups"
            judged += f" of {self.groups[1]} other groups"
        yield f"Rules found in {found}; effects estimated on {judged}, which had no part in it."
        for outcome in dict.fromkeys(each.outcome for each in self.effects):
            of_one = [each for each in self.effects if each.outcome == outcome]
            if outcome is not None:
                yield f"Odds ratios of {one_line(event_text(self.target, outcome))}:"
            yield from _table(of_one, self.confidence)
        yield "p is of no effect, for each rule alone; all other rules are held fixed."


def _table(effects: list[RuleEffect], confidence: float) -> Iterator[str]:
    """Yield an aligned table of one outcome, and what is to be said of single rules."""
    ratios = effects[0].outcome is not None
    title = "odds ratio" if ratios else "effect"
    rows = [
        (title, f"{confidence:.0%} interval", "p", "n", "events" if ratios else "observed", "rule")
    ]
    shown: list[tuple[float, ...]] = [(each.effect, each.lower, each.upper) for each in effects]
    amounts = _ratios(shown) if ratios else _amounts(shown)
    means = [texts[0].lstrip("+") for texts in _amounts([(each.observed,) * 3 for each in effects])]
    for each, (effect, lower, upper), mean in zip(effects, amounts, means, strict=True):
        outcome = f"{each.events} ({each.observed:.0%})" if each.events is not None else mean
        interval = f"{lower} to {upper}" if lower != "-" else "-"
        is_rule = each.rule != INTERCEPT
        p = _p_text(each.p_value) if is_rule else ""
        rows.append((effect, interval, p, str(each.n), outcome, one_line(each.rule)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        *cells, rule = (text.rjust(width) for text, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(cells)}  {rule.strip()}"
    for each in effects:
        if each.note is not None:
            yield f"  {one_line(each.rule)}: {each.note}."


def _amounts(values: list[tuple[float, ...]]) -> list[tuple[str, ...]]:
    """Return effects and ends of intervals with equally many decimals; a dash for none."""
    flat = [value for row in values for value in row]
    known = [value for value in flat if np.isfinite(value)]
    texts = iter(format_amounts(known, known) if known else [])
    words = [next(texts) if np.isfinite(value) else "-" for value in flat]
    return [tuple(words[i : i + 3]) for i in range(0, len(words), 3)]


def _ratios(values: list[tuple[float, ...]]) -> list[tuple[str, ...]]:
    return [tuple(map(_ratio, row)) for row in values]


def _ratio(log_odds: float) -> str:
    ratio = float(np.exp(log_odds))
    if np.isnan(ratio):
        return "-"
    return f"{ratio:.0f}" if 1e3 <= ratio < 1e6 else f"{ratio:.3g}"


def _p_text(p: float) -> str:
    if np.isnan(p):
        return "-"
    return "<0.001" if p < 0.001 else f"{p:.3f}"
