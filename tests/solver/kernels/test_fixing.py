import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules.solver.kernels.fixing import fix_by_bound, fix_by_floor, put_in, put_out
from mossrules.solver.kernels.relaxation import lower_and_upper
from mossrules.solver.kernels.state import FREE, IN, OUT
from mossrules.solver.search.instance import no_twins
from support.cases import random_node

SEEDS = st.integers(0, 10**6)


def chains(node, rng):
    """Return random chains of twins along the order of counts, as `before` and `after`."""
    before, after = no_twins(len(node.fate))
    last = {}
    for i in node.order.tolist():
        if node.fate[i] == FREE:
            chain = int(rng.integers(0, 4))
            if chain and chain in last:
                before[i], after[last[chain]] = last[chain], i
            last[chain] = i
    return before, after


def in_order(before, support):
    """Tell whether every selected twin has those before it in the selection too."""
    chosen = set(support.tolist())
    return all(before[i] < 0 or before[i] in chosen for i in chosen)


def agrees(fate, support):
    """Tell whether a selection keeps fixings."""
    z = np.isin(np.arange(len(fate)), support)
    return z[fate == IN].all() and not z[fate == OUT].any()


# --- by the floor ---------------------------------------------------------------------------------


@given(SEEDS)
@settings(deadline=None, max_examples=400)
def test_the_floor_fixes_exactly_what_it_decides(seed):
    """A rule is in or out if and only if it is so in every selection that meets the floor."""
    node = random_node(seed)
    fate = node.fate.copy()
    possible, room, floor = fix_by_floor(
        node.data.counts, node.order, fate, *no_twins(len(fate)), node.room, node.floor
    )
    feasible = list(node.selections())
    assert possible == bool(feasible)
    if not possible:
        return
    z = np.array([np.isin(np.arange(len(fate)), support) for support in feasible])
    np.testing.assert_array_equal(fate == IN, z.all(axis=0))
    np.testing.assert_array_equal(fate == OUT, ~z.any(axis=0))
    newly = (fate == IN) & (node.fate != IN)
    assert room == node.room - newly.sum()
    assert floor == node.floor - node.data.counts[newly].sum()


@given(SEEDS)
@settings(deadline=None, max_examples=300)
def test_the_floor_and_twins_fix_nothing_that_could_differ(seed):
    """With chains of twins, each selection that has them in order keeps what is fixed."""
    node = random_node(seed)
    fate = node.fate.copy()
    before, after = chains(node, np.random.default_rng(seed))
    possible, room, _ = fix_by_floor(
        node.data.counts, node.order, fate, before, after, node.room, node.floor
    )
    ordered = [support for support in node.selections() if in_order(before, support)]
    if not possible:
        assert not ordered
        return
    assert all(agrees(fate, support) for support in ordered)
    assert room == node.room - np.count_nonzero((fate == IN) & (node.fate != IN))
    if room == 0:
        assert FREE not in fate


def test_the_slack_is_used_to_the_last_count():
    """A rule that just fits stays free, and one count more on the floor decides it."""
    counts, order = np.array([9.0, 7.0, 4.0]), np.arange(3)
    for floor, expected in [
        (11.0, [FREE, FREE, FREE]),
        (12.0, [IN, FREE, FREE]),
        (13.0, [IN, FREE, FREE]),
        (14.0, [IN, IN, OUT]),
        (16.0, [IN, IN, OUT]),
    ]:
        fate = np.zeros(3, np.int8)
        possible, _, _ = fix_by_floor(counts, order, fate, *no_twins(3), 2.0, floor)
        assert possible
        assert fate.tolist() == expected, floor
    assert not fix_by_floor(counts, order, np.zeros(3, np.int8), *no_twins(3), 2.0, 17.0)[0]
    assert not fix_by_floor(counts, order, np.zeros(3, np.int8), *no_twins(3), 4.0, 0.0)[0]


# --- by symmetry ----------------------------------------------------------------------------------


def test_a_twin_takes_along_what_comes_before_or_after_it():
    """In with one goes in all before it; out with one goes out all after it."""
    counts = np.array([5.0, 4.0, 3.0, 2.0])
    before, after = np.array([-1, 0, 1, -1]), np.array([1, 2, -1, -1])
    fate = np.zeros(4, np.int8)
    assert put_in(counts, fate, before, 1, 3.0, 10.0) == (True, 1.0, 1.0)
    assert fate.tolist() == [IN, IN, FREE, FREE]
    assert put_in(counts, fate, before, 2, 1.0, 1.0) == (True, 0.0, -2.0)
    fate = np.zeros(4, np.int8)
    assert put_out(fate, after, 1)
    assert fate.tolist() == [FREE, OUT, OUT, FREE]
    assert put_out(fate, after, 0)
    assert fate.tolist() == [OUT, OUT, OUT, FREE]


