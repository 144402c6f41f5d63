"""The soak test itself: it passes where all is well, and sees what is not."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from mossrules.exceptions import InfeasibleProblem, InvalidParameter, LicenceLimit, MossError
from mossrules.solver import NearOptimalSet
from research.quality import soak
from research.quality._page import made, table
from research.quality._record import FOLDER, read_records


@pytest.fixture
def tree_only(monkeypatch):
    """Solve by branch and bound alone, for speed."""
    only = soak.methods()["branch and bound"]
    monkeypatch.setattr(soak, "methods", lambda: {"branch and bound": only})


@pytest.mark.usefixtures("tree_only")
def test_a_few_problems_of_each_kind_match():
    """All are solved, and the report counts them."""
    tally = soak.Tally()
    for kind, problem, best in islice(soak.problems(5), 10):
        soak.examine(kind, problem, best, 0.0, tally)
        if kind in soak.LISTED:
            soak.examine_pool(problem, 0.2, tally)
    assert not tally.mismatches
    assert (sum(tally.problems.values()), tally.listed, tally.pools) == (10, 9, 6)
    record = soak.as_record(tally, 1.0, 5)
    assert record.passed
    assert record.seen.startswith("10 problems, 10 solutions, 0 mismatches;")
    assert "| branch and bound | 10 |" in soak.page(record, tally)


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
    record = soak.as_record(tally, 1.0, 5)
    assert not record.passed
    assert "## Mismatches" in soak.page(record, tally)


@pytest.mark.usefixtures("tree_only")
@pytest.mark.parametrize(
    ("error", "counted"),
    [
        (InvalidParameter("no"), "refused"),
        (LicenceLimit("no"), "refused"),
        (MossError("no"), "failed"),
    ],
)
def test_what_a_method_says_of_itself_is_counted(monkeypatch, error, counted):
    """A refusal is one thing, failed arithmetic another, and neither is a mismatch."""
    monkeypatch.setattr(soak, "solve", raising(error))
    tally = soak.Tally()
    kind, problem, best = next(soak.problems(5))
    soak.examine(kind, problem, best, 0.0, tally)
    assert {"refused": tally.refused, "failed": tally.failed}[counted].total() == 1
    assert (tally.refused + tally.failed).total() == 1
    assert not tally.mismatches


@pytest.mark.usefixtures("tree_only")
def test_a_selection_that_is_denied_is_a_mismatch(monkeypatch):
    """Where there is one; where there is none, the method was right."""
    monkeypatch.setattr(soak, "solve", raising(InfeasibleProblem("none")))
    kind, problem, best = next(soak.problems(5))
    for least, mismatches in ((best, 1), (lambda: np.inf, 0)):
        tally = soak.Tally()
        soak.examine(kind, problem, least, 0.0, tally)
        assert len(tally.mismatches) == mismatches


@pytest.mark.usefixtures("tree_only")
def test_a_check_that_fails_is_a_mismatch(monkeypatch):
    """In `verify` or in brute force: the run goes on, and keeps what it has counted."""
    monkeypatch.setattr(soak.Solution, "verify", raising(ZeroDivisionError("in verify")))
    tally = soak.Tally()
    kind, problem, _ = next(soak.problems(5))
    soak.examine(kind, problem, raising(ZeroDivisionError("in brute force")), 0.0, tally)
    assert ["in brute force" in each for each in tally.mismatches] == [True, False]
    assert ["in verify" in each for each in tally.mismatches] == [False, True]
    assert (tally.solved.total(), tally.listed) == (1, 0)


@pytest.mark.parametrize("where", ["near_optimal", "brute_force_pool"])
def test_a_list_that_cannot_be_made_is_a_mismatch(monkeypatch, where):
    """By us or by brute force: the run goes on, and keeps what it has counted."""
    monkeypatch.setattr(soak, where, raising(ZeroDivisionError("in the list")))
    tally = soak.Tally()
    soak.examine_pool(soak.random_problem(3), 0.3, tally)
    assert "in the list" in tally.mismatches[0]
    assert tally.pools == 0


def raising(error):
    """Return a function that fails, whatever it is given."""

    def fail(*_given):
        raise error

    return fail


def test_its_page_agrees_with_its_record():
    """They are of the same run: what was seen, by each method, when and with what."""
    record = read_records()["soak"]
    text = FOLDER.with_name("soak.md").read_text("utf-8")
    assert f"**{record.seen}.**" in text
    assert f"`{record.command}` {made(record)};" in text
    assert "\n".join(table(record.table)) in text


def test_floors_share_a_tree_and_each_is_right():
    """The way through a frontier finds the optimum of the problem's own floor."""
    tally = soak.Tally()
    for kind, problem, best in islice(soak.problems(7), 5):
        shared = soak.solve_among_others(problem, soak.Options(gap=0.0))
        if shared.has_selection:
            assert shared.loss == pytest.approx(best(), rel=1e-9, abs=1e-12)
            soak.check(kind, "shared", shared, problem, tally)
    assert not tally.mismatches


@pytest.mark.parametrize("less", [slice(1, None), slice(None, -1)])
def test_a_list_that_lacks_a_selection_is_a_mismatch(monkeypatch, less):
    """Be it the best or the last."""

    def shortened(*given) -> NearOptimalSet:
        pool = near_optimal(*given)
        return replace(pool, supports=pool.supports[less], losses=pool.losses[less])

    near_optimal = soak.near_optimal
    monkeypatch.setattr(soak, "near_optimal", shortened)
    tally = soak.Tally()
    soak.examine_pool(soak.random_problem(3), 0.3, tally)
    assert any("one list only" in each for each in tally.mismatches)
