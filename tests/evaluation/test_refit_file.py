"""Track records that were interrupted: what is kept, what is done again, and what is refused."""

import json
import os
import signal

import pytest

from mossrules.evaluation import track_record
from mossrules.evaluation.refitting import RefitPlan
from mossrules.exceptions import InvalidFile, MossError
from support.track_record_cases import classifier, labels, regressor, table

X, Y = table()
CLASSES = labels(Y, 3)


@pytest.fixture(scope="module")
def model():
    """Return a model; no test changes it."""
    return regressor().fit(X, Y)


@pytest.fixture
def made(monkeypatch):
    """Return the numbers of the refits that are made."""
    numbers, refit = [], RefitPlan.refit

    def counted(self, number, *rest):
        numbers.append(number)
        return refit(self, number, *rest)

    monkeypatch.setattr(RefitPlan, "refit", counted)
    return numbers


def interrupt_after(done):
    """Return a listener that interrupts a run."""

    def listen(state):
        if state.done == done:
            raise KeyboardInterrupt

    return listen


def test_an_interrupted_record_resumes(model, made, tmp_path):
    """What was done is in the file, and done once; the record is that of a run without a stop."""
    whole = track_record(model, X, Y, refits=6)
    made.clear()
    how = {"refits": 6, "checkpoint": tmp_path / "refits.json", "n_jobs": 1}
    with pytest.raises(KeyboardInterrupt):
        track_record(model, X, Y, progress=interrupt_after(2), **how)
    assert made == [0, 1]
    kept = json.loads((tmp_path / "refits.json").read_text())
    assert sorted(kept["refits"]) == ["0", "1"]
    told = []
    resumed = track_record(model, X, Y, progress=lambda s: told.append((s.done, s.total)), **how)
    assert resumed == whole
    assert resumed.people(backend="pandas").equals(whole.people(backend="pandas"))
    assert made == [0, 1, 2, 3, 4, 5]
    assert told[-1] == (6, 6)
    assert track_record(model, X, Y, threshold=2.0, confidence=0.5, **how).confidence == 0.5
    assert len(made) == 6
    assert [each.name for each in tmp_path.iterdir()] == ["refits.json"]


def test_a_signal_leaves_whole_refits(model, tmp_path):
    """Ctrl-C while threads work: the file has what is done, and the next run makes the others."""
    how = {"refits": 12, "checkpoint": tmp_path / "refits.json", "n_jobs": 2}

    def interrupt(state):
        if state.done == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        track_record(model, X, Y, progress=interrupt, **how)
    done = len(json.loads((tmp_path / "refits.json").read_text())["refits"])
    assert 3 <= done < 12
    assert track_record(model, X, Y, **how) == track_record(model, X, Y, refits=12)


def test_records_of_several_classes_resume(made, tmp_path):
    """Each refit has the rules of all classes."""
    model = classifier().fit(X, CLASSES)
    how = {"refits": 3, "checkpoint": tmp_path / "refits.json", "n_jobs": 1}
    with pytest.raises(KeyboardInterrupt):
        track_record(model, X, CLASSES, progress=interrupt_after(2), **how)
    resumed = track_record(model, X, CLASSES, **how)
    assert made == [0, 1, 2]
    assert resumed == track_record(model, X, CLASSES, refits=3)


def test_refits_that_failed_are_tried_again(model, monkeypatch, tmp_path):
    """A reason that has gone is none any more."""
    how = {"refits": 4, "checkpoint": tmp_path / "refits.json", "n_jobs": 1}
    refit = RefitPlan.refit

    def failing(self, number, *rest):
        if number == 1:
            raise MemoryError("none left")
        return refit(self, number, *rest)

    monkeypatch.setattr(RefitPlan, "refit", failing)
    assert track_record(model, X, Y, **how).failed == 1
    monkeypatch.setattr(RefitPlan, "refit", refit)
    assert track_record(model, X, Y, **how) == track_record(model, X, Y, refits=4)


def test_checkpoints_of_something_else_are_refused(model, made, tmp_path):
    """Other rows, settings, draws, models or files: in one sentence, and nothing is changed."""
    path = tmp_path / "refits.json"
    track_record(model, X, Y, refits=2, checkpoint=path)
    before = path.read_bytes()
    made.clear()
    turned = X.assign(dose=X["dose"].sample(frac=1.0, random_state=0).to_numpy())
    others = [
        (model, Y, {"refits": 3}),
        (model, Y, {"random_state": 1}),
        (model, Y, {"share": 0.5}),
        (model, Y, {"scheme": "bootstrap"}),
        (regressor(max_rules=4).fit(X, Y), Y, {}),
        (regressor().fit(X, Y + 1), Y + 1, {}),
    ]
    for other, y, how in others:
        with pytest.raises(MossError, match=r"belongs to other data, refits or settings; remove"):
            track_record(other, X, y, **{"refits": 2, "checkpoint": path, **how})
    other = regressor().fit(turned, Y)
    with pytest.raises(InvalidFile, match="belongs to other data, refits or settings"):
        track_record(other, turned, Y, refits=2, checkpoint=path)
    assert made == []
    assert path.read_bytes() == before


def test_damaged_checkpoints_are_refused(model, tmp_path):
    """With what is wrong, and what to do."""
    path = tmp_path / "refits.json"
    track_record(model, X, Y, refits=2, checkpoint=path)
    content = json.loads(path.read_text())
    short = json.loads(path.read_text())
    short["refits"]["0"] = short["refits"]["0"][:-9]
    odd = json.loads(path.read_text())
    odd["refits"]["1"] = "no rules"
    for text in (json.dumps(content)[:-9], json.dumps(short), json.dumps(odd), "[]"):
        path.write_text(text)
        with pytest.raises(InvalidFile, match="remove it"):
            track_record(model, X, Y, refits=2, checkpoint=path)
