"""The one way up: from results to the figures, pages and views that `mossrules.display` makes.

`.plot()`, `.report()` and the views of notebooks are methods of results, and results stand in rooms
below the displays, which import them. Importing the displays there as well would close a ring, and
load what most programs never draw. So they are found by name, when they are wanted, and here alone:
besides `mossrules/__init__.py` and `mossrules/_deprecated.py`, which look up public names, no other
module of the package may import one of its modules by a string (`tests/package/test_layers.py`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os

__all__ = ["comparison_html", "comparison_page", "display_class", "frontier_html", "model_html",
           "write_report"]  # fmt: skip


def display_class(name: str) -> Any:
    """Return a class of `mossrules.display`."""
    return getattr(_import_display(), name)


def write_report(model: Any, path: str | os.PathLike[str], X: Any, y: Any, **options: Any) -> Any:
    """Write the report of a fitted model to a file, and return its data."""
    module = _import_display("report")
    data = module.collect(model, X, y, **options)
    module.write_report(path, data)
    return data


def model_html(model: Any) -> str:
    """Return what a notebook shows of a fitted model."""
    html: str = _import_display("report.render").model_html(model)
    return html


def frontier_html(frontier: Any) -> str:
    """Return what a notebook shows of a frontier."""
    html: str = _import_display("report.render").frontier_html(frontier)
    return html


def comparison_html(comparison: Any) -> str:
    """Return what a notebook shows of two rule sets side by side."""
    html: str = _import_display("differences").comparison_html(comparison)
    return html


def comparison_page(comparison: Any) -> str:
    """Return the page of two rule sets side by side."""
    html: str = _import_display("differences").comparison_page(comparison)
    return html


def _import_display(module: str = "") -> Any:
    return import_module(f"mossrules.display.{module}".rstrip("."))
