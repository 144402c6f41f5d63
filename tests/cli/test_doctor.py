import json

import pytest
from typer.testing import CliRunner

from mossrules import RuleSet, __version__, cli, solver
from mossrules.cli import doctor
from mossrules.exceptions import InvalidFile


@pytest.fixture(scope="module")
def findings():
    """Return what is found on this machine."""
    return {each.about: each for each in doctor.examine()}


def test_a_sound_installation_has_no_fault(findings):
    """Releases are named, and the self-tests pass."""
    assert findings["mossrules"].what.startswith(__version__)
    assert not [each for each in findings.values() if each.state == "bad"]
    assert {"python", "numpy", "numba", "threads", "cache"} <= findings.keys()
    assert "the best of 16 rule sets" in findings["self-test: cutting plane"].what
    assert "agree in every bit" in findings["self-test: fits"].what
    assert "predict the same" in findings["self-test: exports"].what


def test_what_is_wrong_is_named_and_fails(monkeypatch):
    """Rules that cannot be read back are a fault, and so the exit is a failing one."""

    def refuse(_text):
        raise InvalidFile("The text is not JSON.")

    monkeypatch.setattr(RuleSet, "from_json", refuse)
    result = CliRunner().invoke(cli.app, ["doctor", "--json"])
    assert result.exit_code == 1
    content = json.loads(result.stdout)
    assert content["faults"] == 1
    (fault,) = [each for each in content["findings"] if each["state"] == "bad"]
    assert fault["what"] == "InvalidFile: The text is not JSON."


def test_a_missing_extra_is_a_note_and_a_missing_requirement_a_fault(monkeypatch):
    """Both say what to do."""
    asked = ["numpy>=2.0", "nosuchthing>=1", "nosuchextra>=2; extra == 'plot'"]
    monkeypatch.setattr("importlib.metadata.requires", lambda _: asked)
    monkeypatch.setattr(doctor, "SELF_TESTS", {})
    found = {each.about: each for each in doctor.examine()}
    assert (found["numpy"].state, found["nosuchthing"].state) == ("good", "bad")
    extra = found["nosuchextra (extra plot)"]
    assert extra.state == "note"
    assert 'pip install "mossrules[plot]"' in extra.what


def test_a_cache_that_is_not_there_is_a_note(monkeypatch, tmp_path):
    """Where kernels cannot be kept, it says what to set; where none are, what to expect."""
    monkeypatch.setattr(doctor, "SELF_TESTS", {})
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "missing"))
    found = {each.about: each for each in doctor.examine()}
    assert (found["cache"].state, found["branch and bound"].state) == ("note", "note")
    assert "set NUMBA_CACHE_DIR" in found["cache"].what


def test_a_method_that_finds_less_is_found_out(monkeypatch):
    """The self-test of solvers is no formality."""
    solve = solver.solve

    def spoilt(problem, method, options):
        return solve(problem.at(problem.max_stability), method, options)

    monkeypatch.setattr(solver, "solve", spoilt)
    with pytest.raises(AssertionError, match="is possible"):
        doctor.SELF_TESTS["self-test: cutting plane"]()
