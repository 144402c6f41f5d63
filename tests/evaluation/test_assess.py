import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from mossrules import MossClassifier, MossRegressor, RuleSet
from mossrules.baselines import SirusRegressor
from mossrules.data.rows import read_rows
from mossrules.defaults import PAPER_WAY
from mossrules.evaluation import Assessment, MethodTrust, assess
from mossrules.evaluation.refits import read_groups, refit_splits
from mossrules.exceptions import InvalidFile, InvalidParameter, UnsupportedType
from mossrules.stability import dice


@pytest.fixture(scope="module")
def diabetes():
    """Return some rows of a table of numbers."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return X.iloc[:160], y.iloc[:160]


def moss(**parameters):
    """Return a small model."""
    return MossRegressor(5, n_trees=40, n_jobs=1, **parameters)


class Always(RegressorMixin, BaseEstimator):
    """A method that has the same rules and weights whatever the rows."""

    def __init__(self, rules=None):
        self.rules = rules

    def fit(self, X, y):  # noqa: ARG002
        """Have the rules."""
        self.rules_ = self.rules
        return self

    def predict(self, X):
        """Return what they predict."""
        return self.rules_.predict(X)


# --- against a few lines of NumPy -----------------------------------------------------------------


def fits_of(model, X, y, *, weights=None, groups=None, scheme="folds"):
    """Return training and test rows (as given) of each refit, and the models fitted to them."""
    rows = read_rows(X, y, weights, whole=True)
    splits = refit_splits(rows, 10, scheme, read_groups(groups, len(y)), 0, stratify=False)
    parts = [(rows.origin[train], rows.origin[test]) for train, test in splits]
    fitted = []
    for seed, (train, _) in enumerate(parts):
        told = {"sample_weight": weights, "groups": groups}
        how = {name: each[train] for name, each in told.items() if each is not None}
        own = clone(model).set_params(random_state=seed)
        fitted.append(own.fit(X.iloc[train], y.iloc[train], **how))
    return parts, fitted


def by_hand(X, y, parts, models, w):
    """Return the measures of the trust table of fitted regressors, one loop after the other."""
    X, y = X.reset_index(drop=True), np.asarray(y)
    error = total = 0.0
    sets, opposing, idle, sizes, dependent = [], 0, 0, 0, 0
    for (train, test), model in zip(parts, models, strict=True):
        mean = np.average(y[train], weights=w[train])
        error += np.sum(w[test] * (y[test] - model.predict(X.iloc[test])) ** 2)
        total += np.sum(w[test] * (y[test] - mean) ** 2)
        M = model.rules_.holds(X.iloc[train])
        found = {}
        for text, weight, column in zip(model.rules_.texts, model.rules_.weights, M.T, strict=True):
            sd = np.sqrt(np.cov(column, aweights=w[train], ddof=0))
            found[text] = (weight, abs(weight) * sd)
            inside = np.average(y[train][column], weights=w[train][column])
            opposing += weight * (inside - mean) < 0
        largest = max(importance for _, importance in found.values())
        idle += sum(importance < 0.01 * largest for _, importance in found.values())
        sizes += len(found)
        whole = np.column_stack([np.ones(len(M)), M])
        dependent += np.linalg.svd(whole, compute_uv=False)[-1] < 1e-8
        sets.append(found)
    pairs = list(combinations(sets, 2))
    common = [(a[text][0], b[text][0]) for a, b in pairs for text in a.keys() & b.keys()]
    share = [{t: v / sum(i for _, i in s.values()) for t, (_, v) in s.items()} for s in sets]
    predictions = np.array([model.predict(X) for model in models])
    spread = np.sqrt(np.cov(y, aweights=w, ddof=0))
    return {
        "r2": 1 - error / total,
        "dice": np.mean([2 * len(a.keys() & b.keys()) / (len(a) + len(b)) for a, b in pairs]),
        "weighted_overlap": np.mean(
            [
                sum(min(a[text], b[text]) for text in a.keys() & b.keys())
                for a, b in combinations(share, 2)
            ]
        ),
        "same_sign": np.mean([a * b > 0 for a, b in common]) if common else np.nan,
        "opposing": opposing / sizes,
        "idle": idle / sizes,
        "dependent": dependent / len(models),
        "instability": np.average(2 * norm.ppf(0.975) * np.std(predictions, 0, ddof=1), weights=w)
        / spread,
        "in_all": len(set.intersection(*map(set, sets))),
        "n_rules": sizes / len(models),
    }


@pytest.mark.parametrize("case", ["plain", "weights", "groups", "bootstrap", "coarse"])
def test_measures_are_those_of_a_few_lines(diabetes, case):
    """Every measure of rules and of predictions, recomputed from models fitted one by one."""
    X, y = diabetes
    rng = np.random.default_rng(0)
    how = {}
    w = np.ones(len(y))
    if case == "weights":
        w = rng.uniform(0.5, 2.0, len(y))
        how["weights"] = w
    if case == "groups":
        how["groups"] = rng.integers(0, 30, len(y))
    if case == "bootstrap":
        how["scheme"] = "bootstrap"
    # Few bins of rounded columns, so that rules recur.
    if case == "coarse":
        X = X[["bmi", "s5", "sex"]].round(0)
    model = moss(n_bins=4)
    parts, models = fits_of(model, X, y, **how)
    expected = by_hand(X, y, parts, models, w)
    weights = how.pop("weights", None)
    table = assess({"MOSS": model}, X, y, sample_weight=weights, n_jobs=1, **how)
    found = table["MOSS"]
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, abs=1e-9, nan_ok=True), name
    rule_sets = [each.rules_ for each in models]
    by_rows = [dice(a, b, identity="rows", X=X) for a, b in combinations(rule_sets, 2)]
    assert found.dice_rows == pytest.approx(np.mean(by_rows))
    seeded = [clone(model).set_params(random_state=seed) for seed in range(5)]
    told = {"sample_weight": weights, "groups": how.get("groups")}
    seeded = [each.fit(X, y, **told).rules_ for each in seeded]
    of_seeds = [dice(a, b) for a, b in combinations(seeded, 2)]
    assert found.dice_seeds == pytest.approx(np.mean(of_seeds))
    assert found.seconds > 0
    assert (found.refits, found.failed, found.failure) == (10, 0, None)


def test_classes_are_measured_by_their_probabilities():
    """Skill and AUC are scikit-learn's, on the rows left out; instability is of probabilities."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:120, :5], y[:120]
    line = make_pipeline(LogisticRegression(C=0.01, max_iter=5000))
    models = {"line": line, "MOSS": MossClassifier(3, n_trees=20, n_jobs=1)}
    found = assess(models, X, y, refits=4, seeds=2)
    rows = read_rows(X, y, of_classes=True, whole=True)
    parts = refit_splits(rows, 4, "folds", None, 0, stratify=True)
    own = known = 0.0
    areas, predictions = [], []
    for train, test in ((rows.origin[a], rows.origin[b]) for a, b in parts):
        fitted = clone(line).fit(X[train], y[train])
        chances = fitted.predict_proba(X[test])
        own += log_loss(y[test], chances, normalize=False, labels=[0, 1])
        share = np.full(len(test), y[train].mean())
        known += log_loss(y[test], share, normalize=False, labels=[0, 1])
        areas.append(roc_auc_score(y[test], chances[:, 1]))
        predictions.append(fitted.predict_proba(X)[:, 1])
    assert found["line"].skill == pytest.approx(1 - own / known)
    assert found["line"].auc == pytest.approx(np.mean(areas))
    ranges = 2 * norm.ppf(0.975) * np.std(predictions, axis=0, ddof=1)
    assert found["line"].instability == pytest.approx(ranges.mean() / y.std(), rel=1e-6)
    assert np.isnan([found["line"].dice, found["line"].n_rules, found["line"].r2]).all()
    assert found["MOSS"].n_rules <= 3
    assert 0 <= found["MOSS"].dice <= 1
    assert found.measures[:3] == ("skill", "auc", "dice")


