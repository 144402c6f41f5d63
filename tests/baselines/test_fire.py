import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso
from sklearn.utils.estimator_checks import parametrize_with_checks

from mossrules import FittedEnsemble, find_candidates
from mossrules.baselines import FireRegressor
from mossrules.baselines.blocks import BlockDescent, Blocks, Penalty, leaf_blocks, left_to_right
from mossrules.baselines.designs import Design
from mossrules.baselines.fire import FirePath
from mossrules.baselines.kernels import block_step, fuse, threshold
from mossrules.baselines.paths import PathPoint, follow_path
from mossrules.candidates.forest import grow_forest
from mossrules.candidates.rules import CandidatePool, Range, Rule
from mossrules.estimators import candidates_for, search_parameters
from mossrules.exceptions import InvalidParameter, SolveLimitWarning
from mossrules.learning.stability_levels import count_untied
from support.oracles import encode, generalised_lasso_bound, holds

CONVEX = 1e12  # the gamma at which the concave penalty is the lasso's, to all digits
EXACT = 1e-22  # tolerance of a descent that a proof of first order starts from
# Where a column is there twice, the least concavity or fusion moves its weight to one of the two,
# but slowly: some of it, or none.
concavities = st.just(0.0) | st.floats(0.05, 0.95)
fusions = st.just(0.0) | st.floats(0.1, 3)
strengths = st.floats(0.05, 0.9)


@pytest.fixture(scope="module")
def diabetes():
    """Return a table in the users' units and its target."""
    return load_diabetes(return_X_y=True, as_frame=True, scaled=False)


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


def objective(descent, penalty, w):
    """Return what a descent lowers."""
    blocks, price, size = descent.blocks, penalty.price, np.abs(w)
    loss = 0.5 * descent.design.residual(blocks.per_rule(w, descent.design.m))
    bend = penalty.concavity * np.repeat(descent.curvatures, np.diff(blocks.offsets))
    # Beyond price / bend the penalty stays what it is there.
    size = np.divide(price, bend, out=size, where=bend * size > price)
    inside = np.ones(max(len(w) - 1, 0), dtype=bool)
    inside[blocks.offsets[1:-1] - 1] = False
    steps = np.abs(np.diff(w))[inside].sum()
    return loss + price @ size - 0.5 * bend @ size**2 + penalty.fusion * steps


def lowest(descent, penalty, w):
    """Return what the convex objective is nowhere below, proven with the help of weights w."""
    rules, offsets = descent.blocks.rules, descent.blocks.offsets
    G, q = descent.design.C[np.ix_(rules, rules)], descent.design.c[rules]
    F = [np.diag(penalty.price)]
    for first, stop in itertools.pairwise(offsets):
        steps = np.zeros((stop - first - 1, len(rules)))
        steps[:, first:stop] = np.diff(np.eye(stop - first), axis=0)
        F.append(penalty.fusion * steps)
    # Weights that cost more than none at all need not be looked at.
    reach = 0.5 * descent.design.yy / penalty.price.min()
    bound = generalised_lasso_bound(G, q, np.concatenate(F), w, reach)
    return 0.5 * descent.design.yy + bound


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
    before = objective(descent, penalty, w)
    for b, (first, stop) in enumerate(itertools.pairwise(blocks.offsets)):
        step = np.empty(stop - first)
        moved = block_step(first, stop, descent.curvatures[b], blocks.rules, *penalty, w, r, step)
        after = w.copy()
        after[first:stop] += step
        fall = before - objective(descent, penalty, after)
        assert fall >= 0.5 * (1 - concavity) * moved - 1e-9 * (1 + abs(before))


# --- the descent ----------------------------------------------------------------------------------


@given(problems(), concavities, fusions, strengths)
@settings(max_examples=50, deadline=None)
def test_the_objective_never_rises(problem, concavity, share, strength):
    """Sweep by sweep the objective falls or stays, and the end is where no block would move."""
    descent, _ = problem
    price = strength * np.abs(descent.design.c).max()
    penalty = Penalty(np.full(len(descent.blocks.rules), price), concavity, share * price)
    values = [objective(descent, penalty, np.zeros(len(descent.blocks.rules)))]
    for sweeps in range(1, 30):
        found = descent.minimise(penalty, max_sweeps=sweeps, tolerance=1e-14)
        values.append(objective(descent, penalty, found.w))
    assert (np.diff(values) <= 1e-9 * values[0]).all()
    end = descent.minimise(penalty, max_sweeps=200_000)
    assert end.converged
    assert objective(descent, penalty, end.w) <= values[-1] + 1e-9 * values[0]
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
    expected = objective(descent, penalty, lasso.fit(Z[:, descent.blocks.rules], y).coef_)
    assert objective(descent, penalty, found.w) == pytest.approx(expected, rel=1e-6)


