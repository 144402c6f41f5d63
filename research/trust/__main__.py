"""Measure the trust table: `python -m research.trust`, and `--page` for the page of what it found.

Each table and method is a task, done by one of two processes and recorded when it is finished, so
that an interrupted run resumes. Tasks with failures are tried again. Packages that are not
installed here are looked for in the interpreters that MOSSRULES_PEERS names.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from research.harness.clone import DATA, ROOT
from research.trust.measuring import measure_all
from research.trust.methods import METHODS, methods_named
from research.trust.page import write_page
from research.trust.peers import SECONDS
from research.trust.tables import tables_named

OUT = ROOT / "docs" / "results" / "trust" / "record.json"


def main(arguments: list[str] | None = None) -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m research.trust", description=__doc__)
    parser.add_argument(
        "--tables", default="all", help="all, numbers, classes, or names with commas"
    )
    parser.add_argument("--methods", nargs="+", metavar="NAME", help=", ".join(METHODS))
    parser.add_argument("--rules", type=int, default=15)
    parser.add_argument("--refits", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--scheme", choices=("folds", "bootstrap"), default="folds")
    parser.add_argument("--max-rows", type=int, default=4000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="limit on a mean fit of another package"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="record; its rows stand beside it")
    parser.add_argument("--data", type=Path, default=DATA, help="where the tables are")
    parser.add_argument(
        "--page", action="store_true", help="write the page of a record, and no more"
    )
    options = parser.parse_args(arguments)
    if options.page:
        write_page(options.out, options.out.with_name("results.md"))
        return
    names = ("rules", "refits", "seeds", "scheme", "max_rows")
    settings = {name: getattr(options, name) for name in names}
    tasks = [
        (table, method)
        for table in tables_named(options.tables)
        for method in methods_named(options.methods)
    ]
    measure_all(
        tasks, settings, options.out, options.processes, options.data, seconds=options.seconds
    )


if __name__ == "__main__":
    main()
