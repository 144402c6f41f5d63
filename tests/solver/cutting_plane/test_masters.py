import _thread
import subprocess
import sys
import threading

import numpy as np
import pytest

from mossrules.exceptions import MissingDependency, MossError
from mossrules.solver.cutting_plane import master as any_master
from mossrules.solver.cutting_plane.highs import HighsMaster
from mossrules.solver.cutting_plane.loop import make_master
from mossrules.solver.cutting_plane.master import MasterStatus, linear_limits, run_interruptibly
from mossrules.solver.cutting_plane.scip import ScipMaster
from mossrules.solver.options import Options
from mossrules.solver.problems.squared import LinearConstraints, Problem

PACKAGES = {"highs": "highspy", "scip": "pyscipopt", "gurobi": "gurobipy"}


@pytest.fixture(params=PACKAGES)
def name(request):
    """Return each master that is installed."""
    pytest.importorskip(PACKAGES[request.param])
    return request.param


def make_problem(m=6, **settings):
    """Return a problem whose numbers do not matter: the tests make up their own cuts."""
    rng = np.random.default_rng(0)
    settings = {"max_rules": 2, **settings}
    return Problem.from_matrix(
        rng.normal(size=(8, m)), rng.normal(size=8), np.arange(1, m + 1), **settings
    )


def hard_master(name, **options):
    """Return a knapsack in thirty dimensions, which no solver finishes in seconds."""
    rng = np.random.default_rng(1)
    A = rng.integers(1, 100, (30, 200)).astype(float)
    limits = LinearConstraints(A, A.sum(axis=1) / 3)
    problem = make_problem(m=200, max_rules=200, constraints=limits)
    master = make_master(problem, Options(master=name, **options), scale=1000.0)
    master.add_cut(6000.0, -rng.integers(50, 60, 200).astype(float))
    return master


def test_the_linear_program_is_the_one_written_down():
    """A z <= b holds the size, the floor and the user's limits, in that order."""
    limits = LinearConstraints(np.array([[1.0, 0, 0, 0, 0, -2]]), np.array([0.5]))
    A, b = linear_limits(make_problem(min_stability=7, constraints=limits))
    np.testing.assert_array_equal(A, [np.ones(6), [-1, -2, -3, -4, -5, -6], [1, 0, 0, 0, 0, -2]])
    np.testing.assert_array_equal(b, [2, -7, 0.5])
    assert len(linear_limits(make_problem())[0]) == 1


# --- answers --------------------------------------------------------------------------------------


def test_a_master_minimises_the_largest_cut(name):
    """Two cuts, solved by hand: the integer optimum, its selection and its bound."""
    master = make_master(make_problem(), Options(master=name), scale=10.0)
    master.add_cut(100.0, -np.array([30.0, 20, 10, 0, 0, 0]))
    master.add_cut(90.0, -np.array([0.0, 25, 0, 20, 0, 0]))
    found = master.solve(seconds=np.inf, gap=0.0)
    # {0, 1}: max(50, 65); {0, 3}: max(70, 70); {1, 3}: max(80, 45); {0, 1} is best.
    np.testing.assert_array_equal(found.support, [0, 1])
    assert found.status is MasterStatus.OPTIMAL
    assert found.objective == pytest.approx(65.0)
    assert 65.0 - 1e-5 < found.bound < 65.0
    np.testing.assert_array_equal(found.z, [1, 1, 0, 0, 0, 0])


def test_conditions_are_kept(name):
    """The floor, the fixed rules and the limits change the answer, each as it should."""
    gradient = -np.array([30.0, 20, 10, 9, 8, 7])
    limits = LinearConstraints(np.array([[1.0, 1, 0, 0, 0, 0]]), np.array([1.0]))
    for settings, expected in (
        ({"min_stability": 7}, [0, 5]),
        ({"fixed_in": [4]}, [0, 4]),
        ({"fixed_out": [0]}, [1, 2]),
        ({"constraints": limits}, [0, 2]),
        ({"max_rules": 3}, [0, 1, 2]),
    ):
        master = make_master(make_problem(**settings), Options(master=name))
        master.add_cut(100.0, gradient)
        found = master.solve(seconds=60.0, gap=0.0)
        np.testing.assert_array_equal(found.support, expected)


