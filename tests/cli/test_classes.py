"""Commands on a target that is a class: fit and predict, and those that are for numbers."""

import csv
import io
import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mossrules import MossClassifier, RuleSets
from support.commands import run

QUICK = ["--n-trees", "20", "--max-rules", "3"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a table of three species, one of which is also a truth value."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    table = X.assign(species=y.map({0: "it's", 1: "b,c", 2: "virginica"}))
    folder = tmp_path_factory.mktemp("classes")
    table.to_csv(folder / "iris.csv", index=False)
    table.assign(species=table["species"] == "virginica").to_csv(folder / "two.csv", index=False)
    table.assign(species=y % 2).to_csv(folder / "number.csv", index=False)
    return folder


def read_csv(text):
    """Return the columns of a CSV text."""
    rows = list(csv.DictReader(io.StringIO(text)))
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_truth_values_are_classes(folder):
    """A target of true and false has a probability; fit, predict and explain speak of it."""
    shown = run("fit", folder / "two.csv", "-t", "species", *QUICK, "-o", folder / "two.json")
    assert shown.exit_code == 0
    assert "The log-odds of species = True" in shown.stdout
    assert "log-loss" in shown.stdout
    names = list(load_iris(as_frame=True)["data"])
    y = load_iris()["target"] == 2
    X = {name: load_iris(as_frame=True)["data"][name] for name in names}
    expected = MossClassifier(3, n_trees=20, random_state=0).fit(X, y).predict_proba(X)[:, 1]
    found = read_csv(run("predict", folder / "two.json", folder / "two.csv").stdout)
    np.testing.assert_array_equal(np.array(found["probability"], dtype=float), expected)
    text = run("predict", folder / "two.json", folder / "two.csv", "--explain", "1").stdout
    assert "At a threshold of 0.5" in text
    content = json.loads(
        run("predict", folder / "two.json", folder / "two.csv", "--explain", "1", "--json").stdout
    )
    assert content["probability"] == expected[0]


def test_several_classes_have_a_column_each(folder):
    """Words are classes; every class has its probability, and the likeliest is predicted."""
    model = folder / "iris.json"
    shown = run("fit", folder / "iris.csv", "-t", "species", *QUICK, "-o", model, "--json")
    content = json.loads(shown.stdout)
    assert list(content["classes"]) == ["b,c", "it's", "virginica"]
    assert content["accuracy_training"] > 0.9
    assert content["model"] == json.loads(model.read_text())
    found = read_csv(run("predict", model, folder / "iris.csv", "--keep", "species").stdout)
    assert list(found) == [
        "species", "probability of b,c", "probability of it's", "probability of virginica",
        "prediction",
    ]  # fmt: skip
    right = np.array(found["species"]) == np.array(found["prediction"])
    assert right.mean() == pytest.approx(content["accuracy_training"])
    explained = run("predict", model, folder / "iris.csv", "--explain", "1").stdout
    assert explained.count("probability, 1 /") == 3
    first = float(found["probability of it's"][0])
    assert f"it's {first:.3f}" in explained.splitlines()[-1]
    sql = run("fit", folder / "iris.csv", "-t", "species", *QUICK, "--export", "sql").stdout
    assert 'FROM "iris"' in sql
    assert isinstance(RuleSets.from_json(model.read_text()), RuleSets)
    clash = run("predict", model, folder / "iris.csv", "--keep", "prediction")
    assert clash.exit_code != 0


def test_numbers_stay_numbers_unless_asked(folder):
    """Zero and one are numbers, with a hint; words among numbers are named, not made classes."""
    plain = run("fit", folder / "number.csv", "-t", "species", *QUICK)
    assert "--task classification" in plain.stderr
    assert "R2" in plain.stdout
    asked = run("fit", folder / "number.csv", "-t", "species", *QUICK, "--task", "classification")
    assert asked.stderr == ""
    assert "The log-odds of species = 1" in asked.stdout
    names = "\n".join(f"{i},name {i}" for i in range(30))
    (folder / "names.csv").write_text(f"a,y\n{names}\n")
    assert "30 different labels" in run("fit", folder / "names.csv", "-t", "y").stderr
    (folder / "mixed.csv").write_text("a,y\n1,2\n2,3\n3,many\n4,5\n")
    mixed = run("fit", folder / "mixed.csv", "-t", "y", *QUICK)
    assert mixed.exit_code != 0
    assert "many" in mixed.stderr


@pytest.mark.parametrize("command", ["frontier", "stability"])
@pytest.mark.parametrize("name", ["iris.csv", "iris.parquet"])
def test_commands_for_numbers_say_so(folder, command, name):
    """A class is not a mistake in the file: the sentence names commands that take it."""
    if name.endswith("parquet"):
        parquet = pytest.importorskip("pyarrow.parquet", reason="it is in the extra parquet")
        table = pytest.importorskip("pyarrow.csv").read_csv(folder / "iris.csv")
        parquet.write_table(table, folder / name)
    told = run(command, folder / name, "-t", "species", *QUICK)
    assert told.exit_code == 1
    assert "'species' is a class, and this command is for numbers; fit, report" in told.stderr


@pytest.mark.parametrize("command", ["frontier", "stability"])
def test_a_word_among_numbers_is_still_a_mistake(tmp_path, command):
    """Where other rows of the target have numbers, the line with the word is named."""
    path = tmp_path / "data.csv"
    path.write_text("a,y\n1,2\n2,ten\n3,4\n")
    told = run(command, path, "-t", "y", *QUICK)
    assert told.exit_code == 1
    assert "line 3: column 'y' is 'ten', which is not a number" in told.stderr
    assert "class" not in told.stderr
