"""Where each room stands: a module imports only from rooms above its own, and nothing in a ring."""

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import mossrules
from mossrules import _late

PACKAGE = Path(mossrules.__file__).parent
PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
LAYERS = PROJECT["tool"]["mossrules"]["layers"]
RANK = {room: rank for rank, rooms in enumerate(LAYERS, start=1) for room in rooms}
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


def module_of(name):
    """Return the module that a dotted name stands for; a package is its `__init__`."""
    return name if name in MODULES else f"{name}.__init__"


def rank_of(module):
    """Return the layer of a module; 0 for what all rooms may use."""
    return RANK.get(module.split(".")[1], 0)


@cache
def imports_of(module):
    """Return the modules of the package that one imports anywhere, but for types alone."""
    tree = ast.parse(MODULES[module].read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = [ast.Pass()]
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mossrules"):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if module_of(name) in MODULES else node.module for name in names}
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if module_of(alias.name) in MODULES}
    return {module_of(name) for name in found}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_from_rooms_above_its_own(module):
    """Imports follow the order of the rooms."""
    wrong = [name for name in imports_of(module) if rank_of(name) > rank_of(module)]
    assert wrong == []


def test_the_solver_sees_numbers_only():
    """`Statistics` and `Patterns` are all that reaches it of the data, whoever made them."""
    solver = [module for module in MODULES if module.startswith("mossrules.solver.")]
    rooms = {name.split(".")[1] for module in solver for name in imports_of(module)}
    assert rooms.isdisjoint({"data", "candidates"})
    assert solver


def imports_by_string(path):
    """Tell whether a file uses `import_module` and holds the name of a module of the package."""
    nodes = [*ast.walk(ast.parse(path.read_text()))]
    calls = [ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
    names = [text for text in texts if isinstance(text, str) and re.match(r"mossrules\.\w", text)]
    return any(call.endswith("import_module") for call in calls) and names != []


def test_modules_of_the_package_are_imported_by_a_string_in_one_place():
    """Upward edges are declared in `_display`, and what the command line loads late in `_late`.

    What else looks names up are the public ones.
    """
    allowed = {f"mossrules.{name}" for name in ("__init__", "_deprecated", "_display", "_late")}
    by_string = {name for name, path in MODULES.items() if imports_by_string(path)} - allowed
    assert by_string == set()


def test_what_the_command_line_loads_late_is_listed_for_mypy_too():
    """`_late` has the same names in both of its lists."""
    tree = ast.parse(Path(_late.__file__).read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    imports = [node for node in block.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    listed = {}
    for node in imports:
        home = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        listed |= {alias.asname or alias.name: f"{home}{alias.name}" for alias in node.names}
    assert listed == _late.MODULES


def test_nothing_is_imported_inside_functions_but_optional_packages():
    """A late import of a module of the package is a line of `_late`."""
    late = [
        (module, node.lineno)
        for module, path in MODULES.items()
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
        if isinstance(node, (ast.Import, ast.ImportFrom)) and "mossrules" in ast.unparse(node)
    ]
    assert late == []


def test_no_modules_import_each_other_in_a_ring():
    """There is an order in which all modules can be read, each after what it imports."""
    imports = {module: imports_of(module) for module in MODULES}
    assert len([*TopologicalSorter(imports).static_order()]) == len(MODULES)


def test_importing_the_package_loads_none_of_the_heavy_libraries():
    """numba, scikit-learn, narwhals and frame libraries wait until they are used."""
    heavy = [
        "numba",
        "sklearn",
        "scipy",
        "narwhals",
        "pandas",
        "polars",
        "pyarrow",
        "rich",
        "numpy",
    ]
    code = f"import sys, mossrules; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_finding_candidates_needs_no_frame_library():
    """The core works on arrays and dicts where pandas, polars and pyarrow are not installed."""
    code = (
        "import sys\n"
        "for name in ('pandas', 'polars', 'pyarrow'): sys.modules[name] = None\n"
        "import numpy as np, mossrules\n"
        "X = np.random.default_rng(0).normal(size=(100, 3))\n"
        "print(mossrules.find_candidates(X, X[:, 0], n_trees=10))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "x0" in result.stdout