@given(problems(), strengths, fusions)
@settings(max_examples=50, deadline=None)
def test_without_concavity_it_is_the_fused_lasso(problem, strength, share):
    """With fusion no weights at all have a lower objective, as linear programming proves."""
    descent, _ = problem
    price = strength * np.abs(descent.design.c).max()
    penalty = Penalty(np.full(len(descent.blocks.rules), price), 0.0, share * price)
    found = descent.minimise(penalty, tolerance=EXACT, max_sweeps=200_000)
    assert found.converged
    assert objective(descent, penalty, found.w) == pytest.approx(
        lowest(descent, penalty, found.w), rel=1e-6
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


# --- the path -------------------------------------------------------------------------------------


def sizes_at(sizes):
    """Return a solver whose solution at strength s has sizes(s) rules, and the calls it gets."""
    calls = []

    def solve(strength, start):
        calls.append(strength)
        return PathPoint(strength, np.array([strength, start[0]]), sizes(strength))

    return solve, calls


def test_a_path_ends_at_the_first_point_with_too_many_rules():
    """The last point with few enough is taken, each found from the one before."""
    solve, calls = sizes_at(lambda strength: int(10 / strength))
    start = PathPoint(10.0, np.zeros(1), 0)
    point = follow_path(solve, start, [5.0, 2.0, 1.0, 0.5], 6)
    assert (point.strength, point.n_rules, point.w.tolist()) == (2.0, 5, [2.0, 5.0])
    assert calls == [5.0, 2.0, 1.0]
    halved = follow_path(solve, start, [5.0, 2.0, 1.0, 0.5], 6, halvings=20)
    assert halved.n_rules == 6
    assert follow_path(solve, start, [5.0, 2.0], 100).n_rules == 5
    even, _ = sizes_at(lambda _strength: 3)  # with as many rules, the less penalised one
    assert follow_path(even, start, [5.0, 2.0], 100).strength == 2.0


@given(st.lists(st.integers(0, 20), min_size=1, max_size=30), st.integers(1, 10))
def test_a_path_never_takes_too_many_rules(sizes, most):
    """Whatever sizes come, in whatever order, the point has at most as many as allowed."""
    strengths = np.geomspace(1, 0.1, len(sizes) + 1)
    known = dict(zip(strengths[1:].tolist(), sizes, strict=True))
    solve, _ = sizes_at(lambda strength: known.get(strength, most))
    point = follow_path(
        solve, PathPoint(1.0, np.zeros(1), 0), strengths[1:].tolist(), most, halvings=3
    )
    assert point.n_rules <= most
    allowed = list(itertools.takewhile(lambda size: size <= most, sizes))
    assert point.n_rules >= max(allowed, default=0)


# --- the learner ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def forest(diabetes):
    """Return a small forest's candidates, the rows of each rule, and the scaled target."""
    X, y = diabetes
    candidates = candidates_for(X, y, n_trees=25, random_state=3)
    columns = {name: X[name].to_numpy() for name in X}
    R = [holds(rule, candidates.binning, columns) for rule in candidates.pool.rules]
    return candidates, np.column_stack(R).astype(float), ((y - y.mean()) / y.std(ddof=0)).to_numpy()


@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
def test_leaves_at_the_convex_end_are_the_lasso_of_their_columns(forest, share):
    """On the leaves of a forest the objective is scikit-learn's, intercept and all."""
    candidates, R, z = forest
    path = FirePath.of_leaves(candidates, gamma=CONVEX, fusion=0.0)
    price = share * path.prices[0]
    X = (R * path.factors)[:, path.descent.blocks.rules]
    lasso = Lasso(price / len(z), tol=1e-12, max_iter=200_000).fit(X, z)
    expected = 0.5 * np.sum((z - lasso.predict(X)) ** 2) + price * np.abs(lasso.coef_).sum()
    w = path.solve(price, np.zeros(X.shape[1])).w
    assert objective(path.descent, path.penalty(price), w) == pytest.approx(expected, rel=1e-6)
    # The same from the rows, with the weights of columns of 0 and 1 and the intercept.
    fit = path.intercept(w) + R @ path.weights(w)
    found = 0.5 * np.sum((z - fit) ** 2) + price * np.abs(w).sum()
    assert found == pytest.approx(expected, rel=1e-6)


def test_leaves_at_the_convex_end_are_the_fused_lasso(forest):
    """With fusion, too, on the leaves of a forest."""
    path = FirePath.of_leaves(forest[0], gamma=CONVEX, fusion=0.3)
    price = 0.1 * path.prices[0]
    penalty = path.penalty(price)
    w = path.descent.minimise(penalty, tolerance=EXACT).w
    assert np.count_nonzero(w) > 10
    assert objective(path.descent, penalty, w) == pytest.approx(
        lowest(path.descent, penalty, w), rel=1e-6
    )


def test_prices_of_both_variants_are_as_described(forest):
    """One path with fusion in proportion, and one that is the same for all data."""
    path = FirePath.of_leaves(forest[0], gamma=1.25, fusion=0.3)
    penalty = path.penalty(2.0)
    assert (set(penalty.price), penalty.concavity, penalty.fusion) == ({2.0}, 0.8, 0.6)
    assert path.prices[0] == np.abs(path.descent.design.c).max()
    assert path.solve(path.prices[0], np.zeros(len(path.descent.blocks.rules))).n_rules == 0
    paper = FirePath.of_rules(forest[0].statistics, gamma=1.1)
    np.testing.assert_allclose(paper.prices / 442, 10 ** np.linspace(0, -3, 100))
    assert paper.penalty(2.0).fusion == paper.halvings == 0
    np.testing.assert_allclose(np.diagonal(paper.descent.design.C), 442)


def test_strong_fusion_makes_neighbours_alike(forest):
    """Where differing is dear, all leaves of a tree have the same weight."""
    path = FirePath.of_leaves(forest[0], gamma=1.1, fusion=100.0)
    w = path.solve(0.01 * path.prices[0], np.zeros(len(path.descent.blocks.rules))).w
    assert np.count_nonzero(w) > 0
    for first, stop in itertools.pairwise(path.descent.blocks.offsets):
        assert np.ptp(w[first:stop]) <= 1e-9


@pytest.mark.parametrize("variant", ["published", "paper"])
def test_the_model_is_the_point_of_the_path(diabetes, variant):
    """Rules and predictions are those of the path, in the units of the target."""
    X, y = diabetes
    model = FireRegressor(6, variant=variant, n_trees=60, random_state=1).fit(X, y)
    candidates = model.candidates_
    path = (
        FirePath.of_leaves(candidates, gamma=1.1, fusion=0.1)
        if variant == "published"
        else FirePath.of_rules(candidates.statistics, gamma=1.1)
    )
    most = 6 if variant == "published" else count_untied(candidates.statistics.counts, 6)
    point = path.follow(most)
    weights = path.weights(point.w)
    assert model.price_ == point.strength
    assert 1 <= len(model.rules_) <= most
    assert set(model.rules_) == {candidates.pool.rules[i] for i in np.flatnonzero(weights)}
    columns = {name: X[name].to_numpy() for name in X}
    R = np.column_stack([holds(rule, candidates.binning, columns) for rule in model.pool_.rules])
    expected = y.mean() + y.std(ddof=0) * (path.intercept(point.w) + R @ weights)
    np.testing.assert_allclose(model.predict(X), expected)
    # Residuals of a free intercept have mean zero.
    assert np.mean(y - model.predict(X)) == pytest.approx(0, abs=1e-9)


@given(st.integers(0, 1000), st.integers(1, 8), st.floats(1.01, 20), st.floats(0, 2))
@settings(max_examples=15, deadline=None)
def test_there_are_never_more_rules_than_allowed(seed, max_rules, gamma, fusion):
    """Whatever the data and the penalty, in both variants and from both sources."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(40, 3)).astype(float)
    y = X[:, 0] * X[:, 1] + rng.normal(size=40)
    for source, variant in itertools.product(("pool", "own"), ("published", "paper")):
        model = FireRegressor(
            max_rules, source=source, variant=variant, gamma=gamma, fusion=fusion, n_trees=20
        ).fit(X, y)
        assert len(model.rules_) <= max_rules
        assert (model.rules_.weights != 0).all()


def test_more_rules_fit_better(diabetes):
    """The path goes on where more rules are allowed."""
    X, y = diabetes
    candidates = candidates_for(X, y, n_trees=100)
    for variant in ("published", "paper"):
        scores = [
            FireRegressor(k, variant=variant).fit_candidates(candidates).score(X, y)
            for k in (1, 5, 15)
        ]
        assert scores == sorted(scores)
        assert scores[-1] > 0.5


def test_own_candidates_are_leaves_of_finer_bins(diabetes):
    """The authors' forest does not bin: its rules have cuts between the pool's."""
    X, y = diabetes
    model = FireRegressor(source="own", n_trees=40, random_state=0).fit(X, y)
    assert max(len(column.cuts) for column in model.candidates_.binning.columns) > 50
    assert len(model.pool_) > 120
    again = clone(model).fit(X, y)
    assert again.rules_.to_json() == model.rules_.to_json()


@pytest.mark.parametrize("variant", ["published", "paper"])
def test_the_unit_of_the_target_does_not_matter(diabetes, variant):
    """Rules stay the same, and weights follow."""
    X, y = diabetes
    model = FireRegressor(variant=variant, n_trees=60).fit(X, y)
    for factor, offset in ((1000.0, 7.0), (0.3, 1e6)):
        other = clone(model).fit(X, factor * y + offset)
        assert other.rules_ == model.rules_
        np.testing.assert_allclose(other.predict(X), factor * model.predict(X) + offset, rtol=1e-5)


def test_a_fit_is_a_search_and_a_choice(diabetes):
    """Candidates found before give the same bits, and so do rows in another order."""
    X, y = diabetes
    model = FireRegressor(n_trees=60, random_state=7).fit(X, y)
    candidates = candidates_for(X, y, **search_parameters(model))
    again = clone(model).fit_candidates(candidates, target="target")
    assert again.rules_.to_json() == model.rules_.to_json()
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = clone(model).fit(X.iloc[order], y.iloc[order])
    assert shuffled.rules_.to_json() == model.rules_.to_json()


def test_missing_values_categories_and_weights_are_used():
    """A table of all kinds is learned from, and integer weights are repeated rows."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "x": np.where(rng.random(200) < 0.2, np.nan, rng.normal(size=200)),
            "kind": rng.choice(["a", "b", "c"], 200),
            "flag": rng.random(200) < 0.5,
        }
    )
    y = 3.0 * X["x"].isna() + 2.0 * (X["kind"] == "b") + X["flag"] + rng.normal(size=200) / 10
    weights = rng.integers(1, 4, 200)
    repeated = np.repeat(np.arange(200), weights)
    for source, variant in itertools.product(("pool", "own"), ("published", "paper")):
        model = FireRegressor(10, source=source, variant=variant, n_trees=50)
        assert model.fit(X, y).score(X, y) > 0.9
        assert set(model.rules_.features) == {"x", "kind", "flag"}
        weighted = clone(model).fit(X, y, sample_weight=weights)
        assert weighted.rules_ == clone(model).fit(X.iloc[repeated], y.iloc[repeated]).rules_
        assert clone(model).fit(X, y, sample_weight=rng.random(200)).score(X, y) > 0.9


