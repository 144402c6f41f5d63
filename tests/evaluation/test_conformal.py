import json

import numpy as np
import pandas as pd
import pytest
from mapie.regression import CrossConformalRegressor, SplitConformalRegressor
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, TimeSeriesSplit

from mossrules import MossClassifier, MossRegressor, RuleSet
from mossrules.evaluation import PredictionIntervals, prediction_intervals
from mossrules.evaluation.parts import Parts
from mossrules.exceptions import InvalidFile, InvalidParameter, UnsupportedType

X, Y = load_diabetes(return_X_y=True)
NEW = X[300:]
MODEL = MossRegressor(3, n_trees=40, n_jobs=1)
FRAME = pd.DataFrame(X[:120], columns=[f"c{i}" for i in range(10)]).assign(
    word=np.tile(["a", "b", None], 40)
)


@pytest.mark.parametrize(("n", "confidence"), [(200, 0.9), (203, 0.9), (151, 0.95), (97, 0.8)])
def test_cross_intervals_are_those_of_mapie(n, confidence):
    """On the same folds, for numbers of rows that do and do not divide evenly."""
    folds = KFold(7, shuffle=True, random_state=1)
    made = prediction_intervals(
        LinearRegression(), X[:n], Y[:n], cv=folds, confidence=confidence, n_jobs=1
    )
    how = {"confidence_level": confidence, "method": "plus", "cv": folds}
    known = CrossConformalRegressor(LinearRegression(), **how).fit_conformalize(X[:n], Y[:n])
    ends = known.predict_interval(NEW)[1][:, :, 0]
    np.testing.assert_allclose(made.bounds(NEW)[:, [0, 2]], ends)
    predicted = LinearRegression().fit(X[:n], Y[:n]).predict(NEW)
    np.testing.assert_allclose(made.bounds(NEW)[:, 1], predicted)


@pytest.mark.parametrize(("n", "confidence"), [(200, 0.9), (151, 0.95), (60, 0.8)])
def test_split_intervals_are_those_of_mapie(n, confidence):
    """On the same two parts, rounded up by 1 % at most: so exact a width would tell of a row."""
    made = prediction_intervals(
        LinearRegression(), X[:n], Y[:n], method="split", confidence=confidence, share=0.6
    )
    parts = Parts.read(LinearRegression(), X[:n], Y[:n])
    first, second = (parts.rows.origin[part] for part in parts.two(0.6, 0))
    model = LinearRegression().fit(X[first], Y[first])
    known = SplitConformalRegressor(model, confidence_level=confidence, prefit=True)
    known.conformalize(X[second], Y[second])
    lower, upper = known.predict_interval(NEW)[1][:, :, 0].T
    exact = (upper - lower)[0] / 2
    assert exact <= made.half_width <= 1.01 * exact
    assert made.half_width not in np.abs(Y[second] - model.predict(X[second]))
    np.testing.assert_allclose(made.bounds(NEW)[:, [0, 2]].mean(axis=1), (lower + upper) / 2)
    np.testing.assert_allclose(np.ptp(made.bounds(NEW)[:, [0, 2]], axis=1), 2 * made.half_width)
    assert (made.n, made.guarantee) == (len(second), confidence)


@pytest.mark.parametrize("method", ["split", "cv+"])
def test_whole_weights_are_repetitions(method):
    """And others count by their share: a row of weight 3 as three."""
    times = 1 + np.arange(120) % 3
    rows = np.repeat(np.arange(120), times)
    how = {"method": method, "cv": 4}
    weighted = prediction_intervals(MODEL, FRAME, Y[:120], sample_weight=times, **how)
    repeated = prediction_intervals(MODEL, FRAME.iloc[rows], Y[:120][rows], **how)
    np.testing.assert_array_equal(weighted.bounds(FRAME), repeated.bounds(FRAME))


def test_quantiles_of_groups_count_each_group_alike():
    """Against a loop over groups, each of which counts 1 / (G + 1) in all."""
    groups = np.sort(np.random.default_rng(0).integers(40, size=300))
    made = prediction_intervals(
        LinearRegression(), X[:300], Y[:300], method="split", groups=groups, confidence=0.8
    )
    parts = Parts.read(LinearRegression(), X[:300], Y[:300], groups=groups)
    first, second = (parts.rows.origin[part] for part in parts.two(0.5, 0))
    assert not set(groups[first]) & set(groups[second])
    model = LinearRegression().fit(X[first], Y[first])
    residuals = np.abs(Y[second] - model.predict(X[second]))
    held = np.unique(groups[second])

    def share(width):
        inside = [np.mean(residuals[groups[second] == group] <= width) for group in held]
        return sum(inside) / (len(held) + 1)

    widths = sorted(residuals)
    expected = next(width for width in widths if share(width) >= 0.8 - 1e-12)
    assert expected <= made.half_width <= 1.01 * expected
    assert made.groups == len(held)
    crossed = prediction_intervals(LinearRegression(), X[:300], Y[:300], groups=groups, cv=5)
    by_group = [
        np.unique(crossed.left_out.fold[parts.groups == g]) for g in np.unique(parts.groups)
    ]
    assert all(len(folds) == 1 for folds in by_group)
    np.testing.assert_allclose(
        np.bincount(parts.groups, crossed.left_out.shares)[np.unique(parts.groups)],
        1 / (len(by_group) + 1),
    )


