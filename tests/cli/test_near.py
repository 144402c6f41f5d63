"""Staying near an approved model on the command line: `--near`, `--keep` and `--price`."""

import json

import pytest

from mossrules import MossRegressor, RuleSet
from support.commands import run
from support.messy_files import messy_table, write_messy

QUICK = ("--trees", "40", "-k", "4", "--jobs", "1", "--refits", "0")
BESIDE = ("--drop", "patient", "--drop", "weight")
NUMBERS = ("--target", "score", "--drop", "ill", "--drop", "stage", *BESIDE, *QUICK)
CLASSES = ("--target", "ill", "--drop", "score", "--drop", "stage", *BESIDE, *QUICK)
FEATURES = ["age", "bmi", "sex", "site"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder of messy files, and approved models of the first half of the rows."""
    folder = tmp_path_factory.mktemp("near")
    write_messy(folder)
    for name, words in (("score", NUMBERS), ("ill", CLASSES)):
        fitted = run("fit", folder / "part1.csv", *words, "-o", folder / f"{name}.json")
        assert fitted.exit_code == 0
    return folder


def rules_of(path):
    """Return the rules of a file as they are printed."""
    return RuleSet.from_json(path.read_text("utf-8")).texts


@pytest.mark.parametrize(("keep", "least"), [(None, 4), ("0.5", 2), ("1", 4), ("0.1", 1)])
def test_that_share_of_the_approved_rules_is_kept(folder, tmp_path, keep, least):
    """Rounded up to a whole number, counted in the file; a sentence says which are left out."""
    output = tmp_path / "near.json"
    share = () if keep is None else ("--keep", keep)
    result = run("fit", folder / "part2.csv", *NUMBERS, "--near", folder / "score.json", *share,
                 "-o", output)  # fmt: skip
    assert result.exit_code == 0, result.stderr
    approved, table = rules_of(folder / "score.json"), messy_table()[120:]
    model = MossRegressor(4, n_trees=40, n_jobs=1, near=folder / "score.json",
                          **({} if keep is None else {"keep": float(keep)}))  # fmt: skip
    model.fit(table[FEATURES], table["score"])
    assert output.read_text("utf-8") == f"{model.rules_.to_json()}\n"
    kept = set(approved) & set(rules_of(output))
    assert len(kept) >= least
    sentence = model.fitted_.near_sentence
    assert sentence in result.stdout
    assert f"{len(kept)} of the {len(approved)} approved rules" in sentence
    assert f"kept; at least {least} " in sentence
    for text in set(approved) - kept:
        assert text in sentence


def test_the_price_has_a_line_for_each_number_of_rules_kept(folder):
    """The loss does not fall with what is kept; JSON has the same figures."""
    words = ("fit", folder / "part2.csv", *NUMBERS, "--near", folder / "score.json", "--price")
    said = json.loads(run(*words, "--json").stdout)
    price = said["price"]
    assert price["kept"] == sorted(price["kept"], reverse=True)
    assert price["kept"][0] == 4
    assert price["loss"] == sorted(price["loss"], reverse=True)
    text = run(*words).stdout
    assert "What it costs to keep more of the approved rules:" in text
    for kept, fit in zip(price["kept"], price["fit"], strict=True):
        assert f"{kept} of 4" in text
        assert f"{fit:.4f}" in text
    assert "Proven: no rule set that keeps as many fits more than" in text


def test_of_classes_too(folder):
    """The approved model predicts the same class."""
    result = run("fit", folder / "part2.csv", *CLASSES, "--near", folder / "ill.json", "--json")
    said = json.loads(result.stdout)
    assert said["near"].startswith("4 of the 4 approved rules are kept;")
    assert set(rules_of(folder / "ill.json")) <= set(said["texts"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((*NUMBERS, "--keep", "0.8"), "--keep is the share of the rules of an approved model;"),
        ((*NUMBERS, "--near", "score.json", "--keep", "80"), "keep is 80.0; pass the share of"),
        ((*NUMBERS, "--near", "score.json", "--keep", "0"), "keep is 0.0; pass"),
        ((*NUMBERS, "--price"), "--price is that of keeping approved rules; name them by --near."),
        ((*NUMBERS, "--near", "nosuch.json"), "nosuch.json does not exist; write a model with fit"),
        ((*NUMBERS, "--near", "part1.csv"), "part1.csv holds no model."),
        ((*CLASSES, "--near", "score.json"), "near predicts a number, and this model a class;"),
        ((*NUMBERS, "--near", "score.json", "--drop", "age"), "'age'"),
    ],
)
def test_what_cannot_be_kept_is_told_in_a_sentence(folder, monkeypatch, words, sentence):
    """With exit status 1, and nothing printed as a result."""
    monkeypatch.chdir(folder)
    result = run("fit", "part2.csv", *words)
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert result.stdout == ""
