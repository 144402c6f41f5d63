"""`cuts` of estimators: scikit-learn's tools, files, clusters, folds and all that prints rules."""

import copy
import json
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from mossrules import MossClassifier, MossRegressor, RuleSet, find_candidates
from mossrules.baselines import SirusRegressor
from mossrules.estimators import candidates_for, search_parameters
from mossrules.evaluation import assess, evaluate
from mossrules.exceptions import InvalidFile, InvalidParameter
from support.model_cases import function_of

CUTS = {"age": ["<40", "<65"], "bmi": [25, "<30"]}


def patients(n=400, seed=0):
    """Return people whose outcome changes at 40, at 65 and at a BMI of 30."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 91, n).astype(float),
            "bmi": np.round(rng.normal(27.0, 5.0, n), 1),
            "pressure": rng.normal(120.0, 15.0, n),
        }
    )
    y = 10.0 * (X["age"] >= 65) + 5.0 * (X["bmi"] >= 30) + (X["age"] >= 40) + rng.normal(size=n)
    return X, y.to_numpy()


X, Y = patients()
HOW = {"n_trees": 100, "random_state": 0, "n_jobs": 1}


@pytest.fixture(scope="module")
def model():
    """Return a model with cut points of its own."""
    return MossRegressor(8, cuts=CUTS, inner_nodes=True, stability=0.5, **HOW).fit(X, Y)


def test_rules_read_as_the_cut_points_were_written(model):
    """`<65` reads as `age < 65` or `age >= 65`, and 25 as `bmi <= 25` or `bmi > 25`."""
    texts = " and ".join(model.candidates_.texts)
    pieces = {piece for piece in texts.split(" and ") if "pressure" not in piece}
    assert pieces <= {
        "age < 40", "age >= 40", "age < 65", "age >= 65", "40 <= age < 65",
        "bmi <= 25", "bmi > 25", "bmi < 30", "bmi >= 30", "25 < bmi < 30",
    }  # fmt: skip
    assert "age >= 65" in pieces


def test_all_exports_say_the_same(model):
    """Text, Markdown, LaTeX, SQL, Python and explanations have `>= 65`, never 64.99999999999999."""
    rules = model.rules_
    forms = [rules.to_text(), rules.to_markdown(), rules.to_sql(), rules.to_python()]
    forms += [repr(rules.explain({"age": 70, "bmi": 31, "pressure": 120})), rules._repr_html_()]
    for form in forms:
        assert "99999999" not in form
        assert ">= 65" in form or "&gt;= 65" in form or "&#62;&#61; 65" in form
    assert r"$\geq$ 65" in rules.to_latex()


def test_exports_predict_what_the_model_does(model):
    """SQL in a database, Python and JSON give the same bits, at and beside each cut point."""
    values = [
        18.0,
        39.999,
        40.0,
        np.nextafter(40.0, 0.0),
        64.0,
        np.nextafter(65.0, 0.0),
        65.0,
        90.0,
    ]
    grid = pd.DataFrame(
        [(age, bmi, 120.0) for age in values for bmi in (24.9, 25.0, 25.1, 29.9, 30.0, 30.1)],
        columns=list(X),
    )
    expected = model.predict(grid)
    function = function_of(model.rules_)
    assert [function(row) for row in grid.to_dict("records")] == expected.tolist()
    again = RuleSet.from_json(model.rules_.to_json())
    assert again == model.rules_
    assert again.predict(grid).tolist() == expected.tolist()
    with sqlite3.connect(":memory:") as database:
        grid.to_sql("patients", database, index=False)
        query = model.rules_.to_sql("patients", dialect="sqlite")
        assert [row[0] for row in database.execute(query)] == expected.tolist()


def test_rules_hold_where_pandas_says(model):
    """The text of a rule, read as an expression, holds on the same rows."""
    for position, text in enumerate(model.rules_.texts):
        names = text.replace(" and ", ") & (")
        rows = X.eval(f"({names})").to_numpy()
        alone = [model.rules_.explain(X.iloc[[i]]).holds[position] for i in range(60)]
        assert alone == rows[:60].tolist()


# --- scikit-learn ---------------------------------------------------------------------------------


def test_scikit_learn_takes_cuts_as_any_parameter():
    """Clones have the same cuts, a search tries several, and what was passed does not change."""
    before = copy.deepcopy(CUTS)
    model = MossRegressor(3, cuts=CUTS, **HOW)
    assert clone(model).get_params()["cuts"] == CUTS
    assert model.cuts is CUTS
    search = GridSearchCV(model, {"cuts": ["quantile", "round", CUTS]}, cv=3).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert before == CUTS
    assert np.isfinite(cross_val_score(MossRegressor(3, cuts="round", **HOW), X, Y, cv=3)).all()


def test_a_rule_set_survives_a_clone(model):
    """A fitted model is emptied by a clone, which is said; its rule set is not."""
    again = clone(MossRegressor(3, cuts=model.rules_, **HOW)).fit(X, Y)
    assert again.candidates_.binning["age"].cuts == model.rules_.binning["age"].cuts
    with pytest.raises(InvalidParameter, match="emptied by a clone; pass the rules_ of a fitted"):
        clone(MossRegressor(3, cuts=model, **HOW)).fit(X, Y)


def test_mistakes_are_told_before_any_work():
    """What can be told without rows is told by the parameters alone."""
    with pytest.raises(InvalidParameter, match="have to increase"):
        MossRegressor(cuts={"age": [65, 40]}).check_parameters()
    with pytest.raises(InvalidFile, match=r"nowhere\.json does not exist"):
        MossRegressor(cuts="nowhere.json").check_parameters()


# --- where it reaches -----------------------------------------------------------------------------


@pytest.mark.parametrize("cuts", ["round", CUTS])
def test_memory_files_and_functions_find_the_same(tmp_path, cuts):
    """A frame, its CSV and Parquet files, and the functions below `fit` have the same bits."""
    parameters = {"cuts": cuts, **HOW}
    expected = MossRegressor(4, **parameters).fit(X, Y).rules_.to_json()
    table = X.assign(risk=Y)
    for part, rows in enumerate(np.array_split(np.arange(len(table)), 3)):
        table.iloc[rows].to_parquet(tmp_path / f"{part}.parquet", row_group_size=50)
    table.to_csv(tmp_path / "all.csv", index=False)
    for place in (tmp_path / "*.parquet", tmp_path / "all.csv"):
        found = MossRegressor(4, **parameters).fit(str(place), "risk").rules_
        assert json.loads(found.to_json()) == {**json.loads(expected), "target": "risk"}
    shuffled = np.random.default_rng(0).permutation(len(X))
    assert MossRegressor(4, **parameters).fit(X.iloc[shuffled], Y[shuffled]).rules_.to_json() == (
        expected
    )
    candidates = candidates_for(X, Y, cuts=cuts, n_trees=100)
    assert MossRegressor(4).fit_candidates(candidates).rules_.to_json() == expected
    assert find_candidates(X, Y, cuts=cuts, n_trees=10).binning == candidates.binning


@pytest.mark.parametrize("cuts", ["round", CUTS])
def test_a_dask_frame_has_the_same_model(cuts):
    """Partitions of any size give the bits of memory."""
    dask = pytest.importorskip("dask.dataframe")
    expected = MossRegressor(4, cuts=cuts, **HOW).fit(X.assign(risk=Y), "risk").rules_.to_json()
    frame = dask.from_pandas(X.assign(risk=Y), npartitions=5)
    assert MossRegressor(4, cuts=cuts, **HOW).fit(frame, "risk").rules_.to_json() == expected


def test_a_path_is_an_earlier_analysis(tmp_path, model):
    """The JSON file of a rule set, or of several classes, stands for what is in it."""
    path = tmp_path / "earlier.json"
    path.write_text(model.rules_.to_json(), encoding="utf-8")
    new_X, new_y = patients(seed=1)
    for cuts in (path, str(path)):
        found = MossRegressor(3, cuts=cuts, **HOW).fit(new_X, new_y)
        assert found.rules_ == MossRegressor(3, cuts=model.rules_, **HOW).fit(new_X, new_y).rules_
    classes = np.array(["a", "b", "c"])[np.digitize(Y, [3, 9])]
    several = MossClassifier(2, cuts=CUTS, **HOW).fit(X, classes)
    path.write_text(several.rules_.to_json(), encoding="utf-8")
    again = MossClassifier(2, cuts=Path(path), **HOW).fit(new_X, np.where(new_y > 5, "high", "low"))
    assert again.candidates_.binning["age"].cuts == several.rules_["c"].binning["age"].cuts


def test_baselines_cut_at_quantiles():
    """Methods to compare with have no cuts of their own, and say so where candidates are found."""
    assert search_parameters(SirusRegressor())["cuts"] == "quantile"
    assert search_parameters(MossRegressor(cuts="round"))["cuts"] == "round"


def test_methods_share_a_search_only_with_the_same_cuts():
    """Side by side, each method has the candidates of its own cuts, and checkpoints know them."""
    rare = {"age": [89]}  # folds without anyone of 90 keep it
    methods = {
        "quantile": MossRegressor(3, **HOW),
        "round": MossRegressor(3, cuts="round", **HOW),
        "own": MossRegressor(3, cuts=CUTS, **HOW),
        "rare": MossRegressor(3, cuts=rare, **HOW),
    }
    found = evaluate(methods, X, Y, cv=3)
    assert not found.failures
    rules = {each.method: each.rules for each in found.results if each.fold == 0}
    assert rules["own"].binning["age"].cuts != rules["quantile"].binning["age"].cuts
    assert all(cut == round(cut, 2) for cut in rules["round"].binning.columns[0].cuts)


def test_refits_may_lack_the_rows_beyond_a_cut_point():
    """Classes and `assess` fit parts of the table as it was given, and nothing is refused."""
    frame = X.assign(age=np.where(np.arange(len(X)) == 7, 90.0, np.minimum(X["age"], 85.0)))
    classes = np.array(["a", "b", "c"])[np.digitize(Y, [3, 9])]
    oldest = {"age": [40, "<90"]}
    several = {"own": MossClassifier(2, cuts=oldest, **HOW)}
    assert not evaluate(several, frame, classes, cv=3).failures
    table = assess({"own": MossRegressor(3, cuts=oldest, **HOW)}, frame, Y, refits=3, seeds=2)
    assert [method.failed for method in table.methods] == [0]


def test_the_stability_of_auto_is_found_with_the_same_cuts():
    """Folds of "auto" are cut where the model is."""
    found = MossRegressor(3, stability="auto", cv=3, cuts={"age": [40, "<65"]}, **HOW).fit(X, Y)
    assert found.rules_.binning["age"].cuts == (40.0, np.nextafter(65.0, 0.0))
