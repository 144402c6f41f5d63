"""One type of rows for memory and files: the same models, bit for bit, and each input read once."""

import hashlib
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

from mossrules import MossClassifier, MossRegressor, find_candidates
from mossrules.baselines import FireRegressor
from mossrules.data import canonical_order as order
from mossrules.data.columns import Column
from mossrules.data.files import parquet, scan_files
from mossrules.data.rows import read_rows
from mossrules.data.table import Table
from mossrules.estimators import candidates_for
from mossrules.exceptions import InvalidFile, InvalidTable, InvalidTarget, MissingColumns
from mossrules.learning.fit import find_in_rows

N = 700


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    """Read few rows together, so that small files have many parts."""
    monkeypatch.setattr(parquet, "PART_ROWS", 100)


@pytest.fixture(scope="module")
def frame():
    """Return a table of all kinds with ties, missing values and repeated rows."""
    rng = np.random.default_rng(5)
    found = pd.DataFrame(
        {
            "number": rng.normal(size=N).round(2),
            "small": rng.integers(0, 4, N),
            "flag": rng.random(N) < 0.5,
            "word": rng.choice(["red", "green", "blue"], N),
            "size": pd.Categorical(rng.choice(["s", "m", "l"], N), ["s", "m", "l"], ordered=True),
        }
    )
    found["y"] = (found["number"] + found["small"] * (found["word"] == "red")).round(1)
    found["kind"] = np.where(found["y"] > 1, "up", np.where(found["y"] < 0, "down", "level"))
    found.loc[::7, "number"] = np.nan
    found.loc[3::11, "word"] = None
    return pd.concat([found.iloc[: N - 50], found.iloc[:50]], ignore_index=True)


def weights_of(name, n=N):
    """Return weights of a kind: none, of any size with zeros, or whole."""
    rng = np.random.default_rng(1)
    any_size = np.where(np.arange(n) % 9, rng.random(n).round(2), 0.0)
    return {"none": None, "any": any_size, "whole": np.arange(n) % 3 * 1.0}[name]


def digest(model):
    """Return a hash of the rules with their weights and of all statistics, to the last bit."""
    found = model.candidates_
    found = [*found.values()] if isinstance(found, dict) else [found]
    content = [model.rules_.to_json().encode(), *(each.statistics.G.tobytes() for each in found)]
    return hashlib.blake2b(b"".join(content)).hexdigest()


def regressor(**parameters):
    """Return a quick regressor."""
    return MossRegressor(**{"n_trees": 24, "max_rules": 4, "n_jobs": 2, **parameters})


def classifier(**parameters):
    """Return a quick classifier."""
    return MossClassifier(n_trees=12, max_rules=2, gap=0.5, n_jobs=2, **parameters)


@pytest.mark.parametrize("weighted", ["none", "any", "whole"])
def test_row_groups_of_any_size_give_the_model_of_memory(tmp_path, frame, weighted):
    """Parquet with three sizes of row groups, and in three files, is as good as the frame."""
    table, weights = frame.drop(columns="kind"), weights_of(weighted)
    expected = digest(regressor().fit(table, "y", weights))
    for size in (7, 130, 5000) if weights is None else (130,):
        table.to_parquet(tmp_path / "data.parquet", row_group_size=size)
        found = regressor().fit(tmp_path / "data.parquet", "y", weights)
        assert digest(found) == expected
    for number, rows in enumerate(np.array_split(np.arange(N), 3)):
        table.iloc[rows].to_parquet(tmp_path / f"part{number}.parquet", index=False)
    found = regressor().fit(str(tmp_path / "part*.parquet"), "y", weights)
    assert digest(found) == expected
    assert found.feature_names_in_.tolist() == [*table.drop(columns="y")]


