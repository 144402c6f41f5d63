"""What stands for what: values of one type for a column that had another."""

import numpy as np
import pytest

from mossrules.data.values import (
    Family,
    as_levels,
    as_numbers,
    families_of,
    float_labels,
    number_in,
    written,
)
from mossrules.exceptions import InvalidColumn


def labels(*values):
    """Return an array of objects."""
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def test_families_tell_truth_values_from_numbers():
    """True is not 1 here, and None is of no family."""
    assert families_of([True, None]) == {Family.TRUTH}
    assert families_of([1, 2.5]) == {Family.NUMBER}
    assert families_of(["1", 1]) == {Family.TEXT, Family.NUMBER}
    assert families_of([None]) == set()


@pytest.mark.parametrize("number", [0, -3, 2**70, 2.5, 1e-300, float("inf"), 1e22])
def test_the_text_of_a_number_is_read_as_it(number):
    """So that text and numbers can stand for each other."""
    assert number_in(written(number)) == number


def test_words_and_spellings_are_no_numbers():
    """A word for missing is none either; whole numbers keep all of their digits."""
    assert [number_in(text) for text in ("nan", "1_000", "1,5", "red", "")] == [None] * 5
    assert number_in("9007199254740993") == 2**53 + 1
    assert (written(2.0), written(2.5)) == ("2", "2.5")


CERTAIN = {
    "text for numbers": ([1, 2, 3], ["1", "2.0", "9", None], [1, 2.0, 9, None]),
    "truth for 0 and 1": ([0, 1], [True, False, None], [1, 0, None]),
    "numbers for truth": ([False, True], [1.0, 0], [True, False]),
    "words for truth": ([False, True], ["true", "FALSE"], [True, False]),
    "numbers for digits": (["1", "2", "A"], [1.0, 2, 7], ["1", "2", "7"]),
    "truth for words": (["True", "False"], [True, False], ["True", "False"]),
    "equal numbers": ([1, 2], [1.0, 2.0, 2.5], [1.0, 2.0, 2.5]),
    "both types": ([1, "a"], ["1", "a", "b"], [1, "a", "b"]),
    "no levels": ([], ["a", 1], ["a", 1]),
}


@pytest.mark.parametrize("case", CERTAIN.values(), ids=CERTAIN)
def test_labels_of_another_type_stand_for_levels_where_that_is_certain(case):
    """A label that is no level stays one that was never seen."""
    levels, given, expected = case
    found = as_levels("k", levels, labels(*given))
    assert [(type(each), each) for each in found] == [(type(each), each) for each in expected]


UNCERTAIN = {
    "a word": (
        [1, 2],
        ["1", "red"],
        "had numbers for categories in training, such as 1, and is '",
    ),
    "truth": ([1, 2], [True], "and is True on some row now; convert it to numbers."),
    "7 for truth": ([False, True], [7], "had truth values .* and is 7 on some row now"),
    "yes for truth": (
        [False, True],
        ["yes"],
        "is 'yes' on some row now; convert it to truth",
    ),
    "lost zeros": (
        ["01", "02"],
        [1],
        "such as '01', and is 1 on some row now; .*written as it",
    ),
    "lost digits": (["1", "1.0"], [1], "had text for categories"),
    "words": (["red"], [1], "had text for categories in training, such as 'red', and is 1 on"),
    "two words for true": (["True", "TRUE"], [True], "had text for categories"),
    "1 and '1'": ([1, "1"], ["1"], "had numbers and text for categories"),
}


@pytest.mark.parametrize("case", UNCERTAIN.values(), ids=UNCERTAIN)
def test_labels_that_may_mean_several_levels_are_refused(case):
    """In one sentence with the column, what it had, what came, and what to do."""
    levels, given, words = case
    with pytest.raises(InvalidColumn, match=f"^Column 'k' .*{words}"):
        as_levels("k", levels, labels(*given))


def test_columns_of_numbers_take_labels_that_are_numbers():
    """Categories of numbers are numbers; truth values are 0 and 1; text is refused."""
    np.testing.assert_array_equal(as_numbers("k", labels(1, None, 2.5)), [1.0, np.nan, 2.5])
    np.testing.assert_array_equal(as_numbers("k", labels(True, False)), [1.0, 0.0])
    found = as_numbers("k", labels("true", "False", None), truth=True)
    np.testing.assert_array_equal(found, [1.0, 0.0, np.nan])
    with pytest.raises(InvalidColumn, match="'k' was numeric in training and is text now"):
        as_numbers("k", labels("1"))
    with pytest.raises(InvalidColumn, match="'k' was boolean in training and is 2 on some row now"):
        as_numbers("k", np.array([1.0, 2.0]), truth=True)
    with pytest.raises(InvalidColumn, match="too large for a float"):
        as_numbers("k", labels(10**400))


def test_floats_from_2_to_the_53_label_nothing():
    """Neighbours among the whole numbers are the same float from there on."""
    below = np.array([2.0**53 - 1, -1.0, np.nan, np.inf])
    assert float_labels("k", below).tolist() == [2.0**53 - 1, -1.0, None, np.inf]
    assert float_labels("k", np.array([1.0, np.nan, 0.0]), truth=True).tolist() == [
        True,
        None,
        False,
    ]
    with pytest.raises(InvalidColumn, match=r"'k' has labels such as 9007199254740992, and"):
        float_labels("k", np.array([2.0**53]))
