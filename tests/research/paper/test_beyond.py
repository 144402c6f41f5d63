from dataclasses import replace

import numpy as np
import pytest

from mossrules import MossRegressor
from mossrules.data.rows import read_rows
from mossrules.defaults import PAPER_WAY
from mossrules.evaluation import evaluate
from mossrules.evaluation.folds import split_rows
from research.paper.beyond import CHOOSE, EXPERIMENT, MEASURE, inner_folds
from research.paper.beyond_tables import choices, published_means
from research.paper.framework import ExperimentContext
from research.paper.protocols import protocol_for
from support.experiment_cases import write_tables

NAMES = ("ESL", "mtp")
SETTINGS = replace(
    EXPERIMENT.quick, datasets=NAMES, n_trees=40, max_rules=4, shares=(1.0, 0.8), outer=(0, 2)
)


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    """Return two small tables, one of them a substitute, by our protocol."""
    folder = write_tables(tmp_path_factory.mktemp("tables"), *NAMES, substitutes=["mtp"])
    return ExperimentContext(protocol_for("ours"), folder, jobs=1)


@pytest.fixture(scope="module")
def rows(context):
    """Return what all tasks find."""
    return [
        row
        for task in EXPERIMENT.tasks(SETTINGS)
        for row in EXPERIMENT.run(SETTINGS, task, context)
    ]


def test_folds_inside_see_no_test_row_of_the_measurement(context):
    """They are the beginning of a partition of the training rows of their fold, and of no more."""
    data = context.load("ESL")
    settled = read_rows(data.X, data.y)
    for outer in range(SETTINGS.folds):
        tested = set(settled.origin[split_rows(settled, SETTINGS.folds)[outer][1]].tolist())
        left = set(range(len(data.y))) - tested
        every = replace(SETTINGS, inner=SETTINGS.folds)
        found = inner_folds(every, data, outer)
        assert sorted(row for _, test in found for row in test.tolist()) == sorted(left)
        for train, test in found:
            assert set(train.tolist()) == left - set(test.tolist())
        for few, all_of_them in zip(inner_folds(SETTINGS, data, outer), found, strict=False):
            np.testing.assert_array_equal(few[1], all_of_them[1])


def test_a_setting_is_judged_by_its_smaller_margin_over_the_papers_best(context, rows):
    """Figures are those of the bare estimator on the folds inside, and margins their means'."""
    chosen = [row for row in rows if row["kind"] == CHOOSE]
    best = [max(column) for column in zip(*published_means(NAMES).values(), strict=True)]
    found = choices(chosen)
    assert len(found) == len(SETTINGS.searches) * len(SETTINGS.shares)
    assert [each.margin for each in found] == sorted((each.margin for each in found), reverse=True)
    model = MossRegressor(
        4, n_trees=40, n_bins=10, max_features=1 / 3, stability=0.8, gap=0.01, random_state=0,
        **PAPER_WAY,
    )  # fmt: skip
    measured = []
    for name in NAMES:
        data = context.load(name)
        for outer in SETTINGS.outer:
            folds = inner_folds(SETTINGS, data, outer)
            each = evaluate(
                {"one": model}, data.X, data.y, cv=folds, n_jobs=1, identity="codes"
            ).summaries[0]
            measured.append((each.r2, each.dice.estimate))
    one = next(each for each in found if (each.features, each.share) == (1 / 3, 0.8))
    means = np.mean(measured, axis=0)
    assert (one.r2, one.dice) == pytest.approx(tuple(means))
    assert one.margin == pytest.approx(min(means - best))
    apart = np.array(measured).reshape(len(NAMES), len(SETTINGS.outer), 2).mean(axis=0)
    assert one.by_fold == pytest.approx((apart - best).min(axis=1))


def test_the_measurement_has_the_default_as_it_is(context, rows):
    """Its means, with the substitute and without, are those of the bare default on test folds."""
    expected = {}
    for name in NAMES:
        data = context.load(name)
        model = MossRegressor(4, n_trees=40, random_state=0)
        expected[name] = evaluate(
            {"one": model}, data.X, data.y, cv=5, n_jobs=1, identity="codes"
        ).summaries[0]
    shown = EXPERIMENT.present(SETTINGS, rows)
    ours, *_ = shown.tables[0].rows
    assert (ours["learner"], ours["failed"]) == ("MOSS", 0)
    assert ours["mean R2"] == pytest.approx(np.mean([each.r2 for each in expected.values()]))
    assert ours["R2 without substitutes"] == pytest.approx(expected["ESL"].r2)
    assert ours["Dice without them"] == pytest.approx(expected["ESL"].dice.estimate)
    assert {row["learner"] for row in rows if row["kind"] == MEASURE} == {
        "MOSS", "MOSS, the first default", "MOSS, 500 trees", "MOSS-H, the paper's search", "SIRUS"
    }  # fmt: skip
    assert shown.tables[2].rows[1]["dataset"] == "mtp (substitute)"
    assert shown.figures["beyond"]().axes


@pytest.mark.parametrize(("kind", "headings"), [(CHOOSE, 1), (MEASURE, 2)])
def test_a_run_that_is_not_finished_shows_what_it_has(rows, kind, headings):
    """The choice without the measurement, or the other way round."""
    shown = EXPERIMENT.present(SETTINGS, [row for row in rows if row["kind"] == kind])
    assert len(shown.tables) == headings
    assert not shown.figures