def test_a_twin_against_the_order_is_not_possible():
    """In after one that is out, out before one that is in, or in without room: none can be."""
    counts = np.array([5.0, 4.0, 3.0])
    before, after = np.array([-1, 0, 1]), np.array([1, 2, -1])
    assert not put_in(counts, np.array([OUT, FREE, FREE], np.int8), before, 2, 3.0, 0.0)[0]
    assert not put_out(np.array([FREE, FREE, IN], np.int8), after, 0)
    assert not put_in(counts, np.zeros(3, np.int8), before, 2, 2.0, 0.0)[0]
    assert put_in(counts, np.zeros(3, np.int8), before, 2, 3.0, 0.0)[0]


# --- by the bound ---------------------------------------------------------------------------------


def random_dual_point(node, rng):
    """Return w, r and multipliers near those of a selection, none for rules that are out."""
    data = node.data
    w = np.zeros(len(data.q))
    S = np.append(node.inside, rng.permutation(node.free)[: int(node.room)])
    w[S] = node.problem.weights(S) * rng.choice([1.0, 1.0, 0.5, 1.5])
    r = data.q - data.G @ w
    gain = 0.5 * data.gamma * r**2
    mu = float(rng.choice([0.0, 0.1])) * gain.max() / (1 + data.counts.max())
    lam = float(np.sort(gain + mu * data.counts)[-max(1, int(node.room))]) * rng.uniform(0.5, 1.2)
    return w, r, lam, mu


@given(SEEDS, st.floats(0.0, 0.3))
@settings(deadline=None, max_examples=300)
def test_the_bound_never_cuts_off_anything_better(seed, distance):
    """Every selection with a loss below the cutoff keeps what is fixed."""
    node = random_node(seed)
    if node.room == 0:
        return
    rng, fate = np.random.default_rng(seed), node.fate.copy()
    w, r, lam, mu = random_dual_point(node, rng)
    centre = node.floor / node.room
    lower, _ = lower_and_upper(node.data, fate, node.room, centre, lam - mu * centre, mu, w, r)
    margin = distance * node.data.half
    possible, room, floor, fixed = fix_by_bound(
        node.data, fate, *no_twins(len(w)), node.room, node.floor, lam, mu, r, margin
    )
    for support in node.selections():
        if node.problem.loss(support) < lower + margin - 1e-9 * node.data.half:
            assert possible
            assert agrees(fate, support)
    newly = (fate == IN) & (node.fate != IN)
    assert fixed == np.count_nonzero(fate != node.fate)
    assert room == node.room - newly.sum()
    assert floor == node.floor - node.data.counts[newly].sum()


@given(SEEDS, st.floats(0.0, 0.1))
@settings(deadline=None, max_examples=200)
def test_every_rule_with_a_price_above_the_margin_is_fixed(seed, distance):
    """Rules are fixed by the sign and size of s alone, up to the first that is not possible."""
    node = random_node(seed)
    fate = node.fate.copy()
    _, r, lam, mu = random_dual_point(node, np.random.default_rng(seed))
    margin = distance * node.data.half
    possible, *_ = fix_by_bound(
        node.data, fate, *no_twins(len(r)), node.room, node.floor, lam, mu, r, margin
    )
    s = node.data.gamma / 2 * r**2 - lam + mu * node.data.counts
    expected = np.where(s < -margin, OUT, np.where(s > margin, IN, FREE))
    expected = np.where(node.fate == FREE, expected, node.fate)
    assert possible == (np.count_nonzero(expected == IN) <= node.problem.size)
    clear = np.abs(np.abs(s) - margin) > 1e-9 * node.data.half
    if possible:
        np.testing.assert_array_equal(fate[clear], expected[clear])


@given(SEEDS)
@settings(deadline=None, max_examples=100)
def test_twins_of_what_the_bound_fixes_follow(seed):
    """After fixing, no twin is in without those before it unless nothing is possible."""
    node = random_node(seed)
    rng, fate = np.random.default_rng(seed), node.fate.copy()
    before, after = chains(node, rng)
    _, r, lam, mu = random_dual_point(node, rng)
    possible, *_ = fix_by_bound(
        node.data, fate, before, after, node.room, node.floor, lam, mu, r, 0.0
    )
    for i in np.flatnonzero((before >= 0) & possible):
        assert not (fate[i] == IN and fate[before[i]] != IN)
        assert not (fate[before[i]] == OUT and fate[i] != OUT)


def test_the_bound_fixes_rules_often():
    """The tests above would say nothing if hardly anything were fixed."""
    total = 0
    for seed in range(100):
        node = random_node(seed)
        _, r, lam, mu = random_dual_point(node, np.random.default_rng(seed))
        total += fix_by_bound(
            node.data, node.fate.copy(), *no_twins(len(r)), node.room, node.floor, lam, mu, r,
            0.1 * node.data.half,
        )[3]  # fmt: skip
    assert total > 20
