import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import KFold

from mossrules import MossClassifier, MossRegressor, RuleSet
from mossrules.baselines import SirusClassifier
from mossrules.constraints import MustInclude, NeverUse
from mossrules.display.report import collect
from mossrules.display.report.data import TargetSummary, quantiles
from mossrules.exceptions import InvalidParameter, UnsupportedType

N = 240


@pytest.fixture(scope="module")
def rows():
    """Return columns of every kind, some values missing, and a target that depends on them."""
    draw = np.random.default_rng(5)
    X = pd.DataFrame(
        {
            "age": draw.integers(20, 80, N).astype(float),
            "dose": draw.gamma(2.0, 3.0, N),
            "smoker": draw.random(N) < 0.3,
            "site": draw.choice(["north", "south", "<b>east</b>"], N, p=[0.5, 0.4, 0.1]),
            "grade": pd.Categorical(
                draw.choice(["low", "mid", "high"], N), ["low", "mid", "high"], ordered=True
            ),
        }
    )
    y = 2.0 * (X["age"] > 50) + 3.0 * X["smoker"] + (X["site"] == "south") - 0.1 * X["dose"]
    X.loc[::7, "dose"] = np.nan
    X.loc[::11, "site"] = None
    X.loc[[3, 4], "site"] = "rare"
    return X, (y + draw.normal(0.0, 0.5, N)).rename("pain")


@pytest.fixture(scope="module")
def model(rows):
    """Return a fitted model."""
    return MossRegressor(6, n_trees=150, random_state=0).fit(*rows)


@pytest.fixture(scope="module")
def report(rows, model):
    """Return its report, with folds and a method beside it."""
    methods = {"a line": LineOfAge()}
    return collect(model, *rows, cv=KFold(3), points=[1.0, 0.7, 0.35, 0.2], methods=methods)


class LineOfAge(LinearRegression):
    """A method without rules, which looks at one column."""

    def fit(self, X, y):
        """Look at the age alone."""
        return super().fit(np.asarray(X["age"])[:, None], y)

    def predict(self, X):
        """Look at the age alone."""
        return super().predict(np.asarray(X["age"])[:, None])


def passes(test, value):
    """Tell whether a value passes a test of the report, by what the page's script does."""
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    if "levels" in test:
        return ((None if missing else value) in test["levels"]) == test["inside"]
    if missing:
        return test["missing"]
    over = test["above"] is None or value > test["above"]
    return test["present"] and over and (test["most"] is None or value <= test["most"])


def test_points_have_the_rules_that_models_on_the_trade_off_have(report, rows):
    """Rules, weights and exports of a point are of one rule set, and tests hold where rules do."""
    X, _ = rows
    content = report.content()
    records = X.astype(object).where(X.notna(), None).to_dict("records")
    for point in content["points"]:
        rule_set = RuleSet.from_json(point["exports"]["json"])
        assert [content["rules"][i]["text"] for i in point["rules"]] == rule_set.texts
        assert point["weights"] == rule_set.weights.tolist()
        assert point["exports"]["text"] == rule_set.to_text()
        expected = rule_set.predict(X)
        for row, value in zip(records, expected, strict=True):
            total = point["intercept"]
            for position, weight in zip(point["rules"], point["weights"], strict=True):
                tests = content["rules"][position]["tests"]
                if all(passes(test, row[test["feature"]]) for test in tests):
                    total += weight
            assert total == value


def test_the_fitted_model_is_on_it_and_points_go_down_in_stability(report, model, rows):
    """The point shown first is the model itself; others trade stability for fit."""
    chosen = report.points[report.chosen]
    shown = RuleSet.from_json(chosen.exports["json"])
    assert replace(shown, track_record=None) == replace(model.rules_, track_record=None)
    assert shown.track_record == report.track_record
    assert chosen.certificate.gap == model.solution_.gap
    assert chosen.training == pytest.approx(model.score(*rows), abs=1e-12)
    shares = [point.stability for point in report.points]
    assert shares == sorted(shares, reverse=True)
    assert len(report.points) >= 3
    assert chosen.certificate.sentence.startswith("Proven: no equally stable set of up to 6")


