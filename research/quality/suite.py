"""The suite in the environment that is locked: what CI runs."""

from __future__ import annotations

from collections.abc import Sequence

from research.quality._record import Record
from research.quality._requirements import PINS
from research.quality._suite import (
    arguments,
    install,
    make_environment,
    run_suite,
    suite_record,
    versions,
)

__all__ = ["arguments", "run"]


def run(workers: int, only: Sequence[str] = ()) -> Record:
    """Install the lock and the clone, and run the tests."""
    python = make_environment("suite")
    install(python, "--require-hashes", "--requirement", PINS / "development.txt")
    # By the hatchling of the lock.
    install(
        python, "--no-deps", "--no-build-isolation", "--editable", ".", "--editable", "./research"
    )
    return suite_record(
        run_suite(python, "suite", workers, only),
        versions(python),
        part="suite",
        title="The suite",
        asked=(
            "All tests pass, in random order and with warnings as errors, with the pinned releases "
            "of `requirements/development.txt` in a fresh environment."
        ),
    )
