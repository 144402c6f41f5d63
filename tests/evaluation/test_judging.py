import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression
from sklearn.metrics import brier_score_loss, r2_score, roc_auc_score
from sklearn.model_selection import TimeSeriesSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

from mossrules import MossClassifier, MossRegressor
from mossrules.data.rows import read_rows
from mossrules.evaluation import Performance, performance
from mossrules.evaluation.folds import split_rows
from mossrules.evaluation.influence import Sample, measure_classes, measure_numbers
from mossrules.exceptions import InvalidParameter, InvalidTarget, UnsupportedType

N = 180


def table():
    """Return a messy table with a number and a class to predict."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "age": rng.integers(18, 90, N).astype(float),
            "sex": rng.choice(["f", "m"], N).astype(object),
            "smoker": rng.random(N) < 0.3,
            "clinic": np.where(np.arange(N) < 3, "tiny", rng.choice(["north", "south"], N)),
            "patient": np.arange(N) // 2,
            "w": rng.uniform(0.5, 2.0, N),
        }
    )
    rows.loc[rng.random(N) < 0.1, ["age", "sex"]] = None
    eta = (rows["age"].fillna(50) - 50) / 15 + rows["smoker"]
    rows["ill"] = np.where(rng.random(N) < 1 / (1 + np.exp(-eta)), "yes", "no")
    rows["cost"] = 10 * eta + rng.normal(size=N)
    return rows


ROWS = table()
X = ROWS[["age", "sex", "smoker", "clinic"]]
CLASSIFIER = MossClassifier(3, n_trees=40, n_jobs=1)
REGRESSOR = MossRegressor(3, n_trees=40, n_jobs=1)
GIVEN = {"groups": "patient", "sample_weight": "w"}


@pytest.fixture(scope="module")
def ill():
    """Return the performance of a classifier by several columns."""
    rows = ROWS.drop(columns="cost")
    by = ["sex", "smoker", "clinic", "age"]
    return performance(CLASSIFIER, rows, "ill", by=by, threshold=0.4, cv=3, **GIVEN)


def left_out(estimator, X, y, *, of_classes, cv, weights=None, groups=None):
    """Return what models of folds predict for the rows left out, in the order given."""
    rows = read_rows(X, y, weights, groups, of_classes=of_classes, whole=True)
    splits = split_rows(rows, cv, stratify=of_classes)
    predicted = np.empty(len(y))
    for train, test in splits:
        learned, judged = rows.origin[train], rows.origin[test]
        how = {} if weights is None else {"sample_weight": weights[learned]}
        how |= {} if groups is None else {"groups": groups[learned]}
        model = clone(estimator).fit(X.iloc[learned], y.iloc[learned], **how)
        found = model.predict_proba(X.iloc[judged])[:, 1] if of_classes else None
        predicted[judged] = model.predict(X.iloc[judged]) if found is None else found
    return predicted


def test_measures_are_those_of_predictions_for_rows_left_out(ill):
    """Weights and groups count; subgroups are parts of the same predictions."""
    weights, groups = ROWS["w"].to_numpy(), ROWS["patient"].to_numpy()
    how = {"weights": weights, "groups": groups}
    chances = left_out(CLASSIFIER, X, ROWS["ill"], of_classes=True, cv=3, **how)
    y = (ROWS["ill"] == "yes").to_numpy(float)
    assert ill["auc"].estimate == pytest.approx(roc_auc_score(y, chances, sample_weight=weights))
    for row in ill.rows:
        label = row.subgroup
        where = {
            "all": np.full(N, True),
            "f": ROWS["sex"].eq("f"),
            "true": ROWS["smoker"],
            "north": ROWS["clinic"].eq("north"),
        }.get(label)
        if where is None:
            continue
        part = np.asarray(where, dtype=bool)
        sample = Sample(weights[part], groups[part], 0.95)
        known = measure_classes(y[part], chances[part], 0.4, sample)
        assert row.n == part.sum()
        assert row.events == y[part].sum()
        for name, interval in known.items():
            assert row.measures[name] == pytest.approx(interval, nan_ok=True), (label, name)


def test_few_events_are_warned_of(ill):
    """In any row that is measured; ten of both are enough, and numbers have none."""
    rough = "Where fewer than 10 rows have the outcome, or lack it, intervals are rough."
    of_all = performance(CLASSIFIER, X, ROWS["ill"], cv=2)
    assert min(of_all.rows[0].events, N - of_all.rows[0].events) >= 10
    assert rough not in str(of_all)
    assert rough in str(ill)  # of a subgroup
    y = np.isin(np.arange(N), [5, 50, 77, 100, 120])
    found = performance(GaussianNB(), ROWS[["w", "cost"]], y, cv=2)
    assert found.rows[0].events == 5
    assert rough in str(found)
    assert rough in found.to_markdown()


def test_of_numbers_too():
    """Without weights and groups, in five folds."""
    found = performance(REGRESSOR, X, ROWS["cost"])
    predicted = left_out(REGRESSOR, X, ROWS["cost"], of_classes=False, cv=5)
    known = measure_numbers(ROWS["cost"].to_numpy(), predicted, Sample(np.ones(N), None, 0.95))
    assert found["r2"].estimate == pytest.approx(r2_score(ROWS["cost"], predicted))
    assert [*found.rows[0].measures] == [*known]
    for name, measured in found.rows[0].measures.items():
        assert measured == pytest.approx(known[name])
    assert (found.folds, found.target, found.outcomes) == (5, "cost", (None,))


def test_subgroups_are_values_quarters_of_numbers_and_what_is_missing(ill):
    """Values of few rows are one subgroup, and one that is too small is told with its rows."""
    labels = {by: [] for by in ("sex", "smoker", "clinic", "age")}
    for row in ill.rows[1:]:
        labels[row.by].append(row.subgroup)
        assert bool(row.measures) == (row.note is None)
    assert labels["sex"] == ["f", "m", "(missing)"]
    assert labels["smoker"] == ["false", "true"]
    assert labels["clinic"] == ["north", "south", "(rare values)"]
    assert [label.count("age") for label in labels["age"]] == [1, 1, 1, 1, 0]
    tiny = next(row for row in ill.rows if row.subgroup == "(rare values)")
    assert (tiny.n, tiny.note) == (3, "3 rows are fewer than 10")
    assert "age is a number: its subgroups are 4 bands" in str(ill)
    assert "clinic (rare values): 3 rows are fewer than 10, so nothing is measured." in str(ill)
    assert "clinic: 1 value of fewer than 10 rows, in one subgroup (rare values)." in str(ill)
    sizes = [row.n for row in ill.rows if row.by == "age"]
    assert sum(sizes) == N
    assert max(sizes[:4]) - min(sizes[:4]) < 10


def test_labels_are_subgroups_that_the_model_does_not_see():
    """A column of X stays a feature; labels of another table do not become one."""
    known = performance(CLASSIFIER, X, ROWS["ill"], cv=3)
    for by in (ROWS["patient"] % 2, {"half": (ROWS["patient"] % 2).tolist()}, np.arange(N) % 2):
        found = performance(CLASSIFIER, X, ROWS["ill"], cv=3, by=by)
        assert found["auc"] == known["auc"]
        assert [row.subgroup for row in found.rows] == ["all", "0", "1"]
    constant = np.where(ROWS["ill"] == "yes", "a", "b")
    found = performance(CLASSIFIER, X, ROWS["ill"], cv=3, by=constant)
    assert [row.note is None for row in found.rows] == [True, False, False]
    assert "rows are yes" in found.rows[1].note


def test_a_fitted_model_is_judged_on_new_rows(tmp_path):
    """An estimator, its rules alone, a frame with other columns in another order, and a file."""
    old, new = ROWS[:100], ROWS[100:]
    model = CLASSIFIER.fit(old[X.columns], old["ill"])
    chances = model.predict_proba(new[X.columns])[:, 1]
    y = new["ill"] == "yes"
    mixed = new[[*reversed(new.columns)]]
    new.to_csv(tmp_path / "new.csv", index=False)
    for judged, rows in (
        (model, mixed),
        (model.rules_, mixed),
        (model, tmp_path / "new.csv"),
        (model, {name: new[name].tolist() for name in new}),
    ):
        found = performance(judged, rows, "ill", cv=None, by="sex")
        assert found["auc"].estimate == pytest.approx(roc_auc_score(y, chances))
        assert found["brier"].estimate == pytest.approx(brier_score_loss(y, chances))
        assert found.folds is None
        assert "80 new rows" in str(found)
    numbers = REGRESSOR.fit(old[X.columns], old["cost"])
    found = performance(numbers.rules_, new, "cost", cv=None)
    assert found["r2"].estimate == pytest.approx(
        r2_score(new["cost"], numbers.predict(new[X.columns]))
    )


def test_several_classes_are_judged_each_against_all_others():
    """As cross-validation by hand has them, for any classifier; and of rule sets."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    bayes = GaussianNB()  # the same whatever the order of its rows
    folds = [(np.flatnonzero(np.arange(150) % 3 != i), np.flatnonzero(np.arange(150) % 3 == i))
             for i in range(3)]  # fmt: skip
    found = performance(bayes, X, y, cv=folds)
    chances = cross_val_predict(bayes, X, y, cv=folds, method="predict_proba")
    assert found.outcomes == (0, 1, 2)
    for row in found.rows:
        known = roc_auc_score(y == row.outcome, chances[:, row.outcome])
        assert row.measures["auc"].estimate == pytest.approx(known)
    rules = MossClassifier(2, n_trees=40, n_jobs=1).fit(X[::2], y[::2])
    of_rules = performance(rules.rules_, X[1::2], y[1::2], cv=None)
    of_model = performance(rules, X[1::2], y[1::2], cv=None)
    assert of_rules.to_json() == of_model.to_json()


