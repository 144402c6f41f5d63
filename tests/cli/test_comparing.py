"""The commands that look at folds, stability and compare, and constraints on all commands."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from sklearn.datasets import load_diabetes
from typer.testing import CliRunner

from mossrules import MossClassifier, MossRegressor, cli
from mossrules.baselines import SirusClassifier
from mossrules.baselines.registry import COMPARED, make_methods
from mossrules.cli import _output
from mossrules.cli.compare import MethodName, show_trust
from mossrules.constraints import (
    AtMostFeatures,
    AtMostPerFeature,
    Decreasing,
    Increasing,
    NeverUse,
    OnlyDown,
    OnlyUp,
    OwnDirection,
)
from mossrules.defaults import MAX_FEATURES, PAPER_WAY
from mossrules.evaluation import Assessment, assess, evaluate
from mossrules.evaluation.assessment import MethodTrust
from mossrules.stability import consistent_rules, empirical_stability

runner = CliRunner()
QUICK = ["--n-trees", "25", "--max-rules", "4"]


@pytest.fixture(scope="module")
def table():
    """Return a table with a category and missing values, and its target."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X["sex"] = X["sex"].map({1.0: "female", 2.0: "male"})
    X.loc[::7, "bmi"] = np.nan
    return X.assign(progression=y)[:200]


@pytest.fixture(scope="module")
def data(table, tmp_path_factory):
    """Return the table as a file."""
    path = tmp_path_factory.mktemp("cli") / "data.csv"
    table.to_csv(path, index=False)
    return path


