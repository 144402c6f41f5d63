"""What must not change a model: signs, units, orders, names of classes, rows that say nothing.

Each property is tried on 60 random tables of all kinds with many ties; the figures are those of
another fit, so nothing here rests on what the package takes for right.
"""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from mossrules import MossClassifier, MossRegressor
from mossrules.candidates.search import find_candidates
from mossrules.estimators import candidates_for
from support.invariance_cases import (
    WEIGHTS,
    assert_same,
    classifier,
    numbers_of,
    regressor,
    tables,
    with_idle_rows,
)


@pytest.fixture(scope="module")
def cases():
    """Return all tables with their targets and the model of each."""
    return [(X, y, regressor(X, y)) for X, y in tables()]


@pytest.mark.parametrize(
    ("factor", "offset"), [(-1.0, 0.0), (0.1, 0.0), (1000.0, 7.0), (-3.0, 2.5)]
)
def test_a_target_in_another_unit_or_turned_around_has_the_same_rules(cases, factor, offset):
    """With a y + b in place of y, effects and intercept are times a, whatever the sign of a."""
    for X, y, model in cases:
        assert_same(model, regressor(X, factor * y + offset), factor, offset=offset)


def test_the_sign_of_a_target_does_not_matter_with_weights():
    """Rows that weigh more or less than others are no exception."""
    for number, (X, y) in enumerate(tables()):
        weights = 0.1 + np.random.default_rng(number).random(len(y)).round(2)
        model = regressor(X, y, weights)
        assert_same(model, regressor(X, -y, weights), -1.0)
        assert_same(model, regressor(X, 0.1 * y + 0.3, weights), 0.1)


def test_columns_of_a_frame_may_stand_in_any_order(cases):
    """They go by their names."""
    for number, (X, y, model) in enumerate(cases):
        order = np.random.default_rng(number).permutation(X.columns)
        assert_same(model, regressor(X[list(order)], y))


def test_columns_of_an_array_may_stand_in_any_order_and_unit():
    """Their names are made up, so they go by what they hold; rules are on the same columns."""
    for number, (X, y) in enumerate(tables()):
        values = numbers_of(X)
        model = regressor(values, y)
        order = np.random.default_rng(number).permutation(values.shape[1])
        names = model.candidates_.binning.names
        renamed = {names[before]: names[after] for after, before in enumerate(order)}
        assert_same(model, regressor(values[:, order], y), names=renamed)
        assert_same(model, regressor(values, -y), -1.0)
        by_ranks = regressor(values, y, cuts="quantile")  # round numbers are others in other units
        assert_same(by_ranks, regressor(1.8 * values + 32.0, y, cuts="quantile"))


def test_columns_that_are_copies_do_not_make_an_array_uneven():
    """Copies of a column, and columns that mirror each other, are told apart or stand in for."""
    for number, (X, y) in enumerate(tables()):
        values = numbers_of(X)
        values = np.column_stack([values, values[:, ::-1], np.arange(len(y)) % 2])
        model, order = regressor(values, y), np.random.default_rng(number).permutation(len(y))
        assert_same(model, regressor(values[order], y[order]))
        assert_same(model, regressor(values, -y), -1.0)
        turned = regressor(values[:, ::-1], y)  # names of copies may be swapped
        assert turned.pool_.counts.tolist() == model.pool_.counts.tolist()
        np.testing.assert_allclose(turned.predict(values[:, ::-1]), model.predict(values))


def test_rows_may_stand_in_any_order(cases):
    """They are numbered by what they hold."""
    for number, (X, y, model) in enumerate(cases):
        order = np.random.default_rng(number).permutation(len(y))
        assert_same(model, regressor(X.iloc[order], y[order]))


def test_columns_may_be_in_other_units():
    """Powers of ten, or Fahrenheit for Celsius: by quantiles, the same rules on the same rows."""
    for number, (X, y) in enumerate(tables()):
        model = regressor(X, y, cuts="quantile")
        rng, other = np.random.default_rng(number), X.copy()
        for name in X.columns[[X[each].dtype.kind == "f" for each in X]]:
            other[name] = X[name] * rng.choice([1000.0, 0.01, 1.8]) + rng.choice([0.0, 32.0])
        found = regressor(other, y, cuts="quantile")
        assert_same(model, found)
        np.testing.assert_array_equal(found.rules_.holds(other), model.rules_.holds(X))


