"""What a fit and a report run through, of the package that this process finds.

A file of its own, which research/house.py starts with the path to the package.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

from sklearn.datasets import load_diabetes

import mossrules
from mossrules.cli import main as run_command

__all__ = ["trace_runs"]

REPORT = ("report", "table.csv", "--target", "target", "--folds", "2", "--points", "3")


def trace_runs() -> dict[str, int]:
    """Fit, and write a report in the working directory, each twice."""
    data = load_diabetes()
    names = [*data.feature_names, "target"]
    rows = [",".join(map(str, [*row, y])) for row, y in zip(data.data, data.target, strict=True)]
    Path("table.csv").write_text("\n".join([",".join(names), *rows]) + "\n", encoding="utf-8")

    def report() -> None:
        sys.argv = ["mossrules", *REPORT]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            run_command()

    fit = _trace(lambda: mossrules.MossRegressor().fit(data.data, data.target))
    reported = _trace(report)
    if not Path("report.html").is_file():
        raise SystemExit("The report was not written.")
    return {
        "fit_files": len({file for file, _ in fit}),
        "fit_functions": len(fit),
        "report_files": len({file for file, _ in reported}),
        "report_functions": len(reported),
    }


def _trace(call: Callable[[], object]) -> set[tuple[str, str]]:
    """Return the functions of the package, by file and name, that the second of two calls runs."""
    call()
    codes: set[CodeType] = set()

    def record(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            codes.add(frame.f_code)

    threading.setprofile(record)
    sys.setprofile(record)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    folder = str(Path(mossrules.__file__).parent) + os.sep
    ours = {(each.co_filename, each.co_name) for each in codes}
    return {each for each in ours if each[0].startswith(folder) and each[1] != "<module>"}


if __name__ == "__main__":
    print(json.dumps(trace_runs()))
