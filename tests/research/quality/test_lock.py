"""The releases pinned in requirements/ are what pyproject.toml allows, and all of it."""

import re

import pytest
from packaging.requirements import Requirement

from research.quality._requirements import PINS, Pin, floor, project_requirements, read_pins

ENVIRONMENTS = [
    {
        "python_version": python,
        "python_full_version": f"{python}.7",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "sys_platform": platform,
        "os_name": "nt" if platform == "win32" else "posix",
        "platform_system": system,
        "platform_machine": machine,
    }
    for python in ("3.11", "3.12", "3.13")
    for platform, system, machine in (
        ("linux", "Linux", "x86_64"),
        ("darwin", "Darwin", "arm64"),
        ("win32", "Windows", "AMD64"),
    )
]
WHAT = {
    "development.txt": project_requirements(groups=("dev", "docs")),
    "core.txt": project_requirements(extras=False),
    "minimum.txt": project_requirements(groups=("tests", "bench")),
}


def stale(pins, asked, environment):
    """Return what is asked for and not pinned, or pinned to a release that is not allowed."""
    held = {}
    for pin in pins:
        if pin.applies(environment):
            assert pin.name not in held, f"{pin.name} is pinned twice"
            held[pin.name] = pin.version
    return [
        str(requirement)
        for requirements in asked.values()
        for requirement in requirements
        if requirement.name not in held or held[requirement.name] not in requirement.specifier
    ]


@pytest.mark.parametrize("lock", WHAT)
def test_each_requirement_is_pinned_within_its_range(lock):
    """On every Python and platform that we name; else `make lock` is due."""
    pins = read_pins(PINS / lock)
    for environment in ENVIRONMENTS:
        assert stale(pins, WHAT[lock], environment) == []


def test_what_is_stale_is_named():
    """A package that is not in the lock, and a release below or above the range."""
    pins = [Pin(Requirement(each), ()) for each in ("a==1.0", "b==2.0; os_name == 'nt'", "c==3.0")]
    asked = {"core": [Requirement(each) for each in ("a>=1.1", "b>=1", "c>=3,<4")]}
    assert stale(pins, asked, ENVIRONMENTS[0]) == ["a>=1.1", "b>=1"]
    assert stale(pins, asked, ENVIRONMENTS[2]) == ["a>=1.1"]
    with pytest.raises(ValueError, match="does not pin one release"):
        _ = Pin(Requirement("a>=1.0"), ()).version


@pytest.mark.parametrize("lock", WHAT)
def test_each_pin_has_hashes_and_no_address(lock):
    """A lock says what to install, and nothing of where from or on which machine it was made."""
    pins = read_pins(PINS / lock)
    assert all(pin.hashes for pin in pins)
    assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for pin in pins for each in pin.hashes)
    assert not re.search(r"://|index-url|find-links|(^| )/", (PINS / lock).read_text("utf-8"))


def test_the_minimum_is_the_lowest_that_is_allowed():
    """Floors of the core and of extras are those which the suite was run with, no lower."""
    pinned = {pin.name: pin.version for pin in read_pins(PINS / "minimum.txt")}
    asked = [each for requirements in project_requirements().values() for each in requirements]
    assert {each.name: pinned[each.name] for each in asked} == {
        each.name: floor(each) for each in asked
    }


def test_the_core_is_the_same_in_both_locks():
    """What `make demo` installs is what `make test` tests."""
    core, development = (
        {(pin.name, pin.version) for pin in read_pins(PINS / lock)}
        for lock in ("core.txt", "development.txt")
    )
    assert core - development == set()