def test_rows_of_weight_zero_are_not_there(cases):
    """Whatever they hold and wherever they stand, with other rows of weight one or any."""
    for number, (X, y, model) in enumerate(cases):
        rng, n = np.random.default_rng(number), len(y)
        order = rng.permutation(n + 9)
        more = pd.concat([X, X.iloc[:9]], ignore_index=True).iloc[order]
        target = np.append(y, y[:9] + 5.0)[order]
        weights = np.append(0.1 + rng.random(n).round(2), np.zeros(9))
        assert_same(model, regressor(more, target, (order < n).astype(float)))
        assert_same(regressor(X, y, weights[:n]), regressor(more, target, weights[order]))


SOURCES = ("memory", "csv", "parquet", "dask")


def in_source(table, source, path):
    """Return a table in memory, in a file, or in partitions of Dask."""
    if source == "memory":
        return table
    if source == "dask":
        return dd.from_pandas(table, npartitions=3)
    getattr(table, f"to_{source}")(path, index=False)
    return path


@pytest.mark.parametrize("task", ["number", "two classes", "several classes"])
def test_rows_of_weight_zero_change_nothing_at_all(task, tmp_path):
    """Not one bit of a model, whatever they hold: in all kinds of input, weights, and groups."""
    for number, (X, y) in enumerate(tables()):
        if number % {"number": 1, "two classes": 5, "several classes": 12}[task]:
            continue  # classes take longer, and several a fit for each
        rng = np.random.default_rng(number)
        if task != "number":
            cuts = np.quantile(y, [0.5] if task == "two classes" else [0.3, 0.7])
            y = np.array(["low", "mid", "top"])[np.searchsorted(cuts, y)]  # noqa: PLW2901
        weights = WEIGHTS[rng.choice([*WEIGHTS])](rng, len(y))
        table = X.assign(y=y, weight=weights, group=rng.integers(0, 20, len(y)))
        source = SOURCES[rng.integers(len(SOURCES))]
        path = tmp_path / f"a.{source}"
        how = {"n_trees": 8, "n_jobs": 1, "min_coverage": float(rng.choice([0.1, 0.02]))}
        roles = {"sample_weight": "weight"}
        if rng.random() < 0.5:
            roles["groups"] = "group"
        estimator = MossRegressor if task == "number" else MossClassifier
        with dask.config.set(scheduler="synchronous"):
            one, other = (
                estimator(2, **how).fit(in_source(each, source, path), "y", **roles)
                for each in (table, with_idle_rows(rng, table))
            )
        assert one.rules_.to_json() == other.rules_.to_json(), (number, source, roles)
        if task != "number":
            assert one.classes_.tolist() == other.classes_.tolist()


def test_candidates_do_not_know_rows_of_weight_zero():
    """Nor do those that keep the order of rows, the rules of the paper's forest, and of others."""
    for number, (X, y) in enumerate(tables()):
        rng = np.random.default_rng(number)
        weights = WEIGHTS[rng.choice([*WEIGHTS])](rng, len(y))
        table = X.assign(y=y, weight=weights, group=0)
        generator = ("forest", "paper-forest")[number % 2]
        one, other = (
            find_candidates(
                each[X.columns],
                each["y"],
                sample_weight=each["weight"],
                n_trees=16,
                generator=generator,
                min_coverage=0.05,
            )
            for each in (table, with_idle_rows(rng, table))
        )
        assert one.pool == other.pool
        assert one.statistics.n == other.statistics.n
        np.testing.assert_array_equal(one.statistics.G, other.statistics.G)


def test_records_of_refits_do_not_know_rows_of_weight_zero():
    """Nor do the intervals, and the numbers of rows, that a rule set carries."""
    for number, (X, y) in enumerate(tables()):
        if number % 12:  # refits take time
            continue
        rng = np.random.default_rng(number)
        table = X.assign(y=y, weight=WEIGHTS["whole"](rng, len(y)), group=0)
        models = []
        for each in (table, with_idle_rows(rng, table)):
            data, roles = each.drop(columns="group"), {"sample_weight": "weight"}
            model = MossRegressor(2, n_trees=16, n_jobs=1).fit(data, "y", **roles)
            model.track_record(data, "y", refits=2, **roles)
            models.append(model.rules_)
        assert models[0].to_json() == models[1].to_json()


