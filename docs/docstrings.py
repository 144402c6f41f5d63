"""Docstrings of the public names, by numpydoc's checks: `python -m docs.docstrings` lists faults.

Names are those of docs/api.rst, with the methods of classes.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["CHECKS", "faults", "listed_names", "public_names"]

REFERENCE = Path(__file__).with_name("api.rst")

# A docstring, its summary, and what goes in and comes out.
CHECKS = {
    "GL03": "no double blank lines",
    "GL05": "no tabs",
    "GL06": "no section of an unknown name",
    "GL07": "sections in numpydoc's order",
    "GL08": "there is one",
    "PR01": "every parameter is described",
    "PR02": "no parameter that is not there",
    "PR03": "parameters in the order of the signature",
    "PR07": "each with a description",
    "PR10": "a space before the colon of its type",
    "RT03": "what is returned is described",
    "SS01": "a summary",
    "SS02": "which begins with a capital",
    "SS03": "and ends with a full stop",
    "SS04": "no spaces before it",
    "SS06": "of one line",
    "YD01": "what is yielded is described",
}


def listed_names() -> list[str]:
    """Return the names of docs/api.rst, in its order."""
    names, module = [], ""
    for line in REFERENCE.read_text("utf-8").splitlines():
        if found := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
            module = found[1]
        elif found := re.fullmatch(r"   ([\w.]+)", line):
            names.append(f"{module}.{found[1]}")
    return names


def public_names() -> Iterator[str]:
    """Yield names that can be called or read, methods and properties of classes among them."""
    for name in listed_names():
        thing = _find(name)
        if not callable(thing):
            continue  # a choice of words, such as Identity
        yield name
        if inspect.isclass(thing):
            yield from (f"{name}.{member}" for member in vars(thing) if _documented(thing, member))


def _find(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def _documented(kind: type, name: str) -> bool:
    member = inspect.getattr_static(kind, name)
    return not name.startswith("_") and (inspect.isroutine(member) or isinstance(member, property))


def faults() -> list[str]:
    """Return a sentence for each check that a public name fails."""
    from numpydoc.validate import validate  # noqa: PLC0415 - only those who check need it

    return [
        f"{name}: {message} ({code})"
        for name in public_names()
        for code, message in validate(name)["errors"]
        if code in CHECKS
    ]


if __name__ == "__main__":
    print(*faults(), sep="\n")  # noqa: T201
