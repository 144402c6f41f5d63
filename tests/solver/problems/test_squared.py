from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from mossrules.exceptions import InfeasibleProblem, InvalidParameter
from mossrules.solver.problems.squared import LinearConstraints, Problem
from mossrules.statistics import Statistics
from support.oracles import brute_force, random_problem

SEEDS = st.integers(0, 10**6)


def columns(seed=0, n=30, m=8):
    """Return rule columns, a target and counts."""
    rng = np.random.default_rng(seed)
    M = (rng.random((n, m)) < 0.4) * rng.normal(size=m)
    return M, rng.normal(size=n), rng.integers(1, 20, m)


# --- the plain definitions ------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [1e-3, 0.05, 1.0, 100.0])
@pytest.mark.parametrize("support", [[0], [2, 5, 7], [0, 1, 2, 3, 4, 5, 6, 7]])
def test_loss_and_weights_are_those_of_ridge_regression(gamma, support):
    """H2 and its weights equal scikit-learn's ridge on the explicit columns."""
    M, y, counts = columns()
    problem = Problem.from_matrix(M, y, counts, gamma=gamma)
    ridge = Ridge(alpha=1 / gamma, fit_intercept=False, tol=1e-12).fit(M[:, support], y)
    residual = y - M[:, support] @ ridge.coef_
    expected = 0.5 * (residual @ residual + ridge.coef_ @ ridge.coef_ / gamma)
    np.testing.assert_allclose(problem.weights(support), ridge.coef_, rtol=1e-8, atol=1e-10)
    assert problem.loss(support) == pytest.approx(expected, rel=1e-10)


@given(SEEDS)
@settings(deadline=None, max_examples=50)
def test_relaxed_loss_has_the_form_of_the_paper(seed):
    """H2(z) = 1/2 y'(I + gamma sum_i z_i M_i M_i')^-1 y at any z, zeros among its entries."""
    M, y, counts = columns(seed, n=12, m=6)
    rng = np.random.default_rng(seed)
    z = rng.random(6) * (rng.random(6) < 0.7)
    gamma = float(10 ** rng.uniform(-2, 2))
    problem = Problem.from_matrix(M, y, counts, gamma=gamma)
    expected = 0.5 * y @ np.linalg.solve(np.eye(12) + gamma * (M * z) @ M.T, y)
    assert problem.relaxed_loss(z) == pytest.approx(expected, rel=1e-9)


@given(SEEDS)
@settings(deadline=None, max_examples=50)
def test_relaxed_loss_at_a_selection_is_its_loss(seed):
    """The relaxation agrees with H2 where z is 0 or 1."""
    problem = random_problem(seed, floor=0.0)
    support = np.flatnonzero(np.random.default_rng(seed).random(problem.m) < 0.5)
    z = np.zeros(problem.m)
    z[support] = 1
    assert problem.relaxed_loss(z) == pytest.approx(problem.loss(support), rel=1e-9, abs=1e-12)


def test_gradient_agrees_with_finite_differences():
    """dH2/dz equals central differences, and one-sided ones where z is 0."""
    M, y, counts = columns()
    problem = Problem.from_matrix(M, y, counts, gamma=0.3)
    z = np.array([0.2, 0.9, 0.5, 0.01, 0.0, 0.7, 0.0, 0.4])
    step = 1e-6
    numeric = np.empty(8)
    for i in range(8):
        up, down = z.copy(), z.copy()
        up[i] += step
        down[i] = max(0.0, z[i] - step)
        numeric[i] = (problem.relaxed_loss(up) - problem.relaxed_loss(down)) / (up[i] - down[i])
    np.testing.assert_allclose(problem.gradient(z), numeric, rtol=1e-4, atol=1e-7)


