import json
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from mossrules import FittedEnsemble, MossRegressor, RuleSet, defaults, find_candidates
from mossrules import evaluation as evaluation_room
from mossrules.baselines import FireRegressor, GlrmRegressor, RuleFitRegressor, SirusRegressor
from mossrules.evaluation import (
    Evaluation,
    EvaluationProgress,
    MethodFold,
    MethodSummary,
    evaluate,
    methods,
)
from mossrules.exceptions import (
    InvalidFile,
    InvalidParameter,
    InvalidTarget,
    SolveLimitWarning,
    UnsupportedType,
)
from mossrules.learning import fit
from mossrules.solver import Status, solve
from mossrules.stability import empirical_stability, nogueira

QUICK = {"n_trees": 30, "random_state": 2}
# With which MOSS looks for what baselines look for.
PLAIN = {
    "cuts": defaults.PLAIN_CUTS, "max_features": defaults.PLAIN_MAX_FEATURES,
    "inner_nodes": False, "max_overlap": None, "min_coverage": 0,
}  # fmt: skip
TIMES = ["seconds", "search_seconds"]


@pytest.fixture(scope="module")
def diabetes():
    """Return part of a table in the users' units, and its target."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return X[:200], y[:200]


def some():
    """Return methods of several kinds, all of them quick."""
    return {
        "MOSS": MossRegressor(4, **QUICK),
        "SIRUS": SirusRegressor(4, variant="paper", **QUICK),
        "RuleFit with lines": RuleFitRegressor(6, linear_terms=True, **QUICK),
        "SIRUS alone": SirusRegressor(4, source="own", **QUICK),
        "least squares": LinearRegression(),
    }


@pytest.fixture(scope="module")
def evaluation(diabetes):
    """Return an evaluation that no test changes."""
    return evaluate(some(), *diabetes, cv=KFold(4))


class Fails(RegressorMixin, BaseEstimator):
    """A mean that refuses some tables with an error of its own."""

    def __init__(self, error=ValueError, most=0):
        self.error = error
        self.most = most

    def fit(self, X, y):  # noqa: ARG002
        """Fit where all targets are small enough."""
        if y.max() > self.most:
            raise self.error("There is\n no way.")
        self.mean_ = y.mean()
        return self

    def predict(self, X):
        """Return the mean."""
        return np.full(len(X), self.mean_)


# --- against models fitted one by one -------------------------------------------------------------


@pytest.mark.parametrize("name", some())
def test_scores_are_those_of_separate_fits(diabetes, evaluation, name):
    """R2 of each fold is scikit-learn's score of the method alone."""
    expected = cross_val_score(some()[name], *diabetes, cv=KFold(4))
    found = [each.r2 for each in evaluation.folds(name)]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_figures_of_stability_are_those_of_the_fitted_rules(diabetes, evaluation):
    """Each measure is that of the rule sets of separate fits; Nogueira's among all candidates."""
    X, y = diabetes
    for name in ("MOSS", "SIRUS alone"):
        models = [some()[name].fit(X.iloc[train], y.iloc[train]) for train, _ in KFold(4).split(X)]
        rules = [model.rules_ for model in models]
        texts = [each.to_json() for each in evaluation.rule_sets(name)]
        assert [json.loads(each)["rules"] for each in texts] == [
            json.loads(each.to_json())["rules"] for each in rules
        ]
        summary = next(each for each in evaluation.summaries if each.method == name)
        for measure in ("dice", "jaccard", "ochiai", "pog"):
            expected, found = empirical_stability(rules, measure), getattr(summary, measure)
            assert (found, found.lower, found.upper) == (expected, expected.lower, expected.upper)
        candidates = set().union(*(model.pool_.rules for model in models))
        assert evaluation.n_candidates(name) == len(candidates)
        expected = nogueira(rules, len(candidates))
        assert (summary.nogueira, summary.nogueira.lower) == (expected, expected.lower)