def run(command, data, *arguments):
    """Run a command on a file; an exception that is not a way to exit is one here."""
    words = [command, data, "--target", "progression", *QUICK, *arguments]
    result = runner.invoke(cli.app, [str(each) for each in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


# --- compare --------------------------------------------------------------------------------------


def test_the_names_of_methods_are_those_of_the_registry():
    """All methods of the library can be asked for, and are by default."""
    assert [each.value for each in MethodName] == list(COMPARED)


def test_a_comparison_is_that_of_the_library(data, table):
    """All methods and folds have the figures of `evaluate`, bit for bit but for the times."""
    content = json.loads(run("compare", data, "--folds", "3", "--json", "--gap", "0.05").stdout)
    search = {"n_trees": 25, "max_features": MAX_FEATURES, "random_state": 0}
    methods = make_methods(None, classes=False, max_rules=4, **search)
    for name in ("MOSS", "MOSS-H", "MOSS-M", "MOSS-L"):
        methods[name].set_params(gap=0.05)
    expected = evaluate(methods, table, "progression", cv=3)
    found, frame = pd.DataFrame(content["folds"]), expected.frame()
    assert found["method"].unique().tolist() == list(COMPARED)
    for name in ("method", "fold", "status", "r2", "settings"):
        assert found[name].tolist() == frame[name].tolist()
    np.testing.assert_array_equal(found["n_rules"].astype(float), frame["n_rules"].astype(float))
    summary = pd.DataFrame(content["methods"])
    for name in ("r2", "dice", "dice_lower", "nogueira", "rank_combined"):
        np.testing.assert_allclose(summary[name], expected.summary()[name], rtol=1e-12)


def test_a_comparison_has_the_very_model_that_fit_gives(data, table):
    """With the same options, and no other gap: the settings are those of the fitted model."""
    options = ["--stability", "0.7", "--ties", "drop", "--n-bins", "5", "--inner-nodes"]
    arguments = ["--folds", "2", "--method", "MOSS", "--method", "MOSS-H", *options]
    content = json.loads(run("compare", data, *arguments, "--json").stdout)
    same = MossRegressor(
        4, stability=0.7, ties="drop", n_bins=5, inner_nodes=True, n_trees=25, random_state=0
    )
    written = {each["method"]: each["settings"] for each in content["folds"]}
    assert "gap=0.01" in written["MOSS-H"]
    assert "gap" not in written["MOSS"]
    fitted = run("fit", data, *options, "--refits", "0", "--export", "text").stdout
    assert fitted.strip() == same.fit(table, "progression").rules_.to_text().strip()
    assert written["MOSS"] == " ".join(repr(same.set_params(random_state=0)).split())


def test_the_trust_table_is_that_of_the_library(data, table, tmp_path):
    """A line for each measure, the same figures as JSON and in a file, and a figure."""
    path, plot = tmp_path / "trust.csv", tmp_path / "trust.svg"
    two = ["--method", "MOSS", "--method", "tree", "--trust", "--refits", "3", "--seeds", "2"]
    shown = run("compare", data, *two, "--output", path, "--plot", plot)
    assert shown.exit_code == 0
    assert "Dice as printed" in shown.stdout
    assert "3 of each method, without a tenth of the rows" in shown.stdout
    assert plot.stat().st_size > 0
    content = json.loads(run("compare", data, *two, "--json").stdout)
    methods = make_methods(["MOSS", "tree"], classes=False, max_rules=4, n_trees=25, random_state=0)
    expected = assess(methods, table, "progression", refits=3, seeds=2)
    written = pd.read_csv(path)
    for name in ("r2", "dice", "dice_rows", "weighted_overlap", "instability", "dice_seeds"):
        values = [getattr(each, name) for each in expected.methods]
        np.testing.assert_allclose(written[name], values, rtol=1e-12)
        found = [np.nan if row[name] is None else row[name] for row in content["methods"]]
        np.testing.assert_allclose(found, values, rtol=1e-12)
    assert (content["refits"], content["scheme"], content["seeds"]) == (3, "folds", 2)
    assert content["methods"][1]["dice"] is None


@pytest.mark.parametrize("width", [40, 80, 100, 200])
def test_no_cell_of_the_trust_table_is_cut_off(width, monkeypatch):
    """Of many methods it is in parts as wide as the terminal, with a line for each method."""
    methods = tuple(
        MethodTrust(name, **dict.fromkeys(("r2", "dice", "instability", "seconds"), 0.123456))
        for name in COMPARED
    )
    monkeypatch.setattr(_output.out, "_width", width)
    with _output.out.capture() as text:
        show_trust(Assessment(methods, "regression", 10, "folds", 5, 100, 1.0))
    shown = text.get()
    assert "…" not in shown
    lines = [line for line in shown.splitlines() if line[:1] in "┃│"]
    assert max(map(len, lines)) <= width
    in_parts = [line for line in lines if line.startswith("│ MOSS-M")]
    assert bool(in_parts) == (width < 200)
    assert shown.count("0.123") == 3 * len(methods)
    assert shown.count("0.12 ") == len(methods)


def test_the_trust_table_of_classes_tells_of_failures(table, tmp_path):
    """What fails is below the table."""
    path = tmp_path / "data.csv"
    rare = np.where(np.arange(len(table)) < 1, "rare", "usual")
    table.assign(progression=rare).to_csv(path, index=False)
    two = ["--method", "MOSS", "--method", "linear", "--trust", "--refits", "10", "--seeds", "0"]
    shown = run("compare", path, *two, "--scheme", "bootstrap")
    assert "log-loss skill" in shown.stdout
    assert "of a bootstrap" in shown.stdout
    assert "failed: linear" in " ".join(shown.stdout.split())


def test_classifiers_are_compared_by_metrics_of_classes(table, tmp_path):
    """With a metric of classes the target is labels, and figures are those of `evaluate`."""
    path = tmp_path / "data.csv"
    high = np.where(table["progression"] > 140, "high", "low")
    table.assign(progression=high).to_csv(path, index=False)
    two = ["--folds", "2", "--metric", "log_loss", "--method", "SIRUS", "--method", "MOSS-H"]
    content = json.loads(run("compare", path, *two, "--json").stdout)
    methods = {
        "SIRUS": SirusClassifier(4, n_trees=25, max_features=MAX_FEATURES),
        "MOSS-H": MossClassifier(4, stability="high", n_trees=25, gap=0.01, **PAPER_WAY),
    }
    expected = evaluate(methods, table.assign(progression=high), "progression", cv=2)
    for name in ("auc", "log_loss"):
        found = [each[name] for each in content["folds"]]
        np.testing.assert_allclose(found, expected.frame()[name])
    assert content["metric"] == "log_loss"
    shown = run("compare", path, *two, "--method", "RuleFit")
    assert "log-loss" in shown.stdout
    refused = run("compare", path, *two, "--method", "FIRE")
    assert refused.exit_code == 1
    assert "FIRE is for numbers" in refused.stderr


def test_methods_can_be_chosen(data):
    """Only those named take part, whatever the case of their names."""
    arguments = ["--folds", "2", "--method", "sirus", "--method", "MOSS-L", "--seed", "5"]
    result = run("compare", data, *arguments)
    assert result.exit_code == 0
    for name in COMPARED:
        assert (f"│ {name} " in result.stdout) == (name in ("SIRUS", "MOSS-L"))
    content = json.loads(run("compare", data, *arguments, "--json").stdout)
    assert {each["seed"] for each in content["folds"]} == {5}


def test_a_comparison_is_written_drawn_and_recorded(data, tmp_path):
    """A row per method and fold, a figure, and a record from which a second run goes on."""
    output, plot, record = (tmp_path / name for name in ("r.csv", "p.png", "r.json"))
    arguments = ["--folds", "2", "--method", "FIRE", "--method", "MOSS-H", "--checkpoint", record]
    first = run("compare", data, *arguments, "-o", output, "--plot", plot)
    assert f"Written to {output}." in first.stdout
    assert plot.read_bytes().startswith(b"\x89PNG")
    written = pd.read_csv(output, dtype={"seconds": str})  # as a number, pandas 2.2 rounds it
    assert written["method"].tolist() == ["FIRE", "FIRE", "MOSS-H", "MOSS-H"]
    assert written["failure"].isna().all()
    again = json.loads(run("compare", data, *arguments, "--json").stdout)
    assert [each["seconds"] for each in again["folds"]] == written["seconds"].map(float).tolist()
    other = run("compare", data, *arguments, "--gap", "0.2")
    assert other.exit_code == 1
    assert "method 'MOSS-H' with other settings" in other.stderr


def test_a_failed_method_is_told(data):
    """Constraints that cannot be kept fail MOSS alone, and the others are there."""
    result = run(
        "compare", data, "--folds", "2", "--method", "moss-h", "--method", "glrm",
        "--at-most-per-feature", "0",
    )  # fmt: skip
    assert result.exit_code == 0
    assert result.stdout.count("failed: MOSS-H on fold") == 2
    assert "InfeasibleProblem" in result.stdout
    assert "│ GLRM " in result.stdout


def test_choices_out_of_time_are_told(data):
    """A limit that is too short is said in a line, beside the warnings."""
    result = run(
        "compare", data, "--folds", "2", "--method", "moss-m", "--gap", "0", "--gamma", "10",
        "--time-limit", "0.01", "-k", "12", "--n-trees", "150",
    )  # fmt: skip
    assert "2 searches ran out of time" in result.stdout


# --- stability ------------------------------------------------------------------------------------


@pytest.mark.parametrize("identity", ["codes", "thresholds", "rows"])
def test_stability_is_that_of_the_library(data, table, identity):
    """Rules, their shares and the measures are those of models fitted to the folds."""
    arguments = ["--folds", "4", "--identity", identity, "--share", "0.25", "--gap", "0.001"]
    content = json.loads(run("stability", data, *arguments, "--json").stdout)
    model = MossRegressor(4, n_trees=25)
    sets = evaluate({"m": model}, table, "progression", cv=4).rule_sets("m")
    X = table.drop(columns="progression") if identity == "rows" else None
    for measure in ("dice", "pog"):
        expected = empirical_stability(sets, measure, identity=identity, X=X)
        found = content["measures"][measure]
        assert (found["estimate"], found["lower"], found["upper"]) == (
            expected.estimate, expected.lower, expected.upper,
        )  # fmt: skip
    by = "thresholds" if identity == "rows" else identity
    shares = consistent_rules(sets, 0.25, identity=by)
    assert [each["share"] for each in content["rules"]] == list(shares.values())
    texts = {text for each in sets for text in each.texts}
    assert {each["rule"] for each in content["rules"]} <= texts
    assert content["distinct"] == len(consistent_rules(sets, 1e-9, identity=by))


def test_stability_is_shown(data):
    """A person sees rules with the share of folds, and each measure with its interval."""
    result = run("stability", data, "--folds", "3", "--share", "0.3", "--stability", "0.9")
    content = json.loads(
        run("stability", data, "--folds", "3", "--share", "0.3", "--stability", "0.9", "--json")
        .stdout
    )  # fmt: skip
    lines = " ".join(result.stdout.split())
    assert len(content["rules"]) > 3
    for each in content["rules"]:
        assert f"{each['share']:.0%} │ {each['rule']}" in lines
    for name, each in content["measures"].items():
        assert f"{name} │ {each['estimate']:.3f} [" in " ".join(lines.split())
    assert "recurrence [interval]" in lines
    assert f"out of {content['distinct']} found in any" in lines


def test_no_rule_that_comes_again_is_said(data):
    """Where no rule is in enough folds there is a sentence in place of an empty table."""
    moving = ["--cuts", "quantile", "--n-bins", "60"]
    result = run("stability", data, "--folds", "10", "--share", "1", *moving)
    assert "There are none" in result.stdout
    assert "No rule was found in all 10 refits" in result.stdout


def test_stability_goes_on_from_a_record(data, tmp_path):
    """A second run takes what the record has, also for another identity."""
    record = tmp_path / "r.json"
    run("stability", data, "--folds", "2", "--checkpoint", record)
    before = record.read_bytes()
    result = run(
        "stability", data, "--folds", "2", "--checkpoint", record, "--identity", "thresholds"
    )
    assert result.exit_code == 0
    assert record.read_bytes() == before


# --- constraints ----------------------------------------------------------------------------------


def test_constraints_reach_the_model(data, table):
    """Each option is the constraint of the same name."""
    result = run(
        "fit", data, "--json", "--refits", "0", "--never-use", "sex", "--never-use", "s3",
        "--only-up", "bmi", "--only-down", "s1", "--at-most-features", "3",
        "--at-most-per-feature", "3",
        "--own-direction", "--increasing", "bp", "--decreasing", "s4",
    )  # fmt: skip
    constraints = [NeverUse("sex", "s3"), OnlyUp("bmi"), OnlyDown("s1"), AtMostFeatures(3)]
    constraints += [AtMostPerFeature(3), OwnDirection(), Increasing("bp"), Decreasing("s4")]
    model = MossRegressor(4, n_trees=25, constraints=constraints)
    model.fit(table, "progression")
    assert json.loads(result.stdout)["model"] == json.loads(model.rules_.to_json())


@pytest.mark.parametrize(
    ("one", "other"), [("--increasing", "--decreasing"), ("--only-up", "--only-down")]
)
def test_a_feature_cannot_go_both_ways(data, one, other):
    """Else no rule on it would be left, and nobody had asked for that."""
    result = run("fit", data, one, "bp", other, "bmi", other, "bp")
    assert result.exit_code == 1
    assert result.stderr == (
        f"error: {one} and {other} are both 'bp' and contradict each other; leave out one, or say "
        "--never-use bp if no rule shall look at it.\n"
    )


def test_constraints_are_kept_by_every_command(data, tmp_path):
    """No rule of MOSS looks at a feature that it may not use."""
    never = ["--json", "--never-use", "bmi", "--never-use", "s5"]
    again = ["--folds", "2", "--share", "0.1"]
    free = json.loads(run("stability", data, *again, "--json").stdout)["rules"]
    kept = json.loads(run("stability", data, *again, *never).stdout)["rules"]
    assert any("bmi" in each["rule"] or "s5" in each["rule"] for each in free)
    assert kept
    assert not any("bmi" in each["rule"] or "s5" in each["rule"] for each in kept)
    record = tmp_path / "r.json"
    run("compare", data, "--folds", "2", "--method", "moss-h", "--checkpoint", record, *never)
    results = json.loads(record.read_text())["results"]
    used = {feature["name"] for each in results for feature in each["rules"]["features"]}
    assert used
    assert not used & {"bmi", "s5"}
    few = ["--points", "2"]
    free, kept = (
        json.loads(run("frontier", data, *few, *options).stdout)["points"][-1]
        for options in (["--json"], never)
    )
    assert kept["r2_training"] < free["r2_training"]


# --- what goes wrong ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "--never-use", "bmy"], "--never-use is 'bmy'"),
        (["fit", "--only-up", "progression"], "not a feature of the file"),
        (["frontier", "--at-most-features", "0"], "AtMostFeatures"),
        (["stability", "--share", "0"], "--share is 0.0"),
        (["stability", "--folds", "150"], "cv is 150"),
        (["stability", "--folds", "2", "--at-most-per-feature", "0"], "no model for 2 of the 2"),
        (["stability", "--stability", "HIGH"], "stability is 'HIGH'"),
        (["stability", "--checkpoint", "no/r.json"], "folder does not exist"),
        (["compare", "--plot", "p.doc"], "end it in one of"),
        (["compare", "-o", "no/r.csv"], "folder does not exist"),
        (["compare", "--max-rules", "0"], "max_rules is 0"),
    ],
    ids=lambda value: None if isinstance(value, str) else " ".join(value),
)
def test_bad_input_is_one_sentence_and_a_failing_exit(data, monkeypatch, arguments, words):
    """Whatever is wrong, nothing is printed as a result, and one line says what it is."""
    monkeypatch.chdir(data.parent)
    result = run(arguments[0], data, *arguments[1:])
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_progress_is_shown_to_people_only(data, monkeypatch):
    """On a terminal the other stream tells how far the work is; otherwise it is silent."""
    arguments = ["--folds", "2", "--method", "sirus"]
    assert run("compare", data, *arguments).stderr == ""
    shown = io.StringIO()
    monkeypatch.setattr(_output, "errors", Console(file=shown, force_terminal=True))
    run("compare", data, *arguments)
    assert "learning on folds" in shown.getvalue()