@given(SEEDS, st.floats(0, 1))
@settings(deadline=None, max_examples=100)
def test_relaxed_loss_is_convex_and_above_its_tangents(seed, share):
    """Chords lie above H2 and tangents below it, so a tangent anywhere is a valid cut."""
    problem = random_problem(seed, floor=0.0)
    rng = np.random.default_rng(seed + 1)
    a, b = rng.random((2, problem.m)) * (rng.random((2, problem.m)) < 0.8)
    at_a, at_b = problem.relaxed_loss(a), problem.relaxed_loss(b)
    slack = 1e-9 * (1 + problem.statistics.yy)
    middle = problem.relaxed_loss(np.clip(share * a + (1 - share) * b, 0, 1))
    assert middle <= share * at_a + (1 - share) * at_b + slack
    assert at_b >= at_a + problem.gradient(a) @ (b - a) - slack


@given(SEEDS)
@settings(deadline=None, max_examples=50)
def test_another_rule_never_raises_the_loss(seed):
    """H2 falls or stays with every rule that is added, so the best selections have full size."""
    problem = random_problem(seed, floor=0.0)
    order = np.random.default_rng(seed).permutation(problem.m)
    losses = [problem.loss(order[:size]) for size in range(problem.m + 1)]
    assert losses[0] == pytest.approx(problem.statistics.yy / 2)
    assert np.all(np.diff(losses) <= 1e-9 * (1 + losses[0]))


def test_stability_is_the_sum_of_the_counts():
    """H1 adds up the counts of a selection and is 0 for none."""
    M, y, _ = columns(m=4)
    problem = Problem.from_matrix(M, y, [5, 0, 7, 1])
    assert problem.stability([0, 2]) == 12
    assert problem.stability([]) == 0


@pytest.mark.parametrize("z", [np.zeros(3), np.full(8, 1.1), np.full(8, -0.1), np.full(8, np.nan)])
def test_points_outside_the_cube_are_refused(z):
    """A relaxed point of another length, or outside [0, 1], has no loss."""
    M, y, counts = columns()
    with pytest.raises(InvalidParameter, match="z must have 8 entries between 0 and 1"):
        Problem.from_matrix(M, y, counts).relaxed_loss(z)


# --- size, floor, feasibility ---------------------------------------------------------------------


@given(SEEDS, st.integers(1, 6))
@settings(deadline=None, max_examples=50)
def test_max_stability_is_that_of_the_best_selection(seed, max_rules):
    """The largest floor is the most counts that any allowed selection has."""
    problem = random_problem(seed, floor=0.0, max_rules=max_rules)
    rng = np.random.default_rng(seed)
    inside = rng.permutation(problem.m)[:max_rules][: rng.integers(0, 3)]
    outside = [i for i in range(problem.m) if i not in inside and rng.random() < 0.3]
    problem = replace(problem, fixed_in=inside, fixed_out=outside)
    counts = problem.statistics.counts
    others = sorted(counts[problem.free], reverse=True)[: max_rules - len(inside)]
    assert problem.max_stability_unlimited == counts[inside].sum() + sum(others)
    assert problem.stability(problem.most_stable) == problem.max_stability_unlimited
    assert problem.is_feasible(problem.most_stable)
    top = problem.at(problem.max_stability_unlimited)
    assert brute_force(top)[1] is not None
    with pytest.raises(InfeasibleProblem):
        problem.at(problem.max_stability_unlimited + 1)


def test_size_counts_the_rules_that_may_be_selected():
    """A best selection has max_rules rules, or all that are not fixed out."""
    M, y, counts = columns(m=5)
    assert Problem.from_matrix(M, y, counts, max_rules=3).size == 3
    assert Problem.from_matrix(M, y, counts, max_rules=9).size == 5
    assert Problem.from_matrix(M, y, counts, max_rules=9, fixed_out=[1, 2]).size == 3
    assert Problem.from_matrix(M, y, counts, max_rules=2, fixed_in=[1, 2]).size == 2


