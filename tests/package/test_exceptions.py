"""Warnings are at the user's line."""

from __future__ import annotations

import pytest

from mossrules.exceptions import warn_user

OURS = """
def deep(depth):
    if depth:
        deep(depth - 1)
    else:
        warn_user("Look here.", UserWarning)
"""


@pytest.mark.parametrize("module", ["mossrules", "mossrules.some.module"])
@pytest.mark.parametrize("depth", [0, 1, 5])
def test_a_warning_names_the_nearest_line_outside_the_package(module, depth):
    """However many of our frames lie between, the line is that of the caller."""
    within = {"__name__": module, "warn_user": warn_user}
    exec(OURS, within)  # noqa: S102  as if a module of the package had it
    with pytest.warns(UserWarning, match="Look here") as caught:
        within["deep"](depth)
    assert [each.filename for each in caught] == [__file__]


def test_a_package_of_a_similar_name_is_not_ours():
    """Code of another package is the user's, even if its name begins like ours."""
    within = {"__name__": "mossrules_extra", "warn_user": warn_user}
    exec(compile(OURS, "theirs.py", "exec"), within)  # noqa: S102
    with pytest.warns(UserWarning, match="Look here") as caught:
        within["deep"](0)
    assert [each.filename for each in caught] == ["theirs.py"]
