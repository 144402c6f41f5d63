from dataclasses import replace

import numpy as np
import pytest

from mossrules import MossRegressor
from mossrules.baselines.registry import METHODS
from mossrules.evaluation import evaluate
from research.paper.datasets import NUMBERS_OF
from research.paper.framework import ExperimentContext
from research.paper.measuring import compare
from research.paper.performance import EXPERIMENT
from research.paper.performance_tables import differences, ranks, tables
from research.paper.protocols import protocol_for
from research.paper.published import published_results
from research.paper.registry import find_experiment
from support.experiment_cases import write_tables

NAMES = ("ESL", "mtp")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with two small tables, one with gaps that stands in for the paper's."""
    path = tmp_path_factory.mktemp("tables")
    return write_tables(path, *NAMES, missing=["mtp"], substitutes=["mtp"])


@pytest.fixture(scope="module")
def measured(folder):
    """Return settings made small, and all their rows under the paper's protocol."""
    settings = replace(EXPERIMENT.quick, datasets=NAMES, n_trees=30, folds=2, sizes=(5, 3))
    context = ExperimentContext(protocol_for("paper"), folder, jobs=1)
    tasks = EXPERIMENT.tasks(settings)
    return settings, [row for task in tasks for row in EXPERIMENT.run(settings, task, context)]


def papers_rows():
    """Return the paper's own tables as rows."""
    columns = {
        "r2": "r2_mean", "r2_se": "r2_se", "dice": "dsc_mean", "dice_se": "dsc_se",
        "dice_spread": "dsc_se", "jaccard": "jaccard_mean", "ochiai": "ochiai_mean",
        "pog": "pog_mean",
    }  # fmt: skip
    same = {"max_rules": 15, "substitute": False, "failed": 0, "unproven": 0, "n_rules": 15.0}
    return [
        {"dataset": dataset, "learner": learner, "seconds": 1.0, **same}
        | {name: published_results(table)[dataset, learner] for name, table in columns.items()}
        for dataset in NUMBERS_OF
        for learner in METHODS
    ]


def test_every_table_is_run_once():
    """The full run has the paper's thirty datasets, each under its name."""
    assert sorted(EXPERIMENT.full.datasets) == sorted(NUMBERS_OF)
    assert set(EXPERIMENT.quick.datasets) < set(NUMBERS_OF)


def test_rows_are_those_of_bare_learners(measured, folder):
    """A row has what an evaluation of that learner alone says, medians filled in or not."""
    settings, rows = measured
    assert len(rows) == len(NAMES) * len(METHODS) * 2
    assert all(row["failed"] == 0 for row in rows)
    for dataset in NAMES:
        data = ExperimentContext(protocol_for("paper"), folder).load(dataset)
        model = protocol_for("paper").moss("medium", data.X, max_rules=3, n_trees=30, seed=0)
        expected = evaluate({"MOSS": model}, data.X, data.y, cv=2).summaries[0]
        found = [
            row
            for row in rows
            if (row["dataset"], row["learner"], row["max_rules"]) == (dataset, "MOSS-M", 3)
        ]
        assert [(row["r2"], row["dice"]) for row in found] == [
            (expected.r2, expected.dice.estimate)
        ]
    assert settings.sizes == (5, 3)


def test_what_is_shown_has_all_sizes_and_marks(measured):
    """There are means for each size, the stand-in is marked, and figures can be drawn."""
    settings, rows = measured
    shown = EXPERIMENT.present(settings, rows)
    headings = [table.heading for table in shown.tables]
    assert {"Means over datasets, 5 rules", "Means over datasets, 3 rules"} <= set(headings)
    each = shown.tables[headings.index("Dice of each dataset, 3 rules")]
    assert [row["dataset"] for row in each.rows] == ["ESL", "mtp (substitute)"]
    assert any("Without mtp" in note for note in shown.tables[0].notes)
    for draw in shown.figures.values():
        assert draw().axes


def test_the_default_of_ours_takes_the_place_of_high(folder):
    """Under our protocol a bare MOSS is run too, and it is what is held against the paper."""
    settings = replace(EXPERIMENT.quick, datasets=("ESL",), n_trees=30, folds=2, ours=("MOSS",))
    context = ExperimentContext(protocol_for("ours"), folder, jobs=1)
    rows = EXPERIMENT.run(settings, "ESL", context)
    data = context.load("ESL")
    bare = {"MOSS": MossRegressor(n_trees=30, random_state=0)}
    expected = compare(context, data, bare, 2).summaries[0]
    assert [(row["learner"], row["r2"]) for row in rows] == [("MOSS", expected.r2)]
    headings = [table.heading for table in EXPERIMENT.present(settings, rows).tables]
    assert "Where MOSS is below the paper's MOSS-H" in headings


def test_the_papers_own_tables_give_what_its_text_says():
    """Ranks, the 24 comparable datasets and mean differences come out of its tables as printed."""
    rows = papers_rows()
    for rank in ranks(rows):
        assert rank.papers == pytest.approx((rank.r2, rank.dice), abs=0.21)  # it rounds its tables
    sirus, fire, dice = differences(rows)
    assert sirus.ours == sirus.papers
    assert len(sirus.ours) == 24
    assert np.mean(sirus.ours) == pytest.approx(10, abs=0.5)
    assert len(fire.ours) == 30
    assert np.mean(dice.ours) == pytest.approx(190, abs=1)
    found = {table.heading: table for table in tables(rows, (15,))}
    means = {row["learner"]: row for row in found["Means over datasets, 15 rules"].rows}
    assert means["MOSS-H"]["R2"] == means["MOSS-H"]["paper's R2"]
    assert round(means["MOSS-H"]["R2"], 3) == 0.643
    assert round(means["SIRUS"]["Dice"], 3) == 0.638
    below = found["Where MOSS-H is below the paper's MOSS-H"]
    assert below.rows == []
    worse = [{**row, "r2": row["r2"] - 0.1} if row["dataset"] == "mv" else row for row in rows]
    below = next(table for table in tables(worse, (15,)) if "below" in table.heading)
    found = [(row["dataset"], row["R2 below by"], row["Dice below by"]) for row in below.rows]
    assert found == [("mv", pytest.approx(0.1), None)]
    assert "in R2 on 1 of 30 datasets, in Dice on 0, in both on 0" in below.notes[0]


def test_seeds_of_their_own_are_beside_one_for_all(folder):
    """With one seed figures are those of the performance experiment; the paper's are beside."""
    experiment = find_experiment("seeds")
    settings = replace(experiment.quick, datasets=("ESL",), n_trees=30, folds=2, max_rules=5)
    settings = replace(settings, learners=("MOSS-H", "SIRUS"))
    context = ExperimentContext(protocol_for("paper"), folder, jobs=1)
    rows = experiment.run(settings, "ESL", context)
    assert [row["seeds"] for row in rows] == ["one", "one", "own", "own"]
    data = context.load("ESL")
    learners = {"SIRUS": protocol_for("paper").learners(data.X, max_rules=5, n_trees=30)["SIRUS"]}
    for row, vary in ((rows[1], False), (rows[3], True)):
        expected = evaluate(learners, data.X, data.y, cv=2, vary_seed=vary).summaries[0]
        assert (row["r2"], row["dice"]) == (expected.r2, expected.dice.estimate)
    means, each = experiment.present(settings, rows).tables
    assert means.rows[0]["paper's Dice"] == published_results("dsc_mean")["ESL", "MOSS-H"]
    assert means.rows[1]["Dice, own seed"] == rows[3]["dice"] == each.rows[1]["Dice, own seed"]
