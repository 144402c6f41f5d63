"""Rows on a Dask cluster give the models that the same rows give in memory, bit for bit."""

import os
import signal
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor
from typer.testing import CliRunner

from mossrules import MossClassifier, MossRegressor, cli
from mossrules.data.dask_partitions import DaskChunks
from mossrules.data.files import parquet, scan_files
from mossrules.evaluation import evaluate
from mossrules.exceptions import (
    InvalidColumn,
    InvalidFile,
    InvalidParameter,
    InvalidTarget,
    UnsupportedType,
)

dask = pytest.importorskip("dask", reason="Dask is not installed")
da = pytest.importorskip("dask.array", reason="Dask has no arrays here")
dd = pytest.importorskip("dask.dataframe", reason="Dask has no frames here")

N = 400


@pytest.fixture(autouse=True)
def _one_thread():
    """Compute in this thread unless a test has a cluster."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def frame():
    """Return a table of several kinds with ties and missing values."""
    rng = np.random.default_rng(8)
    found = pd.DataFrame(
        {
            "number": rng.normal(size=N).round(1),
            "flag": rng.random(N) < 0.4,
            "word": rng.choice(["red", "green"], N),
        }
    )
    found["y"] = (found["number"] + 2 * (found["word"] == "red")).round(1)
    found["kind"] = found["y"] > 1
    found.loc[::7, "number"] = np.nan
    found.loc[: N // 2, "word"] = None  # the first partitions do not know what it is
    return found


def regressor(**parameters):
    """Return a quick regressor."""
    return MossRegressor(4, n_trees=24, n_jobs=1, **parameters)


def content(model):
    """Return the rules with their weights and all statistics, to the last bit."""
    return model.rules_.to_json(), model.candidates_.statistics.G.tobytes()


# --- without a cluster ----------------------------------------------------------------------------


def test_partitions_give_the_model_of_memory(frame):
    """However the rows are parted, with weights or without, the model is that of the frame."""
    table = frame.drop(columns="kind")
    parts = dd.from_pandas(table, npartitions=7, sort=False)
    for weights in (None, np.linspace(0, 2, N)):
        found = regressor().fit(parts, "y", weights)
        assert content(found) == content(regressor().fit(table, "y", weights))
    np.testing.assert_array_equal(found.predict(parts).compute(), found.predict(table))
    assert found.feature_names_in_.tolist() == ["number", "flag", "word"]


def test_classes_on_partitions_give_the_classifier_of_memory(frame):
    """Classes, probabilities and guesses of partitions are those of the frame."""
    table = frame.drop(columns="y")
    parts = dd.from_pandas(table, npartitions=3, sort=False)
    one, other = (
        MossClassifier(2, n_trees=12, gap=0.1, class_weight="balanced").fit(each, "kind")
        for each in (table, parts)
    )
    assert content(one) == content(other)
    np.testing.assert_array_equal(other.predict_proba(parts).compute(), one.predict_proba(table))
    np.testing.assert_array_equal(other.predict(parts).compute(), one.predict(table))


def test_arrays_in_blocks_give_the_model_of_memory(frame):
    """Arrays have no names; blocks of columns are put together, and those of y need not match."""
    X, y = frame[["number", "flag"]].to_numpy(dtype=float), frame["y"].to_numpy()
    blocks = da.from_array(X, chunks=(90, 1))
    found = regressor().fit(blocks, da.from_array(y, chunks=70))
    expected = regressor().fit(X, y)
    assert content(found) == content(expected)
    assert not hasattr(found, "feature_names_in_")
    np.testing.assert_array_equal(found.predict(blocks).compute(), expected.predict(X))


def test_a_series_may_be_the_target(frame):
    """A Dask series of the partitions of the frame is as good as a column."""
    parts = dd.from_pandas(frame[["number", "flag", "y"]], npartitions=4, sort=False)
    found = regressor().fit(parts[["number", "flag"]], parts["y"])
    expected = regressor().fit(frame[["number", "flag"]], frame["y"])
    assert content(found) == content(expected)


def test_what_is_wrong_with_partitions_is_said(frame):
    """A target that is not there and columns of several types are refused."""
    parts = dd.from_pandas(frame, npartitions=2, sort=False)
    with pytest.raises(InvalidTarget, match="Did you mean 'y'"):
        regressor().fit(parts, "yy")
    with pytest.raises(InvalidTarget, match="add it as a column"):
        regressor().fit(parts, frame["y"].to_numpy())
    mixed = dd.from_map(
        lambda place: pd.DataFrame({"a": [1.0, 2.0] if place else ["x", "y"], "y": [1.0, 2.0]}),
        [0, 1],
        meta=pd.DataFrame({"a": pd.Series(dtype=object), "y": pd.Series(dtype=float)}),
        enforce_metadata=False,
    )
    with pytest.raises(InvalidColumn, match="'a' is numeric in one part"):
        regressor().fit(mixed, "y")


def test_results_are_combined_without_harm():
    """Adding in place must not change what another combination, or a second try, may read."""
    parts = [dask.delayed(np.full(3, value)) for value in range(20)]
    kept = dask.persist(*parts)
    chunks = DaskChunks(kept)
    for _ in range(2):
        total = chunks.fold(np.asarray, partial(np.add, out=None))
        assert total.tolist() == [190] * 3
        total = chunks.fold(np.asarray, add_in_place)
        assert total.tolist() == [190] * 3
    assert len(chunks) == len(list(chunks)) == 20


def add_in_place(one, other):
    """Add as the forest does."""
    one += other
    return one


# --- on a cluster ---------------------------------------------------------------------------------


def read_part(table, fate, place):
    """Return a part of a table; the first time that part 3 is read late, its worker dies."""
    if place == 3:
        tries = len(list(fate.iterdir()))
        (fate / str(tries)).touch()
        if tries == 2:
            os.kill(os.getpid(), signal.SIGKILL)
    return table.iloc[place * 100 : place * 100 + 100]


@pytest.mark.slow
def test_processes_give_the_model_of_memory_though_one_is_killed(frame, tmp_path: Path):
    """Of two processes one is killed in the middle of a pass: the model is the same."""
    distributed = pytest.importorskip("distributed", reason="Dask has no clusters here")
    table = frame[["number", "flag", "y"]]
    expected = content(regressor().fit(table, "y"))
    quiet = {"dashboard_address": None, "worker_dashboard_address": None}
    with (
        dask.config.set(scheduler=None),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, **quiet) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(2)
        parts = dd.from_map(partial(read_part, table, tmp_path), range(4), meta=table.head(0))
        assert content(regressor().fit(parts, "y")) == expected
    assert len(list(tmp_path.iterdir())) > 3


def test_folds_as_tasks_give_the_evaluation_of_threads(frame, tmp_path: Path):
    """Learners on folds that Dask works on have the same scores and rules, and keep a record."""
    table = frame[["number", "flag", "y"]].fillna(0.0)
    learners = {"MOSS": regressor(), "tree": DecisionTreeRegressor(max_depth=2, random_state=0)}
    times = ["seconds", "search_seconds"]
    expected = evaluate(learners, table, "y", cv=3, n_jobs=1)
    for _ in range(2):  # the second time from the record
        heard = []
        found = evaluate(
            learners,
            table,
            "y",
            cv=3,
            engine="dask",
            checkpoint=tmp_path / "record.jsonl",
            progress=heard.append,
        )
        pd.testing.assert_frame_equal(
            found.frame().drop(columns=times), expected.frame().drop(columns=times)
        )
        assert [each.done for each in heard] == [1, 2, 3, 4, 5, 6]
    with pytest.raises(InvalidParameter, match="engine is 'spark'"):
        evaluate(learners, table, "y", engine="spark")
    with pytest.raises(UnsupportedType, match="X is in files"):
        evaluate(learners, "data.parquet", "y")


def test_files_on_a_cluster_give_the_model_of_memory(frame, tmp_path: Path, monkeypatch):
    """Workers read parts of Parquet files themselves, also for the command line."""
    distributed = pytest.importorskip("distributed", reason="Dask has no clusters here")
    monkeypatch.setattr(parquet, "PART_ROWS", 100)
    table = frame[["number", "word", "y"]]
    table.to_parquet(tmp_path / "data.parquet", row_group_size=60)
    expected = regressor().fit(table, "y")
    scan = scan_files(tmp_path / "data.parquet", engine="dask")
    assert content(regressor().fit(scan, "y")) == content(expected)
    table.to_csv(tmp_path / "data.csv")
    with pytest.raises(InvalidFile, match="a cluster reads Parquet only"):
        scan_files(tmp_path / "data.csv", engine="dask")
    asked = [
        "fit",
        str(tmp_path / "data.parquet"),
        "-t",
        "y",
        "--n-trees",
        "24",
        "--max-rules",
        "4",
        "--refits",
        "0",
    ]
    with (
        dask.config.set(scheduler=None),
        distributed.LocalCluster(1, processes=False, dashboard_address=None) as cluster,
    ):
        address = ["--scheduler", cluster.scheduler_address, "--export", "text"]
        found = CliRunner().invoke(cli.app, [*asked, "--engine", "dask", *address])
    assert found.stdout.strip() == expected.rules_.to_text().strip()
    refused = CliRunner().invoke(cli.app, [*asked, "--scheduler", "tcp://here:1"])
    assert "say --engine dask too" in refused.stderr


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("tcp://there:1", "no Dask scheduler at tcp://there:1 (silence); check the address"),
        (None, "No Dask cluster can be started here (silence)"),
    ],
)
def test_the_scheduler_that_does_not_answer_is_named(address, words, monkeypatch):
    """Also one of Dask's configuration, to which an environment variable belongs."""

    def silent(*_, **__):
        raise OSError("silence")

    monkeypatch.setattr("distributed.Client", silent)
    with dask.config.set({"scheduler-address": address}):
        refused = CliRunner().invoke(cli.app, ["fit", "d.parquet", "-t", "y", "--engine", "dask"])
    assert refused.exit_code == 1
    assert words in refused.stderr
