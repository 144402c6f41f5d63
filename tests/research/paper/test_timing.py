import os
from dataclasses import replace

import numpy as np
import pytest

from mossrules.exceptions import InvalidParameter, LicenceLimit, MissingDependency
from mossrules.solver import Options, Problem
from research.paper import efficient_pareto, generated, solvers, timing
from research.paper.direct import compress
from research.paper.framework import ExperimentContext
from research.paper.generated import generated_statistics
from research.paper.protocols import protocol_for
from research.paper.registry import find_experiment
from support.experiment_cases import write_tables
from support.oracles import brute_force

PACKAGES = {
    solvers.AUTHORS_GUROBI: "gurobipy",
    solvers.DIRECT_GUROBI: "gurobipy",
    solvers.DIRECT_SCIP: "pyscipopt",
}


@pytest.fixture(scope="module")
def problem():
    """At most four of twelve columns, two of them equal, at a floor that matters."""
    rng = np.random.default_rng(5)
    M = rng.random((40, 12)) * (rng.random((40, 12)) < 0.5)
    M[:, 7] = M[:, 3]
    y = M[:, :5].sum(axis=1) + 0.3 * rng.standard_normal(40)
    counts = rng.integers(1, 20, 12)
    found = Problem.from_matrix(M, y - y.mean(), counts, max_rules=4, gamma=0.1)
    return found.at(int(0.8 * found.max_stability))


# --- ways to solve --------------------------------------------------------------------------------


@pytest.mark.parametrize("way", list(solvers.WAYS))
def test_every_way_finds_what_brute_force_finds(problem, way):
    """The loss is the least to within the gap, the bound is below it, and times are counted."""
    if way in PACKAGES:
        pytest.importorskip(PACKAGES[way])
    row = solvers.measure(way, problem, gap=1e-5, limit=60.0)
    least = brute_force(problem)[0]
    asked = solvers.FINE if way == solvers.OURS_FINE else 1e-5
    assert row["status"] == solvers.PROVEN
    assert least * (1 - 1e-9) <= row["loss"] <= least * (1 + 2 * asked)
    assert row["bound"] <= least * (1 + solvers.ROUNDING)
    direct = (solvers.DIRECT_GUROBI, solvers.DIRECT_SCIP)  # stop by a loss within their tolerances
    off = solvers.ROUNDING if way in direct else 0.0
    assert row["gap"] <= asked * (1 + 1e-6) + off
    assert row["seconds"] > 0
    assert row["cpu_seconds"] > 0


@pytest.mark.parametrize("way", [solvers.AUTHORS_HIGHS, solvers.DIRECT_SCIP])
def test_a_way_without_time_says_so(problem, way):
    """The status is the limit, and what is claimed still holds."""
    if way in PACKAGES:
        pytest.importorskip(PACKAGES[way])
    found = solvers.WAYS[way](problem, Options(gap=1e-5, time_limit=1e-9))
    assert found.status.value == solvers.LIMIT
    assert found.bound <= brute_force(problem)[0]


def test_what_is_not_there_is_a_status(problem, monkeypatch):
    """A missing package and a licence too small end no run; the floors below are not tried."""
    calls = []

    def fail(error):
        def way(_problem, _options):
            calls.append(error)
            raise error("No.")

        return way

    monkeypatch.setitem(solvers.WAYS, "absent", fail(MissingDependency))
    monkeypatch.setitem(solvers.WAYS, "small", fail(LicenceLimit))
    for way, status in (("absent", solvers.NOT_INSTALLED), ("small", solvers.NO_LICENCE)):
        calls.clear()
        rows = solvers.measure_down(way, problem, [20, 30, 10], gap=0.05, limit=1.0)
        assert [row["floor"] for row in rows] == [30, 20, 10]
        assert {row["status"] for row in rows} == {status}
        assert all(row["loss"] is None for row in rows)
        assert len(calls) == 2  # to warm up, and the first floor


class Bomb:
    """Ends the process that unpickles it, without an exception, as a crash does."""

    def __reduce__(self):
        return os._exit, (1,)

    def at(self, _floor):
        """Return the problem at a floor."""
        return self

    max_stability = 1