def test_measures_of_several_classes_are_means_over_them():
    """Each class has a rule set, whose Dice is as for any other."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = MossClassifier(2, n_trees=20, n_jobs=1)
    found = assess({"MOSS": model}, X, y, refits=3, seeds=0)["MOSS"]
    rows = read_rows(X, y, of_classes=True, whole=True)
    parts = refit_splits(rows, 3, "folds", None, 0, stratify=True)
    models = []
    for seed, (train, _) in enumerate(parts):
        at = rows.origin[train]
        models.append(clone(model).set_params(random_state=seed).fit(X.iloc[at], y.iloc[at]))
    by_class = [
        np.mean([dice(a.rules_[label], b.rules_[label]) for a, b in combinations(models, 2)])
        for label in (0, 1, 2)
    ]
    assert found.dice == pytest.approx(np.mean(by_class))
    sizes = [len(rules) for each in models for rules in each.rules_.values()]
    assert found.n_rules == pytest.approx(np.mean(sizes))
    predictions = np.array([each.predict_proba(X) for each in models])
    ranges = 2 * norm.ppf(0.975) * predictions.std(axis=0, ddof=1).mean(axis=0)
    spreads = [np.std(y == label) for label in (0, 1, 2)]
    assert found.instability == pytest.approx(np.mean(ranges / spreads), rel=1e-6)
    assert np.isnan(found.dice_seeds)


# --- bounds ---------------------------------------------------------------------------------------


def test_the_same_rules_every_time_are_at_every_bound(diabetes):
    """Dice, overlap and signs are 1, no person's prediction moves, and all rules are in all."""
    X, y = diabetes
    rules = moss(random_state=0).fit(X, y).rules_
    found = assess({"same": Always(rules)}, X, y)["same"]
    at_one = ("dice", "dice_rows", "same_sign", "dice_seeds")
    assert [getattr(found, name) for name in at_one] == [1.0] * 4
    # Importance depends a little on the training rows.
    assert 0.97 < found.weighted_overlap <= 1.0
    assert found.instability == pytest.approx(0.0, abs=1e-12)
    assert found.in_all == found.n_rules == len(rules)


