"""Columns of groups and of weights on the command line: no features, and respected everywhere."""

import json
import re

import numpy as np
import pytest

from mossrules import MossRegressor, RuleSet
from mossrules.evaluation import evaluate
from support.commands import run
from support.messy_files import messy_table, write_messy

QUICK = ("--trees", "40", "-k", "3", "--jobs", "1")
NUMBERS = ("--target", "score", "--drop", "ill", "--drop", "stage", *QUICK)
BOTH = ("--groups", "patient", "--weights", "weight")
FEATURES = ["age", "bmi", "sex", "site"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder of messy files."""
    folder = tmp_path_factory.mktemp("groups")
    write_messy(folder)
    return folder


@pytest.fixture(scope="module")
def table():
    """Return the table that is in the files."""
    return messy_table()


def test_neither_column_is_a_feature_and_the_model_is_that_of_the_library(folder, table):
    """Groups and weights reach the fit and its refits; people read of both."""
    words = ("fit", folder / "visits.csv", *NUMBERS, *BOTH, "--refits", "4")
    beside = {"sample_weight": table["weight"], "groups": table["patient"]}
    model = MossRegressor(3, n_trees=40, n_jobs=1)
    model.fit(table[FEATURES], table["score"], **beside)
    model.track_record(table[FEATURES], table["score"], refits=4, **beside)
    said = json.loads(run(*words, "--json").stdout)
    assert said["model"] == json.loads(model.rules_.to_json())
    n_groups = table["patient"].nunique()
    assert said["model"]["track_record"]["groups"] == n_groups
    text = run(*words).stdout
    assert f"on the {len(table)} training rows, weighted by weight, in {n_groups} groups" in text
    assert "each on a random third of the groups" in text
    score = model.score(table[FEATURES], table["score"], table["weight"])
    assert said["r2_training"] == pytest.approx(score)


def test_labels_of_groups_are_names_whatever_they_look_like(folder, table):
    """Patients called 1, 2, 3 are groups as those called P1, P2, P3 are."""
    numbered = folder / "numbered.csv"
    table.assign(patient=table["patient"].str[1:].astype(int)).to_csv(numbered, index=False)
    words = (*NUMBERS, *BOTH, "--refits", "3")
    assert (
        run("fit", numbered, *words).stdout.split("Optimal")[0]
        == (run("fit", folder / "visits.csv", *words).stdout.split("Optimal")[0])
    )


def test_files_read_part_by_part_have_the_same_model(folder):
    """Parquet, and a pattern of files in which a patient may be in two of them."""
    words = (*NUMBERS, *BOTH, "--refits", "3", "--export", "markdown")
    texts = [run("fit", folder / name, *words) for name in
             ("visits.csv", "visits.parquet", "part*.csv")]  # fmt: skip
    assert [each.exit_code for each in texts] == [0, 0, 0]
    assert texts[0].stdout == texts[1].stdout == texts[2].stdout


def test_folds_of_compare_and_stability_keep_patients_together(folder, table):
    """What they print is what `evaluate` finds with the same groups and weights."""
    method = MossRegressor(3, n_trees=40, gap=0.01)
    beside = {"sample_weight": table["weight"], "groups": table["patient"]}
    found = evaluate({"MOSS": method}, table[FEATURES], table["score"], cv=4, **beside)
    words = (folder / "visits.csv", *NUMBERS, *BOTH, "--folds", "4", "--json")
    compared = json.loads(run("compare", *words, "--method", "MOSS").stdout)
    again = json.loads(run("stability", *words).stdout)
    summary = found.summaries[0]
    assert compared["methods"][0]["r2"] == pytest.approx(summary.r2)
    assert again["r2"] == pytest.approx(summary.r2)
    assert again["measures"]["dice"]["estimate"] == pytest.approx(summary.dice.estimate)
    without = [each for each in words if each not in BOTH] + ["--drop", "patient",
                                                               "--drop", "weight"]  # fmt: skip
    apart = json.loads(run("stability", *without).stdout)
    assert apart["r2"] != pytest.approx(summary.r2)


def test_every_command_that_learns_takes_both(folder, tmp_path):
    """Trust table, frontier, performance and report: none of them uses the columns in a rule."""
    words = (folder / "visits.csv", *NUMBERS, *BOTH)
    runs = [
        run("compare", *words, "--trust", "--refits", "2", "--seeds", "0", "--method", "MOSS"),
        run("frontier", *words, "--points", "2", "-o", tmp_path / "frontier.json"),
        run("performance", *words, "--folds", "3"),
        run("report", *words, "--folds", "0", "--points", "2", "--no-baselines", "--refits", "3",
            "-o", tmp_path / "page.html"),
    ]  # fmt: skip
    assert [each.exit_code for each in runs] == [0] * 4, [each.stderr for each in runs]
    page = (tmp_path / "page.html").read_text("utf-8")
    block = r'<script type="application/json" id="report-data">(.*?)</script>'
    content = json.loads(re.search(block, page, re.DOTALL).group(1))
    assert [each["name"] for each in content["data"]["columns"]] == FEATURES
    assert content["data"]["groups"] == content["track_record"]["groups"] == 60
    rows, times = content["data"]["rows"], content["data"]["repetitions"]
    assert f"learned from {rows} rows of data, which count as {times} by their weights, in 60" in (
        page
    )


def test_a_weight_of_two_is_the_row_twice_and_of_zero_none(folder, table):
    """The model of weights is that of the rows so often, which `performance` says."""
    often = folder / "often.csv"
    times = table["weight"].astype(int)
    table.loc[np.repeat(table.index, times)].to_csv(often, index=False)
    words = (*NUMBERS, "--refits", "0", "--json", "--drop", "patient")
    weighted = json.loads(run("fit", folder / "visits.csv", *words, "--weights", "weight").stdout)
    repeated = json.loads(run("fit", often, *words, "--drop", "weight").stdout)
    assert RuleSet.from_json(json.dumps(weighted["model"])) == (
        RuleSet.from_json(json.dumps(repeated["model"]))
    )
    said = run("performance", folder / "visits.csv", *NUMBERS, *BOTH, "--folds", "3").stdout
    assert f"{(times > 0).sum()} rows of the table stand for {times.sum()}." in said


@pytest.mark.parametrize("command", ["fit", "performance", "compare"])
@pytest.mark.parametrize(
    ("file", "options", "sentence"),
    [
        ("negative", BOTH, "weight has negative values; weights must be zero or more."),
        ("unweighted", BOTH, "weight has 1 missing or infinite value (NaN or inf);"),
        ("word", BOTH, "word.csv, line 2: column 'weight' is 'two', which is not a number;"),
        ("nothing", BOTH, "weight is zero on all rows; let some of them count."),
        ("nobody", BOTH, "patient is missing on 1 row (None or NaN); give each row the label"),
        ("alone", BOTH, "patient has a single group, so that draws and folds would take all"),
        ("visits", ("--groups", "patent"), "of its columns. Did you mean 'patient'?"),
        ("visits", ("--weights", "wieght"), "no column 'wieght'; check the names of its columns."),
        ("visits", ("--groups", "sex", "--weights", "sex"),
         "--weights and --groups are both the column 'sex'; name another for one of them."),
        ("visits", ("--groups", "score"), "--groups and --target are both the column 'score';"),
        ("visits", ("--groups", "patient", "--drop", "patient"),
         "Column 'patient' is dropped and used; do one of the two."),
        ("visits", ("--weights", "weight", "--categorical", "weight"),
         "The weights 'weight' are numbers and cannot be categorical;"),
        ("visits", (*BOTH, "--never-use", "patient"),
         "--never-use is 'patient', which is not a feature of the file;"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence(folder, command, file, options, sentence):
    """It names the column, whatever the command."""
    result = run(command, folder / f"{file}.csv", *NUMBERS, *options)
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_folds_are_no_more_than_groups(folder):
    """With few groups the remedy is said."""
    result = run("performance", folder / "visits.csv", *NUMBERS, "--drop", "patient",
                 "--groups", "site", "--drop", "weight")  # fmt: skip
    assert result.exit_code == 1
    assert "2 groups make 2 folds" in result.stderr
