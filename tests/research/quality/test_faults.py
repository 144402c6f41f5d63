"""Calls of the system that fail, and malformed calls: a few of them, and lies, which are found."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from research.quality import faults, malformed
from support.faults import KINDS, TASKS, Fault, Server, is_possible, prepare, trial
from support.stopping import Defect

pytestmark = pytest.mark.skipif(not is_possible(), reason="needs Linux and gcc")


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    """Return the trials of a prediction, with the process that makes them."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "inputs").mkdir()
    prepare(folder / "inputs")
    with Server(folder) as server:
        yield faults.Trials(server, TASKS["predict, CSV"], folder)


@pytest.mark.parametrize(
    ("fault", "ended"),
    [
        (Fault("open", 1, 24), "refused"),
        (Fault("read", 3, 5), "refused"),
        (Fault("write", 1, 28), "refused"),
        (Fault("fsync", 1, 5), "refused"),
        (Fault("replace", 1, 13), "refused"),
        (Fault("write in part", 1, 0), "whole"),
        (Fault("read in part", 2, 0), "whole"),
        (Fault("mkdir", 1, 28), "whole"),  # there is no such call
    ],
)
def test_a_call_that_fails_is_one_sentence_and_leaves_what_was_there(trials, fault, ended):
    """The old output, no temporary file, and nothing where the call is only done in part."""
    folder = trials._fresh()
    found = trial(trials.server, trials.task, folder, fault, trials.expected)
    old = found == "refused"
    assert ((folder / "predicted.csv").read_bytes() == b"of an earlier run") == old
    assert found == ended


def test_what_is_wrong_is_found(trials):
    """Another result than the undisturbed one, and files that are left."""
    lie = replace(trials.expected, outputs={})
    with pytest.raises(Defect, match="another result"):
        trial(trials.server, trials.task, trials._fresh(), Fault("mkdir", 1, 28), lie)
    task = replace(trials.task, outputs={})
    with pytest.raises(Defect, match=r"predicted.csv.* are left"):
        trial(trials.server, task, trials._fresh(), Fault("mkdir", 1, 28), replace(lie))


def test_faults_are_spread_over_all_calls_there_are():
    """Each kind has as many as were asked for, or as there are calls; the same for a seed."""
    counts = dict.fromkeys(KINDS, 100) | {"mkdir": 1, "chmod": 0}
    drawn = list(faults.faults(counts, 4, Random(3)))  # noqa: S311  no secrets
    assert drawn == list(faults.faults(counts, 4, Random(3)))  # noqa: S311
    by_kind = {kind: [each.nth for each in drawn if each.kind == kind] for kind in KINDS}
    assert (len(by_kind["open"]), len(by_kind["mkdir"]), len(by_kind["chmod"])) == (4, 1, 0)
    assert [(nth - 1) // 25 for nth in by_kind["write"]] == [0, 1, 2, 3]


def test_malformed_calls_are_tried_and_counted(capsys, monkeypatch):
    """Some that work, some that are refused, and a raw exception, which is a defect."""
    record = malformed.run(12, 1, "Options")
    assert record.passed, capsys.readouterr().out
    assert "12 calls" in record.seen
    monkeypatch.setitem(malformed.CALLS, "Options", (lambda value: value.no_such_name, {}))
    record = malformed.run(2, 1, "Options")
    assert not record.passed
    assert "DEFECT 'Options' 'value'" in capsys.readouterr().out


def test_malformed_commands_are_tried(tmp_path, monkeypatch):
    """By the real parser, in a folder with files."""
    malformed.sound_calls.write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert malformed.try_command("predict", "2", "nowhere.csv") == "refused"
    assert malformed.try_command("predict", "--explain", "x") == "refused"
    assert malformed.try_command("predict", "--explain", "1") == "worked"
