"""How the package is built, in figures: `python -m research.house [--src src] [--json]`.

It measures the package in the folder `--src`, of any checkout, so that figures from before and
after a change can be compared. What each of them counts:

Lines are all lines of `*.py`, and comment lines those whose first character other than blanks is
`#`. A function's lines are those from `def` to its end, without its docstring.

Runs are counted in a process of its own by `sys.setprofile`, in all threads, on the second of two
equal calls, so that neither imports nor what is done once in a process counts: a fit of
`MossRegressor()` to the diabetes data of scikit-learn, and `mossrules report` on the same data.
A function is a pair of file and name, so methods of one name in one file are one, and so are all
comprehensions of one kind. What numba has compiled does not show, nor do other processes. Versions
of Python differ by their comprehensions. (A first fit runs through three functions more.)

Imports lead from one module of the package to another, wherever they stand in the file, except for
those under `if TYPE_CHECKING:`. `from a import b` leads to the module a.b if there is one, else to
a; that a.b runs a/__init__.py first is left out. The longest chain is the one with the most modules
along written imports, where modules in a cycle count all.

For cycles, every string that is the name of a module is an import as well, whether it is passed to
`import_module`, to a function around it or kept in a mapping; only the argument of `files`, which
opens resources, is none. Names of modules may be declared in a few places, which research/_imports
lists: the second figure leaves those out. Names that are put together when the program runs are not
seen.

Late imports are import statements inside functions; calls of `import_module` are not among them.
Private names are those of other objects of the package that lines with `noqa: SLF001` use, each
counted once.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from research._imports import PACKAGE, measure_imports

__all__ = ["main", "measure_house"]

ROW_TYPES = (  # classes that hold rows, between a table and the forest
    "Table",
    "Rows",
    "Labelled",
    "Streamed",
    "StreamedLabels",
    "TrainingRows",
    "RowChunk",
    "Chunk",
    "EncodedTable",
    "EncodedChunk",
)
TREES = ("n_trees", "trees")  # what the number of trees is called, in whatever case
DEFAULT_TREES = 2000

# Measure, figures, goal.
TABLE = (
    ("files / lines of the package", "{files} / {lines:,}", "<= 180 / <= 31,000"),
    ("files that one `fit` runs through (functions)", "{fit_files} ({fit_functions})", "<= 28"),
    (
        "files that one `mossrules report` runs through (functions)",
        "{report_files} ({report_functions})",
        "<= 60",
    ),
    ("longest import chain (at the top of files only)", "{chain} ({top_chain})", "<= 15"),
    ("largest import cycle, strings counted in", "{cycle} modules", ""),
    ("the same without strings in declared places", "{hidden_cycle} modules", "none"),
    ("names of modules in strings (in files)", "{strings} ({string_files})", "declared, in 1"),
    ("lines with `noqa: SLF001` (private names)", "{private} ({private_names})", "0"),
    (
        "late imports (of the package + of others)",
        "{late} ({late_own} + {late_others})",
        "declared, in 1 place",
    ),
    ("comment lines", "{comments:.1%}", "3 %"),
    ("longest function, lines", "{function} (`{function_name}`)", ""),
    ("longest file, lines", "{file} (`{file_name}`)", ""),
    ("row types between a table and the forest", "{row_types}", "2"),
    (f"places where the default of {DEFAULT_TREES} trees stands", "{defaults}", "1"),
)


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    name: str
    file: str
    text: str
    tree: ast.Module


def main() -> None:
    """Print the figures as a table in Markdown, or as JSON."""
    parser = argparse.ArgumentParser(description="How the package is built, in figures.")
    parser.add_argument("--src", type=Path, default=Path("src"), help="where the package is")
    parser.add_argument("--json", action="store_true", help="print the bare figures")
    chosen = parser.parse_args()
    figures = measure_house(chosen.src)
    if chosen.json:
        print(json.dumps(figures, indent=2))
        return
    print("| measure | now | goal |\n|---|---|---|")
    for measure, form, goal in TABLE:
        print(f"| {measure} | {form.format(**figures)} | {goal} |")


def measure_house(src: Path) -> dict[str, Any]:
    """Return all figures of the package in a folder."""
    modules = _read_modules(src)
    if not modules:
        raise SystemExit(f"There is no {PACKAGE} in {src}.")
    return {
        **_measure_text(modules),
        **_measure_runs(src),
        **measure_imports({module.name: module.tree for module in modules}),
        **_measure_names(modules),
    }


def _read_modules(src: Path) -> list[Module]:
    modules = []
    for path in sorted((src / PACKAGE).rglob("*.py")):
        place, text = path.relative_to(src), path.read_text(encoding="utf-8")
        name = ".".join(place.with_suffix("").parts).removesuffix(".__init__")
        modules.append(Module(name, place.as_posix(), text, ast.parse(text)))
    return modules


# --- text -----------------------------------------------------------------------------------------


def _measure_text(modules: list[Module]) -> dict[str, Any]:
    lines = [line for module in modules for line in module.text.splitlines()]
    file, file_name = max((len(each.text.splitlines()), each.file) for each in modules)
    function, function_name = max(
        (_count_lines(node), f"{module.file}::{node.name}")
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return {
        "files": len(modules),
        "lines": len(lines),
        "comments": sum(line.lstrip().startswith("#") for line in lines) / len(lines),
        "function": function,
        "function_name": function_name,
        "file": file,
        "file_name": file_name,
    }


def _count_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return how many lines a function has without its docstring."""
    lines = _span(node)
    return lines if ast.get_docstring(node) is None else lines - _span(node.body[0])


def _span(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _measure_names(modules: list[Module]) -> dict[str, Any]:
    text = "\n".join(module.text for module in modules)
    private = re.findall(r"^.*noqa:[^#]*\bSLF001\b.*$", text, re.MULTILINE)
    names = {name for line in private for name in re.findall(r"(?<!self)\.(_[a-z]\w*)", line)}
    own = {name for name in names if re.search(rf"(def |self\.){name}\b", text)}
    nodes = [node for module in modules for node in ast.walk(module.tree)]
    classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    return {
        "private": len(private),
        "private_names": len(own),
        "row_types": len(classes.intersection(ROW_TYPES)),
        "defaults": sum(_is_trees(*each) for node in nodes for each in _defaults(node)),
    }


def _defaults(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield names with the values that a parameter, a field or a variable is given."""
    if isinstance(node, ast.arguments):
        positional = [*node.posonlyargs, *node.args]
        last = positional[len(positional) - len(node.defaults) :]
        yield from zip((each.arg for each in last), node.defaults, strict=True)
        yield from zip((each.arg for each in node.kwonlyargs), node.kw_defaults, strict=True)
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from ((each.id, node.value) for each in targets if isinstance(each, ast.Name))


def _is_trees(name: str, value: ast.expr | None) -> bool:
    is_default = isinstance(value, ast.Constant) and value.value == DEFAULT_TREES
    return is_default and name.lower() in TREES


# --- runs -----------------------------------------------------------------------------------------


def _measure_runs(src: Path) -> dict[str, int]:
    """Return what a fit and a report run through, in a process that loads this package."""
    command = [sys.executable, str(Path(__file__).with_name("_runs.py").resolve())]
    path = {"PYTHONPATH": str(src.resolve()), "PYTHONWARNINGS": "ignore"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(  # noqa: S603  the file beside this one
            command, cwd=folder, env=os.environ | path, capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise SystemExit(f"A fit and a report did not run:\n{done.stderr}")
    figures: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return figures


if __name__ == "__main__":
    main()
