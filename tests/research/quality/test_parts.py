"""Parts of the quality page: what they count is what was seen."""

import copy
import signal
import subprocess
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from research.quality import interrupts, limits
from research.quality.determinism import Variation, compare
from research.quality.documentation import counts
from research.quality.interrupts import Trials, kind_of, moments
from research.quality.properties import FILES, examples
from support.stopping import COMMANDS, Ended

ROOT = Path(__file__).parents[3]
MODELS = {
    name: {
        "rules": ["x > 1"],
        "status": "optimal",
        "weights": [1.0, -2.0],
        "loss": [0.5],
        "bound": [0.5],
        "predictions": "abc",
    }
    for name in ("numbers", "classes", "cutting-plane")
}


@pytest.mark.parametrize(
    ("name", "part", "value", "every_bit", "defects"),
    [
        ("numbers", "rules", ["x > 2"], False, 1),
        ("numbers", "weights", [1.0 + 2**-52, -2.0], False, 1),
        ("classes", "weights", [1.0 + 2**-52, -2.0], False, 0),
        ("classes", "weights", [1.0 + 2**-52, -2.0], True, 1),
        ("classes", "weights", [1.1, -2.0], False, 1),
        ("numbers", "bound", [0.5 - 2**-50], False, 0),
        ("numbers", "bound", [0.5 - 2**-50], True, 1),
        ("cutting-plane", "bound", [0.4], False, 0),
        ("numbers", "loss", [], False, 2),
    ],
)
def test_what_differs_is_a_defect_where_it_must_not(name, part, value, every_bit, defects):
    """Bits of weights of numbers count always, those of others with threads and hash seeds."""
    found = copy.deepcopy(MODELS)
    found[name][part] = value
    row, wrong = compare(Variation("x", every_bit=every_bit), MODELS, found)
    assert len(wrong) == row["defects"] == defects


@pytest.mark.parametrize(
    ("last", "code", "expected"),
    [
        ("7 passed in 1.00s", 0, (7, 0)),
        ("2 failed, 7 passed, 1 error in 1.00s", 1, (7, 3)),
        ("1 failed, 7 passed, 2 errors in 1.00s", 1, (7, 3)),
        ("7 passed in 1.00s", 2, (7, 1)),
    ],
)
def test_tests_of_pages_are_counted_as_pytest_does(last, code, expected):
    """One error or several; a run that ended early has a failure."""
    assert counts(f"3 failed\n{last}\n", code) == expected


def test_moments_are_spread_over_the_run():
    """In order, each in its own part, and of all kinds."""
    found = moments(Random(0), 12, 6.0)  # noqa: S311  no secrets
    assert [int(2 * each.seconds) for each in found] == list(range(12))
    assert {each.number for each in found} == {signal.SIGINT, signal.SIGTERM, signal.SIGKILL}
    assert sum(each.again is not None for each in found) == 2
    assert any(each.at_file for each in found)


def test_kinds_moments_and_going_on_are_independent(monkeypatch):
    """Any kind comes in any part of the run, and after any kind a command is run again."""
    monkeypatch.setattr(interrupts, "finish", lambda *_: (6.0, {}))
    monkeypatch.setattr(interrupts, "stop", lambda *_: Ended(130, "without a result", ""))
    monkeypatch.setattr(Trials, "_fresh", lambda self, name: self.folder / name)
    met, again = set(), Counter()
    for seed in range(100):
        rng = Random(seed)  # noqa: S311  no secrets
        met |= {(int(each.seconds), kind_of(each)) for each in moments(rng, 6, 6.0)}
        trials = Trials(COMMANDS["demo"], Path("nowhere"))
        trials.run(rng, 6)
        assert trials.seen == {"without a result": 6, "went on": 2}
        again += trials.again
    kinds = {"Ctrl-C", "Ctrl-C twice", "SIGTERM", "SIGKILL"}
    assert met == {(part, kind) for part in range(6) for kind in kinds}
    assert set(again) == kinds


@pytest.mark.parametrize("name", FILES)
def test_files_with_properties_have_some(name):
    """A file that was moved, or has none any more, is told of."""
    assert "@given" in (ROOT / "tests" / name).read_text("utf-8")


def test_examples_are_those_that_hypothesis_counts():
    """Whatever its release calls them."""
    printed = (
        "tests/test_a.py::test_one:\n\n    - 300 passing, 0 failing, and 88 invalid test cases\n\n"
        "tests/test_a.py::test_two:\n\n    - 7 passing examples, 2 failing examples, 0 invalid\n"
        "    - 4 passing, 1 failing, and 0 invalid test cases\n"
    )
    assert dict(examples(printed)) == {"properties": 2, "examples": 314, "failures": 2}


def test_a_bound_above_a_loss_is_refused():
    """But for rounding."""
    limits.check(1.0, 1.0 + 1e-12)
    with pytest.raises(AssertionError, match="above the loss"):
        limits.check(1.0, 1.1)


@pytest.mark.parametrize(
    ("clock", "cpu", "late"),
    [(1.5, 1.5, False), (3.5, 3.0, True), (9.0, 0.5, False), (12.5, 0.0, True)],
)
def test_a_search_is_late_by_the_time_it_had_or_by_far(clock, cpu, late, monkeypatch):
    """Where it did not run, others did; but one that waits for ever is late as well."""
    ticks = {"monotonic": iter([0.0, clock]), "process_time": iter([0.0, cpu])}
    for name, each in ticks.items():
        monkeypatch.setattr(limits.time, name, each.__next__)
    times = limits.Times()
    assert limits.try_way(lambda *_: (1.0, 0.5, "time limit"), None, 1.0, times) == (1.0, 0.5)
    monkeypatch.undo()
    assert bool(times.defects) is late
    assert times.row("a")["worst by the clock"] == clock - 1.0


def test_a_way_that_fails_is_a_defect_and_others_are_tried(monkeypatch):
    """Be it refused by a check of its bound, or by anything else."""

    def refused(_problem, _seconds):
        limits.check(1.0, 1.1)

    ways = {"bad": refused, "worse": lambda *_: 1 // 0, "good": lambda *_: (1.0, 0.5, "optimal")}
    monkeypatch.setattr(limits, "WAYS", ways)
    monkeypatch.setattr(limits, "table_candidates", lambda: None)
    rows, defects = limits.try_time(1, 0)
    assert [row["ended"] for row in rows] == ["failed", "failed", "optimal"]
    assert [each.split(":")[0] for each in defects] == ["bad"] * 3 + ["worse"] * 3
    assert "above the loss" in defects[0]


def test_a_process_that_fails_is_a_defect_and_others_are_tried(monkeypatch, tmp_path):
    """What it said last is named."""
    done = subprocess.CompletedProcess([], 1, "", "Traceback\nerror: no room\n")
    monkeypatch.setattr(limits, "_process", lambda *_: done)
    said, defects = limits.try_memory(tmp_path)
    assert said == []
    assert [each.split(":")[0] for each in defects] == ["try_nodes", "try_files", "try_starving"]
    assert all("no room" in each for each in defects)
