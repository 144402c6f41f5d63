import pickle
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone, is_regressor
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor, StackingRegressor
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from mossrules import FittedEnsemble, MossRegressor
from mossrules.exceptions import InvalidFile, MissingColumns, MossError


@pytest.fixture(scope="module")
def diabetes():
    """Return a table in the users' units and its target."""
    return load_diabetes(return_X_y=True, as_frame=True, scaled=False)


@parametrize_with_checks(
    [
        MossRegressor(),
        MossRegressor(5, stability="low", ties="drop", n_trees=50),
        MossRegressor(stability=0.7, gamma=0.5, refit=False, generator="noisy-target", n_trees=50),
        MossRegressor(3, stability="auto", cv=3, n_trees=10, n_jobs=1),
    ]
)
def test_scikit_learn_is_content(estimator, check):
    """All of scikit-learn's checks pass, with none that is expected to fail."""
    check(estimator)


def test_clones_and_copies_do_the_same(diabetes):
    """A clone has the parameters and nothing else; a pickled copy predicts the same bits."""
    X, y = diabetes
    model = MossRegressor(4, stability=0.8, n_trees=50, random_state=3).fit(X, y)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301  our own
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.rules_.to_json() == model.rules_.to_json()
    assert again.frontier(points=3).loss.tolist() == model.frontier(points=3).loss.tolist()


def test_parameters_are_those_promised():
    """Names and defaults of the constructor are the documented ones."""
    assert MossRegressor().get_params() == {
        "max_rules": 15, "stability": None, "floor": "each", "cv": 5, "ties": "keep",
        "directions": "own", "shrinkage": "frequency", "intercept": "chosen", "gamma": "auto",
        "n_trees": "auto", "max_depth": 2, "n_bins": 8, "cuts": "round", "max_features": 1 / 3,
        "inner_nodes": True, "max_overlap": 0.6, "min_coverage": "auto", "min_tree_frequency": 0,
        "generator": "forest", "solver": "auto", "gap": 1e-3, "time_limit": 60.0,
        "time_budget": None, "refit": True, "refit_ridge": "auto", "min_importance": 0.01,
        "constraints": None, "near": None, "keep": None, "random_state": None, "n_jobs": None,
        "verbose": 0,
    }  # fmt: skip


def test_a_grid_search_finds_the_best_setting(diabetes):
    """Size and stability can be searched over, and the scores are those of separate fits."""
    X, y = diabetes
    grid = {"max_rules": [3, 8], "stability": ["high", "low", 0.6]}
    search = GridSearchCV(MossRegressor(n_trees=60), grid, cv=3).fit(X, y)
    assert len(search.best_estimator_.rules_) == search.best_params_["max_rules"]
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    first = MossRegressor(**search.cv_results_["params"][0], n_trees=60)
    assert cross_val_score(first, X, y, cv=3).mean() == pytest.approx(scores[0], abs=0)


def test_it_works_inside_pipelines_and_ensembles(diabetes):
    """Scaling, column choice, target transforms and stacking leave the estimator as it is."""
    X, y = diabetes
    model = MossRegressor(5, n_trees=40, cuts="quantile")
    scaled = make_pipeline(StandardScaler().set_output(transform="pandas"), model).fit(X, y)
    # Cuts move with the scale, bins do not: the same rules, and so the same predictions.
    plain = clone(model).fit(X, y)
    np.testing.assert_allclose(scaled.predict(X), plain.predict(X))
    chosen = ColumnTransformer([("some", "passthrough", ["bmi", "s5", "bp"])])
    assert make_pipeline(chosen, clone(model)).fit(X, y).score(X, y) > 0.2
    logs = TransformedTargetRegressor(clone(model), func=np.log, inverse_func=np.exp).fit(X, y)
    assert logs.score(X, y) > 0.2
    stack = StackingRegressor([("moss", clone(model)), ("line", LinearRegression())], cv=2)
    assert stack.fit(X, y).score(X, y) > 0.3


