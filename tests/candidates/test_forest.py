import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from mossrules.candidates import forest as forest_module
from mossrules.candidates.ensembles import FittedEnsemble
from mossrules.candidates.forest import count_features, grow_forest
from mossrules.candidates.kernels.draws import draw_features
from mossrules.candidates.pool import CandidatePool
from mossrules.exceptions import InvalidParameter
from support.oracles import bootstrap_weights, encode, openml


def continuous(n_rows=400, n_columns=5, seed=0):
    """Make a regression table with two informative columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = X[:, 0] + 2.0 * (X[:, 1] > 0.3) * (X[:, 2] < 0.5) + rng.normal(size=n_rows)
    return X, y


def all_codes(data):
    """Return the codes of all rows, in order."""
    return np.concatenate([chunk.codes for chunk in data.chunks], axis=1)


def targets(data):
    """Return the integer targets of all rows, in order."""
    return np.concatenate([chunk.target for chunk in data.chunks])


def same_forest(a, b):
    """Tell whether two forests have the same splits, bit for bit."""
    return all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for name in ("feature", "low", "width", "has_missing")
    )


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 6])
def test_each_tree_is_the_tree_that_scikit_learn_grows_on_the_same_bootstrap(depth):
    """With all columns at every split, splits equal those of DecisionTreeRegressor."""
    # Enough rows that no two splits of a node tie: scikit-learn breaks ties at random.
    X, y = continuous(200 * 4**depth if depth < 5 else 30_000)
    data = encode(X, y)
    codes, target = all_codes(data), targets(data)
    forest = grow_forest(data, n_trees=6, max_depth=depth, max_features=1.0, seed=11)
    for tree in (0, 5):
        reference = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(
            codes.T, target, sample_weight=bootstrap_weights(11, tree, len(target))
        )
        check_against_sklearn(forest, tree, reference.tree_)


def test_of_two_classes_the_trees_are_those_of_ginis_index():
    """For a target of 0 and 1, splits equal those of DecisionTreeClassifier by Gini's index."""
    X, y = continuous(3000, seed=2)
    data = encode(X, (y > 0.8).astype(float))
    codes, target = all_codes(data), targets(data)
    forest = grow_forest(data, n_trees=4, max_depth=2, max_features=1.0, seed=11)
    for tree in range(4):
        reference = DecisionTreeClassifier(criterion="gini", max_depth=2, random_state=0).fit(
            codes.T, target > 0, sample_weight=bootstrap_weights(11, tree, len(target))
        )
        check_against_sklearn(forest, tree, reference.tree_)


def check_against_sklearn(forest, tree, reference):
    """Walk both trees together."""
    pairs = [(0, 0)]
    while pairs:
        ours, theirs = pairs.pop()
        ours_is_leaf = ours >= forest.feature.shape[1] or forest.feature[tree, ours] < 0
        theirs_is_leaf = reference.feature[theirs] < 0
        assert ours_is_leaf == theirs_is_leaf
        if ours_is_leaf:
            continue
        assert forest.feature[tree, ours] == reference.feature[theirs]
        last_left = int(forest.low[tree, ours]) + int(forest.width[tree, ours]) - 1
        assert last_left == np.floor(reference.threshold[theirs])
        pairs.append((2 * ours + 1, reference.children_left[theirs]))
        pairs.append((2 * ours + 2, reference.children_right[theirs]))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans(), st.booleans())
