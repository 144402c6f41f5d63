"""What all figures share: axes from matplotlib, loaded when they are wanted, and the looks.

Colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart; no
two kinds of marks differ in colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mossrules.exceptions import InvalidParameter, MissingDependency, UnsupportedType

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PALETTE", "axes_for", "check_choice", "finish", "load"]

PALETTE = {
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "grey": "#6E6E6E",
}


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Say so when a parameter is none of its choices."""
    if value not in choices:
        raise InvalidParameter(f"{name} is {value!r}; choose from {', '.join(choices)}.")


def load(module: str) -> Any:
    """Return a module of matplotlib, loaded on first use, or say how to get it."""
    try:
        import_module("matplotlib")  # its submodules, once loaded, would not look for it
        return import_module(module)
    except ImportError as failure:
        raise MissingDependency(
            f"Plots need matplotlib, which could not be loaded ({failure}); "
            'run pip install "mossrules[plot]".'
        ) from failure


def axes_for(ax: Axes | None, size: tuple[float, float] = (6.4, 4.4)) -> Axes:
    """Return the axes to draw on: those given, or those of a new figure of a size in inches."""
    if ax is None:
        pyplot = load("matplotlib.pyplot")
        figure, new = pyplot.subplots(figsize=size, layout="constrained")
        figure.get_layout_engine().set(w_pad=0.1)  # a number below the right end needs room there
        axes: Axes = new
        return axes
    kind: type[Axes] = load("matplotlib.axes").Axes
    if not isinstance(ax, kind):
        raise UnsupportedType(f"ax is a {type(ax).__name__}; pass axes of matplotlib, or None.")
    return ax


def finish(ax: Axes, *, x: str, y: str, whole: bool = True) -> None:
    """Give the axes their labels, whole numbers below if wanted, a faint grid and a legend."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if whole:
        ax.locator_params(axis="x", integer=True)
    ax.grid(visible=True, color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.legend(loc="best", fontsize="small", framealpha=0.9)
