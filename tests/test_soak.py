"""The soak test itself: it passes where all is well, and sees what is not."""

import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "soak"))

import soak


@pytest.fixture
def tree_only(monkeypatch):
    """Solve by branch and bound alone, for speed."""
    only = {"branch and bound": ("branch-and-bound", {})}
    monkeypatch.setattr(soak, "methods", lambda: only)


@pytest.mark.usefixtures("tree_only")
def test_a_few_problems_of_each_kind_match():
    """All are solved, and the report counts them."""
    tally = soak.Tally()
    for kind, problem, best in islice(soak.problems(5), 10):
        soak.examine(kind, problem, best, 0.0, tally)
    assert not tally.mismatches
    assert sum(tally.problems.values()) == 10
    text = soak.report(tally, 1.0, 5)
    assert "**10 problems, 10 solutions, 0 mismatches.**" in text
    assert "| branch and bound | 10 |" in text


@pytest.mark.usefixtures("tree_only")
@pytest.mark.parametrize(
    ("lie", "words"),
    [
        (lambda found: replace(found, loss=found.loss / 2, bound=found.bound / 2), "is below"),
        (lambda found: replace(found, loss=found.loss * 2, bound=found.loss * 2), "is above"),
        (lambda found: replace(found, stability=found.stability + 1), "does not verify"),
        (lambda found: found.no_such_name, "failed"),
    ],
)
def test_solutions_that_lie_are_mismatches(monkeypatch, lie, words):
    """Whatever is claimed wrongly."""
    solve = soak.solve
    monkeypatch.setattr(soak, "solve", lambda *given: lie(solve(*given)))
    tally = soak.Tally()
    kind, problem, best = next(soak.problems(5))
    soak.examine(kind, problem, best, 0.0, tally)
    assert any(words in each for each in tally.mismatches)
    assert "## Mismatches" in soak.report(tally, 1.0, 5)
