"""`mossrules doctor`: whether this installation works."""

from __future__ import annotations

from typing import Any

import typer

from mossrules.cli import _options as options
from mossrules.cli._console import print_json, print_line

__all__ = ["doctor"]

SIGNS = {"good": ("ok    ", "green"), "note": ("note  ", "yellow"), "bad": ("FAULT ", "bold red")}


def doctor(*, as_json: options.Json = False) -> None:
    """Check this installation: versions, extras, threads, cache, and a self-test of seconds."""
    from mossrules.cli._installation import examine  # noqa: PLC0415  loads numba

    found: list[dict[str, Any]] = []
    for each in examine():
        found.append({"about": each.about, "what": each.what, "state": each.state})
        if not as_json:
            print_line(SIGNS[each.state], (each.about, "bold"), f": {each.what}")
    faults = sum(each["state"] == "bad" for each in found)
    if as_json:
        print_json({"findings": found, "faults": faults})
    else:
        print_line("All is well." if not faults else f"{faults} faults; see above.")
    if faults:
        raise typer.Exit(1)
