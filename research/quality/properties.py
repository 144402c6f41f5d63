"""Properties of the suite, tried on new random examples for as long as asked.

The suite tries the same few examples each time. Here the files whose properties are about tables,
rules, models and files are run again and again, each time with another seed of hypothesis.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter

from research.harness.processes import run_python
from research.quality._record import Record

__all__ = ["arguments", "examples", "run"]

FILES = (  # in tests/
    "package/test_reliability.py",
    "candidates/test_rules.py",
    "model/test_ruleset.py",
    "model/test_values.py",
    "model/test_export_text.py",
    "model/test_export_python.py",
    "model/test_export_json.py",
    "data/files/test_files.py",
    "data/test_columns.py",
    "candidates/test_cuts.py",
    "data/test_fixed_point.py",
    "candidates/test_statistics.py",
    "data/test_canonical_order.py",
    "frontier/test_lookups.py",
    "solver/problems/test_squared.py",
)
COUNTED = re.compile(r"(\d+) passing(?: examples)?, (\d+) failing")


def examples(printed: str) -> Counter[str]:
    """Count what the statistics of hypothesis say."""
    seen: Counter[str] = Counter()
    for passing, failing in COUNTED.findall(printed):
        seen["examples"] += int(passing) + int(failing)
        seen["failures"] += int(failing) > 0
    seen["properties"] = len(re.findall(r"^tests/\S+::.*:$", printed, re.MULTILINE))
    return seen


def try_file(name: str, seed: int) -> Counter[str]:
    """Run a file with a seed; show what fails."""
    words = ("-m", "pytest", "-q", "-p", "no:randomly", f"tests/{name}")
    how = ("--hypothesis-show-statistics", f"--hypothesis-seed={seed}")
    done = run_python(*words, *how, check=False, HYPOTHESIS_PROFILE="search")
    seen = examples(done.stdout)
    if done.returncode:
        seen["failures"] = max(1, seen["failures"])
        print(f"FAILED with seed {seed}, {name}:\n{done.stdout[-5000:]}", flush=True)
    return seen


def run(minutes: float, seed: int) -> Record:
    """Try all files once, and again until the time is over."""
    begun, rounds = time.monotonic(), 0
    seen: dict[str, Counter[str]] = {name: Counter() for name in FILES}
    while rounds == 0 or time.monotonic() - begun < 60.0 * minutes:
        for name in FILES:
            if rounds and time.monotonic() - begun > 60.0 * minutes:
                break
            found = try_file(name, seed + rounds)
            found["properties"] -= seen[name]["properties"]  # they are the same ones
            seen[name] += found + Counter(rounds=1)
            print(f"{name}: {dict(seen[name])}", flush=True)
        rounds += 1
    total = sum(seen.values(), Counter[str]())
    return Record(
        title="Properties on new examples",
        asked="What holds for the examples of the suite holds for others, which nobody has chosen.",
        seen=(
            f"{total['properties']:,} properties, {total['examples']:,} new examples, "
            f"{total['failures']:,} failures"
        ),
        passed=not total["failures"],
        command=f"python -m research.quality properties --minutes {minutes:g} --seed {seed}",
        table=[
            {
                "Tests": name,
                **{what: each[what] for what in ("properties", "rounds", "examples", "failures")},
            }
            for name, each in seen.items()
        ],
    )


def arguments(parser: argparse.ArgumentParser) -> None:
    """Say what may be asked for."""
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