def test_weights_count_in_training_and_testing(diabetes):
    """With sample weights every method has them, and the scores are weighted."""
    X, y = diabetes
    w = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
    models = {"MOSS": MossRegressor(3, **QUICK), "ridge": Ridge(5.0)}
    found = evaluate(models, X, y, sample_weight=w, cv=KFold(2))
    for name, model in models.items():
        for each, (train, test) in zip(found.folds(name), KFold(2).split(X), strict=True):
            model.fit(X.iloc[train], y.iloc[train], sample_weight=w[train])
            expected = model.score(X.iloc[test], y.iloc[test], sample_weight=w[test])
            assert each.r2 == pytest.approx(expected, rel=1e-9)


def test_whole_weights_are_repeated_rows(diabetes):
    """Whole weights give what repeated rows give, also for methods that know no weights."""
    X, y = diabetes
    w = np.random.default_rng(1).integers(0, 3, len(y))
    where = np.repeat(np.arange(len(y)), w)
    models = {"mean": Fails(most=1e9), "least squares": LinearRegression()}
    one = evaluate(models, X, y, sample_weight=w, cv=3).frame()
    other = evaluate(models, X.iloc[where], y.iloc[where], cv=3).frame()
    np.testing.assert_allclose(one["r2"], other["r2"], rtol=1e-9)


# --- shared candidates ----------------------------------------------------------------------------


def test_candidates_are_found_once_per_fold_and_search(diabetes, monkeypatch):
    """Methods that look for the same share one search, whatever else they differ in."""
    calls = Counter()
    original = methods.find_in_rows

    def counted(rows, **parameters):
        calls[parameters["cuts"], parameters["random_state"]] += 1
        return original(rows, **parameters)

    monkeypatch.setattr(methods, "find_in_rows", counted)
    models = {
        "default": MossRegressor(3, **QUICK),
        "share": MossRegressor(5, stability=0.8, n_jobs=1, **QUICK),
        "plain": MossRegressor(3, **PLAIN, **QUICK),
        "SIRUS": SirusRegressor(3, **QUICK),
        "FIRE": FireRegressor(3, **QUICK),
        "GLRM": GlrmRegressor(3, **QUICK),
        "another seed": MossRegressor(3, n_trees=30, random_state=3),
    }
    found = evaluate(models, *diabetes, cv=3).frame()
    assert calls == {("round", 2): 3, ("quantile", 2): 3, ("round", 3): 3}
    times = found.pivot_table(index="fold", columns="method", values="search_seconds")
    assert (times["default"] == times["share"]).all()
    for other in ("SIRUS", "FIRE", "GLRM"):
        assert (times["plain"] == times[other]).all()


def test_a_generator_gives_all_that_have_it_one_seed(diabetes):
    """A shared generator is asked once, so that the methods still share their candidates."""
    rng = np.random.default_rng(5)
    models = {k: MossRegressor(3, n_trees=20, random_state=rng, stability=k) for k in ("high", 0.7)}
    models = {str(name): model for name, model in models.items()}
    frame = evaluate(models, *diabetes, cv=2).frame()
    assert frame["seed"].unique().tolist() == [int(np.random.default_rng(5).integers(1 << 63))]


def test_a_fitted_ensemble_stays_a_source_of_rules(diabetes):
    """A forest of scikit-learn that rules are taken from is not emptied by copying."""
    forest = RandomForestRegressor(8, max_depth=2, random_state=0).fit(*diabetes)
    models = {
        "bare": MossRegressor(3, generator=forest),
        "wrapped": MossRegressor(3, generator=FittedEnsemble(forest)),
    }
    found = evaluate(models, *diabetes, cv=2)
    assert found.failures == []
    assert found.rule_sets("bare") == found.rule_sets("wrapped")


# --- what the result does not depend on -----------------------------------------------------------


