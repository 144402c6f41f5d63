"""What `fit` in Python says of a table: what is surely wrong, and nothing of any other."""

import warnings

import numpy as np
import pandas as pd
import pytest

from data.test_messy import FILES, STATUS, STOPS, path_of
from mossrules import MossClassifier, MossRegressor
from mossrules.baselines import SirusRegressor
from mossrules.data.checks.before_fit import FIRST_ROWS, IN_PYTHON, surely_wrong
from mossrules.data.table import Table
from mossrules.evaluation import evaluate
from mossrules.exceptions import TableWarning

# Of files with decimal commas, `fit` of the library is given text.
TABLES = [name for name in FILES if not name.startswith("constant_target")]
REFUSED = ("infinite", "missing_target")  # by fit, in a sentence of its own
SMALL = {"n_trees": 20, "random_state": 0}


def told(model, X, y):
    """Return what fit warns of a table."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    return [str(each.message) for each in caught if each.category is TableWarning]


def frame(name):
    """Return a messy file as pandas reads it, with its target."""
    sep = ";" if "semicolon" in name else ","
    rows = pd.read_csv(path_of(name), sep=sep, keep_default_na=False, na_values=[""])
    target = "status" if name in STATUS else "y"
    y = rows.pop(target)
    return rows.drop(columns=["y"], errors="ignore"), y, target == "status"


@pytest.mark.parametrize("name", [name for name in TABLES if name not in REFUSED])
def test_fit_warns_of_what_the_command_stops_for(name):
    """And of nothing else: what only may be wrong, `check` says."""
    X, y, of_classes = frame(name)
    column, kind, does = FILES[name]
    model = MossClassifier(2, **SMALL) if of_classes else MossRegressor(2, **SMALL)
    sentences = told(model, X, y)
    if does != STOPS:
        assert sentences == []
        return
    assert len(sentences) == 1
    assert sentences[0].startswith(f"Column {column!r}: ")
    assert IN_PYTHON[kind] in sentences[0]
    assert "--" not in sentences[0].replace("'--'", "")  # no options of the command line


def sane(draw, n):
    """Return an ordinary table: numbers, counts, categories, gaps, and a target with noise."""
    X = {
        "age": draw.integers(18, 90, n).astype(float),
        "dose": draw.normal(size=n),
        "step": np.cumsum(draw.integers(1, 4, n)).astype(float),
        "sex": draw.choice(["f", "m"], n).astype(object),
        "town": draw.choice([f"town {i}" for i in range(40)], n).astype(object),
        "grade": draw.choice(["1", "2", "3", "4"], n).astype(object),
        "late": draw.random(n) < 0.2,
    }
    X["dose"][draw.random(n) < 0.1] = np.nan
    return X, X["age"] / 20 + (X["sex"] == "f") + draw.normal(size=n)


@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_said_of_ordinary_tables(seed):
    """Of any size, for numbers and for classes."""
    draw = np.random.default_rng(seed)
    X, y = sane(draw, int(draw.integers(2, 6 * FIRST_ROWS)))
    table = Table.from_any(X)
    assert surely_wrong(table, y, of_classes=False) == []
    assert surely_wrong(table, (y > np.median(y)).astype(float), of_classes=True) == []


def test_an_alarm_rests_on_many_rows_though_few_are_looked_at_first():
    """Texts that differ on the first rows looked at, and have five rows each, are no identifier."""
    draw = np.random.default_rng(0)
    n = 60_000
    X, y = sane(draw, n)
    X["place"] = draw.permutation(np.repeat([f"place {i}" for i in range(n // 5)], 5)).astype(
        object
    )
    assert surely_wrong(Table.from_any(X), y, of_classes=False) == []
    X["place"] = np.array([f"case {i}" for i in draw.permutation(n)], dtype=object)
    (found,) = surely_wrong(Table.from_any(X), y, of_classes=False)
    assert (found.column, found.kind) == ("place", "identifier")
    assert surely_wrong(Table.from_any(X), y, of_classes=False) == [found]


def test_the_target_under_another_name_is_told():
    """In other units, as a word for each class, and from files too; never of a few rows."""
    X, y = sane(np.random.default_rng(1), 400)
    assert (
        "alone it explains all of 'y'"
        in told(MossRegressor(2, **SMALL), {**X, "euro": 7 * y}, y)[0]
    )
    few = {name: values[:40] for name, values in X.items()}
    assert told(MossRegressor(2, **SMALL), {**few, "euro": 7 * y[:40]}, y[:40]) == []
    ill = y > np.median(y)
    letters = np.where(ill, "code 17", "code 3").astype(object)
    (sentence,) = told(MossClassifier(2, **SMALL), {**X, "letter": letters}, ill)
    assert sentence.startswith("Column 'letter': nearly the target")


def test_files_are_looked_at_and_dask_is_not(tmp_path):
    """Values of a Dask collection are elsewhere."""
    dd = pytest.importorskip("dask.dataframe")
    X, y = sane(np.random.default_rng(1), 300)
    rows = pd.DataFrame({**X, "patient_id": [f"P{i}" for i in range(300)], "y": y})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_parquet(tmp_path / "rows.parquet")
    for path in (tmp_path / "rows.csv", tmp_path / "rows.parquet"):
        (sentence,) = told(MossRegressor(2, **SMALL), path, "y")
        assert sentence.startswith("Column 'patient_id': an identifier")
    assert told(MossRegressor(2, **SMALL), dd.from_pandas(rows, npartitions=2), "y") == []


def test_it_changes_nothing_and_can_be_switched_off():
    """By a filter of warnings; models are the same in every bit. Refits say nothing again."""
    X, y = sane(np.random.default_rng(1), 300)
    X["patient_id"] = np.array([f"P{i}" for i in range(300)], dtype=object)
    with pytest.warns(TableWarning, match="patient_id"):
        model = MossRegressor(3, **SMALL).fit(X, y)
    silent = MossRegressor(3, **SMALL)
    silent.tells = False
    assert silent.fit(X, y).rules_.to_json() == model.rules_.to_json()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", TableWarning)
        assert MossRegressor(3, **SMALL).fit(X, y).rules_ == model.rules_
    evaluate({"moss": model}, X, y, cv=2)  # warnings are errors
    with pytest.warns(TableWarning, match="patient_id"):
        SirusRegressor(3, n_trees=20).fit(X, y)