def test_free_rules_are_the_undecided_ones():
    """Fixings are sorted, repeats dropped, and the rest is free."""
    M, y, counts = columns(m=6)
    problem = Problem.from_matrix(M, y, counts, fixed_in=[4, 1, 4], fixed_out=np.array([0]))
    assert problem.fixed_in == (1, 4)
    assert problem.fixed_out == (0,)
    np.testing.assert_array_equal(problem.free, [2, 3, 5])


def test_another_floor_leaves_the_rest_alone():
    """`at` changes the floor only, and checks it."""
    M, y, _ = columns(m=4)
    problem = Problem.from_matrix(M, y, [5, 3, 7, 1], max_rules=2, fixed_out=[0])
    other = problem.at(8)
    assert (problem.min_stability, other.min_stability) == (0, 8)
    assert other.statistics is problem.statistics
    assert (other.max_rules, other.fixed_out, other.max_stability_unlimited) == (2, (0,), 10)
    with pytest.raises(InfeasibleProblem, match="more than 10 counts"):
        problem.at(11)
    with pytest.raises(InvalidParameter, match="at least 0"):
        problem.at(-1)


@pytest.mark.parametrize(
    ("asked", "floor"), [(4.2, 5), (0.1 * 3 * 10, 3), (0, 0), (np.int32(7), 7)]
)
def test_floors_are_rounded_up_to_whole_counts(asked, floor):
    """H1 is a whole number; a rounding error above one does not ask for the next."""
    M, y, _ = columns(m=2)
    assert Problem.from_matrix(M, y, [5, 3], min_stability=asked).min_stability == floor


@pytest.mark.parametrize(
    ("support", "feasible"),
    [
        ([1, 2], True),
        ([2, 1], True),
        ([1], False),  # below the floor
        ([1, 2, 3], False),  # too many
        ([1, 1], False),  # not a set
        ([2, 3], False),  # without the rule fixed in
        ([0, 1], False),  # with the rule fixed out
        ([1, 4], False),  # there is no rule 4
        ([1, -2], False),
        ([], False),
    ],
)
def test_feasible_selections_meet_every_condition(support, feasible):
    """Size, floor, fixings and positions are all looked at."""
    M, y, _ = columns(m=4)
    problem = Problem.from_matrix(
        M, y, [9, 5, 3, 8], max_rules=2, min_stability=8, fixed_in=[1], fixed_out=[0]
    )
    assert problem.is_feasible(support) is feasible


def test_linear_limits_are_part_of_feasibility():
    """`A z <= b` is kept up to rounding, and by the empty selection when b is not negative."""
    M, y, counts = columns(m=3)
    limits = LinearConstraints([[1, 1, 0], [0.1, 0.2, 0]], [1, 0.3])
    problem = Problem.from_matrix(M, y, counts, constraints=limits)
    assert problem.is_feasible([0, 2])
    assert problem.is_feasible([])
    assert not problem.is_feasible([0, 1])
    assert LinearConstraints([[0.1, 0.2]], [0.3]).holds(np.array([0, 1]))


# --- unusual but correct --------------------------------------------------------------------------


def unusual(kind):
    """Return rule columns and a target of an unusual kind."""
    M, y, _ = columns(m=4)
    if kind == "zero columns":
        M[:, 1:] = 0
    elif kind == "all zero":
        M[:] = 0
    elif kind == "duplicates":
        M[:, 1:] = M[:, :1]
    elif kind == "one row":
        M, y = M[:1], y[:1]
    elif kind == "constant target":
        y[:] = 0
    return M, y


