"""What the text of a value looks like: a number, a date, a word for missing, or just text.

Nothing is converted here. A form tells that a column of text was not meant to be categories.
"""

from __future__ import annotations

import re
from enum import StrEnum

from mossrules.data.checks.names import words

__all__ = ["Form", "form_of", "unit_of"]


class Form(StrEnum):
    """How a value is written."""

    MISSING = "missing"  # a word or a sign that stands for no value
    NUMBER = "number"
    ZEROS = "leading zeros"  # 007
    DECIMAL_COMMA = "decimal comma"  # 12,5
    EITHER = "comma before three digits"  # 1,234: thousands, or decimals
    THOUSANDS = "thousands"  # 1,234,567 or 1 234
    DATE = "date"
    TIME = "time"
    MEASURE = "measure"  # 142 mmHg, 45 %, < 5
    TEXT = "text"


# Signs and abbreviations that nobody has for a category.
NOTHING = words(
    "n/a n.a. n.a n/a. na nan none null nil . .. ... - -- --- ? ?? * #n/a #na #null! #value! "
    "#div/0! #ref! #name? \\n <na> <n/a> (blank) (null) (none) (missing) k.a. nd n.d. n/d"
)
# Words that may be a category among words, and are none among numbers or dates.
UNKNOWN = words(
    "unknown unk missing blank empty refused undefined unspecified not_available not_applicable "
    "censored pending inf -inf"
) | {"not available", "not applicable", "not known", "not recorded", "not done", "no data"}

DIGITS = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
NUMBER = re.compile(DIGITS)
ZEROS = re.compile(r"0\d+")
# A group of three digits may also be decimals, unless there is another group, or a zero in front.
EITHER = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
THOUSANDS = re.compile(
    r"[+-]?\d{1,3}(?:(?:,\d{3}){2,}(?:\.\d+)?|(?:,\d{3})+\.\d+|(?:[ '\u00a0\u2009\u202f]\d{3})+"
    r"(?:[.,]\d+)?|(?:\.\d{3}){2,})"
)
DECIMAL_COMMA = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:[. ']\d{3})+),\d+(?:[eE][+-]?\d+)?")

CLOCK = r"\d{1,2}[:h]\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp]\.?[Mm]\.?)?"
ZONE = r"(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?"
YEAR_FIRST = re.compile(rf"\d{{4}}([-/.])(\d{{1,2}})(?:\1(\d{{1,2}}))?(?:[T ]{CLOCK}{ZONE})?")
YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(?:\d{{4}}|\d{{2}})(?:,? {CLOCK}{ZONE})?")
MONTH_YEAR = re.compile(r"(\d{1,2})[-/.](?:19|20)\d{2}")
NAMED_MONTH = re.compile(
    r"(?:\w{2,9},? )?(?:\d{1,2}(?:st|nd|rd|th)?[-./ ]{1,2})?([^\W\d_]{3,9})\.?[-,/ ]{1,2}"
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?,? )?\d{{2,4}}(?:,? {CLOCK}{ZONE})?"
)
MONTHS = words(
    "jan feb mar apr may jun jul aug sep oct nov dec mai okt dez mrz juin aout ene abr ago dic"
)
TIME = re.compile(CLOCK)

UNITS = words(
    "kg g mg ug ng lb lbs oz cm mm m km ft in mi l ml dl ul mmhg bpm ms s sec min h hr hrs d day "
    "days wk wks week weeks mo month months y yr yrs year years k kb mb gb kw kwh hz mhz ghz usd "
    "eur gbp chf mol mmol iu pct percent ha sqm m2 m3 kmh mph cc hp"
)
SIGNED = r"[<>~\u2264\u2265\u2248]=?"
AMOUNT = r"[+-]?\d[\d.,' ]*"
MEASURE = re.compile(
    rf"(?P<sign>{SIGNED} ?)?(?P<before>[$\u20ac\u00a3\u00a5] ?)?(?P<amount>{AMOUNT}?)"
    r"(?P<after> ?[^\W\d_]+(?:/[^\W_]+)?[23\u00b2\u00b3]?"
    r"| ?[%\u2030\u00b0$\u20ac\u00a3\u00a5]\w{0,2}| ?\u00b5\w{1,3})?"
)


def form_of(text: str) -> Form:
    """Return how a value is written; the first form that fits, from the surest on.

    Examples
    --------
    >>> [str(form_of(text)) for text in ("12,5", "2021-03-04", "142 mmHg", "n/a", "blue")]
    ['decimal comma', 'date', 'measure', 'missing', 'text']
    """
    text = text.strip()
    if not text or text.lower() in NOTHING or text.lower() in UNKNOWN:
        return Form.MISSING
    for form, pattern in (
        (Form.ZEROS, ZEROS),
        (Form.NUMBER, NUMBER),
        (Form.EITHER, EITHER),
        (Form.THOUSANDS, THOUSANDS),
        (Form.DECIMAL_COMMA, DECIMAL_COMMA),
    ):
        if pattern.fullmatch(text):
            return form
    if _is_date(text):
        return Form.DATE
    if TIME.fullmatch(text):
        return Form.TIME
    return Form.TEXT if unit_of(text) is None else Form.MEASURE


def is_sign_of_missing(text: str) -> bool:
    """Tell whether a text stands for a missing value even among words."""
    return text.strip().lower() in NOTHING


def _is_date(text: str) -> bool:
    if match := YEAR_FIRST.fullmatch(text):
        return _fits(match[2], match[3] or "1")
    if match := YEAR_LAST.fullmatch(text):
        return _fits(match[1], match[3]) or _fits(match[3], match[1])
    if match := MONTH_YEAR.fullmatch(text):
        return _fits(match[1], "1")
    match = NAMED_MONTH.fullmatch(text)
    return match is not None and match[1][:3].lower() in MONTHS


def _fits(month: str, day: str) -> bool:
    return 1 <= int(month) <= 12 and 1 <= int(day) <= 31


def unit_of(text: str) -> str | None:
    """Return what stands beside a number: its unit, its currency or a sign; None for other text.

    Examples
    --------
    >>> unit_of("142 mmHg"), unit_of("< 5"), unit_of("12A"), unit_of("3rd")
    ('mmhg', '<', None, None)
    """
    match = MEASURE.fullmatch(text.strip())
    if match is None:
        return None
    sign, before, after = (match[name] or "" for name in ("sign", "before", "after"))
    word = after.strip().lower()
    # Letters right behind a number are usually a code, such as 12A, unless they are a known unit.
    is_code = word[:1].isalpha() and not after.startswith(" ") and word not in UNITS
    unit = f"{sign.strip()}{before.strip()}{word}"
    return None if is_code or not unit else unit
