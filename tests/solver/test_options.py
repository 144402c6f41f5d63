import math

import pytest

from mossrules.exceptions import InvalidParameter
from mossrules.solver.options import Clock, Options, Snapshot, relative_gap


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"gap": -0.1}, "gap is -0.1; pass a finite number of at least 0"),
        ({"gap": math.nan}, "gap is nan"),
        ({"gap": "small"}, "gap is 'small'"),
        ({"time_limit": 0}, "time_limit is 0; pass a finite number greater than 0"),
        ({"time_limit": math.inf}, "time_limit is inf; pass a finite number"),
        ({"node_limit": 0}, "node_limit is 0; pass an integer of at least 1"),
        ({"node_limit": 1.5}, "node_limit is 1.5"),
        ({"threads": 0}, "threads is 0; pass an integer of at least 1"),
        ({"threads": True}, "threads is True"),
        ({"root_cuts": -1}, "root_cuts is -1; pass an integer of at least 0"),
        ({"seed": -1}, "seed is -1; pass an integer between 0 and"),
        ({"seed": 2**31}, "seed is 2147483648; pass an integer between 0 and 2147483647"),
        ({"master": "cplex"}, "master is 'cplex'; choose from highs, scip, gurobi"),
        ({"progress": 3}, "progress must be a function"),
    ],
)
def test_bad_options_are_named(setting, message):
    """Each wrong option is refused with its name, its value and what to pass."""
    with pytest.raises(InvalidParameter, match=message):
        Options(**setting)


@pytest.mark.parametrize(
    "setting",
    [
        {},
        {"gap": 0},
        {"time_limit": None, "node_limit": None},
        {"time_limit": 0.01, "node_limit": 1, "threads": 2, "seed": 2**31 - 1},
        {"master": "scip", "root_cuts": 0},
        {"progress": print},
    ],
)
def test_sensible_options_are_accepted(setting):
    """Defaults, zero gap, no limits and every master are fine."""
    options = Options(**setting)
    assert all(getattr(options, name) == value for name, value in setting.items())


@pytest.mark.parametrize(
    ("loss", "bound", "gap"),
    [(10.0, 9.0, 0.1), (10.0, 10.0, 0.0), (10.0, 0.0, 1.0), (0.0, 0.0, 0.0), (5.0, -5.0, 2.0)],
)
def test_gap_is_relative_to_the_loss(loss, bound, gap):
    """The gap is the share of the loss that is not proven; a loss of 0 cannot be bettered."""
    assert relative_gap(loss, bound) == pytest.approx(gap)
    assert Snapshot(1.0, 1, loss, bound).gap == pytest.approx(gap)


def test_a_snapshot_reads_as_one_line():
    """Progress shows seconds, steps, loss, bound and gap."""
    text = str(Snapshot(seconds=1.25, steps=12345, loss=10.0, bound=9.5))
    assert "\n" not in text
    assert text.split() == (
        ["1.2", "s", "12,345", "steps", "loss", "10", "bound", "9.5", "gap", "5.000%"]
    )


def test_the_clock_counts_from_its_start():
    """Time passed and time left add up to the limit, and no time is left after it."""
    clock = Clock(100.0)
    before = clock.elapsed()
    left = clock.left()
    assert 0 <= before <= 100.0 - left <= clock.elapsed()
    assert Clock(1.0, started=clock.started - 5.0).left() == 0.0
    assert Clock(None).left() == math.inf
