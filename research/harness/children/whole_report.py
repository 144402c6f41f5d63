"""Make the report of a generated table with correlated columns, and answer how long each part took.

It works with any release of mossrules that has reports: `PYTHONPATH` says which. The job has the
`rows`, the `columns` and, if the time is to be limited, the `seconds` of each search.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

FACTORS = 12  # that all columns depend on


def correlated_table(rows: int, columns: int) -> tuple[dict[str, Any], Any]:
    """Return columns that share a few factors, as measurements of one thing do, and their sum.

    Very many rules are then worth nearly the same, which is what makes a proof long.
    """
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((rows, FACTORS))
    loadings = rng.standard_normal((FACTORS, columns)) / np.sqrt(FACTORS)
    X = factors @ loadings + rng.standard_normal((rows, columns))
    y = factors @ rng.standard_normal(FACTORS) + 2.0 * rng.standard_normal(rows)
    return {f"x{j}": X[:, j] for j in range(columns)}, y


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Return seconds of the clock and of processors, by stage, and what the report says."""
    from mossrules import MossRegressor  # noqa: PLC0415  the release that is measured
    from mossrules.display.report import collect, render  # noqa: PLC0415

    X, y = correlated_table(job["rows"], job["columns"])
    few = {name: values[:150] for name, values in X.items()}
    MossRegressor().fit(few, y[:150])  # compiles, or loads what was compiled
    stages: list[tuple[str, float, float]] = []

    def note(stage: str, *_: Any) -> None:
        if not stages or stages[-1][0] != stage:
            stages.append((stage, time.perf_counter(), time.process_time()))

    note("fitting")
    search = {} if job["seconds"] is None else {"time_limit": job["seconds"]}
    limits = {"time_budget": job["fit"]} if "time_budget" in MossRegressor().get_params() else {}
    model = MossRegressor(**search, **limits).fit(X, y)
    data = collect(model, X, y, progress=note)
    note("drawing")
    page = render(data)
    note("end")
    return {
        "stages": [
            {"stage": stage, "seconds": later[1] - clock, "of processors": later[2] - processor}
            for (stage, clock, processor), later in pairwise(stages)
        ],
        "seconds": stages[-1][1] - stages[0][1],
        "report": stages[-1][1] - stages[1][1],
        "of processors": stages[-1][2] - stages[0][2],
        "points": len(data.points),
        "unproven": sum(point.certificate.status == "time limit" for point in data.points),
        "worst gap": max(point.certificate.gap for point in data.points),
        "refits": 0 if data.track_record is None else data.track_record.refits,
        "cut short": list(getattr(data, "cut_short", ())),
        "page": len(page),
    }


if __name__ == "__main__":
    asked, answer = map(Path, sys.argv[1:])
    answer.write_text(json.dumps(measure(json.loads(asked.read_text()))), encoding="utf-8")
