"""Rows and columns are put in an order by what they hold, wherever they are."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mossrules import MossRegressor
from mossrules.data import canonical_order
from mossrules.data.content_order import centred_ranks, order_columns
from mossrules.data.files import parquet
from mossrules.data.rows import read_rows
from mossrules.estimators import candidates_for

N = 600


@pytest.fixture(scope="module")
def frame():
    """Return a table of all kinds with ties, missing values and repeated rows."""
    rng = np.random.default_rng(5)
    found = pd.DataFrame({
        "number": rng.normal(size=N).round(1),
        "small": rng.integers(0, 4, N).astype(float),
        "flag": rng.random(N) < 0.5,
        "word": rng.choice(["red", "green", "blue"], N).astype(object),
    })  # fmt: skip
    found["y"] = (found["number"] + found["small"] * (found["word"] == "red")).round(0)
    found.loc[::7, "number"] = np.nan
    found.loc[3::11, "word"] = None
    return pd.concat([found.iloc[: N - 50], found.iloc[:50]], ignore_index=True)


def weights_of(name):
    """Return weights of a kind: none, of any size with zeros, or whole."""
    any_size = np.where(np.arange(N) % 9, np.random.default_rng(1).random(N).round(2), 0.0)
    return {"none": None, "any": any_size, "whole": np.arange(N) % 3 * 1.0}[name]


def digest(X, y, weights=None, **parameters):
    """Return a hash of the model and of all statistics, to the last bit."""
    how = {"n_trees": 24, "generator": "forest", "n_jobs": 2, **parameters}
    model = MossRegressor(4, **how).fit(X, y, weights)
    parts = [model.rules_.to_json().encode(), model.candidates_.statistics.G.tobytes()]
    return hashlib.blake2b(b"".join(parts)).hexdigest()


@pytest.mark.parametrize("weighted", ["none", "any", "whole"])
@pytest.mark.parametrize("n_trees", [24, "auto"])
def test_files_and_partitions_give_the_model_of_memory(
    tmp_path, frame, weighted, n_trees, monkeypatch
):
    """Parquet in row groups, CSV in chunks and Dask frames are as good as the frame."""
    dask = pytest.importorskip("dask")
    dd = pytest.importorskip("dask.dataframe")
    monkeypatch.setattr(parquet, "PART_ROWS", 100)
    monkeypatch.setattr("mossrules.data.files.delimited.MAX_CHUNK_ROWS", 64)
    weights = weights_of(weighted)
    expected = digest(frame, "y", weights, n_trees=n_trees)
    frame.to_parquet(tmp_path / "data.parquet", row_group_size=70)
    frame.to_csv(tmp_path / "data.csv", index=False)
    assert digest(frame, "y", weights, n_trees=n_trees, n_jobs=1) == expected
    for name in ("data.parquet", "data.csv"):
        assert digest(tmp_path / name, "y", weights, n_trees=n_trees) == expected
    with dask.config.set(scheduler="synchronous"):
        parts = dd.from_pandas(frame, npartitions=5, sort=False)
        assert digest(parts, "y", weights, n_trees=n_trees) == expected


def test_arrays_in_blocks_give_the_model_of_memory(frame):
    """Columns without names are told apart by the same sums."""
    dask, da = pytest.importorskip("dask"), pytest.importorskip("dask.array")
    X, y = frame[["small", "number", "flag"]].to_numpy(float), frame["y"].to_numpy()
    with dask.config.set(scheduler="synchronous"):
        found = digest(da.from_array(X, chunks=(90, 2)), da.from_array(y, chunks=110))
    assert found == digest(X, y)


def test_more_rows_than_are_sorted_are_taken_as_they_are_given(tmp_path, frame, monkeypatch):
    """Beyond the limit memory and files still agree; columns with names have their order."""
    frame.to_parquet(tmp_path / "data.parquet", row_group_size=70)
    in_order = digest(frame, "y")
    monkeypatch.setattr(canonical_order, "MOST_SORTED", 100)
    found = digest(frame, "y")
    assert digest(tmp_path / "data.parquet", "y") == found != in_order
    names = ["word", "flag", "small", "number"]
    one, other = (
        candidates_for(X, frame["y"], n_trees=24, generator="forest")
        for X in (frame[names], frame[names[::-1]])
    )
    assert one.pool == other.pool


def test_the_target_orders_rows_that_are_alike_and_no_others():
    """Another target of the same ranks within such rows leaves sorted rows where they are."""
    X = pd.DataFrame({"a": np.repeat(np.arange(20.0), 3), "b": np.tile([1.0, 1.0, 2.0], 20)})
    y = np.random.default_rng(0).normal(size=60)
    rows = read_rows(X, y, numbering="content")
    assert sorted(rows.origin.tolist()) == list(range(60))
    turned = read_rows(X, -y, numbering="content")
    np.testing.assert_array_equal(rows.origin, turned.origin)
    by_target = read_rows(X, y), read_rows(X, -y)
    assert by_target[0].origin.tolist() != by_target[1].origin.tolist()


@given(st.lists(st.sampled_from([0.0, 0.5, 2.0, 3.0]), min_size=1, max_size=30), st.data())
def test_centred_ranks_are_turned_with_the_target(target, data):
    """They are dense ranks less their middle, doubled; rows that are not used have none."""
    y = np.array(target)
    used = np.array(sorted(data.draw(st.sets(st.integers(0, len(y) - 1), min_size=1))))
    ranks = centred_ranks(y, used)
    np.testing.assert_array_equal(centred_ranks(-y, used), -ranks)
    distinct = sorted(set(y[used].tolist()))
    assert ranks[used].tolist() == [
        2 * distinct.index(value) - len(distinct) + 1 for value in y[used].tolist()
    ]
    assert not ranks[np.setdiff1d(np.arange(len(y)), used)].any()


@pytest.mark.parametrize("repeated", [False, True])
def test_columns_are_found_wherever_they_stand(repeated):
    """Any permutation of columns and rows, and the target turned around, give one order."""
    rng = np.random.default_rng(1)
    for _ in range(400):
        n, p = int(rng.integers(12, 30)), int(rng.integers(2, 6))
        X, y = rng.integers(0, 2, (n, p)).astype(float), rng.integers(0, 2, n).astype(float)
        times = rng.integers(1, 4, n) if repeated else None
        columns, rows = rng.permutation(p), rng.permutation(n)
        again = None if times is None else times[rows]
        one = ordered_table(X, y, times, 1)
        other = ordered_table(X[rows][:, columns], y[rows], again, -1)
        assert one == other


def ordered_table(X, y, times, sign):
    """Return the rows with their target, sorted, after the columns were put in order."""
    ranks = sign * centred_ranks(y, np.arange(len(y)))
    order = order_columns(X.shape[1], X.T.__getitem__, ranks, times)
    rows = np.column_stack([X[:, order], y])
    return sorted(map(tuple, (rows if times is None else np.repeat(rows, times, axis=0)).tolist()))
