"""The suite with the newest releases that pyproject.toml allows."""

from __future__ import annotations

from collections.abc import Sequence

from research.quality._record import Record
from research.quality._suite import (
    arguments,
    install,
    make_environment,
    run_suite,
    suite_record,
    versions,
)
from research.quality.minimum import release_table

__all__ = ["arguments", "run"]


def run(workers: int, only: Sequence[str] = ()) -> Record:
    """Install what is newest today and the clone, and run the tests."""
    python = make_environment("newest")
    groups = ("--group", "tests", "--group", "bench", "--group", "supply")
    install(
        python,
        "--upgrade",
        "--prerelease=disallow",
        *groups,
        "--editable",
        ".[all]",
        "--editable",
        "./research",
    )
    used = versions(python)
    return suite_record(
        run_suite(python, "newest", workers, only),
        used,
        part="newest",
        title="The newest releases",
        asked=(
            "All tests pass with the newest releases there are on the day of the run, "
            "pre-releases apart."
        ),
        table=release_table(used),
    )
