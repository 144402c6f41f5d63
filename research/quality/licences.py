"""The licences of what the core and each extra bring with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageMetadata, distribution

from packaging.licenses import canonicalize_license_expression
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from research.quality._record import Record
from research.quality._requirements import project_requirements

__all__ = ["Licensed", "is_allowed", "licence_of", "licences", "run"]

# Permissive ones, by their SPDX identifiers.
ALLOWED = frozenset({
    *("0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause"),
    *("CC0-1.0", "ISC", "MIT", "MIT-CMU", "PSF-2.0", "Unlicense", "Zlib"),
    "BSD",  # of which kind the package does not say; all are permissive
})  # fmt: skip
EXCEPTIONS = {"gurobipy": "Gurobi's own terms; an extra, for those who have a licence"}
UNKNOWN = "unknown"
LONGEST = 60  # characters of a name; what is longer is the text of a licence
WORDS = {  # of packages that have no SPDX expression
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD 3-Clause": "BSD-3-Clause",
    "BSD License": "BSD",
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Python Software Foundation License": "PSF-2.0",
    "Proprietary": "Proprietary",
}
Find = Callable[[str], Distribution]


@dataclass(frozen=True)
class Licensed:
    """A package, who needs it, and on which terms it is given."""

    name: str
    version: str
    licence: str
    needed_by: tuple[str, ...]  # core, or names of extras

    @property
    def passes(self) -> bool:
        """Whether it may be needed: on terms that are allowed, or an exception outside the core."""
        is_exception = self.name in EXCEPTIONS and "core" not in self.needed_by
        return is_exception or is_allowed(self.licence)


def licences(
    asked: Mapping[str, Iterable[Requirement]], find: Find = distribution
) -> list[Licensed]:
    """Return all packages that are asked for, with those that they ask for in turn, by name."""
    users: dict[str, dict[str, None]] = {}
    for who, requirements in asked.items():
        seen: set[tuple[str, frozenset[str]]] = set()
        for requirement in requirements:
            for name in _with_needs(requirement, find, seen):
                users.setdefault(name, {})[who] = None
    return [
        Licensed(name, find(name).version, licence_of(find(name)), tuple(users[name]))
        for name in sorted(users)
    ]


def _with_needs(
    requirement: Requirement, find: Find, seen: set[tuple[str, frozenset[str]]]
) -> Iterator[str]:
    """Yield a package and all that it needs here, with the extras that are asked for."""
    name, extras = canonicalize_name(requirement.name), frozenset(requirement.extras)
    if (name, extras) in seen:
        return
    seen.add((name, extras))
    yield name
    for each in map(Requirement, find(name).requires or ()):
        marker = each.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in {"", *extras}):
            yield from _with_needs(each, find, seen)


def licence_of(package: Distribution) -> str:
    """Return the licence that a package declares, as an SPDX expression if it can be told.

    Without an expression there are a field and classifiers: all that they name has to be kept to,
    and one name that is not known is enough to make the whole unknown.
    """
    about = package.metadata
    if expression := about.get("License-Expression"):
        return str(canonicalize_license_expression(expression))
    names = dict.fromkeys(WORDS.get(each, each) for each in _declared(about))
    if any(each.startswith("BSD-") for each in names):
        names.pop("BSD", None)  # the classifier, which does not say of which kind
    known = all(each in ALLOWED or each in WORDS.values() for each in names)
    return " AND ".join(names) if names and known else UNKNOWN


def _declared(about: PackageMetadata) -> Iterator[str]:
    """Yield the names of licences in the field and in classifiers."""
    field = about.get("License", "").strip()
    if field and len(field) <= LONGEST and "\n" not in field:
        yield field
    for classifier in about.get_all("Classifier") or ():
        kind, *names = classifier.split(" :: ")
        if kind == "License" and names != ["OSI Approved"]:  # which is no licence
            yield names[-1]


def is_allowed(expression: str) -> bool:
    """Whether an SPDX expression can be kept to by licences that are allowed."""
    tokens = re.findall(r"[()]|\bAND\b|\bOR\b|(?:(?!\bAND\b|\bOR\b)[^()])+", expression)
    words = [each.strip() for each in tokens if each.strip()]
    return _any_of(words) and not words


def _any_of(words: list[str]) -> bool:
    """Take alternatives from the front of the words."""
    found = _all_of(words)
    while words and words[0] == "OR":
        words.pop(0)
        found |= _all_of(words)
    return found


def _all_of(words: list[str]) -> bool:
    """Take what must be kept together from the front of the words."""
    found = _one(words)
    while words and words[0] == "AND":
        words.pop(0)
        found &= _one(words)
    return found


def _one(words: list[str]) -> bool:
    word = words.pop(0) if words else ""
    if word != "(":
        return word in ALLOWED
    found = _any_of(words)
    return bool(words) and words.pop(0) == ")" and found


def run() -> Record:
    """List the packages of this environment, which has all extras, with their licences."""
    found = licences(project_requirements())
    refused = [each for each in found if not each.passes]
    core = sum("core" in each.needed_by for each in found)
    return Record(
        title="Licences",
        asked=(
            "What the core and each extra install is under permissive licences, all the way down; "
            "exceptions are named, and never in the core."
        ),
        seen=f"{len(found)} packages, {core} of them in the core, {len(refused)} not allowed",
        passed=not refused,
        command="python -m research.quality licences",
        table=[
            {
                "Package": each.name,
                "release": each.version,
                "licence": each.licence,
                "needed by": ", ".join(each.needed_by),
            }
            for each in found
        ],
        notes=[
            *(f"Not allowed: {each.name}, {each.licence}." for each in refused),
            *(f"Exception: {name}, {why}." for name, why in EXCEPTIONS.items()),
            (
                "Licences are what packages declare in their metadata, on this platform; compiled "
                "packages may hold libraries with terms of their own, which their files say."
            ),
            "Tools of development, which no user installs, are left out.",
        ],
    )
