"""The benchmarks at toy sizes: that they measure what they say, not how fast anything is."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from mossrules import Rule
from mossrules.candidates.rules import Range
from mossrules.cli import app
from research.benchmarks import __main__ as command
from research.benchmarks import agreement, authors_way, big, forest, path, statistics
from research.harness.reports import Skipped
from research.paper.generated import generated_rows


def test_a_failing_subject_counts_and_a_skipped_one_does_not(tmp_path, monkeypatch, capsys):
    """The exit status counts errors only, and later subjects still run."""

    def fail(*, quick):
        raise RuntimeError(f"broken, quick={quick}")

    def skip(*, quick):
        raise Skipped(f"not here, quick={quick}")

    monkeypatch.setattr(forest, "run", fail)
    monkeypatch.setattr(path, "run", skip)
    assert command.main(["forest", "path", "--quick", "--out", str(tmp_path)]) == 1
    printed = capsys.readouterr()
    assert "skipped: not here" in printed.out
    assert "broken" in printed.err
    assert json.loads((tmp_path / "path-quick.json").read_text())["skipped"]


@pytest.mark.usefixtures("research_commands")
def test_the_command_runs_the_subjects_that_are_named(tmp_path, monkeypatch):
    """Its status tells of a failure, and a subject that is not there is named with the others."""

    def skip(*, quick):
        raise Skipped(f"not here, quick={quick}")

    def fail(*, quick):
        raise RuntimeError(f"broken, quick={quick}")

    monkeypatch.setattr(path, "run", skip)
    monkeypatch.setattr(forest, "run", fail)
    out = ["--quick", "--out", str(tmp_path)]
    assert CliRunner().invoke(app, ["bench", "path", *out]).exit_code == 0
    assert (tmp_path / "path-quick.json").exists()
    assert CliRunner().invoke(app, ["bench", "path", "forest", *out]).exit_code == 1
    refused = CliRunner().invoke(app, ["bench", "swimming", *out])
    assert "no benchmark 'swimming'" in refused.stderr


def test_forest_times_are_positive():
    """Both forests are grown and timed."""
    times = forest.time_both(400, depth=2, reference_trees=4, repeats=1)
    assert min(times["ours"], times["scikit-learn"]) > 0


def test_statistics_agree_with_blas():
    """G is that of the explicit columns; q differs by the target's grid only."""
    timed = statistics.compare_times(2_000, 40, repeats=1)
    assert timed["error of G"] < 1e-9
    assert timed["error of q"] < 1e-6


def test_texts_become_the_rules_they_mean():
    """Codes of the notebook start at 0, ours at 1."""
    texts = frozenset(["age|2.5|R", "age|6.0|L", "income|0.5|L"])
    expected = Rule.of([Range("age", low=4, high=7), Range("income", high=1)])
    assert path.canonical(texts) == expected


def test_both_forms_of_the_notebook_give_the_same():
    """get_dummies and pivot make the same columns."""
    X, y = generated_rows(300, 6, seed=0)
    table = pd.DataFrame(X, columns=list("abcdef"))
    first, second = (
        authors_way.notebook_candidates(table, y, n_trees=10, seed=0, n_jobs=1, form=form)
        for form in ("dummies", "pivot")
    )
    assert first.rules == second.rules
    assert first.counts == second.counts
    np.testing.assert_array_equal(first.G, second.G)


def test_distinct_rules_are_counted_once_each():
    """First positions and numbers of appearances."""
    a, b = frozenset(["x|1|L"]), frozenset(["x|1|R"])
    assert authors_way.distinct_rules([a, b, a, a]) == ([0, 1], [3, 1])


def test_paths_find_the_same_number_of_rules(monkeypatch):
    """Both paths find about as many rules."""
    monkeypatch.setattr(path, "N_TREES", 30)
    X, y = generated_rows(600, 6, seed=0)
    table = pd.DataFrame(X, columns=list("abcdef"))
    figures = {figure.name: figure.measured for figure in path.check_rules(table, y, 2)}
    assert 0.5 < figures["distinct rules, ours over theirs"] < 2


def test_equal_forests_do_not_differ():
    """Forests compared with themselves have no difference anywhere."""
    data, _ = agreement.encode_codes(*generated_rows(200, 6, seed=0))
    pools = [agreement.our_proportions(data, 40, seed) for seed in range(2)]
    figures, worst = agreement.compare("toy", pools, pools, 40)
    assert figures[1].measured == 0
    assert all(row["ours"] == row["scikit-learn"] for row in worst)


def test_big_files_are_measured_pass_by_pass(tmp_path):
    """Each pass has its seconds, together those of the whole, and others grow trees beside it."""
    written = str(tmp_path / "rows.parquet")
    big.write_rows(written, 1500)
    found = big.measure(written, n_trees=8)
    assert found["seconds"] == pytest.approx(sum(found["passes"].values()))
    assert [*found["passes"]][:3] == ["numbering rows", "reading columns", "binning"]
    assert found["peak MB"] > 0
    other = big.measure_other(written, "scikit-learn", n_trees=4)
    assert other["rows"] == 1500
    assert other["seconds"] > 4 * other["a tree"]
    ours, others = [{"rows": 10, **found}, {"rows": 1500, **found}], [other]
    assert [each.measured for each in big._figures(ours, others)][:2] == [
        found["peak MB"],
        pytest.approx(1 / 150),
    ]
