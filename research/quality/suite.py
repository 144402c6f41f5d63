"""The suite in the environment that is locked: what CI runs."""

from __future__ import annotations

from collections.abc import Sequence

from research.harness.processes import install
from research.quality._record import Record
from research.quality._requirements import PINS
from research.quality._suite import CLONE, arguments, fresh_environment, record_of_tests

__all__ = ["arguments", "run"]


def run(workers: int, only: Sequence[str] = ()) -> Record:
    """Install the lock and the clone, and run the tests."""
    python = fresh_environment("suite")
    install(python, "--require-hashes", "--requirement", PINS / "development.txt")
    install(python, "--no-deps", "--no-build-isolation", *CLONE)  # by the hatchling of the lock
    return record_of_tests(
        python,
        "suite",
        workers,
        only,
        title="The suite",
        asked=(
            "All tests pass, in random order and with warnings as errors, with the pinned releases "
            "of `requirements/development.txt` in a fresh environment."
        ),
    )