@pytest.mark.slow
def test_a_library_that_crashes_takes_nothing_with_it(problem):
    """A crash is a status like others, after which other problems are solved."""
    pytest.importorskip("pyscipopt")
    rows = solvers.measure_down(solvers.DIRECT_SCIP, Bomb(), [3, 2, 1], gap=0.05, limit=5.0)
    assert [row["status"] for row in rows] == [solvers.CRASHED] * 2 + [solvers.SKIPPED]
    floor = problem.max_stability
    (row,) = solvers.measure_down(solvers.DIRECT_SCIP, problem, [floor], gap=0.0, limit=20.0)
    expected = solvers.measure(solvers.OURS, problem.at(floor), gap=0.0, limit=20.0)
    assert row["status"] == solvers.PROVEN
    assert row["loss"] == pytest.approx(expected["loss"], rel=1e-6)


def test_after_two_limits_floors_are_skipped(problem, monkeypatch):
    """A floor that is solved between them does not start the count anew."""
    solved = [False, True, False]
    way = solvers.WAYS[solvers.AUTHORS_HIGHS]

    def slow(at_floor, options):
        limit = 60.0 if solved.pop(0) else 1e-9
        return way(at_floor, replace(options, gap=1e-5, time_limit=limit))

    monkeypatch.setattr(solvers, "warm_up", lambda _way: None)
    monkeypatch.setitem(solvers.WAYS, "slow", slow)
    rows = solvers.measure_down("slow", problem, [30, 25, 20, 15, 10], gap=0.05, limit=1.0)
    skipped = [solvers.SKIPPED] * 2
    expected = [solvers.LIMIT, solvers.PROVEN, solvers.LIMIT, *skipped]
    assert [row["status"] for row in rows] == expected


def test_a_bound_above_another_loss_is_a_contradiction():
    """Only within one problem, beyond rounding, and where both figures are known."""
    rows = [
        {"eps": 1, "loss": 10.0, "bound": 9.0},
        {"eps": 1, "loss": 11.0, "bound": 10.5},
        {"eps": 1, "loss": None, "bound": 10.0005},
        {"eps": 1, "loss": None, "bound": None},
        {"eps": 2, "loss": 5.0, "bound": 5.0},
    ]
    found = solvers.contradictions(rows, lambda row: row["eps"])
    assert found == [(rows[1], rows[0])]


def test_generated_pools_have_the_size_asked_for(monkeypatch):
    """Trees are added until there are enough rules; where there never are, a sentence says so."""
    found = generated_statistics(150, 300, n_trees=25)
    assert (found.n, found.m) == (150, 300)
    X, y = compress(found)
    np.testing.assert_allclose(X.T @ X, found.G, atol=1e-8 * found.yy)
    np.testing.assert_allclose(X.T @ y, found.q, atol=1e-8 * found.yy)
    monkeypatch.setattr(generated, "MOST_TREES", 40)
    with pytest.raises(InvalidParameter, match="300 rules are asked for"):
        generated_statistics(150, 300, n_trees=25)


# --- experiments ----------------------------------------------------------------------------------


def run_all(name, settings, folder=None):
    """Return an experiment's presentation and rows."""
    experiment = find_experiment(name)
    context = ExperimentContext(protocol_for("paper"), folder, jobs=1)
    rows = [
        row
        for task in experiment.tasks(settings)
        for row in experiment.run(settings, task, context)
    ]
    return experiment.present(settings, rows), rows


