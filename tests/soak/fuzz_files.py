"""Damage files and read them, for as many times as asked: `python tests/soak/fuzz_files.py 1000`.

Prints, for each kind of file, how many were read and refused, and every defect with its seed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

from readers import READERS, Reader, read_damaged


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


SLOW = 10.0  # seconds for one small file


def main() -> int:
    """Run; exit with 1 if there is a defect."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, help="damaged files of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=READERS, help="one kind")
    asked = parser.parse_args()
    bad = 0
    for name in [asked.only] if asked.only else READERS:
        found = fuzz(READERS[name], asked.count, asked.seed)
        bad += found["defects"] + found["slow"]
        words = ("read", "refused", "slow", "defects")
        print(f"{name}: {', '.join(f'{found[word]} {word}' for word in words)}", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