def test_threads_and_order_change_nothing(diabetes):
    """One thread or three, rows in any order: the same figures."""
    X, y = diabetes
    order = np.random.default_rng(5).permutation(len(y))
    models = {name: some()[name] for name in ("MOSS", "SIRUS", "least squares")}
    one = evaluate(models, X, y, cv=4, n_jobs=1).frame().drop(columns=TIMES)
    three = evaluate(models, X.iloc[order], y.iloc[order], cv=4, n_jobs=3).frame()
    pd.testing.assert_frame_equal(one, three.drop(columns=TIMES))


@pytest.mark.parametrize("kind", ["dict", "polars", "pyarrow", "array", "lists", "column"])
def test_tables_of_any_kind(diabetes, kind):
    """Each kind of table, and a target in it, gives what a frame gives, or one without names."""
    X, y = (each[:60] for each in diabetes)
    kinds = {
        "dict": (X.to_dict("list"), y),
        "polars": (pl.from_pandas(X), y.to_numpy()),
        "pyarrow": (pa.table({**X, "y": y}), "y"),
        "array": (X.to_numpy(), y.to_numpy()),
        "lists": (X.to_numpy().tolist(), y.tolist()),
        "column": (X.assign(y=y), "y"),
    }
    models = {"MOSS": MossRegressor(2, n_trees=5, n_bins=10, stability=0.9), "ridge": Ridge()}
    if kind in ("dict", "pyarrow"):  # which scikit-learn does not read as arrays of numbers
        models.pop("ridge")
    if kind in ("array", "lists"):  # where columns are told apart by what they hold
        X = X.set_axis(range(X.shape[1]), axis="columns")
    expected = evaluate({name: models[name] for name in models}, X, y, cv=2)
    found = evaluate(models, *kinds[kind], cv=2)
    np.testing.assert_allclose(found.frame()["r2"], expected.frame()["r2"], rtol=1e-9)


def test_the_methods_stay_as_they_are(diabetes):
    """Nothing that was passed is fitted."""
    models = some()
    before = {name: set(vars(model)) for name, model in models.items()}
    evaluate(models, *diabetes, cv=2)
    assert {name: set(vars(model)) for name, model in models.items()} == before


# --- methods without rules, and failures ---------------------------------------------------------


def test_what_a_method_does_not_have_is_missing(evaluation):
    """A method without rules has no stability and no size: missing, not zero."""
    summary = evaluation.summary().set_index("method").loc["least squares"]
    empty = [name for name in summary.index if summary.isna()[name]]
    measures = ("dice", "jaccard", "ochiai", "pog", "nogueira")
    expected = {f"{each}{part}" for each in measures for part in ("", "_lower", "_upper")}
    assert set(empty) == expected | {"n_rules", "search_seconds", "rank_dice", "rank_combined"}
    frame = evaluation.frame()
    assert frame.loc[frame["method"] == "least squares", "n_rules"].isna().all()
    assert evaluation.rule_sets("least squares") == []


@pytest.mark.parametrize(
    "error",
    [ValueError, np.linalg.LinAlgError, ZeroDivisionError, KeyError, RuntimeError, TypeError,
     MemoryError, InvalidTarget],
)  # fmt: skip
def test_a_failed_method_is_a_row_that_says_so(diabetes, error):
    """The row has the sentence of the error, and the others go on."""
    X, y = diabetes
    found = evaluate({"no": Fails(error), "yes": LinearRegression()}, X, y, cv=2)
    frame = found.frame()
    assert frame["status"].tolist() == ["failed", "failed", "fitted", "fitted"]
    assert frame["failure"][0].startswith(error.__name__)
    assert "no way" in frame["failure"][0]
    assert frame["r2"].isna().tolist() == [True, True, False, False]
    assert [each.fold for each in found.failures] == [0, 1]
    assert "2 fits failed" in repr(found)
    assert "failed on 2 folds" in str(found)
    assert np.isnan(found.summaries[0].r2)