def test_the_relaxation_is_solved_in_between(name):
    """Continuous and integer solves of one master alternate, and each is right."""
    master = make_master(make_problem(max_rules=1), Options(master=name))
    master.add_cut(100.0, -np.array([40.0, 0, 0, 0, 0, 0]))
    master.add_cut(100.0, -np.array([0.0, 40, 0, 0, 0, 0]))
    for _ in range(2):
        relaxed = master.solve_relaxed(seconds=60.0)
        np.testing.assert_allclose(relaxed.z, [0.5, 0.5, 0, 0, 0, 0], atol=1e-7)
        assert 80.0 - 1e-6 < relaxed.bound < 80.0
        exact = master.solve(seconds=60.0, gap=0.0)
        assert 100.0 - 1e-6 < exact.bound < 100.0


def test_a_start_is_taken(name):
    """Though any selection at all is within the gap, none worse than the start is returned."""
    chosen = hard_master(name).solve(seconds=1.0, gap=0.0)
    master = hard_master(name)
    found = master.solve(seconds=60.0, gap=0.9, start=chosen.support)
    assert found.objective <= chosen.objective * (1 + 1e-6)


def test_a_target_within_reach_ends_the_search(name):
    """The status is optimal, the bound proves the target, and the start is not lost."""
    chosen = hard_master(name).solve(seconds=1.0, gap=0.0)
    relaxed = hard_master(name).solve_relaxed(seconds=60.0)
    master = hard_master(name)
    target = relaxed.bound * (1 - 1e-6)
    found = master.solve(seconds=60.0, gap=0.0, start=chosen.support, target=target)
    assert found.status is MasterStatus.OPTIMAL
    assert target <= found.bound < found.objective <= chosen.objective * (1 + 1e-6)
    assert found.support is not None


def test_a_target_out_of_reach_changes_nothing(name):
    """Above the optimum, at it, and just below it, a small program is solved as without one."""
    for target in (np.inf, 1000.0, 65.0 + 1e-6, 65.0, 65.0 - 1e-6):
        master = make_master(make_problem(), Options(master=name), scale=10.0)
        master.add_cut(100.0, -np.array([30.0, 20, 10, 0, 0, 0]))
        master.add_cut(90.0, -np.array([0.0, 25, 0, 20, 0, 0]))
        found = master.solve(seconds=60.0, gap=0.0, target=target)
        assert found.status is MasterStatus.OPTIMAL
        assert 65.0 - 2e-5 < found.bound < 65.0
        np.testing.assert_array_equal(found.support, [0, 1])


def test_a_target_below_everything_is_reached_at_once(name):
    """It takes no search, and another target, or none, may follow."""
    master = hard_master(name)
    for _ in range(2):
        found = master.solve(seconds=60.0, gap=0.0, target=1.0)
        assert found.status is MasterStatus.OPTIMAL
        assert found.bound >= 1.0
        assert master.solve(seconds=0.2, gap=0.0).status is MasterStatus.TIME_LIMIT


def test_a_target_does_not_make_infeasible_limits_feasible(name):
    """Nothing is found however little is to be proven."""
    limits = LinearConstraints(np.array([[1.0, 1, 0, 0, 0, 0], [-1, -1, 0, 0, 0, 0]]), [0.4, -0.6])
    master = make_master(make_problem(constraints=limits), Options(master=name))
    master.add_cut(100.0, -np.ones(6))
    found = master.solve(seconds=60.0, gap=0.0, target=1e6)
    assert found.status is MasterStatus.INFEASIBLE


