"""Time that parts of some work share, by a clock that tests set."""

import math
from dataclasses import dataclass

import pytest

from mossrules.budget import (
    SOON,
    Budget,
    Shares,
    left_out_in_words,
    read_budget,
    stopped_in_words,
    unproven_in_words,
)
from mossrules.exceptions import InvalidParameter


@dataclass
class SetClock:
    """A clock that shows what it is set to."""

    at: float = 0.0

    def __call__(self):
        """Return what it shows."""
        return self.at


def test_without_a_limit_everything_may_take_as_long_as_it_takes():
    """Nothing is spent, and searches keep limits of their own."""
    budget = Budget()
    assert budget.left() == math.inf
    assert not budget.is_limited
    assert not budget.is_spent
    assert budget.part(0.1).limit() is None
    assert budget.next_of(3).limit(7.0) == 7.0
    assert budget.clock().limit is None


def test_a_part_has_a_share_of_what_is_left():
    """What a part leaves goes to those after it, and time that is over does not come back."""
    clock = SetClock()
    budget = Budget(10.0, clock)
    assert budget.next_of(5).left() == 2.0
    clock.at = 1.0  # one of the five was quick
    assert budget.next_of(4).left() == 2.25
    part = budget.part(0.5)
    assert (part.left(), part.limit(1.0), part.limit(100.0)) == (4.5, 1.0, 4.5)
    clock.at = 6.0
    assert part.is_spent
    assert not budget.is_spent
    assert part.limit(9.0) == SOON
    clock.at = 12.0
    assert budget.left() == part.left() == 0.0
    assert budget.clock().limit == 0.0


def test_parts_side_by_side_share_as_many_rounds_as_there_are():
    """Five parts, two at a time, are three rounds; the last has all that is left."""
    clock = SetClock()
    shares = Shares(Budget(12.0, clock), total=5, at_once=2)
    assert [shares.begin().left() for _ in range(2)] == [4.0, 6.0]
    clock.at = 4.0
    assert [shares.begin().left() for _ in range(3)] == [4.0, 8.0, 8.0]


def test_needed_parts_begin_however_little_time_there_is():
    """Further ones only where the time is likely to be enough."""
    clock = SetClock()
    shares = Shares(Budget(10.0, clock), total=9, needed=2)
    for _ in range(2):
        part = shares.begin()
        clock.at += 4.0
        shares.end(part)
    assert shares.begin() is None  # 2 s are left, and a part takes 4
    clock.at = 20.0
    late = Shares(Budget(5.0, clock), total=3, needed=2)
    clock.at = 30.0
    begun = [late.begin() for _ in range(3)]
    assert [part is not None for part in begun] == [True, True, False]
    assert begun[0].is_spent
    assert all(part is not None for part in [Shares(Budget(0.1, clock), 1).begin()])


@pytest.mark.parametrize("wrong", [0, -1.0, math.nan, math.inf, "60", True, [60]])
def test_what_is_no_time_is_refused(wrong):
    """In a sentence that names the argument and the remedy."""
    with pytest.raises(InvalidParameter, match=r"time_budget is .*pass a finite number greater"):
        read_budget(wrong)


def test_a_budget_that_began_is_taken_as_it_is():
    """So that work passes on what it was given."""
    budget = Budget(3.0)
    assert read_budget(budget) is budget
    assert read_budget(3).seconds == 3.0
    assert not read_budget(None).is_limited


def test_what_was_cut_short_is_said_in_a_sentence():
    """With the largest gap, and nothing where nothing was."""
    assert unproven_in_words([], 40) is None
    assert (
        unproven_in_words([0.004, 0.02, 0.01], 40)
        == "3 of 40 points are proven to 2.00% only: time was up."
    )
    assert unproven_in_words([math.nan], 1) == "1 of 1 point is without a rule set: time was up."
    assert left_out_in_words(20, 20, "refit") is None
    assert (
        left_out_in_words(20, 12, "refit")
        == "12 of the 20 refits asked for were made: time was up."
    )
    assert stopped_in_words(0, 5) is None
    assert "2 of 5 searches ended before" in stopped_in_words(2, 5)