def test_rows_that_no_fold_leaves_out_are_not_judged():
    """As folds in time have them."""
    X, y = load_diabetes(return_X_y=True)
    found = performance(LinearRegression(), X[:100], y[:100], cv=TimeSeriesSplit(4))
    predicted = [
        (y[test], LinearRegression().fit(X[train], y[train]).predict(X[test]))
        for train, test in TimeSeriesSplit(4).split(X[:100])
    ]
    observed, by_fold = map(np.concatenate, zip(*predicted, strict=True))
    assert found.rows[0].n == len(observed) == 80
    assert found["r2"].estimate == pytest.approx(r2_score(observed, by_fold))


def test_the_calibration_curve_has_tenths_of_the_rows(ill):
    """Its points and its histogram hold all rows; a regressor has one too."""
    (curve,) = ill.curves
    assert sum(point.n for point in curve.points) == sum(curve.counts) == N
    assert sum(curve.events) == ill.rows[0].events
    assert [*curve.edges][0::20] == [0.0, 1.0]
    predicted = [point.predicted for point in curve.points]
    assert predicted == sorted(predicted)
    assert all(point.lower <= point.observed <= point.upper for point in curve.points)
    assert all(0.1 < point.upper - point.lower < 0.7 for point in curve.points)
    (of_numbers,) = performance(REGRESSOR, X, ROWS["cost"], cv=3).curves
    assert of_numbers.events is None
    assert sum(of_numbers.counts) == N


