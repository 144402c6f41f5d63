"""The picture of docs/architecture.md, drawn from the code: `python -m docs.floor_plan`.

Rooms stand in the order of `[tool.mossrules]` in pyproject.toml, each with the sentence of its own
docstring and the rooms that its modules import from. A test draws it again and compares.
"""

from __future__ import annotations

import ast
import tomllib
from html import escape
from pathlib import Path

from mossrules._late import MODULES

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "floor_plan.svg"
PACKAGE = ROOT / "src" / "mossrules"

WIDTH, HEIGHT, GAP = 920, 58, 8  # of a room, and between two, in pixels
STYLE = (
    "text{font-family:system-ui,sans-serif;fill:#1c2733}"
    ".room{font-size:17px;font-weight:600}.what{font-size:13.5px}"
    ".uses{font-size:12px;fill:#5a6b7b}rect{fill:#eef4f8;stroke:#9db4c5}"
)


def rooms() -> list[str]:
    """Return the rooms that are folders, in the order of their layers."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        layers = tomllib.load(file)["tool"]["mossrules"]["layers"]
    return [room for layer in layers for room in layer if (PACKAGE / room).is_dir()]


def sentence_of(room: str) -> str:
    """Return the first line of the docstring of a room."""
    source = (PACKAGE / room / "__init__.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0].rstrip(".")


def uses_of(room: str) -> list[str]:
    """Return the rooms that modules of a room import from when they run."""
    found = set()
    for path in (PACKAGE / room).rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                node.body = [ast.Pass()]
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        modules = [node.module or "" for node in imports]
        if any(alias.name == "_late" for node in imports for alias in node.names):
            modules += MODULES.values()
        found |= {module.split(".")[1] for module in modules if module.startswith("mossrules.")}
    return [other for other in rooms() if other in found - {room}]


def draw() -> str:
    """Return the picture as SVG."""
    height = len(rooms()) * (HEIGHT + GAP) + GAP
    box = f"0 0 {WIDTH + 2 * GAP} {height}"
    label = "The rooms of mossrules, from data to command line"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img" aria-label="{label}">',
        f"<style>{STYLE}</style>",
    ]
    for place, room in enumerate(rooms()):
        top = GAP + place * (HEIGHT + GAP)
        uses = ", ".join(uses_of(room)) or "no other room"
        parts.append(
            f'<rect x="{GAP}" y="{top}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
            f'<text class="room" x="24" y="{top + 25}">{room}/</text>'
            f'<text class="what" x="160" y="{top + 25}">{escape(sentence_of(room))}</text>'
            f'<text class="uses" x="160" y="{top + 45}">imports from {uses}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
