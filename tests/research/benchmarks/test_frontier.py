"""The benchmarks of frontiers at toy sizes: references, what is counted, and sums, not speed."""

import json
from dataclasses import replace

import numpy as np
import pytest

from mossrules.frontier import Frontier, FrontierPoint, epsilon_sequence, solve_frontier
from mossrules.solver import Options, Problem, Status, solve
from mossrules.statistics import Statistics
from research.benchmarks import ablation, authors, frontier
from research.benchmarks._data import OPENML
from research.benchmarks._pools import DATASETS, MAX_RULES, Pool, generated_pool
from research.benchmarks.authors import MOST_CUTS, AuthorsResult
from research.harness.reports import Skipped, show
from support.oracles import brute_force


@pytest.fixture(scope="module")
def statistics():
    """Twelve columns, two of them equal, and a target."""
    rng = np.random.default_rng(5)
    M = rng.random((40, 12)) * (rng.random((40, 12)) < 0.5)
    M[:, 7] = M[:, 3]
    y = M[:, :5].sum(axis=1) + 0.3 * rng.standard_normal(40)
    return Statistics.from_matrix(M, y - y.mean(), rng.integers(1, 20, 12))


@pytest.fixture(scope="module")
def pool():
    """Return a pool of 40 rules from generated rows."""
    return generated_pool(300, 40, n_trees=30)


@pytest.fixture
def problem(statistics):
    """At most four of the twelve columns."""
    return Problem(statistics, max_rules=4, gamma=0.1)


# --- generated pools ----------------------------------------------------------------------------


def test_a_generated_pool_has_the_size_asked_for(pool):
    """Rows and rules are as many as named."""
    assert (pool.statistics.n, pool.statistics.m) == (300, 40)
    assert pool.statistics.G.shape == (40, 40)


# --- the authors' way ---------------------------------------------------------------------------


def test_the_authors_way_down_ends_at_the_best_selection_of_every_floor(statistics, problem):
    """Without a tolerance each floor ends at the optimum of brute force, and cuts are kept."""
    pytest.importorskip("gurobipy")
    floors = epsilon_sequence(statistics.counts, 4).tolist()
    found = authors.descend(problem, floors, tolerance=1e-6, threads=1)
    assert len(found) == len(floors)
    for floor, result in zip(floors, found, strict=True):
        at_floor = problem.at(floor)
        assert result.finished
        assert at_floor.is_feasible(result.support)
        assert result.loss == pytest.approx(at_floor.loss(result.support))
        assert result.loss == pytest.approx(brute_force(at_floor)[0], rel=2e-3)


def test_cuts_of_higher_floors_save_masters_at_lower_ones(statistics, problem):
    """The last floor alone needs more integer programs than after all others."""
    pytest.importorskip("gurobipy")
    floors = epsilon_sequence(statistics.counts, 4).tolist()
    settings = {"tolerance": 1e-6, "threads": 1}
    (alone,) = authors.descend(problem, floors[-1:], **settings)
    assert authors.descend(problem, floors, **settings)[-1].masters < alone.masters


def test_the_authors_way_down_without_time_finishes_nothing(problem):
    """It ends at the first floor, with a gap and a selection all the same."""
    pytest.importorskip("gurobipy")
    (result,) = authors.descend(problem, [30, 20], limit=0.0)
    assert not result.finished
    assert result.gap > 0
    assert len(result.support) == 4


def test_without_gurobi_highs_goes_down(monkeypatch, statistics, problem):
    """Every floor is solved to the tolerance, by our own cutting plane."""
    monkeypatch.setattr(authors, "has_gurobi", lambda: False)
    floors = epsilon_sequence(statistics.counts, 4).tolist()[:4]
    found = authors.run_authors(problem, floors, limit=60.0)
    assert all(result.finished and result.gap <= 0.05 for result in found)
    for floor, result in zip(floors, found, strict=True):
        assert result.loss >= brute_force(problem.at(floor))[0] * (1 - 1e-9)


# --- the subject `frontier` ---------------------------------------------------------------------


def test_all_tables_begin_with_those_of_the_solver():
    """The index adds to them, and names none twice."""
    try:
        names = frontier.all_tables()
    except Skipped as reason:
        pytest.skip(str(reason))
    assert names[: len(DATASETS)] == DATASETS
    assert len(set(names)) == len(names)
    assert all((OPENML / f"{name}.csv.gz").exists() for name in names)


def test_a_missing_index_skips_the_subject(monkeypatch):
    """The message says what is not there."""
    monkeypatch.setattr(frontier, "OPENML", OPENML / "nowhere")
    with pytest.raises(Skipped, match="INDEX"):
        frontier.all_tables()


