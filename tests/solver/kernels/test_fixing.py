import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules.solver.kernels.fixing import fix_by_bound, fix_by_floor, put_in, put_out
from mossrules.solver.kernels.relaxation import lower_and_upper
from mossrules.solver.kernels.state import FREE, IN, OUT, Precedence
from support.nodes import plain_order, random_node

SEEDS = st.integers(0, 10**6)


def chains(case, rng):
    """Return random chains of duplicates along the order of counts."""
    links = plain_order(case.data.counts)
    last = {}
    for i in links.by_count.tolist():
        if case.decision[i] == FREE:
            chain = int(rng.integers(0, 4))
            if chain and chain in last:
                links.before[i], links.after[last[chain]] = last[chain], i
            last[chain] = i
    return links


def in_order(before, support):
    """Tell whether every selected duplicate has those before it in the selection too."""
    chosen = set(support.tolist())
    return all(before[i] < 0 or before[i] in chosen for i in chosen)


def agrees(decision, support):
    """Tell whether a selection keeps fixings."""
    z = np.isin(np.arange(len(decision)), support)
    return z[decision == IN].all() and not z[decision == OUT].any()


# --- by the floor ---------------------------------------------------------------------------------


@given(SEEDS)
@settings(deadline=None, max_examples=400)
def test_the_floor_fixes_exactly_what_it_decides(seed):
    """A rule is in or out if and only if it is so in every selection that meets the floor."""
    case = random_node(seed)
    decision = case.decision.copy()
    possible, K, E = fix_by_floor(case.data.counts, case.precedence, decision, case.K, case.E)
    feasible = list(case.selections())
    assert possible == bool(feasible)
    if not possible:
        return
    z = np.array([np.isin(np.arange(len(decision)), support) for support in feasible])
    np.testing.assert_array_equal(decision == IN, z.all(axis=0))
    np.testing.assert_array_equal(decision == OUT, ~z.any(axis=0))
    newly = (decision == IN) & (case.decision != IN)
    assert case.K - newly.sum() == K
    assert case.E - case.data.counts[newly].sum() == E


@given(SEEDS)
@settings(deadline=None, max_examples=300)
def test_the_floor_and_duplicates_fix_nothing_that_could_differ(seed):
    """With chains of duplicates, each selection that has them in order keeps what is fixed."""
    case = random_node(seed)
    decision = case.decision.copy()
    links = chains(case, np.random.default_rng(seed))
    possible, K, _ = fix_by_floor(case.data.counts, links, decision, case.K, case.E)
    ordered = [support for support in case.selections() if in_order(links.before, support)]
    if not possible:
        assert not ordered
        return
    assert all(agrees(decision, support) for support in ordered)
    assert case.K - np.count_nonzero((decision == IN) & (case.decision != IN)) == K
    if K == 0:
        assert FREE not in decision


def test_the_slack_is_used_to_the_last_count():
    """A rule that just fits stays free, and one count more on the floor decides it."""
    counts = np.array([9.0, 7.0, 4.0])
    order = plain_order(counts)
    for floor, expected in [
        (11.0, [FREE, FREE, FREE]),
        (12.0, [IN, FREE, FREE]),
        (13.0, [IN, FREE, FREE]),
        (14.0, [IN, IN, OUT]),
        (16.0, [IN, IN, OUT]),
    ]:
        decision = np.zeros(3, np.int8)
        possible, _, _ = fix_by_floor(counts, order, decision, 2.0, floor)
        assert possible
        assert decision.tolist() == expected, floor
    assert not fix_by_floor(counts, order, np.zeros(3, np.int8), 2.0, 17.0)[0]
    assert not fix_by_floor(counts, order, np.zeros(3, np.int8), 4.0, 0.0)[0]


# --- by symmetry ----------------------------------------------------------------------------------


def linked(before, after):
    """Return rules in the order of their positions, some of them duplicates."""
    return Precedence(np.arange(len(before)), np.array(before), np.array(after))


def test_a_duplicate_takes_along_what_comes_before_or_after_it():
    """In with one goes in all before it; out with one goes out all after it."""
    counts = np.array([5.0, 4.0, 3.0, 2.0])
    links = linked([-1, 0, 1, -1], [1, 2, -1, -1])
    decision = np.zeros(4, np.int8)
    assert put_in(counts, links, decision, 1, 3.0, 10.0) == (True, 1.0, 1.0)
    assert decision.tolist() == [IN, IN, FREE, FREE]
    assert put_in(counts, links, decision, 2, 1.0, 1.0) == (True, 0.0, -2.0)
    decision = np.zeros(4, np.int8)
    assert put_out(links, decision, 1)
    assert decision.tolist() == [FREE, OUT, OUT, FREE]
    assert put_out(links, decision, 0)
    assert decision.tolist() == [OUT, OUT, OUT, FREE]