def test_what_is_printed_and_written_says_the_same(ill):
    """The frame, Markdown, JSON; repetitions of rows are rows."""
    frame = ill.frame(backend="pandas")
    auc = frame[(frame["measure"] == "auc") & (frame["subgroup"] == "all")].iloc[0]
    cell = f"{auc['estimate']:.3f} [{auc['lower']:.3f}, {auc['upper']:.3f}]"
    assert cell in str(ill)
    assert f"| AUC | {cell} |" in ill.to_markdown()
    assert max(map(len, str(ill).splitlines())) <= 110
    content = json.loads(ill.to_json())
    assert content["rows"][0]["measures"]["auc"]["estimate"] == auc["estimate"]
    assert content["groups"] == 90
    assert isinstance(ill, Performance)
    times = np.arange(N) % 3
    rows = np.repeat(np.arange(N), times)
    weighted = performance(REGRESSOR, X, ROWS["cost"], cv=3, sample_weight=times)
    repeated = performance(REGRESSOR, X.iloc[rows], ROWS["cost"].iloc[rows], cv=3)
    note = "The weights are whole numbers and count as repetitions: 120 rows of the table stand"
    assert str(weighted) == f"{repeated}\n{note} for 180."


@pytest.mark.parametrize(
    ("model", "how", "error", "words"),
    [
        (CLASSIFIER, {"threshold": 2}, InvalidParameter, "threshold is 2; pass a probability"),
        (CLASSIFIER, {"by": "sx"}, InvalidParameter, "by is 'sx', .* Did you mean 'sex'"),
        (CLASSIFIER, {"by": ["a"] * 4}, InvalidParameter, "by is 'a', which is not a column"),
        (CLASSIFIER, {"by": np.arange(N).astype(str)}, InvalidParameter, "180 different values"),
        (CLASSIFIER, {"by": [1, 2]}, InvalidTarget, "subgroup has 2 values but .* 180 rows"),
        (CLASSIFIER, {"confidence": 0}, InvalidParameter, "confidence is 0"),
        (MossClassifier(), {"cv": None}, InvalidParameter, "MossClassifier is not; fit it"),
        (LinearSVC(), {}, UnsupportedType, "LinearSVC without predict_proba"),
        ("a model", {"cv": None}, InvalidParameter, "the str is not"),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(model, how, error, words):
    """Each says what to do."""
    model = clone(model) if model is CLASSIFIER else model
    with pytest.raises(error, match=words):
        performance(model, X, ROWS["ill"], **how)


def test_classes_that_a_fitted_model_does_not_know_are_named():
    """New rows may have labels that training had not."""
    model = clone(CLASSIFIER).fit(X, ROWS["ill"])
    new = ROWS["ill"].where(np.arange(N) > 2, "maybe")
    with pytest.raises(InvalidTarget, match="'maybe', which the model does not know"):
        performance(model, X, new, cv=None)


def test_a_point_of_the_calibration_curve_is_of_several_rows():
    """Few rows, or one alone far from the others, make fewer points: none is a person's value."""
    known = np.random.default_rng(0).normal(size=(60, 1))
    for n, expected in ((12, 2), (60, 10)):
        rows = known[:n]
        found = performance(LinearRegression(), rows, rows[:, 0] * 3, cv=3)
        points = found.curves[0].points
        assert len(points) == expected
        assert min(point.n for point in points) >= 5
        assert sum(point.n for point in points) == n
    alone = np.r_[np.zeros(40), 1.0][:, None]
    judged = performance(
        DecisionTreeRegressor().fit(alone, alone[:, 0]), alone, alone[:, 0], cv=None
    )
    assert [point.n for point in judged.curves[0].points] == [41]


def test_bands_of_a_number_end_between_its_values():
    """An end is no value of a row, unless values are so close that it is the shortest number."""
    ages = np.random.default_rng(0).uniform(20, 90, 200)
    found = performance(LinearRegression(), ages[:, None], ages, cv=3, by={"age": ages})
    labels = [row.subgroup for row in found.rows[1:]]
    ends = {float(text) for label in labels for text in re.findall(r"[\d.]+", label)}
    assert len(ends) == 3
    assert ends.isdisjoint(ages.tolist())
    assert [row.n for row in found.rows[1:]] == [50, 50, 50, 50]
