"""Figures as files."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mossrules.exceptions import InvalidParameter

__all__ = ["check_plot", "drawn"]

PLOTS = (".png", ".svg", ".pdf")


def check_plot(path: Path) -> None:
    """Refuse a plot that cannot be drawn, before any work."""
    from mossrules.display.plots._axes import load  # noqa: PLC0415

    if path.suffix.lower() not in PLOTS:
        raise InvalidParameter(f"--plot is {str(path)!r}; end it in one of {', '.join(PLOTS)}.")
    load("matplotlib.figure")


def drawn(
    draw: Callable[[Any], object], path: Path, size: tuple[float, float] = (6.4, 4.4)
) -> bytes:
    """Return what a function draws on axes, as the content of a file."""
    from mossrules.display.plots._axes import load  # noqa: PLC0415

    # Not by pyplot, which may open a window.
    figure = load("matplotlib.figure").Figure(figsize=size, layout="constrained")
    draw(figure.add_subplot())
    content = io.BytesIO()
    figure.savefig(content, format=path.suffix.lower().removeprefix("."), dpi=150)
    return content.getvalue()
