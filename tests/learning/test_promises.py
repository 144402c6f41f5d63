"""What pages promise to be the same whatever one does, and no other test holds.

docs/sameness.md lists all such sentences. Tables are random, with gaps, categories and ties.
"""

import numpy as np
import pytest

from mossrules import MossClassifier, MossRegressor, RuleSets, compare_rule_sets
from mossrules.baselines import (
    FireRegressor,
    GlrmRegressor,
    RuleFitRegressor,
    SirusRegressor,
)
from mossrules.frontier import Frontier

FOREST = {"n_trees": 40, "random_state": 0}


def table(seed, n=160):
    """Return columns of several kinds, a number and three classes, of which the rows tell."""
    draw = np.random.default_rng(seed)
    X = {
        "age": draw.integers(18, 90, n).astype(float),
        "dose": draw.normal(size=n).round(1),
        "kind": draw.choice(["a", "b", "c"], n).astype(object),
        "late": draw.random(n) < 0.3,
    }
    X["dose"][draw.random(n) < 0.15] = np.nan
    y = X["age"] / 30 + 2 * (X["kind"] == "b") + X["late"] + draw.normal(size=n)
    return X, y, np.digitize(y, np.quantile(y, [0.4, 0.75]))


def take(X, rows):
    """Return some rows of a table."""
    return {name: values[rows] for name, values in X.items()}


@pytest.mark.parametrize("seed", range(2))
def test_threads_change_no_bit_of_a_model(seed):
    """Neither of a number nor of classes, nor of what it predicts."""
    X, y, classes = table(seed)
    for make, target in ((MossRegressor, y), (MossClassifier, classes > 0)):
        one, *others = (make(5, n_jobs=jobs, **FOREST).fit(X, target) for jobs in (1, 2, 3))
        for other in others:
            assert other.rules_.to_json() == one.rules_.to_json()
            np.testing.assert_array_equal(other.predict(X), one.predict(X))


@pytest.mark.parametrize("seed", range(2))
def test_pairs_of_two_analyses_do_not_depend_on_rows(seed):
    """Kept and moved rules are those of the rule sets alone, whichever rows are passed."""
    X, y, _ = table(seed)
    half = np.arange(len(y)) % 2 == 0
    old, new = (MossRegressor(6, **FOREST).fit(take(X, part), y[part]) for part in (half, ~half))

    def pairs(rows):
        (outcome,) = compare_rule_sets(old, new, rows).outcomes
        found = [*outcome.kept, *outcome.moved]
        return [(each.pairing, each.old.text, each.new.text, each.distance) for each in found]

    assert pairs(X) == pairs(take(X, half)) == pairs(table(seed + 50)[0]) == pairs(None)


@pytest.mark.parametrize("seed", range(2))
def test_an_explanation_is_the_prediction_bit_for_bit(seed):
    """For each row, of a number and of a probability, and after a round trip as JSON."""
    X, y, classes = table(seed, 40)
    for model in (
        MossRegressor(5, **FOREST).fit(X, y),
        MossClassifier(5, **FOREST).fit(X, classes > 0),
    ):
        rules, predicted = model.rules_, model.rules_.predict(X)
        again = type(rules).from_json(rules.to_json())
        for place in range(len(y)):
            row = {name: values[place] for name, values in X.items()}
            assert rules.explain(row).prediction == predicted[place]
            assert again.explain(row).prediction == predicted[place]


def test_points_of_a_frontier_may_come_in_any_order():
    """`Frontier.of` is the same of any permutation of its points."""
    X, y, _ = table(0)
    model = MossRegressor(4, **FOREST).fit(X, y)
    known = model.frontier(6)
    turned = [
        known.entries[place] for place in np.random.default_rng(0).permutation(len(known.entries))
    ]
    kept = Frontier.of(model.problem_, known.entries)
    assert Frontier.of(model.problem_, turned).to_json() == kept.to_json()


def test_rule_sets_of_classes_survive_as_json():
    """Each bit of each class, and so all predictions."""
    X, _, classes = table(1)
    rules = MossClassifier(4, **FOREST).fit(X, classes).rules_
    again = RuleSets.from_json(rules.to_json())
    assert again.to_json() == rules.to_json()
    np.testing.assert_array_equal(again.predict_proba(X), rules.predict_proba(X))


@pytest.mark.parametrize("method", [FireRegressor, GlrmRegressor, RuleFitRegressor, SirusRegressor])
def test_baselines_take_rows_in_any_order(method):
    """The rules are the same, and weights but for rounding."""
    X, y, _ = table(2)
    order = np.random.default_rng(0).permutation(len(y))
    model, other = (
        method(n_trees=40, random_state=0).fit(take(X, rows), y[rows])
        for rows in (np.arange(len(y)), order)
    )
    assert other.rules_ == model.rules_
    np.testing.assert_allclose(other.predict(X), model.predict(X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("seed", range(2))
def test_files_of_any_kind_have_the_model_of_memory(seed, tmp_path):
    """As CSV and as Parquet, in one file or in two, and in chunks of any size."""
    pd = pytest.importorskip("pandas")
    X, y, _ = table(seed)
    rows = pd.DataFrame({**X, "y": y})
    known = MossRegressor(4, **FOREST).fit(rows, "y").rules_.to_json()
    rows.to_csv(tmp_path / "all.csv", index=False, float_format="%.17g")
    rows.to_parquet(tmp_path / "all.parquet", row_group_size=37)
    rows[:70].to_parquet(tmp_path / "part1.parquet")
    rows[70:].to_parquet(tmp_path / "part2.parquet")
    for name in ("all.csv", "all.parquet", "part*.parquet"):
        assert MossRegressor(4, **FOREST).fit(str(tmp_path / name), "y").rules_.to_json() == known
