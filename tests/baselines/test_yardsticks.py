import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mossrules.baselines.registry import COMPARED, METHODS, make_methods
from mossrules.baselines.yardsticks import YARDSTICKS, ClassifierOnNumbers, RegressorOnNumbers
from mossrules.exceptions import InvalidParameter


@pytest.fixture
def rows():
    """Return a table with a category, a missing number, and a number to predict."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({
        "place": rng.choice(["north", "south", "west"], 120),
        "age": np.where(rng.random(120) < 0.1, np.nan, rng.integers(20, 80, 120)),
        "constant": 1.0,
    })  # fmt: skip
    y = 3.0 * (X["place"] == "north") + 0.1 * X["age"].fillna(40.0) + rng.normal(size=120)
    return X, y


def pipeline(model):
    """Return the same by transformers of scikit-learn."""
    numbers = make_pipeline(SimpleImputer(strategy="median"))
    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["place"]),
        (numbers, ["age", "constant"]),
    )
    return make_pipeline(encode, StandardScaler(), model)


def test_any_table_is_read_as_scikit_learn_would_encode_it(rows):
    """One column for each level, medians for gaps, scaled; levels of new rows count as none."""
    X, y = rows
    ours = RegressorOnNumbers(LinearRegression()).fit(X, y)
    theirs = pipeline(LinearRegression()).fit(X, y)
    new = X.head(20).assign(place=["east", "north"] * 10)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-8)
    high = np.where(y > y.median(), "high", "low")
    ours = ClassifierOnNumbers(LogisticRegression()).fit(X.to_dict("list"), high)
    theirs = pipeline(LogisticRegression()).fit(X, high)
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), rtol=1e-4)
    assert ours.classes_.tolist() == ["high", "low"]
    assert ours.predict(new).tolist() == theirs.predict(new).tolist()


def test_weights_of_rows_reach_the_estimator(rows):
    """A row of weight 0 does not count, but for how the table is read."""
    X, y = rows
    X = X[["age"]].fillna(40.0)
    weights = np.arange(120) % 2
    ours = RegressorOnNumbers(LinearRegression()).fit(X, y, weights)
    half = LinearRegression().fit(X[1::2], y[1::2])
    np.testing.assert_allclose(ours.predict(X), half.predict(X), rtol=1e-8)


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("name", sorted(YARDSTICKS))
def test_every_yardstick_is_in_the_registry(name, classes, rows):
    """It is made for numbers and for classes, and the tree has a leaf for each rule."""
    X, y = rows
    y = (y > 6.0).to_numpy() if classes else y
    model = make_methods([name], classes=classes, max_rules=7, random_state=3, n_trees=9)[name]
    fitted = clone(model).fit(X, y)
    assert fitted.score(X, y) > 0.3
    if name == "tree":
        assert fitted.estimator_.get_n_leaves() <= 7
    if name != "linear":
        assert model.estimator.random_state == 3


def test_a_comparison_has_moss_the_papers_methods_and_yardsticks():
    """In this order; another name is refused."""
    assert list(COMPARED) == ["MOSS", *METHODS, "linear", "tree", "forest"]
    assert list(make_methods(None, classes=False)) == list(COMPARED)
    assert "FIRE" not in make_methods(None, classes=True)
    with pytest.raises(InvalidParameter, match="no method 'oracle'"):
        make_methods(["oracle"], classes=False)
