import numpy as np
import pandas as pd
import pytest

from mossrules import find_candidates
from mossrules.baselines import RuleFitRegressor, rulefit_columns
from mossrules.baselines.rulefit_columns import LinearTerms, bootstrap_counts, first_tree_means
from mossrules.data.chunks import row_ranges
from mossrules.data.table import Table
from mossrules.exceptions import InvalidColumn
from support.baseline_cases import encoded, holds, mixed_table, rows_as_given


def test_columns_without_spread_have_no_term():
    """A column that its bounds leave constant, one all missing, and words make no terms."""
    X = pd.DataFrame({"a": [0.0] * 99 + [1.0], "b": [np.nan] * 100, "c": ["x", "y"] * 50,
                      "d": np.arange(100.0), "e": [True, False] * 50})  # fmt: skip
    terms = LinearTerms.of_rows(rows_as_given(X, np.arange(100.0)))
    assert terms.names == ("d",)
    assert (terms.low[0], terms.high[0]) == (2.0, 97.0)
    assert len(LinearTerms.of_rows(rows_as_given(X[["b", "c"]], np.arange(100.0)))) == 0


def test_columns_keep_their_type():
    """A numeric column that became words is refused; one that lost all its values is missing."""
    X, y = mixed_table()
    y = y + 3 * X["age"] / 40
    model = RuleFitRegressor(8, linear_terms=True, n_trees=40, max_features=1 / 3).fit(X, y)
    assert "age" in model.linear_.names
    terms = LinearTerms(("age",), (3,), *(np.array([x]) for x in (0.0, 9.0, 4.0, 1.0, 2.0)))
    table = Table.from_any(X.assign(age="old"))
    with pytest.raises(InvalidColumn, match="'age' was numeric in training and is text now"):
        terms.predict(table)
    np.testing.assert_array_equal(terms.predict(Table.from_any(X.assign(age=None))), 0.0)
    with pytest.raises(InvalidColumn, match="infinite"):
        terms.predict(Table.from_any(X.assign(age=np.inf)))


# --- means of the first tree ----------------------------------------------------------------------


def test_a_tree_splits_where_its_bootstrap_sample_splits_best(diabetes):
    """The counts of a tree's rows are those it was grown with: no other cut is as good by them."""
    X, y = diabetes
    data = encoded(X, y)
    codes = np.concatenate([chunk.codes for chunk in data.chunks], axis=1)
    found = find_candidates(
        X, y, n_trees=9, max_depth=1, n_bins=10, max_features=1.0, random_state=7
    )
    for tree in range(9):
        counts = bootstrap_counts(7, tree, np.arange(len(y)))
        assert abs(counts.sum() - len(y)) < 5 * np.sqrt(len(y))

        def gain(left, counts=counts):
            sides = [counts * left, counts * ~left]
            return sum((w @ y) ** 2 / max(w.sum(), 1) for w in sides)

        best = max(gain(column <= code) for column in codes for code in range(1, 10))
        rules = [i for i, trees in enumerate(found.pool.trees) if tree in trees]
        assert len(rules) == 2
        split = gain(holds(found, X)[:, rules[0]].astype(bool))
        assert split == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_means_of_the_first_tree_are_over_its_rows(diabetes, monkeypatch, weighted):
    """Each rule has the mean of the first tree that contains it, whatever the chunks."""
    X, y = diabetes
    w = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    found = find_candidates(X, y, n_trees=30, sample_weight=w, random_state=2)
    monkeypatch.setattr(rulefit_columns, "row_ranges", lambda n: row_ranges(n, chunk_rows=100))
    means = first_tree_means(found, rows_as_given(X, y.to_numpy(), w), 2)
    target = (y - found.statistics.target_mean) / found.statistics.target_scale
    weights = np.ones(len(y)) if w is None else w
    for column, trees, mean in zip(holds(found, X).T, found.pool.trees, means, strict=True):
        counts = weights * column * bootstrap_counts(2, min(trees), np.arange(len(y)))
        assert mean == pytest.approx(np.average(target, weights=counts))