def test_a_method_that_fails_on_a_fold_has_no_rank(diabetes):
    """Its mean is of the other folds, and is not ranked among means of all."""
    X, y = diabetes
    half = np.arange(len(y)) < 100
    y = y.where(half, y + 5000.0)
    splits = [(half, ~half), (~half, half)]
    found = evaluate({"half": Fails(most=4000), "all": LinearRegression()}, X, y, cv=splits)
    half, whole = found.summaries
    assert (half.failed, whole.failed) == (1, 0)
    assert half.r2 == found.folds("half")[0].r2
    assert np.isnan(half.r2_se)
    assert np.isnan(half.rank_score)
    assert whole.rank_score == 1.0


def test_a_mistake_in_the_program_of_a_method_ends_the_run(diabetes):
    """Attributes that are not there are no failure of a fit, and are not hidden."""
    for n_jobs in (1, 2):
        with pytest.raises(AttributeError, match="no way"):
            evaluate({"no": Fails(AttributeError)}, *diabetes, cv=3, n_jobs=n_jobs)


def test_missing_values_fail_only_those_who_cannot(diabetes):
    """A table with gaps and words is one that our methods read, and least squares does not."""
    X, y = diabetes
    X = X.assign(bmi=X["bmi"].where(X["bmi"] < 30), sex=X["sex"].map({1.0: "f", 2.0: "m"}))
    found = evaluate({"MOSS": MossRegressor(3, **QUICK), "no": LinearRegression()}, X, y, cv=2)
    assert found.frame()["status"].tolist() == ["optimal", "optimal", "failed", "failed"]


def test_rows_can_be_prepared_by_what_the_training_rows_say(diabetes, monkeypatch):
    """Methods make of prepared rows what they make of rows that were prepared for each fold."""
    X, y = diabetes
    X = X.assign(bmi=X["bmi"].where(X["bmi"] < 30))
    imputer = SimpleImputer(strategy="median").set_output(transform="pandas")
    searches = []
    original = methods.find_in_rows
    monkeypatch.setattr(
        methods, "find_in_rows", lambda *a, **b: searches.append(1) or original(*a, **b)
    )
    models = {
        "MOSS": MossRegressor(3, **PLAIN, **QUICK),
        "SIRUS": SirusRegressor(3, **QUICK),
        "line": LinearRegression(),
    }
    found = evaluate(models, X, y, cv=KFold(2), prepare=imputer)
    assert len(searches) == 2
    assert not hasattr(imputer, "statistics_")
    for name, model in models.items():
        alone = cross_val_score(make_pipeline(imputer, model), X, y, cv=KFold(2), scoring="r2")
        np.testing.assert_allclose([each.r2 for each in found.folds(name)], alone, rtol=1e-12)


def test_seeds_can_vary_from_fold_to_fold(diabetes):
    """The method of a fold is then the one whose seed is more by the number of the fold."""
    X, y = diabetes
    forest = RandomForestRegressor(5, random_state=7)
    models = {"MOSS": MossRegressor(3, **QUICK), "forest": forest, "line": LinearRegression()}
    found = evaluate(models, X, y, cv=KFold(3), vary_seed=True)
    assert [each.seed for each in found.results] == [2, 3, 4, 7, 8, 9, None, None, None]
    for fold, (train, test) in enumerate(KFold(3).split(X)):
        alone = MossRegressor(3, n_trees=30, random_state=2 + fold).fit(
            X.iloc[train], y.iloc[train]
        )
        score = alone.score(X.iloc[test], y.iloc[test])
        assert found.folds("MOSS")[fold].r2 == pytest.approx(score, rel=1e-12)
    same = evaluate({"forest": forest}, X, y, cv=KFold(3)).folds("forest")
    equal = [a.r2 == b.r2 for a, b in zip(same, found.folds("forest"), strict=True)]
    assert equal == [True, False, False]


