"""All that reads files, each with sound samples, and with what is done with what was read.

A `Reader` takes the bytes of a file and reads and uses them. It may raise a `MossError`; whatever
else is raised is a defect.
"""

from __future__ import annotations

import gzip
import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

from mossrules import Frontier, MossClassifier, MossRegressor, RuleSet
from mossrules.baselines import SirusRegressor
from mossrules.cli._output import as_csv
from mossrules.cli.predict import predicted_columns, read_features
from mossrules.data.files import fast_blocks, read_file, scan_files
from mossrules.data.table import Table
from mossrules.evaluation import evaluate
from mossrules.exceptions import MossError
from mossrules.frontier import solve_frontier
from mossrules.model import RuleSets
from mossrules.model.rulesets import read_model
from mossrules.solver import Options, Problem
from research.harness.records import Record
from support.damage import (
    damaged_bytes,
    damaged_gzip,
    damaged_json,
    damaged_parquet,
    damaged_text,
)

__all__ = ["READERS", "Reader", "read_damaged"]


class Reader(NamedTuple):
    """A kind of file: sound samples, ways to damage them, and all that is done with one."""

    name: str
    samples: Callable[[Path], Sequence[bytes]]
    damage: Callable[[Random, bytes], bytes]
    use: Callable[[Path], object]
    suffix: str


