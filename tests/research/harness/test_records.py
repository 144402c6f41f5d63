import pytest

from research.harness.records import resume


def test_a_benchmark_resumes_only_with_its_own_settings(tmp_path, capsys):
    """Finished parts come back for the same settings, not for others, and go at the end."""
    settings = {"limit": 1, "names": ("a", "b")}
    assert resume(tmp_path, "toy", settings, quick=True).once("a", lambda: [{"x": 1}]) == [{"x": 1}]
    again = resume(tmp_path, "toy", settings, quick=True)
    assert again.once("a", lambda: pytest.fail("it was finished")) == [{"x": 1}]
    other = resume(tmp_path, "toy", {**settings, "limit": 2}, quick=True)
    assert other.tasks == {}
    assert "starting afresh" in capsys.readouterr().err
    other.once("a", list)
    other.delete()
    assert not list(tmp_path.iterdir())