# --- summary --------------------------------------------------------------------------------------


def made_up(r2, dice):
    """Return an evaluation with a method for each given mean R2 and Dice between two folds."""
    X, y = np.eye(9), np.arange(9.0)
    candidates = find_candidates(X, y, n_trees=20, max_depth=1)

    def two(first):
        return RuleSet.from_candidates(candidates, [first, first + 1], [1.0, 2.0], 0.0)

    results, settings = [], {}
    for number, (score, agreement) in enumerate(zip(r2, dice, strict=True)):
        name = f"method {number}"
        settings[name] = name
        sets = [None, None] if agreement is None else [two(0), two(2 - int(2 * agreement))]
        results += [
            MethodFold(name, fold, "fitted", scores={"r2": score + step, "error": 1.0}, rules=each)
            for fold, (step, each) in enumerate(zip((-0.1, 0.1), sets, strict=True))
        ]
    return Evaluation(tuple(results), settings, 1.0)


def test_ranks_by_hand():
    """Ranks count from the best; the combined one is the mean of both among those with rules."""
    found = made_up([0.5, 0.9, 0.7, 0.6, 0.7], [1.0, None, 0.0, 0.5, 0.5])
    assert [each.dice for each in found.summaries] == [1.0, None, 0.0, 0.5, 0.5]
    summary = found.summary()
    assert summary["r2"].tolist() == pytest.approx([0.5, 0.9, 0.7, 0.6, 0.7])
    assert summary["r2_se"].tolist() == pytest.approx([0.1] * 5)
    assert summary["rank_r2"].tolist() == [5.0, 1.0, 2.5, 4.0, 2.5]
    np.testing.assert_array_equal(summary["rank_dice"], [1.0, np.nan, 4.0, 2.5, 2.5])
    # By R2 among four: 4, 1.5, 3, 1.5.
    np.testing.assert_array_equal(summary["rank_combined"], [2.5, np.nan, 2.75, 2.75, 2.0])
    assert summary["nogueira"].isna().all()  # candidates are not known


def test_combined_ranks_are_the_means_of_both(evaluation):
    """Where all have rules it is the mean of the two columns, by another implementation."""
    summary = evaluation.summary().dropna(subset="dice")
    ranks = [rankdata(-summary[name].to_numpy()) for name in ("r2", "dice")]
    np.testing.assert_allclose(summary["rank_combined"], np.mean(ranks, axis=0))


def test_summaries_are_those_of_the_frame(evaluation):
    """Means, standard errors and sizes are what the rows of folds give."""
    frame, summary = evaluation.frame(), evaluation.summary().set_index("method")
    by = frame.groupby("method", sort=False)
    np.testing.assert_allclose(summary["r2"], by["r2"].mean())
    np.testing.assert_allclose(summary["r2_se"], by["r2"].std(ddof=1) / 2.0)
    np.testing.assert_allclose(summary["n_rules"], by["n_rules"].mean())
    np.testing.assert_allclose(summary["seconds"], by["seconds"].median())
    assert (summary["failed"] == 0).all()
    assert frame["settings"][0] == "MossRegressor(max_rules=4, n_trees=30, random_state=2)"
    assert isinstance(evaluation.frame(backend="polars"), pl.DataFrame)
    assert isinstance(evaluation.summary(backend="polars"), pl.DataFrame)


def test_the_identity_of_rules_reaches_every_measure(diabetes):
    """Rules that read the same, or hold on the same rows, are counted as such."""
    models = {"MOSS": MossRegressor(3, **QUICK)}
    for identity, words in (("thresholds", "thresholds"), ("rows", "rows to 0.8")):
        found = evaluate(models, *diabetes, cv=3, identity=identity, overlap=0.8)
        table = diabetes[0] if identity == "rows" else None
        expected = empirical_stability(
            found.rule_sets("MOSS"), identity=identity, X=table, overlap=0.8
        )
        assert found.summaries[0].dice == expected
        assert found.summaries[0].dice.identity == found.summaries[0].nogueira.identity == words


