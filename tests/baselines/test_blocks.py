import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso

from mossrules import find_candidates
from mossrules.baselines.blocks import BlockDescent, Blocks, Penalty, leaf_blocks, left_to_right
from mossrules.baselines.designs import Design
from mossrules.baselines.kernels import block_step, fuse, threshold
from mossrules.candidates.forest import grow_forest
from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.rules import Range, Rule
from support.baseline_cases import block_bound, block_objective
from support.oracles import encode

EXACT = 1e-22  # tolerance of a descent that a proof of first order starts from

# Where a column is there twice, the least concavity or fusion moves its weight to one of the two,
# but slowly: some of it, or none.
concavities = st.just(0.0) | st.floats(0.05, 0.95)
fusions = st.just(0.0) | st.floats(0.1, 3)
strengths = st.floats(0.05, 0.9)


def random_design(rng, n, m):
    """Return columns and a target, centred, and the sums over their rows."""
    Z = rng.normal(size=(n, m)) * rng.uniform(0.1, 3, m)
    y = Z @ rng.normal(size=m) + rng.normal(size=n)
    Z, y = Z - Z.mean(axis=0), y - y.mean()
    return Design(Z.T @ Z, Z.T @ y, float(y @ y), float(n), np.zeros(m)), Z, y


@st.composite
def problems(draw):
    """Return a descent of random columns in random blocks, some of them the same rule."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m, n_blocks = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    sizes = rng.integers(1, min(m, 4) + 1, n_blocks)
    rules = np.concatenate([rng.permutation(m)[:size] for size in sizes])
    design, _, _ = random_design(rng, draw(st.integers(8, 30)), m)
    return BlockDescent(design, Blocks(rules, np.cumsum([0, *sizes]))), rng


# --- the pieces of a step -------------------------------------------------------------------------


@given(
    st.lists(st.integers(-20, 20) | st.floats(-100, 100), min_size=1, max_size=12),
    st.floats(0.001, 50),
)
@settings(deadline=None)
def test_fusing_meets_the_conditions_of_its_optimum(values, strength):
    """What is taken off the values so far is within the strength, and all of it at every step."""
    values = np.array(values, dtype=np.float64)
    fused = np.empty_like(values)
    fuse(values, strength, fused)
    taken = np.cumsum(values - fused)
    tolerance = 1e-9 * (1 + np.abs(values).sum() + strength)
    assert abs(taken[-1]) <= tolerance
    assert (np.abs(taken) <= strength + tolerance).all()
    steps = np.diff(fused)
    clear = np.abs(steps) > tolerance
    np.testing.assert_allclose(taken[:-1][clear], -strength * np.sign(steps[clear]), atol=tolerance)


@given(st.floats(-5, 5), st.floats(0, 3), st.floats(0, 0.95))
@settings(deadline=None)
def test_thresholding_is_the_best_there_is(value, price, concavity):
    """No weight on a fine grid has a lower squared distance plus concave penalty."""

    def cost(w):
        size = np.minimum(np.abs(w), price / concavity if concavity > 0 else np.inf)
        return 0.5 * (w - value) ** 2 + price * size - 0.5 * concavity * size**2

    grid = np.linspace(-6, 6, 4001)
    found = threshold(value, price, concavity)
    assert cost(found) <= cost(grid).min() + 1e-12


@given(problems(), concavities, fusions)
@settings(deadline=None)
def test_a_step_lowers_the_objective_by_what_it_says(problem, concavity, share):
    """From anywhere, a block's step brings at least its own measure of the fall."""
    descent, rng = problem
    blocks, design = descent.blocks, descent.design
    price = 0.3 * np.abs(design.c).max()
    penalty = Penalty(np.full(len(blocks.rules), price), concavity, share * price)
    w = rng.normal(size=len(blocks.rules)) * (rng.random(len(blocks.rules)) < 0.5)
    r = design.c - design.C @ blocks.per_rule(w, design.m)
    before = block_objective(descent, penalty, w)
    for b, (first, stop) in enumerate(itertools.pairwise(blocks.offsets)):
        step = np.empty(stop - first)
        moved = block_step(first, stop, descent.curvatures[b], blocks.rules, *penalty, w, r, step)
        after = w.copy()
        after[first:stop] += step
        fall = before - block_objective(descent, penalty, after)
        assert fall >= 0.5 * (1 - concavity) * moved - 1e-9 * (1 + abs(before))


# --- the descent ----------------------------------------------------------------------------------


@given(problems(), concavities, fusions, strengths)
@settings(max_examples=50, deadline=None)
def test_the_objective_never_rises(problem, concavity, share, strength):
    """Sweep by sweep the objective falls or stays, and the end is where no block would move."""
    descent, _ = problem
    price = strength * np.abs(descent.design.c).max()
    penalty = Penalty(np.full(len(descent.blocks.rules), price), concavity, share * price)
    values = [block_objective(descent, penalty, np.zeros(len(descent.blocks.rules)))]
    for sweeps in range(1, 30):
        found = descent.minimise(penalty, max_sweeps=sweeps, tolerance=1e-14)
        values.append(block_objective(descent, penalty, found.w))
    assert (np.diff(values) <= 1e-9 * values[0]).all()
    end = descent.minimise(penalty, max_sweeps=200_000)
    assert end.converged
    assert block_objective(descent, penalty, end.w) <= values[-1] + 1e-9 * values[0]
    again = descent.minimise(penalty, end.w)
    assert again.sweeps == 1
    np.testing.assert_allclose(again.w, end.w, atol=1e-5)