def read_damaged(reader: Reader, samples: Sequence[bytes], rng: Random, folder: Path) -> str:
    """Damage a sample and read it; return "read" or "refused"."""
    path = folder / f"damaged{reader.suffix}"
    path.write_bytes(reader.damage(rng, rng.choice(samples)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader.use(path)
    except MossError as error:
        message = str(error)
        message.encode()  # can be shown on any terminal
        assert len(message) < 2_000, message[:500]
        assert len(message.splitlines()) == 1, message
        return "refused"
    return "read"


# --- a small table and what is learned from it ----------------------------------------------------


@cache
def table() -> pd.DataFrame:
    """Return a table with a column of each kind."""
    rng = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame({
        "length": rng.normal(size=n).round(3),
        "flag": rng.random(n) < 0.5,
        "colour": rng.choice(["red", "grün", "blue, light"], n),
        "size": pd.Categorical(rng.choice(["s", "m", "l"], n), ["s", "m", "l"], ordered=True),
        "count": rng.integers(0, 20, n).astype(float),
    })  # fmt: skip
    frame.loc[rng.random(n) < 0.1, "count"] = np.nan
    frame["y"] = 2 * frame["length"] + 3 * frame["flag"] + (frame["colour"] == "red")
    return frame


UNNAMED = ["length", "count"]  # the columns of an array


def _settings() -> dict[str, Any]:
    return {"max_rules": 4, "n_trees": 25, "random_state": 0, "n_jobs": 1}


@cache
def _models() -> tuple[bytes, ...]:
    X = table().drop(columns="y")
    numbers = MossRegressor(**_settings()).fit(X, table()["y"])
    unnamed = MossRegressor(**_settings()).fit(X[UNNAMED].to_numpy(), table()["y"])
    classes = MossClassifier(**_settings()).fit(X, table()["y"] > 1.5)
    return tuple(each.rules_.to_json().encode() for each in (numbers, unnamed, classes))


@cache
def _several() -> tuple[bytes, ...]:
    X = table().drop(columns="y")
    model = MossClassifier(**_settings())
    model.tells = False  # that the target is a column as well
    model.fit(X, table()["colour"])
    return (model.rules_.to_json().encode(),)


def _use_model(model: RuleSet | RuleSets) -> None:
    """Predict, explain and export, also as bytes."""
    named = not isinstance(model, RuleSet) or model.binning.named
    X: Any = table().drop(columns="y") if named else table()[UNNAMED].to_numpy()
    row = dict.fromkeys(model.columns, None) if isinstance(model, RuleSet) else {}
    texts = [model.to_text(), model.to_markdown(), model.to_latex(), model._repr_html_()]
    texts += [model.to_json(), model.to_python(), model.to_sql("t"), repr(model)]
    for text in texts:
        text.encode()
    kind = RuleSet if isinstance(model, RuleSet) else RuleSets
    assert kind.from_json(model.to_json()).to_json() == model.to_json()
    model.to_frame("pandas")
    if row:
        repr(model.explain(row)).encode()
    if isinstance(model, RuleSet):
        model.predict(X)
    else:
        assert np.isfinite(model.predict_proba(X)).all()


def _predict(path: Path) -> None:
    """Do what `mossrules predict` does."""
    model = read_model(path)
    named = not isinstance(model, RuleSet) or model.binning.named
    data = path.with_name("rows.csv")
    table()[list(table()) if named else UNNAMED].to_csv(data, index=False)
    columns = predicted_columns(model, read_features(data, model, {}))
    as_csv(columns).encode()


# --- frontiers and records ------------------------------------------------------------------------


@cache
def _problem() -> Problem:
    rng = np.random.default_rng(6)
    M = rng.normal(size=(30, 8))
    y = M @ rng.normal(size=8) + rng.normal(size=30)
    return Problem.from_matrix(M, y, rng.integers(1, 25, size=8), max_rules=3, gamma=1.0)


def _frontiers(_folder: Path) -> list[bytes]:
    exact = solve_frontier(_problem(), "complete")
    return [exact.to_json().encode()]


def _use_frontier(path: Path) -> None:
    found = Frontier.from_json(_text(path))
    found.frame(backend="pandas")
    for solution in found:
        repr(solution).encode()
        assert solution.bound <= solution.loss
    if len(found):
        found.knee(), found.at(stability=0.5), found.at(index=0), found.at(max_loss=found[-1].loss)
    assert Frontier.from_json(found.to_json()).to_json() == found.to_json()


def _text(path: Path) -> Any:
    data = path.read_bytes()
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data


FLOORS: dict[str, Any] = {"branch-and-bound": "complete", "cutting-plane": [0, 9, 18, 30]}


def _checkpoint_of(method: str, path: Path) -> Frontier:
    options = Options(gap=0.0)
    return solve_frontier(_problem(), FLOORS[method], method, options, checkpoint=path)  # type: ignore[arg-type]


def _checkpoints(method: str) -> Callable[[Path], list[bytes]]:
    def made(folder: Path) -> list[bytes]:
        path = folder / "sound.json"
        path.unlink(missing_ok=True)
        _checkpoint_of(method, path)
        return [path.read_bytes()]

    return made


def _use_checkpoint(method: str) -> Callable[[Path], None]:
    expected: list[Any] = []

    def use(path: Path) -> None:
        found = _checkpoint_of(method, path)
        if not expected:
            expected.extend(solve_frontier(_problem(), FLOORS[method], options=Options(gap=0.0)))
        losses = [each.loss for each in found]
        np.testing.assert_allclose(losses, [each.loss for each in expected], rtol=1e-9)
        for entry in found.entries:
            assert entry.solution.verify(_problem().at(entry.floor), quick=True).passed

    return use


def _evaluated(path: Path) -> None:
    X = table()[["length", "count", "flag"]].fillna(0.0)
    learners = {
        "SIRUS": SirusRegressor(max_rules=3, n_trees=10, random_state=0),
        "least squares": LinearRegression(),
    }
    found = evaluate(learners, X, table()["y"], cv=2, checkpoint=path, n_jobs=1)
    found.frame(), found.summary()


def _evaluations(folder: Path) -> list[bytes]:
    path = folder / "evaluation.json"
    path.unlink(missing_ok=True)
    _evaluated(path)
    return [path.read_bytes()]


SETTINGS = {"quick": True, "protocol": "moss", "numbers": [1, 2]}


def _experiments(folder: Path) -> list[bytes]:
    Record(folder / "record.json", SETTINGS).add("one", [{"r2": 0.5, "name": "x"}, {"r2": None}])
    found = (folder / "record.json").read_bytes()
    (folder / "record.json").unlink()
    return [found]


def _use_experiment(path: Path) -> None:
    Record.read(path).rows(["one"])
    Record.open(path, SETTINGS).add("two", [])


# --- tables ---------------------------------------------------------------------------------------


def _csv_samples(_folder: Path) -> list[bytes]:
    text = table().to_csv(index=False).encode()
    return [
        text,
        text.replace(b"\n", b"\r\n"),
        table()[["colour", "y"]].to_csv(index=False).encode(),
    ]


def _tsv_samples(_folder: Path) -> list[bytes]:
    return [table().to_csv(index=False, sep="\t").encode()]


def _gzip_samples(folder: Path) -> list[bytes]:
    return [gzip.compress(sample) for sample in _csv_samples(folder)]


def _use_table(path: Path) -> None:
    columns = read_file(path)
    found = Table.from_any(columns)
    for column in found.columns:
        column.read(0, found.n_rows)
    read_file(path, required=["y"], only=["y", "colour"], kinds={})


def _scan(path: Path) -> None:
    """Read by chunks, as what is larger than memory is read."""
    found = scan_files(path)
    for column in found.columns:
        for start in range(0, found.n_rows, 25):
            values = column.read(start, min(start + 25, found.n_rows))
            assert len(values) == min(25, found.n_rows - start)


def _by_pyarrow(path: Path) -> None:
    """Read as large files are read, in blocks of a few rows."""
    with mock.patch.multiple(fast_blocks, LEAST=0, BLOCK=500):
        _use_table(path)


def _excel_samples(_folder: Path) -> list[bytes]:
    buffer = io.BytesIO()
    table().to_excel(buffer, index=False)
    return [buffer.getvalue()]


def _parquet_samples(_folder: Path) -> list[bytes]:
    made = []
    for compression in ("snappy", "gzip", None):
        buffer = io.BytesIO()
        table().to_parquet(buffer, compression=compression, index=False, row_group_size=20)
        made.append(buffer.getvalue())
    return made


READERS: Mapping[str, Reader] = {
    reader.name: reader
    for reader in [
        Reader("rule set", lambda _: _models(), damaged_json,
               lambda path: _use_model(RuleSet.from_json(path.read_bytes())), ".json"),
        Reader("rule sets", lambda _: _several(), damaged_json,
               lambda path: _use_model(RuleSets.from_json(path.read_bytes())), ".json"),
        Reader("model to predict with", lambda _: (*_models(), *_several()), damaged_json,
               _predict, ".json"),
        Reader("frontier", _frontiers, damaged_json, _use_frontier, ".json"),
        Reader("checkpoint", _checkpoints("branch-and-bound"), damaged_json,
               _use_checkpoint("branch-and-bound"), ".json"),
        Reader("checkpoint with cuts", _checkpoints("cutting-plane"), damaged_json,
               _use_checkpoint("cutting-plane"), ".json"),
        Reader("evaluation", _evaluations, damaged_json, _evaluated, ".json"),
        Reader("experiment", _experiments, damaged_json, _use_experiment, ".json"),
        Reader("CSV", _csv_samples, damaged_text, _use_table, ".csv"),
        Reader("TSV", _tsv_samples, damaged_text, _use_table, ".tsv"),
        Reader("gzip", _gzip_samples, damaged_gzip, _use_table, ".csv.gz"),
        Reader("CSV, scanned", _csv_samples, damaged_text, _scan, ".csv"),
        Reader("CSV, by pyarrow", _csv_samples, damaged_text, _by_pyarrow, ".csv"),
        Reader("Excel", _excel_samples, damaged_bytes, _use_table, ".xlsx"),
        Reader("Parquet", _parquet_samples, damaged_parquet, _use_table, ".parquet"),
        Reader("Parquet, scanned", _parquet_samples, damaged_parquet, _scan, ".parquet"),
    ]
}  # fmt: skip
