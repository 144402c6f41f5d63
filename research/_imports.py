"""Which modules of the package import which; research/house.py says what is counted."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

__all__ = ["PACKAGE", "measure_imports"]

PACKAGE = "mossrules"

# Where strings that name modules may stand: public names, old names, displays, commands.
DECLARED = ("mossrules", "mossrules._deprecated", "mossrules._display", "mossrules._late")

Graph = dict[str, set[str]]


@dataclass(frozen=True)
class Import:
    """One statement that imports, with what it names."""

    targets: tuple[str, ...]
    late: bool


def measure_imports(trees: Mapping[str, ast.Module]) -> dict[str, int]:
    """Return the figures of chains, cycles and late imports of modules, which are given by name."""
    names = set(trees)
    found = {name: list(_imports(tree, names)) for name, tree in trees.items()}
    strings = {name: _module_strings(tree, names) for name, tree in trees.items()}
    late = [each for imports in found.values() for each in imports if each.late]
    own = sum(any(target.split(".")[0] == PACKAGE for target in each.targets) for each in late)
    written = _graph({name: _targets(imports) for name, imports in found.items()})
    top = {name: [each for each in imports if not each.late] for name, imports in found.items()}
    hidden = {name: [] if name in DECLARED else strings[name] for name in names}
    return {
        "chain": _longest_chain(written),
        "top_chain": _longest_chain(
            _graph({name: _targets(imports) for name, imports in top.items()})
        ),
        "cycle": _largest_cycle(names, written, strings),
        "hidden_cycle": _largest_cycle(names, written, hidden),
        "strings": sum(map(len, strings.values())),
        "string_files": sum(map(bool, strings.values())),
        "late": len(late),
        "late_own": own,
        "late_others": len(late) - own,
    }


def _largest_cycle(names: set[str], written: Graph, strings: Mapping[str, list[str]]) -> int:
    """Return how many modules import each other, by strings too; 0 where none do."""
    everything = _graph({name: [*written[name], *strings[name]] for name in names})
    largest = max(len(each) for each in _components(everything).values())
    return largest if largest > 1 else 0


def _imports(node: ast.AST, names: set[str], *, late: bool = False) -> Iterator[Import]:
    """Yield the imports below a node, except for those that are for type checkers only."""
    late = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    left_out = node.body if isinstance(node, ast.If) and "TYPE_CHECKING" in _test(node) else []
    for child in ast.iter_child_nodes(node):
        if child in left_out:
            continue
        if isinstance(child, ast.Import):
            yield Import(tuple(each.name for each in child.names), late)
        elif isinstance(child, ast.ImportFrom):
            module = child.module or ""
            full = [f"{module}.{each.name}" for each in child.names]
            yield Import(tuple(each if each in names else module for each in full), late)
        yield from _imports(child, names, late=late)


def _test(node: ast.If) -> str:
    return ast.unparse(node.test)


def _targets(imports: list[Import]) -> list[str]:
    return [target for each in imports for target in each.targets]


def _module_strings(tree: ast.Module, names: set[str]) -> list[str]:
    """Return the strings that name modules, except for those whose resources are opened."""
    nodes = list(ast.walk(tree))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    opened = {id(each) for call in calls if _called(call) == "files" for each in call.args}
    strings = [each for each in nodes if isinstance(each, ast.Constant) and id(each) not in opened]
    return [each.value for each in strings if each.value in names - {PACKAGE}]


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def _graph(targets: Mapping[str, list[str]]) -> Graph:
    return {name: {each for each in targets[name] if each in targets} - {name} for name in targets}


def _components(graph: Graph) -> dict[str, frozenset[str]]:
    """Return by module those that it reaches and that reach it, itself among them."""
    reach = {name: _reachable(graph, name) for name in graph}
    return {name: frozenset(each for each in reach[name] if name in reach[each]) for name in graph}


def _reachable(graph: Graph, name: str) -> set[str]:
    reached, waiting = {name}, [name]
    while waiting:
        new = graph[waiting.pop()] - reached
        reached |= new
        waiting.extend(new)
    return reached


def _longest_chain(graph: Graph) -> int:
    """Return how many modules the longest chain has; modules in a cycle count all."""
    components = _components(graph)

    @cache
    def length(component: frozenset[str]) -> int:
        below = {components[each] for name in component for each in graph[name]} - {component}
        return len(component) + max(map(length, below), default=0)

    return max(map(length, components.values()))
