"""Tests on values accept what conditions on codes accept."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules.candidates.cuts import BinnedColumn
from mossrules.candidates.rules import OPEN, Range
from mossrules.data.columns import Kind
from mossrules.model.values import Interval, boolean_levels, value_test
from support.model_cases import conditions

NUMBERS = BinnedColumn("age", Kind.NUMERIC, (18.0, 45.5))
FLAGS = BinnedColumn("smoker", Kind.BOOLEAN, (0.0,))


@st.composite
def _condition_and_column(draw):
    levels = draw(st.lists(st.text(max_size=3), min_size=1, max_size=5, unique=True))
    column = draw(
        st.sampled_from(
            [
                NUMBERS,
                FLAGS,
                BinnedColumn("c", Kind.CATEGORICAL, levels=tuple(levels)),
                BinnedColumn(
                    "o", Kind.ORDERED, tuple(map(float, range(len(levels) - 1))), tuple(levels)
                ),
            ]
        )
    )
    return draw(conditions(column)), column


@settings(deadline=None)
@given(_condition_and_column())
def test_tests_on_values_agree_with_codes(drawn):
    """What exporters translate accepts the values whose codes the condition accepts."""
    condition, column = drawn
    accepted = condition.accepts(column)
    test = value_test(condition, column)
    if isinstance(test, Interval):
        for value in (-1e9, 0.0, 1.0, *column.cuts, *np.nextafter(column.cuts, np.inf)):
            code = 1 + sum(value > cut for cut in column.cuts)
            assert test.accepts(value) == accepted[code]
        assert test.missing == accepted[0]
        if column is FLAGS:
            levels = boolean_levels(test)
            for value in (False, True):
                assert ((value in levels.levels) == levels.inside) == accepted[1 + value]
            assert ((None in levels.levels) == levels.inside) == accepted[0]
        return
    unseen = column.n_values + 1 if column.kind is Kind.CATEGORICAL else 0
    for level in (*column.levels, None, "never seen"):
        expected = accepted[column.code_of_level.get(level, unseen)]
        assert ((level in test.levels) == test.inside) == expected


def test_open_ranges_have_no_bound():
    """The first and the last bin are open to their side; an empty range lets no number pass."""
    assert value_test(Range("age", high=1), NUMBERS) == Interval("age", None, 18.0, missing=False)
    assert value_test(Range("age", low=3), NUMBERS) == Interval("age", 45.5, None, missing=False)
    assert value_test(Range("age", 2, 2), NUMBERS) == Interval("age", 18.0, 45.5, missing=False)
    nothing = value_test(Range("age", 1, 0, missing=True), NUMBERS)
    assert nothing == Interval("age", None, None, missing=True, present=False)
    assert not nothing.accepts(1.0)
    assert value_test(Range("age", 1, OPEN), NUMBERS).accepts(1.0)