def test_effects_against_their_rows_idle_and_dependent_rules_are_counted(diabetes):
    """A rule with its effect turned round, and its complement with next to no effect."""
    X, y = diabetes
    how = {**PAPER_WAY, "max_depth": 1, "n_bins": 2, "max_features": 1.0}
    rules = MossRegressor(2, n_trees=10, **how).fit(X[["bmi"]], y).rules_
    assert len(rules) == 2  # a rule and its complement
    up = next(i for i, text in enumerate(rules.texts) if ">" in text)
    weights = np.full(2, -20.0)  # against the rows of bmi > ...
    weights[1 - up] = -1e-6  # with its own, and idle
    turned = RuleSet(
        rules.rules, weights, 150.0, rules.binning, rules.columns, rules.support, rules.proportion
    )
    found = assess({"turned": Always(turned)}, X[["bmi"]], y, seeds=0)["turned"]
    assert (found.opposing, found.idle, found.dependent) == (0.5, 0.5, 1.0)
    alone = RuleSet((rules.rules[up],), [20.0], 150.0, rules.binning, rules.columns, [0.5], [0.5])
    found = assess({"alone": Always(alone)}, X[["bmi"]], y, seeds=0)["alone"]
    assert (found.opposing, found.idle, found.dependent) == (0.0, 0.0, 0.0)


