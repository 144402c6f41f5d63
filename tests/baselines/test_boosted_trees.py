import numpy as np
import pytest
from sklearn.base import clone

from mossrules import find_candidates
from mossrules.baselines import RuleFitRegressor
from mossrules.baselines.boosted_trees import BoostedTrees, _Columns, rows_per_tree
from mossrules.candidates.ensembles import tree_paths
from mossrules.candidates.forest import Generator
from mossrules.candidates.rules import Rule, condition_of_step
from mossrules.candidates.statistics import rule_columns
from support.baseline_cases import encoded, mixed_table


def test_rules_hold_where_rows_end_up():
    """Leaves' rules are true on exactly the rows that scikit-learn's tree sends there."""
    X, y = mixed_table()
    data = encoded(X, y)
    columns = _Columns.of(data)
    codes = np.concatenate([chunk.codes for chunk in data.chunks], axis=1)
    trees = BoostedTrees(30, tree_size=7, learning_rate=0.3)
    n_levels = 0
    for tree in trees._grow(data, columns.values):
        paths = list(
            tree_paths(tree, lambda node, t=tree: columns.steps(t, node), inner_nodes=False)
        )
        rules = [
            Rule.of(condition_of_step(s, data.binning.columns[s.feature]) for s in path)
            for path in paths
        ]
        n_levels += sum(columns.levels[f] is not None for f in tree.feature if f >= 0)
        leaves = tree.apply(columns.values)
        ours = rule_columns(rules, data.binning, codes)
        assert (ours.sum(axis=0) == 1).all()
        groups = {tuple(np.flatnonzero(leaves == leaf)) for leaf in np.unique(leaves)}
        assert {tuple(np.flatnonzero(row)) for row in ours if row.any()} == groups
    assert n_levels > 0


def test_trees_are_boosted():
    """Each tree is fitted to what those before it leave, on rows drawn without replacement."""
    X, y = mixed_table()
    data = encoded(X, y)
    columns = _Columns.of(data)
    rate = 0.2
    target = np.concatenate([chunk.target for chunk in data.chunks]).astype(float)
    residuals = target - target.mean()
    errors = [residuals.var()]
    for tree in BoostedTrees(40, learning_rate=rate)._grow(data, columns.values):
        assert tree.n_node_samples[0] == rows_per_tree(150) == 75
        values = tree.value[:, 0, 0]
        # The mean over drawn rows of what the tree was fitted to is near that of our residuals.
        assert abs(values[0] - residuals.mean()) < 4 * residuals.std() / np.sqrt(75)
        residuals = residuals - rate * values[tree.apply(columns.values)]
        errors.append(residuals.var())
    assert errors[-1] < 0.2 * errors[0]


def test_sizes_of_trees_are_as_published():
    """Two leaves plus a whole, exponential number; of many rows, a small share is drawn."""
    rng = np.random.default_rng(0)
    sizes = BoostedTrees(20_000, tree_size=4).tree_sizes(rng)
    assert sizes.min() == 2
    rate = np.exp(-1 / 2)
    assert sizes.mean() == pytest.approx(2 + rate / (1 - rate), abs=0.05)
    assert set(BoostedTrees(50, tree_size=2).tree_sizes(rng)) == {2}
    assert [rows_per_tree(n) for n in (2, 100, 400, 10_000)] == [2, 50, 200, 700]


def test_boosted_trees_are_a_generator(diabetes):
    """find_candidates takes them as it takes a forest; all nodes but the root are rules."""
    X, y = diabetes
    trees = BoostedTrees(30, seed=3)
    assert isinstance(trees, Generator)
    done = []
    found = find_candidates(X, y, generator=trees, inner_nodes=True,
                            progress=lambda *each: done.append(each))  # fmt: skip
    assert found.pool.n_trees == 30
    assert ("boosting trees", 30, 30) in done
    model = RuleFitRegressor(5, source="own", n_trees=30, random_state=3)
    assert find_candidates(X, y, generator=trees).pool.rules != found.pool.rules
    assert model.fit(X, y).pool_.n_trees == 30
    assert clone(model).fit(X[::-1], y[::-1]).rules_.to_json() == model.rules_.to_json()
    other = clone(model).set_params(random_state=4).fit(X, y)
    assert other.pool_.rules != model.pool_.rules


def test_weights_count_in_boosting():
    """Rows of weight zero are as if they were not there, and equal weights are no weights."""
    X, y = mixed_table()
    X = X[["age", "size"]]
    w = np.where(np.arange(150) < 100, 1.5, 0.0)
    pools = [
        find_candidates(table, target, generator=BoostedTrees(30), sample_weight=weights).pool
        for table, target, weights in ((X, y, w), (X[:100], y[:100], None), (X, y, None))
    ]
    assert pools[0] == pools[1]
    assert pools[0] != pools[2]
    heavy = np.where(X["age"] > 20, 5.5, 0.5)
    pool = find_candidates(X, y, generator=BoostedTrees(30), sample_weight=heavy).pool
    assert pool != pools[2]
