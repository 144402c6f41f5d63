import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel

from mossrules import MossRegressor, RuleSet
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import Range, Rule
from mossrules.data.columns import Kind
from mossrules.exceptions import InvalidParameter
from support.model_cases import rulesets, wild_table


def column_of(frame, name):
    """Return a column as a list."""
    return frame[name].tolist()


def three_rules(weights=(2.0, -6.0, 1.0), support=(0.5, 0.2, 1.0)):
    """Return rules on a; on a and b; and on c, which holds everywhere."""
    columns = [BinnedColumn(name, Kind.NUMERIC, (0.0, 1.0)) for name in "abcd"]
    return RuleSet(
        rules=(
            Rule.of([Range("a", 2)]),
            Rule.of([Range("a", 1, 1), Range("b", 1, 2)]),
            Rule.of([Range("c", 3)]),
        ),
        weights=np.array(weights),
        intercept=0.5,
        binning=Binning(tuple(columns)),
        columns=tuple("abcd"),
        support=np.array(support),
        proportion=np.array([0.1, 0.2, 0.3]),
    )


def fitted(seed=0, **parameters):
    """Return a small model, and its rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 6))
    y = 3.0 * (X[:, 4] > 0) + 2.0 * (X[:, 1] > 0.5) * (X[:, 0] < 0) + 0.2 * rng.normal(size=150)
    return MossRegressor(5, n_trees=60, n_jobs=1, **parameters).fit(X, y), X


# --- rules and features ---------------------------------------------------------------------------


def test_importances_by_hand():
    """6 sqrt(.2 .8) and 2 sqrt(.5 .5); a rule that holds everywhere has none; halves for two."""
    ruleset = three_rules()
    rules = ruleset.rule_importances()
    assert column_of(rules, "rule") == ["a <= 0 and b <= 1", "a > 0", "c > 1"]
    assert column_of(rules, "importance") == pytest.approx([2.4, 1.0, 0.0])
    assert column_of(rules, "share") == pytest.approx([2.4 / 3.4, 1.0 / 3.4, 0.0])
    features = ruleset.feature_importances()
    assert column_of(features, "feature") == ["a", "b", "c"]
    assert column_of(features, "importance") == pytest.approx([2.2, 1.2, 0.0])
    assert column_of(features, "share") == pytest.approx([2.2 / 3.4, 1.2 / 3.4, 0.0])


@pytest.mark.parametrize("weighted", [False, True])
def test_a_rule_matters_as_much_as_it_spreads_predictions(weighted):
    """On the training rows, its importance is the standard deviation of what it adds."""
    rng = np.random.default_rng(1)
    X, y = wild_table(3)
    weights = rng.integers(0, 4, len(y)) if weighted else np.ones(len(y))
    model = MossRegressor(6, n_trees=40, n_jobs=1).fit(X, y, weights if weighted else None)
    ruleset = model.rules_
    added = ruleset.holds(X) * ruleset.weights
    mean = np.average(added, axis=0, weights=weights)
    spread = np.sqrt(np.average((added - mean) ** 2, axis=0, weights=weights))
    expected = dict(zip(ruleset.texts, spread, strict=True))
    table = ruleset.rule_importances()
    assert dict(zip(table["rule"], table["importance"], strict=True)) == pytest.approx(expected)
    assert (table["importance"] > 0).any()


@settings(deadline=None)
@given(rulesets())
def test_what_rules_have_is_what_their_features_have(ruleset):
    """Dividing among features loses nothing, frames are sorted, and shares add up to 1 or are 0."""
    rules, features = ruleset.rule_importances(), ruleset.feature_importances()
    assert sorted(column_of(rules, "rule")) == sorted(ruleset.texts)
    assert sorted(column_of(features, "feature")) == sorted(ruleset.features)
    amounts = column_of(rules, "importance")
    for table in (rules, features):
        found = column_of(table, "importance")
        assert found == sorted(found, reverse=True)
        assert sum(found) == pytest.approx(sum(amounts), rel=1e-9, abs=1e-300)
        assert sum(column_of(table, "share")) == pytest.approx(1.0 if any(amounts) else 0.0)
    held = dict(zip(column_of(features, "feature"), column_of(features, "share"), strict=True))
    given_ = dict(zip(ruleset.texts, ruleset.rules, strict=True))
    if len(given_) == len(ruleset):  # texts of different rules may coincide
        for name, share in held.items():
            own = [
                part / len(given_[text])
                for text, part in zip(rules["rule"], rules["share"], strict=True)
                if name in given_[text].features
            ]
            assert share == pytest.approx(math.fsum(own))


@settings(deadline=None)
@given(rulesets(), st.floats(0.01, 100.0), st.booleans())
def test_units_of_the_target_scale_importances_and_not_shares(ruleset, factor, flip):
    """A target in other units, or turned around, has the same order of rules."""
    if len(ruleset) == 0 or not 1e-100 < max(abs(ruleset.weights)) < 1e100:
        return
    other = RuleSet(
        ruleset.rules, ruleset.weights * (-factor if flip else factor), 0.0, ruleset.binning,
        ruleset.columns, ruleset.support, ruleset.proportion,
    )  # fmt: skip
    for name in ("rule_importances", "feature_importances"):
        one, two = getattr(ruleset, name)(), getattr(other, name)()
        amounts = [factor * amount for amount in column_of(one, "importance")]
        assert column_of(two, "importance") == pytest.approx(amounts, rel=1e-9, abs=1e-300)
        assert column_of(two, "share") == pytest.approx(column_of(one, "share"), rel=1e-9, abs=1e-9)


def test_weights_at_the_end_of_the_doubles_have_shares():
    """Their sum overflows; their shares do not."""
    ruleset = three_rules((1.7e308, -1.7e308, 1.7e308), (0.5, 0.5, 0.5))
    assert column_of(ruleset.rule_importances(), "share") == pytest.approx([1 / 3] * 3)
    assert column_of(ruleset.feature_importances(), "share") == pytest.approx([1 / 2, 1 / 3, 1 / 6])


def test_equal_importances_stay_in_the_order_of_the_rules_and_columns():
    """Ties are settled by the fixed order, not by chance."""
    ruleset = three_rules((1.0, 1.0, -1.0), (0.5, 0.5, 0.5))
    assert column_of(ruleset.rule_importances(), "rule") == ruleset.texts
    assert column_of(ruleset.feature_importances(), "feature") == ["a", "c", "b"]


def test_frames_of_other_libraries_have_the_same_rows():
    """The backend changes the type and nothing else."""
    ruleset = three_rules()
    for name in ("rule_importances", "feature_importances"):
        table = getattr(ruleset, name)()
        assert getattr(ruleset, name)("polars").to_dicts() == table.to_dict("records")
        with pytest.raises(InvalidParameter, match="backend is 'R'"):
            getattr(ruleset, name)("R")


def test_without_rules_there_are_no_rows():
    """Frames are empty and have their columns."""
    empty = RuleSet((), np.empty(0), 1.0, Binning(()), ("a",), np.empty(0), np.empty(0))
    assert list(empty.rule_importances().columns) == ["rule", "importance", "share"]
    assert list(empty.feature_importances().columns) == ["feature", "importance", "share"]
    assert len(empty.rule_importances()) == len(empty.feature_importances()) == 0


# --- the estimator --------------------------------------------------------------------------------


def test_the_estimator_has_shares_of_all_columns():
    """One per column of X, in their order, 0 for columns that no rule uses; they add up to 1."""
    model, X = fitted()
    found = model.feature_importances_
    table = model.rules_.feature_importances()
    shares = dict(zip(table["feature"], table["share"], strict=True))
    assert found.shape == (X.shape[1],) == (model.n_features_in_,)
    assert found.tolist() == [shares.get(f"x{i}", 0.0) for i in range(6)]
    assert found.sum() == pytest.approx(1.0)
    assert np.argmax(found) == 4
    assert pickle.loads(pickle.dumps(model)).feature_importances_.tolist() == found.tolist()  # noqa: S301  our own


def test_the_target_among_the_columns_has_no_place():
    """Where y is the name of a column, shares are those of the others."""
    X, y = wild_table(5)
    model = MossRegressor(4, n_trees=30, n_jobs=1).fit(X.assign(goal=y), "goal")
    plain = MossRegressor(4, n_trees=30, n_jobs=1).fit(X, y)
    assert len(model.feature_importances_) == model.n_features_in_ == X.shape[1]
    assert model.feature_importances_.tolist() == plain.feature_importances_.tolist()


def test_scikit_learn_selects_columns_by_them():
    """`SelectFromModel` keeps the columns of more than average importance."""
    model, X = fitted()
    selector = SelectFromModel(model, prefit=True)
    kept = model.feature_importances_ >= model.feature_importances_.mean()
    assert selector.get_support().tolist() == kept.tolist()
    assert selector.transform(X).tolist() == X[:, kept].tolist()


def test_a_model_without_rules_has_zeros():
    """A constant target needs no column."""
    model = MossRegressor(n_trees=10).fit(np.arange(20.0).reshape(10, 2), np.ones(10))
    assert model.feature_importances_.tolist() == [0.0, 0.0]


def test_before_fit_there_are_none():
    """The error is scikit-learn's, and asking whether there are some says no."""
    with pytest.raises(NotFittedError, match="not fitted yet"):
        _ = MossRegressor().feature_importances_
    assert not hasattr(MossRegressor(), "feature_importances_")