def test_every_split_is_the_best_one_by_exhaustion(seed, depth, with_weights, with_missing):
    """No allowed left-hand set of codes has a larger gain than the one chosen at any node."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(5, 60))
    X = {
        "number": rng.integers(0, 5, n_rows).astype(float),
        "label": np.array(list("abcd"))[rng.integers(0, 4, n_rows)].astype(object),
        "two": np.array(["yes", "no"])[rng.integers(0, 2, n_rows)].astype(object),
    }
    if with_missing:
        gaps = rng.random(n_rows) < 0.2
        X["number"][gaps] = np.nan
        X["label"][rng.random(n_rows) < 0.2] = None
    y = rng.integers(0, 8, n_rows).astype(float)
    y[0], y[1] = 0.0, 8.0
    weights = rng.integers(1, 4, n_rows) if with_weights else None
    data = encode(X, y, weights=weights)
    forest = grow_forest(data, n_trees=4, max_depth=depth, max_features=1.0, seed=seed)
    for tree in range(4):
        weight = bootstrap_weights(seed, tree, n_rows) * (1 if weights is None else weights)
        check_best_splits(forest, tree, data, y, weight)


def check_best_splits(forest, tree, data, y, weight):
    """Compare the gain of each node's split with the best over all allowed sets."""
    codes = all_codes(data)
    rows = {0: weight > 0}
    for node in range(forest.feature.shape[1]):
        if node not in rows:
            continue
        inside = rows[node]
        best = max(
            (
                split_gain(np.isin(codes[position], left) & inside, inside, y, weight)
                for position, column in enumerate(data.binning.columns)
                for left in allowed_sets(column)
            ),
            default=0.0,
        )
        feature = forest.feature[tree, node]
        if feature < 0:
            assert best == pytest.approx(0.0, abs=1e-9)
            continue
        low, width = int(forest.low[tree, node]), int(forest.width[tree, node])
        left = np.isin(codes[feature], range(low, low + width)) & inside
        assert split_gain(left, inside, y, weight) == pytest.approx(best, rel=1e-6, abs=1e-9)
        rows[2 * node + 1], rows[2 * node + 2] = left, inside & ~left


def allowed_sets(column):
    """List the sets of codes that may go left."""
    if column.is_nominal:
        return [[code] for code in range(column.n_values + 1)]
    cuts = range(1, column.n_values)
    return [[0], *(list(range(1, c + 1)) for c in cuts), *(list(range(c + 1)) for c in cuts)]


def split_gain(left, inside, y, weight):
    """Return the fall in the weighted sum of squares; zero if a side is empty."""
    right = inside & ~left
    if not left.any() or not right.any():
        return 0.0

    def squares(rows):
        mean = np.average(y[rows], weights=weight[rows])
        return float(weight[rows] @ (y[rows] - mean) ** 2)

    return squares(inside) - squares(left) - squares(right)


