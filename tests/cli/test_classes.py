"""Commands on a target that is a class, of two or of several."""

import csv
import io
import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mossrules import MossClassifier, RuleSets
from mossrules.evaluation import evaluate
from support.commands import run

QUICK = ["--n-trees", "20", "--max-rules", "3"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a table of three species, one of which is also a truth value."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    table = X.assign(species=y.map({0: "it's", 1: "b,c", 2: "virginica"}))
    folder = tmp_path_factory.mktemp("classes")
    table.to_csv(folder / "iris.csv", index=False)
    table.assign(species=table["species"] == "virginica").to_csv(folder / "two.csv", index=False)
    table.assign(species=y % 2).to_csv(folder / "number.csv", index=False)
    return folder


def read_csv(text):
    """Return the columns of a CSV text."""
    rows = list(csv.DictReader(io.StringIO(text)))
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_truth_values_are_classes(folder):
    """A target of true and false has a probability; fit, predict and explain speak of it."""
    shown = run("fit", folder / "two.csv", "-t", "species", *QUICK, "-o", folder / "two.json")
    assert shown.exit_code == 0
    assert "The log-odds of species = True" in shown.stdout
    assert "log-loss" in shown.stdout
    names = list(load_iris(as_frame=True)["data"])
    y = load_iris()["target"] == 2
    X = {name: load_iris(as_frame=True)["data"][name] for name in names}
    expected = MossClassifier(3, n_trees=20, random_state=0).fit(X, y).predict_proba(X)[:, 1]
    found = read_csv(run("predict", folder / "two.json", folder / "two.csv").stdout)
    np.testing.assert_array_equal(np.array(found["P(species=True)"], dtype=float), expected)
    text = run("predict", folder / "two.json", folder / "two.csv", "--explain", "1").stdout
    assert "At a threshold of 0.5" in text
    content = json.loads(
        run("predict", folder / "two.json", folder / "two.csv", "--explain", "1", "--json").stdout
    )
    assert content["probability"] == expected[0]
    assert content["of"] == "species = True"


def test_several_classes_have_a_column_each(folder):
    """Words are classes; every class has its probability, and the likeliest is predicted."""
    model = folder / "iris.json"
    shown = run("fit", folder / "iris.csv", "-t", "species", *QUICK, "-o", model, "--json")
    content = json.loads(shown.stdout)
    assert list(content["classes"]) == ["b,c", "it's", "virginica"]
    assert content["accuracy_training"] > 0.9
    assert content["model"] == json.loads(model.read_text())
    found = read_csv(run("predict", model, folder / "iris.csv", "--keep", "species").stdout)
    assert list(found) == [
        "species", "P(species=b,c)", "P(species=it's)", "P(species=virginica)", "prediction",
    ]  # fmt: skip
    right = np.array(found["species"]) == np.array(found["prediction"])
    assert right.mean() == pytest.approx(content["accuracy_training"])
    explained = run("predict", model, folder / "iris.csv", "--explain", "1").stdout
    assert explained.count("probability, 1 /") == 3
    first = float(found["P(species=it's)"][0])
    assert f"it's {first:.3f}" in explained.splitlines()[-1]
    sql = run("fit", folder / "iris.csv", "-t", "species", *QUICK, "--export", "sql").stdout
    assert 'FROM "iris"' in sql
    assert isinstance(RuleSets.from_json(model.read_text()), RuleSets)
    clash = run("predict", model, folder / "iris.csv", "--keep", "prediction")
    assert clash.exit_code != 0


def test_numbers_stay_numbers_unless_asked(folder):
    """Zero and one are numbers, with a hint; words among numbers are named, not made classes."""
    plain = run("fit", folder / "number.csv", "-t", "species", *QUICK)
    assert "--task classification" in plain.stderr
    assert "R2" in plain.stdout
    asked = run("fit", folder / "number.csv", "-t", "species", *QUICK, "--task", "classification")
    assert asked.stderr == ""
    assert "The log-odds of species = 1" in asked.stdout
    names = "\n".join(f"{i},name {i}" for i in range(30))
    (folder / "names.csv").write_text(f"a,y\n{names}\n")
    assert "30 different labels" in run("fit", folder / "names.csv", "-t", "y").stderr
    (folder / "mixed.csv").write_text("a,y\n1,2\n2,3\n3,many\n4,5\n")
    mixed = run("fit", folder / "mixed.csv", "-t", "y", *QUICK)
    assert mixed.exit_code != 0
    assert "many" in mixed.stderr


def written(folder, name, event, other):
    """Return the path of a table of two classes, of which one is virginica."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    labels = np.where(y == 2, event, other)
    X.assign(status=labels).to_csv(folder / name, index=False)
    return folder / name


def test_the_event_is_modelled_whichever_label_comes_last(folder):
    """Of case and control that is case; --outcome takes the other, and everything says which."""
    path = written(folder, "case.csv", "case", "control")
    model = folder / "case.json"
    how = ["-t", "status", *QUICK, "--refits", "0"]
    shown = run("fit", path, *how, "-o", model)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert "The log-odds of status = case" in shown.stdout
    cases = np.array(read_csv(run("predict", model, path).stdout)["P(status=case)"], float)
    status = np.array(read_csv(path.read_text())["status"])
    assert cases[status == "case"].mean() > 0.8
    assert cases[status == "control"].mean() < 0.2
    shown = run("fit", path, *how, "--outcome", "control", "-o", model)
    assert "The log-odds of status = control" in shown.stdout
    others = np.array(read_csv(run("predict", model, path).stdout)["P(status=control)"], float)
    np.testing.assert_allclose(others, 1.0 - cases, atol=1e-12)
    sql = run("fit", path, *how, "--outcome", "control", "--export", "python").stdout
    assert "the probability of status = control for a row" in sql


def test_rare_classes_have_no_accuracy(tmp_path):
    """Events for each rule, AUC and balanced accuracy are said, and a warning if they are few."""
    rng = np.random.default_rng(0)
    dose = rng.normal(size=1000).round(2)
    status = np.where(dose + rng.normal(size=1000) > 3.6, "case", "control")
    lines = "\n".join(map("{},{}".format, dose, status))
    (tmp_path / "rare.csv").write_text(f"dose,status\n{lines}\n")
    how = [tmp_path / "rare.csv", "-t", "status", *QUICK, "--refits", "0"]
    shown, said = run("fit", *how), json.loads(run("fit", *how, "--json").stdout)
    n = int((status == "case").sum())
    assert "ccuracy 9" not in shown.stdout
    assert f"{n} of 1,000 training rows are status = case: " in shown.stdout
    assert f"AUC {said['auc_training']:.3f} and balanced accuracy 50.0%" in shown.stdout
    assert f"warning: Only {n} training rows are status = case" in shown.stderr
    assert said["events"] == {"outcome": n, "others": 1000 - n, "per_rule": n / len(said["texts"])}
    assert said["accuracy_training"] == (status == "control").mean()


def test_names_that_tell_nothing_are_a_warning(folder):
    """The last label is modelled then; to name it is to be told no more."""
    path = written(folder, "hot.csv", "hot", "cold")
    how = ["-t", "status", *QUICK, "--refits", "0"]
    shown = run("fit", path, *how)
    assert "the model gives the probability of 'hot'" in shown.stderr
    assert "--outcome" in shown.stderr
    assert run("fit", path, *how, "--outcome", "hot").stderr == ""
    wrong = run("fit", path, *how, "--outcome", "hott")
    assert wrong.exit_code == 1
    assert "none of the classes; name one of 'cold', 'hot'. Did you mean 'hot'?" in wrong.stderr


@pytest.mark.parametrize(
    "command", ["fit", "compare", "performance", "stability", "frontier", "report"]
)
def test_every_command_that_learns_takes_an_outcome(folder, command):
    """One that is no class is one sentence, and so is one of a target that is a number."""
    path = written(folder, "case.csv", "case", "control")
    wrong = run(command, path, "-t", "status", *QUICK, "--outcome", "cas")
    assert wrong.exit_code == 1
    assert "is 'cas', which is none of the classes" in wrong.stderr
    assert len(wrong.stderr.strip().splitlines()) == 1
    number = folder / "number.csv"
    wrong = run(command, number, "-t", "species", "--task", "regression", "--outcome", "1")
    assert (wrong.exit_code, "the target is a number; leave it out" in wrong.stderr) == (1, True)


def test_stability_and_frontier_take_two_classes(folder):
    """Rules and points are those of the library, for the class that is named."""
    path = written(folder, "case.csv", "case", "control")
    X, y = load_iris(return_X_y=True, as_frame=True)
    labels = np.where(y == 2, "case", "control")
    model = MossClassifier(3, n_trees=20, random_state=0, gap=0.01)
    said = run("stability", path, "-t", "status", *QUICK, "--folds", "3", "--json")
    found = json.loads(said.stdout)
    expected = evaluate({"MOSS": model}, X, labels, cv=3).summaries[0]
    assert found["outcome"] == "status = case"
    assert found["auc"] == pytest.approx(expected.scores["auc"])
    assert found["measures"]["dice"]["estimate"] == pytest.approx(expected.dice.estimate)
    shown = run("stability", path, "-t", "status", *QUICK, "--folds", "3").stdout
    assert "Rules that recur for status = case" in shown
    assert "AUC" in shown
    points = json.loads(
        run("frontier", path, "-t", "status", *QUICK, "--points", "3", "--json").stdout
    )
    fitted = MossClassifier(3, n_trees=20, random_state=0, gap=0.01, stability=1.0).fit(X, labels)
    frontier = fitted.frontier(3)
    assert [each["loss"] for each in points["points"]] == pytest.approx(frontier.loss.tolist())
    assert 0.5 < points["points"][-1]["explained_training"] < 1.0


def test_stability_and_frontier_show_each_of_several_classes(folder):
    """Or the one that --outcome names; a file is of one class."""
    path, how = folder / "iris.csv", ["-t", "species", *QUICK]
    for command, more in (("stability", ["--folds", "2"]), ("frontier", ["--points", "2"])):
        content = json.loads(run(command, path, *how, *more, "--json").stdout)
        assert list(content["classes"]) == ["b,c", "it's", "virginica"]
        alone = run(command, path, *how, *more, "--outcome", "virginica", "--json").stdout
        if command == "stability":
            assert json.loads(alone) == content["classes"]["virginica"]
        else:
            losses = [[each["loss"] for each in one["points"]] for one in
                      (json.loads(alone), content["classes"]["virginica"])]  # fmt: skip
            assert losses[0] == losses[1]
        assert "for species = it's" in run(command, path, *how, *more).stdout
    told = run("frontier", path, *how, "-o", folder / "frontier.json")
    assert "each of the 3 classes has a result of its own; name one" in told.stderr


@pytest.mark.parametrize("command", ["frontier", "stability"])
def test_a_word_among_numbers_is_still_a_mistake(tmp_path, command):
    """Where other rows of the target have numbers, the line with the word is named."""
    path = tmp_path / "data.csv"
    path.write_text("a,y\n1,2\n2,ten\n3,4\n")
    told = run(command, path, "-t", "y", *QUICK)
    assert told.exit_code == 1
    assert "line 3: column 'y' is 'ten', which is not a number" in told.stderr
    assert "class" not in told.stderr


def test_an_outcome_of_a_target_of_many_numbers_names_the_way_out(folder):
    """It is a number, most likely, and no class of it was meant."""
    result = run("fit", folder / "iris.csv", "-t", "sepal length (cm)", "--outcome", "5", *QUICK)
    assert result.exit_code == 1
    assert "different numbers, and --outcome names a class" in result.stderr
    assert "--task regression" in result.stderr