def test_rules_that_only_read_differently_are_counted(diabetes):
    """Nogueira's measure is there although there are more texts than rules of bins."""
    X, y = diabetes
    stump = MossRegressor(1, n_trees=1, max_depth=1, n_bins=2, cuts="quantile")
    found = evaluate({"stump": stump}, X[["s5"]], y, cv=5, identity="thresholds")
    texts = {each.texts[0] for each in found.rule_sets("stump")}
    assert len(texts) > found.n_candidates("stump")
    assert found.summaries[0].nogueira is not None


def test_texts_tell_what_there_is(evaluation):
    """The short form counts, the long one has a line for each method."""
    assert re.fullmatch(
        r"Evaluation\(5 methods, 4 folds, same thresholds, .* s\)", repr(evaluation)
    )
    lines = str(evaluation).splitlines()
    assert len(lines) == 2 + 5
    for each, line in zip(evaluation.summaries, lines[2:], strict=True):
        assert line.startswith(each.method)
        assert f"{each.r2:.3f}" in line
    assert "Dice" in repr(evaluation.summaries[0])
    with pytest.raises(InvalidParameter, match=r"no method 'MOS'.*Did you mean 'MOSS'"):
        evaluation.rule_sets("MOS")


# --- progress -------------------------------------------------------------------------------------


def test_progress_is_told(diabetes):
    """A function hears of each method on each fold."""
    heard = []
    models = {"a": Ridge(), "b": LinearRegression()}
    evaluate(models, *diabetes, cv=3, n_jobs=2, progress=heard.append)
    assert [each.done for each in heard] == [1, 2, 3, 4, 5, 6]
    assert {each.total for each in heard} == {6}
    assert Counter(each.method for each in heard) == {"a": 3, "b": 3}
    assert str(heard[0]).startswith("a, fold ")


def test_a_line_of_progress_can_be_shown(diabetes, capsys):
    """Verbose shows a line, and changes nothing."""
    evaluate({"a": Ridge()}, *diabetes, cv=2, verbose=True)
    assert capsys.readouterr().err == ""


# --- records --------------------------------------------------------------------------------------


class Counted(LinearRegression):
    """Least squares that counts its fits, and is cut short after some of them."""

    fits = 0
    most = 99

    def fit(self, X, y):
        """Fit, or stop as Ctrl-C would."""
        Counted.fits += 1
        if Counted.fits > Counted.most:
            raise KeyboardInterrupt
        return super().fit(X, y)


@pytest.fixture
def counted(monkeypatch):
    """Return the class with its counter at zero."""
    monkeypatch.setattr(Counted, "fits", 0)
    monkeypatch.setattr(Counted, "most", 99)
    return Counted


def test_a_second_run_goes_on(diabetes, tmp_path, counted, monkeypatch):
    """After an interrupt only what is missing is done, and the result is as if in one go."""
    path = tmp_path / "sub" / "record.json"
    models = {"MOSS": MossRegressor(3, **QUICK), "lines": counted()}
    monkeypatch.setattr(counted, "most", 2)
    with pytest.raises(KeyboardInterrupt):
        evaluate(models, *diabetes, cv=4, checkpoint=path, n_jobs=1)
    assert len(json.loads(path.read_text())["results"]) == 5
    monkeypatch.setattr(counted, "most", 99)
    resumed = evaluate(models, *diabetes, cv=4, checkpoint=path, n_jobs=2)
    assert counted.fits == 2 + 1 + 2
    whole = evaluate(models, *diabetes, cv=4)
    for name in ("frame", "summary"):
        pd.testing.assert_frame_equal(
            getattr(resumed, name)().drop(columns=TIMES), getattr(whole, name)().drop(columns=TIMES)
        )
    assert [each.to_json() for each in resumed.rule_sets("MOSS")] == [
        each.to_json() for each in whole.rule_sets("MOSS")
    ]
    assert resumed.n_candidates("MOSS") == whole.n_candidates("MOSS")
    before = counted.fits
    again = evaluate(models, *diabetes, cv=4, checkpoint=path, identity="thresholds")
    assert counted.fits == before
    pd.testing.assert_frame_equal(again.frame(), resumed.frame())


