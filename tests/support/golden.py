"""Golden results: what a rebuild of the package must not change, bit for bit.

`python -m support.golden write` keeps the figures of all cases in `tests/golden.json`, and
`python -m support.golden check` compares them to the last bit, with every difference told by its
case and place. Names of cases after `check` leave out the others, and after `write` keep the
figures of the others. Run it with PYTHONPATH=src:tests.

What figures are is in `golden_figures`. Text, whole numbers and truth values are the same on every
machine. Numbers with fractions may differ in their last bits where another processor or another
release of a library rounds otherwise, and so may all digests that they are part of. Unless
everything is asked for (MOSSRULES_GOLDEN=exact, or `check`), `differences` therefore takes such
numbers for the same when they are within 1e-9 of each other, relative or absolute, and does not
look at such digests. Nor does it look at how much work a search was ("effort") and where its proof
ended ("dual"): the release of a solver decides them, and rounding moves them by more than itself.
Bounds and gaps, which come of that, need only be within 1e-6.

The libraries of linear algebra have one thread here, since their sums depend on how many they have:
with two, the last bits of some duals of classifiers and of linear terms of RuleFit are others.
"""

from __future__ import annotations

import json
import math
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from support.golden_cases import CASES

__all__ = ["CASES", "PATH", "differences", "figures", "read"]

PATH = Path(__file__).parents[1] / "golden.json"
NUMBER = re.compile(r"-?(0x[01](\.[0-9a-f]+)?p[+-]\d+|inf|nan)")
NEAR, NEAR_BOUNDS = 1e-9, 1e-6
BOUNDS = re.compile(r"/(bound|gap|worst_gap)$")
WAY = ("effort", "dual")  # how an answer was found, beside what it is


def read() -> dict[str, Any]:
    """Return the figures that are kept, by case."""
    kept: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return kept


def differences(kept: Any, found: Any, *, exact: bool, place: str = "") -> Iterator[str]:
    """Yield a line for each place where figures are not what was kept."""
    if isinstance(kept, dict) and isinstance(found, dict):
        for name in [*kept, *(name for name in found if name not in kept)]:
            where = f"{place}/{name}"
            if name not in found or name not in kept:
                yield f"{where}: only in what was {'kept' if name in kept else 'found'}"
            elif exact or name not in WAY:
                yield from differences(kept[name], found[name], exact=exact, place=where)
    elif isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        for number, pair in enumerate(zip(kept, found, strict=True)):
            yield from differences(*pair, exact=exact, place=f"{place}/{number}")
    elif not same(kept, found, exact=exact, near=NEAR_BOUNDS if BOUNDS.search(place) else NEAR):
        yield f"{place}: kept {shown(kept)}, found {shown(found)}"


def same(kept: Any, found: Any, *, exact: bool, near: float) -> bool:
    """Tell whether two figures agree."""
    if type(kept) is type(found) and kept == found:
        return True
    if exact or not (isinstance(kept, str) and isinstance(found, str)):
        return False
    if NUMBER.fullmatch(kept) and NUMBER.fullmatch(found):
        one, other = float.fromhex(kept), float.fromhex(found)
        return math.isclose(one, other, rel_tol=near, abs_tol=near)
    return kept.startswith("floats:") and found.startswith("floats:")


def shown(figure: Any) -> str:
    """Return a figure for people, numbers in their usual form too."""
    text = repr(figure)[:200]
    if isinstance(figure, str) and NUMBER.fullmatch(figure):
        text += f" ({float.fromhex(figure)!r})"
    return text


def write(names: list[str]) -> None:
    """Keep the figures of cases, by default of all."""
    kept = read() if names else {}
    found = {name: told(name) for name in names or CASES}
    ordered = {name: {**kept, **found}[name] for name in CASES if name in {**kept, **found}}
    text = "{\n" + ",\n".join(
        f"{json.dumps(name)}: {json.dumps(each, separators=(',', ':'), ensure_ascii=False)}"
        for name, each in ordered.items()
    )
    PATH.write_text(f"{text}\n}}\n", encoding="utf-8")


def check(names: list[str]) -> int:
    """Compare cases, by default all, to the last bit; return how many places differ."""
    kept, number = read(), 0
    for name in names or {**CASES, **kept}:
        lines = [f"{name}: only in what was kept"]
        if name in CASES:
            lines = list(differences(kept.get(name), told(name), exact=True, place=name))
        number += len(lines)
        for line in lines:
            sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"{number} differences\n")
    return number


def figures(name: str) -> Any:
    """Return the figures of a case as JSON has them."""
    with threadpool_limits(1):
        return json.loads(json.dumps(CASES[name]()))


def told(name: str) -> Any:
    """Return the figures of a case, and tell the time that it took."""
    started = time.perf_counter()
    found = figures(name)
    sys.stderr.write(f"{time.perf_counter() - started:6.2f} s  {name}\n")
    return found


def main(arguments: list[str]) -> int:
    """Write or check; return the status to exit with."""
    command, *names = arguments or [""]
    unknown = [name for name in names if name not in CASES]
    if command not in ("write", "check") or unknown:
        sys.stderr.write(f"usage: write|check [case ...]; unknown: {' '.join(unknown)}\n")
        return 2
    if command == "write":
        write(names)
        return 0
    return 1 if check(names) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
