"""`mossrules fit --proof` and `mossrules verify`: a proof on the command line."""

import json

import pytest
from sklearn.datasets import load_diabetes

from support.commands import run

FIT = ("-t", "y", "--max-rules", "4", "--n-trees", "100", "--refits", "0")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a table, a model of it and the proof of that."""
    folder = tmp_path_factory.mktemp("verify")
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X.assign(y=y).to_csv(folder / "all.csv", index=False)
    X.assign(y=y)[::2].to_csv(folder / "half.csv", index=False)
    X.assign(y=y > 140).to_csv(folder / "classes.csv", index=False)
    proof = ("-o", folder / "model.json", "--proof", folder / "proof.gz")
    result = run("fit", folder / "all.csv", *FIT, *proof)
    assert result.exit_code == 0, result.stderr
    assert "Written to" in result.stdout
    assert run("fit", folder / "half.csv", *FIT, "-o", folder / "half.json").exit_code == 0
    return folder


def test_a_proof_is_checked_with_its_model(folder):
    """In words and as JSON; the model of other rows is not the one that was proven."""
    result = run("verify", folder / "proof.gz", folder / "model.json")
    assert result.exit_code == 0, result.stderr
    assert "no loss is below" in result.stdout
    assert "All rules of model.json" in result.stdout
    content = json.loads(run("verify", folder / "proof.gz", "--exact", "--json").stdout)
    assert content["proven"]
    assert content["exact"]
    assert content["claims"][0]["bound"] <= content["claims"][0]["loss"]
    other = run("verify", folder / "proof.gz", folder / "half.json")
    assert other.exit_code == 1
    assert "is none of the rule set" in other.stderr


def test_rows_say_whether_a_proof_is_of_them(folder):
    """The same rows and options give the same numbers, others give others."""
    same = run("fit", folder / "all.csv", *FIT, "--check-proof", folder / "proof.gz")
    assert same.exit_code == 0, same.stderr
    assert "proof of the numbers that these rows give" in same.stdout
    other = run("fit", folder / "half.csv", *FIT, "--check-proof", folder / "proof.gz")
    assert other.exit_code == 1
    assert "another problem" in other.stderr


def test_what_is_no_proof_is_refused_in_one_sentence(folder):
    """Neither files of other kinds nor models of classes have one."""
    for name in ("model.json", "missing.gz"):
        result = run("verify", folder / name)
        assert result.exit_code == 1
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
    classes = run("fit", folder / "classes.csv", *FIT, "--proof", folder / "no.gz")
    assert classes.exit_code == 1
    assert "numbers only" in classes.stderr
    assert not (folder / "no.gz").exists()
