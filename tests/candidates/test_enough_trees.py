"""Trees are grown until two forests would agree."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mossrules import MossClassifier, MossRegressor
from mossrules.candidates import enough_trees
from mossrules.candidates.enough_trees import agreement_of_forests, find_pool
from mossrules.candidates.ensembles import FittedEnsemble
from mossrules.candidates.forest import ForestGenerator
from mossrules.candidates.pool import FoundRules
from mossrules.candidates.search import encode_rows, find_candidates
from mossrules.data.rows import read_rows
from mossrules.estimators import candidates_for
from mossrules.exceptions import InvalidParameter


@pytest.fixture(scope="module")
def table():
    """Return rows with several columns that matter about as much as each other."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 6)).round(1), columns=list("abcdef"))
    return X, X["a"] + (X["b"] > 0) * X["c"] + rng.normal(size=150)


def encoded(X, y, source):
    """Return the codes of rows."""
    return encode_rows(read_rows(X, y), source, n_bins=8)


@pytest.mark.parametrize("numbering", ["target", "content"])
def test_a_larger_forest_is_a_smaller_one_and_further_trees(table, numbering):
    """Draws go by the number of a tree, so that trees grown in batches are those grown at once."""
    whole = ForestGenerator(n_trees=48, max_depth=3, seed=5, numbering=numbering)
    data = encoded(*table, whole)
    expected = find_pool(whole, data)
    found = FoundRules(data.binning)
    found.add(replace(whole, n_trees=20).paths(data), 20)
    found.add(replace(whole, n_trees=28, first_tree=20).paths(data), 28)
    assert found.pool(data.made_up_order) == expected
    assert sorted(found.counts) == sorted(expected.counts)


@pytest.mark.parametrize("generator", ["forest", "paper-forest", "noisy-target"])
def test_auto_is_the_forest_of_as_many_trees(table, generator):
    """The pool says how many there are, and asking for that number gives the same rules."""
    X, y = table
    found = candidates_for(X, y, n_trees="auto", generator=generator)
    trees = found.pool.n_trees
    assert 500 <= trees <= 8000
    assert trees % 100 == 0
    again = candidates_for(X, y, n_trees=trees, generator=generator)
    assert again.pool == found.pool
    np.testing.assert_array_equal(again.statistics.G, found.statistics.G)


def test_the_number_does_not_depend_on_threads_and_chunks(table):
    """Counts alone decide."""
    X, y = table
    pools = [
        find_candidates(X, y, n_trees="auto", n_jobs=jobs, chunk_rows=rows).pool
        for jobs, rows in ((1, None), (2, 40))
    ]
    assert pools[0] == pools[1]


def test_the_agreement_expected_is_what_forests_show(table):
    """Of 40 pairs of forests, each with draws of its own, the mean is as one of them says."""
    source = ForestGenerator(n_trees=400, max_features=0.5)
    data = encoded(*table, source)
    pools = [find_pool(replace(source, seed=seed), data) for seed in range(40)]
    tops = [set(pool.rules[:100]) for pool in pools]
    shared = [len(one & other) / 100 for one, other in zip(tops[::2], tops[1::2], strict=True)]
    expected = [agreement_of_forests(pool.counts, 400) for pool in pools]
    assert np.mean(expected) == pytest.approx(np.mean(shared), abs=0.04)


def test_few_rules_and_certain_ones_need_no_further_trees():
    """Of at most 100 rules all are taken, and rules of all trees are in every forest."""
    assert agreement_of_forests(np.arange(1, 101), 500) == 1.0
    assert agreement_of_forests(np.repeat([500, 1], [100, 60]), 500) == pytest.approx(1.0)
    assert agreement_of_forests(np.full(200, 30), 500) == pytest.approx(0.5)
    X = {"x": [0.0, 1.0] * 20}
    assert candidates_for(X, X["x"], n_trees="auto").pool.n_trees == 500


def test_the_budget_ends_the_growth_of_large_tables(table, monkeypatch):
    """Within it there are up to 8,000 trees, and beyond it 2,000."""
    X, y = table
    monkeypatch.setattr(enough_trees, "AGREEMENT", 0.999)
    assert candidates_for(X, y, n_trees="auto").pool.n_trees == 8000
    monkeypatch.setattr(enough_trees, "MOST_WORK", len(y) * X.shape[1] * 2550)
    assert candidates_for(X, y, n_trees="auto").pool.n_trees == 2500
    monkeypatch.setattr(enough_trees, "MOST_WORK", 1)
    assert candidates_for(X, y, n_trees="auto").pool.n_trees == 2000


def test_estimators_take_it_and_say_how_many(table):
    """Also where the target is constant, for which no tree is grown."""
    X, y = table
    model = MossRegressor(3, n_trees="auto").fit(X, y)
    assert model.pool_.n_trees == candidates_for(X, y, n_trees="auto").pool.n_trees
    assert max(model.rules_.proportion) <= 1.0
    classes = MossClassifier(2, n_trees="auto", gap=0.1).fit(X, y > 0)
    assert classes.pool_.n_trees >= 500
    assert len(MossRegressor(3, n_trees="auto").fit(X, 0 * y).rules_) == 0


@pytest.mark.parametrize("n_trees", ["many", 0, 2.5, None])
def test_other_words_and_numbers_are_refused(table, n_trees):
    """One sentence says what can be passed."""
    with pytest.raises(InvalidParameter, match=r"n_trees is .*; pass"):
        candidates_for(*table, n_trees=n_trees)


def test_a_fitted_ensemble_has_the_trees_that_it_has(table):
    """The number asked for is not used then, as before."""
    from sklearn.ensemble import RandomForestRegressor  # noqa: PLC0415

    X, y = table
    ensemble = FittedEnsemble(RandomForestRegressor(7, max_depth=2, random_state=0).fit(X, y))
    assert candidates_for(X, y, generator=ensemble, n_trees="auto").pool.n_trees == 7
