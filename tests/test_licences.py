"""Licences of what is installed with the package."""

from importlib.metadata import Distribution

import pytest
from packaging.requirements import Requirement
from quality._requirements import project_requirements
from quality.licences import UNKNOWN, is_allowed, licence_of, licences

BSD = "Classifier: License :: OSI Approved :: BSD License"


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


def test_what_a_package_declares_is_found_where_it_is_kept(tmp_path):
    """The expression before the field, the field before classifiers; a text is none of them."""
    fields = {
        "MIT": ["License-Expression: MIT", "License: BSD License"],
        "BSD-3-Clause": [
            "License: BSD-3-Clause",
            BSD,
        ],
        "BSD": ["License: Copyright, all", BSD],
        UNKNOWN: ["License: as you like"],
    }
    for number, (licence, lines) in enumerate(fields.items()):
        folder = tmp_path / f"{number}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("\n".join(["Name: a", *lines]) + "\n", "utf-8")
        assert licence_of(Distribution.at(folder)) == licence


def test_all_that_we_need_is_allowed():
    """In this environment, the core and every extra."""
    found = licences(project_requirements())
    assert {"numpy", "llvmlite"} <= {each.name for each in found}
    assert [each for each in found if not each.passes] == []
