from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from mossrules import MossRegressor, RuleSet
from mossrules.defaults import PAPER_WAY
from mossrules.evaluation import evaluate
from mossrules.solver.approximate.coordinate_descent import penalised_path, penalty_grid
from research.paper.approximate import SweptRegressor
from research.paper.framework import ExperimentContext
from research.paper.measuring import mean_of, mean_ranks
from research.paper.protocols import protocol_for
from research.paper.published import published_sensitivity
from research.paper.registry import find_experiment
from support.experiment_cases import write_tables

SMALL = {"n_trees": 40}
NAMES = ("ESL", "visualizing_galaxy")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with two small tables, one of them with gaps."""
    return write_tables(tmp_path_factory.mktemp("tables"), *NAMES, missing=["visualizing_galaxy"])


def run_small(name, folder, way="paper", **changes):
    """Return an experiment, its settings made small, and all its rows."""
    experiment = find_experiment(name)
    settings = replace(experiment.quick, **SMALL, **changes)
    context = ExperimentContext(protocol_for(way), folder, jobs=1)
    rows = [
        row
        for task in experiment.tasks(settings)
        for row in experiment.run(settings, task, context)
    ]
    return experiment, settings, rows


# --- measuring ------------------------------------------------------------------------------------


def row_of(dataset, learner, r2, dice, failed=0):
    """Return what ranks need."""
    return {"dataset": dataset, "learner": learner, "r2": r2, "dice": dice, "failed": failed}


def test_ranks_are_means_over_datasets_that_all_learners_have():
    """The best has rank 1, ties share theirs, and a dataset where one failed is left out."""
    rows = [
        row_of("one", "A", 0.9, 0.1),
        row_of("one", "B", 0.5, 0.7),
        row_of("one", "C", 0.5, 0.2),
        row_of("two", "A", 0.1, 0.1),
        row_of("two", "B", 0.2, 0.3),
        row_of("two", "C", 0.3, 0.2),
        row_of("three", "A", 0.9, 0.9),
        row_of("three", "B", 0.0, 0.0, failed=1),
        row_of("three", "C", 0.1, None),
    ]
    found = mean_ranks(rows)
    assert found["A"] == {"r2": 2.0, "dice": 3.0, "both": 2.5}
    assert found["B"] == {"r2": 2.25, "dice": 1.0, "both": 1.625}
    assert found["C"] == {"r2": 1.75, "dice": 2.0, "both": 1.875}
    assert np.isnan(mean_ranks(rows[6:])["A"]["both"])
    assert mean_of(rows[6:], "dice") == 0.45


# --- motivating -----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["paper", "ours"])
def test_the_motivating_table_counts_the_rules_that_it_keeps(folder, way):
    """Dice and the rules of all splits are those of the stored models, counted anew."""
    experiment, settings, rows = run_small("motivating", folder, way, max_rules=4)
    assert len(rows) == len(settings.learners) * settings.splits
    shown = experiment.present(settings, rows)
    for line in shown.tables[0].rows:
        models = [
            RuleSet.from_json(row["model"]) for row in rows if row["learner"] == line["learner"]
        ]
        sets = [set(model.rules) for model in models]
        pairs = [2 * len(a & b) / (len(a) + len(b)) for a, b in combinations(sets, 2)]
        assert line["Dice"] == pytest.approx(np.mean(pairs))
        assert line["rules in all splits"] == len(set.intersection(*sets))
        assert line["distinct rules"] == len(set.union(*sets))
    assert list(shown.figures) == ["motivating"]
    assert shown.figures["motivating"]().axes


# --- case studies ---------------------------------------------------------------------------------


def test_the_case_study_names_the_rules_that_every_analysis_has(tmp_path):
    """Rules in words are those of all stored models, and the black box has an R2 and no rules."""
    write_tables(tmp_path, "abalone", missing=["abalone"])
    experiment, settings, rows = run_small(
        "case-study", tmp_path, "ours", studies=("abalone",), analyses=2, forest_trees=5
    )
    accuracy, words = experiment.present(settings, rows).tables
    learners = [line["learner"] for line in accuracy.rows]
    assert learners[0] == "random forest"
    assert accuracy.rows[0]["Dice"] is None
    assert accuracy.rows[0]["test R2"] > 0
    for line in accuracy.rows[1:]:
        models = [
            RuleSet.from_json(row["model"]) for row in rows if row["learner"] == line["learner"]
        ]
        common = set.intersection(*(set(model.rules) for model in models))
        named = [each for each in words.rows if each["learner"] == line["learner"]]
        assert line["in every re-analysis"] == len(common) == len(named)
        assert line["failed"] == 0
    figures = experiment.present(settings, rows).figures
    assert set(figures) >= {"abalone-analyses", "abalone-structure-MOSS-H"}
    assert all(draw().axes for draw in figures.values())


def test_columns_that_name_places_are_left_out(tmp_path):
    """A dataset can be read less some of its columns, in both protocols."""
    write_tables(tmp_path, "us_crime")
    for way in ("paper", "ours"):
        context = ExperimentContext(protocol_for(way), tmp_path)
        found = context.load("us_crime", without=("place", "state"))
        assert list(found.X) == ["size", "age", "height"]


# --- sensitivity ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "values"), [("gamma", (0.001, 0.005)), ("k", (5, 10))])
def test_sensitivity_is_that_of_the_bare_estimator_beside_the_papers(folder, name, values):
    """A row is an evaluation of MOSS with that parameter, and has the printed figures beside it."""
    experiment, settings, rows = run_small(name, folder, datasets=("ESL",), values=values, folds=3)
    data = ExperimentContext(protocol_for("paper"), folder).load("ESL")
    for row, value in zip(rows, values, strict=True):
        parameters = {"gamma": value} if name == "gamma" else {"gamma": 0.0001, "max_rules": value}
        model = MossRegressor(
            stability="high", ties="drop", gap=0.01, n_trees=40, n_bins=10, max_features=1 / 3,
            random_state=0, **PAPER_WAY, **parameters,
        )  # fmt: skip
        expected = evaluate({"MOSS": model}, data.X, data.y, cv=3, identity="codes").summaries[0]
        assert (row["value"], row["r2"], row["dice"]) == (
            value,
            expected.r2,
            expected.dice.estimate,
        )
    means, each = experiment.present(settings, rows).tables
    for line, mean in zip(each.rows, means.rows, strict=True):
        r2, dice = published_sensitivity(name)["ESL", float(line[name])]
        assert (line["paper's R2"], line["paper's Dice"]) == (r2, dice)
        assert {name: line[name] for name in list(mean)[2:]} == {
            name: mean[name] for name in list(mean)[2:]
        }


# --- noise ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["paper", "ours"])
def test_all_learners_learn_from_noisy_targets(folder, way):
    """No learner fails, with gaps or without, and ranks add up to what ranks add up to."""
    experiment, settings, rows = run_small(
        "noise", folder, way, datasets=NAMES, folds=2, max_rules=4
    )
    assert len(rows) == 2 * len(settings.learners)
    assert all(row["failed"] == 0 and row["failure"] is None for row in rows)
    ranks = experiment.present(settings, rows).tables[0].rows
    for name in ("rank R2", "rank Dice", "combined"):
        assert sum(line[name] for line in ranks) == pytest.approx(1 + 2 + 3 + 4 + 5)


# --- approximate ----------------------------------------------------------------------------------


def test_a_swept_learner_has_the_selection_of_its_price(folder):
    """The first price is 0, and at the last only counts matter."""
    data = ExperimentContext(protocol_for("paper"), folder).load("ESL")
    found = {}
    for place in (0, 2, 4):
        model = SweptRegressor(5, place=place, prices=5, n_trees=40, random_state=0)
        model.fit(data.X, data.y)
        price = penalty_grid(model.problem_, 5)[place]
        expected = penalised_path(model.problem_, [price])[0]
        np.testing.assert_array_equal(model.solution_.support, expected.support)
        found[place] = model
    last = found[4]
    assert last.solution_.stability == last.problem_.max_stability
    assert found[0].solution_.loss <= last.solution_.loss
    assert np.isfinite(found[2].predict(data.X)).all()


def test_the_approximate_algorithm_is_beside_exact_choices_and_not_below_their_bound(folder):
    """Each point of the sweep loses at least the bound of the exact choice of its stability."""
    experiment, settings, rows = run_small(
        "approximate", folder, datasets=("ESL",), prices=4, shares=(1.0, 0.7), folds=2,
        max_rules=5, rows=100,
    )  # fmt: skip
    inside = [row for row in rows if row["where"] == "all rows"]
    outside = [row for row in rows if row["where"] == "folds"]
    assert [row["kind"] for row in outside] == ["approximate"] * 4 + ["exact"] * 2
    assert {row["rows"] for row in outside} == {100}
    for row in inside:
        assert row["best_bound"] <= row["loss"] * (1 + 1e-12)
    shown = experiment.present(settings, rows)
    assert shown.tables[0].rows[0]["points"] == len(inside) > 0
    assert len(shown.figures["approximate"]().axes) == 1


def test_tables_that_stand_in_for_the_papers_are_marked(tmp_path):
    """What the index calls no match has a mark in every table of datasets, and a note."""
    write_tables(tmp_path, "ESL", "no2", substitutes=["no2"])
    experiment, settings, rows = run_small(
        "gamma", tmp_path, datasets=("ESL", "no2"), values=(0.001,), folds=2
    )
    each = experiment.present(settings, rows).tables[1]
    assert [row["dataset"] for row in each.rows] == ["ESL", "no2 (substitute)"]
    assert any("stands in" in note for note in each.notes)
    plain = experiment.present(settings, rows[:1]).tables[1]
    assert not any("stands in" in note for note in plain.notes)
