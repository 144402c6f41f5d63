import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression

from mossrules.candidates.ensembles import FittedEnsemble
from mossrules.candidates.forest import ForestGenerator, gaussian_noise, grow_forest
from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.statistics import activations
from mossrules.exceptions import InvalidParameter, MissingColumns, UnsupportedType
from support.oracles import encode


def table(n_rows=300, seed=0):
    """Make numeric columns whose values float32 holds exactly, as scikit-learn reads them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).astype(np.float32).astype(np.float64)
    return X, X[:, 0] + (X[:, 1] > 0) + 0.3 * rng.normal(size=n_rows)


MODELS = [
    RandomForestRegressor(8, max_depth=2, random_state=0),
    ExtraTreesRegressor(8, max_depth=3, random_state=0),
    GradientBoostingRegressor(n_estimators=8, max_depth=2, random_state=0),
    RandomForestClassifier(8, max_depth=2, random_state=0),
    GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_exact_rules_hold_where_the_models_own_leaves_are(model):
    """Each leaf's rule holds on exactly the rows that scikit-learn sends to that leaf."""
    X, y = table()
    model.fit(X, np.digitize(y, [-1, 1]) if is_classifier(model) else y)
    source = FittedEnsemble(model, thresholds="exact")
    data = encode(X, y, source=source)
    leaves = model.apply(X).reshape(len(X), -1)
    assert leaves.shape[1] == source.n_trees
    for tree in range(source.n_trees):
        ours = activations_of_tree(source, data, tree)
        theirs = [leaves[:, tree] == leaf for leaf in np.unique(leaves[:, tree])]
        assert {row.tobytes() for row in ours} == {rows.tobytes() for rows in theirs}


def activations_of_tree(source, data, tree):
    """Return the rows of each leaf rule of one tree (rules, rows)."""
    paths = [(number, path) for number, path in source.paths(data) if number == tree]
    pool = CandidatePool.from_paths(paths, data.binning, source.n_trees)
    bits = activations(pool.rules, data.binning, next(iter(data.chunks)).codes)
    unpacked = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")
    return np.ascontiguousarray(unpacked[:, : data.n_rows]).astype(bool)


def test_snapping_moves_thresholds_to_the_bins_and_makes_rules_repeat():
    """Snapped rules use the quantile cuts, so far fewer of them are distinct."""
    X, y = table(500)
    model = RandomForestRegressor(100, max_depth=2, max_features=1 / 2, random_state=0).fit(X, y)
    data = encode(X, y)
    snapped = CandidatePool.from_paths(FittedEnsemble(model).paths(data), data.binning, 100)
    source = FittedEnsemble(model, thresholds="exact")
    exact_data = encode(X, y, source=source)
    exact = CandidatePool.from_paths(source.paths(exact_data), exact_data.binning, 100)
    assert len(snapped) < len(exact) / 2
    assert snapped.counts.max() > 2 * exact.counts.max()
    assert FittedEnsemble(model).adapt(data.binning) == data.binning


def test_a_forest_on_codes_is_read_back_without_loss():
    """Thresholds between integer codes snap to the cut between the same codes."""
    codes = np.random.default_rng(0).integers(1, 8, size=(400, 3)).astype(np.float64)
    y = codes[:, 0] * (codes[:, 1] > 3)
    model = RandomForestRegressor(20, max_depth=3, random_state=0).fit(codes, y)
    data = encode(codes, y)
    for tree, path in FittedEnsemble(model).paths(data):
        structure = model.estimators_[tree].tree_
        thresholds = {
            (f, np.floor(t)) for f, t in zip(structure.feature, structure.threshold, strict=True)
        }
        for step in path:
            assert (step.feature, step.low + step.width - 1) in thresholds


@pytest.mark.parametrize("shift", [-1.5, 0.0, 1.5, 5.0], ids=lambda shift: f"shift {shift}")
def test_missing_values_go_where_the_model_sends_them(shift):
    """A rule admits missing values exactly when the model's leaf does: left, right or alone."""
    X, y = table(400)
    X[:80, 0] = np.nan
    y[:80] = shift + 0.1 * y[:80]
    model = RandomForestRegressor(6, max_depth=2, random_state=1, max_features=1.0).fit(X, y)
    source = FittedEnsemble(model, thresholds="exact")
    data = encode(X, y, source=source)
    for tree in range(6):
        leaves = model.estimators_[tree].apply(X)
        assert {row.tobytes() for row in activations_of_tree(source, data, tree)} == {
            (leaves == leaf).tobytes() for leaf in np.unique(leaves)
        }


def test_splits_on_missing_values_that_the_table_does_not_have_make_no_rules():
    """A model fitted with missing values, read on rows without them, has no rule about them."""
    X, y = table(400)
    X[:80, 0] = np.nan
    y[:80] = 9.0
    model = RandomForestRegressor(6, max_depth=2, random_state=1, max_features=1.0).fit(X, y)
    data = encode(X[80:], y[80:])
    pool = CandidatePool.from_paths(FittedEnsemble(model).paths(data), data.binning, 6)
    texts = [rule.text(data.binning) for rule in pool.rules]
    assert len(texts) >= 2
    assert not any("is missing" in text for text in texts)


def test_a_threshold_in_a_column_without_cuts_makes_no_rule():
    """A column that is constant or missing in the table cannot say what the model's split says."""
    X, y = table(400)
    model = RandomForestRegressor(5, max_depth=1, max_features=1.0, random_state=0).fit(X, y)
    assert all(tree.tree_.feature[0] == 0 for tree in model.estimators_)
    X[:, 0] = np.where(X[:, 0] > 1, np.nan, 0.5)
    data = encode(X, y)
    assert data.has_missing[0]
    assert list(FittedEnsemble(model).paths(data)) == []


