"""What two models do on the same rows, against NumPy on all rows at once."""

from dataclasses import astuple, replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

from mossrules import MossClassifier, MossRegressor, compare_rule_sets
from mossrules.data.chunks import RowRange
from mossrules.data.table import Table
from mossrules.exceptions import InvalidTable, InvalidTarget, MissingColumns, UnsupportedType

dd = pytest.importorskip("dask.dataframe")


@pytest.fixture(scope="module")
def patients():
    """Return a table with a category, a truth value and missing values, and its target."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X["sex"] = X["sex"].map({1.0: "female", 2.0: "male"})
    X["tall"] = X["s4"] > 4
    X.loc[::7, "bmi"] = np.nan
    return X, y


@pytest.fixture(scope="module")
def halves(patients):
    """Return models of the two halves of the table."""
    X, y = patients
    return [MossRegressor(5, n_trees=60).fit(X[half::2], y[half::2]) for half in (0, 1)]


@pytest.fixture(scope="module")
def classes(patients):
    """Return models of the two halves that tell whether the target is large."""
    X, y = patients
    large = np.where(y > 140, "large", "small")
    return [MossClassifier(4, n_trees=60).fit(X[half::2], large[half::2]) for half in (0, 1)]


def weighted(rows, weights):
    """Return a weighted mean."""
    return float(np.average(rows, weights=weights))


@pytest.mark.parametrize("weighs", [False, True])
@pytest.mark.parametrize("kind", ["halves", "classes"])
def test_figures_are_those_of_plain_numpy(patients, kind, weighs, request):
    """Coverage, rows on which rules differ, and agreement of predictions, weighted or not."""
    X = patients[0]
    old, new = (model.rules_ for model in request.getfixturevalue(kind))
    w = np.random.default_rng(0).integers(0, 4, len(X)).astype(float) if weighs else None
    found = compare_rule_sets(old, new, X, sample_weight=w).outcomes[0]
    w = np.ones(len(X)) if w is None else w
    H, G = old.holds(X), new.holds(X)
    for pair in found.pairs:
        h, g = H[:, pair.old.position], G[:, pair.new.position]
        assert pair.old.coverage == pytest.approx(weighted(h, w))
        assert pair.new.coverage == pytest.approx(weighted(g, w))
        assert pair.differ == pytest.approx(weighted(h != g, w))
        assert pair.jaccard == pytest.approx(weighted(h & g, w) / weighted(h | g, w))
    assert [each.coverage for each in found.gone] == pytest.approx(
        [weighted(H[:, each.position], w) for each in found.gone]
    )
    a, b = old.predict(X), new.predict(X)
    agreement, drawn = found.predictions, np.repeat(np.arange(len(X)), w.astype(int))
    assert agreement.correlation == pytest.approx(np.corrcoef(a[drawn], b[drawn])[0, 1])
    assert agreement.mean_difference == pytest.approx(np.abs(a - b)[drawn].mean())
    assert agreement.largest_difference == np.abs(a - b)[w > 0].max()
    crossed = weighted((a >= 0.5) != (b >= 0.5), w)
    assert agreement.other_side == (pytest.approx(crossed) if kind == "classes" else None)


def same(one, other):
    """Hold two comparisons to each other, up to rounding of sums."""
    left, right = (each.frame(backend="pandas") for each in (one, other))
    pd.testing.assert_frame_equal(left, right, rtol=1e-12)
    for a, b in zip(one.outcomes, other.outcomes, strict=True):
        assert astuple(a.predictions)[:3] == pytest.approx(astuple(b.predictions)[:3], rel=1e-10)
        assert a.predictions.other_side == b.predictions.other_side
    assert one.rows == other.rows
    assert one.likeliest_differs == other.likeliest_differs


def test_chunks_do_not_change_what_is_found(patients, halves):
    """Rows in parts of any length, an empty one too, give what they give at once."""
    X = patients[0]
    edges = [0, 1, 60, 60, 300, len(X)]
    parts = tuple(RowRange(*pair) for pair in pairwise(edges))
    parted = replace(Table.from_any(X), parts=parts)
    same(compare_rule_sets(*halves, parted), compare_rule_sets(*halves, X))


def test_the_moments_of_far_numbers_keep_their_digits(patients):
    """Predictions around a million that differ by ones have the correlation of the ones."""
    X, y = patients
    models = [MossRegressor(5, n_trees=60).fit(X[k::2], y[k::2] / 100 + 1e6) for k in (0, 1)]
    a, b = (model.predict(X) for model in models)
    found = compare_rule_sets(*models, X).outcomes[0].predictions
    assert found.correlation == pytest.approx(np.corrcoef(a, b)[0, 1], rel=1e-6)


@pytest.mark.parametrize("form", ["csv", "parquet", "parts", "polars", "pyarrow", "dict"])
def test_files_and_frames_give_the_same(patients, halves, tmp_path, form):
    """Paths of CSV and Parquet, patterns of them, and every frame library."""
    X = patients[0]
    path = tmp_path / f"rows.{form}"
    if form == "csv":
        X.assign(other="text").to_csv(path, index=False)
    elif form == "parquet":
        X.to_parquet(path, row_group_size=100)
    elif form == "parts":
        X[:100].to_parquet(tmp_path / "1.parquet")
        X[100:].to_parquet(tmp_path / "2.parquet")
        path = str(tmp_path / "*.parquet")
    else:
        polars = pytest.importorskip("polars")
        path = {"polars": polars.from_pandas(X), "pyarrow": polars.from_pandas(X).to_arrow(),
                "dict": {name: X[name].to_numpy() for name in X}}[form]  # fmt: skip
    same(compare_rule_sets(*halves, path), compare_rule_sets(*halves, X))


@pytest.mark.parametrize("kind", ["halves", "classes"])
def test_dask_gives_the_same(patients, kind, request):
    """Partitions are looked at where they are, with weights in one of the columns."""
    X = patients[0].assign(w=np.arange(len(patients[0])) % 3)
    models = request.getfixturevalue(kind)
    whole = compare_rule_sets(*models, X, sample_weight="w")
    same(compare_rule_sets(*models, dd.from_pandas(X, npartitions=4), sample_weight="w"), whole)
    same(compare_rule_sets(*models, X, sample_weight=X["w"]), whole)


def test_an_array_of_dask_gives_what_the_array_gives():
    """Columns without names go by position."""
    da = pytest.importorskip("dask.array")
    X, y = load_diabetes(return_X_y=True)
    models = [MossRegressor(4, n_trees=40).fit(X[half::2], y[half::2]) for half in (0, 1)]
    found = compare_rule_sets(*models, X)
    assert found.outcomes[0].pairs
    same(compare_rule_sets(*models, da.from_array(X, chunks=(100, 3))), found)


def test_several_classes_are_compared_one_by_one():
    """Probabilities are those of all classes together, as `predict_proba` gives them."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    kinds = y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    old, new = (MossClassifier(2, n_trees=40).fit(X[k::2], kinds[k::2]).rules_ for k in (0, 1))
    found = compare_rule_sets(old, new, X)
    P, Q = old.predict_proba(X), new.predict_proba(X)
    assert [each.outcome for each in found.outcomes] == [*old]
    for place, each in enumerate(found.outcomes):
        assert each.predictions.mean_difference == pytest.approx(np.abs(P - Q)[:, place].mean())
        assert each.n_old == len(old[each.outcome])
    assert found.likeliest_differs == np.mean(P.argmax(axis=1) != Q.argmax(axis=1))


