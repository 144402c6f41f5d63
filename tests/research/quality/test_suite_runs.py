"""Runs of the suite elsewhere: counts are pytest's own, and distributions have what they should."""

import subprocess
import sys
from pathlib import Path

import pytest

from research.quality._suite import (
    area_of,
    read_outcome,
    release_table,
    suite_record,
    versions,
)
from research.quality.wheel import NEEDED, sdist_faults, wheel_faults

PROGRAM = """
import pytest
def test_passes(): pass
@pytest.mark.parametrize("n", [1, 2])
def test_fails(n): assert n > 1
@pytest.mark.skip(reason="no such machine")
def test_is_skipped(): pass
@pytest.fixture
def broken(): raise ValueError
def test_cannot_run(broken): pass
"""
ABOUT = [
    f"mossrules-1.dist-info/{each}"
    for each in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """Return what became of two made-up files of tests."""
    folder = tmp_path_factory.mktemp("tests")
    (folder / "tests" / "frontier").mkdir(parents=True)
    (folder / "tests" / "frontier" / "test_sums.py").write_text(PROGRAM, "utf-8")
    (folder / "tests" / "test_nothing_known.py").write_text("def test_is_fine(): pass", "utf-8")
    plugins = ("-p", "no:randomly", "-p", "no:xdist", "-p", "no:hypothesispytest")
    command = [sys.executable, "-m", "pytest", *plugins, "--junitxml=results.xml"]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True)
    assert done.returncode == 1  # some failed
    return read_outcome(folder / "results.xml", done.returncode)


def test_every_test_is_counted_once(outcome):
    """As passed, failed or skipped, in the area of its file; errors are failures."""
    assert outcome.line() == "3 tests passed, 2 failed, 1 skipped"
    assert outcome.reasons == {"no such machine": 1}
    assert [name.rpartition("::")[2] for name in outcome.failures] == [
        "test_fails[1]",
        "test_cannot_run",
    ]
    table = {row["Area"]: row for row in outcome.table()}
    assert {area: (row["passed"], row["failed"]) for area, row in table.items()} == {
        "frontier": (2, 2),
        "other": (1, 0),
    }


def test_a_record_names_failures_and_reasons(outcome):
    """A run with a failure did not pass; releases are those of the environment that ran it."""
    used = {"python": "3.11.0", "numpy": "2.0.0"}
    record = suite_record(outcome, used, part="minimum", title="Lowest", asked="All pass.")
    assert not record.passed
    assert any("test_cannot_run" in note for note in record.notes)
    assert "Skipped, 1: no such machine" in record.notes
    assert record.made_by["numpy"] == "2.0.0"


def test_the_area_of_a_test_is_its_folder():
    """Whatever folders are below it; what stands in none is other."""
    assert area_of("tests.solver.kernels.test_swaps") == "solver"
    assert area_of("tests.test_anything") == area_of("test_anything") == "other"


def test_a_run_that_ended_early_is_none(tmp_path):
    """Its file may hold tests that passed, and none that failed."""
    results = tmp_path / "results.xml"
    results.write_text('<testsuite><testcase classname="test_a" name="test_b"/></testsuite>')
    whole = read_outcome(results, 0)
    assert suite_record(whole, {}, part="suite", title="All", asked="All pass.").passed
    failed = read_outcome(results, 1)  # of which the file does not know: a plugin's fault, say
    assert not suite_record(failed, {}, part="suite", title="All", asked="All pass.").passed
    for code in (2, 3, 4, 5, -9):
        with pytest.raises(SystemExit, match=f"ended with {code}"):
            read_outcome(results, code)


def test_releases_are_those_of_an_interpreter():
    """Each package that the core or an extra needs has one."""
    used = versions(Path(sys.executable))
    assert used["python"] == ".".join(map(str, sys.version_info[:3]))
    assert {"numpy", "gurobipy"} <= {row["Package"] for row in release_table(used)}


def test_what_a_wheel_has_too_much_or_too_little_is_named():
    """It has what git keeps in src, and what installers need."""
    tracked = ["README.md", *(f"src/{each}" for each in NEEDED), "src/mossrules/a.py"]
    whole = [*NEEDED, "mossrules/a.py", *ABOUT]
    assert wheel_faults(whole, tracked) == []
    assert wheel_faults([*whole, "tests/test_a.py"], tracked) == ["the wheel has tests/test_a.py"]
    assert wheel_faults(whole[1:], tracked) == [f"the wheel lacks {NEEDED[0]}"]
    assert wheel_faults(whole[:-1], tracked) == [f"the wheel lacks {ABOUT[-1]}"]


def test_a_source_distribution_has_what_git_keeps():
    """All of it, and no file that lies about."""
    names = ["mossrules-1/a.py", "mossrules-1/PKG-INFO", "mossrules-1/notes.txt"]
    assert sdist_faults(names, ["a.py", "b.py"]) == [
        "the source distribution lacks b.py",
        "the source distribution has notes.txt",
    ]
