import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression

from mossrules import MossClassifier, MossRegressor, RuleSet, RuleSets
from mossrules.evaluation import SplitEffects, split_effects
from mossrules.evaluation import sample_splitting as module
from mossrules.evaluation.parts import Parts
from mossrules.evaluation.rule_rows import tells_single
from mossrules.exceptions import InvalidParameter, InvalidTarget, UnsupportedType

N = 240


def table(seed=0):
    """Return columns of all kinds with gaps, a number, a class, weights and groups."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 80, N).astype(float),
            "dose": rng.normal(size=N).round(2),
            "site": rng.choice(["a", "b", "c"], N),
            "smoker": rng.random(N) < 0.4,
        }
    )
    X.loc[rng.random(N) < 0.1, "age"] = np.nan
    eta = 2.0 * (X["age"] > 50) - 1.5 * (X["site"] == "a") + 1.0 * X["smoker"]
    y = (eta + rng.normal(size=N)).rename("score")
    ill = pd.Series(np.where(rng.random(N) < 1 / (1 + np.exp(0.8 - eta)), "yes", "no"), name="ill")
    return X, y, ill, rng.uniform(0.5, 2.0, N), np.arange(N) // 6


X, Y, ILL, WEIGHTS, GROUPS = table()
REGRESSOR = MossRegressor(4, n_trees=50, n_jobs=1)
CLASSIFIER = MossClassifier(4, n_trees=50, n_jobs=1)


def second_part(estimator, y, features=X, **how):
    """Return which of the rows given are in the second part."""
    parts = Parts.read(estimator, features, y, **how)
    return parts.rows.origin[parts.two(0.5, 0)[1]]


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_effects_of_numbers_are_those_of_statsmodels_on_the_second_part(weights):
    """Least squares with HC3 errors on the rules of the first part."""
    found = split_effects(REGRESSOR, X, Y, sample_weight=weights, confidence=0.9)
    rows = second_part(REGRESSOR, Y, sample_weight=weights)
    by_text = {each.rule: each for each in found.effects}
    M = sm.add_constant(found.rules.holds(X.iloc[rows]).astype(float))
    w = np.ones(len(rows)) if weights is None else weights[rows]
    known = sm.WLS(Y.iloc[rows].to_numpy(), M, weights=w).fit(cov_type="HC3", use_t=True)
    ends = known.conf_int(0.1)
    for place, text in enumerate(["(intercept)", *found.rules.texts]):
        each = by_text[text]
        assert each.effect == pytest.approx(known.params[place])
        assert each.standard_error == pytest.approx(known.bse[place])
        assert (each.lower, each.upper) == pytest.approx(tuple(ends[place]))
        assert each.p_value == pytest.approx(known.pvalues[place], abs=1e-12)
        holds = M[:, place] > 0
        assert each.n == np.count_nonzero(holds)
        assert each.coverage == pytest.approx(w[holds].sum() / w.sum())
        assert each.observed == pytest.approx(np.average(Y.iloc[rows][holds], weights=w[holds]))
    expected = known.predict(M)
    np.testing.assert_allclose(found.rules.predict(X.iloc[rows]), expected)
    assert found.rules.target == "score"


def test_effects_of_classes_are_those_of_maximum_likelihood():
    """Odds ratios, events and predictions."""
    found = split_effects(CLASSIFIER, X, ILL)
    rows = second_part(CLASSIFIER, ILL)
    y = (ILL.iloc[rows] == "yes").to_numpy(float)
    M = sm.add_constant(found.rules.holds(X.iloc[rows]).astype(float))
    known = sm.GLM(y, M, family=sm.families.Binomial()).fit(tol=1e-12)
    np.testing.assert_allclose(
        [found.rules.intercept, *found.rules.weights], known.params, rtol=1e-6
    )
    moves = known.get_influence(observed=False).d_params
    errors = dict(zip(found.rules.texts, np.sqrt(np.sum(moves**2, axis=0))[1:], strict=True))
    for each in found.effects[1:]:
        assert each.outcome == "yes"
        assert each.standard_error == pytest.approx(errors[each.rule])
        assert each.events == y[M[:, 1 + found.rules.texts.index(each.rule)] > 0].sum()
        assert each.odds_ratio == pytest.approx(np.exp(each.effect))
    assert found.rules.calibration.rows == found.n_second
    frame = found.frame(backend="pandas")
    np.testing.assert_allclose(frame["odds_lower"], np.exp(frame["lower"]))


def test_groups_come_to_one_part_and_widen_intervals():
    """A shared error makes rows of a group alike; degrees of freedom are groups less one."""
    rng = np.random.default_rng(1)
    shared = X.assign(dose=rng.normal(size=GROUPS.max() + 1)[GROUPS].round(2))
    y = Y + 2 * rng.normal(size=GROUPS.max() + 1)[GROUPS]
    found = split_effects(REGRESSOR, shared, y, groups=GROUPS)
    rows = second_part(REGRESSOR, y, shared, groups=GROUPS)
    assert found.groups == (20, 20)
    assert len(np.unique(GROUPS[rows])) == 20
    assert len(rows) == found.n_second == 120
    assert found.effects[0].degrees == 19
    M = sm.add_constant(found.rules.holds(shared.iloc[rows]).astype(float))
    known = sm.OLS(y.iloc[rows].to_numpy(), M)
    alone = known.fit(cov_type="HC3").bse[0]
    grouped = known.fit(cov_type="cluster", cov_kwds={"groups": GROUPS[rows]}).bse[0]
    assert found.effects[0].standard_error > grouped > alone


def test_names_of_columns_paths_and_repetitions_say_the_same(tmp_path):
    """Groups and weights by name, rows in a file, whole weights as repeated rows."""
    named = X.assign(score=Y, w=WEIGHTS, g=GROUPS)
    told = split_effects(REGRESSOR, X, Y, sample_weight=WEIGHTS, groups=GROUPS)
    by_name = split_effects(REGRESSOR, named, "score", sample_weight="w", groups="g")
    assert str(told) == str(by_name)
    named["score"] = named["score"].round(6)
    named.to_csv(tmp_path / "rows.csv", index=False)
    how = {"sample_weight": "w", "groups": "g"}
    from_file = split_effects(REGRESSOR, tmp_path / "rows.csv", "score", **how)
    assert [each.n for each in from_file.effects] == [each.n for each in told.effects]
    times = np.arange(N) % 3
    repeated = split_effects(REGRESSOR, X, Y, sample_weight=times.astype(float))
    rows = np.repeat(np.arange(N), times)
    assert str(repeated) == str(split_effects(REGRESSOR, X.iloc[rows], Y.iloc[rows]))


def test_the_order_of_rows_does_not_matter():
    """Nor does a fit of the estimator change anything."""
    order = np.random.default_rng(2).permutation(N)
    model = MossRegressor(4, n_trees=50).fit(X, Y)
    assert str(split_effects(REGRESSOR, X.iloc[order], Y.iloc[order])) == str(
        split_effects(model, X, Y)
    )


def test_what_the_second_part_does_not_determine_is_told():
    """Rules that hold nowhere or everywhere, that depend on others, that separate classes."""
    column = np.arange(60) % 2
    rare = np.zeros(60)
    rare[:2] = 1
    M = np.column_stack([np.ones(60), column, 1 - column, np.zeros(60), np.ones(60), rare])
    y = np.where(rare > 0, 1.0, np.arange(60) % 3 == 0)

    class Part:
        of_classes = True

    Part.M, Part.y = M, y
    assert module._undetermined(Part) == [
        None,
        None,
        module.DEPENDENT,
        module.NOWHERE,
        module.EVERYWHERE,
        module.SEPARATES,
    ]
    Part.of_classes = False
    assert module._undetermined(Part)[-1] is None


def test_several_classes_have_effects_each_and_separating_rules_are_left_out():
    """As in iris, where one class is apart from the others."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    found = split_effects(MossClassifier(2, n_trees=40, n_jobs=1), X, y)
    assert isinstance(found.rules, RuleSets)
    assert list(found.rules) == [0, 1, 2]
    told = {each.rule: each for each in found.effects if each.outcome == 0}
    left_out = [each for each in told.values() if each.note is not None]
    assert left_out
    assert all(np.isnan(each.effect) for each in left_out)
    assert not {each.rule for each in left_out} & set(found.rules[0].texts)
    assert "separates the classes" in str(found)
    chances = found.rules.predict_proba(X)
    assert chances.sum(axis=1) == pytest.approx(1.0)


