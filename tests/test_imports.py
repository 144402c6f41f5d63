import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mossrules

PACKAGE = Path(mossrules.__file__).parent
# One direction of flow: a module imports only from its left.
FLOW = [
    "_version", "_signals", "_provenance", "_typing", "_cached", "_warn", "exceptions", "_checks",
    "_files", "_frames", "_kernels", "columns", "chunks",
    "table", "files", "grid", "training", "clusters", "binning", "encoded", "forest",
    "generators", "rules", "pool", "statistics", "patterns",
    "solver._kernels", "solver.limits", "solver.selection", "solver.problem", "solver.logistic",
    "solver.options", "solver.relaxation",
    "solver.verification", "solver.result", "solver.instance", "solver.heuristics", "solver.root",
    "solver.branch_and_bound", "solver.ladders", "solver.near_optimal", "solver.repair",
    "solver.coordinate_descent", "solver.masters", "solver.cutting_plane", "solver.prices",
    "solver.limited", "solver.touching", "solver.logistic_descent", "solver.logistic_search",
    "solver.logistic_limited", "solver.methods",
    "solver", "frontier.sequence", "frontier.result", "frontier.ledger", "frontier.storage",
    "frontier.checkpoint", "frontier.progress", "frontier.tasks", "frontier.sweep",
    "frontier.approximate", "frontier",
    "candidates", "constraints", "model", "stability", "estimators", "baselines",
    "evaluation", "plots", "report", "doctor", "experiments", "cli", "__main__",
]  # fmt: skip
PACKAGES = (
    "_kernels",
    "files",
    "solver._kernels",
    "solver.masters",
    "constraints",
    "model",
    "stability",
    "estimators",
    "baselines",
    "evaluation",
    "plots",
    "report",
    "experiments",
    "cli",
)  # whose modules count as one


def place_in_flow(module):
    """Return the name that a module has in FLOW."""
    name = module.removeprefix("mossrules.")
    inside = [package for package in PACKAGES if name == package or name.startswith(f"{package}.")]
    return inside[0] if inside else name


def imported_modules(path):
    """Return the names in FLOW of the mossrules modules that a file imports."""
    return {
        place_in_flow(node.module)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mossrules.")
    }


MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path != PACKAGE / "__init__.py"
}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_from_its_left(module):
    """Imports follow the order of the pipeline, and every module has its place in it."""
    own = place_in_flow(module)
    position = FLOW.index(own)
    for name in imported_modules(MODULES[module]) - {own}:
        assert FLOW.index(name) < position, f"{own} imports {name}"


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
