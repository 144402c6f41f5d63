"""Gains are compared so that equal ones tie, whatever the rounding."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mossrules.candidates.kernels import trees

WEIGHT, TARGET = st.integers(0, 2**38), st.integers(0, 2**62)


@given(TARGET, WEIGHT, TARGET, WEIGHT)
def test_a_difference_of_products_is_right_to_the_last_digit(a, b, c, d):
    """As Python's integers have it, of which none overflows."""
    found = trees._cross(a, b, c, d)
    exact = abs(a * b - c * d)
    assert abs(found - exact) <= exact * 2.0**-52
    assert (found == 0.0) == (exact == 0)


def test_a_target_turned_around_has_the_same_split():
    """Many splits of small whole numbers tie, and the same one is chosen for M - y."""
    rng = np.random.default_rng(0)
    ties = 0
    for _ in range(2000):
        weight = rng.integers(0, 4, 6)
        total = weight * rng.integers(0, 3, 6)
        top = 3
        one, other, third = (
            trees._best_cut(weight, each, 1, True, 1.0 + trees.TIE)
            for each in (total, top * weight - total, 7 * total + 2 * weight)
        )
        assert one[1:] == other[1:] == third[1:]
        plain = [
            trees._best_cut(weight, each, 1, False, 1.0)[1:]
            for each in (total, top * weight - total, 7 * total + 2 * weight)
        ]
        ties += len(set(plain)) > 1
    assert ties > 0  # which is what the margin is for
