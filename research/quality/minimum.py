"""The suite with the lowest releases that pyproject.toml allows."""

from __future__ import annotations

from collections.abc import Sequence

from research.harness.processes import install
from research.quality._record import Record
from research.quality._requirements import PINS
from research.quality._suite import CLONE, arguments, fresh_environment, record_of_tests

__all__ = ["arguments", "run"]


def run(workers: int, only: Sequence[str] = ()) -> Record:
    """Install the lowest releases and the clone, and run the tests."""
    python = fresh_environment("minimum")
    install(python, "--require-hashes", "--requirement", PINS / "minimum.txt")
    # By the newest hatchling: this lock has what the package needs to run, and no tools to build.
    install(python, "--no-deps", *CLONE)
    return record_of_tests(
        python,
        "minimum",
        workers,
        only,
        by_release=True,
        title="The lowest releases",
        asked=(
            "All tests pass with the lowest releases that `pyproject.toml` allows of what the "
            "core and the extras need, as pinned in `requirements/minimum.txt`."
        ),
        notes=[
            (
                "What those packages need in turn is the newest that they allow, except for what "
                "`requirements/minimum.in` says, with the reason."
            )
        ],
    )