def test_models_without_rules_agree():
    """Empty rule sets are the same, and there is nothing in them to count."""
    X, y = {"x": np.arange(40.0)}, np.full(40, 2.0)
    found = assess({"MOSS": moss()}, X, y)["MOSS"]
    assert (found.dice, found.weighted_overlap, found.n_rules, found.in_all) == (1.0, 1.0, 0.0, 0.0)
    assert np.isnan([found.opposing, found.idle, found.same_sign, found.r2]).all()
    assert found.dependent == 0.0


def test_many_refits_have_percentiles(diabetes):
    """From 40 refits on the range of a prediction is read off."""
    X, y = diabetes
    found = assess({"line": LinearRegression()}, X, y, refits=40, scheme="bootstrap", n_jobs=1)
    parts, models = [], []
    rows = read_rows(X, y, whole=True)
    parts = refit_splits(rows, 40, "bootstrap", None, 0, stratify=False)
    models = [
        LinearRegression().fit(X.iloc[rows.origin[train]], y.iloc[rows.origin[train]])
        for train, _ in parts
    ]
    low, high = np.percentile([model.predict(X) for model in models], [2.5, 97.5], axis=0)
    assert found["line"].instability == pytest.approx(np.mean(high - low) / y.std(ddof=0))


# --- refits ---------------------------------------------------------------------------------------


def test_ten_refits_leave_out_each_row_once_and_more_deal_anew(diabetes):
    """Any ten refits in a row leave out all rows; the second ten are other parts."""
    rows = read_rows(*diabetes, whole=True)
    splits = refit_splits(rows, 20, "folds", None, 3, stratify=False)
    for ten in (splits[:10], splits[10:]):
        assert sorted(np.concatenate([test for _, test in ten])) == list(range(160))
        for train, test in ten:
            assert sorted([*train, *test]) == list(range(160))
    assert splits[0][1].tolist() != splits[10][1].tolist()


@pytest.mark.parametrize("scheme", ["folds", "bootstrap"])
def test_rows_of_a_group_stay_together(diabetes, scheme):
    """No group is both learned from and left out."""
    X, y = diabetes
    groups = np.random.default_rng(1).integers(0, 12, len(y)).astype(str)
    rows = read_rows(X, y, whole=True)
    splits = refit_splits(rows, 10, scheme, read_groups(groups, len(y)), 0, stratify=False)
    for train, test in splits:
        inside, outside = set(groups[rows.origin[train]]), set(groups[rows.origin[test]])
        assert not inside & outside
        assert inside | outside == set(groups)
    by_name = assess({"MOSS": moss()}, X.assign(place=groups), y, groups="place", scheme=scheme)
    by_array = assess({"MOSS": moss()}, X, y, groups=groups, scheme=scheme)
    assert without_times(by_name) == without_times(by_array)


def test_a_bootstrap_draws_as_many_rows(diabetes):
    """What is drawn has the size of the table, and what is left out was not drawn."""
    rows = read_rows(*diabetes, whole=True)
    for train, test in refit_splits(rows, 5, "bootstrap", None, 0, stratify=False):
        assert len(train) == 160
        assert set(train) | set(test) == set(range(160))
        assert not set(train) & set(test)
        assert 0.2 < len(test) / 160 < 0.5


def without_times(table):
    """Return the table as text, but for what clocks say and how estimators are written."""
    content = json.loads(table.to_json())
    del content["elapsed"]
    for method in content["methods"]:
        del method["seconds"], method["settings"]
    return content