@given(problems(), strengths)
@settings(max_examples=50, deadline=None)
def test_without_concavity_it_is_the_lasso_of_scikit_learn(problem, strength):
    """At the convex end and without fusion the objective is that of an independent solver."""
    descent, rng = problem
    design, Z, y = random_design(rng, 30, descent.design.m)
    descent = BlockDescent(design, descent.blocks)
    price = strength * np.abs(design.c).max()
    penalty = Penalty(np.full(len(descent.blocks.rules), price))
    found = descent.minimise(penalty)
    lasso = Lasso(price / len(y), fit_intercept=False, tol=1e-12, max_iter=100_000)
    expected = block_objective(descent, penalty, lasso.fit(Z[:, descent.blocks.rules], y).coef_)
    assert block_objective(descent, penalty, found.w) == pytest.approx(expected, rel=1e-6)


@given(problems(), strengths, fusions)
@settings(max_examples=50, deadline=None)
def test_without_concavity_it_is_the_fused_lasso(problem, strength, share):
    """With fusion no weights at all have a lower objective, as linear programming proves."""
    descent, _ = problem
    price = strength * np.abs(descent.design.c).max()
    penalty = Penalty(np.full(len(descent.blocks.rules), price), 0.0, share * price)
    found = descent.minimise(penalty, tolerance=EXACT, max_sweeps=200_000)
    assert found.converged
    assert block_objective(descent, penalty, found.w) == pytest.approx(
        block_bound(descent, penalty, found.w), rel=1e-6
    )


def test_a_descent_that_is_cut_short_says_so():
    """Too few sweeps are no stationary point, and the result tells."""
    descent = BlockDescent(random_design(np.random.default_rng(0), 50, 8)[0], Blocks.single(8))
    penalty = Penalty(np.full(8, 0.1))
    short = descent.minimise(penalty, max_sweeps=2)
    assert (short.sweeps, short.converged) == (2, False)
    assert descent.minimise(penalty).converged


# --- leaves ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_depth", [1, 2])
def test_leaves_are_in_the_order_of_their_tree(max_depth):
    """The order found in the rules is that of the forest's own paths, from left to right."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    data = encode(X, np.nansum(X, axis=1) + rng.normal(size=300))
    forest = grow_forest(data, n_trees=60, max_depth=max_depth, max_features=1 / 4, seed=1)
    paths = list(forest.paths())
    pool = CandidatePool.from_paths(paths, data.binning, 60)
    blocks = leaf_blocks(pool, data.binning)
    assert len(blocks) == 60
    compared = 0
    for tree, (first, stop) in enumerate(itertools.pairwise(blocks.offsets)):
        found = [pool.rules[i] for i in blocks.rules[first:stop]]
        own = [path for number, path in paths if number == tree]
        expected = [CandidatePool.from_paths([(0, path)], data.binning, 1).rules[0] for path in own]
        assert len(set(found)) == len(found)
        assert set(found) == set(expected)
        # A chessboard, with one split under both sides of the other, may be read either way.
        if len({path[1][:4] for path in own if len(path) > 1}) != 1:
            assert found == expected
            compared += 1
    assert compared > 50


def test_leaves_of_a_capped_pool_keep_their_order():
    """Neighbours are what is left of the tree, and a rule of nothing else stays where it is."""
    data = encode(np.arange(80.0).reshape(20, 4) % 7, np.arange(20.0))
    a, b, c = (
        Rule.of([Range("x0", high=2), Range("x1", low=3)]),
        Rule.of([Range("x0", low=3, high=4)]),
        Rule.of([Range("x0", low=5), Range("x2", high=2)]),
    )
    assert left_to_right([c, a, b], data.binning) == [1, 2, 0]
    assert left_to_right([c, a], data.binning) == [1, 0]
    apart = [Rule.of([Range("x3", high=2)]), a]
    assert left_to_right(apart, data.binning) == [0, 1]


def test_categories_have_an_order_of_leaves_too():
    """Leaves of one side of a split are never parted by leaves of the other."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"kind": rng.choice(["a", "b", "c", "d"], 200), "x": rng.normal(size=200)})
    y = (X["kind"] == "b") + X["x"] * (X["kind"] == "c") + rng.normal(size=200) / 10
    candidates = find_candidates(X, y, n_trees=30, max_features=1.0)
    blocks = leaf_blocks(candidates.pool, candidates.binning)
    texts = candidates.texts
    for first, stop in itertools.pairwise(blocks.offsets):
        leaves = [texts[i] for i in blocks.rules[first:stop]]
        sides = [side for side, _ in itertools.groupby("not" in leaf for leaf in leaves)]
        assert len(sides) <= 3, leaves