KINDS = ["zero columns", "all zero", "duplicates", "one row", "constant target"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gamma", [1e-3, 1.0, 1e6])
def test_degenerate_data_give_finite_answers(kind, gamma):
    """Zero or repeated columns, one row and a constant target have a loss like any other."""
    M, y = unusual(kind)
    problem = Problem.from_matrix(M, y, [1, 2, 3, 4], gamma=gamma, max_rules=2)
    loss, support = brute_force(problem)
    assert 0 <= problem.loss(support) <= problem.statistics.yy / 2
    assert problem.loss(support) == pytest.approx(loss, abs=1e-8 * (1 + problem.statistics.yy))
    assert np.isfinite(problem.gradient(np.full(4, 0.5))).all()


def test_more_rules_allowed_than_there_are_is_no_error():
    """With max_rules above m, everything may be selected."""
    M, y, _ = columns(m=3)
    problem = Problem.from_matrix(M, y, [1, 2, 3], max_rules=15, min_stability=6)
    assert problem.is_feasible([0, 1, 2])
    assert problem.max_stability_unlimited == 6


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"max_rules": 0}, "max_rules is 0; pass an integer of at least 1"),
        ({"max_rules": 2.5}, "max_rules is 2.5; pass an integer"),
        ({"gamma": 0}, "gamma is 0; pass a finite number greater than 0"),
        ({"gamma": -1.0}, "gamma is -1.0; pass a finite number greater than 0"),
        ({"gamma": np.inf}, "gamma is inf; pass a finite number"),
        ({"gamma": np.nan}, "gamma is nan; pass a finite number"),
        ({"gamma": 1e30}, "gamma is 1e[+]30; with these rules, weights are lost in rounding above"),
        ({"min_stability": -3}, "min_stability is -3; pass a finite number of at least 0"),
        ({"min_stability": np.nan}, "min_stability is nan; pass a finite number"),
        ({"fixed_in": [8]}, "fixed_in is 8; pass an integer between 0 and 7"),
        ({"fixed_out": [-1]}, "fixed_out is -1; pass an integer between 0 and 7"),
        ({"fixed_in": [True]}, "fixed_in is True; pass an integer"),
        ({"fixed_in": [1, 2], "fixed_out": [2]}, r"Rules \[2\] are both fixed in and fixed out"),
    ],
)
def test_bad_settings_are_named(setting, message):
    """Each wrong setting is refused with its name, its value and what to pass."""
    M, y, counts = columns()
    with pytest.raises(InvalidParameter, match=message):
        Problem.from_matrix(M, y, counts, **setting)


def test_too_high_a_floor_names_the_highest():
    """The error of an infeasible floor says what is feasible."""
    M, y, _ = columns(m=4)
    with pytest.raises(
        InfeasibleProblem, match=r"no 2 rules .* more than 15 counts .* at most that"
    ):
        Problem.from_matrix(M, y, [9, 6, 3, 1], max_rules=2, min_stability=16)
    with pytest.raises(InfeasibleProblem, match="more than 9 counts"):
        Problem.from_matrix(M, y, [9, 6, 3, 1], max_rules=2, min_stability=16, fixed_out=[0])


def test_more_rules_fixed_in_than_allowed_are_refused():
    """Fixings that exceed max_rules make the problem infeasible."""
    M, y, counts = columns()
    with pytest.raises(InfeasibleProblem, match="3 rules are fixed in and max_rules is 2"):
        Problem.from_matrix(M, y, counts, max_rules=2, fixed_in=[0, 1, 2])


def test_no_rules_at_all_are_refused():
    """A problem needs a candidate."""
    with pytest.raises(InvalidParameter, match="There are no candidate rules"):
        Problem.from_matrix(np.empty((5, 0)), np.ones(5), [])


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([3, -2, 1, 1], "Rule 1 has a count of -2"),
        ([0.5, 0.2, 0.1, 0.1], "not whole numbers"),
        ([1, 2, np.nan, 3], "not whole numbers"),
        ([1, 2, 3], r"counts \(3,\)"),
    ],
)
def test_bad_counts_are_refused(counts, message):
    """Counts are whole numbers, not negative, one per rule; shares of trees are not counts."""
    M, y, _ = columns(m=4)
    with pytest.raises(InvalidParameter, match=message):
        Problem.from_matrix(M, y, counts)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_columns_and_targets_that_are_not_finite_are_refused(value):
    """NaN and infinity in the data are named, not passed on."""
    M, y, counts = columns()
    M[3, 2] = value
    with pytest.raises(InvalidParameter, match="not finite"):
        Problem.from_matrix(M, y, counts)
    y[0] = value
    with pytest.raises(InvalidParameter, match="not finite"):
        Problem.from_matrix(np.ones((30, 8)), y, counts)


