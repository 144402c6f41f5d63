"""A comparison of rule sets in words: its sections and figures, and from these text and Markdown.

What is said is made here once, for the page of `display/differences.py` too; a form of output only
lays it out. Names of columns and levels are data: each form shows them as they are, on one line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from mossrules.model.export_text import code_cell, event_text, format_amounts, one_line

if TYPE_CHECKING:
    from mossrules.evaluation.differences import (
        OneRule,
        OutcomeComparison,
        RulePair,
        RuleSetComparison,
    )

__all__ = ["ARROW", "Figure", "Line", "Part", "Section", "figures", "headline", "likeliest",
           "sections", "to_markdown", "to_text", "words_on_coverage"]  # fmt: skip

WIDTH = 96  # letters of a line
LEAST = 32  # letters of a rule on a line, however wide the figures before it
ARROW = " -> "
LEAST_CHANGE = 0.005  # a smaller one is 0 %
NOTHING = "-"  # where there is no number
MARKUP = re.compile(r"[\\`*_{}\[\]<>#|&~$!]")


@dataclass(frozen=True)
class Figure:
    """One line of the summary: its name, a figure, and what it means."""

    name: str
    value: str
    meaning: str = ""


@dataclass(frozen=True)
class Part:
    """Words of a rule that stand on a line of their own: what it says now, or before and now."""

    old: str
    new: str | None = None
    lead: str = ""

    @property
    def text(self) -> str:
        """All of it."""
        return f"{self.lead}{self.old}" + ("" if self.new is None else f"{ARROW}{self.new}")


@dataclass(frozen=True)
class Line:
    """One line of a section: figures, and the words of a rule, or of a pair of them."""

    cells: tuple[tuple[str, ...], ...]  # each a value, or the old and the new one
    parts: tuple[Part, ...]  # one below the other
    is_marked: bool = False  # whether it is to be looked at first


@dataclass(frozen=True)
class Section:
    """Rules to which the same happened."""

    title: str
    meaning: str
    headings: tuple[str, ...]
    lines: tuple[Line, ...]

    @property
    def heading(self) -> str:
        """The title, with the number of rules."""
        return f"{self.title} ({len(self.lines)})"


# --- what is said ---------------------------------------------------------------------------------


def headline(comparison: RuleSetComparison) -> str:
    """Return in one sentence what is compared."""
    target = next((name for name in reversed(comparison.targets) if name is not None), None)
    first = comparison.outcomes[0]
    what = "" if target is None else f" for {one_line(target)}"
    if comparison.link == "logit" and len(comparison.outcomes) == 1:
        what = f" for {one_line(event_text(target, first.outcome))}"
    counts = (
        sum(each.n_old for each in comparison.outcomes),
        sum(each.n_new for each in comparison.outcomes),
    )
    sides = [
        f"{name} ({_count(n, 'rule')})" for name, n in zip(comparison.names, counts, strict=True)
    ]
    rows = "" if comparison.rows is None else f", compared on {_count(comparison.rows, 'row')}"
    return f"Two rule sets{what}: {sides[0]} and {sides[1]}{rows}."


def words_on_coverage(comparison: RuleSetComparison) -> str:
    """Return what effects and coverage are of."""
    effect = "log-odds" if comparison.link == "logit" else "units of the target"
    where = "the training rows of its analysis" if comparison.rows is None else "the rows compared"
    words = f"Effects are in {effect}; coverage is the share of {where} on which a rule holds."
    alone = [rule for each in comparison.outcomes for rule in (*each.gone, *each.new)]
    if any(rule.found is not None for rule in alone):
        words += " Found: how many refits of its own analysis have the rule."
    return words


def figures(comparison: RuleSetComparison, outcome: OutcomeComparison) -> list[Figure]:
    """Return the summary of one outcome."""
    tolerance = f"{comparison.effect_change:.0%}"
    counted = [
        ("kept", outcome.kept, "the same conditions, as printed"),
        ("moved", outcome.moved, "the same columns and directions, other cut points or levels"),
        ("same rows", outcome.same_rows, "other conditions that hold on nearly the same rows"),
    ]
    found = [
        Figure(name, str(len(pairs)), meaning)
        for name, pairs, meaning in counted
        if name != "same rows" or comparison.rows is not None
    ]
    found += [
        Figure("gone", str(len(outcome.gone)), f"rules of {comparison.names[0]} alone"),
        Figure("new", str(len(outcome.new)), f"rules of {comparison.names[1]} alone"),
    ]
    if outcome.pairs:
        changed, flipped = len(outcome.effect_changed), len(outcome.sign_flipped)
        pairs = f"of the {_count(len(outcome.pairs), 'pair')} of rules"
        found += [
            Figure("effect changed", str(changed), f"{pairs}, by more than {tolerance} of the old"),
            Figure("sign flipped", str(flipped), f"{pairs}: effects of opposite signs"),
        ]
    if outcome.dice is not None and outcome.weighted_overlap is not None:
        overlap = f"{outcome.weighted_overlap:.3f}"
        found += [
            Figure("Dice", f"{outcome.dice:.3f}", "rules kept, over the mean number of rules"),
            Figure("weighted overlap", overlap, "the same, weighted by importance"),
        ]
    found += _agreement(outcome)
    intercepts = [value for value in outcome.intercepts if value is not None]
    shown = ARROW.join(dict.fromkeys(format_amounts(intercepts, _effects(outcome))))
    what = "the prediction" if comparison.link == "identity" else "log-odds"
    return [*found, Figure("intercept", shown, f"{what} where no rule holds")]


def _agreement(outcome: OutcomeComparison) -> Iterator[Figure]:
    """Yield how far apart predictions are."""
    agreement = outcome.predictions
    if agreement is None:
        return
    form = ".4g" if agreement.other_side is None else ".3f"
    what = "predictions" if agreement.other_side is None else "probabilities"
    correlation = agreement.correlation
    shown = NOTHING if math.isnan(correlation) else f"{correlation:.3f}"
    why = "; one of the two is constant" if math.isnan(correlation) else ""
    yield Figure("correlation", shown, f"of the two {what}{why}")
    yield Figure("mean difference", f"{agreement.mean_difference:{form}}", f"of {what}, absolute")
    yield Figure("largest difference", f"{agreement.largest_difference:{form}}", f"of {what}")
    if agreement.other_side is not None:
        share = f"{agreement.other_side:.1%}"
        yield Figure("other side", share, "share of rows on the other side of a probability of 0.5")


def sections(comparison: RuleSetComparison, outcome: OutcomeComparison) -> list[Section]:
    """Return the rules of one outcome, by what happened to them; sections without rules too."""
    tolerance = f"{comparison.effect_change:.0%}"
    flipped = [pair for pair in outcome.kept if pair.sign_flipped]
    changed = [pair for pair in outcome.kept if pair.effect_changed and not pair.sign_flipped]
    calm = [pair for pair in outcome.kept if not (pair.effect_changed or pair.sign_flipped)]
    make = _Lines(comparison, outcome)
    same = "the same conditions, "
    starred = f"; * marks effects that changed by more than {tolerance}"
    moved, near = (
        starred if any(pair.effect_changed for pair in pairs) else ""
        for pairs in (outcome.moved, outcome.same_rows)
    )
    found = [
        make.paired("Sign flipped", f"{same}effects of opposite signs", flipped),
        make.paired("Effect changed", f"{same}effects that differ by more than {tolerance}",
                    changed),
        make.paired("Kept", f"{same}effects that differ by at most {tolerance}", calm),
        make.paired("Moved", f"the same columns and directions, other cut points or levels{moved}",
                    outcome.moved),
        make.paired("Nearly the same rows", "other conditions, at least "
                    f"{comparison.same_rows:.0%} of the rows of either in common{near}",
                    outcome.same_rows),
        make.alone("Gone", f"rules of {comparison.names[0]} alone", outcome.gone),
        make.alone("New", f"rules of {comparison.names[1]} alone", outcome.new),
    ]  # fmt: skip
    return [section for section in found if section.lines]


class _Lines:
    """Makes sections of one outcome, whose effects have equally many decimals."""

    def __init__(self, comparison: RuleSetComparison, outcome: OutcomeComparison) -> None:
        self.on_rows = comparison.rows is not None
        effects = _effects(outcome)
        amounts = format_amounts(effects, effects) if effects else []
        self._shown = dict(zip(effects, amounts, strict=True))

    def paired(self, title: str, meaning: str, pairs: Sequence[RulePair]) -> Section:
        """Return a section of pairs."""
        apart = self.on_rows and any(pair.pairing != "kept" for pair in pairs)
        headings = ("effect", "change", "coverage", *(["differ"] if apart else []))
        return Section(title, meaning, headings, tuple(self._pair(pair, apart) for pair in pairs))

    def alone(self, title: str, meaning: str, rules: Sequence[OneRule]) -> Section:
        """Return a section of rules without a partner."""
        known = any(rule.found is not None for rule in rules)
        headings = ("effect", "coverage", *(["found"] if known else []))
        return Section(title, meaning, headings, tuple(self._alone(rule, known) for rule in rules))

    def _alone(self, rule: OneRule, known: bool) -> Line:
        found = [(f"{rule.found} of {rule.refits}",)] if known else []
        cells = ((self._shown[rule.effect],), (self._coverage(rule),), *found)
        return Line(cells, (Part(one_line(rule.text)),))

    def _pair(self, pair: RulePair, apart: bool) -> Line:
        effects = dict.fromkeys(self._shown[each.effect] for each in (pair.old, pair.new))
        coverage = dict.fromkeys([self._coverage(pair.old), self._coverage(pair.new)])
        differ = [] if pair.differ is None or not apart else [(f"{pair.differ:.1%}",)]
        star = "*" if pair.pairing != "kept" and pair.effect_changed else ""
        cells = (tuple(effects), (_change(pair) + star,), tuple(coverage), *differ)
        return Line(cells, _parts(pair), pair.sign_flipped)

    def _coverage(self, rule: OneRule) -> str:
        share = rule.training_coverage if rule.coverage is None else rule.coverage
        return f"{share:.1%}"


def _effects(outcome: OutcomeComparison) -> list[float]:
    rules = [rule for pair in outcome.pairs for rule in (pair.old, pair.new)]
    return [rule.effect for rule in (*rules, *outcome.gone, *outcome.new)]


def _change(pair: RulePair) -> str:
    if pair.sign_flipped:
        return "flipped"
    change = pair.relative_change
    if math.isinf(change):
        return "from 0"
    return f"{change:+.0%}" if abs(change) >= LEAST_CHANGE else "0%"


def _parts(pair: RulePair) -> tuple[Part, ...]:
    """Return the rule of a pair; where it moved, its conditions one below the other."""
    if pair.pairing == "kept":
        return (Part(one_line(pair.new.text)),)
    if pair.pairing == "same rows":
        return (Part(one_line(pair.old.text), one_line(pair.new.text)),)
    return tuple(
        Part(one_line(each.old), one_line(each.new) if each.changed else None, "and " * (place > 0))
        for place, each in enumerate(pair.conditions)
    )


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


# --- plain text -----------------------------------------------------------------------------------


def to_text(comparison: RuleSetComparison) -> str:
    """Return the comparison for people to read."""
    parts = [_wrapped(headline(comparison))]
    parts += [_wrapped(note) for note in comparison.notes]
    if comparison.likeliest_differs is not None:
        parts.append(_wrapped(likeliest(comparison)))
    for outcome in comparison.outcomes:
        if outcome.outcome is not None and len(comparison.outcomes) > 1:
            title = f"Class {one_line(str(outcome.outcome))}"
            parts.append(f"{title}\n{'=' * len(title)}")
        parts.append(_aligned(figures(comparison, outcome)))
        parts += [_section_text(section) for section in sections(comparison, outcome)]
    return "\n\n".join([*parts, _wrapped(words_on_coverage(comparison))])


def likeliest(comparison: RuleSetComparison) -> str:
    """Return on how many rows the likeliest class is another one."""
    return f"The likeliest class is another one on {comparison.likeliest_differs:.1%} of the rows."


def _aligned(lines: Sequence[Figure]) -> str:
    names = max(len(line.name) for line in lines)
    # The intercepts are two numbers; room for both would set all others far from their names.
    values = max(len(line.value) for line in lines if ARROW not in line.value)
    return "\n".join(
        f"  {line.name:<{names}}  {line.value:>{values}}  {line.meaning}" for line in lines
    )


def _section_text(section: Section) -> str:
    cells = [[ARROW.join(cell) for cell in line.cells] for line in section.lines]
    widths = [max(map(len, column)) for column in zip(section.headings, *cells, strict=True)]
    offset = 2 + sum(width + 2 for width in widths)
    lines = [_row(section.headings, widths, "rule")]
    for line, shown in zip(section.lines, cells, strict=True):
        words = [each for part in line.parts for each in _wrapped_part(part, offset)]
        lines.append(_row(shown, widths, words[0]))
        lines += [f"{'':{offset}}{each}" for each in words[1:]]
    heading = _wrapped(f"{section.heading}: {section.meaning}")
    return "\n".join([heading, *lines])


def _row(cells: Sequence[str], widths: Sequence[int], last: str) -> str:
    figures = "".join(f"{cell:>{width}}  " for cell, width in zip(cells, widths, strict=True))
    return f"  {figures}{last}"


def _wrapped(text: str) -> str:
    return "\n".join(wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False))


def _wrapped_part(part: Part, offset: int) -> list[str]:
    """Return a part of a rule on lines; what it became is on its own where one is too short."""
    width = max(LEAST, WIDTH - offset)
    if part.new is None or len(part.text) <= width:
        return _wrapped_rule(part.text, width)
    old, new = f"{part.lead}{part.old}", f"{ARROW.lstrip()}{part.new}"
    return [*_wrapped_rule(old, width), *(f"  {each}" for each in _wrapped_rule(new, width - 2))]


def _wrapped_rule(text: str, width: int) -> list[str]:
    return wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


# --- Markdown -------------------------------------------------------------------------------------


def to_markdown(comparison: RuleSetComparison) -> str:
    """Return the comparison as tables; rules are code, so nothing in them is markup."""
    parts = [_plain(headline(comparison)), *map(_plain, comparison.notes)]
    if comparison.likeliest_differs is not None:
        parts.append(likeliest(comparison))
    for outcome in comparison.outcomes:
        if outcome.outcome is not None and len(comparison.outcomes) > 1:
            parts.append(f"## Class {_plain(one_line(str(outcome.outcome)))}")
        summary = figures(comparison, outcome)
        rows = [(each.name, each.value, _plain(each.meaning)) for each in summary]
        parts.append(_table(("", "", ""), "lrl", rows))
        for section in sections(comparison, outcome):
            parts.append(f"### {section.heading}")
            parts.append(_plain(f"{section.meaning[0].upper()}{section.meaning[1:]}."))
            table = [
                (
                    *(_plain(ARROW.join(cell)) for cell in line.cells),
                    "<br>".join(code_cell(part.text) for part in line.parts),
                )
                for line in section.lines
            ]
            aligned = "r" * len(section.headings) + "l"
            parts.append(_table((*section.headings, "rule"), aligned, table))
    return "\n\n".join([*parts, words_on_coverage(comparison)])


def _table(headings: Sequence[str], aligned: str, rows: Sequence[Sequence[str]]) -> str:
    rules = {"r": "---:", "l": ":---"}
    lines = [headings, [rules[each] for each in aligned], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _plain(text: str) -> str:
    """Return text in which nothing is markup."""
    return MARKUP.sub(lambda letter: f"&#{ord(letter[0])};", text)
