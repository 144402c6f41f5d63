"""Small rule sets on the same few columns, of which two often have rules in common."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from mossrules import RuleSet
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import Rule
from mossrules.data.columns import Kind
from support.model_cases import conditions

SITES, GRADES = ("a", "b", "c", "d"), ("low", "mid", "high", "top")


def age(*cuts):
    """Return how a column of numbers is cut."""
    return BinnedColumn("age", Kind.NUMERIC, tuple(map(float, cuts)))


def ruleset(*rules, columns, weights=None, intercept=0.0):
    """Return a rule set of some conditions."""
    made = [Rule.of(rule if isinstance(rule, list) else [rule]) for rule in rules]
    n = len(made)
    return RuleSet(
        rules=tuple(made),
        weights=np.arange(n, 0.0, -1.0) if weights is None else np.array(weights, dtype=float),
        intercept=intercept,
        binning=Binning(tuple(columns)),
        columns=tuple(column.name for column in columns),
        support=np.full(n, 0.5),
        proportion=np.full(n, 0.1),
    )


@st.composite
def columns(draw, kinds=("numeric", "boolean", "categorical", "ordered")):
    """Draw how four columns are cut; cut points and levels of two draws are often the same."""
    cuts = st.sets(st.sampled_from([1.0, 2.0, 3.0, 5.0, 8.0]), min_size=1)
    ranks = st.sets(st.sampled_from([0.0, 1.0, 2.0]), min_size=1)
    known = st.sets(st.sampled_from(SITES), min_size=2)
    made = {
        "numeric": BinnedColumn("age", Kind.NUMERIC, tuple(sorted(draw(cuts)))),
        "boolean": BinnedColumn("smoker", Kind.BOOLEAN, (0.0,)),
        "categorical": BinnedColumn("site", Kind.CATEGORICAL, (), tuple(sorted(draw(known)))),
        "ordered": BinnedColumn("grade", Kind.ORDERED, tuple(sorted(draw(ranks))), GRADES),
    }
    return [made[kind] for kind in kinds]


@st.composite
def small_rulesets(draw, most=4, **kinds):
    """Draw up to four rules on four columns."""
    known = draw(columns(**kinds))
    rules = {}
    for _ in range(draw(st.integers(0, most))):
        used = draw(st.lists(st.sampled_from(known), min_size=1, max_size=2,
                             unique_by=lambda each: each.name))  # fmt: skip
        rules[Rule.of([draw(conditions(column)) for column in used])] = draw(
            st.sampled_from([-2.0, -1.0, 0.0, 1.0, 1.1, 3.0])
        )
    n = len(rules)
    return RuleSet(
        rules=tuple(rules),
        weights=np.array([*rules.values()]),
        intercept=draw(st.sampled_from([0.0, 1.5])),
        binning=Binning(tuple(known)),
        columns=tuple(column.name for column in known),
        support=np.array([draw(st.sampled_from([0.0, 0.2, 0.5])) for _ in range(n)]),
        proportion=np.full(n, 0.1),
    )
