"""The rules found in every refit: which features they use, in which direction, their effects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from mossrules import defaults
from mossrules._common import check_choice
from mossrules._frames import Backend, make_frame
from mossrules.candidates.rules import OPEN, Condition, Range
from mossrules.display.plots._axes import (
    LETTER,
    PALETTE,
    PLAIN,
    SMALL,
    Rows,
    axes_for,
    rules_of,
    shorten,
    split_axes,
    units,
    wrap_texts,
)
from mossrules.display.plots.consistency import ABOUT, Identity
from mossrules.evaluation.agreement import key_of_each
from mossrules.evaluation.measures import shares_of_rules
from mossrules.exceptions import InvalidParameter
from mossrules.model import RuleSet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["StableRule", "StructureDisplay"]

# Spaces or brackets around a number: names are between others.
NUMBER = re.compile(r"((?<![^\s(])-?[\d.]+(?:e[+-]?\d+)?(?![^\s)]))")
COLUMN = 0.42  # inches of a feature
WEIGHTS = 2.2  # inches of the panel of weights
NAME = 22  # letters of a feature's name
# What a condition asks of its feature, and the mark that stands for it.
MARKS = {"high": "^", "low": "v", "between": "D", "level": "s", "missing": "X"}
WORDS = {
    "high": "\N{BLACK UP-POINTING TRIANGLE} high",
    "low": "\N{BLACK DOWN-POINTING TRIANGLE} low",
    "between": "\N{BLACK DIAMOND} between",
    "level": "\N{BLACK SQUARE} some levels",
    "missing": "\N{MULTIPLICATION X} missing or not",
}


@dataclass(frozen=True)
class StableRule:
    """A rule that refits share."""

    conditions: tuple[str, ...]  # thresholds that differ between splits as in 2.1..2.3
    features: tuple[str, ...]  # of each condition
    asks: tuple[str, ...]  # for what each asks: high, low, between, level, missing
    splits: int  # that have it
    support: float  # mean share of rows on which it holds
    weight: float  # mean
    weight_low: float
    weight_high: float

    def __str__(self) -> str:
        return " and ".join(self.conditions)

    @property
    def colour(self) -> str:
        """Blue where the rule raises predictions, vermillion where it lowers them."""
        return PALETTE["blue" if self.weight > 0 else "vermillion"]


@dataclass
class StructureDisplay:
    """The rules that (nearly) all refits share, and the features that they are made of.

    Make it with `from_splits`; `frame` has the data, `plot` draws them. After `plot`, `ax_` (the
    rows) and `figure_` are matplotlib's, and `axes_` has the panels "features" and "weight".

    A row is a rule, a column a feature; a mark says that the rule asks for high or for low values
    of the feature, for some in between, or for levels. Beside them is the effect of the rule: its
    mean over the refits as a dot, and a line from the smallest to the largest.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> age = range(20, 60)
    >>> y = [years // 10 if years <= 40 else 8 for years in age]
    >>> splits = [
    ...     MossRegressor(3, n_trees=20).fit({"age": age[start::2]}, y[start::2])
    ...     for start in (0, 1)
    ... ]
    >>> display = StructureDisplay.from_splits(splits)
    >>> display.frame(backend="pandas")[["rule", "asks", "splits"]]
           rule  asks  splits
    0  age > 40  high       2
    1  age > 30  high       2
    """

    rules: tuple[StableRule, ...]  #: a row each
    features: tuple[str, ...]  #: the one of most rules first
    n_splits: int  #: that were compared
    target: str | None  #: name of the target, if it has one

    # --- data -----------------------------------------------------------------------------------

    @classmethod
    def from_splits(
        cls, splits: Iterable[Any], share: float = 1.0, *, identity: Identity = defaults.IDENTITY
    ) -> StructureDisplay:
        """Return the display of rule sets, or fitted estimators, of splits of one table.

        Parameters
        ----------
        splits
            A rule set or a fitted estimator for each of two or more splits.
        share
            Part of the splits that must have a rule; by default all.
        identity
            When two rules are the same: "thresholds", if they read the same, or "codes", if they
            have the same features and bins. See `mossrules.stability`.
        """
        check_choice("identity", identity, get_args(Identity))
        rulesets = [rules_of(each, "One of the splits") for each in splits]
        if len(rulesets) < 2:
            raise InvalidParameter(
                f"The number of splits is {len(rulesets)}; pass at least two to compare."
            )
        keys = [key_of_each(each, identity) for each in rulesets]
        common = shares_of_rules(rulesets, share, identity=identity)
        rules = [_stable_rule(key, rulesets, keys) for key in common]
        rules.sort(key=lambda each: (-each.splits, -abs(each.weight)))
        # Features that many rules share come first, so that their columns show common structure.
        uses = Counter(feature for each in rules for feature in each.features)
        ranked = sorted(uses, key=lambda feature: (-uses[feature], feature))
        return cls(tuple(rules), tuple(ranked), len(rulesets), rulesets[0].target)

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each rule as a data frame.

        Columns: `rule` (thresholds that differ between splits as a range), `features` and `asks`
        (of each feature: high, low, between, level, missing), separated by commas, `splits` (that
        have the rule), `support` (mean share of rows), `weight` (mean), `weight_low` and
        `weight_high`, in the target's units.
        """
        columns: dict[str, list[Any]] = {
            "rule": [str(each) for each in self.rules],
            "features": [", ".join(each.features) for each in self.rules],
            "asks": [", ".join(each.asks) for each in self.rules],
        }
        for name in ("splits", "support", "weight", "weight_low", "weight_high"):
            columns[name] = [getattr(each, name) for each in self.rules]
        return make_frame(columns, backend)

    # --- drawing --------------------------------------------------------------------------------

    def plot(self, ax: Axes | None = None) -> StructureDisplay:
        """Draw on the axes given, which are divided into panels, or on those of a new figure."""
        rows = Rows(tuple(wrap_texts(each.conditions) for each in self.rules))
        columns = COLUMN * max(len(self.features), 2)
        names = [shorten(feature, NAME) for feature in self.features]
        below = 0.75 * LETTER * max(map(len, names), default=0)
        size = rows.figure_size(columns + WEIGHTS + 0.4, around=1.0 + below)
        self.ax_: Axes = axes_for(ax, size)
        self.figure_: Figure | SubFigure = self.ax_.figure
        rows.draw(self.ax_)
        panels = split_axes(self.ax_, [columns, WEIGHTS], 0.2 / (columns + WEIGHTS))
        self.axes_: dict[str, Axes] = dict(zip(("features", "weight"), panels, strict=True))
        self._draw_features(rows.centres, names)
        self._draw_weights(rows.centres)
        self.ax_.set_title(self._title(), fontsize=10, loc="right", **PLAIN)
        return self

    def _title(self) -> str:
        fewest = min((each.splits for each in self.rules), default=self.n_splits)
        all_of_them = fewest == self.n_splits
        which = f"all {fewest}" if all_of_them else f"{fewest} or more of {self.n_splits}"
        n = len(self.rules)
        rules = "No rule was" if n == 0 else "1 rule was" if n == 1 else f"{n} rules were"
        asked = {ask for each in self.rules for ask in each.asks}
        legend = "   ".join(words for name, words in WORDS.items() if name in asked)
        return f"{rules} found in {which} refits\n{legend}".rstrip()

    def _draw_features(self, centres: Sequence[float], names: Sequence[str]) -> None:
        ax = self.axes_["features"]
        place = {feature: i for i, feature in enumerate(self.features)}
        for y, each in zip(centres, self.rules, strict=True):
            # A line joins the features of a rule, as in an UpSet plot: marks alone look unrelated.
            at = [place[feature] for feature in each.features]
            ax.plot([min(at), max(at)], [y, y], color="0.45", linewidth=2.0, zorder=1)
            for x, ask in zip(at, each.asks, strict=True):
                ax.plot(x, y, MARKS[ask], color=each.colour, markersize=8, zorder=2)
        ax.set_xlim(-0.6, max(len(names), 2) - 0.4)
        ax.vlines(range(len(names)), *ax.get_ylim(), color="0.88", linewidth=0.8, zorder=0)
        style: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
        ax.set_xticks(range(len(names)), names, fontsize=SMALL, **style, **PLAIN)
        ax.tick_params(axis="x", length=0)

    def _draw_weights(self, centres: Sequence[float]) -> None:
        ax = self.axes_["weight"]
        ax.axvline(0.0, color="0.3", linewidth=0.8)
        for y, each in zip(centres, self.rules, strict=True):
            ax.plot([each.weight_low, each.weight_high], [y, y], color=each.colour, linewidth=2.5)
            ax.plot(each.weight, y, "o", color=each.colour, markersize=6)
        ax.margins(x=0.1)
        ax.set_xlabel(f"effect\n({units(self.target)})", fontsize=SMALL + 0.5)
        ax.tick_params(axis="x", labelsize=SMALL - 0.5)
        ax.locator_params(axis="x", nbins=5)


# --- rules over splits ----------------------------------------------------------------------------


def _stable_rule(
    key: Hashable, rulesets: Sequence[RuleSet], keys: Sequence[tuple[Hashable, ...]]
) -> StableRule:
    """Return what splits have of a rule, those that have it; `keys` stand for all their rules."""
    places = [(each, of.index(key)) for each, of in zip(rulesets, keys, strict=True) if key in of]
    weights = [float(ruleset.weights[i]) for ruleset, i in places]
    texts = [
        [condition.text(each.binning[condition.feature]) for condition in each.rules[i].conditions]
        for each, i in places
    ]
    rule = places[0][0].rules[places[0][1]]
    return StableRule(
        conditions=tuple(words_over(of_one) for of_one in zip(*texts, strict=True)),
        features=rule.features,
        asks=tuple(map(_ask, rule.conditions)),
        splits=len(places),
        support=sum(float(ruleset.support[i]) for ruleset, i in places) / len(places),
        weight=sum(weights) / len(weights),
        weight_low=min(weights),
        weight_high=max(weights),
    )


def words_over(texts: Sequence[str]) -> str:
    """Return texts that differ in numbers as one, with the smallest and the largest of each.

    Where they differ in anything else it is the first of them, with a sign before it.

    >>> words_over(["2 < age <= 7", "2 < age <= 8", "2 < age <= 7.5"])
    '2 < age <= 7..8'
    """
    if len(set(texts)) == 1:
        return texts[0]
    try:
        columns = zip(*(NUMBER.split(text) for text in texts), strict=True)
        return "".join(_span(set(column)) for column in columns)
    except ValueError:  # other words, or more of them
        return f"{ABOUT} {texts[0]}"


def _span(words: set[str]) -> str:
    if len(words) == 1:
        return words.pop()
    # `float` refuses what is no number, which the caller takes for other words.
    distinct = sorted(words, key=float)
    return f"{distinct[0]}..{distinct[-1]}"


def _ask(condition: Condition) -> str:
    """Return what a condition asks of its feature."""
    if not isinstance(condition, Range):
        return "level"
    lower, upper = condition.low > 1, condition.high < OPEN
    if condition.low > condition.high or not (lower or upper):
        return "missing"
    return "between" if lower and upper else "high" if lower else "low"
