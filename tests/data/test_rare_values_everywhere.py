"""No file, page or print of the package holds a value that few rows have, wherever it comes from.

The table has an identifier, a date, sites of few rows and numbers that all differ. Every form in
which something is written is read for all of these. Exceptions are stated in docs/report.md: rules
that name a level, cut points, and what repeats rows because that was asked for.
"""

import json
import re

import numpy as np
import pytest

from mossrules import MossClassifier, MossRegressor, compare_rule_sets
from mossrules.data import check
from mossrules.defaults import MIN_ROWS_SHOWN
from mossrules.evaluation import (
    assess,
    evaluate,
    evaluate_frontier,
    performance,
    prediction_intervals,
    split_effects,
)
from support.commands import run

N = 240
pytestmark = pytest.mark.filterwarnings("ignore::mossrules.exceptions.TableWarning")
FORESTS = {"n_trees": 60, "random_state": 0}
SMALL = ("--trees", "60", "--max-rules", "4")


@pytest.fixture(scope="module")
def visits():
    """Return the columns, a target whose values all differ, and two classes."""
    draw = np.random.default_rng(3)
    days = (np.datetime64("2021-01-01") + draw.permutation(N)).astype(str).astype(object)
    sites = draw.permutation(np.repeat(["north", "south", "Smallville", "Hamlet"], [140, 91, 6, 3]))
    X = {
        "patient": np.array([f"P{100000 + 7 * i}" for i in range(N)], dtype=object),
        "number": np.array([f"{500000 + 13 * i}" for i in range(N)], dtype=object),
        "visit": days,
        "site": sites.astype(object),
        "income": draw.normal(50_000, 9_000, N).round(2),
        "age": draw.integers(18, 90, N).astype(float),
    }
    y = (5 * (X["age"] > 60) + 3 * (X["site"] == "south") + draw.normal(0, 1, N)).round(6)
    return X, y, np.where(y > np.median(y), "case", "control")


@pytest.fixture(scope="module")
def rare(visits):
    """Return the values that few rows have, as they would be read.

    Ages are left out: numbers of two digits are all over a page, and mean something else.
    """
    X, y, _ = visits
    found = []
    for name, values in {**X, "y": y}.items():
        levels, counts = np.unique(values, return_counts=True)
        few = levels[counts < MIN_ROWS_SHOWN].tolist() if name != "age" else []
        found += [value if isinstance(value, str) else repr(value) for value in few]
    assert len(found) == 5 * N + 2
    return found