def test_a_choice_that_was_interrupted_is_no_result(diabetes, tmp_path, monkeypatch):
    """Ctrl-C within a choice, which then has what was found so far, ends the run unrecorded."""

    def interrupted(*problem, **how):
        return replace(solve(*problem, **how), status=Status.INTERRUPTED)

    path = tmp_path / "record.json"
    models = {"ridge": Ridge(), "MOSS": MossRegressor(3, **QUICK)}
    with monkeypatch.context() as patch:
        patch.setattr(fit, "solve", interrupted)
        for n_jobs in (1, 2):
            with pytest.raises(KeyboardInterrupt), pytest.warns(SolveLimitWarning):
                evaluate(models, *diabetes, cv=3, checkpoint=path, n_jobs=n_jobs)
    assert {each["learner"] for each in json.loads(path.read_text())["results"]} == {"ridge"}
    assert len(evaluate(models, *diabetes, cv=3, checkpoint=path).rule_sets("MOSS")) == 3


def test_methods_can_join_and_failures_try_again(diabetes, tmp_path):
    """A record takes more methods, keeps those left out, and repeats what failed."""
    path = tmp_path / "record.json"
    evaluate({"a": Ridge(), "b": Fails()}, *diabetes, cv=2, checkpoint=path)
    found = evaluate({"b": Fails(), "c": LinearRegression()}, *diabetes, cv=2, checkpoint=path)
    assert found.frame()["status"].tolist() == ["failed"] * 2 + ["fitted"] * 2
    assert set(json.loads(path.read_text())["learners"]) == {"a", "b", "c"}


def test_records_of_something_else_are_refused(diabetes, tmp_path):
    """Other data, folds or settings are told in a sentence; threads and order do not matter."""
    X, y = diabetes
    path = tmp_path / "record.json"
    models = {"MOSS": MossRegressor(2, n_trees=5)}
    evaluate(models, X, y, cv=2, checkpoint=path)
    same = {"MOSS": MossRegressor(2, n_trees=5, random_state=0, n_jobs=1, verbose=0)}
    evaluate(same, X[::-1], y[::-1], cv=2, checkpoint=path)
    w = np.ones(len(y))
    w[0] = 0.5
    for args, more in [
        ((X, y + 1), {}), ((X.rename(columns={"bmi": "x"}), y), {}), ((X, y), {"cv": 3}),
        ((X.assign(sex=X["sex"].astype(str)), y), {}), ((X, y), {"sample_weight": w}),
    ]:  # fmt: skip
        with pytest.raises(InvalidFile, match="belongs to other data or other folds"):
            evaluate(models, *args, **{"cv": 2, **more}, checkpoint=path)
    for other in (MossRegressor(3, n_trees=5), SirusRegressor(2, n_trees=5)):
        with pytest.raises(InvalidFile, match="method 'MOSS' with other settings"):
            evaluate({"MOSS": other}, X, y, cv=2, checkpoint=path)


@pytest.mark.parametrize("kind", ["words", "format", "version", "result", "rules", "pool"])
def test_damaged_records_are_refused(diabetes, tmp_path, kind):
    """Whatever is wrong with the file, one sentence says so."""
    path = tmp_path / "record.json"
    models = {"MOSS": MossRegressor(2, n_trees=5)}
    evaluate(models, *diabetes, cv=2, checkpoint=path)
    content = json.loads(path.read_text())
    if kind == "format":
        content["format"] = "mossrules frontier"
    if kind == "version":
        content["version"] = 99
    if kind == "result":
        del content["results"][0]["r2"]
    if kind == "rules":
        content["results"][0]["rules"]["rules"][0]["weight"] = "heavy"
    if kind == "pool":
        content["candidates"] = {}
    path.write_text("{" if kind == "words" else json.dumps(content))
    with pytest.raises(InvalidFile, match=r"record\.json"):
        evaluate(models, *diabetes, cv=2, checkpoint=path)


