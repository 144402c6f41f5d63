from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mossrules.display.report.numbers import (
    MINUS,
    amount,
    decimals_for,
    fixed,
    number,
    odds_ratio,
    percent,
)

FLOATS = st.floats(-1e15, 1e15)
CALLS = """
const lines = JSON.parse(require("fs").readFileSync(0, "utf8")).map((x) => [
  number(x), signed(x, 3), signed(x, 2, "+"), signed(x, null, "+"), percent(Math.abs(x))]);
console.log(JSON.stringify(lines));
"""


def read(text: str) -> float:
    """Read a number as it is shown."""
    return float(text.replace(MINUS, "-").replace(",", ""))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (0.45, "0.45"),
        (152.13349, "152.1"),
        (-4.5678, "−4.568"),  # noqa: RUF001  a minus, as below
        (1234567.8, "1,234,568"),
        (1000.5, "1,001"),  # ties away from zero, as in JavaScript
        (12.125, "12.13"),
        (1.5e9, "1.500e9"),
        (-1.23456e-7, "−1.235e−7"),  # noqa: RUF001
        (None, "–"),  # noqa: RUF001
    ],
)
def test_numbers_have_four_digits(value, words):
    """Or all those before the point, with commas; tiny and huge ones have powers of ten."""
    assert number(value) == words


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.0, "0 %"),
        (0.0001, "<0.1 %"),
        (0.0449, "4.5 %"),
        (0.09949, "9.9 %"),
        (0.0995, "10 %"),
        (0.934, "93 %"),
        (0.9951, ">99 %"),
        (1.0, "100 %"),
        (-0.2, "−20 %"),  # noqa: RUF001
        (None, "–"),  # noqa: RUF001
    ],
)
def test_shares_are_percents(share, words):
    """None that is not all or nothing is rounded to all or nothing."""
    assert percent(share).replace("\N{NO-BREAK SPACE}", " ") == words


@given(FLOATS)
def test_a_number_reads_back_to_four_digits(value):
    """What is shown is the number, to half a unit of the fourth digit."""
    assert read(number(value)) == pytest.approx(value, rel=5.0001e-4, abs=0.0)


@given(st.lists(FLOATS, min_size=1))
def test_amounts_line_up(values):
    """All have a sign and as many decimals, which are enough for the largest."""
    decimals = decimals_for(values)
    shown = [amount(value, decimals) for value in values]
    assert all(each[0] in f"+{MINUS}" for each in shown)
    largest = max(values, key=abs)
    assert read(amount(largest, decimals)) == pytest.approx(largest, rel=5.0001e-4, abs=0.0)
    if decimals is not None:
        assert {len(each.partition(".")[2]) for each in shown} == {decimals}


def test_odds_are_given_with_three_digits():
    """Beyond a thousandth and a thousand, only that."""
    ratios = [2.0, 25.79, 0.0312, 0.0009, 1500.0, None]
    assert [odds_ratio(each) for each in ratios] == [
        *("2.00", "25.8", "0.0312", "<0.001", ">1000"),
        "–",  # noqa: RUF001
    ]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node, to run the page's functions")
def test_the_page_s_own_functions_write_the_same():
    """Ties, signs, zeros, and numbers of all sizes are written by JavaScript letter by letter."""
    draws = np.random.default_rng(0)
    values = [
        *(
            0.0,
            -0.0,
            0.0001,
            9.9999e-5,
            999.95,
            999.99,
            1e9,
            1000500000.0,
            5e-324,
            0.00049999,
        ),
        *(draws.choice([-1.0, 1.0], 2000) * 10.0 ** draws.uniform(-8, 12, 2000)).tolist(),
        *(draws.integers(-(10**5), 10**5, 1000) / 8).tolist(),  # many ties
        *draws.random(1000).round(3).tolist(),
    ]
    script = (files("mossrules.display.report") / "page" / "numbers.js").read_text(
        encoding="utf-8"
    ) + CALLS
    ran = subprocess.run(
        [shutil.which("node"), "-e", script],
        input=json.dumps(values),
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    ours = [
        [
            number(x),
            fixed(x, 3),
            amount(x, 2),
            amount(x, None),
            percent(abs(x)),
        ]
        for x in values
    ]
    assert json.loads(ran.stdout) == ours