def test_inner_nodes_are_given_when_asked_for():
    """Each depth-2 tree adds its two inner nodes to its four leaves."""
    X, y = table()
    model = RandomForestRegressor(5, max_depth=2, random_state=0).fit(X, y)
    data = encode(X, y)
    leaves = list(FittedEnsemble(model).paths(data))
    every = list(FittedEnsemble(model).paths(data, inner_nodes=True))
    assert len(every) > len(leaves)
    assert {len(path) for _, path in every} == {1, 2}


def test_a_leaf_within_one_bin_disappears_when_snapped():
    """Two cuts that snap to the same place leave no room between them."""
    x = np.arange(100.0)[:, None]
    y = ((x > 40) & (x <= 44)).astype(float).ravel()
    model = RandomForestRegressor(1, max_depth=2, bootstrap=False, random_state=0).fit(x, y)
    data = encode(x, y, n_bins=2)
    assert len(model.estimators_[0].tree_.feature) == 5
    assert len(list(FittedEnsemble(model).paths(data))) == 2


def test_models_that_are_not_fitted_trees_are_refused():
    """Unfitted forests and other models get a sentence, not an AttributeError."""
    with pytest.raises(UnsupportedType, match="not a fitted ensemble of trees"):
        FittedEnsemble(RandomForestRegressor())
    with pytest.raises(UnsupportedType, match="LinearRegression is not a fitted ensemble"):
        FittedEnsemble(LinearRegression())
    X, y = table()
    model = RandomForestRegressor(2, max_depth=1).fit(X, y)
    with pytest.raises(InvalidParameter, match="'snap' or 'exact'"):
        FittedEnsemble(model, thresholds="nearest")


def test_a_model_of_other_columns_is_refused():
    """Another number of columns, or labels it cannot have been fitted on, is named."""
    X, y = table()
    model = RandomForestRegressor(2, max_depth=1).fit(X, y)
    with pytest.raises(MissingColumns, match="fitted on 4 columns but the table has 3"):
        FittedEnsemble(model).adapt(encode(X[:, :3], y).binning)
    labelled = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "d": np.array(["u", "v", "w"] * 100)}
    with pytest.raises(UnsupportedType, match="Column 'd' is categorical"):
        FittedEnsemble(model).adapt(encode(labelled, y).binning)


def test_too_many_exact_thresholds_suggest_snapping():
    """uint8 codes hold 249 cuts; beyond that the remedy is named."""
    X, y = table(3000)
    model = RandomForestRegressor(40, max_depth=6, random_state=0).fit(X, y)
    with pytest.raises(InvalidParameter, match="use thresholds='snap'"):
        FittedEnsemble(model, thresholds="exact").adapt(encode(X, y).binning)


def test_noise_has_the_deviation_it_should():
    """The table of noise is centred and has `scale` standard deviations of the target."""
    X, y = table(1000)
    data = encode(X, y)
    noise = gaussian_noise(data, 0.5) * data.target_grid.step
    assert noise.mean() == pytest.approx(0.0, abs=1e-6)
    assert noise.std() == pytest.approx(0.5 * y.std(), rel=1e-3)
    assert len(noise) == 65536


def test_noise_in_a_weighted_table_has_the_same_size():
    """With weights the forest reads fewer digits of the target, and so of the noise."""
    X, y = table(500)
    plain, weighted = encode(X, y), encode(X, y, weights=np.ones(500))
    ratio = gaussian_noise(plain, 1.0).std() / gaussian_noise(weighted, 1.0).std()
    assert ratio == pytest.approx(2**weighted.forest_shift, rel=1e-3)


def test_small_noise_on_all_columns_gives_the_same_tree_every_time():
    """Without bootstrap and with hardly any noise, all trees agree; with much, they do not."""
    X, y = table(400)
    data = encode(X, y)
    quiet = ForestGenerator(n_trees=40, max_features=1.0, noise=1e-6)
    loud = ForestGenerator(n_trees=40, max_features=1.0, noise=5.0)
    count = {
        name: len(CandidatePool.from_paths(source.paths(data), data.binning, 40))
        for name, source in (("quiet", quiet), ("loud", loud))
    }
    assert count["quiet"] == 4
    assert count["loud"] > 40


def test_noise_differs_between_trees_and_not_between_chunkings():
    """The noise of a row in a tree depends on the row number and not on the chunk."""
    X, y = table(400)
    source = ForestGenerator(n_trees=30, noise=1.0, seed=3)
    whole, cut = encode(X, y), encode(X, y, chunk_rows=37)
    assert list(source.paths(whole)) == list(source.paths(cut))
    assert len({path for _, path in source.paths(whole)}) > 30


def test_bad_forest_parameters_name_themselves():
    """No trees, and noise without size, are refused."""
    with pytest.raises(InvalidParameter, match="n_trees is 0"):
        ForestGenerator(n_trees=0)
    with pytest.raises(InvalidParameter, match="noise is -1"):
        ForestGenerator(noise=-1)


def test_the_forest_generator_is_the_forest():
    """Its paths are those of grow_forest with the same parameters."""
    X, y = table()
    data = encode(X, y)
    expected = list(grow_forest(data, n_trees=10, max_depth=3, seed=4).paths())
    assert list(ForestGenerator(n_trees=10, max_depth=3, seed=4).paths(data)) == expected
