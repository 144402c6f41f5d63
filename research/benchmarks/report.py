"""The interactive report of a table that is hard to prove anything of, with everything on.

1,059 rows and 117 correlated columns: very many rules are worth nearly the same. Where the variable
BEFORE names the folder `src` of another release, that one is measured too, after ours; as it may
have no budget, its searches have two seconds each, which flatters it.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from research.harness.clone import ROOT
from research.harness.processes import run_python
from research.harness.reports import Bound, Figure, Report

ROWS, COLUMNS = 1_059, 117
QUICK_ROWS, QUICK_COLUMNS = 200, 20
MOST_SECONDS = 60.0
OF_THE_FIT = 15.0  # a quarter, as in `mossrules report`
SECONDS_BEFORE = 2.0
CHILD = ROOT / "research" / "harness" / "children" / "whole_report.py"


def run(*, quick: bool) -> Report:
    """Time a fit and its report in a fresh process."""
    rows, columns = (QUICK_ROWS, QUICK_COLUMNS) if quick else (ROWS, COLUMNS)
    job = {"rows": rows, "columns": columns, "fit": OF_THE_FIT, "seconds": None}
    now = measure(job, ROOT / "src")
    report = Report("report", settings={"rows": rows, "columns": columns})
    report.figures += [
        Figure("report", now["report"], "s", Bound("<", MOST_SECONDS)),
        Figure("with the fit", now["seconds"], "s"),
        Figure("with the fit, of processors", now["of processors"], "s"),
        Figure("points", now["points"], parts={"unproven": now["unproven"]}),
        Figure("worst gap of a point", now["worst gap"]),
        Figure("refits", now["refits"], parts={"asked": 20}),
    ]
    report.tables["where the time goes"] = now["stages"]
    report.notes += now["cut short"]
    before = os.environ.get("BEFORE")
    if before:
        then = measure({**job, "seconds": SECONDS_BEFORE}, Path(before))
        report.figures.append(Figure("before, searches of 2 s at most", then["report"], "s"))
        report.tables["where it went before"] = then["stages"]
    return report


def measure(job: dict[str, Any], source: Path) -> dict[str, Any]:
    """Return what a release of mossrules, whose folder `src` is named, takes."""
    with tempfile.TemporaryDirectory() as folder:
        asked, answer = Path(folder) / "asked.json", Path(folder) / "answer.json"
        asked.write_text(json.dumps(job), encoding="utf-8")
        run_python(str(CHILD), str(asked), str(answer), PYTHONPATH=str(source))
        found: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    return found
