"""What few rows have is neither on a page nor in a model, and predictions do not miss it."""

import json

import numpy as np
import pytest

from mossrules import MossClassifier, MossRegressor, RuleSet
from mossrules.data.table import Table
from mossrules.defaults import MIN_ROWS_SHOWN
from mossrules.display.report import collect, render

N = 251
# Identifiers and dates are what these tests are about, and fit says so.
pytestmark = pytest.mark.filterwarnings("ignore::mossrules.exceptions.TableWarning")
OPTIONS = {"cv": None, "points": 12, "methods": None, "refits": 0}


@pytest.fixture(scope="module")
def visits():
    """Return identifiers, dates, levels of 3 and 6 rows, and numbers that all differ."""
    draw = np.random.default_rng(0)
    days = np.datetime64("2020-01-01") + 3 * np.arange(N)
    sites = np.repeat(["north", "south", "west", "Smallville", "Hamlet"], [100, 100, 42, 6, 3])
    X = {
        "patient_id": np.array([f"P{100000 + 7 * i}" for i in range(N)], dtype=object),
        "visit": days.astype(str).astype(object),
        "site": draw.permutation(sites).astype(object),
        "income": draw.normal(50_000, 9_000, N).round(2),
        "age": draw.integers(18, 90, N).astype(float),
    }
    y = 5 * (X["age"] > 60) + 3 * (X["site"] == "south") + draw.normal(0, 1, N)
    return X, y.round(6)


def rare_values(X, y, model):
    """Yield what fewer rows have than may be shown, as it would be read, and no rule names.

    Ages are left out: numbers of two digits are all over a page, and mean something else.
    """
    kept = {level for _, level in model.rules_.rare_levels}
    columns = {name: values for name, values in X.items() if name != "age"}
    for name, values in {**columns, "y": y}.items():
        found, counts = np.unique(values, return_counts=True)
        yield from (
            (name, repr(each.item()) if name in ("income", "y") else each)
            for each in found[counts < MIN_ROWS_SHOWN]
            if each not in kept
        )


def test_no_rare_value_is_in_the_page_or_in_the_model(visits):
    """Of all identifiers, dates, rare levels and unique numbers, none can be read anywhere."""
    X, y = visits
    model = MossRegressor(8, n_trees=150, random_state=0).fit(X, y)
    data = collect(model, X, y, **OPTIONS)
    text = model.rules_.to_json(), render(data), json.dumps(data.content())
    rare = list(rare_values(X, y, model))
    assert len(rare) > 4 * N - 5
    assert [(name, value) for name, value in rare if any(value in each for each in text)] == []
    assert f"no value that fewer than {MIN_ROWS_SHOWN} rows have" in text[1]


def test_the_page_of_a_model_alone_has_none_either(visits):
    """Without rows, a report has what the model knows, which are levels and cut points."""
    X, y = visits
    model = MossRegressor(8, n_trees=150, random_state=0).fit(X, y)
    page = render(collect(model, points=5))
    assert not any(value in page for _, value in rare_values(X, y, model))


def test_a_rule_that_names_a_rare_level_is_told(visits):
    """The model keeps it, and says so; other points of the trade-off with such rules stay away."""
    X, y = visits
    y = y + 5 * (X["site"] == "Smallville")
    model = MossRegressor(6, n_trees=150, random_state=0).fit(X, y)
    assert model.rules_.rare_levels == (("site", "Smallville"),)
    data = collect(model, X, y, **OPTIONS)
    page = render(data)
    assert "but for levels that rules of the fitted model name" in page
    assert data.rare_levels == (("site", "Smallville"),)
    without = collect(model.select(stability=1.0), X, y, **OPTIONS)
    assert without.rare_levels == ()
    assert without.left_out > 0
    assert "Smallville" not in render(without)


def test_predictions_do_not_miss_what_is_left_out(visits):
    """A level that is left out is any other value to the rules, as it was before, and as JSON."""
    X, y = visits
    # Far from all others, so that rules name what they are not.
    y = y - 9 * (X["site"] == "north")
    for model in (
        MossRegressor(8, n_trees=150, random_state=0).fit(X, y),
        MossClassifier(8, n_trees=150, random_state=0).fit(X, y > np.median(y)),
    ):
        rules = model.rules_
        assert {"Hamlet", "Smallville"}.isdisjoint(rules.binning["site"].levels)
        whole = model.candidates_.binning
        assert "Hamlet" in whole["site"].levels
        again = RuleSet.from_json(rules.to_json())
        codes = whole.encode(Table.from_any(X))
        for rule, holds in zip(rules.rules, rules.holds(X).T, strict=True):
            one_by_one = np.ones(N, dtype=bool)
            for condition in rule.conditions:
                place = whole.index(condition.feature)
                one_by_one &= condition.accepts(whole[condition.feature])[codes[place]]
            assert np.array_equal(holds, one_by_one)
        assert np.array_equal(again.predict(X), rules.predict(X))


def test_weights_do_not_make_rows_of_a_row(visits):
    """A level of one row is rare though that row counts for twenty, or for a fraction."""
    X, y = visits
    for weights in (np.where(X["site"] == "Hamlet", 20, 1), np.linspace(0.5, 9.7, N)):
        model = MossRegressor(4, n_trees=60, random_state=0).fit(X, y, sample_weight=weights)
        binned = model.candidates_.binning["site"]
        assert binned.rare == {"Hamlet", "Smallville"}
        assert len(model.candidates_.binning["visit"].rare) == min(N, 250)
