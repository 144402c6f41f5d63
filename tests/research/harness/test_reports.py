import json

import pytest

from research.harness.reports import Bound, Figure, Report, conflict_figure, show, write_report


@pytest.mark.parametrize(
    ("relation", "measured", "met"),
    [(">=", 2.0, True), (">=", 1.9, False), ("<=", 2.0, True), ("<", 2.0, False)],
)
def test_a_figure_knows_whether_it_is_as_asked(relation, measured, met):
    """Bounds are checked as written, and no bound gives no verdict."""
    assert Figure("speed", measured, asked=Bound(relation, 2.0)).met is met
    assert Figure("speed", measured).met is None


def test_a_report_is_written_whole_and_reads_back(tmp_path):
    """The file holds figures, verdicts and environment; no temporary file is left."""
    report = Report("toy", [Figure("speed", 3.0, "times", Bound(">=", 2))])
    written = write_report(report, tmp_path, quick=False, taken=1.0)
    content = json.loads(written.read_text())
    assert [file.name for file in tmp_path.iterdir()] == ["toy.json"]
    assert content["figures"][0]["met"] is True
    assert {"python", "cpus", "packages", "commit"} <= content["environment"].keys()
    assert "met" in show(report, quick=False)
    assert "MISSED" in show(
        Report("toy", [Figure("speed", 1.0, asked=Bound(">=", 2))]), quick=False
    )


def test_a_busy_machine_gives_a_warning():
    """Figures taken beside other work carry a warning."""
    assert "WARNING" in show(Report("toy", busy_cores=0.9), quick=False)
    assert "WARNING" not in show(Report("toy", busy_cores=0.0), quick=False)


def test_conflicts_are_counted_and_none_is_asked_for():
    """Where they are is among the parts."""
    assert conflict_figure("runs", []).met
    found = conflict_figure("runs", ["t, tree"])
    assert (found.met, found.measured, found.parts) == (False, 1.0, {"runs": ["t, tree"]})


def test_a_row_that_lacks_a_column_has_an_empty_cell():
    """As that of a learner which could not be measured."""
    report = Report("toy", tables={"all": [{"learner": "a", "dice": 0.5}, {"learner": "b"}]})
    assert "\nb\n" in show(report, quick=False)
