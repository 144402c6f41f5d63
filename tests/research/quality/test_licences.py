"""Licences of what is installed with the package."""

from importlib.metadata import Distribution

import pytest
from packaging.requirements import Requirement

from research.quality._requirements import project_requirements
from research.quality.licences import UNKNOWN, is_allowed, licence_of, licences

OSI = "Classifier: License :: OSI Approved"
BSD = f"{OSI} :: BSD License"
MIT = f"{OSI} :: MIT License"
GPL = f"{OSI} :: GNU General Public License v3 (GPLv3)"
SYSTEM = "Classifier: Operating System :: POSIX :: BSD"
TEXT = "License: Copyright (c) 2015, all of us\n        Redistribution is permitted."
LONG = f"License: {'Redistribution is permitted. ' * 5}"


@pytest.fixture
def find(tmp_path):
    """Return a finder of made-up packages, which are made from lines of metadata."""

    def make(name, *lines):
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        head = ["Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0"]
        (folder / "METADATA").write_text("\n".join([*head, *lines]) + "\n", "utf-8")

    make("fine", "License-Expression: MIT", "Requires-Dist: strict; extra == 'more'")
    make("strict", "License-Expression: GPL-3.0-only", "Requires-Dist: fine[more]")
    make("gurobipy", "License: Proprietary")
    return lambda name: Distribution.at(tmp_path / f"{name}-1.0.dist-info")


def test_a_licence_that_is_not_allowed_is_found_all_the_way_down(find):
    """Where an extra of a package brings it in, and nowhere else; circles end."""
    asked = {"core": [Requirement("fine")], "plot": [Requirement("fine[more]")]}
    fine, strict = licences(asked, find)
    assert (fine.name, fine.licence, fine.needed_by, fine.passes) == (
        *("fine", "MIT", ("core", "plot")),
        True,
    )
    assert (strict.name, strict.licence, strict.needed_by) == ("strict", "GPL-3.0-only", ("plot",))
    assert not strict.passes


def test_an_exception_is_one_for_extras_only(find):
    """The same package in the core is refused."""
    (extra,) = licences({"gurobi": [Requirement("gurobipy")]}, find)
    (core,) = licences({"core": [Requirement("gurobipy")]}, find)
    assert extra.passes
    assert not core.passes


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("BSD-2-Clause AND Apache-2.0 WITH LLVM-exception", True),
        ("Apache-2.0 WITH Classpath-exception-2.0", False),
        ("MIT OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("GPL-2.0-only OR MIT AND ISC", True),
        ("(MIT OR GPL-2.0-only) AND (GPL-3.0-only OR ISC)", True),
        ("(MIT OR ISC) AND GPL-3.0-only", False),
        ("MIT)", False),
        ("(MIT", False),
        ("MIT AND", False),
        ("", False),
        (UNKNOWN, False),
    ],
)
def test_expressions_are_read_as_spdx_has_them(expression, allowed):
    """AND binds closer than OR, parentheses closer still, and what is malformed is not allowed."""
    assert is_allowed(expression) is allowed


@pytest.mark.parametrize(
    ("lines", "licence"),
    [
        (["License-Expression: MIT", "License: BSD License"], "MIT"),
        (["License: BSD 3-Clause", BSD], "BSD-3-Clause"),
        (["License: BSD-3-Clause", BSD], "BSD-3-Clause"),
        (["License: MIT", BSD], "MIT AND BSD"),
        ([MIT, BSD, OSI], "MIT AND BSD"),
        ([TEXT, BSD], "BSD"),
        ([LONG, BSD], "BSD"),
        ([TEXT], UNKNOWN),
        ([], UNKNOWN),
        ([OSI], UNKNOWN),
        ([SYSTEM], UNKNOWN),
        (["License: as you like"], UNKNOWN),
        (["License: as you like", MIT], UNKNOWN),
        (["License: GPL", MIT], UNKNOWN),
        (["License: MIT", GPL], UNKNOWN),
        ([GPL, MIT, SYSTEM], UNKNOWN),
        (["License: Proprietary", MIT], "Proprietary AND MIT"),
    ],
)
def test_what_a_package_declares_is_found_where_it_is_kept(lines, licence, tmp_path):
    """The expression, or else all that field and classifiers name; a text is none of them."""
    folder = tmp_path / "a.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("\n".join(["Name: a", *lines]) + "\n", "utf-8")
    assert licence_of(Distribution.at(folder)) == licence
    assert is_allowed(licence) is (licence != UNKNOWN and "Proprietary" not in licence)


def test_all_that_we_need_is_allowed():
    """In this environment, the core and every extra."""
    found = licences(project_requirements())
    assert {"numpy", "llvmlite"} <= {each.name for each in found}
    assert [each for each in found if not each.passes] == []