def test_the_order_of_the_rows_and_threads_make_no_difference(diabetes):
    """The same rows in another order, on two threads, have the same table."""
    X, y = diabetes
    order = np.random.default_rng(2).permutation(len(y))
    one = assess({"MOSS": moss()}, X, y, n_jobs=1)
    other = assess({"MOSS": moss()}, X.iloc[order], y.iloc[order], n_jobs=2)
    again = assess({"MOSS": moss()}, X.to_dict("list"), y.tolist(), n_jobs=2)
    assert without_times(one)["methods"][0]["dice"] == without_times(other)["methods"][0]["dice"]
    for name in ("r2", "instability", "weighted_overlap", "same_sign", "in_all", "dice_seeds"):
        a, b = getattr(one["MOSS"], name), getattr(other["MOSS"], name)
        assert a == pytest.approx(b, rel=1e-9, nan_ok=True)
    assert without_times(one) == without_times(again)


def test_every_fit_has_a_seed_of_its_own(diabetes):
    """Nested ones too; an estimator without a seed has nothing to set."""
    X, y = diabetes
    seen = []

    class Seen(RandomForestRegressor):
        def fit(self, X, y):
            seen.append(self.random_state)
            return super().fit(X, y)

    models = {"forest": make_pipeline(Seen(2)), "line": LinearRegression()}
    assess(models, X, y, refits=4, random_state=7, n_jobs=1)
    assert seen == [7, 8, 9, 10]
    assert models["forest"][0].random_state is None


# --- tables, failures, files ----------------------------------------------------------------------


