"""The suite with the lowest releases that pyproject.toml allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from research.quality._record import Cell, Record
from research.quality._requirements import PINS, project_requirements
from research.quality._suite import (
    arguments,
    install,
    make_environment,
    run_suite,
    suite_record,
    versions,
)

__all__ = ["arguments", "release_table", "run"]


def run(workers: int, only: Sequence[str] = ()) -> Record:
    """Install the lowest releases and the clone, and run the tests."""
    python = make_environment("minimum")
    install(python, "--require-hashes", "--requirement", PINS / "minimum.txt")
    # By the newest hatchling: this lock has what the package needs to run, and no tools to build.
    install(python, "--no-deps", "--editable", ".", "--editable", "./research")
    used = versions(python)
    return suite_record(
        run_suite(python, "minimum", workers, only),
        used,
        part="minimum",
        title="The lowest releases",
        asked=(
            "All tests pass with the lowest releases that `pyproject.toml` allows of what the "
            "core and the extras need, as pinned in `requirements/minimum.txt`."
        ),
        table=release_table(used),
        notes=[
            (
                "What those packages need in turn is the newest that they allow, except for what "
                "`requirements/minimum.in` says, with the reason."
            )
        ],
    )


def release_table(used: Mapping[str, str]) -> list[dict[str, Cell]]:
    """Return what the core and each extra ask for, and what was used."""
    return [
        {
            "Package": each.name,
            "needed by": who,
            "asked": str(each.specifier),
            "used": used[each.name],
        }
        for who, requirements in project_requirements().items()
        for each in requirements
    ]