def test_a_duplicate_against_the_order_is_not_possible():
    """In after one that is out, out before one that is in, or in without room: none can be."""
    counts = np.array([5.0, 4.0, 3.0])
    links = linked([-1, 0, 1], [1, 2, -1])
    assert not put_in(counts, links, np.array([OUT, FREE, FREE], np.int8), 2, 3.0, 0.0)[0]
    assert not put_out(links, np.array([FREE, FREE, IN], np.int8), 0)
    assert not put_in(counts, links, np.zeros(3, np.int8), 2, 2.0, 0.0)[0]
    assert put_in(counts, links, np.zeros(3, np.int8), 2, 3.0, 0.0)[0]


# --- by the bound ---------------------------------------------------------------------------------


def at_dual_point(case, rng):
    """Return the node at weights and multipliers near those of a selection."""
    data = case.data
    w = np.zeros(len(data.q))
    S = np.append(case.inside, rng.permutation(case.free)[: int(case.K)])
    w[S] = case.problem.weights(S) * rng.choice([1.0, 1.0, 0.5, 1.5])
    gain = 0.5 * data.gamma * (data.q - data.G @ w) ** 2
    mu = float(rng.choice([0.0, 0.1])) * gain.max() / (1 + data.counts.max())
    lam = float(np.sort(gain + mu * data.counts)[-max(1, int(case.K))]) * rng.uniform(0.5, 1.2)
    return case.at(w, lam, mu)


@given(SEEDS, st.floats(0.0, 0.3))
@settings(deadline=None, max_examples=300)
def test_the_bound_never_cuts_off_anything_better(seed, distance):
    """Every selection with a loss below the cutoff keeps what is fixed."""
    case = random_node(seed)
    if case.K == 0:
        return
    node = at_dual_point(case, np.random.default_rng(seed))
    (lam, mu), centre = node.multipliers, case.E / case.K
    lower, _ = lower_and_upper(case.data, node, case.K, centre, lam - mu * centre, mu)
    margin = distance * case.data.half_yy
    possible, K, E, fixed = fix_by_bound(case.data, case.precedence, node, case.K, case.E, margin)
    for support in case.selections():
        if case.problem.loss(support) < lower + margin - 1e-9 * case.data.half_yy:
            assert possible
            assert agrees(node.decision, support)
    newly = (node.decision == IN) & (case.decision != IN)
    assert fixed == np.count_nonzero(node.decision != case.decision)
    assert case.K - newly.sum() == K
    assert case.E - case.data.counts[newly].sum() == E


@given(SEEDS, st.floats(0.0, 0.1))
@settings(deadline=None, max_examples=200)
def test_every_rule_with_a_price_above_the_margin_is_fixed(seed, distance):
    """Rules are fixed by the sign and size of s alone, up to the first that is not possible."""
    case = random_node(seed)
    node = at_dual_point(case, np.random.default_rng(seed))
    margin = distance * case.data.half_yy
    possible, *_ = fix_by_bound(case.data, case.precedence, node, case.K, case.E, margin)
    lam, mu = node.multipliers
    s = case.data.gamma / 2 * node.r**2 - lam + mu * case.data.counts
    expected = np.where(s < -margin, OUT, np.where(s > margin, IN, FREE))
    expected = np.where(case.decision == FREE, expected, case.decision)
    assert possible == (np.count_nonzero(expected == IN) <= case.problem.size)
    clear = np.abs(np.abs(s) - margin) > 1e-9 * case.data.half_yy
    if possible:
        np.testing.assert_array_equal(node.decision[clear], expected[clear])


@given(SEEDS)
@settings(deadline=None, max_examples=100)
def test_duplicates_of_what_the_bound_fixes_follow(seed):
    """After fixing, no duplicate is in without those before it unless nothing is possible."""
    case = random_node(seed)
    rng = np.random.default_rng(seed)
    links, node = chains(case, rng), at_dual_point(case, rng)
    possible, *_ = fix_by_bound(case.data, links, node, case.K, case.E, 0.0)
    before, decision = links.before, node.decision
    for i in np.flatnonzero((before >= 0) & possible):
        assert not (decision[i] == IN and decision[before[i]] != IN)
        assert not (decision[before[i]] == OUT and decision[i] != OUT)


def test_the_bound_fixes_rules_often():
    """The tests above would say nothing if hardly anything were fixed."""
    total = 0
    for seed in range(100):
        case = random_node(seed)
        node = at_dual_point(case, np.random.default_rng(seed))
        margin = 0.1 * case.data.half_yy
        total += fix_by_bound(case.data, case.precedence, node, case.K, case.E, margin)[3]
    assert total > 20