def test_a_table_gets_a_row_that_adds_up(pool):
    """Counts are those of the frontier, and both sides agree."""
    row = frontier.measure_table(
        pool, frontier.Settings(points=6, budget=20.0, authors_limit=5.0, repeats=2)
    )
    problem = Problem(pool.statistics, max_rules=MAX_RULES, gamma=pool.gamma)
    plain = solve_frontier(problem, pool.floors[:6], options=Options(gap=frontier.GAP))
    assert row["floors"] == 6
    assert row["points"] == len(plain)
    assert row["open"] == row["2 jobs open"] == 0
    assert row["worst gap"] <= frontier.GAP + 1e-9
    assert row["limit s"] <= 10 * row["1 job s"] + 1e-9
    assert 0 <= row["authors done"] <= 6
    assert row["agree"]


def test_floors_that_ran_out_of_time_are_open_and_not_re_used(problem):
    """What others gave them is no proof."""
    solution = solve(problem.at(20))
    late = replace(solution, status=Status.TIME_LIMIT)
    entries = [
        FrontierPoint(30, late, reused=True),
        FrontierPoint(25, solution, reused=True),
        FrontierPoint(20, solution),
    ]
    row = frontier.search_of(Frontier.of(problem, entries))
    assert (row["open"], row["re-used"], row["points"]) == (1, 1, 1)
    assert row["nodes"] == 3 * solution.report.counters["nodes"]


def test_a_result_that_our_bound_rules_out_is_a_conflict(problem):
    """A loss below our bound cannot be."""
    ours = solve_frontier(problem, [30, 20])
    losses = [entry.solution.loss for entry in ours.entries]
    honest = [
        AuthorsResult(entry.solution.support, entry.solution.loss, 0.0, 1.0, 1, True)
        for entry in ours.entries
    ]
    assert frontier.agree_everywhere(honest, ours)
    assert frontier.agree_everywhere(honest[:1], ours)
    assert not frontier.agree_everywhere([honest[0], replace(honest[1], loss=losses[1] / 2)], ours)


@pytest.mark.parametrize(
    ("finished", "masters", "ours", "reason"),
    [
        (True, 3, 1.0, ""),
        (False, MOST_CUTS, 1.0, "number of cuts"),
        (False, 3, 7.0, "cap of 60 s"),
        (False, 3, 1.0, "10 times ours"),
    ],
)
def test_the_limit_that_bound_is_named(finished, masters, ours, reason):
    """Nothing, the free size of Gurobi, the cap, or our own time."""
    result = AuthorsResult(np.arange(2), 1.0, 0.5, 1.0, masters, finished)
    assert frontier.reason_to_end([result], 1, ours, frontier.Settings()) == reason


def test_short_tasks_are_repeated_and_the_best_time_counts(problem, monkeypatch):
    """Each task runs as often as asked, and what it found is kept."""
    monkeypatch.setattr(frontier, "interleave", run_in_turns)
    calls = []

    def task():
        calls.append(1)
        return solve_frontier(problem, [30])

    taken, found = frontier.take_turns({"a": task}, repeats=3)
    assert len(calls) == 3
    assert taken == {"a": 0.5}
    assert len(found["a"].entries) == 1


def run_in_turns(tasks, repeats):
    """Run tasks as the harness does, with times that are made up."""
    for _ in range(repeats):
        for task in tasks.values():
            task()
    return dict.fromkeys(tasks, 0.5)


def test_tables_are_summed_up():
    """Times are counted by limit; open tables say nothing of threads."""
    row = {"floors": 50, "open": 0, "2 jobs open": 0, "re-used": 25, "worst gap": 0.01,
           "authors done": 50, "ended by": "", "agree": True}  # fmt: skip
    rows = [
        {**row, "dataset": "a", "1 job s": 4.0, "2 jobs s": 2.0},
        {**row, "dataset": "b", "1 job s": 0.5, "2 jobs s": 1.0},
        {**row, "dataset": "c", "1 job s": 60.0, "2 jobs s": 6.0, "open": 7, "worst gap": 0.3,
         "authors done": 2, "ended by": "cap of 60 s", "agree": False},
    ]  # fmt: skip
    figures = [*frontier.our_figures(rows), *frontier.their_figures(rows)]
    measured = {figure.name: figure.measured for figure in figures}
    assert measured["tables of 3 within 5 s, one job"] == 2
    assert measured["tables of 3 within 30 s, one job"] == 2
    assert measured["median time of a frontier, one job"] == 4.0
    assert measured["floors of 150 with more than 1% left"] == 7
    assert measured["worst gap"] == pytest.approx(30.0)
    assert measured["share of floors proven by others, without a search"] == pytest.approx(0.5)
    assert measured["two jobs against one, proven tables"] == pytest.approx(1.0)
    assert measured["two jobs against one, those of 1 s or more"] == pytest.approx(2.0)
    assert measured["floors of 150 that the authors' way finishes to 5%"] == 102
    assert measured["tables of 3 that it finishes"] == 2
    assert figures[-1].parts == {"tables": ["c"]}
    assert figures[-1].met is False


