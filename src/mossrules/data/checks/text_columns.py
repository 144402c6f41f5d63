"""What looks wrong with a column of text: forms of values that were not meant to be categories."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mossrules.data.checks.findings import Finding, Severity
from mossrules.data.checks.forms import Form, form_of, is_sign_of_missing, unit_of
from mossrules.data.checks.names import drop, in_shell, names_identifier, names_member
from mossrules.data.checks.seen import SeenColumn
from mossrules.data.columns import Kind
from mossrules.defaults import MIN_ROWS_SHOWN

__all__ = ["check_text"]

# A form is that of a column if as many of its values have it: a slip or two are no form.
FORM_SHARE = 0.9
# Dates of three visits, or five doses with their unit, may be categories on purpose.
FEW_VALUES = 12
# With more units than these it is free text that begins with numbers.
MANY_UNITS = 3
MIN_AMOUNTS = 5
# With fewer rows, different text on nearly all of them is no surprise.
MIN_ROWS = 20
# Above this share of different texts a level has hardly more than one row.
NEARLY_UNIQUE = 0.9
# Of fewer levels a reader can judge each, and rare ones are shown by their rules.
MANY_LEVELS = 50
# Texts that are looked at one by one.
MAX_TEXTS = 5_000

NUMBERS = (Form.NUMBER, Form.ZEROS, Form.DECIMAL_COMMA, Form.EITHER, Form.THOUSANDS)
SIGNS = frozenset(["<", ">", "<=", ">=", "~", "\u2264", "\u2265", "\u2248"])
COMMAS = (Form.DECIMAL_COMMA, Form.EITHER, Form.THOUSANDS)
SPACES = re.compile(r"\s+")
DIGIT = re.compile(r"\d")


def check_text(column: SeenColumn, *, is_declared: bool, is_target: bool) -> Iterator[Finding]:
    """Yield what looks wrong with a column of categories.

    Where a user has said what the column is, how its values are written is not questioned.
    """
    is_text = bool(column.texts) and column.kind is not Kind.ORDERED
    written = _Forms(column) if is_text and not is_declared else None
    found = [] if written is None else list(written.findings())
    yield from found
    if is_target:
        yield from _check_spelling(column)
        return
    if not any(each.severity is not Severity.NOTE for each in found):
        levels = list(_check_levels(column, is_declared=is_declared))
        found += levels
        yield from levels
    if not any(each.severity is not Severity.NOTE for each in found):
        yield from _check_spelling(column)


class _Forms:
    """The texts of a column by their forms."""

    def __init__(self, column: SeenColumn) -> None:
        self.column, self.name = column, column.name
        texts = list(column.texts)
        step = -(-len(texts) // MAX_TEXTS)
        self.by_form: dict[Form, list[str]] = {}
        for text in texts[::step]:
            self.by_form.setdefault(form_of(text), []).append(text)
        self.n_rows = self._rows(*(form for form in Form if form is not Form.MISSING))

    def texts(self, *forms: Form) -> list[str]:
        """Return the texts of some forms, the most frequent first."""
        found = [text for form in forms for text in self.by_form.get(form, ())]
        return sorted(found, key=lambda text: (-self.column.texts[text], text))

    def _shown(self, text: str) -> str:
        """Return how a text is written: without its digits, unless many rows have it."""
        if self.column.texts[text] < MIN_ROWS_SHOWN:
            text = DIGIT.sub("0", text)
        return repr(text[:20])

    def _rows(self, *forms: Form) -> int:
        return sum(self.column.texts[text] for text in self.texts(*forms))

    def _is(self, *forms: Form) -> bool:
        """Tell whether the column has these forms, words for missing aside."""
        return self.n_rows > 0 and self._rows(*forms) >= FORM_SHARE * self.n_rows

    def _severity(self, n_values: int) -> Severity:
        return Severity.WRONG if n_values > FEW_VALUES else Severity.SUSPECT

    def findings(self) -> Iterator[Finding]:
        """Yield what looks wrong; one thing at most, and words for missing beside it."""
        found = next((each for each in self._forms() if each is not None), None)
        if found is not None:
            yield found
            if found.kind not in ("mixed", "missing word"):
                yield from self._check_missing(beside=True)
        elif not self.texts(*NUMBERS):
            yield from self._check_missing(beside=False)

    def _forms(self) -> Iterator[Finding | None]:
        yield self._dates()
        yield self._commas()
        yield self._measures()
        yield self._numbers()

    def _finding(self, kind: str, severity: Severity, what: str, remedy: str) -> Finding:
        return Finding(kind, severity, what, remedy, self.name)

    def _dates(self) -> Finding | None:
        dates = self.texts(Form.DATE, Form.TIME)
        if not self._is(Form.DATE, Form.TIME):
            return None
        word = "dates" if self.texts(Form.DATE) else "times of day"
        name = in_shell(self.name)
        remedy = (
            f"--date {name}=month (or year, weekday, days, age@2025-01-01)"
            if word == "dates"
            else f"make numbers of them, such as hours, or leave them out: {drop(self.name)}"
        )
        number, like = len(self.column.texts), self._shown(dates[0])
        what = f"{word} taken for {number:,} categories, written like {like}"
        return self._finding("date", self._severity(len(dates)), what, remedy)

    def _commas(self) -> Finding | None:
        if not self.texts(*COMMAS) or not self._is(*NUMBERS, Form.MEASURE):
            return None
        commas, either = self.texts(Form.DECIMAL_COMMA), self.texts(Form.EITHER)
        thousands = self.texts(Form.THOUSANDS)
        if commas and not thousands:
            what = f"numbers with a decimal comma, written like {self._shown(commas[0])}"
            return self._finding("decimal comma", Severity.WRONG, what, "read with --decimal ,")
        if thousands or any("." in text for text in self.texts(Form.NUMBER)):
            shown = (thousands or either)[0]
            sign = next(each for each in shown if not each.isdigit() and each not in "+-")
            what = f"numbers with {sign!r} between thousands, written like {self._shown(shown)}"
            remedy = f"read with --thousands {in_shell(sign)}"
            remedy += " --decimal ," if commas or sign == "." else ""
            return self._finding("thousands separator", Severity.WRONG, what, remedy)
        what = f"numbers with a comma before three digits, written like {self._shown(either[0])}"
        remedy = "read with --thousands , if that stands between thousands, else --decimal ,"
        return self._finding("thousands separator", Severity.WRONG, what, remedy)

    def _measures(self) -> Finding | None:
        measures, amounts = self.texts(Form.MEASURE), self.texts(Form.MEASURE, *NUMBERS)
        units = {unit_of(text) for text in measures}
        if not measures or not self._is(Form.MEASURE, *NUMBERS) or len(amounts) < MIN_AMOUNTS:
            return None
        if len(units) > MANY_UNITS:
            return None
        like = " and ".join(dict.fromkeys(map(self._shown, measures[:2])))
        what = f"numbers with a unit or a sign taken for categories, written like {like}"
        remedy = "leave the unit out of the file, and write the number alone"
        if units <= SIGNS:
            remedy = "write a number for what lies beyond a limit, such as half of it"
        elif len(units - SIGNS) > 1:
            remedy = "bring them to one unit, and write the number alone"
        return self._finding("unit", self._severity(len(amounts)), what, remedy)

    def _numbers(self) -> Finding | None:
        """Return what is wrong with numbers that are taken for categories, or with some of them."""
        numbers, others = self.texts(*NUMBERS), self.texts(Form.TEXT, Form.DATE, Form.MEASURE)
        missing, severity = self.texts(Form.MISSING), self._severity(len(numbers))
        if not numbers:
            return None
        name = in_shell(self.name)
        if others:
            is_slip = self._is(*NUMBERS)
            if len(numbers) <= FEW_VALUES or 2 * self._rows(*NUMBERS) < self.n_rows:
                return None
            what = f"numbers and words, such as {self._shown(others[0])}"
            # A word with digits may be an identifier, and is nobody's business.
            words = [text for text in (*missing, *others) if not DIGIT.search(text)][:2]
            said = " ".join(f"--na {in_shell(text)}" for text in words)
            remedy = f"correct the words{f', or say that they are missing: {said}' if said else ''}"
            return self._finding("mixed", severity if is_slip else Severity.SUSPECT, what, remedy)
        if missing:
            return self._of_missing(missing, severity, beside=True)
        if self.texts(Form.ZEROS):
            like = self._shown(self.texts(Form.ZEROS)[0])
            what = f"digits with leading zeros, written like {like}, kept as text"
            remedy = f"right for codes; if they are numbers: --types {name}=number"
            return self._finding("leading zeros", Severity.NOTE, what, remedy)
        like = self._shown(numbers[0])
        what = f"numbers kept as text: {len(numbers):,} categories, written like {like}"
        severity = Severity.SUSPECT if len(numbers) > FEW_VALUES else Severity.NOTE
        remedy = f"if they are numbers: --types {name}=number (of a frame, convert the column)"
        return self._finding("numbers as text", severity, what, remedy)

    def _check_missing(self, *, beside: bool) -> Iterator[Finding]:
        """Yield what stands for a missing value; among words only what cannot be one of them."""
        texts = self.texts(Form.MISSING)
        words = texts if beside else [text for text in texts if is_sign_of_missing(text)]
        blank = [text for text in words if not text.strip()]
        words = [text for text in words if text.strip()]
        if words or blank:
            yield self._of_missing(words or blank, Severity.SUSPECT, beside=beside)

    def _of_missing(self, texts: list[str], severity: Severity, *, beside: bool) -> Finding:
        n_rows = sum(self.column.texts[text] for text in texts)
        rows = f"{n_rows:,} row{'s' * (n_rows != 1)}"
        quoted = ", ".join(repr(text[:20]) for text in texts[:3])
        what = f"{quoted} on {rows} looks like missing, and is taken for a category"
        if beside:
            what = f"{quoted} on {rows} makes categories of numbers"
            what = what if self.texts(*NUMBERS) else f"{quoted} on {rows} among the values"
        words = " ".join(f"--na {in_shell(text)}" for text in texts[:3])
        words = words.replace("--na -", "--na=-")  # else an option of its own
        return self._finding("missing word", severity, what, f"read as missing: {words}")


def _check_levels(column: SeenColumn, *, is_declared: bool) -> Iterator[Finding]:
    """Yield whether levels are too many, or have too few rows, for rules about them."""
    n_levels, n_rows = column.n_distinct, column.n_present
    if n_rows < MIN_ROWS:
        return
    rows_each = n_rows / n_levels
    if n_levels >= NEARLY_UNIQUE * n_rows:
        what = f"an identifier or free text: {n_levels:,} different texts on {n_rows:,} rows"
        yield Finding(
            "identifier", Severity.WRONG, what, f"leave it out: {drop(column.name)}", column.name
        )
    elif (names_member(column.name) and n_levels > FEW_VALUES) or (
        names_identifier(column.name) and rows_each < MIN_ROWS_SHOWN
    ):
        yield groups_finding(column)
    elif n_levels > MANY_LEVELS and rows_each < MIN_ROWS_SHOWN and not is_declared:
        what = f"{n_levels:,} different texts, each on {rows_each:.1f} rows in the mean"
        remedy = f"put them into fewer groups, or leave it out: {drop(column.name)}"
        yield Finding("many levels", Severity.SUSPECT, what, remedy, column.name)
    elif n_rows >= 10 * MIN_ROWS_SHOWN:
        yield from _check_rare(column)


def groups_finding(column: SeenColumn) -> Finding:
    """Return that the values of a column stand for those that have several rows each."""
    n_levels = column.n_distinct
    rows_each = column.n_present / n_levels
    what = f"looks like groups: {n_levels:,} with {rows_each:.1f} rows each in the mean"
    name = in_shell(column.name)
    # With so few rows, a rule about one of them is a rule about a person.
    severity = Severity.WRONG if rows_each < MIN_ROWS_SHOWN else Severity.SUSPECT
    remedy = f"keep their rows together: --groups {name}; or leave it out: {drop(column.name)}"
    return Finding("groups", severity, what, remedy, column.name)


def _check_rare(column: SeenColumn) -> Iterator[Finding]:
    rare = column.level_counts[column.level_counts < MIN_ROWS_SHOWN]
    if len(rare) == 0:
        return
    one = len(rare) == 1
    what = (
        f"{len(rare):,} of {column.n_distinct:,} levels {'has' if one else 'have'} fewer than "
        f"{MIN_ROWS_SHOWN} rows ({int(rare.sum()):,} in all)"
    )
    remedy = "join them with others, if rules should not single out few rows"
    yield Finding("rare levels", Severity.NOTE, what, remedy, column.name)


def _check_spelling(column: SeenColumn) -> Iterator[Finding]:
    """Yield levels that differ in letters that people do not see, or do not mean."""
    alike: dict[str, list[str]] = {}
    for text in sorted(column.texts):
        alike.setdefault(SPACES.sub(" ", text.strip()).casefold(), []).append(text)
    several = [texts for texts in alike.values() if len(texts) > 1]
    if several:
        # Ways to spell what few rows have are not shown.
        known = (
            texts
            for texts in several
            if sum(column.texts[text] for text in texts) >= MIN_ROWS_SHOWN
        )
        first = next(known, None)
        what = (
            "spelled in several ways"
            if first is None
            else (f"spelled in several ways: {', '.join(map(repr, first[:3]))}")
        )
        more = len(several) - (first is not None)
        if more:
            what += (
                f", and {more} more" if first else f": {more} text{'s' * (more > 1)} of few rows"
            )
        yield Finding("spelling", Severity.SUSPECT, what, "write each in one way", column.name)
