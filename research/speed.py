"""Two checkouts against each other: `python -m research.speed --before path/to/src [--after src]`.

Times of the same work by both, in turns on the same machine, and their ratio: machines are noisy,
so nothing but a ratio measured in one run says anything. Each round is a process of its own, and
each figure the least of all rounds; kernels are compiled before.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["compare", "main"]

ROUNDS = 3
REPEATS = 3  # of each task in a round, the first one to warm up


def tasks() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield what is timed, by name; both checkouts have these public names."""
    import numpy as np  # noqa: PLC0415  the parent needs none of it
    from sklearn.datasets import load_breast_cancer, load_diabetes  # noqa: PLC0415
    from sklearn.linear_model import Ridge  # noqa: PLC0415

    from mossrules import MossClassifier, MossRegressor, evaluate_frontier  # noqa: PLC0415
    from mossrules.baselines import SirusRegressor  # noqa: PLC0415
    from mossrules.evaluation import evaluate  # noqa: PLC0415

    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    classes = load_breast_cancer(return_X_y=True, as_frame=True)
    rng = np.random.default_rng(0)
    big = rng.normal(size=(200_000, 20))
    target = big[:, 0] + (big[:, 1] > 0.5) * big[:, 2] + rng.normal(size=len(big))
    fitted, model = MossRegressor().fit(X, y), MossRegressor(5).fit(big, target)
    yield "fit 442 x 10", lambda: MossRegressor().fit(X, y)
    yield "fit 569 x 30, classes", lambda: MossClassifier().fit(*classes)
    yield "fit 10,000 x 20", lambda: MossRegressor().fit(big[:10_000], target[:10_000])
    yield "fit 200,000 x 20", lambda: MossRegressor().fit(big, target)
    yield "predict 200,000 x 20", lambda: model.predict(big)
    yield "frontier of 50 points", lambda: fitted.select(stability=0.8).frontier(50, gap=0.0099)
    methods = {"MOSS": MossRegressor(), "SIRUS": SirusRegressor(), "ridge": Ridge()}
    yield "evaluate, 3 methods, 5 folds", lambda: evaluate(methods, X, y, cv=5)
    yield "evaluate_frontier, 5 folds", lambda: evaluate_frontier(fitted, X, y, cv=5, points=11)


def measure() -> dict[str, float]:
    """Return the least seconds of each task in this process."""
    found = {}
    for name, task in tasks():
        seconds = []
        for _ in range(REPEATS):
            begun = time.perf_counter()
            task()
            seconds.append(time.perf_counter() - begun)
        # A frontier that was asked for before is only looked up: its first time is the one.
        found[name] = seconds[0] if name.startswith("frontier") else min(seconds)
    return found


def run(source: Path, code: str) -> str:
    """Run code with the package of a checkout, and return what it prints."""
    root = Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(root)])}
    command = [sys.executable, "-c", code]
    done = subprocess.run(  # noqa: S603  our own code
        command, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def time_imports(source: Path) -> dict[str, float]:
    """Return the seconds that a process takes to import names, or to show the commands."""
    codes = {
        "import mossrules": "import mossrules",
        "import MossRegressor": "from mossrules import MossRegressor",
        "mossrules --help": "import sys; sys.argv = ['mossrules', '--help']\n"
        "from mossrules.__main__ import main; main()",
        "mossrules fit --help": "import sys; sys.argv = ['mossrules', 'fit', '--help']\n"
        "from mossrules.__main__ import main; main()",
    }
    found = {}
    for name, code in codes.items():
        begun = time.perf_counter()
        run(source, code)
        found[name] = time.perf_counter() - begun
    return found


def compare(before: Path, after: Path, rounds: int = ROUNDS) -> dict[str, tuple[float, float]]:
    """Return the least seconds of both for each task."""
    code = "import json; from research.speed import measure; print(json.dumps(measure()))"
    least: dict[str, list[float]] = {}
    for source in (before, after):
        run(source, code)  # which compiles kernels
    for _ in range(rounds):
        for place, source in enumerate((before, after)):
            for name, seconds in {**time_imports(source), **json.loads(run(source, code))}.items():
                known = least.setdefault(name, [float("inf"), float("inf")])
                known[place] = min(known[place], seconds)
    return {name: (one, other) for name, (one, other) in least.items()}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--before", type=Path, required=True, help="folder with the package")
    parser.add_argument("--after", type=Path, default=Path("src"))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    asked = parser.parse_args()
    print("| | before, s | after, s | ratio |\n|---|---|---|---|")
    found = compare(asked.before.absolute(), asked.after.absolute(), asked.rounds)
    for name, (before, after) in found.items():
        print(f"| {name} | {before:.3g} | {after:.3g} | {after / before:.2f} |")


if __name__ == "__main__":
    main()