def test_folds_count_how_often_each_rule_came_out(report, model, rows):
    """At its share, each fold's own fit has the rule or has not."""
    X, y = rows
    point = report.points[report.chosen]
    fits = [
        MossRegressor(6, n_trees=150, random_state=0, stability=point.stability, gap=0.01)
        .fit(X.iloc[train], y.iloc[train])
        .rules_
        for train, _ in KFold(3).split(X)
    ]
    assert list(point.found) == [
        sum(text in each.texts for each in fits) for text in model.rules_.texts
    ]
    scores = [
        1.0 - np.mean((y.iloc[test] - fit.predict(X.iloc[test])) ** 2) / np.var(y.iloc[test])
        for fit, (_, test) in zip(fits, KFold(3).split(X), strict=True)
    ]
    assert point.evaluated.score == pytest.approx(np.mean(scores))


def test_other_methods_are_measured_on_the_same_folds(report, rows):
    """A method without rules has a score and no Dice."""
    X, y = rows
    (line,) = report.baselines
    scores = [
        LineOfAge().fit(X.iloc[train], y.iloc[train]).score(X.iloc[test], y.iloc[test])
        for train, test in KFold(3).split(X)
    ]
    assert line.score == pytest.approx(np.mean(scores))
    assert line.score_se == pytest.approx(np.std(scores, ddof=1) / np.sqrt(3))
    assert line.dice is None


def test_columns_are_summed_up_without_single_rows(report, rows):
    """Shares are those of pandas, quantiles lie nearby; levels of a few rows are not named."""
    X, y = rows
    content = report.content()["data"]
    columns = {each["name"]: each for each in content["columns"]}
    assert_near_quantiles(columns["dose"]["quantiles"], X["dose"].dropna())
    assert columns["dose"]["typical"] == columns["dose"]["quantiles"][2]
    assert columns["dose"]["missing"] == pytest.approx(X["dose"].isna().mean())
    levels = dict(map(tuple, columns["site"]["levels"]))
    assert levels.keys() == {"north", "south", "<b>east</b>"}
    assert levels["north"] == pytest.approx((X["site"] == "north").mean())
    assert columns["site"]["others"] == pytest.approx(2 / N)
    assert set(columns["site"]["choices"]) == {"north", "south", "<b>east</b>"}
    assert dict(map(tuple, columns["smoker"]["levels"]))[True] == pytest.approx(X["smoker"].mean())
    assert columns["grade"]["choices"] == ["low", "mid", "high"]
    assert columns["age"]["used"]
    assert_near_quantiles(content["target"]["quantiles"], y)


def assert_near_quantiles(found, values):
    """Hold that quantiles are within five rows of those of NumPy, and are no value of a row."""
    ordered = np.sort(values)
    for share, quantile in zip([0.05, 0.25, 0.5, 0.75, 0.95], found, strict=True):
        place = int(share * (len(ordered) - 1))
        assert ordered[place - 5] <= quantile <= ordered[place + 5]
        assert quantile not in ordered


def test_a_quantile_that_many_rows_have_is_shown_as_it_is():
    """Ten rows with a value are enough to show it; of fewer than ten numbers there is none."""
    assert quantiles(np.repeat([1.25, 2.5, 3.75], [10, 12, 10])) == (1.25, 1.25, 2.5, 3.75, 3.75)
    assert quantiles(np.arange(9.0)) is None


def test_everything_is_json_and_says_how_to_make_it_again(report, model):
    """No NaN is left; settings, seed, releases and the source are there."""
    content = report.content()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert ("random_state", "0") in report.settings
    assert len(report.settings) == len(model.get_params())
    assert {"mossrules", "python", "packages", "date", "commit", "source"} <= content["made"].keys()
    assert (
        repr(report)
        == f"ReportData({len(report.points)} points, {len(report.rules)} rules, 3 folds)"
    )


def test_without_rows_there_is_the_trade_off_alone(model):
    """What training knows is enough for the points and for trying values."""
    found = collect(model, points=5).content()
    assert found["folds"] is None
    assert found["baselines"] == []
    assert all(point["evaluated"] is None for point in found["points"])
    typical = {each["name"]: each["typical"] for each in found["data"]["columns"]}
    assert all(value is not None for value in typical.values())
    assert found["data"]["rows"] == N


