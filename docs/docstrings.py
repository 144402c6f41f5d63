"""Docstrings of the public names, by numpydoc's checks: `python -m docs.docstrings` lists faults.

Names are those of docs/api.rst, with the methods of classes. Each name has an example as well, or
says under "See Also" or "Notes" which other one has.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections.abc import Iterator
from enum import EnumType
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

__all__ = [
    "CHECKS",
    "WITHOUT_EXAMPLE",
    "faults",
    "listed_names",
    "need_example",
    "public_names",
    "unshown",
]

FEW = 2  # parameters that a summary can tell of
MADE_BY_US = {"of", "at", "cheapest", "from_paths", "paths", "without_selection"}  # not by users
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

# Names that need no example, and why.
WITHOUT_EXAMPLE = {
    "mossrules.PAPER": "parameters, which the example of `MossRegressor` passes",
    "mossrules.exceptions.*": "raised and caught, not called",
    "mossrules.stability.Identity": "a choice of words, which `dice` describes",
    "mossrules.stability.Measure": "a choice of words, which `empirical_stability` describes",
    "mossrules.constraints.*": "all are passed as `NeverUse` is, or called by estimators",
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
        if not inspect.isclass(thing) and not inspect.isroutine(thing):
            continue  # a choice of words, such as Identity
        yield name
        if inspect.isclass(thing):
            yield from (f"{name}.{member}" for member in vars(thing) if _documented(thing, member))


def _find(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def _member(name: str) -> Any:
    """Return what is listed, or a method or property of it, as its class has it."""
    home, _, last = name.rpartition(".")
    return getattr(_find(home), last) if home in listed_names() else _find(name)


def _documented(kind: type, name: str) -> bool:
    member = inspect.getattr_static(kind, name)
    return not name.startswith("_") and (inspect.isroutine(member) or isinstance(member, property))


def faults() -> list[str]:
    """Return a sentence for each check that a public name fails."""
    # Only those who check need it.
    from numpydoc.docscrape import get_doc_object  # noqa: PLC0415
    from numpydoc.validate import validate  # noqa: PLC0415

    found = [
        f"{name}: {message} ({code})"
        for name in public_names()
        for code, message in validate(get_doc_object(_member(name)))["errors"]
        if code in CHECKS and not (code in {"PR01", "YD01"} and _told_in_words(name))
    ]
    return found + [
        f"{name}: nothing says what {field} is"
        for name in listed_names()
        for field in _undescribed(_find(name))
    ]


def _told_in_words(name: str) -> bool:
    """Tell whether a summary is enough: of records, and where there is a parameter or two."""
    home, _, last = name.rpartition(".")
    if home not in listed_names():
        thing = _find(name)
        if inspect.isclass(thing):
            return dataclasses.is_dataclass(thing) or isinstance(thing, EnumType)
    else:
        thing = inspect.getattr_static(_find(home), last)
    taken = inspect.signature(getattr(thing, "__func__", thing)).parameters
    return len(taken.keys() - {"self", "cls"}) <= FEW or last in MADE_BY_US


def _undescribed(thing: Any) -> Iterator[str]:
    """Yield fields of a record that neither its docstring nor a comment for readers describes."""
    if not dataclasses.is_dataclass(thing):
        return
    kinds = [each for each in inspect.getmro(thing) if each.__module__.startswith("mossrules")]
    told = "\n".join(each.__doc__ or "" for each in kinds)
    source = "\n".join(inspect.getsource(each) for each in kinds)
    for field in dataclasses.fields(thing):
        words = re.search(
            rf"`{field.name}`|^ *(\w+, )*{field.name}\b(, \w+)*( : .*)?$", told, re.MULTILINE
        )
        comment = re.search(rf"^ +{field.name}: [^#\n]*#: ", source, re.MULTILINE)
        if not field.name.startswith("_") and not words and not comment:
            yield field.name


# --- examples -------------------------------------------------------------------------------------


def need_example() -> list[str]:
    """Return the names of docs/api.rst but those of WITHOUT_EXAMPLE."""
    return [
        name
        for name in listed_names()
        if not any(fnmatchcase(name, pattern) for pattern in WITHOUT_EXAMPLE)
    ]


def unshown() -> list[str]:
    """Return a sentence for each name with neither an example nor a word on where there is one."""
    shown = {name for name in listed_names() if _has_example(_find(name))}
    return [
        f"{name}: no example, nor a See Also to a name that has one"
        for name in need_example()
        if name not in shown and not _named_beside(_find(name)) & shown
    ]


def _has_example(thing: Any) -> bool:
    """Tell whether the docstring of a name, or of one of its methods, has an example."""
    names = vars(thing) if inspect.isclass(thing) else ()
    members = [vars(thing)[name] for name in names if _documented(thing, name)]
    return any(">>> " in (each.__doc__ or "") for each in (thing, *members))


def _named_beside(thing: Any) -> set[str]:
    """Return the names that a docstring has under "See Also" and "Notes"."""
    sections = re.split(r"^(.+)\n-{3,}\n", inspect.getdoc(thing) or "", flags=re.MULTILINE)
    found = zip(sections[1::2], sections[2::2], strict=True)
    told = [text for title, text in found if title in {"See Also", "Notes"}]
    return set(re.findall(r"mossrules(?:\.\w+)+", "\n".join(told)))


if __name__ == "__main__":
    print(*faults(), *unshown(), sep="\n")  # noqa: T201
