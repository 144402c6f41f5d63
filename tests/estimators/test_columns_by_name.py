"""Columns are found by name: in any order, with others beside them, and none may lack."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mossrules import MossClassifier, MossRegressor, find_candidates
from mossrules.baselines import SirusRegressor
from mossrules.exceptions import InvalidParameter, InvalidTable, MissingColumns


@pytest.fixture(scope="module")
def rows():
    """Return columns of three kinds, and a target."""
    draw = np.random.default_rng(0)
    X = pd.DataFrame({
        "age": draw.random(60), "smoker": draw.random(60) < 0.5, "city": draw.choice(["u", "v"], 60)
    })  # fmt: skip
    return X, 3 * X["age"].to_numpy() + X["smoker"]


@pytest.mark.parametrize("of", [MossRegressor, MossClassifier, SirusRegressor])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_order_and_other_columns_do_not_matter(rows, of, frame):
    """As docs/data.md says, of every frame; one that lacks is named, in one line."""
    X, y = rows
    model = of(3, n_trees=20).fit(frame(X), y > 2 if of is MossClassifier else y)
    expected = model.predict(frame(X))
    for same in (X[["city", "smoker", "age"]], X.assign(more=1)[["more", "city", "age", "smoker"]]):
        np.testing.assert_array_equal(model.predict(frame(same)), expected)
    with pytest.raises(MissingColumns) as refused:
        model.predict(frame(X[["smoker", "age"]]))
    assert str(refused.value) == "The table lacks column 'city', known from training; add it."


def test_names_of_which_some_are_text_are_refused(rows):
    """In training and in prediction; names that are all numbers are none, as in scikit-learn."""
    X, y = rows
    mixed = X.rename(columns={"smoker": 1})
    sentence = "Some names of columns are text and 1 is not; name all columns by text"
    with pytest.raises(InvalidTable, match=sentence):
        MossRegressor(2, n_trees=20).fit(mixed, y)
    model = MossRegressor(2, n_trees=20).fit(X, y)
    with pytest.raises(InvalidTable, match=sentence):
        model.predict(mixed)
    numbered = X.set_axis([0, 1, 2], axis=1)
    model.fit(numbered, y)
    assert not hasattr(model, "feature_names_in_")
    assert len(model.predict(numbered)) == 60


def test_values_that_are_tuples_are_refused(rows):
    """In a sentence that names the column."""
    X, y = rows
    pairs = pd.Series([(1, 2) if city == "u" else (3, 4) for city in X["city"]])
    with pytest.raises(TypeError, match="values of type tuple"):
        MossRegressor(2, n_trees=20).fit(X.assign(city=pairs), y)


@pytest.mark.parametrize(
    "name",
    ["gamma", "gap", "time_limit", "min_coverage", "min_tree_frequency", "n_trees", "n_jobs",
     "max_depth", "n_bins"],
)  # fmt: skip
@pytest.mark.parametrize("digits", [400, 5000])
def test_integers_of_any_length_are_refused_in_a_sentence(rows, name, digits):
    """Those that no float holds, and those of which Python prints nothing."""
    sentence = rf"{name} is an integer of [\d,]+ bits; pass an? (finite number|integer)"
    with pytest.raises(InvalidParameter, match=sentence):
        MossRegressor(**{"max_rules": 2, "n_trees": 20, name: 10**digits}).fit(*rows)


def test_more_trees_than_memory_can_hold_are_refused(rows):
    """Before any array is asked for."""
    with pytest.raises(InvalidParameter, match="n_trees is 1000000000000000000"):
        find_candidates(*rows, n_trees=10**20)