def test_classifiers_have_shares_of_the_log_loss(rows):
    """Of a model and of baselines alike: 1 minus the log-loss over that of the training share."""
    X, y = rows
    labels = pd.Series(np.where(y > y.median(), "yes", "no"), name="pain")
    sirus = SirusClassifier(4, n_trees=60, random_state=0)
    model = MossClassifier(4, n_trees=60, random_state=0).fit(X, labels)
    report = collect(model, X, labels, cv=KFold(3), points=[1.0], methods={"SIRUS": sirus})
    dealt = collect(model, X, labels, cv=3, points=[1.0], methods={"MOSS": model})
    assert dealt.baselines[0].score == pytest.approx(dealt.points[-1].evaluated.score, abs=0.02)
    expected = []
    for train, test in KFold(3).split(X):
        none = DummyClassifier(strategy="prior").fit(X.iloc[train], labels[train])
        chances = sirus.fit(X.iloc[train], labels[train]).predict_proba(X.iloc[test])
        losses = [
            log_loss(labels[test], each) for each in (chances, none.predict_proba(X.iloc[test]))
        ]
        expected.append(1.0 - losses[0] / losses[1])
    assert report.baselines[0].score == pytest.approx(np.mean(expected), abs=1e-3)
    chances = model.predict_proba(X)
    alone = log_loss(labels, np.tile(np.mean([labels == "no", labels == "yes"], axis=1), (N, 1)))
    training = 1.0 - log_loss(labels, chances) / alone
    assert report.points[report.chosen].training == pytest.approx(training, abs=1e-3)
    assert (report.link, report.outcome, report.target) == ("logit", "yes", "pain")
    assert report.title == "Rules for pain = yes"
    assert report.content()["data"]["target"]["share"] == pytest.approx((labels == "yes").mean())


def test_infinite_levels_are_texts_and_infinite_numbers_are_nothing():
    """JSON has neither; a reader can still choose such a level."""
    levels = pd.Categorical([1.0, np.inf] * 20)
    y = np.tile([0.0, 1.0], 20)
    model = MossRegressor(1, n_trees=10, max_features=1.0).fit({"a": levels}, y)
    content = collect(model, {"a": levels}, y, cv=None).content()
    (column,) = content["data"]["columns"]
    (rule,) = content["rules"]
    (point,) = content["points"]
    assert column["choices"] == [1.0, "inf"]
    assert point["exports"]["sql"].startswith("-- Level inf of column 'a' has no SQL literal")
    assert {"inf", 1.0} & set(rule["tests"][0]["levels"])
    shown = replace(collect(model), target_summary=TargetSummary("number", mean=np.inf))
    assert shown.content()["data"]["target"]["mean"] is None
    json.dumps(content, allow_nan=False)


def test_whole_levels_too_large_for_scripts_are_texts():
    """Two of them that one double stands for stay two."""
    levels = pd.Categorical([2**53, 2**53 + 1, 7, 7] * 10)
    y = np.tile([0.0, 1.0, 3.0, 3.0], 10)
    model = MossRegressor(2, n_trees=20, max_features=1.0, random_state=0).fit({"a": levels}, y)
    content = collect(model, {"a": levels}, y, cv=None).content()
    (column,) = content["data"]["columns"]
    assert column["choices"] == [7, "9007199254740992", "9007199254740993"]
    tested = {each for rule in content["rules"] for each in rule["tests"][0]["levels"]}
    assert tested <= {*column["choices"], None}


def test_a_constant_target_has_a_report_too():
    """One point without rules: the mean is the model."""
    X, y = {"a": [1.0, 2.0, 3.0, 4.0]}, [2.0, 2.0, 2.0, 2.0]
    report = collect(MossRegressor(3, n_trees=5).fit(X, y), X, y, cv=2)
    assert [len(point.rules) for point in report.points] == [0]
    json.dumps(report.content(), allow_nan=False)