def gram_with(position, value, *, both=True):
    """Return a small Gram matrix with one entry changed."""
    G = np.array([[4.0, 1.0, 0.0], [1.0, 9.0, 2.0], [0.0, 2.0, 1.0]])
    G[position] = value
    if both:
        G[position[::-1]] = value
    return G


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"G": gram_with((0, 1), np.nan)}, "not finite"),
        ({"q": np.array([1.0, np.inf, 0.0])}, "not finite"),
        ({"yy": np.nan}, "not finite"),
        ({"G": gram_with((0, 1), 1.1, both=False)}, "G must be symmetric"),
        ({"G": gram_with((2, 2), -1.0)}, "not those of any columns"),
        ({"G": gram_with((0, 1), 6.1)}, r"\|G_ij\| at most"),
        ({"q": np.array([7.0, 1.0, 0.0])}, r"\|q_i\| at most"),
        ({"yy": -1.0}, "not those of any columns"),
        ({"G": np.eye(2)}, r"G has shape \(2, 2\)"),
        ({"counts": np.array([1, 2])}, r"counts \(2,\)"),
        ({"counts": np.array([1.0, 2.0, 3.0])}, "counts has dtype float64"),
    ],
)
def test_statistics_that_belong_to_no_columns_are_refused(parts, message):
    """Gram statistics of other sources are checked for what can be checked in O(m^2)."""
    fine = Statistics(
        G=gram_with((0, 0), 4.0),
        q=np.array([1.0, 2.0, 0.5]),
        yy=10.0,
        n=20.0,
        values=np.ones(3),
        counts=np.array([1, 2, 3]),
        support=np.ones(3),
    )
    assert Problem(fine).m == 3
    with pytest.raises(InvalidParameter, match=message):
        Problem(replace(fine, **parts))


@pytest.mark.parametrize(
    ("A", "b", "message"),
    [
        (np.ones(3), np.ones(1), r"A has shape \(3,\) and b \(1,\)"),
        (np.ones((2, 3)), np.ones(3), r"A has shape \(2, 3\) and b \(3,\)"),
        (np.ones((1, 3)), [np.inf], "not finite"),
        ([[1, np.nan, 0]], [1], "not finite"),
    ],
)
def test_limits_of_the_wrong_shape_are_refused(A, b, message):
    """`A z <= b` needs one finite row for each entry of b."""
    with pytest.raises(InvalidParameter, match=message):
        LinearConstraints(A, b)


def test_limits_need_one_column_per_rule():
    """The columns of A are the rules of the problem."""
    M, y, counts = columns(m=4)
    with pytest.raises(InvalidParameter, match="3 columns and there are 4 rules"):
        Problem.from_matrix(M, y, counts, constraints=LinearConstraints(np.ones((1, 3)), [1]))


def test_text_says_what_the_problem_is():
    """The repr has the sizes, the floor beside its largest value, and what is fixed."""
    M, y, _ = columns(m=4)
    problem = Problem.from_matrix(M, y, [9, 6, 3, 1], max_rules=2, min_stability=7)
    assert repr(problem) == "Problem(m=4, max_rules=2, gamma=0.01, min_stability=7 of 15)"
    limits = LinearConstraints(np.ones((2, 4)), [2, 3])
    problem = replace(problem, fixed_in=[1], fixed_out=[2, 3], constraints=limits)
    assert repr(problem) == (
        "Problem(m=4, max_rules=2, gamma=0.01, min_stability=7 of 15, 1 fixed in, "
        "2 fixed out, LinearConstraints(2 limits))"
    )
