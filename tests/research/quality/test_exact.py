"""Answers against exact arithmetic: a few problems of each kind, and lies, which are found."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mossrules.solver import Options, Problem, Status, solve
from research.quality import exact
from support.exact import DRAWN, Answers, ExactLoss
from support.oracles import signed_loss


def eliminated(problem, support):
    """Return H2 of a selection by Gaussian elimination in fractions."""
    data, S = problem.statistics, list(support)
    rows = [
        [Fraction(float(data.G[i, j])) + (1 / Fraction(problem.gamma) if i == j else 0) for j in S]
        + [Fraction(float(data.q[i]))]
        for i in S
    ]
    explained = Fraction(0)
    for n, row in enumerate(rows):
        explained += row[-1] ** 2 / row[n]
        for below in rows[n + 1 :]:
            factor = below[n] / row[n]
            below[:] = [a - factor * b for a, b in zip(below, row, strict=True)]
    return (Fraction(float(data.yy)) - explained) / 2


@pytest.mark.parametrize("signed", [False, True])
def test_losses_by_determinants_are_those_by_elimination(signed):
    """To the last digit where signs are free, and as near as scipy comes where they are not."""
    draw = np.random.default_rng(0)
    for support in [(), (1,), (0, 2), (1, 2, 3), (0, 1, 2, 4)]:
        M, y = draw.normal(size=(7, 5)), draw.normal(size=7)
        M[:, 4] = M[:, 0] + M[:, 1] if signed else M[:, 4]
        problem = Problem.from_matrix(
            M, y, np.arange(5), max_rules=4, gamma=0.7, signs=[1, -1, 1, 0, -1] if signed else None
        )
        if signed:
            expected = signed_loss(problem, support)
            assert float(ExactLoss(problem)(support)) == pytest.approx(expected, rel=1e-12)
        else:
            assert ExactLoss(problem)(support) == eliminated(problem, support)


@pytest.mark.parametrize("kind", DRAWN)
def test_a_few_problems_of_each_kind_are_right(kind):
    """With other methods, a frontier and the whole of `verify` for the first of them."""
    seen = Counter()
    wrong = [each for n in range(12) for each in exact.examine(DRAWN[kind](70 + n), n, seen)]
    assert not wrong
    assert seen["problems"] == 12
    assert seen["optimal"] + seen["infeasible"] + seen["refused"] == 12


def one_problem():
    """Return a problem, its answers and its solution, which has a rule."""
    problem, _ = DRAWN["numbers, rules as columns"](70).make()
    solution = solve(problem, "branch-and-bound", Options(gap=0.0))
    assert len(solution.support) > 0
    return problem, Answers(problem), solution


@pytest.mark.parametrize(
    ("lie", "words"),
    [
        (lambda s, p: replace(s, bound=s.bound + 2e-12 * p.null_loss), "above the optimum"),
        (lambda s, _: replace(s, bound=2 * s.loss), "above its own loss"),
        (lambda s, p: replace(s, loss=s.loss + 5e-12 * p.null_loss), "off by"),
        (lambda s, _: replace(s, stability=s.stability + 1), "stability is"),
        (lambda s, _: replace(s, status=Status.TIME_LIMIT), "status time"),
        (lambda s, _: replace(s, status=Status.INFEASIBLE), "a selection is feasible"),
        (lambda s, p: replace(s, support=np.arange(p.max_rules + 1)), "breaks a condition"),
    ],
)
def test_lies_are_found(lie, words):
    """However small."""
    problem, answers, solution = one_problem()
    assert not list(exact.mistakes(solution, problem, answers))
    found = list(exact.mistakes(lie(solution, problem), problem, answers))
    assert any(words in each for each in found), found


def test_an_answer_where_there_is_none_is_a_mistake():
    """A problem of which every selection breaks the floor has no solution."""
    problem, answers, solution = one_problem()
    too_high = replace(problem)
    object.__setattr__(too_high, "min_stability", 10**6)
    assert "nothing is feasible" in next(exact.mistakes(solution, too_high, answers))


def test_a_run_is_counted_and_mistakes_are_repeatable(monkeypatch, capsys):
    """What is wrong is printed with its seed, and the record does not pass."""
    record = exact.run(6, 3, None)
    assert record.passed
    assert record.seen.startswith("6 problems, ")
    assert [row["problems"] for row in record.table] == [1] * 6
    monkeypatch.setattr(exact, "solve", lambda *_: 1 / 0)
    record = exact.run(2, 3, "two classes")
    assert not record.passed
    assert "two classes with seed 3000009: " in capsys.readouterr().out