def test_coefficients_too_small_for_a_solver_are_paid_for(name):
    """A cut whose coefficients vanish in the units of the program is loosened, never tightened."""
    scale = 1e6
    master = make_master(make_problem(), Options(master=name), scale=scale)
    master.add_cut(5.0 * scale, -np.array([6e-5, 5e-5, 4e-5, 0, 0, 0]))
    (constant, gradient) = master._rows[0]
    assert not gradient.any()
    assert constant == pytest.approx(5.0 - 11e-11, abs=1e-14)
    assert master.solve(seconds=60.0, gap=0.0).bound <= 5.0 * scale - 11e-5


def test_nothing_is_printed(name, capfd):
    """Masters are silent."""
    hard_master(name, seed=5).solve(seconds=0.3, gap=0.0)
    hard_master(name, threads=2).solve_relaxed(seconds=60.0)
    assert capfd.readouterr() == ("", "")


# --- statuses -------------------------------------------------------------------------------------


@pytest.mark.parametrize("relaxed", [False, True])
def test_infeasible_limits_are_recognised(name, relaxed):
    """The status is infeasible and there is neither point nor finite bound."""
    limits = LinearConstraints(np.array([[1.0, 1, 0, 0, 0, 0], [-1, -1, 0, 0, 0, 0]]), [0.4, -0.6])
    master = make_master(make_problem(constraints=limits), Options(master=name))
    master.add_cut(1.0, -np.ones(6))
    found = master.solve_relaxed(seconds=60.0) if relaxed else master.solve(seconds=60.0, gap=0.0)
    assert found.status is MasterStatus.INFEASIBLE
    assert found.support is None
    assert found.bound == np.inf


def test_a_time_limit_is_recognised_and_its_bound_is_a_proof(name):
    """Stopped early, a master proves less than later on, and always less than its objective."""
    master = hard_master(name)
    early = master.solve(seconds=1e-3, gap=0.0)
    assert early.status is MasterStatus.TIME_LIMIT
    later = master.solve(seconds=1.0, gap=0.0)
    assert 0.0 <= early.bound < later.bound < later.objective - 0.1


def test_a_relaxation_out_of_time_proves_nothing(name):
    """Half-way through a linear program there is no bound but 0."""
    found = hard_master(name).solve_relaxed(seconds=1e-6)
    assert (found.status, found.bound) == (MasterStatus.TIME_LIMIT, 0.0)


@pytest.mark.parametrize(
    ("name", "limit", "message"),
    [
        (
            "highs",
            lambda master: master._highs.setOptionValue("mip_max_nodes", 0),
            "HiGHS ended with its status Solution limit reached",
        ),
        (
            "scip",
            lambda master: master._model.setParam("limits/nodes", 1),
            "SCIP ended with its status nodelimit",
        ),
        (
            "gurobi",
            lambda master: master._model.setParam("NodeLimit", 0),
            "Gurobi ended with its status 8",
        ),
    ],
    ids=PACKAGES,
)
def test_any_other_status_is_an_error_that_names_it(name, limit, message):
    """What a master did not finish is never taken for an answer."""
    pytest.importorskip(PACKAGES[name])
    master = hard_master(name)
    limit(master)
    with pytest.raises(MossError, match=message):
        master.solve(seconds=60.0, gap=0.0)


def test_a_refused_call_is_an_error():
    """HiGHS returns a status from every call, and it is read."""
    pytest.importorskip("highspy")
    master = make_master(make_problem(), Options())
    with pytest.raises(MossError, match="HiGHS ended with its status error of setOptionValue"):
        master._set(time_limit=-1.0)


# --- Ctrl-C ---------------------------------------------------------------------------------------


def test_ctrl_c_cancels_and_waits():
    """The interrupt arrives while the solver runs, which is cancelled and ends by itself."""
    cancelled, finished = threading.Event(), []

    def solver():
        _thread.interrupt_main()
        finished.append(cancelled.wait(60.0))

    assert run_interruptibly(solver, cancelled.set)
    assert finished == [True]