def test_what_is_printed_and_written_can_be_read():
    """The table, JSON with the rule set in it, and the frame of numbers."""
    found = split_effects(REGRESSOR, X, Y)
    assert isinstance(found, SplitEffects)
    text = str(found)
    assert text.startswith("Rules found in 120 rows; effects estimated on 120 others")
    assert all(each.rule in text for each in found.effects)
    content = json.loads(found.to_json())
    assert RuleSet.from_json(content["rules"]) == found.rules
    assert [each["rule"] for each in content["effects"]] == [each.rule for each in found.effects]
    assert "events" not in found.frame(backend="pandas")


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ({"share": 1.0}, InvalidParameter, "share is 1.0"),
        ({"confidence": 95}, InvalidParameter, "confidence is 95; pass a number between 0 and 1"),
        ({"groups": "agee"}, InvalidParameter, "Did you mean 'age'"),
        ({"estimator": LinearRegression()}, (UnsupportedType, ValueError), "."),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(how, error, words):
    """Each names what was wrong."""
    how = {"estimator": REGRESSOR, **how}
    with pytest.raises(error, match=words):
        split_effects(X=X, y=Y, **how)


def test_methods_without_rules_and_parts_of_one_class_are_refused():
    """With what to do about it."""
    with pytest.raises(UnsupportedType, match="LinearRegression, which finds no rules"):
        split_effects(LinearRegression(), X[["dose"]], Y)
    few = np.where(np.arange(N) < 1, "yes", "no")
    with pytest.raises(InvalidTarget, match="The second part has no rows of class 'yes'"):
        split_effects(CLASSIFIER, X, few, random_state=3)


def test_the_old_name_of_what_is_observed_works_and_warns():
    """And a mean of fewer than five rows, or of all others but so few, is withheld."""
    (first, *_) = split_effects(REGRESSOR, X, Y).effects
    with pytest.warns(DeprecationWarning, match=r"RuleEffect\.mean is now RuleEffect\.observed"):
        assert first.mean == first.observed
    assert [tells_single(n, 100) for n in (4, 5, 95, 96, 99, 100)] == [
        True, False, False, True, True, False,
    ]  # fmt: skip
