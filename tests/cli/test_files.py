"""The commands that read files: fit, predict and frontier."""

import csv
import io
import json
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score

from mossrules import Frontier, MossRegressor, RuleSet, defaults
from mossrules.cli import _output
from support.commands import run

QUICK = ["--n-trees", "40", "--max-rules", "4"]
REFITS = 6


@pytest.fixture(scope="module")
def table():
    """Return a table with an identifier, a category and missing values, and its target."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X["sex"] = X["sex"].map({1.0: "female", 2.0: "male"})
    X.loc[::7, "bmi"] = np.nan
    return X.assign(**{"patient id": np.arange(len(y)), "progression": y})


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    """Return a folder with the table in several formats, and a model of it."""
    folder = tmp_path_factory.mktemp("cli")
    table.to_csv(folder / "data.csv", index=False)
    table.to_csv(folder / "data.csv.gz", index=False)
    table.to_parquet(folder / "data.parquet")
    table.iloc[:200].to_parquet(folder / "part1.parquet", row_group_size=30)
    table.iloc[200:].to_parquet(folder / "part2.parquet")
    result = fit(folder / "data.csv", "-o", folder / "model.json")
    assert result.exit_code == 0
    return folder


def fit(data, *arguments):
    """Fit a small model to a file."""
    words = ("--target", "progression", "--drop", "patient id", *QUICK, "--refits", REFITS)
    return run("fit", data, *words, *arguments)


@pytest.fixture(scope="module")
def expected(table):
    """Return the model that the library fits to the same table, with its refits."""
    X = table.drop(columns=["patient id"])
    model = MossRegressor(4, n_trees=40, random_state=0).fit(X, "progression")
    model.track_record(X, "progression", refits=REFITS)
    return model


# --- fit ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz", "data.parquet", "part*.parquet"])
def test_fit_is_the_fit_of_the_library(folder, expected, name):
    """Every format gives the model that the estimator gives, bit for bit."""
    result = fit(folder / name, "--json")
    content = json.loads(result.stdout)
    assert result.stderr == ""
    assert content["model"] == json.loads(expected.rules_.to_json())
    assert content["texts"] == expected.rules_.texts
    assert content["solution"]["status"] == "optimal"
    assert content["solution"]["loss"] == expected.solution_.loss
    assert content["rows"] == 442
    assert content["candidates"] == len(expected.pool_)


def test_fit_prints_rules_certificate_and_score(folder, expected, table, monkeypatch):
    """A person sees how often each rule was found, how good the choice is, and R2 in training."""
    monkeypatch.setenv("COLUMNS", "240")  # so that no rule is on two lines
    result = fit(folder / "data.csv")
    assert result.exit_code == 0
    lines = " ".join(result.stdout.split())
    words = " ".join(result.stdout.replace("│", " ").split())  # long rules take several lines
    for each in expected.rules_.track_record.rules:
        assert f"{each.found} of {REFITS} │ {each.near} │ {each.effect:+.2f}" in lines
        assert each.rule in words
    assert "Optimal: proven to within" in result.stdout
    r2 = r2_score(table["progression"], expected.predict(table.drop(columns="patient id")))
    assert f"R2 {r2:.3f} on the 442 training rows" in result.stdout


def test_fit_keeps_the_model(folder, expected):
    """The file is the rule set, which the library reads."""
    kept = RuleSet.from_json((folder / "model.json").read_text())
    assert kept.to_json() == expected.rules_.to_json()


@pytest.mark.parametrize(
    ("form", "method"),
    [("text", "to_text"), ("markdown", "to_markdown"), ("latex", "to_latex"), ("sql", "to_sql"),
     ("python", "to_python")],
)  # fmt: skip
def test_exports_are_printed_and_nothing_else(folder, expected, form, method):
    """What is printed is the export, down to the line break at its end."""
    result = fit(folder / "data.csv", "--export", form)
    assert result.stdout == getattr(expected.rules_, method)().rstrip("\n") + "\n"


def test_an_exported_program_predicts(folder, expected, table):
    """The SQL that is printed gives the predictions of the model."""
    sql = fit(folder / "data.parquet", "--export", "sql").stdout
    found = duckdb.sql(f"SELECT {sql} AS p FROM '{folder / 'data.parquet'}'").fetchnumpy()["p"]  # noqa: S608
    np.testing.assert_allclose(found, expected.predict(table.drop(columns="patient id")))


def test_options_reach_the_model(folder, table):
    """Each option is the parameter of the same name."""
    result = fit(
        folder / "data.csv", "--json", "--stability", "0.7", "--gamma", "0.02", "--ties", "drop",
        "--max-depth", "1", "--n-bins", "5", "--max-features", "0.5", "--gap", "0.02", "--seed",
        "3", "--jobs", "1", "--time-limit", "30", "--categorical", "age", "--refits", "0",
    )  # fmt: skip
    X = table.drop(columns="patient id").assign(age=lambda each: each["age"].map("{:.1f}".format))
    model = MossRegressor(
        4, n_trees=40, stability=0.7, gamma=0.02, ties="drop", max_depth=1, n_bins=5,
        max_features=0.5, gap=0.02, random_state=3,
    ).fit(X, "progression")  # fmt: skip
    assert json.loads(result.stdout)["model"] == json.loads(model.rules_.to_json())


def test_a_search_that_runs_out_of_time_says_so(folder):
    """The certificate tells the gap that is left, for people and for machines."""
    hard = ["--paper", "--stability", "0.5", "--gamma", "10", "--gap", "0", "--time-limit", "0.05"]
    hard += ["--max-rules", "15", "--n-trees", "200", "--refits", "0"]
    result = fit(folder / "data.csv", *hard)
    assert result.exit_code == 0
    assert "Not proven: time limit after" in result.stdout
    assert json.loads(fit(folder / "data.csv", "--json", *hard).stdout)["solution"]["gap"] > 0
    low = fit(folder / "data.csv", "--paper", "--stability", "low", "--refits", "0").stdout
    assert "Heuristic: found by coordinate-descent" in low


def test_the_stability_can_be_left_to_cross_validation(folder, table):
    """With 'auto' the share that was chosen is told, with R2 on other rows."""
    few = ["--n-trees", "15", "--max-depth", "1", "-k", "3", "--stability", "auto"]
    few += ["--refits", "0"]
    content = json.loads(fit(folder / "data.csv", "--json", *few).stdout)
    X = table.drop(columns="patient id")
    model = MossRegressor(3, n_trees=15, max_depth=1, stability="auto").fit(X, "progression")
    assert content["model"] == json.loads(model.rules_.to_json())
    assert content["chosen_share"] == model.evaluation_.choose().share
    assert content["r2_test"] == model.evaluation_.choose().r2
    shown = fit(folder / "data.csv", *few).stdout
    assert f"cross-validation: {content['chosen_share']:.0%} of the largest" in shown


def test_hostile_names_are_printed_as_they_are(tmp_path):
    """Markup, right-to-left text and line breaks in names break neither table nor error."""
    x = np.arange(60.0)
    name = "[bold]a\u202e\n[/]"
    pd.DataFrame({name: x, "[red]": x % 7, "y": x > 30}).to_csv(tmp_path / "h.csv", index=False)
    words = ["-t", "y", "--n-trees", "20", "-k", "2", "--refits", "0"]  # so that no rule is broken
    result = run("fit", tmp_path / "h.csv", *words, "--anyway")  # x alone explains y
    assert r"[bold]a\u202e\n[/] >" in " ".join(result.stdout.split())
    wrong = run("fit", tmp_path / "h.csv", "-t", "[red")
    assert "Did you mean '[red]'?" in wrong.stderr


def test_a_constant_target_is_its_mean(tmp_path):
    """Where there is nothing to find, the model is printed all the same, and it predicts."""
    path, model = tmp_path / "c.csv", tmp_path / "m.json"
    path.write_text("a,y\n1,5\n2,5\n3,5\n")
    result = run("fit", path, "-t", "y", "-o", model)
    assert "+5.000" in result.stdout
    assert run("predict", model, path).stdout == "prediction\n5.0\n5.0\n5.0\n"
    assert len(json.loads(run("frontier", path, "-t", "y", "--json").stdout)["points"]) == 1


# --- predict --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz", "data.parquet"])
def test_predictions_are_those_of_the_library(folder, expected, table, name):
    """One prediction for each row, bit for bit, with the columns that were asked for."""
    result = run("predict", folder / "model.json", folder / name, "--keep", "patient id")
    header, *rows = csv.reader(io.StringIO(result.stdout))
    assert header == ["patient id", "prediction"]
    assert [int(key) for key, _ in rows] == list(range(442))
    predictions = expected.predict(table.drop(columns="patient id"))
    assert [float(value) for _, value in rows] == predictions.tolist()


def test_predictions_can_be_written(folder, expected, table, tmp_path):
    """With -o nothing is printed; --json prints columns."""
    path = tmp_path / "out.csv"
    result = run("predict", folder / "model.json", folder / "data.csv", "-o", path)
    assert result.stdout == ""
    predictions = expected.predict(table.drop(columns="patient id")).tolist()
    assert pd.read_csv(path)["prediction"].tolist() == pytest.approx(predictions)
    printed = run("predict", folder / "model.json", folder / "data.csv", "--json", "--keep", "sex")
    content = json.loads(printed.stdout)
    assert content["prediction"] == predictions
    assert content["sex"] == table["sex"].tolist()


def test_a_row_is_explained(folder, expected, table):
    """--explain shows what the library shows for that row, the first being 1."""
    X = table.drop(columns="patient id")
    for row in (1, 8, 442):
        found = run("predict", folder / "model.json", folder / "data.csv", "--explain", row)
        assert found.stdout == f"{expected.rules_.explain(X.iloc[row - 1])!r}\n"
    result = run(
        "predict", folder / "model.json", folder / "data.parquet", "--explain", 8, "--json"
    )
    content = json.loads(result.stdout)
    assert content["prediction"] == expected.predict(X)[7]
    parts = sum(rule["contribution"] for rule in content["rules"])
    assert content["intercept"] + parts == pytest.approx(content["prediction"])


def test_columns_have_the_types_of_training(tmp_path):
    """Codes that happen to look like numbers in a later file are still codes."""
    rng = np.random.default_rng(0)
    code = rng.choice(["1", "2", "b"], 90)
    table = pd.DataFrame({"code": code, "y": (code == "1") + rng.normal(size=90) / 10})
    table.to_csv(tmp_path / "train.csv", index=False)
    run("fit", tmp_path / "train.csv", "-t", "y", "-o", tmp_path / "m.json", "--n-trees", "20")
    (tmp_path / "later.csv").write_text("note,code\nfree text,1\n,2\n")
    result = run("predict", tmp_path / "m.json", tmp_path / "later.csv")
    first, second = map(float, result.stdout.splitlines()[1:])
    assert first > second + 0.5


# --- frontier -------------------------------------------------------------------------------------


def test_the_frontier_is_that_of_the_library(folder, table, tmp_path):
    """Each point has its figures; the file is the frontier, which the library reads."""
    path = tmp_path / "frontier.json"
    arguments = ["frontier", folder / "data.csv", "-t", "progression", "--drop", "patient id"]
    arguments += [*QUICK, "--points", "6"]
    result = run(*arguments, "--json", "-o", path)
    content = json.loads(result.stdout)
    X = table.drop(columns="patient id")
    model = MossRegressor(4, n_trees=40).fit(X, "progression")
    frontier = model.frontier(6, 0.01)
    assert [point["loss"] for point in content["points"]] == frontier.loss.tolist()
    assert [point["stability"] for point in content["points"]] == frontier.stability.tolist()
    for index, point in enumerate(content["points"]):
        chosen = model.select(index=index, frontier=frontier)
        assert point["r2_training"] == pytest.approx(chosen.score(X, "progression"), abs=1e-5)
    kept = Frontier.from_json(path.read_text())
    assert kept.loss.tolist() == frontier.loss.tolist()
    shown = run(*arguments).stdout
    assert shown.count("optimal") == len(frontier)
    assert f"{frontier.loss[0]:.6g}" in shown


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_the_frontier_is_drawn_and_recorded(folder, tmp_path, suffix, start):
    """--plot writes a figure, and --checkpoint a record that a second run goes on from."""
    plot, record = tmp_path / f"plot.{suffix}", tmp_path / "record.json"
    arguments = ["frontier", folder / "data.csv", "-t", "progression", *QUICK, "--points", "3"]
    arguments += ["--plot", plot, "--checkpoint", record]
    first = run(*arguments)
    assert plot.read_bytes().startswith(start)
    assert len(json.loads(record.read_text())["entries"]) == 3
    assert f"Written to {plot}" in first.stdout
    again = run(*arguments)
    points = [line for line in first.stdout.splitlines() if "optimal" in line]
    assert points == [line for line in again.stdout.splitlines() if "optimal" in line]
    assert points


def test_a_complete_frontier_can_be_asked_for(folder):
    """With a gap of 0 every point is there."""
    result = run(
        "frontier", folder / "data.csv", "-t", "progression", "--points", "complete", "--gap", "0",
        "--n-trees", "10", "-k", "2", "--max-depth", "1", "--json",
    )  # fmt: skip
    assert json.loads(result.stdout)["complete"] is True


# --- what goes wrong ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "none.csv", "-t", "y"], "none.csv does not exist"),
        (["fit", "data.csv", "-t", "progresion"], "Did you mean 'progression'?"),
        (["frontier", "data.csv", "-t", "sex", "--task", "regression"], "'male', which is not a"),
        (["frontier", "data.csv", "-t", "sex", "--outcome", "other"], "is 'other', which is none"),
        (
            ["fit", "data.parquet", "-t", "sex", "--task", "regression", "--drop", "patient id"],
            "it must be numeric",
        ),
        (["fit", "data.csv", "-t", "progression", "--drop", "id"], "no column 'id'"),
        (["fit", "data.csv", "-t", "progression", "--drop", "progression"], "dropped and used"),
        (["fit", "data.csv", "-t", "bp", "--categorical", "bp"], "cannot be categorical"),
        (["fit", "data.csv", "-t", "progression", "--stability", "HIGH"], "stability is 'HIGH'"),
        (["fit", "data.csv", "-t", "progression", "--stability", "1.5"], "stability is 1.5"),
        (["fit", "data.csv", "-t", "progression", "--gamma", "big"], "gamma is 'big'"),
        (
            ["fit", "data.csv", "-t", "progression", "--drop", "patient id", "--n-trees", "0"],
            "n_trees is 0",
        ),
        (["fit", "data.csv", "-t", "progression", "-k", "0"], "max_rules is 0"),
        (["fit", "data.csv", "-t", "progression", "-o", "no/m.json"], "folder does not exist"),
        (["fit", "data.csv", "-t", "bp", "--json", "--export", "sql"], "give one of them"),
        (["fit", "data.csv", "-t", "bp", "--delimiter", ""], "delimiter is ''; pass one"),
        (["fit", "data.csv", "-t", "bp", "--jobs", "0"], "--jobs is 0; say how many threads"),
        (["fit", "empty.csv", "-t", "y"], "is empty"),
        (["fit", "ragged.csv", "-t", "y"], "line 3: 3 fields where the header has 2"),
        (["predict", "none.json", "data.csv"], "none.json does not exist"),
        (["predict", "data.csv", "data.csv"], "data.csv holds no model. The text is not JSON"),
        (["predict", "model.json", "ragged.csv"], "has no column"),
        (["predict", "model.json", "data.csv", "--explain", "443"], "has 442 rows"),
        (["predict", "model.json", "data.csv", "--keep", "key"], "no column 'key'"),
        (["predict", "model.json", "data.csv", "--keep", "prediction"], "rename it"),
        (["predict", "model.json", "data.csv", "-o", "."], "is a folder"),
        (["frontier", "data.csv", "-t", "progression", "--points", "0"], "--points is '0'"),
        (["frontier", "data.csv", "-t", "progression", "--plot", "p.doc"], "end it in one of"),
    ],
    ids=lambda value: None if isinstance(value, str) else " ".join(value),
)
def test_bad_input_is_one_sentence_and_a_failing_exit(folder, monkeypatch, arguments, words):
    """Whatever is wrong, nothing is printed as a result, and one line says what it is."""
    monkeypatch.chdir(folder)
    (folder / "empty.csv").write_text("")
    (folder / "ragged.csv").write_text("a,y\n1,2\n1,2,3\n")
    result = run(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_target_that_is_missing_stops(folder):
    """What check finds is told line by line, with a remedy, before the one error."""
    result = run("fit", folder / "data.csv", "-t", "bmi", "--drop", "patient id")
    assert result.exit_code == 1
    told, error = result.stderr.splitlines()
    assert told.startswith("wrong: Column 'bmi': the target is missing on 64 rows; ")
    assert error.startswith("error: data.csv has something that is surely wrong")


def test_a_word_among_numbers_is_told(table, tmp_path):
    """It stops, and --categorical is an answer; with --anyway it is a warning beside the result."""
    column = table["s6"].astype(object)
    column[3] = "unknown"
    table.assign(s6=column).to_csv(tmp_path / "w.csv", index=False)
    assert "read as missing: --na unknown" in fit(tmp_path / "w.csv").stderr
    result = fit(tmp_path / "w.csv", "--json", "--anyway")
    assert result.stderr.startswith("warning: ")
    assert "line 5: column 's6' is 'unknown' among numbers" in result.stderr
    assert json.loads(result.stdout)["rows"] == 442
    assert fit(tmp_path / "w.csv", "--categorical", "s6").stderr == ""


def test_progress_is_shown_to_people_only(folder, monkeypatch, tmp_path):
    """On a terminal the other stream tells how far the work is; otherwise it is silent."""
    assert fit(folder / "data.csv").stderr == ""
    shown = io.StringIO()
    monkeypatch.setattr(_output, "errors", Console(file=shown, force_terminal=True))
    result = fit(folder / "data.csv", "-o", tmp_path / "m.json", "--json")
    assert "choosing rules" in shown.getvalue()
    json.loads(result.stdout)
    run("frontier", folder / "data.csv", "-t", "progression", *QUICK, "--points", "2")
    assert "solving at stability targets" in shown.getvalue()


def test_the_commands_run_as_programs(folder, tmp_path):
    """Through a real process: a model is written, results and errors are on their streams."""
    command = [sys.executable, "-m", "mossrules"]
    fitted = subprocess.run(
        [*command, "fit", folder / "data.csv", "-t", "progression", "--drop", "patient id", *QUICK,
         "-o", "m.json", "--json"],
        capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert json.loads(fitted.stdout)["rows"] == 442
    assert fitted.stderr == ""
    failed = subprocess.run(
        [*command, "predict", "m.json", "none.csv"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert failed.returncode == 1
    assert failed.stdout == ""
    assert failed.stderr == "error: none.csv does not exist; check the path.\n"


# --- a floor on each rule -------------------------------------------------------------------------


def test_fit_says_how_often_each_rule_was_found(folder, table):
    """In a sentence under the certificate, and in the JSON, unless the floor is on the sum."""
    result = fit(folder / "data.csv", "--stability", "20")
    X = table.drop(columns=["patient id"])
    model = MossRegressor(4, n_trees=40, random_state=0, stability=20).fit(X, "progression")
    sentence = model.fitted_.floor_sentence
    assert sentence.startswith("Every rule is in at least")
    assert sentence in result.stdout.splitlines()
    frequent = int((model.pool_.counts >= model.problem_.min_stability).sum())
    assert 20 <= frequent < len(model.pool_)
    assert f"candidate rules, of which {frequent} meet the stability target." in result.stdout
    content = json.loads(fit(folder / "data.csv", "--json").stdout)
    assert content["floor"].startswith("Every rule is in at least")
    sum_of_all = fit(folder / "data.csv", "--floor", "sum")
    assert "of the largest stability" in sum_of_all.stdout
    assert "floor" not in json.loads(fit(folder / "data.csv", "--floor", "sum", "--json").stdout)


def test_a_number_of_rules_without_a_floor_on_each_is_refused(folder):
    """The message says what it goes with."""
    result = fit(folder / "data.csv", "--floor", "sum", "--stability", "20")
    assert result.exit_code == 1
    assert "a number of rules goes with floor='each'" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("options", "others"),
    [
        ([], {}),
        (["--stability", "0.7", "--inner-nodes"], {"stability": 0.7, "inner_nodes": True}),
        (["--floor", "each", "--generator", "forest"], {"floor": "each", "generator": "forest",
                                                        "stability": defaults.STABILITY}),
    ],
)  # fmt: skip
def test_the_papers_way_is_an_option(folder, table, options, others):
    """With the paper's stability, as the share of our default would ask of a sum for nothing."""
    text = ["--refits", "0", "--export", "text"]
    fitted = fit(folder / "data.csv", "--paper", *options, *text).stdout
    way = {**defaults.PAPER_WAY, "stability": "high", **others}
    model = MossRegressor(4, n_trees=40, random_state=0, **way)
    X = table.drop(columns=["patient id"])
    assert fitted.strip() == model.fit(X, "progression").rules_.to_text().strip()


