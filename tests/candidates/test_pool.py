import numpy as np
import pytest

from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.forest import Step
from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.rules import Range, Rule
from mossrules.data.columns import Kind
from mossrules.exceptions import InvalidParameter

BINNING = Binning(
    tuple(BinnedColumn(name, Kind.NUMERIC, cuts=(0.0, 1.0, 2.0)) for name in ("a", "b"))
)


def upto(feature, cut):
    """Build the step feature <= cut."""
    return Step(feature, 1, cut, has_missing=False, goes_left=True)


PATHS = [
    (0, (upto(0, 2), upto(1, 1))),
    (1, (upto(1, 1), upto(0, 2))),
    (1, (upto(0, 3),)),
    (2, (upto(0, 3), upto(0, 1))),
    (3, (upto(0, 1),)),
    (3, (upto(1, 3),)),
]


def make_pool():
    """Collect the paths above."""
    return CandidatePool.from_paths(PATHS, BINNING, n_trees=4)


def test_a_rule_is_counted_once_per_tree_however_it_was_written():
    """Order and redundant conditions do not matter, and ties have a fixed order."""
    pool = make_pool()
    assert pool.rules == (
        Rule((Range("a", high=1),)),
        Rule((Range("a", high=2), Range("b", high=1))),
        Rule((Range("a", high=3),)),
        Rule((Range("b", high=3),)),
    )
    assert pool.counts.tolist() == [2, 2, 1, 1]
    assert pool.proportions.tolist() == [0.5, 0.5, 0.25, 0.25]
    assert repr(pool) == "CandidatePool(4 rules from 4 trees)"


def test_the_pool_does_not_depend_on_the_order_of_the_paths():
    """Any order of trees gives the same pool."""
    backwards = CandidatePool.from_paths(reversed(PATHS), BINNING, n_trees=4)
    assert backwards == make_pool()


def test_a_cap_keeps_the_most_frequent_rules():
    """Ties at the cap are broken by the fixed order of rules."""
    pool = make_pool().cap(3)
    assert len(pool) == 3
    assert pool.rules[-1] == Rule((Range("a", high=3),))
    assert len(make_pool().cap(100)) == 4
    with pytest.raises(InvalidParameter, match="at least 1"):
        make_pool().cap(0)


def test_merging_keeps_the_shortest_rule_and_counts_each_tree_once():
    """Rules 1 and 2 share tree 1, so together they appear in two trees, not three."""
    merged = make_pool().merge([[1, 2]])
    assert merged.rules[:2] == (Rule((Range("a", high=1),)), Rule((Range("a", high=3),)))
    assert merged.counts.tolist() == [2, 2, 1]
    assert merged.trees[1] == {0, 1}


def test_merging_nothing_changes_nothing():
    """No groups, no change."""
    assert make_pool().merge([]) == make_pool()
    assert np.array_equal(make_pool().merge([]).counts, make_pool().counts)
