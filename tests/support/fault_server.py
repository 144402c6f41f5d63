"""A process that runs commands and calls in children of its own, with one fault in each.

It loads everything and runs each task once, and then forks a child for each line of JSON on its
standard input: a child starts at once, with kernels compiled. `faults.py` starts it with a library
in front of the C library, which makes calls fail; the child arms it just before the task.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import json
import os
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

KINDS = 13  # in faults.c
LONG = 60  # seconds for a task


def command(arguments: list[str]) -> None:
    """Run the command line; it exits."""
    from mossrules.__main__ import main  # noqa: PLC0415  here and below: after the preloading

    sys.argv = ["mossrules", *arguments]
    main()


def columns() -> Any:
    """Return the rows as a table in memory."""
    import pandas as pd  # noqa: PLC0415

    return pd.read_csv("rows.csv")


def learner() -> Any:
    """Return a learner of a moment."""
    from mossrules import MossRegressor  # noqa: PLC0415

    return MossRegressor(3, n_trees=20, random_state=0, n_jobs=2)


def sums(values: Any) -> list[float]:
    """Return what tells arrays apart."""
    return [float(each) for each in values]


def read(name: str) -> Any:
    """Read a file whole."""
    from mossrules.data import read_file  # noqa: PLC0415

    return {key: list(map(str, values)) for key, values in read_file(Path(name)).items()}


def fit(name: str) -> str:
    """Fit to files that stay where they are."""
    return str(learner().fit(name, "y").rules_.to_json())


def predict(name: str) -> Any:
    """Predict for a file, with a model that was read."""
    from mossrules import RuleSet  # noqa: PLC0415
    from mossrules.data import scan_files  # noqa: PLC0415

    ruleset = RuleSet.from_json(Path("fitted.json").read_bytes())
    return sums(ruleset.predict(scan_files(name, only=list(ruleset.columns))))


def check(name: str) -> str:
    """Look at the columns of a file."""
    from mossrules import data  # noqa: PLC0415

    return data.check(name, "y").to_text()


def track_record(checkpoint: str) -> str:
    """Repeat a fit, with a checkpoint."""
    X = columns()
    found = learner().fit(X, "y").track_record(X, "y", refits=4, checkpoint=Path(checkpoint))
    return str(found.summary())


def frontier(checkpoint: str) -> Any:
    """Solve at several floors, with a checkpoint."""
    from mossrules.frontier import solve_frontier  # noqa: PLC0415

    X = columns()
    problem = learner().fit(X, "y").problem_
    found = solve_frontier(problem, [0, 2, 4, 6], checkpoint=Path(checkpoint))
    return [(point.floor, point.solution.loss) for point in found.entries]


def evaluate(checkpoint: str) -> Any:
    """Cross-validate, with a checkpoint."""
    from mossrules.evaluation import evaluate  # noqa: PLC0415

    found = evaluate(
        {"MOSS": learner()}, columns(), "y", cv=2, checkpoint=Path(checkpoint), n_jobs=1
    )
    return found.frame()["r2"].tolist()


def trade_off(_: str) -> Any:
    """Cross-validate a frontier."""
    from mossrules.evaluation import evaluate_frontier  # noqa: PLC0415

    found = evaluate_frontier(learner(), columns(), "y", cv=2, points=3, n_jobs=2)
    return found.frame()["r2"].tolist()


def performance(_: str) -> str:
    """Measure a model."""
    from mossrules.evaluation import performance as measure  # noqa: PLC0415

    X = columns()
    return repr(measure(learner().fit(X, "y"), X, "y", cv=2))


def report(name: str) -> str:
    """Write a report."""
    from mossrules.display.report import collect, write_report  # noqa: PLC0415

    X = columns()
    write_report(name, collect(learner().fit(X, "y"), X, "y", cv=2, points=3))
    return Path(name).read_text("utf-8")[-8:]


def exports(_: str) -> str:
    """Write a rule set in all forms."""
    from mossrules import RuleSet  # noqa: PLC0415

    rules = RuleSet.from_json(Path("fitted.json").read_bytes())
    return "".join([rules.to_sql("t"), rules.to_python(), rules.to_latex(), rules.to_markdown()])


def excel(_: str) -> int:
    """Write columns as an Excel file."""
    from mossrules.data.files.excel import to_excel  # noqa: PLC0415

    return len(to_excel({"a": [1.0] * 500, "b": ["x"] * 500})) // 1000


CALLS: dict[str, Callable[[str], Any]] = {
    each.__name__: each
    for each in (
        *(read, fit, predict, check, track_record, frontier, evaluate, trade_off, performance),
        *(report, exports, excel),
    )
}


def call(name: str, argument: str) -> Any:
    """Make a call of the library; what it raises is a part of the result."""
    from mossrules.exceptions import MossError  # noqa: PLC0415

    try:
        return {"value": CALLS[name](argument)}
    except MossError as error:
        return {"ours": f"{type(error).__name__}: {error}"}
    except Exception as error:  # noqa: BLE001  whatever it is, it is for the parent to judge
        import traceback  # noqa: PLC0415

        return {"raw": "".join(traceback.format_exception(error)[-4:])}


def child(task: dict[str, Any], answer: int) -> None:
    """Do a task with its fault, and write what was counted to a pipe."""
    status, result = 0, None
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(task[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.chdir(task["folder"])
    os.environ["TMPDIR"] = task["temporary"]
    import tempfile  # noqa: PLC0415

    tempfile.tempdir = None
    signal.alarm(LONG)
    library = ctypes.CDLL(None)
    fault = task["fault"]
    library.faults_arm(
        task["root"].encode(), fault["kind"], ctypes.c_long(fault["nth"]), fault["code"],
        fault["lasts"], ctypes.c_long(fault["least"]),
    )  # fmt: skip
    try:
        if "command" in task:
            command(task["command"])
        else:
            result = call(*task["call"])
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        library.faults_disarm()
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        atexit._run_exitfuncs()
    counts = [library.faults_count(kind) for kind in range(KINDS)]
    said = {"status": status, "counts": counts, "hits": library.faults_hits(), "result": result}
    os.write(answer, json.dumps(said).encode())


def main() -> None:
    """Do the tasks that come, each in a child; those to warm up are done here."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        task = json.loads(line)
        if task.get("warm"):
            # A terminal's streams stay ours: what is printed now is of no interest.
            with (
                contextlib.chdir(task["folder"]),
                open(os.devnull, "w") as nowhere,  # noqa: PTH123
                contextlib.redirect_stdout(nowhere),
                contextlib.redirect_stderr(nowhere),
                contextlib.suppress(SystemExit),
            ):
                if "command" in task:
                    command(task["command"])
                else:
                    call(*task["call"])
            print("{}", flush=True)  # noqa: T201
            continue
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(reading)
            try:
                child(task, writing)
            except BaseException:  # noqa: BLE001  to standard error, where the parent looks
                import traceback  # noqa: PLC0415

                traceback.print_exc()
                sys.stderr.flush()
                os._exit(99)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as answer:
            said = answer.read()
        _, ended = os.waitpid(process, 0)
        print(json.dumps({"ended": ended, **json.loads(said or "{}")}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