def test_without_ctrl_c_nothing_is_cancelled():
    """A solver that ends in its own time is not told to stop."""
    calls = []
    assert not run_interruptibly(lambda: calls.append("run"), lambda: calls.append("cancel"))
    assert calls == ["run"]


def test_errors_of_a_solver_reach_the_caller():
    """What is raised in the solver's thread is raised again where it was started."""
    with pytest.raises(ZeroDivisionError):
        run_interruptibly(lambda: 1 / 0, lambda: None)


@pytest.mark.parametrize(
    ("name", "master", "method"),
    [("highs", HighsMaster, "_run_here"), ("scip", ScipMaster, "_optimize")],
    ids=["highs", "scip"],
)
def test_ctrl_c_stops_a_master_which_reports_what_it_has(monkeypatch, name, master, method):
    """An interrupted master returns its bound."""
    pytest.importorskip(PACKAGES[name])
    solve = getattr(master, method)

    press = threading.Timer(0.5, _thread.interrupt_main)

    def pressed(self):
        press.start()
        solve(self)
        press.cancel()

    monkeypatch.setattr(master, method, pressed)
    found = hard_master(name).solve(seconds=60.0, gap=0.0)
    assert found.status is MasterStatus.INTERRUPTED
    assert 0.0 < found.bound < np.inf


def test_ctrl_c_is_not_taken_for_the_target(monkeypatch):
    """A search that has reached its target when Ctrl-C comes is an interrupted one."""
    pytest.importorskip("highspy")
    master = hard_master("highs")
    monkeypatch.setattr(any_master, "run_interruptibly", lambda run, _: run() or True)
    found = master.solve(seconds=60.0, gap=0.0, target=1.0)
    assert master._reached
    assert found.status is MasterStatus.INTERRUPTED


def test_a_master_that_finishes_as_it_is_stopped_is_stopped(monkeypatch):
    """Ctrl-C in the last moment is not lost."""
    pytest.importorskip("highspy")
    master = make_master(make_problem(), Options())
    master.add_cut(100.0, -np.ones(6))
    monkeypatch.setattr(any_master, "run_interruptibly", lambda run, _: run() or True)
    found = master.solve(seconds=60.0, gap=0.0)
    assert found.status is MasterStatus.INTERRUPTED
    assert found.bound == pytest.approx(98.0)


# --- packages and licences ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("highs", r"needs highspy.*pip install highspy, and if ortools is loaded"),
        ("scip", r'needs pyscipopt.*pip install "mossrules\[scip\]"'),
        ("gurobi", r'needs gurobipy.*pip install "mossrules\[gurobi\]"'),
    ],
)
def test_a_missing_package_is_named(monkeypatch, name, message):
    """The error says what to install, and is an ImportError too."""
    monkeypatch.setitem(sys.modules, PACKAGES[name], None)
    with pytest.raises(MissingDependency, match=message):
        make_master(make_problem(), Options(master=name))


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (10010, "too large for Gurobi without a licence"),
        (10009, "Gurobi found no licence that it accepts"),
        (10001, "Gurobi ended with its status out of luck"),
    ],
)
def test_errors_of_gurobi_are_put_in_words(monkeypatch, number, message):
    """Its size limit and its licence have sentences of their own."""
    gurobipy = pytest.importorskip("gurobipy")
    master = make_master(make_problem(), Options(master="gurobi"))
    error = gurobipy.GurobiError(number, "out of luck")

    class Refusing:
        Status = None

        def optimize(self):
            raise error

        def __getattr__(self, _):
            return Refusing()

    monkeypatch.setattr(master, "_model", Refusing())
    with pytest.raises(MossError, match=message):
        master.solve(seconds=60.0, gap=0.0)


def test_importing_the_method_does_not_load_the_masters():
    """highspy, which cannot share a process with ortools, waits until it is used."""
    code = (
        "import sys, mossrules.solver.cutting_plane.loop; "
        f"print([name for name in {list(PACKAGES.values())} if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
