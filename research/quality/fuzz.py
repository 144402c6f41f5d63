"""Damage files of every kind and read them, as many times as asked.

Every defect is printed with the seed that makes it again.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random

from research.quality._record import Record
from support.readers import READERS, Reader, read_damaged

__all__ = ["arguments", "fuzz", "run"]

SLOW = 10.0  # seconds for one small file
WORDS = ("read", "refused", "slow", "defects")


def fuzz(reader: Reader, count: int, seed: int) -> Counter[str]:
    """Read so many damaged files; print each defect."""
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        samples = reader.samples(folder)
        for number in range(count):
            for path in folder.glob("damaged*"):
                path.unlink()
            key = f"{reader.name} {seed} {number}"
            start = time.process_time()
            try:
                found[read_damaged(reader, samples, Random(key), folder)] += 1  # noqa: S311
            except Exception:  # noqa: BLE001  whatever it is, it is a defect
                found["defects"] += 1
                print(f"DEFECT with Random({key!r}):\n{traceback.format_exc(limit=-3)}", flush=True)
            found["slow"] += time.process_time() - start > SLOW
    return found


def run(count: int, seed: int, only: str | None) -> Record:
    """Read so many damaged files of each kind, or of one."""
    names = [only] if only else list(READERS)
    found = {name: fuzz(READERS[name], count, seed) for name in names}
    total = sum(found.values(), Counter[str]())
    return Record(
        title="Damaged files",
        asked=(
            "Whatever is wrong with a file is a `MossError` of one sentence, soon; where the "
            "damage does no harm, all that is done with what was read works."
        ),
        seen=(
            f"{count * len(names):,} damaged files of {len(names)} kinds, {total['defects']:,} "
            f"defects, {total['slow']:,} that took more than {SLOW:g} seconds"
        ),
        passed=not total["defects"] and not total["slow"],
        command=f"python -m research.quality fuzz {count} --seed {seed}",
        table=[
            {"Kind": name, **{word: each[word] for word in WORDS}} for name, each in found.items()
        ],
    )


def arguments(parser: argparse.ArgumentParser) -> None:
    """Say what may be asked for."""
    parser.add_argument("count", type=int, help="damaged files of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=READERS, help="one kind")
