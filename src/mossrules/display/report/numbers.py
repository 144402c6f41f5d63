"""Numbers as the page shows them.

`page/numbers.js` writes the sums of a case that a reader types in, beside amounts written here. The
two must round alike, which is why ties go away from zero, as JavaScript has them, and why nothing
depends on a logarithm's last bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal

__all__ = [
    "LARGEST",
    "MINUS",
    "NOTHING",
    "PERCENT",
    "amount",
    "decimals_for",
    "fixed",
    "number",
    "odds_ratio",
    "percent",
]

NOTHING = "\N{EN DASH}"  # where there is no number
MINUS = "\N{MINUS SIGN}"
PERCENT = "\N{NO-BREAK SPACE}%"
BOUNDS = (1000.0, 100.0, 10.0, 1.0, 0.1, 0.01, 0.001)  # below each, one more decimal
SMALLEST, LARGEST = 1e-4, 1e9  # outside, powers of ten are written
EXACT = Context(prec=400, rounding=ROUND_HALF_UP)
FOUR_DIGITS = Context(prec=4, rounding=ROUND_HALF_UP)


def number(value: float | None) -> str:
    """Return a number with four digits, or with all those before the point."""
    decimals = decimals_for([value])
    text = fixed(value, decimals)
    return text.rstrip("0").rstrip(".") if decimals else text


def fixed(value: float | None, decimals: int | None, plus: str = "") -> str:
    """Return a number with some decimals; None: with a power of ten."""
    if value is None:
        return NOTHING
    text = _unsigned(value, decimals)
    # No minus where nothing but zeros is left: there is no "-0.00" for a reader.
    is_negative = value < 0.0 and any(letter in "123456789" for letter in text)
    return f"{MINUS if is_negative else plus}{text}"


def amount(value: float | None, decimals: int | None) -> str:
    """Return a number with its sign and the decimals of its neighbours, to be added up."""
    return fixed(value, decimals, plus="+")


def percent(share: float | None) -> str:
    """Return a share in percent: whole ones from ten up, and tenths below."""
    if share is None:
        return NOTHING
    # What is not nothing must not read as 0 %, nor what is not all as 100 %.
    percents = share * 100.0
    if 0.0 < percents < 0.05:
        return f"<0.1{PERCENT}"
    if 99.5 <= percents < 100.0:
        return f">99{PERCENT}"
    return f"{fixed(percents, 1 if 0.0 < abs(percents) < 9.95 else 0)}{PERCENT}"


def odds_ratio(ratio: float | None) -> str:
    """Return by how much odds are multiplied, with three digits."""
    if ratio is None:
        return NOTHING
    if ratio >= 1000.0:
        return ">1000"
    return "<0.001" if ratio < 0.001 else _unsigned(ratio, decimals_for([ratio], digits=3))


def decimals_for(values: Iterable[float | None], digits: int = 4) -> int | None:
    """Return the decimals that show the largest of values with some digits; None: powers of ten."""
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    if largest == 0.0:
        return 0
    if not SMALLEST <= largest < LARGEST:
        return None
    return max(0, sum(largest < bound for bound in BOUNDS) - (4 - digits))


def _unsigned(value: float, decimals: int | None) -> str:
    """Return the size of a number, with commas between thousands; no decimals: powers of ten."""
    # The exact binary value, with ties away from zero, as `toFixed` has it; f-strings take ties
    # to even digits.
    exact = Decimal(abs(value))
    if decimals is None:
        if not exact:
            return "0"
        rounded = FOUR_DIGITS.plus(exact)
        power = rounded.adjusted()
        return f"{rounded.scaleb(-power):.3f}e{power}".replace("-", MINUS)
    return f"{exact.quantize(Decimal(1).scaleb(-decimals), context=EXACT):,}"
