# ruff: noqa: S608  queries are what is tested
"""Whole analyses of awkward tables: from fit to every export and back, with a valid certificate.

`HYPOTHESIS_PROFILE=search pytest tests/package/test_reliability.py` looks at other tables.
"""

import os
import sqlite3
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules import MossClassifier, MossRegressor, RuleSet
from mossrules.exceptions import InvalidParameter, InvalidTarget, MossError
from support.model_cases import HOSTILE, plain_values, records, wild_table

EXAMPLES = 200 if os.environ.get("HYPOTHESIS_PROFILE") == "search" else 12
TABLE = "the rows"


def awkward_table(seed):
    """Return a table with some of all that makes trouble, and a target of any scale."""
    rng = np.random.default_rng([9, seed])
    n = int(rng.choice([2, 3, 4, 5, 12, 40, 70]))
    X, y = wild_table(seed, n=n)
    if rng.random() < 0.3:
        X["constant"] = 1.5
    if rng.random() < 0.3:
        X["never there"] = np.full(n, np.nan)
    if rng.random() < 0.4:
        close = rng.normal(size=n)
        X["one"], X["nearly one"] = close, np.nextafter(close, np.inf)
    if rng.random() < 0.2:
        wide = {f"{HOSTILE[i % 20]} {i}": rng.normal(size=n) for i in range(60)}
        X = pd.concat([X, pd.DataFrame(wide)], axis=1)
    if rng.random() < 0.3:
        X["denormal"] = rng.integers(-9, 9, n) * 5e-324
        X["immense"] = rng.choice([-1e300, -1e12, 0.0, 1e-12, 1.7e308], n)
    y = y * 10.0 ** rng.choice([-300, -12, 0, 0, 0, 12, 200]) + rng.choice([0.0, 0.0, 1e12])
    if rng.random() < 0.15:
        y[rng.integers(n)] = 1e300
    return X, y


def settings_of(seed):
    """Return parameters, from one end of their range to the other."""
    rng = np.random.default_rng([10, seed])
    found = {
        "max_rules": int(rng.integers(1, 7)),
        "stability": float(rng.choice([0.5, 0.8, 1.0])),
        "gamma": rng.choice([1e-9, 1e-3, 1.0, 1e3]) if rng.random() < 0.5 else "auto",
        "n_trees": int(rng.choice([1, 10, 25])),
        "max_depth": int(rng.integers(1, 4)),
        "n_bins": int(rng.choice([2, 6, 10])),
        "random_state": int(rng.integers(9)),
        "n_jobs": 1,
    }
    # With next to no ridge, bounds are close to 0, and a proof may take for ever.
    return {**found, "gap": 1.0 if found["gamma"] == 1e3 else 1e-3}


def exported_predictions(ruleset, X):
    """Return what the exported Python and SQL predict."""
    names = {}
    exec(ruleset.to_python(), names)  # noqa: S102  our own export
    by_python = [names["predict"](row) for row in records(X)]
    columns = {name: plain_values(X[name]) for name in X}
    listed = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
    connection = sqlite3.connect(":memory:")
    connection.execute(f'CREATE TABLE "{TABLE}" ({listed})')
    marks = ", ".join("?" * len(columns))
    rows = list(zip(*columns.values(), strict=True))
    connection.executemany(f'INSERT INTO "{TABLE}" VALUES ({marks})', rows)
    by_sql = connection.execute(ruleset.to_sql(TABLE, "sqlite")).fetchall()
    connection.close()
    return by_python, [row[0] for row in by_sql]


def check_exports(ruleset, X):
    """Fail unless exported programs predict the same."""
    predicted = ruleset.predict(X)
    by_python, by_sql = exported_predictions(ruleset, X)
    if ruleset.link == "logit":  # the last bit of exp is that of whoever computes it
        np.testing.assert_allclose(by_python, predicted, rtol=1e-12)
        np.testing.assert_allclose(np.array(by_sql, dtype=float), predicted, rtol=1e-12)
        return
    np.testing.assert_array_equal(by_python, predicted)
    # SQLite reads numbers of extreme exponents, and no others, with an error in the last bit.
    weights = np.abs(ruleset.weights[ruleset.weights != 0])
    usual = np.logical_and(weights > 1e-200, weights < 1e200).all()
    rounding = 0.0 if usual else 1e-13 * weights.max()
    np.testing.assert_allclose(np.array(by_sql, dtype=float), predicted, rtol=0, atol=rounding)


def check_certificate(model):
    """Fail unless what is said of a choice is so; without candidates there is none."""
    if model.problem_ is not None:
        check = model.solution_.verify(model.problem_)
        assert check.passed, str(check)