def test_the_table_of_times_counts_what_was_solved():
    """Ways agree at every floor, and the paper's figures stand beside the sizes that are its."""
    sizes = ((60, 20), (150, 250))
    ways = (solvers.OURS, solvers.OURS_FINE, solvers.AUTHORS_HIGHS, solvers.DIRECT_GUROBI)
    settings = replace(
        find_experiment("timing").quick, sizes=sizes, ways=ways, floors=2, seconds=20.0
    )
    shown, rows = run_all("timing", settings)
    assert len(rows) == len(sizes) * len(ways) * 2
    seconds, proofs = shown.tables
    assert [line["paper: cutting plane"] for line in seconds.rows] == ["", "0.044 (0.005)"]
    assert seconds.rows[1][solvers.DIRECT_GUROBI] in (solvers.NO_LICENCE, solvers.NOT_INSTALLED)
    assert proofs.notes[0].startswith("0 contradictions")
    ours, *_, direct = proofs.rows
    assert (ours["floors"], ours["solved"], ours["limit reached"]) == (4, 4, 0)
    assert f"2 {seconds.rows[1][solvers.DIRECT_GUROBI]}" in direct["not tried"]
    assert len(shown.figures["timing"]().axes) == 1


def test_full_timing_has_the_sizes_of_the_paper():
    """All eight, ten floors, k = 15, and one more size of ours."""
    settings = timing.Settings()
    assert settings.sizes == ((150, 90), *timing.PUBLISHED)
    assert (settings.floors, settings.max_rules) == (10, 15)
    assert len(timing.tasks(settings)) == len(set(timing.tasks(settings))) == 2 * 9 * 6


def test_seconds_are_shown_floor_by_floor(tmp_path):
    """The first floor is the largest stability, and integer programs are counted."""
    folder = write_tables(tmp_path, "ESL")
    ways = (solvers.AUTHORS_HIGHS, solvers.OURS)
    settings = replace(
        find_experiment("sandwich").quick,
        ways=ways,
        floors=3,
        max_rules=4,
        n_trees=40,
        seconds=20.0,
    )
    shown, rows = run_all("sandwich", settings, folder)
    assert [row["way"] for row in rows] == [*[ways[0]] * 3, *[ways[1]] * 3]
    assert rows[0]["share"] == 1.0
    assert all(row["cpu_seconds_per_master"] > 0 for row in rows[:3] if row["steps"])
    (table,) = shown.tables
    assert [line["eps"] for line in table.rows] == [row["floor"] for row in rows[:3]]
    assert "0 contradictions" in table.notes[0]
    assert len(shown.figures["sandwich"]().axes) == 2


def test_floors_with_and_without_re_use_stand_beside_the_papers(monkeypatch):
    """Each floor has a row of both runs, ratios are of their times, and a missing one says so."""
    size = efficient_pareto.Size(300, 40, 1.0, 3.0)
    cases = (
        efficient_pareto.Case("cutting plane", "cutting-plane"),
        efficient_pareto.Case("cutting plane, other", "cutting-plane", master="scip"),
        efficient_pareto.Case("branch and bound", "branch-and-bound", gap=1e-3, gamma=0.05),
    )
    solve = efficient_pareto.solve_case

    def absent(statistics, case, **settings):
        if case.master == "scip":
            raise MissingDependency("No.")
        return solve(statistics, case, **settings)

    monkeypatch.setattr(efficient_pareto, "SIZES", (size,))
    monkeypatch.setattr(efficient_pareto, "CASES", cases)
    monkeypatch.setattr(efficient_pareto, "solve_case", absent)
    names = tuple(case.name for case in cases)
    settings = efficient_pareto.Settings(
        (size.name,), names, floors=4, max_rules=5, seconds=20.0, n_trees=30
    )
    shown, rows = run_all("epm", settings)
    assert len(rows) == 2 * 2 * 4 + 1
    (table,) = shown.tables
    cuts, other, tree = table.rows
    assert other["ratio"] == solvers.NOT_INSTALLED
    assert {line["paper: ratio"] for line in table.rows} == {"3.0"}
    assert cuts["ratio"] == f"{cuts['without, CPU s'] / cuts['with, CPU s']:.1f}"
    for line in (cuts, tree):
        own = [row for row in rows if row["case"] == line["method"]]
        assert line["steps with"] == sum(row["steps"] for row in own if row["reuse"] == "with")
        assert line["cut off with"] == "0 of 4"
    assert table.notes[-1].startswith("0 contradictions")
    assert len(shown.figures["epm"]().axes) == 2
