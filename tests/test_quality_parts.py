"""Parts of the quality page: what they count is what was seen."""

import copy
import signal
from random import Random

import pytest
from quality import limits
from quality.determinism import Variation, compare
from quality.documentation import counts
from quality.interrupts import moments
from quality.properties import examples

MODELS = {
    name: {
        "rules": ["x > 1"],
        "status": "optimal",
        "weights": [1.0, -2.0],
        "loss": [0.5],
        "bound": [0.5],
        "predictions": "abc",
    }
    for name in ("numbers", "classes", "cutting-plane")
}


@pytest.mark.parametrize(
    ("name", "part", "value", "every_bit", "defects"),
    [
        ("numbers", "rules", ["x > 2"], False, 1),
        ("numbers", "weights", [1.0 + 2**-52, -2.0], False, 1),
        ("classes", "weights", [1.0 + 2**-52, -2.0], False, 0),
        ("classes", "weights", [1.0 + 2**-52, -2.0], True, 1),
        ("classes", "weights", [1.1, -2.0], False, 1),
        ("numbers", "bound", [0.5 - 2**-50], False, 0),
        ("numbers", "bound", [0.5 - 2**-50], True, 1),
        ("cutting-plane", "bound", [0.4], False, 0),
        ("numbers", "loss", [], False, 2),
    ],
)
def test_what_differs_is_a_defect_where_it_must_not(name, part, value, every_bit, defects):
    """Bits of weights of numbers count always, those of others with threads and hash seeds."""
    found = copy.deepcopy(MODELS)
    found[name][part] = value
    row, wrong = compare(Variation("x", every_bit=every_bit), MODELS, found)
    assert len(wrong) == row["defects"] == defects


@pytest.mark.parametrize(
    ("last", "code", "expected"),
    [
        ("7 passed in 1.00s", 0, (7, 0)),
        ("2 failed, 7 passed, 1 error in 1.00s", 1, (7, 3)),
        ("1 failed, 7 passed, 2 errors in 1.00s", 1, (7, 3)),
        ("7 passed in 1.00s", 2, (7, 1)),
    ],
)
def test_tests_of_pages_are_counted_as_pytest_does(last, code, expected):
    """One error or several; a run that ended early has a failure."""
    assert counts(f"3 failed\n{last}\n", code) == expected


def test_moments_are_spread_over_the_run():
    """In order, each in its own part, and of all kinds."""
    found = moments(Random(0), 12, 6.0)  # noqa: S311  no secrets
    assert [int(2 * each.seconds) for each in found] == list(range(12))
    assert {each.number for each in found} == {signal.SIGINT, signal.SIGTERM, signal.SIGKILL}
    assert sum(each.again is not None for each in found) == 2
    assert any(each.at_file for each in found)


def test_examples_are_those_that_hypothesis_counts():
    """Whatever its release calls them."""
    printed = (
        "tests/test_a.py::test_one:\n\n    - 300 passing, 0 failing, and 88 invalid test cases\n\n"
        "tests/test_a.py::test_two:\n\n    - 7 passing examples, 2 failing examples, 0 invalid\n"
        "    - 4 passing, 1 failing, and 0 invalid test cases\n"
    )
    assert dict(examples(printed)) == {"properties": 2, "examples": 314, "failures": 2}


def test_a_bound_above_a_loss_is_refused():
    """But for rounding."""
    limits.check(1.0, 1.0 + 1e-12)
    with pytest.raises(AssertionError, match="above the loss"):
        limits.check(1.0, 1.1)