@settings(max_examples=EXAMPLES, database=None)
@given(st.integers(0, 10**6))
def test_an_analysis_of_an_awkward_table_is_whole(seed):
    """Predictions are finite and the same in all forms, and the certificate holds."""
    X, y = awkward_table(seed)
    model = MossRegressor(**settings_of(seed)).fit(X, y)
    predicted = model.predict(X)
    assert np.isfinite(predicted).all()
    back = RuleSet.from_json(model.rules_.to_json())
    np.testing.assert_array_equal(back.predict(X), predicted)
    check_exports(model.rules_, X)
    check_certificate(model)
    order = np.random.default_rng(seed).permutation(len(y))
    again = MossRegressor(**settings_of(seed)).fit(X.iloc[order], y[order])
    assert again.rules_.to_json() == model.rules_.to_json()


@settings(max_examples=max(4, EXAMPLES // 3), database=None)
@given(st.integers(0, 10**6))
def test_a_classifier_of_an_awkward_table_is_whole(seed):
    """Probabilities add up to one, are the same in all forms, and the certificate holds."""
    X, y = awkward_table(seed)
    labels = np.where(y > np.median(y), "high", "low")
    if len(set(labels)) < 2:
        labels[0] = "other"
    model = MossClassifier(**settings_of(seed)).fit(X, labels)
    found = model.predict_proba(X)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    back = RuleSet.from_json(model.rules_.to_json())
    np.testing.assert_array_equal(back.predict(X), model.rules_.predict(X))
    check_exports(model.rules_, X)
    check_certificate(model)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_many_more_columns_than_rows(n):
    """As few rows as there can be, and two thousand columns, some equal: used or refused."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 2000))
    X[:, 1::2] = np.nextafter(X[:, ::2], np.inf)
    y = rng.normal(size=n)
    if n == 1:
        with pytest.raises(MossError, match="row"):
            MossRegressor(3, n_trees=20, n_jobs=1).fit(X, y)
        return
    model = MossRegressor(3, n_trees=20, random_state=0, n_jobs=1).fit(X, y)
    again = RuleSet.from_json(model.rules_.to_json())
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    if model.problem_ is not None:
        assert model.solution_.verify(model.problem_).passed


NAMES = (
    "\x00",
    "half \ud800",
    "e\u0301",
    "\u05d0\u05d1\u200f",
    "\U0001f469\u200d\U0001f467",
    "\u2028",
    "\ufeff",
)


def test_names_of_any_characters():
    """Those that no file can hold too; SQL refuses what it cannot write."""
    rng = np.random.default_rng(0)
    X = {name: rng.normal(size=60) for name in NAMES}
    y = sum(values > 0 for values in X.values()) + 0.1 * rng.normal(size=60)
    model = MossRegressor(8, n_trees=40, random_state=0, n_jobs=1).fit(X, y)
    assert any("\ud800" in text for text in model.rules_.texts)
    text = model.rules_.to_json()
    text.encode()  # in a file too
    np.testing.assert_array_equal(RuleSet.from_json(text).predict(X), model.predict(X))
    names = {}
    exec(model.rules_.to_python(), names)  # noqa: S102  our own export
    rows = [dict(zip(X, row, strict=True)) for row in zip(*X.values(), strict=True)]
    np.testing.assert_array_equal([names["predict"](row) for row in rows], model.predict(X))
    model.rules_.to_frame()
    with pytest.raises(MossError, match="SQL cannot write"):
        model.rules_.to_sql("t")


# --- weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [2.0**-20, 2.0**-100])
def test_the_unit_of_weights_below_one_does_not_matter(factor):
    """Weights that are shares of something small give the model of larger ones."""
    X, y = wild_table(3, n=80)
    w = np.random.default_rng(0).uniform(0.1, 1.0, len(y))
    one = MossRegressor(4, n_trees=25).fit(X, y, sample_weight=w)
    other = MossRegressor(4, n_trees=25).fit(X, y, sample_weight=w * factor)
    assert other.rules_ == one.rules_
    np.testing.assert_allclose(other.predict(X), one.predict(X), rtol=1e-9)
    assert one.score(X, y) > 0.3


@pytest.mark.parametrize("weight", [1e-300, 1e-99, 1e-50, 1e-12, 1e12, 1e50, 1e99, 1e300])
def test_extreme_weights_are_used_or_refused(weight):
    """Never a warning or an error of another kind."""
    X, y = wild_table(3, n=40)
    w = np.full(len(y), weight)
    model = MossRegressor(3, n_trees=10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if weight in (1e-300, 1e300):
            with pytest.raises(InvalidTarget, match="rescale"):
                model.fit(X, y, sample_weight=w)
        elif weight in (1e-99, 1e99):
            with pytest.raises(InvalidParameter, match=r"choose other units .* or the weights"):
                model.fit(X, y, sample_weight=w)
        else:
            assert np.isfinite(model.fit(X, y, sample_weight=w).predict(X)).all()


def test_extreme_gammas_are_used_or_refused():
    """One with which weights are lost in rounding, or squares are, is refused in a sentence."""
    X, y = wild_table(3, n=40)
    least = MossRegressor(3, n_trees=10, gamma=1e-119).fit(X, y)
    assert np.isfinite(least.predict(X)).all()
    for gamma, reason in REFUSED.items():
        with pytest.raises(InvalidParameter, match=reason):
            MossRegressor(3, n_trees=10, gamma=gamma).fit(X, y)


# --- extremes, by every method --------------------------------------------------------------------

METHODS = ("branch-and-bound", "cutting-plane", "coordinate-descent")
LEARNERS = [(MossRegressor, method) for method in METHODS]
LEARNERS += [(MossClassifier, method) for method in METHODS if method != "cutting-plane"]
# At this stability few rules are left. Where a gamma is so large that nothing is shrunk, the
# cutting plane looks at nearly all choices, and at the default there are thousands.
SMALL = {"max_rules": 3, "stability": 0.9, "n_trees": 10, "random_state": 0, "n_jobs": 1}
TARGETS = {
    "x1e12": lambda y: y * 1e12,
    "x1e-12": lambda y: y * 1e-12,
    "x1e300": lambda y: y * 1e300,
    "x1e-300": lambda y: y * 1e-300,
    "+1e12": lambda y: y + 1e12,
}
OUT_OF_RANGE = "must be from 1e-120 to 1e\\+120"
REFUSED = {1e-300: OUT_OF_RANGE, 1e119: "lost in rounding", 1e300: OUT_OF_RANGE}
GAMMAS = [1e-119, 1e-12, 1e3, 1e8, *REFUSED]


def nearly_equal_columns(n=60):
    """Return columns that differ in their last bits, and a target that depends on all of them."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    X = [x * (1 + 1e-15 * i) for i in range(6)] + [x + 1e-12 * rng.normal(size=n) for _ in range(6)]
    return np.column_stack(X), (x > 0) + 0.1 * rng.normal(size=n)


def check_whole(model, X, y, **fit):
    """Fail unless a fit is finite and the same from its file, and its certificate holds."""
    model.fit(X, y, **fit)
    predicted = model.rules_.predict(X)
    assert np.isfinite(predicted).all()
    back = RuleSet.from_json(model.rules_.to_json())
    np.testing.assert_array_equal(back.predict(X), predicted)
    assert model.problem_ is not None
    check_certificate(model)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", TARGETS)
def test_any_scale_of_the_target_is_whole_by_every_method(method, scale):
    """From next to nothing to next to infinity, and far from zero."""
    X, y = wild_table(3, n=50)
    check_whole(MossRegressor(**SMALL, solver=method), X, TARGETS[scale](y))


@pytest.mark.parametrize(("kind", "method"), LEARNERS)
@pytest.mark.parametrize("gamma", GAMMAS)
def test_any_gamma_is_used_or_refused_by_every_method(kind, method, gamma):
    """At both ends of what there is."""
    X, y = wild_table(3, n=50)
    y = y > np.median(y) if kind is MossClassifier else y
    model = kind(**SMALL, solver=method, gamma=gamma)
    if gamma in REFUSED:
        with pytest.raises(InvalidParameter, match=REFUSED[gamma]):
            model.fit(X, y)
    else:
        check_whole(model, X, y)


@pytest.mark.parametrize(("kind", "method"), LEARNERS)
def test_columns_that_are_nearly_equal_are_used_by_every_method(kind, method):
    """Rules that hold on almost the same rows do no harm."""
    X, y = nearly_equal_columns()
    some = np.arange(len(y)) % 9 == 0  # or a column alone would tell the classes apart
    y = (y > 0.5) ^ some if kind is MossClassifier else y
    check_whole(kind(**SMALL, solver=method), X, y)


@pytest.mark.parametrize("weight", [1e-300, 1e-99, 1e-12, 1e12, 1e99, 1e300])
def test_extreme_weights_of_classes_are_used_or_refused(weight):
    """As those of numbers are."""
    X, y = wild_table(3, n=50)
    w, labels = np.full(len(y), weight), y > np.median(y)
    if weight in (1e-300, 1e300):
        with pytest.raises(InvalidTarget, match="rescale"):
            MossClassifier(**SMALL).fit(X, labels, sample_weight=w)
    else:
        check_whole(MossClassifier(**SMALL), X, labels, sample_weight=w)


def test_classes_of_many_more_columns_than_rows():
    """Five thousand columns for thirty rows."""
    rng = np.random.default_rng(0)
    check_whole(MossClassifier(**SMALL), rng.normal(size=(30, 5000)), rng.random(30) > 0.5)
