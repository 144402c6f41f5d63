"""Run parts from the root: `python -m research.quality [part] [options]`, `... page` at last."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from importlib import import_module

from research.quality._page import write_page
from research.quality._record import made_by

# In the order of the page.
PARTS = (
    *("suite", "wheel", "minimum", "newest"),
    *(
        "soak",
        "exact",
        "fuzz",
        "malformed",
        "faults",
        "interrupts",
        "determinism",
        "limits",
        "properties",
    ),
    *("documentation", "licences", "network"),
)


def main(arguments: list[str] | None = None) -> int:
    """Run one part, keep its record and write the page; return 1 if it did not pass.

    Where only some of a part is asked for, nothing is kept: the record is that of the whole.
    """
    parser = argparse.ArgumentParser(prog="python -m research.quality", description=__doc__)
    choices = parser.add_subparsers(dest="part", required=True, metavar="part")
    choices.add_parser("page", help="write docs/quality.md from the records")
    for part in PARTS:
        module = import_module(f"research.quality.{part}")
        about = (module.__doc__ or "").splitlines()[0]
        parser_of_part = choices.add_parser(part, help=about, description=about)
        if hasattr(module, "arguments"):
            module.arguments(parser_of_part)
    asked = vars(parser.parse_args(arguments))
    part, passed = asked.pop("part"), True
    if part != "page":
        made_by()  # as it is now, and not when the work is done
        start = time.monotonic()
        record = import_module(f"research.quality.{part}").run(**asked)
        record = replace(record, seconds=time.monotonic() - start)
        passed = record.passed
        print("\n".join([f"{record.title}: {record.seen}", *record.notes]))
        if asked.get("only"):
            print("Only some of this part was run, so its record is left as it is.")
            return int(not passed)
        record.save(part)
    write_page(PARTS)
    return int(not passed)


if __name__ == "__main__":
    sys.exit(main())