def test_a_run_stores_each_table_and_goes_on(tmp_path, monkeypatch, pool):
    """Tables that were finished are not measured again, and the stored file goes at the end."""
    settings = frontier.Settings(
        datasets=("a", "b"), points=3, budget=5.0, authors_limit=0.5, repeats=1
    )
    read = []

    def read_pool(name):
        read.append(name)
        if read == ["a", "b"]:
            raise KeyboardInterrupt
        return Pool(name, pool.statistics)

    monkeypatch.setattr(frontier, "read_pool", read_pool)
    with pytest.raises(KeyboardInterrupt):
        frontier.run(quick=False, folder=tmp_path, settings=settings)
    assert list(json.loads((tmp_path / "frontier-partial.json").read_text())["tasks"]) == ["a"]
    report = frontier.run(quick=False, folder=tmp_path, settings=settings)
    assert read == ["a", "b", "b"]
    assert [row["dataset"] for row in report.tables["tables"]] == ["a", "b"]
    assert "median time" in show(report, quick=False)
    assert not list(tmp_path.iterdir())


# --- the subject `ablation` ---------------------------------------------------------------------


def test_ratios_of_the_paper_are_as_printed():
    """Seconds were copied right."""
    ratios = [size.without / size.with_reuse for size in ablation.Settings().sizes]
    assert ratios == pytest.approx([2.0, 4.8, 9.5, 6.1], abs=0.05)


@pytest.mark.parametrize("method", ["cutting-plane", "branch-and-bound"])
def test_runs_with_and_without_re_use_are_compared(pool, method):
    """Same floors, both proven, no contradiction; the ratio is that of the times."""
    settings = ablation.Settings(points=4, limit=20.0, repeats=1)
    size = ablation.Size(300, 40, 1.0, 3.0)
    row = ablation.measure(pool, size, ablation.Case("toy", method), settings)
    assert row["floors"] == 4
    assert row["ratio"] == pytest.approx(row["without s"] / row["with s"])
    assert row["which is"] == "measured"
    assert row["agree"]
    assert max(row["gap with"], row["gap without"]) <= 0.05 + 1e-9
    assert row["paper's ratio"] == 3.0


def test_steps_are_masters_or_nodes(problem):
    """The cutting plane counts the one, branch and bound the other, over all floors."""
    cuts = solve_frontier(problem, [40, 30], "cutting-plane", reuse=False)
    tree = solve_frontier(problem, [40, 30], "branch-and-bound", reuse=False)
    masters = [entry.solution.report.counters["masters"] for entry in cuts.entries]
    nodes = [entry.solution.report.counters["nodes"] for entry in tree.entries]
    assert ablation.steps_of(cuts.entries) == sum(masters)
    assert ablation.steps_of(tree.entries) == sum(nodes)


@pytest.mark.parametrize(
    ("cut_off", "meaning"), [((0, 0), "measured"), ((0, 3), "at least"), ((1, 3), "uncertain")]
)
def test_a_ratio_says_what_it_is_worth(cut_off, meaning):
    """Cut off without re-use it is a lower bound; cut off with it, neither."""
    assert ablation.meaning(dict(zip(("with", "without"), cut_off, strict=True))) == meaning


def test_ratios_are_summed_up_by_method():
    """Geometric means over the sizes, and contradictions by name."""
    case = ablation.Case("tree", "branch-and-bound")
    row = {"method": "tree", "which is": "measured", "steps with": 0, "agree": True}
    rows = [
        {**row, "size": "s", "ratio": 2.0, "steps without": 1},
        {**row, "size": "t", "ratio": 8.0, "steps without": 7, "which is": "at least",
         "agree": False},
    ]  # fmt: skip
    (speed,) = ablation.speed_figures(rows, [case])
    (steps,) = ablation.step_figures(rows, [case])
    assert speed.measured == pytest.approx(4.0)
    assert "cut off" in speed.name
    assert speed.parts == {"s": "measured 2", "t": "at least 8"}
    assert steps.measured == pytest.approx(4.0)


def test_the_ablation_runs_without_gurobi(tmp_path, monkeypatch):
    """Its case is left out, a note says so, and the paper's figures stand beside ours."""
    monkeypatch.setattr(ablation, "has_gurobi", lambda: False)
    monkeypatch.setattr(
        ablation, "generated_pool", lambda n, m, **_: generated_pool(n, m, n_trees=30)
    )
    settings = ablation.Settings(
        sizes=(ablation.Size(300, 40, 1.0, 2.0),), points=3, limit=5.0, repeats=1
    )
    report = ablation.run(quick=True, folder=tmp_path, settings=settings)
    methods = [row["method"] for row in report.tables["re-use"]]
    assert methods == ["branch and bound", "branch and bound, harder", "cutting plane, HiGHS"]
    assert report.tables["the paper's"][0]["ratio"] == 2.0
    assert any("not installed" in note for note in report.notes)
    assert not list(tmp_path.iterdir())