def test_what_has_no_single_trade_off_is_refused(rows):
    """Each refusal says what to do."""
    X, y = rows
    thirds = pd.cut(y, 3, labels=["a", "b", "c"]).astype(str)
    several = MossClassifier(2, n_trees=20).fit(X[["age", "smoker"]], thirds)
    with pytest.raises(InvalidParameter, match=r"3 classes.*model.estimators_\['a'\]"):
        collect(several)
    with pytest.raises(UnsupportedType, match="no trade-off"):
        collect(LinearRegression())
    with pytest.raises(NotFittedError):
        collect(MossRegressor())
    with pytest.raises(InvalidParameter, match="X and y together"):
        collect(several.estimators_["a"], X)
    with pytest.raises(InvalidParameter, match="methods is 'all'"):
        collect(several.estimators_["a"], X[["age", "smoker"]], thirds == "a", cv=2, methods="all")


def test_a_floor_on_each_rule_is_said_of_every_point(rows):
    """How often its rules were found follows the certificate, and the content names the floor."""
    model = MossRegressor(4, n_trees=80, floor="each", stability=0.5).fit(*rows)
    report = collect(model, *rows, cv=KFold(2), points=5, methods=None)
    assert report.content()["floor"] == "each"
    for point in report.points:
        least = min(report.rules[rule].proportion for rule in point.rules)
        assert f"is in at least {math.floor(1000 * least + 1e-9) / 10:g} % of the trees" in (
            point.certificate.sentence
        )
        assert 0.0 < point.stability <= 1.0
    assert sum(point.evaluated is not None for point in report.points) > 1
    certificate = report.points[report.chosen].certificate
    assert model.fitted_.floor_sentence in certificate.sentence  # as `mossrules fit` prints it
    assert certificate.sentence in model._repr_html_()


@pytest.mark.parametrize(("floor", "target"), [("each", "0.1"), ("sum", "high")])
def test_the_settings_name_the_target_that_is_none_by_default(rows, floor, target):
    """To look it up in the documentation is not asked of who reads the page."""
    model = MossRegressor(2, n_trees=20, floor=floor).fit(*rows)
    assert dict(collect(model, points=2).settings)["stability"] == target


def test_the_content_of_the_paper_s_floor_is_as_before(rows):
    """There was no other, so it is not named; and its sums are what equally stable means."""
    model = MossRegressor(3, n_trees=40, floor="sum", stability=0.8).fit(*rows)
    report = collect(model, points=3)
    assert "floor" not in report.content()
    assert "identity" not in report.content()
    assert "tree frequencies add up to at least as much" in report.points[0].certificate.sentence


def test_what_equally_stable_means_is_in_trees(rows):
    """As whole numbers: a rounded share would say of some sets what is not proven of them."""
    model = MossRegressor(4, n_trees=80).fit(*rows)
    for point, solution in zip(collect(model, points=4).points, model.frontier(4), strict=True):
        least = f"whose rules were each found in at least {solution.stability} of the 80 trees."
        assert least in point.certificate.sentence


def test_rules_that_the_refit_leaves_out_are_counted(report, model):
    """The proof is about all rules that were chosen, and a point may have fewer."""
    solutions = (*model.frontier([1.0, 0.7, 0.35, 0.2]), model.solution_)
    sizes = {solution.loss: len(solution.support) for solution in solutions}
    chosen = [sizes[point.loss] for point in report.points]
    left_out = [n - len(point.rules) for n, point in zip(chosen, report.points, strict=True)]
    assert max(left_out) > 1
    assert 0 in left_out
    for n, left, point in zip(chosen, left_out, report.points, strict=True):
        said = f"about the {n} rules that the search chose. {left} of them "
        assert (said in point.certificate.sentence) == (left > 0)


def test_the_proof_names_the_constraints_and_the_rules_that_may_be_chosen(rows):
    """Sets that break a constraint may fit better, and without ties fewer rules are allowed."""
    limited = MossRegressor(4, n_trees=40, constraints=[NeverUse("dose")]).fit(*rows)
    sentence = collect(limited, points=1).points[0].certificate.sentence
    assert sentence.startswith(
        "Proven: no equally stable set of up to 4 candidate rules that meets the constraints fits "
    )
    counts = np.sort(limited.pool_.counts)[::-1]
    tied = np.flatnonzero((counts[1:] == counts[:-1]) & (counts[1:] < counts[0]))[0] + 1
    untied = MossRegressor(int(tied), n_trees=40, ties="drop").fit(*rows)
    assert untied.problem_.max_rules < tied
    sentence = collect(untied, points=1).points[0].certificate.sentence
    assert f"set of up to {untied.problem_.max_rules} candidate rules fits" in sentence


