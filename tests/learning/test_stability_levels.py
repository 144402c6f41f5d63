import numpy as np
import pytest

from mossrules.exceptions import InvalidParameter
from mossrules.learning.stability_levels import (
    MIN_SHARE_OF_EACH,
    SHARES_OF_EACH,
    at_stability,
    check_stability,
    floor_in_words,
    method_for,
    read_shares,
    stability_floors,
)
from mossrules.solver import LinearConstraints, Problem

COUNTS = np.array([90, 61, 61, 40, 33, 20, 8, 3, 1, 1])


def problem(floor="each", **settings):
    """Return a problem of ten rules, of which three are chosen."""
    M = np.random.default_rng(0).normal(size=(30, 10))
    settings = {"max_rules": 3, "gamma": 1.0, "floor": floor, **settings}
    return Problem.from_matrix(M, M.sum(axis=1), COUNTS, **settings)


@pytest.mark.parametrize(
    ("stability", "floor"),
    [(1.0, 61), (0.9, 61), (0.5, 33), (0.33, 33), (0.05, 8), (0.001, 1),
     (2, 61), (3, 61), (4, 40), (7, 8), (1000, 1), (np.int64(4), 40)],
)  # fmt: skip
def test_a_share_is_of_the_last_place_and_a_number_counts_rules(stability, floor):
    """The floor on each rule is a count: that of the last rule that is allowed."""
    assert at_stability(problem(), stability).min_stability == floor


def test_words_are_shares_with_a_floor_on_each_rule():
    """They mean the same in all tables, and "low" is solved exactly."""
    for word, share in SHARES_OF_EACH.items():
        floor = at_stability(problem(), word).min_stability
        assert floor == COUNTS[share * 61 <= COUNTS].min()
    assert method_for(problem(), "low", "auto") == "auto"
    assert method_for(problem("sum"), "low", "auto") == "coordinate-descent"
    assert method_for(problem("sum", signs=[1] * 10), "low", "auto") == "coordinate-descent"
    limited = problem("sum", constraints=LinearConstraints(np.ones((1, 10)), [2]))
    assert method_for(limited, "low", "auto") == "auto"


def test_rules_that_are_fixed_do_not_count():
    """Those fixed out cannot be chosen, and those fixed in are no matter of frequency."""
    fixed = problem(fixed_out=[0], fixed_in=[9])
    assert at_stability(fixed, 3).min_stability == 40
    assert at_stability(fixed, 1.0).min_stability == 61
    assert at_stability(problem(fixed_out=range(10)), 0.5).min_stability == 0


def test_the_floors_of_a_frontier_are_counts():
    """They begin at the largest stability."""
    assert stability_floors(problem()).tolist() == [61, 40, 33, 20, 8, 3, 1]


def test_a_number_of_rules_goes_with_a_floor_on_each_rule_only():
    """The message says so; other numbers above 1 are refused with either floor."""
    check_stability(100, "each")
    with pytest.raises(InvalidParameter, match=r"a number of rules goes with floor='each'\."):
        check_stability(100)
    with pytest.raises(InvalidParameter, match="or a whole number of rules from 2 on"):
        check_stability(1.5, "each")
    for wrong in (0, -3, True, "lots"):
        with pytest.raises(InvalidParameter, match="stability is"):
            check_stability(wrong, "each")


def test_points_are_in_equal_ratios_with_a_floor_on_each_rule():
    """As many more rules each time, down to a twentieth of the largest stability."""
    shares = read_shares(6, "each")
    assert shares[0] == 1.0
    assert shares[-1] == pytest.approx(MIN_SHARE_OF_EACH)
    np.testing.assert_allclose(shares[1:] / shares[:-1], 20 ** (-1 / 5))
    assert read_shares(1, "each").tolist() == [1.0]


def test_the_sentence_is_never_more_than_the_truth():
    """Shares of trees are rounded down; rules that are required are exempt, where that matters."""
    assert floor_in_words(problem().at(20), 2000, np.array([0, 2, 4])) == (
        "Every rule is in at least 1.6 % of the trees."
    )
    assert "at least 10 %" in floor_in_words(problem(), 200, np.array([5]))
    assert "at least 0.033 %" in floor_in_words(problem(), 3000, np.array([0, 9]))
    required = problem(fixed_in=[8])
    assert floor_in_words(required, 100, np.array([7, 8])).startswith(
        "Every rule that was not required is in at least 3 %"
    )
    assert floor_in_words(required, 100, np.array([8, 9])).startswith("Every rule is in")
    for nothing in (np.array([], dtype=np.int64), np.array([8])):
        assert floor_in_words(required, 100, nothing) is None
    assert floor_in_words(problem("sum"), 100, np.array([0])) is None