@pytest.mark.parametrize("weighted", ["none", "any"])
def test_csv_in_chunks_gives_the_model_of_memory(tmp_path, frame, weighted, monkeypatch):
    """Text is read once and kept on disk: two files are as good as one table."""
    monkeypatch.setattr("mossrules.data.files.delimited.MAX_CHUNK_ROWS", 64)
    table, weights = frame.drop(columns="kind").astype({"size": str}), weights_of(weighted)
    table.iloc[:300].to_csv(tmp_path / "a.csv", index=False)
    table.iloc[300:].to_csv(tmp_path / "b.csv", index=False)
    found = regressor().fit([tmp_path / "a.csv", str(tmp_path / "b.csv")], "y", weights)
    assert digest(found) == digest(regressor().fit(table, "y", weights))


@pytest.mark.parametrize(
    ("class_weight", "weighted"),
    [(None, "none"), ("balanced", "any"), ({"up": 2}, "whole")],
)
def test_classes_in_files_give_the_classifier_of_memory(tmp_path, frame, class_weight, weighted):
    """Each class against all others is learned as from memory, whatever the weights."""
    table, weights = frame.drop(columns="y"), weights_of(weighted)
    table.to_parquet(tmp_path / "data.parquet", row_group_size=90)
    models = [
        classifier(class_weight=class_weight).fit(each, "kind", weights)
        for each in (table, tmp_path / "data.parquet")
    ]
    assert digest(models[0]) == digest(models[1])
    assert models[1].classes_.tolist() == ["down", "level", "up"]


def test_numbers_are_places_in_the_order_of_memory(tmp_path, frame):
    """By their numbers, the rows of files are those of the frame, one by one."""
    table = frame.drop(columns="kind")
    table.to_parquet(tmp_path / "data.parquet", row_group_size=33)
    expected, found = (read_rows(each, "y") for each in (table, tmp_path / "data.parquet"))
    np.testing.assert_array_equal(found.target, expected.target)
    numbers, values = [], []
    for chunk in found.chunks:
        numbers += chunk.numbers.tolist()
        values += chunk.read(chunk.table.columns[0]).tolist()
    ordered = np.array(values)[np.argsort(numbers)]
    np.testing.assert_array_equal(ordered, expected.table.columns[0].read(0, N))


@pytest.mark.parametrize("weighted", ["none", "any", "whole"])
def test_more_rows_than_are_sorted_are_taken_as_they_are_given(
    tmp_path, frame, monkeypatch, weighted
):
    """Beyond the limit memory and files still agree, and both go by the order given."""
    table, weights = frame.drop(columns="kind"), weights_of(weighted)
    table.to_parquet(tmp_path / "data.parquet", row_group_size=70)
    in_order = digest(regressor().fit(table, "y", weights))
    monkeypatch.setattr(order, "MOST_SORTED", 100)
    one, other = (
        regressor().fit(each, "y", weights) for each in (table, tmp_path / "data.parquet")
    )
    assert digest(one) == digest(other) != in_order


def test_codes_that_do_not_fit_are_made_again_in_each_pass(tmp_path, frame, monkeypatch):
    """Without memory to keep anything the model is the same."""
    table = frame.drop(columns="kind")
    table.to_parquet(tmp_path / "data.parquet", row_group_size=70)
    expected = digest(regressor().fit(table, "y"))
    monkeypatch.setattr("mossrules.data.chunks.memory_bytes", lambda: 0)
    assert digest(regressor().fit(tmp_path / "data.parquet", "y")) == expected


def test_a_target_may_be_beside_the_files(tmp_path, frame):
    """Values in memory are the target of the rows of files, in their order."""
    table = frame.drop(columns="kind")
    table.drop(columns="y").to_parquet(tmp_path / "data.parquet", row_group_size=70)
    found = regressor().fit(tmp_path / "data.parquet", table["y"].to_numpy())
    expected = regressor().fit(table.drop(columns="y"), table["y"].to_numpy())
    assert digest(found) == digest(expected)


def test_files_are_predicted_and_scored_in_parts(tmp_path, frame):
    """Predictions and scores of a file are those of its rows; other columns may be there."""
    table = frame.drop(columns="kind")
    model, path = regressor().fit(table, "y"), tmp_path / "data.parquet"
    frame[[*table.columns[::-1], "kind"]].to_parquet(path, row_group_size=70)
    np.testing.assert_array_equal(model.predict(path), model.predict(table))
    np.testing.assert_array_equal(model.rules_.predict(str(path)), model.predict(table))
    assert model.score(path, "y") == model.score(table, "y")
    labels = frame.drop(columns="y")
    guesser = classifier().fit(labels, "kind")
    np.testing.assert_array_equal(guesser.predict_proba(path), guesser.predict_proba(labels))
    assert guesser.score(path, "kind") == guesser.score(labels, "kind")


