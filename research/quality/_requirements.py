"""What the project asks for in pyproject.toml, and what the files in requirements/ pin."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from research.harness.clone import ROOT

__all__ = ["PINS", "Pin", "floor", "project_requirements", "read_pins"]

PINS = ROOT / "requirements"


@dataclass(frozen=True)
class Pin:
    """One line of a lock: an exact release, where it applies, and the hashes it may have."""

    requirement: Requirement
    hashes: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name that all spellings of it share."""
        return canonicalize_name(self.requirement.name)

    @property
    def version(self) -> Version:
        """The release that is pinned; an error if it is a range."""
        (only,) = self.requirement.specifier
        if only.operator != "==" or only.version.endswith("*"):
            raise ValueError(f"{self.requirement} does not pin one release; run make lock.")
        return Version(only.version)

    def applies(self, environment: Mapping[str, str]) -> bool:
        """Whether it is for such an interpreter and platform."""
        marker = self.requirement.marker
        return marker is None or marker.evaluate(dict(environment))


def read_pins(path: Path) -> list[Pin]:
    """Return the lines of a lock."""
    text = re.sub(r"\\\n", " ", path.read_text("utf-8"))
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    return [_pin(line) for line in lines if line]


def _pin(line: str) -> Pin:
    requirement, *hashes = re.split(r"\s+--hash=", line)
    return Pin(Requirement(requirement), tuple(hashes))


def project_requirements(
    *, extras: bool = True, groups: tuple[str, ...] = ()
) -> dict[str, list[Requirement]]:
    """Return what pyproject.toml asks for by itself: `core`, and each extra and group by name."""
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project = asked["project"]
    found = {"core": [Requirement(each) for each in project["dependencies"]]}
    if extras:
        for extra, named in project["optional-dependencies"].items():
            requirements = [Requirement(each) for each in named]
            found[extra] = [each for each in requirements if each.name != project["name"]]
    for group in groups:
        found[group] = list(_of_group(group, asked["dependency-groups"]))
    return found


def _of_group(group: str, groups: Mapping[str, list[Any]]) -> Iterator[Requirement]:
    for each in groups[group]:
        if isinstance(each, str):
            yield Requirement(each)
        else:
            yield from _of_group(each["include-group"], groups)


def floor(requirement: Requirement) -> Version:
    """Return the lowest release that a requirement allows."""
    (lowest,) = [each.version for each in requirement.specifier if each.operator == ">="]
    return Version(lowest)