def test_a_floor_on_the_sum_has_a_stability_of_the_sum(folder, table):
    """Without a word on it, "high" in place of our share for each rule."""
    text = ["--refits", "0", "--export", "text"]
    fitted = fit(folder / "data.csv", "--floor", "sum", *text).stdout
    model = MossRegressor(4, n_trees=40, random_state=0, floor="sum")
    X = table.drop(columns=["patient id"])
    assert fitted.strip() == model.fit(X, "progression").rules_.to_text().strip()


def test_a_frontier_says_how_often_every_rule_was_found(folder):
    """By floors on each rule, as shares of the trees; by floors on the sum, as the paper's sum."""
    arguments = ["frontier", folder / "data.csv", "-t", "progression", "--drop", "patient id"]
    arguments += [*QUICK, "--points", "3"]
    points = json.loads(run(*arguments, "--json").stdout)["points"]
    shown = run(*arguments).stdout
    assert "of the 40 trees" in shown
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    for point in points:
        told = f"│ {point['stability'] / 40:.1%} │ {point['stability_share']:.1%} │"
        assert any(told in line for line in lines)
    paper = run(*arguments, "--paper").stdout
    assert "of the 40 trees" not in paper
    assert " stability ┃" in paper


def test_the_other_commands_take_a_floor_on_each_rule(folder, tmp_path):
    """`frontier`, `stability` and `report`, of which the page has its own axis."""
    how = ["--target", "progression", "--drop", "patient id", *QUICK, "--floor", "each"]
    data = folder / "data.csv"
    frontier = run("frontier", data, *how, "--points", "5", "-o", tmp_path / "f.json")
    assert frontier.exit_code == 0
    assert Frontier.from_json((tmp_path / "f.json").read_text("utf-8")).floor == "each"
    stability = run("stability", data, *how, "--folds", "2", "--stability", "medium")
    assert stability.exit_code == 0
    page = tmp_path / "page.html"
    report = run(
        "report", data, *how, "--folds", "2", "--points", "4", "--no-baselines", "-o", page
    )
    assert report.exit_code == 0
    text = page.read_text("utf-8")
    assert "least tree frequency, % of the maximum" in text
    assert "Every rule is in at least" in text
    assert "The tree frequency of the rarest rule" in text
