"""How often refits found each rule, as `mossrules fit` prints and keeps it."""

import json
import re

import pytest

from mossrules import MossClassifier, MossRegressor, RuleSet
from mossrules.cli import _learning
from support.commands import run
from support.messy_files import messy_table, write_messy

QUICK = ("--trees", "40", "-k", "3", "--jobs", "1")
BESIDE = ("--drop", "patient", "--drop", "weight")
NUMBERS = ("--target", "score", "--drop", "ill", "--drop", "stage", *BESIDE, *QUICK)
CLASSES = ("--target", "ill", "--drop", "score", "--drop", "stage", *BESIDE, *QUICK)
FEATURES = ["age", "bmi", "sex", "site"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder of messy files."""
    folder = tmp_path_factory.mktemp("record")
    write_messy(folder)
    return folder


def lines_of(result):
    """Return the cells of the lines of a table, those of broken lines joined."""
    assert result.exit_code == 0, result.stderr
    rows = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in result.stdout.splitlines()
        if line.startswith("│")
    ]
    joined = []
    for row in rows:
        if row[2]:  # a weight: a rule begins
            joined.append(row)
        else:
            joined[-1][-1] += f" {row[-1]}"
    return joined


def test_twenty_refits_are_made_unless_others_are_asked_for(folder):
    """What is printed first beside each rule is how often the library's own record has it."""
    result = run("fit", folder / "visits.csv", *NUMBERS)
    table = messy_table()
    model = MossRegressor(3, n_trees=40, n_jobs=1).fit(table[FEATURES], table["score"])
    record = model.track_record(table[FEATURES], table["score"], refits=20)
    intercept, *rules = lines_of(result)
    assert intercept[:2] == ["", ""]
    assert [(row[0], row[1], row[-1]) for row in rules] == [
        (f"{each.found} of 20", str(each.near), each.rule) for each in record.rules
    ]
    assert "found │ near │" in re.sub(r" +", " ", result.stdout).replace("┃", "│")
    assert "found: in how many of 20 refits, each on a random third of the rows, the rule" in (
        result.stdout
    )
    assert "tree frequency" not in result.stdout
    common = f"have {record.recurrence.value:.0%} of their rules in common on average ("
    assert common in result.stdout


def test_refits_can_be_left_out_or_be_others(folder):
    """With 0 the table has tree frequencies as before; with 1 there is nothing to count."""
    without = run("fit", folder / "visits.csv", *NUMBERS, "--refits", "0")
    assert "refit" not in without.stdout
    assert "tree frequency ┃ rule" in without.stdout
    three = run("fit", folder / "visits.csv", *NUMBERS, "--refits", "3")
    assert all(re.fullmatch(r"[0-3] of 3", row[0]) for row in lines_of(three)[1:])
    one = run("fit", folder / "visits.csv", *NUMBERS, "--refits", "1")
    assert one.exit_code == 1
    assert one.stderr.startswith("error: --refits is 1, which shows nothing of how refits differ;")


def test_models_and_json_carry_the_record(folder, tmp_path):
    """The file of `-o`, `--json`, and each text that `--export` prints."""
    kept = tmp_path / "model.json"
    words = ("fit", folder / "visits.csv", *NUMBERS, "--refits", "4")
    said = json.loads(run(*words, "--json", "-o", kept).stdout)
    rules = RuleSet.from_json(kept.read_text("utf-8"))
    record = rules.track_record
    assert record.refits == 4
    assert said["model"] == json.loads(rules.to_json())
    assert [each["found"] for each in said["model"]["track_record"]["rules"]] == [
        each.found for each in record.rules
    ]
    for form in ("text", "markdown", "latex"):
        text = run(*words, "--export", form).stdout
        for each in record.rules:
            assert f"{each.found} of 4" in text
        assert re.search(r"\bfound\W+near\W+effect\b", text)
    assert rules.proportion.min() > 0  # tree frequencies stay in the details


def test_of_classes_the_record_is_that_of_each(folder):
    """Two have one record, three have three; people are told how many rows change side."""
    two = run("fit", folder / "visits.csv", *CLASSES, "--refits", "3")
    assert [row[0][1:] for row in lines_of(two)[1:]] == [" of 3"] * 3
    assert "of the rows are on the other side of 0.5 in at least a tenth of the refits." in (
        two.stdout
    )
    three = run("fit", folder / "visits.csv", "--target", "stage", "--drop", "score",
                "--drop", "ill", *BESIDE, *QUICK, "--refits", "2")  # fmt: skip
    table = messy_table()
    model = MossClassifier(3, n_trees=40, n_jobs=1).fit(table[FEATURES], table["stage"])
    records = model.track_record(table[FEATURES], table["stage"], refits=2)
    found = [row[0] for row in lines_of(three) if row[0]]
    assert found == [
        f"{each.found} of 2" for label in ("I", "II", "III") for each in records[label].rules
    ]


def test_refits_of_files_are_those_of_memory(folder):
    """Parquet, and a pattern of CSV files, give the same lines."""
    words = [*NUMBERS, "--refits", "3"]
    of_csv = lines_of(run("fit", folder / "visits.csv", *words))
    assert lines_of(run("fit", folder / "visits.parquet", *words)) == of_csv
    assert lines_of(run("fit", f"{folder}/part*.csv", *words)) == of_csv


def test_of_a_large_table_nobody_waits_for_refits_they_did_not_ask_for(folder, monkeypatch):
    """People are told how to have them; asked for, they are made."""
    monkeypatch.setattr(_learning, "LARGE", 100)
    quiet = run("fit", folder / "visits.csv", *NUMBERS)
    assert "so the analysis was not repeated; add --refits 20 to see" in quiet.stderr
    assert "refit" not in quiet.stdout
    asked = run("fit", folder / "visits.csv", *NUMBERS, "--refits", "2")
    assert "of 2 refits" in asked.stdout


def test_what_stands_against_refits_is_told_and_ends_only_those_that_were_asked_for(folder):
    """Too few rows for a third of them: a model and a sentence, or an error."""
    few = folder / "few.csv"
    messy_table()[:5].to_csv(few, index=False)
    quiet = run("fit", few, *NUMBERS)
    assert quiet.exit_code == 0
    assert quiet.stderr.startswith("The analysis was not repeated. There are 5 rows, of which")
    assert quiet.stdout.startswith("Predicted score is the intercept plus")
    asked = run("fit", few, *NUMBERS, "--refits", "5")
    assert asked.exit_code == 1
    assert asked.stderr.startswith("error: There are 5 rows, of which a share of 0.333 is less")