def test_whole_weights_are_rows_repeated():
    """A row of weight 3 is three rows, and one of weight 0 none."""
    for number, (X, y) in enumerate(tables()):
        weights = np.random.default_rng(number).integers(0, 4, len(y))
        rows = np.repeat(np.arange(len(y)), weights)
        assert_same(regressor(X.iloc[rows], y[rows]), regressor(X, y, weights.astype(float)))


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_names_of_classes_do_not_matter(class_weight):
    """Numbers or words, in either order: the rules are those of the event, or for the other class.

    Effects for the other class are negated.
    """
    for X, y in tables():
        event = y > np.median(y)
        if min(event.sum(), (~event).sum()) < 3:
            continue
        how = {"class_weight": class_weight}
        model = classifier(X, event.astype(int), **how)
        words = np.where(event, "case", "control")  # "control" comes second
        assert_same(model, classifier(X, words, **how), offset=0.0)
        assert_same(model, classifier(X, words, outcome="control", **how), -1.0, offset=0.0)
        assert_same(model, classifier(X, 1 - event.astype(int), **how), -1.0, offset=0.0)
        words = np.where(event, "ill", "healthy")
        assert_same(model, classifier(X, words, **how), offset=0.0)


def test_candidates_do_not_depend_on_the_order_of_columns():
    """`find_candidates` keeps the order of rows, and that of columns does not matter to it."""
    for number, (X, y) in enumerate(tables()):
        order = list(np.random.default_rng(number).permutation(X.columns))
        one, other = (
            find_candidates(each, y, n_trees=32, generator="forest") for each in (X, X[order])
        )
        assert other.pool == one.pool
        np.testing.assert_array_equal(other.statistics.G, one.statistics.G)


def test_statistics_are_the_same_to_the_bit_but_for_signs():
    """So a solver sees one problem, and no tie can break otherwise."""
    for X, y in tables():
        one, other = (
            candidates_for(X, target, n_trees=32, generator="forest")
            for target in (y, -2.5 * y + 1.0)
        )
        for name, sign in {"G": 1, "q": 1, "support": 1, "counts": 1, "values": -1}.items():
            found, expected = (getattr(each.statistics, name) for each in (other, one))
            np.testing.assert_array_equal(found, sign * expected)


def test_a_cross_validated_stability_does_not_depend_on_signs_and_orders():
    """The folds of "auto" go by the same numbers of rows."""
    for number, (X, y) in enumerate(tables()):
        if number % 12:  # folds take time
            continue
        order = np.random.default_rng(number).permutation(len(y))
        model = regressor(X, y, stability="auto", cv=2)
        assert_same(model, regressor(X, -y, stability="auto", cv=2), -1.0)
        columns = list(X.columns[::-1])
        other = regressor(X[columns].iloc[order], y[order], stability="auto", cv=2)
        assert_same(model, other)


def test_the_folds_of_classes_that_change_places_are_the_same():
    """Each class is dealt out by itself, the one of the first row first."""
    for number, (X, y) in enumerate(tables()):
        if number % 12 == 0:
            event = (y > np.median(y)).astype(int)
            one, other = (
                classifier(X, each, stability="auto", cv=2, gap=0.05) for each in (event, 1 - event)
            )
            assert other.evaluation_.choose().share == one.evaluation_.choose().share
            assert_same(one, other, -1.0, offset=0.0)


def test_the_papers_forest_goes_by_the_target_and_by_places(cases):
    """It draws as the first release did, which most of these properties do not survive."""
    changed = 0
    for X, y, _ in cases[:10]:
        paper = MossRegressor(5, n_trees=32, generator="paper-forest")
        one = paper.fit(X, y).pool_.rules
        changed += paper.fit(X, -y).pool_.rules != one
        changed += paper.fit(X[list(X.columns[::-1])], y).pool_.rules != one
    assert changed > 10


@pytest.mark.parametrize("generator", ["forest", "paper-forest"])
def test_named_outcomes_have_the_same_rules_to_the_bit(generator):
    """Whatever the classes are called, and whichever comes first: the outcome is what is named."""
    X, y = next(tables())
    event = y > np.median(y)
    how = {"generator": generator}
    expected = classifier(X, event, **how)
    pairs = [("case", "control"), ("b", "a"), ("a", "b"), (1, 2), (7, -3), ("no", "yes")]
    for outcome, other in pairs:
        labels = np.where(event, outcome, other)
        found = classifier(X, labels, outcome=outcome, **how)
        assert found.rules_.outcome == outcome
        assert found.rules_ == expected.rules_
        np.testing.assert_array_equal(found.rules_.weights, expected.rules_.weights)
        place = found.classes_.tolist().index(outcome)
        chances = found.predict_proba(X)
        np.testing.assert_array_equal(chances[:, place], expected.predict_proba(X)[:, 1])
        np.testing.assert_array_equal(found.decision_function(X) > 0, chances[:, 1] > 0.5)
        np.testing.assert_array_equal(found.predict(X) == outcome, expected.predict(X))