def test_constant_predictions_have_no_correlation(halves):
    """Where a model says the same of every row, the rest is still told."""
    X = {name: [value] * 3 for name, value in
         {"age": 50, "sex": "male", "bmi": 20.0, "bp": 90, "s1": 180, "s2": 110, "s3": 50,
          "s4": 4.0, "s5": 4.6, "s6": 90, "tall": False}.items()}  # fmt: skip
    found = compare_rule_sets(*halves, X).outcomes[0].predictions
    assert np.isnan(found.correlation)
    one, other = (model.predict(X)[0] for model in halves)
    assert found.mean_difference == pytest.approx(abs(one - other))


@pytest.mark.parametrize(
    ("change", "weight", "error", "sentence"),
    [
        (lambda X: X[:0], None, InvalidTable, "X has no rows, or none with a positive weight"),
        (lambda X: X.drop(columns=["bmi"]), None, MissingColumns, "The table lacks column 'bmi'"),
        (lambda X: X, "w", InvalidTarget, "'w', which is not a column of X; pass the name of one"),
        (lambda X: X, [-1.0] * 442, InvalidTarget, "sample_weight has negative values"),
        (lambda X: dd.from_pandas(X, npartitions=2), [1.0] * 442, UnsupportedType,
         "add them to X as a column, and pass its name"),
    ],
)  # fmt: skip
def test_rows_that_do_not_fit_are_refused(request, change, weight, error, sentence):
    """One sentence says what is wrong with rows or weights."""
    X, models = request.getfixturevalue("patients")[0], request.getfixturevalue("halves")
    with pytest.raises(error, match=sentence):
        compare_rule_sets(*models, change(X), sample_weight=weight)