def test_records_that_cannot_be_kept_are_refused(diabetes, tmp_path):
    """A path that is a folder, and methods that cannot be told again, are named at once."""
    with pytest.raises(InvalidFile, match="cannot be"):
        evaluate({"a": Ridge()}, *diabetes, cv=2, checkpoint=tmp_path)
    lines = make_pipeline(FunctionTransformer(lambda X: X), LinearRegression())
    with pytest.raises(InvalidParameter, match="'lines' cannot be recognised"):
        evaluate({"lines": lines}, *diabetes, cv=2, checkpoint=tmp_path / "r.json")
    scaled = make_pipeline(StandardScaler(), LinearRegression())
    assert evaluate({"a": scaled}, *diabetes, cv=2, checkpoint=tmp_path / "s.json").n_folds == 2


# --- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "more", "words"),
    [
        ([Ridge()], {}, "methods is a list"), ({}, {}, "methods is empty"),
        ({1: Ridge()}, {}, "name 1"), ({"": Ridge()}, {}, "name ''"),
        ({"a": Ridge}, {}, "'a' is <class"), ({"a": 3}, {}, "'a' is 3"),
        ({"a": StandardScaler()}, {}, "fit and predict"),
        ({"a": MossRegressor(0)}, {}, "max_rules is 0"),
        ({"a": Ridge()}, {"cv": 1}, "cv is 1"),
        ({"a": Ridge()}, {"identity": "looks"}, "identity is 'looks'"),
        ({"a": Ridge()}, {"overlap": 2}, "overlap is 2"),
        ({"a": Ridge()}, {"progress": 3}, "progress must be"),
        ({"a": Ridge()}, {"n_jobs": 0}, "n_jobs is 0"),
        ({"a": Ridge()}, {"prepare": Ridge()}, "prepare is Ridge"),
        ({"a": Ridge()}, {"prepare": StandardScaler(), "checkpoint": "a"}, "what prepare does"),
    ],
    ids=str,
)  # fmt: skip
def test_parameters_that_cannot_be_are_refused(diabetes, wanted, more, words):
    """One sentence names what is wrong, before any work."""
    with pytest.raises((InvalidParameter, UnsupportedType), match=words):
        evaluate(wanted, *diabetes, **more)


# --- old names ----------------------------------------------------------------------------------


def test_old_names_of_methods_still_work():
    """What is compared was called a learner: each old name works, and says what it is now."""
    X, y = {"age": range(8)}, [1.0, 2.0] * 4
    with pytest.warns(DeprecationWarning, match=r"evaluate\(methods=\)"):
        found = evaluate(learners={"a line": LinearRegression()}, X=pd.DataFrame(X), y=y, cv=2)
    progress = EvaluationProgress(1, 2, 0, 0.1, "a line")
    for owner, old, new in [
        (found, "learners", found.methods),
        (found.results[0], "learner", "a line"),
        (found.summaries[0], "learner", "a line"),
        (progress, "learner", "a line"),
    ]:
        vars(type(owner))[old].has_warned = False
        with pytest.warns(DeprecationWarning, match=f"{old} is now"):
            assert getattr(owner, old) == new
    with pytest.warns(DeprecationWarning, match="LearnerFold is now"):
        assert evaluation_room.LearnerFold is MethodFold
    with pytest.warns(DeprecationWarning, match="LearnerSummary is now"):
        assert evaluation_room.LearnerSummary is MethodSummary