def test_what_needs_rows_reads_the_files_whole(tmp_path, frame):
    """Cross-validated stability and baselines take files too, as tables in memory."""
    table = frame[["number", "small", "y"]]
    table.to_parquet(tmp_path / "data.parquet", row_group_size=70)
    for model in (regressor(stability="auto", cv=2), FireRegressor(4, n_trees=24)):
        expected = model.fit(table, "y").rules_.to_json()
        assert model.fit(tmp_path / "data.parquet", "y").rules_.to_json() == expected


def test_candidates_are_found_in_files(tmp_path, frame):
    """`candidates_for` streams, and `find_candidates` takes rows as they stand in the files."""
    table = frame.drop(columns="kind")
    table.to_parquet(tmp_path / "data.parquet", row_group_size=70)
    for find in (candidates_for, find_candidates):
        one, other = (find(each, "y", n_trees=20) for each in (table, tmp_path / "data.parquet"))
        assert one.texts == other.texts
        assert one.statistics.G.tobytes() == other.statistics.G.tobytes()


def test_statistics_of_files_are_those_of_a_dense_matrix(tmp_path, frame):
    """Cuts are quantiles and G is M'M, as NumPy has them of all rows at once."""
    table = frame[["number", "small", "y"]].fillna({"number": 9.5})
    table.to_parquet(tmp_path / "data.parquet", row_group_size=41)
    how = {"n_trees": 30, "n_bins": 4, "cuts": "quantile"}
    found = candidates_for(tmp_path / "data.parquet", "y", **how)
    for cut, share in zip(found.binning["number"].cuts, (0.25, 0.5, 0.75), strict=True):
        below = np.quantile(table["number"], share, method="inverted_cdf")
        assert below <= cut < table["number"][table["number"] > below].min()
    y = ((table["y"] - table["y"].mean()) / table["y"].std(ddof=0)).to_numpy()
    holds = np.column_stack([table.eval(text.replace(" and ", " & ")) for text in found.texts])
    M = holds * np.array([y[rows].mean() for rows in holds.T])
    np.testing.assert_allclose(found.statistics.G, M.T @ M, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.statistics.q, M.T @ y, rtol=1e-7, atol=1e-9)


def test_files_without_a_rule_have_the_mean(tmp_path):
    """A constant target, and columns that explain nothing, give models without rules."""
    for y in (np.full(50, 2.5), np.random.default_rng(0).normal(size=50)):
        table = pd.DataFrame({"a": np.ones(50), "y": y})
        table.to_parquet(tmp_path / "data.parquet", row_group_size=20)
        one, other = (regressor().fit(each, "y") for each in (table, tmp_path / "data.parquet"))
        assert len(other.rules_) == 0
        assert one.rules_.intercept == other.rules_.intercept


def test_what_is_wrong_with_files_is_said(tmp_path, frame):
    """Files that are not there, too short, or without the target are refused in one sentence."""
    table = frame.drop(columns="kind")
    table.to_parquet(tmp_path / "data.parquet")
    table.head(1).to_parquet(tmp_path / "short.parquet")
    with pytest.raises(InvalidFile, match="No file matches"):
        regressor().fit(str(tmp_path / "*.pq"), "y")
    with pytest.raises(InvalidTarget, match="Did you mean 'y'"):
        regressor().fit(tmp_path / "data.parquet", "yy")
    with pytest.raises(InvalidTable, match="minimum of 2"):
        regressor().fit(tmp_path / "short.parquet", "y")
    with pytest.raises(InvalidTarget, match="y has 300 values but the table has 700 rows"):
        regressor().fit(tmp_path / "data.parquet", np.zeros(300))
    with pytest.raises(InvalidTarget, match="word is categorical"):
        regressor().fit(tmp_path / "data.parquet", "word")
    model, scan = (
        regressor().fit(table, "y"),
        scan_files(tmp_path / "data.parquet", drop=["number"]),
    )
    with pytest.raises(MissingColumns, match="number"):
        model.predict(scan)


