"""Errors of effects from residuals of rows that refits left out."""

import numpy as np
import pytest

from mossrules import MossRegressor
from mossrules.evaluation import refit_measures
from mossrules.evaluation.left_out import LeftOut, effect_errors, half_widths


def rows_of(y, *, groups=None, without=None, weights=None):
    """Return rows that one refit left out, unless told otherwise."""
    n = len(y)
    without = [np.ones(n, dtype=bool)] if without is None else without
    weights = np.ones(n) if weights is None else weights
    return LeftOut(np.arange(n), y, weights, groups, without, 1.0)


def test_effects_that_no_row_determines_have_no_error():
    """Two equal rules, and one that holds nowhere; the rule beside them keeps its error."""
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 60)) < 0.5
    y, flat = rng.normal(size=60), np.zeros(60)
    rows = rows_of(y)
    holds = np.column_stack([a, b, a, flat > 0])
    errors, _ = effect_errors(rows, holds, flat, [flat], of_classes=False)
    assert np.isnan(errors).tolist() == [False, True, False, True, True]
    alone, _ = effect_errors(rows, holds[:, :2], flat, [flat], of_classes=False)
    assert errors[2] == pytest.approx(alone[2])


def test_a_single_group_tells_of_no_spread():
    """There is nothing to compare it with."""
    rng = np.random.default_rng(1)
    y, holds = rng.normal(size=20), rng.random((20, 1)) < 0.5
    rows = rows_of(y, groups=np.zeros(20, dtype=np.int64))
    errors, degrees = effect_errors(rows, holds, 0 * y, [0 * y], of_classes=False)
    assert np.isnan(errors).all()
    assert np.isnan(half_widths(errors, degrees, 0.95)).all()


def test_a_row_has_the_mean_prediction_of_the_refits_without_it():
    """And no residual where every refit had it."""
    without = [np.array([True, True, False]), np.array([True, False, False])]
    predictions = [np.array([1.0, 2.0, 3.0]), np.array([3.0, 9.0, 9.0])]
    rows = rows_of(np.array([5.0, 5.0, 5.0]), without=without)
    np.testing.assert_array_equal(rows.residuals(predictions), [3.0, 3.0, np.nan])


@pytest.mark.parametrize("groups", [None, np.arange(2000) % 40])
def test_some_of_many_rows_stand_for_all(monkeypatch, groups):
    """Errors are nearly the same, though only a quarter of the rows is looked at."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 3)).round(2)
    shared = 0.0 if groups is None else rng.normal(size=40)[groups]
    y = 2.0 * (X[:, 0] > 0) + X[:, 1] + shared + rng.normal(size=2000)
    model = MossRegressor(3, n_trees=50, random_state=0).fit(X, y, groups=groups)
    widths = []
    for most in (10_000, 500):
        monkeypatch.setattr(refit_measures, "MOST_PEOPLE", most)
        record = model.track_record(X, y, refits=8, groups=groups)
        widths.append([each.held_fixed.upper - each.held_fixed.lower for each in record.rules])
    assert np.divide(*widths) == pytest.approx(1.0, abs=0.35)


def test_intervals_are_wider_where_groups_are_told():
    """As rows of a group share what no column tells, and rules differ between groups only."""
    rng = np.random.default_rng(4)
    group = np.arange(400) % 25
    X = np.column_stack([rng.normal(size=25)[group], rng.normal(size=400)])
    y = 1.0 * (X[:, 0] > 0) + 2.0 * rng.normal(size=25)[group] + rng.normal(size=400)
    widths = []
    for told in (None, group):
        model = MossRegressor(2, n_trees=50, max_depth=1, random_state=0).fit(X, y, groups=told)
        record = model.track_record(X, y, refits=10, groups=told)
        between = [each.held_fixed for each in record.rules if each.rule.startswith("x0")]
        widths.append(np.mean([upper - lower for lower, upper in between]))
    assert widths[1] > 1.5 * widths[0]
