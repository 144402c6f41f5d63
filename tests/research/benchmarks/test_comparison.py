"""The comparison with the paper at toy sizes: its parts, and that its sentences say what is so."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Lasso
from sklearn.model_selection import KFold

from mossrules.baselines import SirusRegressor
from mossrules.baselines.column_generation import count_literals
from mossrules.data.rows import read_rows
from mossrules.evaluation import evaluate
from mossrules.learning.fit import find_in_rows
from research.benchmarks import _comparison_page as page
from research.benchmarks import _notebooks, comparison
from research.benchmarks.__main__ import RESUMABLE, SUBJECTS
from research.paper.protocols import protocol_for

TREES = 30
SEARCH = {"n_trees": TREES, "n_bins": 10, "generator": "paper-forest", "random_state": 0,
          "n_jobs": 1}  # fmt: skip


@pytest.fixture
def table():
    """Rows with a line, a step and a column of few values."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    X["few"] = rng.integers(0, 4, 120).astype(float)
    y = X["a"] + 2.0 * (X["b"] > 0.3) + 0.5 * X["few"] + rng.normal(0, 0.3, 120)
    return X, y.to_numpy()


@pytest.fixture
def found(table):
    """Return rows as they are read, and their candidates."""
    rows = read_rows(*table)
    return rows, find_in_rows(rows, **SEARCH, max_features=1 / 3)


# --- measuring ------------------------------------------------------------------------------------


def test_figures_are_those_of_evaluate(table, monkeypatch):
    """By the protocol, R2 and Dice of all methods are what `evaluate` finds on the same folds."""
    X, y = table
    monkeypatch.setattr(comparison, "read_mixed", lambda _: (X, y))
    base = comparison.settings_for("toy")[0]
    measured = comparison.measure("toy", base, 3, TREES)
    cv = list(KFold(3, shuffle=True, random_state=base.shuffle).split(X))
    learners = protocol_for("paper").learners(X, n_trees=TREES)
    summary = evaluate(learners, X, y, cv=cv, identity="codes").summary()
    assert set(summary["method"]) == set(measured)
    for each in summary.itertuples():
        figures = measured[each.method]
        assert figures.r2 == pytest.approx(each.r2, abs=1e-12)
        assert figures.r2_se == pytest.approx(each.r2_se, abs=1e-12)
        assert figures.dice == pytest.approx(each.dice, abs=1e-12)


def test_every_change_can_be_measured(table, monkeypatch):
    """Each setting gives finite figures for each of its methods."""
    monkeypatch.setattr(comparison, "read_mixed", lambda _: table)
    for setting in comparison.settings_for("toy"):
        measured = comparison.measure("toy", setting, 2, TREES)
        assert set(measured) == set(setting.methods)
        assert all(np.isfinite(figures.r2) for figures in measured.values())
        assert all(0.0 <= figures.dice <= 1.0 for figures in measured.values())


def test_the_subject_is_known():
    """It can be asked for by name, and goes on where it was."""
    assert "comparison" in SUBJECTS
    assert "comparison" in RESUMABLE


# --- what the notebooks do ------------------------------------------------------------------------


def test_ranks_fill_all_tenths_and_split_equal_values(table):
    """Every column has ten bins of as many rows; other rows fall where training rows would."""
    X, _ = table
    tenths = _notebooks.ranked(X)
    assert all((tenths[name].value_counts() == len(X) / 10).all() for name in X)
    assert len(set(tenths["few"][X["few"] == 0])) > 1
    again = _notebooks.ranked_as(X[["a", "b"]], X)
    assert (again == tenths[["a", "b"]]).all(axis=None)


def test_means_of_first_trees_scale_columns(found):
    """Only the scale of columns changes: weights of 0 and 1 columns stay what they were."""
    rows, candidates = found
    changed = _notebooks.with_first_means(candidates, rows, 0)
    (q, means), (old_q, old_means) = (
        (each.statistics.q, each.statistics.values)  # noqa: PD011  no frame
        for each in (changed, candidates)
    )
    used = (means != 0) & (old_means != 0)
    np.testing.assert_allclose((q / means)[used], (old_q / old_means)[used])
    assert not np.allclose(means, old_means)


def test_unmerged_paths_are_the_leaves_of_the_trees(table):
    """Each tree has four paths; those of one rule are together in the trees of that rule."""
    rows = read_rows(table[0][["a"]], table[1])
    candidates = find_in_rows(rows, **SEARCH)
    paths = _notebooks.Unmerged.of(candidates, rows, TREES, 0)
    pool = paths.candidates.pool
    assert pool.counts.sum() == 4 * TREES
    assert len(set(paths.paths)) == len(pool) > len(candidates)
    for rule, trees in zip(candidates.pool.rules, candidates.pool.trees, strict=True):
        same = [pool.trees[i] for i, each in enumerate(pool.rules) if each == rule]
        assert frozenset().union(*same) == trees


def test_learners_take_unmerged_paths(found, table):
    """SIRUS on paths predicts by the most frequent of them."""
    rows, candidates = found
    paths = _notebooks.Unmerged.of(candidates, rows, TREES, 0)
    model = paths.learn(SirusRegressor(5, variant="paper"), rows, table[0])
    assert model.rules <= set(paths.paths[:5])
    assert np.corrcoef(model.predictions, table[1])[0, 1] > 0.5