def test_the_forest_is_the_same_for_any_chunking_threads_and_batches(monkeypatch):
    """1, 3 and 17 chunks, 1 and 2 threads, and small batches of trees give identical splits."""
    X, y = continuous(1000)
    X[::7, 3] = np.nan
    reference = grow_forest(encode(X, y), n_trees=50, max_depth=3, seed=5)
    for n_chunks, n_jobs in itertools.product((3, 17), (1, 2)):
        data = encode(X, y, chunk_rows=-(-1000 // n_chunks))
        assert len(data.chunks) == n_chunks
        assert same_forest(
            reference, grow_forest(data, n_trees=50, max_depth=3, seed=5, n_jobs=n_jobs)
        )
    monkeypatch.setattr(forest_module, "HISTOGRAM_BYTES", 1)
    assert same_forest(reference, grow_forest(encode(X, y), n_trees=50, max_depth=3, seed=5))


def test_more_trees_extend_a_forest_and_do_not_change_it():
    """The first trees of a larger forest are those of the smaller one."""
    X, y = continuous(200)
    data = encode(X, y)
    small, large = (grow_forest(data, n_trees=n, seed=1) for n in (10, 25))
    np.testing.assert_array_equal(small.feature, large.feature[:10])
    np.testing.assert_array_equal(small.low, large.low[:10])


def test_seeds_differ():
    """Another seed is another forest."""
    X, y = continuous(200)
    data = encode(X, y)
    assert not same_forest(grow_forest(data, seed=1), grow_forest(data, seed=2))


def test_integer_weights_act_like_weights_in_scikit_learn():
    """Bootstrap weight times sample weight is what each row counts in its tree."""
    X, y = continuous(300, seed=3)
    weights = np.random.default_rng(0).integers(1, 6, 300)  # rows of weight 0 are none
    data = encode(X, y, weights=weights)
    codes = all_codes(data)
    forest = grow_forest(data, n_trees=5, max_features=1.0, seed=2)
    for tree in range(5):
        reference = DecisionTreeRegressor(max_depth=2, random_state=0).fit(
            codes.T, y, sample_weight=bootstrap_weights(2, tree, 300) * weights
        )
        check_against_sklearn(forest, tree, reference.tree_)


@pytest.mark.parametrize("min_leaf", [1, 5, 40])
def test_no_leaf_has_fewer_bootstrap_rows_than_asked(min_leaf):
    """Every leaf holds at least `min_leaf` rows of its tree's bootstrap sample."""
    X, y = continuous(300)
    data = encode(X, y)
    codes = all_codes(data)
    forest = grow_forest(data, n_trees=20, max_depth=4, min_leaf=min_leaf, seed=4)
    smallest = np.inf
    for tree, path in forest.paths():
        weight = bootstrap_weights(4, tree, 300)
        rows = np.ones(300, dtype=bool)
        for step in path:
            left = np.isin(codes[step.feature], range(step.low, step.low + step.width))
            rows &= left if step.goes_left else ~left
        smallest = min(smallest, weight[rows].sum())
    assert min_leaf <= smallest < min_leaf + 10


def test_constant_columns_are_passed_over_until_one_varies():
    """With one column per split and one that varies, every tree still splits on it."""
    rng = np.random.default_rng(0)
    X = np.zeros((100, 8))
    X[:, 5] = rng.normal(size=100)
    forest = grow_forest(encode(X, X[:, 5]), n_trees=30, max_features=1, seed=0)
    assert (forest.feature[:, 0] == 5).all()


def test_a_redraw_takes_the_first_column_that_varies_and_not_the_best():
    """Past the columns drawn at first, the search stops at one that varies, as in scikit-learn."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=200)
    X = np.zeros((200, 6))
    X[:, 3:] = y[:, None] + rng.normal(size=(200, 3)) * [0.1, 1.0, 10.0]
    forest = grow_forest(encode(X, y), n_trees=200, max_depth=1, max_features=2, seed=0)
    ranks = np.empty((200, 1, 6), dtype=np.int64)
    draw_features(np.uint64(0), 0, 0, np.ones((200, 1), dtype=bool), 6, 0, ranks)
    redrawn = [tree for tree in range(200) if (ranks[tree, 0, :2] < 3).all()]
    assert len(redrawn) > 20
    for tree in redrawn:
        assert forest.feature[tree, 0] == next(rank for rank in ranks[tree, 0] if rank >= 3)


def test_a_cut_through_empty_bins_lies_in_their_middle():
    """Where a node has no rows in bins 3 to 8, the cut leaves as many of them on either side."""
    x = np.concatenate([np.tile([0.0, 1.0, 8.0, 9.0], 50), np.tile(np.arange(10.0), 20)])
    z = np.repeat([0.0, 1.0], 200)
    y = 100 * z + (x > 4) * (z == 0)
    forest = grow_forest(encode({"x": x, "z": z}, y), n_trees=10, max_features=1.0)
    assert (forest.feature[:, :2] == [1, 0]).all()
    assert (forest.low[:, 1] == 1).all()
    assert (forest.width[:, 1] == 5).all()


def test_a_pure_node_is_not_split():
    """Where the target is constant in a child, the child is a leaf."""
    X = np.column_stack([np.repeat([0.0, 1.0], 50), np.tile([0.0, 1.0, 2.0, 3.0], 25)])
    forest = grow_forest(encode(X, X[:, 0]), n_trees=10, max_depth=3, max_features=1.0)
    assert (forest.feature[:, 0] == 0).all()
    assert (forest.feature[:, 1:] == -1).all()


def test_paths_of_leaves_partition_the_rows_and_inner_nodes_add_their_parents():
    """A full depth-2 tree has four leaves; with inner nodes six paths, as in SIRUS."""
    X, y = continuous(500)
    forest = grow_forest(encode(X, y), n_trees=8, max_features=1.0, min_leaf=20)
    assert (forest.feature >= 0).all()
    leaves = [path for tree, path in forest.paths() if tree == 0]
    every = [path for tree, path in forest.paths(inner_nodes=True) if tree == 0]
    assert [len(path) for path in leaves] == [2, 2, 2, 2]
    assert sorted(len(path) for path in every) == [1, 1, 2, 2, 2, 2]
    assert {path[:1] for path in leaves} == {path for path in every if len(path) == 1}


@pytest.mark.parametrize(
    ("max_features", "expected"),
    [(1 / 3, 6), (0.01, 1), (1.0, 20), (3, 3), (50, 20), (np.int64(3), 3)],
)
def test_features_per_split_are_counted_as_in_scikit_learn(max_features, expected):
    """A float is a share of the columns, at least one; an integer is their number."""
    assert count_features(max_features, 20) == expected


@pytest.mark.parametrize(
    "bad",
    [
        {"max_depth": 0},
        {"max_depth": 7},
        {"max_features": 0.0},
        {"max_features": 1.5},
        {"max_features": 0},
        {"max_features": "sqrt"},
        {"min_leaf": 0},
    ],
)
def test_bad_parameters_name_themselves(bad):
    """The error names the parameter and what it may be."""
    X, y = continuous(50)
    with pytest.raises(InvalidParameter, match=next(iter(bad))):
        grow_forest(encode(X, y), **bad)


def galaxy():
    """Return the galaxy data of the paper's first figure."""
    _, X, y = openml("690_visualizing_galaxy")
    return X, y


@pytest.mark.slow
@pytest.mark.parametrize("make", [galaxy, lambda: continuous(1000, 8)], ids=["galaxy", "generated"])
def test_selection_proportions_agree_with_scikit_learns_forest(make):
    """Ours differ from scikit-learn's no more than its own forests differ by seed."""
    X, y = make()
    data = encode(X, y)
    codes = all_codes(data).T.astype(np.float32)
    coded = encode(codes, y)  # few levels keep them, so codes of codes are the codes
    assert np.array_equal(all_codes(coded), all_codes(data))

    n_trees = 2500

    def sklearn_pool(seed):
        model = RandomForestRegressor(
            n_trees, max_depth=2, max_features=1 / 3, random_state=seed, n_jobs=2
        )
        paths = FittedEnsemble(model.fit(codes, y)).paths(coded)
        return as_dict(CandidatePool.from_paths(paths, coded.binning, n_trees))

    def our_pool(seed):
        paths = grow_forest(coded, n_trees=n_trees, seed=seed).paths()
        return as_dict(CandidatePool.from_paths(paths, coded.binning, n_trees))

    theirs = [sklearn_pool(seed) for seed in (0, 1)]
    ours = [our_pool(seed) for seed in (0, 1)]
    between = np.mean([distance(a, b) for a in ours for b in theirs])
    assert between <= 1.3 * distance(*theirs)
    # Nothing is systematically missing or over-represented: pooled over seeds, no frequent rule
    # differs by more than chance allows (largest of a few hundred normal scores).
    rules = {rule for pool in (*ours, *theirs) for rule, share in pool.items() if share > 0.005}
    scores = [
        z_score(mean_share(ours, rule), mean_share(theirs, rule), 2 * n_trees) for rule in rules
    ]
    assert len(scores) > 30
    assert np.abs(scores).max() < 4.5
    assert abs(np.mean(scores)) < 0.5


def as_dict(pool):
    """Return selection proportions by rule."""
    return dict(zip(pool.rules, pool.proportions, strict=True))


def distance(a, b):
    """Return the mean absolute difference over the 50 most frequent rules."""
    top = sorted(a.keys() | b.keys(), key=lambda rule: -a.get(rule, 0) - b.get(rule, 0))[:50]
    return np.mean([abs(a.get(rule, 0.0) - b.get(rule, 0.0)) for rule in top])


def mean_share(pools, rule):
    """Return a rule's proportion over several forests."""
    return np.mean([pool.get(rule, 0.0) for pool in pools])


def z_score(a, b, n_trees):
    """Return the difference of two proportions in standard errors."""
    share = (a + b) / 2
    return (a - b) / np.sqrt(2 * share * (1 - share) / n_trees)
