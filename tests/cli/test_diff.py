"""`mossrules diff`: two rule sets side by side on the command line."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from mossrules import MossClassifier, MossRegressor, compare_rule_sets
from support.commands import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a table, and rule sets of its halves, of numbers and of classes."""
    folder = tmp_path_factory.mktemp("diff")
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X["sex"] = X["sex"].map({1.0: "0", 2.0: "1"})  # labels that look like numbers
    table = X.assign(score=y, kind=np.select([y < 100, y < 180], ["low", "mid"], "high"))
    table.to_csv(folder / "all.csv", index=False)
    table.to_csv(folder / "semicolons.csv", index=False, sep=";")
    table.to_parquet(folder / "all.parquet")
    for name, half in (("old", 0), ("new", 1)):
        models = {"score": MossRegressor(4, n_trees=40), "kind": MossClassifier(4, n_trees=40)}
        for target, model in models.items():
            rules = model.fit(X[half::2], table[target][half::2]).rules_
            (folder / f"{name}-{target}.json").write_text(rules.to_json(), encoding="utf-8")
    return folder


@pytest.mark.parametrize("target", ["score", "kind"])
@pytest.mark.parametrize("data", [None, "all.csv", "all.parquet"])
def test_it_prints_what_the_library_finds(folder, target, data):
    """As text, as Markdown and as JSON; that rules differ is no error."""
    files = [folder / f"{side}-{target}.json" for side in ("old", "new")]
    rows = [] if data is None else [folder / data]
    found = compare_rule_sets(*files, *rows)
    for option, wanted in (("", found.to_text()), ("--markdown", found.to_markdown()),
                           ("--json", found.to_json())):  # fmt: skip
        result = run("diff", *files, *rows, *([option] if option else []))
        assert result.exit_code == 0
        assert result.stdout == f"{wanted}\n"
    assert found.names == (f"old-{target}.json", f"new-{target}.json")
    assert (found.rows is None) == (data is None)


def test_a_page_is_written_beside_the_text(folder, tmp_path):
    """With --html; the text says where it is."""
    files = [folder / f"{side}-score.json" for side in ("old", "new")]
    page = tmp_path / "page.html"
    result = run("diff", *files, folder / "all.csv", "--html", page)
    found = compare_rule_sets(*files, folder / "all.csv")
    assert page.read_text(encoding="utf-8") == found.to_html()
    assert result.stdout.endswith(f"\nWritten to {page}; open it in a browser.\n")
    quiet = run("diff", *files, "--json", "--html", page)
    assert json.loads(quiet.stdout)["rows"] is None


def test_delimiter_and_effect_change_are_passed_on(folder):
    """Other separators, and another change of effects to tell of."""
    files = [folder / f"{side}-score.json" for side in ("old", "new")]
    one = run("diff", *files, folder / "semicolons.csv", "--delimiter", ";", "--json")
    assert json.loads(one.stdout) == json.loads(
        run("diff", *files, folder / "all.csv", "--json").stdout
    )
    strict = json.loads(run("diff", *files, "--effect-change", "0", "--json").stdout)
    pairs = strict["outcomes"][0]["pairs"]
    assert pairs
    assert all(pair["effect_changed"] for pair in pairs)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["old-score.json", "new-kind.json"],
         "error: old-score.json predicts a number and new-kind.json the probability of a class;"),
        (["old-score.json", "nosuch.json"], "nosuch.json does not exist; write a model with fit"),
        (["old-score.json", "new-score.json", "nosuch.csv"], "nosuch.csv does not exist"),
        (["old-score.json", "all.csv"], "all.csv holds no model."),
        (["old-score.json", "new-score.json", "--json", "--markdown"], "choose one."),
        (["old-score.json", "new-score.json", "--effect-change", "-1"], "--effect-change is -1;"),
        (["old-score.json", "new-score.json", "--delimiter", ";"],
         "error: Options that say how a file is read are of one with data;"),
        (["old-score.json", "new-score.json", "--html", "nosuch/page.html"], "its folder does not"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_told_in_a_sentence(folder, monkeypatch, words, sentence):
    """With exit status 1, and nothing printed as a result."""
    monkeypatch.chdir(folder)
    result = run("diff", *words)
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert result.stdout == ""