@pytest.fixture
def files(visits, tmp_path):
    """Return the folder with the table as a file."""
    X, y, status = visits
    names = [*X, "y", "status"]
    rows = zip(*(values.tolist() for values in (*X.values(), y, status)), strict=True)
    lines = [",".join(names), *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "visits.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


# A number stands alone: 1.25 is not read in 31.257.
def rare_in(text, rare):
    """Return the values that can be read in a text."""
    tokens = set(re.findall(r"[\w.+-]+", text)) | set(re.findall(r"\d+(?:\.\d+)?", text))
    tokens |= {token.rstrip(".") for token in tokens}
    return [value for value in rare if value in tokens or (not value[:1].isdigit() and value in text
            and not value.startswith("-"))]  # fmt: skip


def test_the_reader_of_this_test_finds_what_is_there(rare, visits):
    """A row of the table, in any form, is found."""
    X, y, _ = visits
    row = {name: values[5] for name, values in X.items()}
    as_json = json.dumps({name: str(value) for name, value in row.items()})
    for text in (str(row), as_json, f"<b>{X['visit'][5]}</b>"):
        assert rare_in(text, rare)
    assert rare_in(f"[{y[7]!r}]", rare) == [repr(y[7].item())]
    assert rare_in("site is Hamlet", rare) == ["Hamlet"]


LEARN = ("-t", "y", *SMALL)
CLASSES = ("-t", "status", "--drop", "y", *SMALL)
COMMANDS = {
    "fit": ("fit", *LEARN, "--anyway", "--refits", "3", "-o", "out.json"),
    "fit of classes": ("fit", *CLASSES, "--anyway", "--refits", "3", "-o", "out.json"),
    "fit as JSON": ("fit", *LEARN, "--anyway", "--refits", "0", "--json"),
    **{
        f"fit as {form}": ("fit", *LEARN, "--anyway", "--refits", "0", "--export", form)
        for form in ("text", "markdown", "latex", "sql", "python")
    },
    "fit stops": ("fit", *LEARN),
    "report": ("report", *LEARN, "--anyway", "-o", "out.html", "--folds", "3", "--points", "5",
               "--no-baselines", "--refits", "3"),
    "frontier": ("frontier", *LEARN, "--points", "4", "-o", "out.json",
                 "--checkpoint", "done.json"),
    "frontier as JSON": ("frontier", *LEARN, "--points", "4", "--json"),
    "stability": ("stability", *LEARN, "--folds", "3", "--checkpoint", "done.json"),
    "stability as JSON": ("stability", *LEARN, "--folds", "3", "--json"),
    "compare": ("compare", *LEARN, "--folds", "3", "--method", "moss", "--method", "tree",
                "-o", "out.csv", "--checkpoint", "done.json"),
    "trust": ("compare", *LEARN, "--trust", "--refits", "3", "--seeds", "2", "--method", "moss",
              "-o", "out.csv"),
    "performance": ("performance", *LEARN, "--folds", "3", "--by", "site", "--by", "income",
                    "-o", "out.csv"),
    "performance as JSON": ("performance", *CLASSES, "--folds", "3", "--by", "site", "--json"),
    "check": ("check", "-t", "y"),
    "check as JSON": ("check", "-t", "status", "--json"),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_prints_or_writes_a_rare_value(files, rare, monkeypatch, name):
    """All that stands on the screen and in all files that are new is read."""
    monkeypatch.chdir(files)
    command, *arguments = COMMANDS[name]
    result = run(command, "visits.csv", *arguments)
    assert (result.exit_code == 0) == (name not in {"fit stops", "check", "check as JSON"})
    written = [path.read_text() for path in files.iterdir() if path.name != "visits.csv"]
    assert len(written) == sum(each.startswith(("out", "done")) for each in arguments)
    for text in (result.stdout, result.stderr, *written):
        assert rare_in(text, rare) == []


def test_no_refusal_of_subgroups_names_one(files, rare, monkeypatch):
    """Subgroups by an identifier are refused by their number."""
    monkeypatch.chdir(files)
    result = run("performance", "visits.csv", *LEARN, "--by", "patient")
    assert result.exit_code == 1
    assert rare_in(result.stderr, rare) == []


def results(X, y, status, folder):
    """Yield each thing that the library writes or shows, by name."""
    model = MossRegressor(4, **FORESTS).fit(X, y)
    classifier = MossClassifier(4, outcome="case", **FORESTS).fit(X, status)
    other = MossRegressor(4, n_trees=60, random_state=1, n_bins=6).fit(X, y)
    record = model.track_record(X, y, refits=3, checkpoint=folder / "record.json")
    yield "track record", (record.to_json(), repr(record))
    of_classes = classifier.track_record(X, status, refits=3)
    yield "track record of classes", (of_classes.to_json(), repr(of_classes))
    comparison = compare_rule_sets(model, other, X)
    yield "diff", (comparison.to_json(), comparison.to_html(), comparison.to_markdown(),
                   comparison.to_text())  # fmt: skip
    for kind, target in ((model, y), (classifier, status)):
        effects = split_effects(kind, X, target)
        yield "split effects", (effects.to_json(), effects.rules.to_json(), repr(effects))
        judged = performance(kind, X, target, cv=3, by=["site", "income"])
        yield "performance", (judged.to_json(), repr(judged))
    intervals = prediction_intervals(model, X, y, method="split")
    yield "conformal", (intervals.to_json(), repr(intervals))
    frontier = model.frontier(3)
    yield "frontier", (frontier.to_json(), repr(frontier))
    found = check(X, y)
    yield "check", (found.to_json(), repr(found))
    how = {"cv": 3, "checkpoint": folder / "evaluated.json"}
    yield "evaluation", (repr(evaluate({"moss": model}, X, y, **how)),)
    curve = evaluate_frontier(model, X, y, points=3, cv=3)
    yield "frontier evaluation", (repr(curve),)
    yield "trust", (assess({"moss": model}, X, y, refits=3, seeds=2).to_json(),)
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert len(written) == 2
    yield "checkpoints", tuple(path.read_text() for path in written)


def test_nothing_that_the_library_writes_has_a_rare_value(visits, rare, tmp_path):
    """Results as JSON, as pages and as they are printed, and the checkpoints of long runs."""
    for name, texts in results(*visits, tmp_path):
        assert all(texts), name
        assert [(name, value) for text in texts for value in rare_in(text, rare)] == []


def test_a_checkpoint_has_the_rules_that_refits_found(visits, tmp_path):
    """That is the exception which docs/report.md states: such a file stays where the data are."""
    X, y, _ = visits
    # Every row of these six is far off, so that refits name them.
    y = y + 40 * (X["site"] == "Smallville")
    model = MossRegressor(4, **FORESTS).fit(X, y)
    assert model.rules_.rare_levels == (("site", "Smallville"),)
    model.track_record(X, y, refits=2, scheme="folds", checkpoint=tmp_path / "record.json")
    assert "Smallville" in (tmp_path / "record.json").read_text()