def test_a_large_reward_for_counts_is_sirus(table):
    """Where counts are all that matters, MOSS-L has the most frequent rules."""
    rows = read_rows(table[0][["a"]], table[1])
    candidates = find_in_rows(rows, n_trees=200, random_state=0, n_jobs=1)
    chosen = _notebooks.reward_counts(candidates, 6, rho=1e-3)
    frequent = SirusRegressor(6, variant="paper").fit_candidates(candidates).rules_
    assert 0 < len(chosen) <= len(frequent)
    assert set(chosen) <= set(frequent)


def test_terms_that_do_not_count_are_a_lasso(found):
    """With the columns that were found, predictions are those of scikit-learn."""
    terms = _notebooks.UncountedTerms.of(found[0])
    terms.solve(0.5)
    prices = 0.25 + 0.5 * _notebooks.LENGTH_PRICE * terms.lengths
    scaled = terms.columns / prices
    lasso = Lasso(alpha=1.0, tol=1e-12, max_iter=100_000).fit(scaled, terms.z)
    fitted = (terms.columns - terms.columns.mean(axis=0)) @ terms.w
    np.testing.assert_allclose(fitted, lasso.predict(scaled), atol=1e-5)


def test_terms_that_do_not_count_fit_a_line(table, found):
    """Beside as many rules of two literals and more as are asked for, a line is a term."""
    X, y = table
    rows, candidates = found
    model = _notebooks.UncountedTerms.of(rows).learn(X, candidates.binning, 8)
    assert len(model.rules) >= 7
    assert all(count_literals(rule) > 1 for rule in model.rules)
    assert np.corrcoef(model.predictions, y)[0, 1] > 0.85


# --- the page -------------------------------------------------------------------------------------


def row(table="t", setting="base", r2=0.8, dice=0.5, *, theirs=True, error=0.01):
    """Return figures where the paper's are 0.7 and 0.5."""
    return {
        "table": table,
        "method": "FIRE",
        "setting": setting,
        "theirs": theirs,
        "R2": r2,
        "R2 se": error,
        "R2 error": error,
        "R2 off": (r2 - 0.7) / error,
        "paper R2": 0.7,
        "paper R2 se": error / 2,
        "Dice": dice,
        "Dice low": dice - 0.1,
        "Dice high": dice + 0.1,
        "Dice error": 0.05,
        "Dice off": (dice - 0.5) / 0.05,
        "paper Dice": 0.5,
    }


ANOTHER = [row("u", r2=0.7), row("u", "x", r2=0.4)]
WORDS = {"other folds": "with other folds", "x": "with x", "y": "with y"}


@pytest.mark.parametrize(
    ("others", "verdict"),
    [
        ([row(setting="x", r2=0.71)], "Explained: with x it is 0.710; over all tables it takes"),
        ([row(setting="x", r2=0.74)], "Explained in part: with x it is 0.740"),
        ([row(setting="x", r2=0.78)], "Not explained: nearest of 1 changes, with x it is 0.780"),
        (
            [row(setting="x", r2=0.71, dice=1.1)],
            "of R2 from 10.0 to 1.0 and of Dice from 0.0 to 12",
        ),
        ([row(setting="x", r2=0.71, dice=1.1)], "Not explained: nearest of 1 changes, with x"),
        ([row(setting="x", r2=0.70, theirs=False)], "Not explained: nothing was tried."),
        ([row(setting="other folds", r2=0.715)], "Chance: with other folds it is 0.715; over"),
        ([row(setting="x", r2=0.71), *ANOTHER], "Not explained: nearest of 1 changes, with x it"),
        ([row(setting="x", r2=0.71), *ANOTHER], "takes the distance of R2 from 7.1 to 21.2"),
    ],
)
def test_sentences_say_what_was_measured(others, verdict):
    """A change explains what it brings near, unless it takes other figures further away."""
    (sentence,) = page.sentences([row(), *others], WORDS)
    assert sentence.startswith("t, FIRE: R2 is 0.800, the paper's 0.700 (10.0 standard errors). ")
    assert verdict in sentence


def test_small_differences_have_no_sentence():
    """Two standard errors and less are nothing to explain."""
    assert page.sentences([row(r2=0.719, dice=0.41)], WORDS) == []


def test_the_page_has_all_figures():
    """Both tables, the tally, and a line for each change and for the paper."""
    rows = [row(), row(setting="x", r2=0.71, dice=0.45)]
    text = page.page(rows, WORDS, ["FIRE"])
    assert "| t | **0.800 ± 0.010**; 0.700 |" in text
    assert "| t | 0.50 [0.40, 0.60]; 0.50 |" in text
    assert "1 of 2 differences are above 2 standard errors: 1 explained, 0 in part" in text
    assert "| FIRE | *the paper* | 0.700 / 0.50 | |" in text
    assert "| FIRE | with x | 0.710 / 0.45 | 1.0 / 1.0 |" in text
    assert "with y" not in text
    assert "Ours is 2.0 times what the paper prints" in text


def test_differences_are_in_standard_errors(monkeypatch):
    """R2 has both standard errors, added in squares; Dice has ours twice."""
    printed = {"r2_mean": 0.7, "r2_se": 0.03, "dsc_mean": 0.4}
    tables = {what: {("toy", "FIRE"): value} for what, value in printed.items()}
    monkeypatch.setattr(comparison, "published_results", tables.get)
    base = comparison.settings_for("toy")[0]
    measured = comparison.Measured(0.8, 0.04, 0.5, 0.05, 0.4, 0.6, 15.0)
    found = comparison.difference_row("7_toy", "FIRE", base, measured)
    assert found["R2 off"] == pytest.approx(2.0)
    assert found["Dice off"] == pytest.approx(2**0.5)