def test_a_required_rule_is_named_where_it_is_rarer(rows):
    """It need not be as frequent as the others, in this set or in an equally stable one."""
    free = MossRegressor(4, n_trees=80, stability=0.5).fit(*rows)
    rarest = free.candidates_.texts[int(np.argmin(free.pool_.counts))]
    model = free.set_params(constraints=[MustInclude(rarest)]).fit(*rows)
    point = collect(model).points[0]
    assert "Every rule that was not required is in" in point.certificate.sentence
    assert "rules, those that were required aside, were each" in point.certificate.sentence


@pytest.mark.parametrize("identity", ["codes", "rows"])
def test_another_identity_of_rules_is_named(rows, identity):
    """The page says by it when two rules are the same."""
    model = MossRegressor(2, n_trees=20).fit(*rows)
    how = {"cv": KFold(2), "points": 2, "methods": None}
    found = collect(model, *rows, **how, identity=identity).content()
    assert found["identity"] == identity


# --- groups and weights ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["numbers", "classes"])
@pytest.mark.parametrize("by_name", [True, False])
def test_a_report_keeps_groups_together(rows, tmp_path, kind, by_name):
    """`report` takes what `fit` takes: with groups and weights, the folds and refits keep both."""
    X, y = rows[0][["age", "dose"]], rows[1].to_numpy()
    y = y if kind == "numbers" else y > 3
    groups, weights = np.arange(N) // 4, np.arange(N) % 3 + 1
    X = X.assign(patient=groups, weight=weights) if by_name else X
    groups, weights = ("patient", "weight") if by_name else (groups, weights)
    how = {"n_trees": 20, "solver": "coordinate-descent"}
    model = (MossRegressor if kind == "numbers" else MossClassifier)(2, **how)
    model.fit(X, y, weights, groups)
    page = tmp_path / "page.html"
    few = {"cv": 2, "points": [1.0], "methods": None, "refits": 2}
    data = model.report(page, X, y, groups=groups, sample_weight=weights, **few)
    assert data.groups == data.track_record.groups == N // 4
    assert [column.name for column in data.columns] == ["age", "dose"]
    assert page.exists()


@pytest.mark.parametrize("name", ["groups", "sample_weight"])
def test_groups_without_their_rows_are_refused(model, name):
    """They would have had no effect."""
    with pytest.raises(InvalidParameter, match=f"{name} is one value for each row of X; pass X"):
        collect(model, **{name: np.arange(N)})


def test_the_report_is_of_the_outcome_and_says_when_it_is_rare():
    """Rates, share and events are of the case, whose label comes first; so is the warning."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"dose": rng.normal(size=300).round(2), "age": rng.integers(20, 80, 300)})
    case = X["dose"] + rng.normal(size=300) / 2 > 1.8
    y = pd.Series(np.where(case, "case", "control"), name="status")
    classifier = MossClassifier(4, n_trees=40).fit(X, y)
    report = collect(classifier, X, y, cv=None, points=[1.0], refits=0, methods=None)
    assert report.outcome == "case"
    rules = classifier.rules_
    by_text = {rule.text: rule for rule in report.rules}
    for text, holds in zip(rules.texts, rules.holds(X).T, strict=True):
        if by_text[text].mean is not None:
            assert by_text[text].mean == pytest.approx(case[holds].mean())
            assert by_text[text].events == case[holds].sum()
    summary = report.target_summary
    assert summary.share == pytest.approx(case.mean())
    assert summary.events.startswith(f"{case.sum()} of 300 training rows are status = case: ")
    assert summary.few_events.startswith(f"Only {case.sum()} training rows are status = case")
    probability = classifier.predict_proba(X)[:, 0]
    assert summary.auc == pytest.approx(roc_auc_score(case, probability))
    assert summary.balanced_accuracy == balanced_accuracy_score(case, probability > 0.5)