def test_weights_are_routed(diabetes):
    """With metadata routing, a pipeline hands sample weights on to fit and score."""
    X, y = diabetes
    w = np.tile([1.0, 0.0], len(y) // 2)
    with sklearn.config_context(enable_metadata_routing=True):
        model = MossRegressor(3, n_trees=20)
        model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        routed = make_pipeline(model).fit(X, y, sample_weight=w)
    plain = MossRegressor(3, n_trees=20).fit(X, y, sample_weight=w)
    np.testing.assert_array_equal(routed.predict(X), plain.predict(X))


def test_weights_count_in_the_score(diabetes):
    """Rows of weight zero are left out of R2."""
    X, y = diabetes
    model = MossRegressor(3, n_trees=20).fit(X, y)
    w = np.tile([1.0, 0.0], len(y) // 2)
    expected = model.score(X[w > 0], y[w > 0])
    assert model.score(X, y, sample_weight=w) == pytest.approx(expected)


def test_tags_say_what_it_takes():
    """Missing values, categories and text are taken; sparse matrices are not."""
    tags = get_tags(MossRegressor())
    assert is_regressor(MossRegressor())
    assert tags.input_tags.allow_nan
    assert tags.input_tags.categorical
    assert tags.input_tags.string
    assert not tags.input_tags.sparse
    assert tags.target_tags.required
    assert not hasattr(MossRegressor(), "set_output")  # scikit-learn's regressors have none


def test_showing_a_model_computes_nothing(diabetes):
    """Text and HTML of a model are scikit-learn's, and do not set off the frontier."""
    X, y = diabetes
    model = MossRegressor(3, n_trees=20)
    assert repr(model) == "MossRegressor(max_rules=3, n_trees=20)"
    assert "MossRegressor" in model._repr_html_()
    model.fit(X, y)
    assert "MossRegressor" in model._repr_html_()
    assert model.fitted_.frontiers == {}
    assert "frontier_" not in dir(model)


def test_the_frontier_waits_for_fit(diabetes):
    """Before fit there is no frontier; after it, the attribute is the default frontier."""
    X, y = diabetes
    model = MossRegressor(3, n_trees=20)
    assert not hasattr(model, "frontier_")
    with pytest.raises(NotFittedError):
        model.frontier()
    with pytest.raises(NotFittedError):
        model.select(index=0)
    with pytest.raises(AttributeError, match="no attribute 'nonsense_'"):
        _ = model.fit(X, y).nonsense_
    assert model.frontier_ is model.frontier(50, 0.01)


# --- tables of all libraries ----------------------------------------------------------------------


def mixed_table(seed=0, n=150):
    """Return numbers, flags, words and missing values, and a target."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "kind": rng.choice(["oak", "ash", "elm"], n),
            "wet": rng.random(n) < 0.5,
            "age": rng.integers(0, 40, n),
        }
    )
    y = 2.0 * (X["kind"] == "oak") + X["size"].fillna(2.0) + X["wet"] * (X["age"] > 20)
    return X, y.to_numpy() + 0.1 * rng.normal(size=n)


def test_all_libraries_give_the_same_model():
    """A table gives the same bits from pandas, polars, pyarrow and a dict of columns."""
    X, y = mixed_table()
    frames = [
        X,
        X.astype({"kind": "category"}),
        X.astype({"kind": object}),
        pl.from_pandas(X),
        pa.Table.from_pandas(X),
        {name: X[name].to_list() for name in X},
    ]
    models = [MossRegressor(6, n_trees=60).fit(frame, y) for frame in frames]
    expected = models[0].predict(X)
    for model, frame in zip(models, frames, strict=True):
        assert model.rules_.to_json() == models[0].rules_.to_json()
        assert model.feature_names_in_.tolist() == ["size", "kind", "wet", "age"]
        assert model.n_features_in_ == 4
        np.testing.assert_array_equal(model.predict(frame), expected)
        np.testing.assert_array_equal(models[0].predict(frame), expected)


def test_the_target_may_be_a_column_of_the_table():
    """A name takes the target from the table; predictions ignore that column if it is there."""
    X, y = mixed_table()
    expected = MossRegressor(6, n_trees=60).fit(X, y)
    for make in (lambda each: each, pl.from_pandas, lambda each: each.to_dict("list")):
        table = make(X.assign(height=y))
        model = MossRegressor(6, n_trees=60).fit(table, "height")
        assert model.feature_names_in_.tolist() == ["size", "kind", "wet", "age"]
        assert model.rules_ == expected.rules_
        assert model.rules_.target == "height"
        np.testing.assert_array_equal(model.predict(table), expected.predict(X))
        np.testing.assert_array_equal(model.predict(make(X)), expected.predict(X))
        assert model.score(table, "height") == pytest.approx(expected.score(X, y))


def test_the_target_has_the_name_of_its_series():
    """A named series names the target of the rules; an unnamed one does not."""
    X, y = mixed_table()
    model = MossRegressor(3, n_trees=20)
    assert model.fit(X, pd.Series(y, name="height")).rules_.target == "height"
    assert model.fit(X, pl.Series("height", y)).rules_.target == "height"
    assert model.fit(X, pl.Series(y)).rules_.target is None
    assert model.fit(X, y).rules_.target is None


def test_arrays_are_read_by_position():
    """A model of a frame reads an array by position, with scikit-learn's warning, and back."""
    X, y = mixed_table()
    numbers = X[["size", "age"]]
    named = MossRegressor(4, n_trees=40).fit(numbers, y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(named.predict(numbers.to_numpy()), named.predict(numbers))
    bare = MossRegressor(4, n_trees=40).fit(numbers.to_numpy(), y)
    assert not hasattr(bare, "feature_names_in_")
    assert bare.rules_.columns == ("x0", "x1")
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        np.testing.assert_array_equal(bare.predict(numbers), bare.predict(numbers.to_numpy()))
    # Names that are not text are no names, here as in scikit-learn.
    counted = MossRegressor(4, n_trees=40).fit(numbers.set_axis([0, 1], axis=1), y)
    other = numbers.set_axis([7, 8], axis=1)
    np.testing.assert_array_equal(counted.predict(other), bare.predict(numbers.to_numpy()))
    assert not hasattr(named.fit(numbers.to_numpy(), y), "feature_names_in_")


def test_dicts_go_by_name():
    """The columns of a dict are found by name, in any order; a missing one is named."""
    X, y = mixed_table()
    columns = {name: X[name].to_list() for name in X}
    model = MossRegressor(6, n_trees=60).fit(columns, y)
    backwards = dict(reversed(columns.items()))
    np.testing.assert_array_equal(model.predict(backwards), model.predict(columns))
    with pytest.raises(MissingColumns, match="'age'"):
        model.predict({name: columns[name] for name in ("size", "kind", "wet")})
    noisy = y + np.arange(len(y)) % 5
    numbered = MossRegressor(2, n_trees=20).fit({0: noisy, 1: -noisy}, y)
    assert not hasattr(numbered, "feature_names_in_")
    assert numbered.predict({5: y, 6: -y}).shape == y.shape


def test_a_column_vector_is_taken_with_a_warning():
    """A target of shape (n, 1) warns as scikit-learn does and gives the same model."""
    X, y = mixed_table()
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model = MossRegressor(3, n_trees=20).fit(X, y[:, None])
    assert model.rules_ == MossRegressor(3, n_trees=20).fit(X, y).rules_


@pytest.mark.parametrize("X", ["data.csv", "data/*.parquet"])
def test_files_that_are_not_there_are_named(X):
    """A path or a pattern that leads nowhere is an error of the file."""
    with pytest.raises(InvalidFile, match=re.escape(X)):
        MossRegressor().fit(X, "y")


def test_importance_by_permutation_is_that_of_used_columns(diabetes):
    """scikit-learn's inspection works: columns in no rule have no importance."""
    X, y = diabetes
    model = MossRegressor(4, n_trees=40).fit(X, y)
    found = permutation_importance(model, X, y, n_repeats=2, random_state=0).importances_mean
    unused = [name not in model.rules_.features for name in X]
    assert (found[unused] == 0).all()
    assert found.max() > 0


def test_fitted_ensembles_survive_cross_validation(diabetes):
    """A wrapped forest stays fitted in clones; a bare one is emptied and says so."""
    X, y = diabetes
    forest = RandomForestRegressor(20, max_depth=2, random_state=0).fit(X, y)
    wrapped = MossRegressor(4, generator=FittedEnsemble(forest))
    assert wrapped.fit(X, y).pool_.n_trees == 20
    assert np.isfinite(cross_val_score(wrapped, X, y, cv=2)).all()
    bare = MossRegressor(4, generator=forest).fit(X, y)
    assert bare.rules_ == wrapped.rules_
    with pytest.raises(MossError, match="not a fitted ensemble"):
        clone(bare).fit(X, y)


def test_frame_libraries_are_not_needed():
    """Fitting arrays needs neither pandas nor polars nor pyarrow."""
    code = (
        "import sys\n"
        "class Absent:\n"  # None in sys.modules would do, but scikit-learn 1.8 takes it for pandas
        "    def find_spec(self, name, *_):\n"
        "        if name in ('pandas', 'polars', 'pyarrow'): raise ModuleNotFoundError(name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import numpy as np, mossrules\n"
        "X = np.random.default_rng(0).normal(size=(60, 3))\n"
        "print(mossrules.MossRegressor(2, n_trees=10).fit(X, X[:, 0]).predict(X).shape)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "(60,)"


def test_fit_says_nothing_unless_asked(diabetes, capsys):
    """A fit is silent; verbose=1 reports its steps on standard error."""
    X, y = diabetes
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MossRegressor(3, n_trees=20).fit(X, y)
    assert capsys.readouterr() == ("", "")
    MossRegressor(3, n_trees=20, verbose=2).fit(X, y)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Candidates(" in shown.err
    assert "Solution(3 rules" in shown.err