def test_what_is_guaranteed_is_theorem_4_of_barber_and_others():
    """Less than 1 - 2 alpha by a term for the number of folds; none with weights."""
    made = prediction_intervals(LinearRegression(), X[:200], Y[:200], cv=5)
    assert made.guarantee == pytest.approx(
        1 - 0.2 - min(2 * (1 - 1 / 5) / (200 / 5 + 1), (1 - 5 / 200) / (5 + 1))
    )
    each = prediction_intervals(LinearRegression(), X[:60], Y[:60], cv=KFold(60 // 2))
    assert each.guarantee > 1 - 0.2 - 0.04
    weights = np.random.default_rng(0).uniform(0.5, 2, 200)
    weighted = prediction_intervals(LinearRegression(), X[:200], Y[:200], sample_weight=weights)
    assert weighted.guarantee is None
    assert "not guaranteed with row weights" in str(weighted)


def test_tables_with_words_and_gaps_and_files_are_read(tmp_path):
    """The same intervals from a frame, a dict and a file."""
    made = prediction_intervals(MODEL, FRAME, Y[:120], cv=3)
    as_dict = {name: FRAME[name].tolist() for name in FRAME}
    np.testing.assert_array_equal(
        prediction_intervals(MODEL, as_dict, Y[:120], cv=3).bounds(as_dict), made.bounds(FRAME)
    )
    FRAME.assign(y=Y[:120]).to_csv(tmp_path / "rows.csv", index=False)
    from_file = prediction_intervals(MODEL, tmp_path / "rows.csv", "y", cv=3)
    np.testing.assert_allclose(from_file.bounds(tmp_path / "rows.csv"), made.bounds(FRAME))
    frame = made.predict(FRAME[:3], backend="pandas")
    assert list(frame) == ["lower", "prediction", "upper"]
    assert (frame["lower"] < frame["upper"]).all()
    assert made.covers(FRAME, Y[:120]).mean() > 0.8


def test_split_intervals_can_be_kept_as_json():
    """The rule set and one number say it all."""
    made = prediction_intervals(MODEL, FRAME, Y[:120], method="split")
    read = PredictionIntervals.from_json(made.to_json())
    assert isinstance(read.model, RuleSet)
    np.testing.assert_array_equal(read.bounds(FRAME), made.bounds(FRAME))
    assert str(read) == str(made)
    assert read.to_json() == made.to_json()
    content = json.loads(made.to_json())
    for broken in ({"half_width": -1}, {"confidence": 2}, {"rules": {}}, {"n": "many"}):
        with pytest.raises(InvalidFile):
            PredictionIntervals.from_json(json.dumps({**content, **broken}))
    with pytest.raises(InvalidParameter, match="use method='split'"):
        prediction_intervals(MODEL, FRAME, Y[:120], cv=3).to_json()
    with pytest.raises(UnsupportedType, match="LinearRegression without rules"):
        prediction_intervals(LinearRegression(), X, Y, method="split").to_json()


@pytest.mark.parametrize(
    ("estimator", "how", "words"),
    [
        (MossClassifier(), {}, "call performance"),
        (LogisticRegression(), {}, "call performance"),
        (MODEL, {"method": "jackknife"}, "choose from 'cv\\+', 'split'"),
        (MODEL, {"confidence": 1.0}, "confidence is 1.0"),
        (MODEL, {"confidence": 0.995}, "120 rows are too few .* which need 199"),
        (MODEL, {"groups": np.arange(120) // 20, "cv": 3}, "6 groups are too few .* which need 9"),
        (LinearRegression(), {"cv": TimeSeriesSplit(3)}, "left out by no fold"),
        (LinearRegression(), {"cv": [*KFold(3).split(X[:120])] * 2}, "leave out the same row"),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(estimator, how, words):
    """Each says what to do."""
    features = FRAME if estimator is MODEL else X[:120]
    with pytest.raises(InvalidParameter, match=words):
        prediction_intervals(estimator, features, Y[:120], **how)
