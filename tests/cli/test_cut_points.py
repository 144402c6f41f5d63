"""`--cuts` and `--cuts-from`: on every command that fits, as in Python."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from mossrules import MossRegressor, cli

runner = CliRunner()
FEW = ["--n-trees", "50", "--jobs", "1"]
ONCE = ["--refits", "0"]
rng = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "age": rng.integers(18, 91, 200).astype(float),
        "a=b": np.round(rng.normal(27.0, 5.0, 200), 1),
    }
)
TABLE["y"] = 10.0 * (TABLE["age"] >= 65) + (TABLE["a=b"] > 25) + rng.normal(size=200)


@pytest.fixture
def data(tmp_path):
    """Return a file of some people."""
    path = tmp_path / "people.csv"
    TABLE.to_csv(path, index=False)
    return path


def run(command, data, *options):
    """Run a command on the file."""
    return runner.invoke(cli.app, [command, str(data), "--target", "y", *FEW, *options])


def test_fit_cuts_where_it_is_told(data):
    """It is the model of Python; an equals sign in a name is no trouble."""
    result = run("fit", data, "--json", "--cuts", "age=40, <65", "--cuts", "a=b=>=25,30", *ONCE)
    expected = MossRegressor(
        cuts={"age": [40, "<65"], "a=b": [">=25", 30]}, n_trees=50, random_state=0, n_jobs=1
    ).fit(TABLE.drop(columns="y"), TABLE["y"])
    assert json.loads(result.stdout)["model"] == json.loads(expected.rules_.to_json())
    assert any("age >= 65" in text for text in json.loads(result.stdout)["texts"])


@pytest.mark.parametrize("rule", ["round", "quantile"])
def test_a_word_is_for_all_columns(data, rule):
    """`--cuts round` is `cuts="round"`."""
    result = run("fit", data, "--json", "--cuts", rule, *ONCE)
    expected = MossRegressor(cuts=rule, n_trees=50, random_state=0, n_jobs=1)
    expected.fit(TABLE.drop(columns="y"), TABLE["y"])
    assert json.loads(result.stdout)["model"] == json.loads(expected.rules_.to_json())


def test_new_data_are_cut_as_those_of_an_earlier_model(data, tmp_path):
    """`--cuts-from` takes what `fit -o` wrote."""
    model = tmp_path / "model.json"
    assert run("fit", data, "-o", str(model), "--cuts", "age=<65").exit_code == 0
    found = json.loads(run("fit", data, "--json", "--cuts-from", str(model)).stdout)["model"]
    cuts = {feature["name"]: feature["cuts"] for feature in found["features"]}
    assert cuts["age"] == [64.99999999999999]


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("frontier", ["--points", "2"]),
        ("stability", ["--folds", "2"]),
        ("compare", ["--folds", "2", "--method", "MOSS-H", "--method", "SIRUS"]),
        ("report", ["--folds", "0", "--points", "2", "--no-baselines"]),
    ],
)
def test_every_command_that_fits_takes_cuts(data, tmp_path, command, more):
    """They reach the rules that are shown."""
    page = tmp_path / "page.html"
    options = [*more, "--cuts", "age=<65", "--cuts", "a=b=25"]
    options += ["-o", str(page)] if command == "report" else ["--json"]
    result = run(command, data, *options)
    assert result.exit_code == 0, result.output
    if command == "report":
        assert "age >= 65" in page.read_text(encoding="utf-8").replace("&gt;", ">")
    if command == "stability":
        assert "age >= 65" in result.stdout or "age < 65" in result.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--cuts", "rounds"], "--cuts is 'rounds'; write a column and its cut points"),
        (["--cuts", "round", "--cuts", "age=40"], "--cuts is 'round'; write a column"),
        (["--cuts", "agee=40"], "cuts names 'agee', which is not a column. Did you mean 'age'?"),
        (["--cuts", "age=40", "--cuts", "age=65"], "--cuts has 'age' twice"),
        (["--cuts", "age=65,40"], "cuts has '65' before '40' for 'age'"),
        (["--cuts", "age=old"], "cuts has 'old' for 'age', which is no cut point"),
        (["--cuts", "age=200"], "which separates no rows"),
        (["--cuts", "age=40", "--cuts-from", "x.json"], "both say where to cut"),
        (["--cuts-from", "nowhere.json"], "nowhere.json does not exist"),
    ],
)
def test_mistakes_are_one_sentence(data, options, words):
    """What was wrong and what to do."""
    result = run("fit", data, *options)
    assert result.exit_code != 0
    assert words in result.stderr
