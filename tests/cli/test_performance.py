"""`mossrules performance`: how good predictions are, and for whom."""

import csv
import io
import json
import re

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.metrics import r2_score, roc_auc_score

from mossrules import MossRegressor, RuleSet
from mossrules.evaluation import performance
from support.commands import run
from support.messy_files import messy_table, write_messy

mpl.use("agg")  # draw without a screen

QUICK = ("--trees", "40", "-k", "3", "--jobs", "1")
BESIDE = ("--drop", "patient", "--drop", "weight")
OF_SCORE = ("--target", "score", "--drop", "ill", "--drop", "stage")
NUMBERS = (*OF_SCORE, *BESIDE, *QUICK)
CLASSES = ("--target", "ill", "--drop", "score", "--drop", "stage", *BESIDE, *QUICK)
FEATURES = ["age", "bmi", "sex", "site"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder of messy files, and models of the first of them."""
    folder = tmp_path_factory.mktemp("performance")
    write_messy(folder)
    for name, words in (("score", NUMBERS), ("ill", CLASSES)):
        fitted = run("fit", folder / "part1.csv", *words, "--refits", "0", "-o",
                     folder / f"{name}.json")  # fmt: skip
        assert fitted.exit_code == 0
    return folder


def read(path):
    """Return the rows of a CSV file."""
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))


def test_it_prints_what_the_library_measures(folder):
    """As text and as JSON, with subgroups of words and of numbers, among them missing ones."""
    table = messy_table()
    model = MossRegressor(3, n_trees=40, n_jobs=1)
    how = {"by": ["sex", "age"], "cv": 4, "groups": table["patient"]}
    found = performance(model, table[FEATURES], table["score"], **how)
    words = ("performance", folder / "visits.csv", *OF_SCORE, *QUICK, "--drop", "weight",
             "--groups", "patient", "--by", "sex", "--by", "age", "--folds", "4")  # fmt: skip
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"{found}\n"
    assert "(missing)" in result.stdout
    assert "in 60 groups, with 95% intervals." in result.stdout
    said = json.loads(run(*words, "--json").stdout)
    assert said["rows"][0]["measures"]["r2"]["estimate"] == found["r2"].estimate
    assert [row["subgroup"] for row in said["rows"]] == [row.subgroup for row in found.rows]


def test_a_column_of_subgroups_need_not_be_a_feature(folder):
    """With --drop it is none; the measures of all rows are those without it."""
    words = ("performance", folder / "visits.csv", *NUMBERS, "--folds", "3", "--json")
    alone = json.loads(run(*words, "--drop", "sex").stdout)
    told = json.loads(run(*words, "--drop", "sex", "--by", "sex").stdout)
    kept = json.loads(run(*words, "--by", "sex").stdout)
    assert told["rows"][0] == alone["rows"][0]
    assert [row["subgroup"] for row in told["rows"][1:]] == ["female", "male", "(missing)"]
    assert kept["rows"][0]["measures"] != told["rows"][0]["measures"]


def test_a_model_is_judged_on_rows_that_are_new_to_it(folder):
    """R2 and AUC are scikit-learn's, of the model in the file; nothing is fitted."""
    table = messy_table()[120:].reset_index(drop=True)
    new = folder / "part2.csv"
    rules = RuleSet.from_json((folder / "score.json").read_text("utf-8"))
    said = run("performance", new, *NUMBERS, "--model", folder / "score.json", "--json")
    r2 = json.loads(said.stdout)["rows"][0]["measures"]["r2"]
    assert r2["estimate"] == pytest.approx(r2_score(table["score"], rules.predict(table[FEATURES])))
    assert r2["lower"] < r2["estimate"] < r2["upper"]
    chances = RuleSet.from_json((folder / "ill.json").read_text("utf-8")).predict(table[FEATURES])
    said = run("performance", new, *CLASSES, "--model", folder / "ill.json")
    auc = roc_auc_score(table["ill"] == "yes", chances)
    assert re.search(rf"AUC +{auc:.3f} \[", said.stdout)
    assert f"Performance on {len(table)} new rows, with 95% intervals." in said.stdout


def test_the_threshold_flags_rows_of_that_probability_or_more(folder):
    """Sensitivity falls and specificity rises with it, counted by hand for one."""
    table = messy_table()[120:]
    model = folder / "ill.json"
    chances = RuleSet.from_json(model.read_text("utf-8")).predict(table[FEATURES])
    ill, flagged = (table["ill"] == "yes").to_numpy(), np.asarray(chances) >= 0.3
    words = ("performance", folder / "part2.csv", *CLASSES, "--model", model, "--threshold", "0.3")
    measures = json.loads(run(*words, "--json").stdout)["rows"][0]["measures"]
    assert measures["sensitivity"]["estimate"] == pytest.approx(flagged[ill].mean())
    assert measures["specificity"]["estimate"] == pytest.approx(1 - flagged[~ill].mean())
    assert "are of flagging rows whose probability is at least 0.3." in run(*words).stdout


def test_measures_are_written_and_calibration_drawn(folder, tmp_path):
    """A line for each measure of each subgroup, and a figure; people read where they are."""
    output, plot = tmp_path / "measures.csv", tmp_path / "calibration.svg"
    result = run("performance", folder / "visits.csv", *CLASSES, "--by", "site", "--folds", "3",
                 "-o", output, "--plot", plot)  # fmt: skip
    assert result.exit_code == 0, result.stderr
    rows = read(output)
    assert {row["subgroup"] for row in rows} == {"all", "north", "east, upper"}
    assert {row["measure"] for row in rows} >= {"auc", "brier", "slope", "sensitivity"}
    assert all(float(row["lower"]) <= float(row["estimate"]) <= float(row["upper"])
               for row in rows)  # fmt: skip
    assert plot.read_text("utf-8").count("<svg") == 1
    assert result.stdout.endswith(f"Written to {output}.\nWritten to {plot}.\n")


def test_several_classes_are_judged_one_by_one(folder):
    """Each against all others."""
    result = run("performance", folder / "visits.csv", "--target", "stage", "--drop", "score",
                 "--drop", "ill", *BESIDE, *QUICK, "--folds", "3")  # fmt: skip
    for label in ("I", "II", "III"):
        assert f"stage = {label} " in result.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((*NUMBERS, "--by", "sexx"), "name one of its columns. Did you mean 'sex'?"),
        ((*NUMBERS, "--by", "patent"), "Did you mean 'patient'?"),
        ((*NUMBERS, "--by", "score"), "--by is 'score', the target:"),
        ((*NUMBERS, "--by", "patient"), "by 'patient' has 60 different values;"),
        ((*NUMBERS, "--confidence", "95"), "confidence is 95.0; pass a number between 0 and 1"),
        ((*NUMBERS, "--model", "nosuch.json"), "nosuch.json does not exist;"),
        ((*CLASSES, "--model", "score.json"), "column 'ill' is 'no', which is not a number;"),
        ((*NUMBERS, "--plot", "curve.txt"), "--plot is 'curve.txt'; end it in one of"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_told_in_a_sentence(folder, monkeypatch, words, sentence):
    """With exit status 1, and nothing printed as a result."""
    monkeypatch.chdir(folder)
    result = run("performance", "visits.csv", *words)
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert result.stdout == ""
