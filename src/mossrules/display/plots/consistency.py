"""Rule sets of several refits as coloured blocks: the paper's first figure."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from mossrules import defaults
from mossrules._common import check_choice
from mossrules._frames import Backend
from mossrules.candidates.rules import Rule
from mossrules.display.plots._axes import (
    LETTER,
    PALETTE,
    PLAIN,
    SMALL,
    Rows,
    axes_for,
    records_frame,
    rules_of,
    shorten,
    split_axes,
    wrap,
)
from mossrules.evaluation.agreement import Agreement, key_of_each
from mossrules.evaluation.measures import shares_of_rules
from mossrules.exceptions import InvalidParameter, UnsupportedType
from mossrules.model import RuleSet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["Block", "ConsistencyDisplay", "Method"]

Identity = Literal["codes", "thresholds"]
Splits = Iterable[Any]
Appearance = tuple[RuleSet, Rule]
Shares = Mapping[str, dict[Any, float]]  # of the splits of each method that have a rule

HUES = ("blue", "orange", "green", "purple", "sky", "vermillion")
COLOURS = [(PALETTE[hue], strength) for strength in (1.0, 0.5) for hue in HUES]
LONE = "0.8"
COLUMN = 0.3  # inches of a split
ARROW = 0.9  # columns for the arrow of a common rule
NARROWEST = 1.3  # inches of a panel: its title needs them
BETWEEN = 0.25  # inches between panels
BLOCK = 1.4  # lines
THIN = 0.09  # inches of a line without words
ABOUT = "\N{ALMOST EQUAL TO}"  # before a rule whose thresholds differ between splits
ONCE = "found once"  # words of the rows of lone rules


@dataclass(frozen=True)
class Block:
    """One rule of one split."""

    method: str
    split: int  # from 1
    place: int  # row from the top, from 1: that of the rule wherever it appears
    rule: str  # with the thresholds of this split
    splits: int  # of this method, with the rule
    common: bool  # to all splits of this method
    lone: bool  # no method has the rule in two splits


@dataclass(frozen=True)
class Method:
    """The splits of one method in figures."""

    method: str
    splits: int
    dice: float  # mean over all pairs of splits
    distinct: int  # rules that some split has
    common: int  # rules that all splits have


@dataclass
class ConsistencyDisplay:
    """Which rules recur when the analysis is repeated on parts of the data.

    Make it with `from_splits`; `frame` and `summary` have the data, `plot` draws them. After
    `plot`, `ax_` (the rows) and `figure_` are matplotlib's, and `axes_` has the panel of each
    method.

    A column is a refit (the analysis of one split of the data), a block is one of its rules, and a
    rule has the same row and colour wherever it appears. Rules found in all refits of a method are
    framed and have an arrow. Rules that no method finds twice are grey and below all others, in no
    order.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> age = range(20, 60)
    >>> y = [years // 10 if years <= 40 else 8 for years in age]
    >>> splits = [
    ...     MossRegressor(3, n_trees=20).fit({"age": age[start::2]}, y[start::2])
    ...     for start in (0, 1)
    ... ]
    >>> display = ConsistencyDisplay.from_splits({"MOSS": splits})
    >>> display.summary(backend="pandas")
      method  splits  dice  distinct  common
    0   MOSS       2   0.8         3       2
    """

    blocks: tuple[Block, ...]  #: a rule of a split each
    methods: tuple[Method, ...]  #: a panel each
    words: tuple[str, ...]  #: of each place that is not of lone rules

    # --- data -----------------------------------------------------------------------------------

    @classmethod
    def from_splits(
        cls,
        splits: Splits | Mapping[str, Splits],
        *,
        identity: Identity = defaults.IDENTITY,
    ) -> ConsistencyDisplay:
        """Return the display of the rule sets found in splits of one table.

        Parameters
        ----------
        splits
            A rule set or a fitted estimator for each of two or more splits, or such lists by the
            names of methods.
        identity
            When two rules are the same: "thresholds", if they read the same, or "codes", if they
            have the same features and bins, whose thresholds may differ between splits (all must
            have had the same `n_bins`). See `mossrules.stability`.
        """
        check_choice("identity", identity, get_args(Identity))
        named = splits if isinstance(splits, Mapping) else {"": splits}
        if not named:
            raise InvalidParameter("There are no methods; pass the splits of at least one.")
        rulesets = {str(name): _read(str(name), each) for name, each in named.items()}
        shares = {name: shares_of_rules(each, identity=identity) for name, each in rulesets.items()}
        appearances = _appearances(rulesets, identity)
        places = _places(rulesets, shares)
        return cls(
            tuple(_blocks(rulesets, shares, places, identity)),
            tuple(
                Method(
                    method=name,
                    splits=len(each),
                    dice=float(Agreement.of(each, identity=identity).mean("dice")),
                    distinct=len(shares[name]),
                    common=sum(share == 1 for share in shares[name].values()),
                )
                for name, each in rulesets.items()
            ),
            tuple(_words(appearances[key]) for key in places),
        )

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each rule of each split as a data frame.

        Columns: `method`, `split` (from 1), `place` (row of the figure, from 1), `rule` (with the
        split's own thresholds), `splits` (how many of the method's have the rule), `common` (all
        of them have it), `lone` (no method has it in two splits).
        """
        return records_frame(Block, self.blocks, backend)

    def summary(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each method as a data frame.

        Columns: `method`, `splits`, `dice` (mean over all pairs of splits), `distinct` (rules that
        some split has), `common` (rules that all have).
        """
        return records_frame(Method, self.methods, backend)

    # --- drawing --------------------------------------------------------------------------------

    def plot(self, ax: Axes | None = None, *, labels: bool = True) -> ConsistencyDisplay:
        """Draw on the axes given, which are divided into panels, or on those of a new figure.

        Parameters
        ----------
        ax
            Matplotlib's axes.
        labels
            Whether rules are written beside their rows; without, rows are thin.
        """
        # As many grey rows as the refit with the most lone rules needs.
        lone = max([0, *(block.place - len(self.words) for block in self.blocks if block.lone)])
        words = self.words if labels else ("",) * len(self.words)
        rows = Rows((*words, *(ONCE if i == 0 else "" for i in range(lone))))
        inches = [max(NARROWEST, COLUMN * (each.splits + ARROW)) for each in self.methods]
        marks = sum(inches) + BETWEEN * len(inches) + 0.2
        self.ax_: Axes = axes_for(ax, rows.figure_size(marks, 1.4, None if labels else THIN))
        self.figure_: Figure | SubFigure = self.ax_.figure
        rows.draw(self.ax_)
        panels = split_axes(self.ax_, inches, BETWEEN / marks)
        self.axes_: dict[str, Axes] = {}
        for method, panel, width in zip(self.methods, panels, inches, strict=True):
            self.axes_[method.method] = panel
            self._draw_blocks(panel, method, rows)
            title = [shorten(method.method, int(width / LETTER)), f"mean Dice {method.dice:.2f}"]
            panel.set_title("\n".join(title).strip(), fontsize=10, **PLAIN)
        self.ax_.set_xlabel(self._legend(), fontsize=SMALL, loc="right", labelpad=32)
        return self

    def _draw_blocks(self, ax: Axes, method: Method, rows: Rows) -> None:
        own = [block for block in self.blocks if block.method == method.method]
        ax.barh(
            [rows.centres[block.place - 1] for block in own],
            0.86,
            BLOCK,
            [block.split - 0.43 for block in own],
            color=[_colour(block) for block in own],
            edgecolor=["black" if block.common else "none" for block in own],
            linewidth=1.3,
        )
        common = sorted({block.place for block in own if block.common})
        arrows = [rows.centres[place - 1] for place in common]
        ax.plot([method.splits + 0.5 + ARROW / 2] * len(arrows), arrows, "<", color="black", ms=6)
        ax.set_xlim(0.4, method.splits + 0.5 + ARROW)
        ax.set_xlabel("refit", fontsize=SMALL + 0.5)
        ax.tick_params(axis="x", labelsize=SMALL)
        # About ten numbers at most: more would run into each other at this width.
        ax.set_xticks(range(1, method.splits + 1, 1 + (method.splits - 1) // 10))

    def _legend(self) -> str:
        """Return what the marks that are there mean."""
        kinds = {
            "\N{BLACK LEFT-POINTING TRIANGLE} framed: in all refits": any(
                block.common for block in self.blocks
            ),
            f"{ABOUT} thresholds differ between refits": any(
                words.startswith(ABOUT) for words in self.words
            ),
        }
        return "\n".join(words for words, there in kinds.items() if there)


# --- blocks ---------------------------------------------------------------------------------------


def _read(name: str, splits: Splits) -> list[RuleSet]:
    """Return the rule sets of a method's splits."""
    where = f"splits of {name!r}" if name else "splits"
    if isinstance(splits, RuleSet) or not isinstance(splits, Iterable):
        raise UnsupportedType(
            f"The {where} are a {type(splits).__name__}; pass a list with a rule set or a fitted "
            "estimator for each."
        )
    rulesets = [rules_of(each, "One of the " + where) for each in splits]
    if len(rulesets) < 2:
        raise InvalidParameter(
            f"The number of {where} is {len(rulesets)}; pass at least two to compare."
        )
    return rulesets


def _appearances(
    rulesets: Mapping[str, list[RuleSet]], identity: Identity
) -> dict[Hashable, list[Appearance]]:
    """Return where each rule appears."""
    appearances: dict[Hashable, list[Appearance]] = {}
    for ruleset in (each for sets in rulesets.values() for each in sets):
        for key, rule in zip(key_of_each(ruleset, identity), ruleset.rules, strict=True):
            appearances.setdefault(key, []).append((ruleset, rule))
    return appearances


def _places(rulesets: Mapping[str, list[RuleSet]], shares: Shares) -> dict[Hashable, int]:
    """Return the rows of rules that some method finds twice: the most consistent first."""
    again = {
        key
        for name, each in shares.items()
        for key, share in each.items()
        if round(share * len(rulesets[name])) > 1
    }

    # By the method that finds the rule most often first: a sum alone would let two methods that
    # find it now and then overtake one that always does.
    def rank(key: Hashable) -> tuple[float, float]:
        own = [each.get(key, 0.0) for each in shares.values()]
        return -max(own), -sum(own)

    order = dict.fromkeys(key for each in shares.values() for key in each if key in again)
    return {key: place for place, key in enumerate(sorted(order, key=rank), 1)}


def _blocks(
    rulesets: Mapping[str, list[RuleSet]],
    shares: Shares,
    places: Mapping[Hashable, int],
    identity: Identity,
) -> Iterator[Block]:
    for name, sets in rulesets.items():
        for split, ruleset in enumerate(sets, 1):
            # Each refit fills the grey rows from the top. With a row for each lone rule, a figure
            # would be a few stable rules above a hundred rows of a single block.
            below = len(places)
            keys = key_of_each(ruleset, identity)
            for key, text in zip(keys, ruleset.texts, strict=True):
                below += key not in places
                share = shares[name][key]
                yield Block(
                    method=name,
                    split=split,
                    place=places.get(key, below),
                    rule=text,
                    splits=round(share * len(sets)),
                    common=share == 1,
                    lone=key not in places,
                )


def _colour(block: Block) -> Any:
    return LONE if block.lone else COLOURS[(block.place - 1) % len(COLOURS)]


def _words(appearances: list[Appearance]) -> str:
    """Return a rule as the first split has it, and a sign if others differ in thresholds."""
    ruleset, rule = appearances[0]
    same = len({rule.text(each.binning) for each, rule in appearances}) == 1
    return wrap(rule, ruleset.binning) if same else f"{ABOUT} {wrap(rule, ruleset.binning)}"
