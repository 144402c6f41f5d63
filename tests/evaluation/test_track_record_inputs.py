"""Track records of the same rows in memory, in files and in Dask: the same, bit for bit."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mossrules.data.files import parquet
from mossrules.data.rows import read_rows
from mossrules.evaluation.refits import refit_splits
from mossrules.exceptions import InvalidParameter
from support.track_record_cases import classifier, labels, regressor, table

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import dask.dataframe as dd

N = 200
REFITS = 3


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    """Read few rows together, so that small files have many parts."""
    monkeypatch.setattr(parquet, "PART_ROWS", 100)


@pytest.fixture(scope="module")
def frame():
    """Return a table with its targets, weights and groups as columns."""
    X, y = table(N)
    rng = np.random.default_rng(2)
    X = X.drop(columns="size").assign(score=y, state=labels(y, 2), level=labels(y, 3))
    X["any"] = np.where(np.arange(N) % 9, rng.random(N).round(2) + 0.1, 0.0)
    X["whole"] = rng.integers(0, 4, N).astype(float)
    X["many"] = 15.0 + rng.integers(0, 3, N)  # whole, and too many to be repetitions
    X["village"] = [f"v{each}" for each in rng.integers(0, 25, N)]
    return pd.concat([X.iloc[: N - 20], X.iloc[:20]], ignore_index=True)  # some rows are alike


FEATURES = ["age", "dose", "word", "flag"]
TARGETS = {
    "score": regressor,
    "state": classifier,
    "level": classifier,
}
HOW = {
    "plain": {},
    "weights": {"sample_weight": "any"},
    "repetitions": {"sample_weight": "whole"},
    "large weights": {"sample_weight": "many"},
    "groups": {"groups": "village"},
    "all": {"sample_weight": "any", "groups": "village"},
}


def columns_of(how, target):
    """Return the columns that a run needs."""
    return [*FEATURES, target, *dict.fromkeys(how.values())]


def record_of(X, target, how, *, scheme="subsample", **parameters):
    """Return the text of the record of a model that is fitted to these rows, and its people."""
    model = TARGETS[target](**parameters).fit(X, target, **how)
    records = model.track_record(X, target, refits=REFITS, scheme=scheme, threshold=0.4, **how)
    each = list(records.values()) if isinstance(records, dict) else [records]
    people = [one.people(backend="pandas").to_csv(float_format="%r") for one in each]
    return [one.to_json() for one in each], people, model.rules_.to_json()


PAIRS = [
    *(("score", how, "bootstrap") for how in HOW),
    ("score", "plain", "subsample"),
    ("score", "all", "subsample"),
    ("score", "all", "folds"),
    *(("state", how, scheme) for how in ("weights", "repetitions") for scheme in ("bootstrap",)),
    ("state", "large weights", "subsample"),
    ("level", "all", "subsample"),
    ("level", "plain", "bootstrap"),
]


@pytest.mark.parametrize(("target", "how", "scheme"), PAIRS)
def test_parquet_in_row_groups_has_the_record_of_memory(tmp_path, frame, target, how, scheme):
    """With rows of refits under a mask, weights and groups in columns of the file."""
    how = HOW[how]
    rows, path = frame[columns_of(how, target)], tmp_path / "data.parquet"
    rows.to_parquet(path, row_group_size=70)
    expected = record_of(rows, target, how, scheme=scheme)
    assert record_of(path, target, how, scheme=scheme) == expected


@pytest.mark.parametrize("scheme", ["subsample", "bootstrap"])
@pytest.mark.parametrize("how", ["weights", "repetitions", "large weights"])
def test_balanced_classes_in_files_have_the_record_of_memory(tmp_path, frame, how, scheme):
    """Classes are weighed anew in each refit."""
    how = HOW[how]
    rows, path = frame[columns_of(how, "state")], tmp_path / "data.parquet"
    rows.to_parquet(path, row_group_size=70)
    asked = {"scheme": scheme, "class_weight": "balanced"}
    assert record_of(path, "state", how, **asked) == record_of(rows, "state", how, **asked)


def inputs(rows, folder):
    """Return the same rows in all that tables may be."""
    rows.to_csv(folder / "data.csv", index=False)
    for number, part in enumerate(np.array_split(np.arange(len(rows)), 3)):
        rows.iloc[part].to_parquet(folder / f"part{number}.parquet", index=False)
    return {
        "polars": pl.from_pandas(rows),
        "pyarrow": pa.Table.from_pandas(rows),
        "dict": {name: rows[name].to_list() for name in rows},
        "csv": folder / "data.csv",
        "files": str(folder / "part*.parquet"),
        "dask": dd.from_pandas(rows, npartitions=4),
    }


@pytest.mark.parametrize(("target", "how"), [("score", "all"), ("state", "plain")])
def test_every_kind_of_input_has_the_same_record(tmp_path, frame, target, how, monkeypatch):
    """Frames, tables, lists, text, files and partitions."""
    monkeypatch.setattr("mossrules.data.files.delimited.MAX_CHUNK_ROWS", 64)
    how = HOW[how]
    rows = frame[columns_of(how, target)]
    expected = record_of(rows, target, how)
    for name, given in inputs(rows, tmp_path).items():
        assert record_of(given, target, how) == expected, name


def test_an_array_has_the_record_of_its_numbers(frame):
    """Its columns are called otherwise, so that only names differ."""
    rows = frame[["age", "dose"]].rename(columns={"age": "x0", "dose": "x1"})
    y = frame["score"].to_numpy()
    one = regressor().fit(rows, y).track_record(rows, y, refits=3)
    values = rows.to_numpy()
    other = regressor().fit(values, y).track_record(values, y, refits=3)
    assert [each.rule for each in one.rules] == [each.rule for each in other.rules]
    effects = [each.effect for each in one.rules]
    assert [each.effect for each in other.rules] == pytest.approx(effects)
    order = np.random.default_rng(0).permutation(len(y))
    again = regressor().fit(values[order], y[order]).track_record(values[order], y[order], refits=3)
    assert again == other


def test_the_model_may_have_been_fitted_to_another_kind_of_input(tmp_path, frame):
    """What counts are the rows."""
    rows, path = frame[[*FEATURES, "score"]], tmp_path / "data.parquet"
    rows.to_parquet(path, row_group_size=70)
    model = regressor().fit(rows, "score")
    expected = model.track_record(rows, "score", refits=3)
    assert model.track_record(path, "score", refits=3) == expected
    assert model.track_record(rows[FEATURES], rows["score"].to_numpy(), refits=3) == expected
    rows[FEATURES].to_parquet(path, row_group_size=70)
    assert model.track_record(path, rows["score"].to_numpy(), refits=3) == expected


def test_rows_of_a_file_that_was_changed_are_refused(tmp_path, frame):
    """As those in memory are."""
    rows, path = frame[[*FEATURES, "score"]], tmp_path / "data.parquet"
    rows.to_parquet(path, row_group_size=70)
    model = regressor().fit(path, "score")
    rows.assign(age=rows["age"].iloc[::-1].to_numpy()).to_parquet(path, row_group_size=70)
    with pytest.raises(InvalidParameter, match="not those of the fit"):
        model.track_record(path, "score", refits=2)


# --- no copies ------------------------------------------------------------------------------------


def test_refits_of_files_share_the_files(tmp_path, frame):
    """A refit is a mask: the columns, and what reads them, are those of all rows."""
    frame[[*FEATURES, "score"]].to_parquet(tmp_path / "data.parquet", row_group_size=70)
    rows = read_rows(tmp_path / "data.parquet", "score")
    for train, _ in refit_splits(rows, 2, "bootstrap", None, 0, stratify=False):
        part = rows.draw(train)
        assert part.features is rows.features
        assert part.source is rows.source
        assert part.spans is rows.spans
        assert not part.in_memory
        np.testing.assert_array_equal(np.sort(part.target), np.sort(rows.target[train]))
        assert sorted(part.origin) == sorted(rows.origin[train])