def test_tables_with_categories_and_gaps():
    """Methods that can read them are measured, and those that cannot say why."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({
        "place": rng.choice(["north", "south", "west"], 120),
        "age": np.where(rng.random(120) < 0.1, np.nan, rng.integers(20, 80, 120)),
    })  # fmt: skip
    y = 3.0 * (X["place"] == "north") + (X["age"] > 50) + 0.1 * rng.normal(size=120)
    models = {"MOSS": moss(), "SIRUS": SirusRegressor(3, n_trees=20), "line": LinearRegression()}
    table = assess(models, X, y, refits=4, seeds=2)
    assert table["MOSS"].r2 > 0.5
    assert table["MOSS"].failed == table["SIRUS"].failed == 0
    line = table["line"]
    assert (line.refits, line.failed) == (0, 4)
    assert line.failure.startswith("ValueError: ")
    assert np.isnan([line.r2, line.instability, line.seconds]).all()
    assert "line: 4 fits failed. ValueError" in str(table)
    assert "4 fits failed" in repr(table)
    frame = table.frame(backend="pandas")
    assert frame["failed"].tolist() == [0, 0, 4]
    assert frame["method"].tolist() == list(models)
    assert "Dice as printed" in table.summary(backend="pandas")


class Sometimes(LinearRegression):
    """A method that fails on rows that have a certain one."""

    def fit(self, X, y):
        """Refuse the one."""
        if 0.5 in np.asarray(X)[:, 0]:
            raise ValueError("half a row")
        return super().fit(X, y)


def test_a_method_that_fails_on_some_refits_has_measures_of_the_others():
    """The row says how many, and the first reason."""
    X = np.arange(40.0)[:, None]
    y = X[:, 0] * 2.0
    X[0], y[0] = 0.5, 1.0
    found = assess({"a": Sometimes()}, X, y)["a"]
    assert (found.refits, found.failed, found.failure) == (1, 9, "ValueError: half a row")
    assert found.r2 == pytest.approx(1.0)
    assert np.isnan(found.instability)


def test_classifiers_without_probabilities_have_an_area_only():
    """Scores that rank are enough for AUC."""
    X, y = load_iris(return_X_y=True)
    found = assess({"svm": LinearSVC()}, X[:100], y[:100], refits=3)["svm"]
    assert found.auc == pytest.approx(1.0)
    assert np.isnan([found.skill, found.instability]).all()


def test_tables_go_through_json_and_damage_is_refused(diabetes):
    """Bit for bit, NaN included."""
    table = assess({"MOSS": moss(), "line": LinearRegression()}, *diabetes, refits=3, seeds=2)
    copy = Assessment.from_json(table.to_json())
    assert copy == table
    assert hash(copy) == hash(table)
    assert copy != 1
    assert str(copy) == str(table)
    content = json.loads(table.to_json())
    for wrong in (
        "no JSON", "{}", json.dumps({**content, "version": 99}),
        json.dumps({**content, "methods": [{}]}), json.dumps({**content, "task": "poetry"}),
        json.dumps({**content, "methods": [{**content["methods"][0], "dice": "much"}]}),
        json.dumps({**content, "refits": -1}),
    ):  # fmt: skip
        with pytest.raises((InvalidFile, InvalidParameter)):
            Assessment.from_json(wrong)


def test_a_run_resumes_from_its_checkpoint(diabetes, tmp_path):
    """Methods that were measured are not fitted again, and others can join; other data cannot."""
    X, y = diabetes
    path = tmp_path / "trust.json"
    steps = []
    how = {"refits": 3, "seeds": 2, "checkpoint": path, "n_jobs": 1}
    first = assess({"MOSS": moss()}, X, y, progress=steps.append, **how)
    assert [step.done for step in steps] == [1, 2, 3, 4, 5]
    assert {step.total for step in steps} == {5}
    again = []
    models = {"MOSS": moss(), "line": LinearRegression()}
    both = assess(models, X, y, progress=again.append, **how)
    assert repr(both["MOSS"]) == repr(first["MOSS"])
    assert [(step.method, step.done) for step in again] == [("line", 6), ("line", 7), ("line", 8)]
    for other in ({"X": X * 2.0}, {"refits": 4}, {"seeds": 3}, {"random_state": 1}):
        with pytest.raises(InvalidFile, match="other data"):
            assess(models, **{"X": X, "y": y, **how, **other})
    with pytest.raises(InvalidFile, match="other settings"):
        assess({"MOSS": moss(n_bins=3)}, X, y, **how)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"refits": 1}, "refits"),
        ({"seeds": -1}, "seeds"),
        ({"scheme": "jackknife"}, "scheme is 'jackknife'"),
        ({"groups": [1, 2]}, "one label for each of the 40 rows"),
        ({"groups": [1] * 40}, "single group"),
        ({"groups": "place"}, "place"),
        ({"X": "rows.csv"}, "in files"),
        ({"methods": {}}, "methods is empty"),
        ({"methods": {"a": LinearRegression(), "b": LogisticRegression()}}, "has a classifier"),
        ({"X": [[1.0], [2.0]], "y": [1.0, 2.0]}, "There are 2 rows"),
        ({"progress": 3}, "progress"),
    ],
)
def test_what_is_wrong_is_named(how, words):
    """One sentence says what was wrong, before any work."""
    given = {
        "methods": {"a": LinearRegression()},
        "X": np.arange(40.0)[:, None],
        "y": np.arange(40),
    }
    with pytest.raises((InvalidParameter, UnsupportedType, ValueError), match=words):
        assess(**{**given, **how})


def test_a_method_is_found_by_its_name(diabetes):
    """Another name is refused with the ones there are."""
    table = assess({"line": LinearRegression()}, *diabetes, refits=2)
    assert isinstance(table["line"], MethodTrust)
    with pytest.raises(InvalidParameter, match="Did you mean"):
        table["lime"]


class Coin(ClassifierMixin, BaseEstimator):
    """Always the shares of the training rows."""

    def fit(self, X, y):  # noqa: ARG002
        """Count the classes."""
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = counts / counts.sum()
        return self

    def predict_proba(self, X):
        """Return the shares."""
        return np.tile(self.shares_, (len(X), 1))

    def predict(self, X):
        """Return the first class."""
        return np.full(len(X), self.classes_[0])


def test_the_shares_of_the_training_rows_have_no_skill():
    """They are what skill is measured against."""
    X, y = load_iris(return_X_y=True)
    found = assess({"coin": Coin()}, X, y, refits=5)["coin"]
    assert found.skill == pytest.approx(0.0, abs=1e-12)
    assert found.auc == 0.5