def test_a_fitted_ensemble_can_be_the_source_of_rules(diabetes):
    """The leaves of a scikit-learn forest are learned from like those of our own."""
    X, y = diabetes
    ensemble = RandomForestRegressor(20, max_depth=2, random_state=0).fit(X, y)
    model = FireRegressor(8, generator=FittedEnsemble(ensemble)).fit(X, y)
    assert model.pool_.n_trees == 20
    assert model.score(X, y) > 0.45


def test_without_candidates_the_mean_is_predicted():
    """A constant target leaves no rules, and no price."""
    for source in ("pool", "own"):
        model = FireRegressor(source=source, n_trees=5).fit([[0.0], [1.0], [2.0]], [4.0, 4.0, 4.0])
        assert (len(model.rules_), model.predict([[7.0]]).tolist()) == (0, [4.0])
        assert np.isnan(model.price_)


def test_a_target_that_no_rule_explains_leaves_the_mean():
    """Where all rules have the mean of the target, none of them gets a weight."""
    X, y = [[0.0], [0.0], [1.0], [1.0]], [0.0, 1.0, 0.0, 1.0]
    for variant in ("published", "paper"):
        model = FireRegressor(variant=variant, n_trees=20).fit(X, y)
        assert (len(model.rules_), model.predict(X).tolist()) == (0, [0.5] * 4)


