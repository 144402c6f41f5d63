"""Which rule stands for which: held to an oracle that goes through all pairings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules import compare_rule_sets
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import OPEN, Levels, Range, Rule
from mossrules.data.columns import Kind
from mossrules.evaluation.rule_pairs import (
    form_of,
    pair_by_form,
    pair_by_rows,
    pair_by_text,
    rule_distance,
)
from support.pairing_oracle import best_total, described, distance, form
from support.small_rulesets import GRADES, SITES, age, ruleset, small_rulesets

# --- against all pairings -------------------------------------------------------------------------


@settings(max_examples=80)
@given(small_rulesets(), small_rulesets())
def test_moved_rules_are_the_most_pairs_of_least_total_distance(old, new):
    """Of all pairings of the rules that were not kept, none has more pairs or a smaller total."""
    kept = pair_by_text(old, new)
    left = [i for i in range(len(old)) if i not in {i for i, _ in kept}]
    other = [j for j in range(len(new)) if j not in {j for _, j in kept}]
    moved = pair_by_form((old, left), (new, other))
    olds, news = described(old), described(new)
    n_pairs, total = best_total([olds[i] for i in left], [news[j] for j in other])
    assert len(moved) == n_pairs
    assert sum(apart for *_, apart in moved) == pytest.approx(float(total), abs=1e-9)
    for i, j, apart in moved:
        assert form(olds[i]) == form(news[j])
        assert apart == pytest.approx(float(distance(olds[i], news[j])), abs=1e-12)


@settings(max_examples=50)
@given(small_rulesets(), small_rulesets())
def test_taking_equal_rules_out_first_costs_nothing(old, new):
    """Among all pairings of all rules of one form, none has a smaller total than kept and moved."""
    kept = pair_by_text(old, new)
    left = [i for i in range(len(old)) if i not in {i for i, _ in kept}]
    other = [j for j in range(len(new)) if j not in {j for _, j in kept}]
    moved = pair_by_form((old, left), (new, other))
    n_pairs, total = best_total(described(old), described(new))
    assert len(kept) + len(moved) == n_pairs
    assert sum(apart for *_, apart in moved) == pytest.approx(float(total), abs=1e-9)


@settings(max_examples=100)
@given(st.integers(0, 4), st.integers(0, 4), st.data())
def test_pairs_on_nearly_the_same_rows_are_as_many_as_can_be(n, m, data):
    """And of so many pairs, they are those with the most rows in common."""
    shares = st.sampled_from([np.nan, 0.0, 0.5, 0.9, 0.95, 1.0])
    jaccard = np.array([[data.draw(shares) for _ in range(m)] for _ in range(n)]).reshape(n, m)
    old, new = (
        ruleset(*(Range("age", low=k) for k in range(2, size + 2)), columns=[age(*range(6))])
        for size in (n, m)
    )
    pairs = pair_by_rows(jaccard, (old, range(n)), (new, range(m)), 0.9)
    count, cost = best_total(
        range(n), range(m), lambda i, j: jaccard[i, j] >= 0.9, lambda i, j: -jaccard[i, j]
    )
    assert len(pairs) == count
    assert sum(jaccard[i, j] for i, j in pairs) == pytest.approx(-float(cost))


# --- what is the same, and what has moved ---------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (Range("age", low=2), Range("age", low=3), True),
        (Range("age", low=2), Range("age", low=2, missing=True), True),
        (Range("age", low=2), Range("age", high=2), False),
        (Range("age", low=2), Range("age", low=2, high=2), False),
        (Range("age", 1, OPEN), Range("age", low=2), False),
        (Range("age", 1, 0, missing=True), Range("age", 1, OPEN), False),
        (Range("smoker", low=2), Range("smoker", high=1), False),
        (Range("smoker", low=2), Range("smoker", low=2, missing=True), True),
        (Levels("site", frozenset("a")), Levels("site", frozenset("bc")), True),
        (Levels("site", frozenset("a")), Levels("site", frozenset("a"), inside=False), False),
    ],
)
def test_the_form_of_a_rule_is_its_columns_and_directions(one, other, same):
    """Cut points, levels and whether missing values are admitted may differ, nothing else."""
    binning = Binning((age(1, 2), BinnedColumn("smoker", Kind.BOOLEAN, (0.0,)),
                       BinnedColumn("site", Kind.CATEGORICAL, (), SITES)))  # fmt: skip
    assert (form_of(Rule.of([one]), binning) == form_of(Rule.of([other]), binning)) is same


def test_a_column_of_another_kind_has_another_form():
    """Numbers in one analysis and ordered levels in the other are not compared."""
    grade = BinnedColumn("age", Kind.ORDERED, (0.0,), GRADES)
    rule = Rule.of([Range("age", low=2)])
    assert form_of(rule, Binning((age(1),))) != form_of(rule, Binning((grade,)))


def test_distance_counts_cut_points_in_between_whatever_the_unit():
    """Of the cut points 10, 20, 30, 40, 1000 of both, two steps of four lie between 20 and 40."""
    old, new = (Binning((age(*cuts),)) for cuts in ((10, 20, 30), (30, 40, 1000)))
    one, other = Rule.of([Range("age", low=3)]), Rule.of([Range("age", low=3)])
    assert rule_distance(one, old, other, new) == 0.5
    logs = [Binning((age(*np.log10(cuts)),)) for cuts in ((10, 20, 30), (30, 40, 1000))]
    assert rule_distance(one, logs[0], other, logs[1]) == 0.5


def test_two_rules_that_moved_side_by_side_do_not_cross():
    """1 to 3 and 2 to 4 has the same total as 1 to 4 and 2 to 3, and is what a reader would say."""
    column = age(1, 2, 3, 4)
    old = ruleset(Range("age", low=2), Range("age", low=3), columns=[column])
    new = ruleset(Range("age", low=4), Range("age", low=5), columns=[column])
    pairs = compare_rule_sets(old, new).outcomes[0].moved
    assert [(pair.old.text, pair.new.text) for pair in pairs] == [
        ("age > 1", "age > 3"), ("age > 2", "age > 4"),
    ]  # fmt: skip


def test_a_cut_below_a_number_is_not_the_cut_at_it():
    """`age < 65` and `age <= 65` read differently, so one has moved to the other."""
    old = ruleset(Range("age", high=1), columns=[age(np.nextafter(65.0, 0.0))])
    new = ruleset(Range("age", high=1), columns=[age(65.0)])
    (pair,) = compare_rule_sets(old, new).outcomes[0].moved
    assert (pair.old.text, pair.new.text, pair.distance) == ("age < 65", "age <= 65", 1.0)


def test_equal_texts_are_paired_once_each():
    """The levels 1 and "1" read the same: two rules that print alike have two partners."""
    kinds = [BinnedColumn("site", Kind.CATEGORICAL, (), (1, "1"))]
    twice = [Levels("site", frozenset([1])), Levels("site", frozenset(["1"]))]
    both, one = ruleset(*twice, columns=kinds), ruleset(twice[0], columns=kinds)
    assert pair_by_text(both, both) == [(0, 0), (1, 1)]
    found = compare_rule_sets(both, one).outcomes[0]
    assert (len(found.kept), len(found.gone), len(found.new)) == (1, 1, 0)