# --- rows of rows ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "target"), [(regressor, "y"), (classifier, "kind")])
def test_each_input_is_opened_and_read_once(frame, monkeypatch, model, target):
    """A fit opens its table once and reads each column once, whatever the number of classes."""
    opened, read = [], Counter()
    original = Table.from_any.__func__

    def count_reads(column, start, stop):
        read[column.name, start, stop] += 1
        return column.read(start, stop)

    def from_any(cls, X):
        table = original(cls, X)
        opened.append(X)
        columns = [
            Column(each.name, each.kind, partial(count_reads, each), each.levels)
            for each in table.columns
        ]
        return replace(table, columns=tuple(columns))

    monkeypatch.setattr(Table, "from_any", classmethod(from_any))
    table = frame.drop(columns={"y", "kind"} - {target})
    model().fit(table, target)
    assert len(opened) == 1
    assert read == dict.fromkeys([(name, 0, N) for name in table], 1)


@pytest.mark.parametrize("weighted", ["none", "any", "whole"])
def test_some_rows_are_as_if_they_alone_were_given(frame, weighted):
    """Rows taken by number have the order, weights and candidates of a table of just these."""
    table, weights = frame.drop(columns="kind"), weights_of(weighted)
    rows = read_rows(table, "y", weights)
    some = np.arange(rows.n_rows) % 3 > 0
    taken = rows.take(np.flatnonzero(some))
    alone = read_rows(
        table.iloc[rows.origin[some]], "y", None if rows.weights is None else rows.weights[some]
    )
    np.testing.assert_array_equal(taken.target, alone.target)
    one, other = (find_in_rows(each, n_trees=20) for each in (taken, alone))
    assert one.statistics.G.tobytes() == other.statistics.G.tobytes()


def test_rows_of_files_may_be_taken_into_memory(tmp_path, frame):
    """A table of all rows, or rows of some numbers, are those of the frame."""
    table = frame.drop(columns="kind")
    table.to_parquet(tmp_path / "data.parquet", row_group_size=90)
    one, other = (read_rows(each, "y") for each in (table, tmp_path / "data.parquet"))
    assert (one.in_memory, other.in_memory) == (True, False)
    for rows in (one, other):
        assert rows.take(np.arange(100)).in_memory
    for first, second in zip(one.table.columns, other.table.columns, strict=True):
        np.testing.assert_array_equal(first.read(5, 90), second.read(5, 90))


@pytest.mark.parametrize("weighted", ["none", "any"])
def test_chunks_for_more_threads_are_the_same_rows(frame, weighted):
    """Numbers and weights stay with their rows, and an order that is known is not found again."""
    rows = read_rows(frame.drop(columns="kind"), "y", weights_of(weighted))
    assert rows.in_chunks(n_jobs=1) is rows
    order = rows.origin
    smaller = rows.in_chunks(chunk_rows=60)
    assert smaller.origin is order
    parts = [(chunk.numbers, chunk.target, chunk.weights) for chunk in smaller.chunks]
    assert len(parts) == 12
    (whole,) = rows.chunks
    for position, expected in enumerate((whole.numbers, whole.target, whole.weights)):
        if expected is not None:
            joined = np.concatenate([part[position] for part in parts])
            np.testing.assert_array_equal(joined, expected)


def test_classes_are_positions_among_labels(frame):
    """The target of classes is a position, and one class against the rest is 1 in that class."""
    rows = read_rows(frame.drop(columns="y"), "kind", of_classes=True)
    assert rows.classes.tolist() == ["down", "level", "up"]
    np.testing.assert_array_equal(rows.classes[rows.given.astype(int)], frame["kind"])
    up = rows.one_vs_rest(2)
    assert up.classes is None
    np.testing.assert_array_equal(up.given, frame["kind"] == "up")
    assert up.mean == pytest.approx((frame["kind"] == "up").mean())
