"""What the system refuses, and arguments of another type, are sentences that name the input."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

from mossrules import MossRegressor, data
from mossrules._refusals import described, is_from_files, names_input
from mossrules.evaluation import evaluate, track_record
from mossrules.exceptions import (
    InvalidFile,
    InvalidParameter,
    MossError,
    NotEnoughMemory,
    UnsupportedType,
)
from mossrules.solver import Options

FULL = OSError(errno.ENOSPC, "No space left on device")
ROWS = {"x": [1.0, 2.0, 3.0] * 10, "y": [1.0, 2.0, 4.0] * 10}


@names_input("X")
def outer(X, error, *, number: int = 0, flag: bool = False, path: str | Path = ""):  # noqa: ARG001
    """Raise an error, as something far below would."""
    return inner("a part of it", error)


@names_input("what")
def inner(what, error):  # noqa: ARG001
    """Raise an error."""
    raise error


@pytest.mark.parametrize(
    ("error", "kind", "sentence"),
    [
        (
            MemoryError("Unable to\nallocate 9 TiB."),
            NotEnoughMemory,
            (
                "There is not enough memory for rows.csv (Unable to allocate 9 TiB); pass fewer "
                "rows or columns, or free some."
            ),
        ),
        (
            RuntimeError("can't start new thread"),
            NotEnoughMemory,
            (
                "There is not enough memory for rows.csv (can't start new thread); pass fewer "
                "rows or columns, or free some."
            ),
        ),
        (
            FULL,
            InvalidFile,
            (
                "a part of it cannot be read or written (No space left on device); check that it "
                "is permitted and that there is room."
            ),
        ),
        (
            OSError(errno.EIO, "Input/output error", "other.csv"),
            InvalidFile,
            (
                "other.csv cannot be read or written (Input/output error); check that it is "
                "permitted and that there is room."
            ),
        ),
    ],
)
def test_what_the_system_refuses_names_the_input(error, kind, sentence):
    """Memory that of the call, files the nearest one there is; the cause is kept."""
    with pytest.raises(kind) as caught:
        outer("rows.csv", error)
    assert str(caught.value) == sentence
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [ZeroDivisionError("x"), RuntimeError("x"), KeyError("x")])
def test_mistakes_in_a_program_pass_through(error):
    """With sound arguments they are what they are, with their traceback."""
    with pytest.raises(type(error)) as caught:
        outer(ROWS, error, number=np.int64(3), flag=True, path=Path("x"))
    assert caught.value is error


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"number": "3"}, "number is of type str; pass int."),
        ({"number": True}, "number is of type bool; pass int."),
        ({"flag": np.zeros(3)}, "flag is of type ndarray; pass bool."),
        ({"path": 3.5}, "path is of type float; pass str | Path."),
    ],
)
def test_an_argument_of_another_type_is_named_where_a_call_fails(arguments, sentence):
    """In place of the error that it led to, which is kept as its cause."""
    with pytest.raises(UnsupportedType) as caught:
        outer(ROWS, TypeError("somewhere below"), **arguments)
    assert str(caught.value) == sentence
    assert isinstance(caught.value.__cause__, TypeError)


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("a\x00b.csv", ValueError("embedded null byte")),
        ("half \ud800.csv", UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed")),
    ],
)
def test_text_that_no_file_can_be_called_is_refused(path, error):
    """Python's own words for it are about bytes."""
    with pytest.raises(InvalidFile, match=r"X is .*which no file can be called"):
        outer(path, error)


def test_inputs_are_described_as_their_owner_knows_them():
    """Files by their names, tables by their size."""
    assert described("rows.csv") == "rows.csv"
    assert described([Path("a.csv"), "b.csv"]) == "a.csv and 1 more files"
    assert described(np.zeros((1200, 3))) == "the table of 1,200 rows and 3 columns"
    assert described(ROWS) == "the table of 30 rows and 2 columns"
    assert described(Options()) == "this Options"


def test_errors_of_ours_are_on_one_line_and_not_endless():
    """Whatever names and values are in them."""
    assert str(InvalidParameter("two\nlines")) == "two lines"
    said = str(MossError("x" * 10_000 + " the end"))
    assert len(said) < 2_000
    assert said.endswith(" the end")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: data.read_file(3), "path is of type int"),
        (lambda: data.read_file("rows.csv", delimiter=3), "delimiter is 3; pass one character"),
        (lambda: MossRegressor(inner_nodes=None).fit(ROWS, "y"), "inner_nodes is None; pass True"),
        (lambda: MossRegressor(verbose="loud").fit(ROWS, "y"), "verbose is of type str"),
        (lambda: MossRegressor(floor=np.zeros(2)).fit(ROWS, "y"), "floor is array"),
        (lambda: track_record("MOSS", ROWS, "y"), "model is of type str; pass an estimator"),
    ],
)
def test_malformed_calls_are_refused(call, words, tmp_path, monkeypatch):
    """Some of those that `python -m research.quality malformed` has found."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("x,y\n1,2\n3,4\n")
    with pytest.raises(MossError, match=words):
        call()


# --- evaluation -----------------------------------------------------------------------------------


def test_trouble_with_files_ends_the_refits_of_a_track_record(tmp_path, monkeypatch):
    """The run ends, and when it is resumed the refit is made."""
    model, checkpoint = MossRegressor(1, n_trees=10, random_state=0).fit(ROWS, "y"), tmp_path / "x"
    expected = track_record(model, ROWS, "y", refits=3)
    plan = "mossrules.evaluation.refitting.RefitPlan.refit"
    with monkeypatch.context() as lacking:
        lacking.setattr(plan, lambda *_: inner("disc", FULL))
        with pytest.raises(InvalidFile, match="disc cannot be read or written"):
            track_record(model, ROWS, "y", refits=3, checkpoint=checkpoint)
    found = track_record(model, ROWS, "y", refits=3, checkpoint=checkpoint)
    assert found.summary() == expected.summary()


def test_trouble_with_files_ends_an_evaluation(monkeypatch):
    """It says nothing of the method, and would be listed as its failure."""
    with pytest.raises(InvalidFile) as caught:
        inner("disc", FULL)
    assert is_from_files(caught.value)
    monkeypatch.setattr(MossRegressor, "fit_candidates", lambda *_, **__: inner("disc", FULL))
    with pytest.raises(InvalidFile, match="disc cannot be read or written"):
        evaluate({"MOSS": MossRegressor(1, n_trees=5)}, ROWS, "y", cv=2, n_jobs=1)