def test_an_unfinished_descent_is_warned_about(diabetes, monkeypatch):
    """A point that is not known to be stationary is used with a warning."""
    X, y = diabetes

    def follow(path, _max_rules):
        return PathPoint(1.0, np.zeros(len(path.descent.blocks.rules)), 0, converged=False)

    monkeypatch.setattr(FirePath, "follow", follow)
    with pytest.warns(SolveLimitWarning, match="before its weights were stationary") as caught:
        FireRegressor(n_trees=10).fit(X, y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": 1.0}, "gamma is 1.0; pass a finite number greater than 1"),
        ({"fusion": -0.1}, "fusion is -0.1; pass a finite number of at least 0"),
        ({"max_rules": 0}, "max_rules is 0"),
    ],
)
def test_parameters_are_checked(parameters, message):
    """What cannot be is refused before any work, by name."""
    with pytest.raises(InvalidParameter, match=message):
        FireRegressor(**parameters).fit(None, None)


@parametrize_with_checks(
    [
        FireRegressor(n_trees=30),
        FireRegressor(5, source="own", gamma=3.0, fusion=0.0, n_trees=20),
        FireRegressor(variant="paper", n_trees=30),
    ]
)
def test_scikit_learn_is_content(estimator, check):
    """All of scikit-learn's checks pass, with none that is expected to fail."""
    check(estimator)
