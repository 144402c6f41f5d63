"""The suite with the newest releases that pyproject.toml allows."""

from __future__ import annotations

from collections.abc import Sequence

from research.harness.processes import install
from research.quality._record import Record
from research.quality._suite import arguments, fresh_environment, record_of_tests

__all__ = ["arguments", "run"]

GROUPS = ("--group", "tests", "--group", "bench", "--group", "supply")


def run(workers: int, only: Sequence[str] = ()) -> Record:
    """Install what is newest today and the clone, and run the tests."""
    python = fresh_environment("newest")
    clone = ("--editable", ".[all]", "--editable", "./research")
    install(python, "--upgrade", "--prerelease=disallow", *GROUPS, *clone)
    return record_of_tests(
        python,
        "newest",
        workers,
        only,
        by_release=True,
        title="The newest releases",
        asked=(
            "All tests pass with the newest releases there are on the day of the run, "
            "pre-releases apart."
        ),
    )
