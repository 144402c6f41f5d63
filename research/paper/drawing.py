"""What the figures of experiments share: a new figure, and the package's own looks.

matplotlib is loaded when a figure is drawn, and figures belong to no window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mossrules.display.plots._axes import PALETTE, finish, load

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
else:
    Axes = Figure = Any

__all__ = ["COLOURS", "MARKERS", "PALETTE", "Axes", "Figure", "figure_of", "finish", "new_figure"]

COLOURS = tuple(PALETTE.values())
MARKERS = "osD^vPX*"


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches."""
    figure: Figure = load("matplotlib.figure").Figure(figsize=(width, height), layout="constrained")
    return figure


def figure_of(display: Any) -> Figure:
    """Return a display drawn on a figure as large as it needs."""
    figure: Figure = display.plot().figure_
    load("matplotlib.pyplot").close(figure)  # it stays with us, and pyplot does not show it
    return figure
