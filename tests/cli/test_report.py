"""The command that writes a page."""

import hashlib
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from typer.testing import CliRunner

from mossrules import MossClassifier, MossRegressor, RuleSet, cli

QUICK = ["--n-trees", "60", "--max-rules", "4", "--points", "6", "--folds", "2"]


@pytest.fixture(scope="module")
def table():
    """Return numbers with a target that is one, and one that is a class of three."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    grade = np.array(["mild", "fair", "bad"])[np.digitize(y, [100, 200])]
    return X[["bmi", "s5", "bp"]].assign(progression=y, grade=grade)


@pytest.fixture
def folder(table, tmp_path):
    """Return a folder with the table in it."""
    table.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path


def report(folder, *arguments):
    """Run the command on the table, and return what it prints."""
    paths = [str(folder / "data.csv"), "-o", str(folder / "page.html")]
    return CliRunner().invoke(cli.app, ["report", *paths, *QUICK, *arguments])


def content_of(folder):
    """Return the content within the page."""
    block = r'<script type="application/json" id="report-data">(.*?)</script>'
    return json.loads(re.search(block, (folder / "page.html").read_text(), re.DOTALL).group(1))


def test_a_page_is_that_of_the_model_that_fit_finds(table, folder):
    """Its first rule set is the model's, and it says how to make it again."""
    result = report(
        folder, "-t", "progression", "--drop", "grade", "--no-baselines", "--title", "T"
    )
    assert result.exit_code == 0, result.output
    assert "page.html" in result.output.replace("\n", "")
    content = content_of(folder)
    X = table[["bmi", "s5", "bp"]]
    model = MossRegressor(4, n_trees=60, random_state=0).fit(X, table["progression"])
    shown = content["points"][content["chosen"]]
    rules = RuleSet.from_json(shown["exports"]["json"])
    assert replace(rules, track_record=None) == model.rules_
    assert rules.track_record.to_dict() == content["track_record"]
    assert (content["title"], content["folds"], content["baselines"]) == ("T", 2, [])
    made = content["made"]
    assert made["source"] == "data.csv"
    assert made["sha256"] == hashlib.sha256((folder / "data.csv").read_bytes()).hexdigest()
    assert made["command"].startswith("mossrules report data.csv -o page.html --n-trees 60")
    assert str(folder) not in (folder / "page.html").read_text()


def test_of_several_classes_one_is_reported_on(table, folder):
    """The rules are those of that class against all others; which one has to be said."""
    asked = ["-t", "grade", "--drop", "progression", "--folds", "0"]
    missing = report(folder, *asked)
    assert missing.exit_code == 1
    assert "--outcome is missing" in missing.output
    assert "did you mean" in report(folder, *asked, "--outcome", "mid").output.lower()
    result = report(folder, *asked, "--outcome", "mild")
    assert result.exit_code == 0, result.output
    content = content_of(folder)
    X = table[["bmi", "s5", "bp"]]
    model = MossClassifier(4, n_trees=60, random_state=0).fit(X, table["grade"])
    shown = content["points"][content["chosen"]]
    rules = model.estimators_["mild"].rules_
    assert shown["weights"] == rules.weights.tolist()
    assert (content["outcome"], content["folds"]) == ("mild", None)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-t", "progression", "--folds", "1"], "--folds is 1"),
        (["-t", "progression", "--outcome", "mild"], "--outcome names a class; leave it out"),
        (["-t", "progression", "--task", "regression", "--outcome", "mild"], "target is a number"),
        (["-t", "progression", "-o", "no/such/folder/page.html"], "folder does not exist"),
    ],
)
def test_what_cannot_be_is_one_sentence(folder, arguments, words):
    """The exit is a failing one, and no page is written."""
    result = report(folder, *arguments)
    assert result.exit_code == 1
    assert words in result.output.replace("\n", " ")
    assert not (folder / "page.html").exists()
