"""Do one thing that takes memory, and print what it took; the arguments are KIND NUMBER [FILE].

`quality.limits` runs this, as only a process of its own has a peak of its own.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from typing import Any

KIB = 1024


def in_use() -> int:
    """Return the memory in use, in bytes, and forget that there was more before."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def peak() -> int:
    """Return the most memory that was in use since then."""
    return _status("VmHWM")


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return KIB * next(int(line.split()[1]) for line in lines if line.startswith(name))


def nodes(most: int) -> dict[str, Any]:
    """Search with so many open nodes at most."""
    from mossrules.solver import Options, solve  # noqa: PLC0415
    from support.cases import hard_problem  # noqa: PLC0415  after the limits are set

    solve(hard_problem(m=20, k=4))
    problem, before = hard_problem(m=64, k=16, seed=1, gamma=10.0), in_use()
    found = solve(problem, options=Options(gap=0.0, time_limit=60.0, open_nodes=most))
    open_nodes = dict(found.report.counters)["open_nodes"]
    return {"status": found.status.value, "bytes": peak() - before, "open": open_nodes}


def file(rows: int, path: str) -> dict[str, Any]:
    """Learn from a Parquet file of 20 columns, written before by another process."""
    import numpy as np  # noqa: PLC0415

    from mossrules import MossRegressor  # noqa: PLC0415

    learner = MossRegressor(5, n_trees=50, random_state=0, n_jobs=2)
    small = np.random.default_rng(0).normal(size=(500, 20))
    learner.fit(small, small[:, 0])
    before = in_use()
    learner.fit(path, "y")
    return {"status": learner.solution_.status.value, "bytes": peak() - before, "rows": rows}


def write(rows: int, path: str) -> dict[str, Any]:
    """Write that file, a row group at a time."""
    import numpy as np  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    rng, group = np.random.default_rng(0), 1 << 16
    names = [*(f"x{i}" for i in range(19)), "y"]
    schema = pa.schema([(name, pa.float64()) for name in names])
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, group):
            values = rng.normal(size=(20, min(group, rows - start))).round(3)
            values[-1] += values[0] > 0
            writer.write_table(pa.table(dict(zip(names, values, strict=True)), schema))
    return {"status": "written", "bytes": 0}


def starved(mebibytes: int, path: str) -> None:
    """Run the command line with so much more memory than it has when it is loaded."""
    import mossrules.cli.fit  # noqa: F401, PLC0415  loaded before the limit
    from mossrules import MossRegressor  # noqa: PLC0415
    from mossrules.__main__ import main  # noqa: PLC0415
    from mossrules.data.files import read_file  # noqa: F401, PLC0415

    small = {"a": [1.0, 2.0, 3.0, 4.0] * 10, "b": [1.0, 2.0] * 20}
    MossRegressor(2, n_trees=5, n_jobs=2).fit(small, small["a"])
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + mebibytes * KIB * KIB
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    sys.argv = ["mossrules", "fit", path, "--target", "y", "--n-trees", "50", "--jobs", "2"]
    main()


if __name__ == "__main__":
    kind, number, *rest = sys.argv[1:]
    found = {"nodes": nodes, "file": file, "write": write, "starved": starved}[kind](
        int(number), *rest
    )
    if found is not None:
        json.dump(found, sys.stdout)
