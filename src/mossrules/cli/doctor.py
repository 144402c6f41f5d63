"""`mossrules doctor`: versions, extras, threads, cache, and a self-test of seconds."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from mossrules import _late as late
from mossrules.cli import _options as options
from mossrules.cli._output import print_json, print_line

if TYPE_CHECKING:
    from mossrules._typing import FloatArray
    from mossrules.solver.options import Method

__all__ = ["Finding", "doctor", "examine"]

SIGNS = {"good": ("ok    ", "green"), "note": ("note  ", "yellow"), "bad": ("FAULT ", "bold red")}
State = Literal["good", "note", "bad"]
REQUIREMENT = re.compile(r"^([A-Za-z0-9_.-]+)[^;]*(?:;.*extra == ['\"](\w+)['\"])?")
SEARCH = "search.run-*"  # the compiled function that takes longest
KERNEL_BYTES = 1 << 20  # what there has to be room for
AGREE = 1e-8  # relative, of losses found in two ways


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at; a note is no fault, and says what could be had."""

    about: str
    what: str
    state: State = "good"


def doctor(*, as_json: options.Json = False) -> None:
    """Check this installation: versions, extras, threads, cache, and a self-test of seconds."""
    findings: list[Finding] = []
    for finding in examine():
        findings.append(finding)
        if not as_json:
            print_line(SIGNS[finding.state], (finding.about, "bold"), f": {finding.what}")
    faults = sum(finding.state == "bad" for finding in findings)
    if as_json:
        print_json({"findings": list(map(asdict, findings)), "faults": faults})
    else:
        print_line("All is well." if not faults else f"{faults} faults; see above.")
    if faults:
        raise typer.Exit(1)


def examine() -> Iterator[Finding]:
    """Yield what is found, one thing after the other."""
    yield from _releases()
    yield from _extras()
    yield _threads()
    yield _cache()
    for about, test in SELF_TESTS.items():
        yield _tested(about, test)
    if any(_kept(SEARCH)):
        yield _tested("self-test: branch and bound", lambda: _solves("branch-and-bound"))
    else:
        what = "not compiled yet; the first exact fit takes a minute more"
        yield Finding("branch and bound", what, "note")


# --- what is installed ----------------------------------------------------------------------------


def _releases() -> Iterator[Finding]:
    made = late.provenance.provenance()
    commit = f", commit {made['commit']}" if made["commit"] else ""
    yield Finding("mossrules", f"{made['mossrules']}{commit}")
    yield Finding("python", made["python"])
    for name, extra in _requirements():
        if extra is None:
            yield Finding(name, *_installed(name, "it is required; install mossrules again", "bad"))


def _extras() -> Iterator[Finding]:
    for name, extra in _requirements():
        if extra not in (None, "all"):
            remedy = f'pip install "mossrules[{extra}]" adds it'
            yield Finding(f"{name} (extra {extra})", *_installed(name, remedy, "note"))


def _requirements() -> list[tuple[str, str | None]]:
    """Return the packages that mossrules asks for, and for which extra."""
    matches = (REQUIREMENT.match(line) for line in late.metadata.requires("mossrules") or ())
    return [(match[1], match[2]) for match in matches if match is not None]


def _installed(name: str, remedy: str, otherwise: State) -> tuple[str, State]:
    try:
        return late.metadata.version(name), "good"
    except late.metadata.PackageNotFoundError:
        return f"not installed; {remedy}", otherwise


# --- what it runs on ------------------------------------------------------------------------------


def _threads() -> Finding:
    libraries = {
        f"{library['internal_api']} {library['version']}: {library['num_threads']}"
        for library in late.threadpoolctl.threadpool_info()
    }
    return Finding(
        "threads", f"{late.joblib.cpu_count()} for mossrules; {', '.join(sorted(libraries))}"
    )


def _cache() -> Finding:
    """Return where compiled kernels are kept: without such a place each start compiles anew."""
    folder = _cache_folder()
    try:
        with late.tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(KERNEL_BYTES))
            file.flush()
    except OSError as reason:
        why = f"{folder} cannot be written to ({reason.strerror or reason})"
        remedy = "set NUMBA_CACHE_DIR to a folder of yours, or each start compiles for a minute"
        return Finding("cache", f"{why}; {remedy}", "note")
    kept = list(_kept())
    if damaged := [path for path in kept if not _is_whole(path)]:
        what = f"{len(damaged)} of {len(kept)} compiled functions in {folder} are damaged"
        remedy = f"they are made again when used, or remove them: {damaged[0]}"
        return Finding("cache", f"{what}; {remedy}{' and others' * (len(damaged) > 1)}", "note")
    return Finding("cache", f"{len(kept)} compiled functions in {folder}")


def _is_whole(index: Path) -> bool:
    """Tell whether an index of compiled functions begins and ends as numba writes them."""
    content = index.read_bytes()
    return content.startswith(b"\x80") and content.endswith(b".")  # of a pickle


def _cache_folder() -> Path:
    asked = os.environ.get("NUMBA_CACHE_DIR")
    return Path(asked) if asked else Path(__file__).parents[1]


def _kept(name: str = "*") -> Iterator[Path]:
    """Yield the indices of compiled functions."""
    yield from _cache_folder().rglob(f"{name}.nbi")


# --- whether it works -----------------------------------------------------------------------------


def _tested(about: str, test: Callable[[], str]) -> Finding:
    started = time.perf_counter()
    try:
        what = test()
    except Exception as failure:  # noqa: BLE001  whatever is wrong is what was to be found out
        return Finding(about, f"{type(failure).__name__}: {failure}", "bad")
    return Finding(about, f"{what}, in {time.perf_counter() - started:.1f} s")


def _solves(method: Method) -> str:
    """Compare a method with a look at all rule sets of two of eight columns."""
    np, solver = late.np, late.solver
    draw = np.random.default_rng(0)
    M, counts = draw.random((40, 8)), np.arange(8, 0, -1)
    y = M[:, 3] + M[:, 4]  # just stable enough
    problem = late.solver.Problem.from_matrix(
        M, y - y.mean(), counts, max_rules=2, gamma=1.0, min_stability=9
    )
    feasible = [pair for pair in combinations(range(8), 2) if counts[list(pair)].sum() >= 9]
    smallest = min(problem.loss(np.array(pair)) for pair in feasible)
    solution = solver.solve(problem, method, solver.Options(gap=0.0))
    if not np.isclose(solution.loss, smallest, rtol=AGREE):
        raise AssertionError(f"the loss is {solution.loss!r} and {smallest!r} is possible")
    return f"the best of {len(feasible)} rule sets"


def _model() -> tuple[late.estimators.MossRegressor, dict[str, FloatArray]]:
    draw = late.np.random.default_rng(1)
    X = {"a": draw.random(200), "b": draw.random(200)}
    y = 3.0 * (X["a"] > 0.5) + (X["b"] > 0.3) + 0.1 * draw.standard_normal(200)
    return late.estimators.MossRegressor(3, n_trees=50, solver="coordinate-descent").fit(X, y), X


def _fits_again() -> str:
    """Fit twice: the same rows give the same rules, bit for bit."""
    one, two = (_model()[0].rules_.to_json() for _ in range(2))
    if one != two:
        raise AssertionError("two fits to the same rows differ")
    return "two fits agree in every bit"


def _exports() -> str:
    """Compare predictions with those of the stored rule set, and of SQL in SQLite."""
    model, X = _model()
    expected = model.predict(X)
    stored = late.model.RuleSet.from_json(model.rules_.to_json()).predict(X)
    with late.sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE data (a REAL, b REAL)")
        base.executemany("INSERT INTO data VALUES (?, ?)", zip(*map(list, X.values()), strict=True))
        rows = base.execute(model.rules_.to_sql("data")).fetchall()
    base.close()
    np = late.np
    same = np.array_equal(stored, expected) and np.array_equal(np.ravel(rows), expected)
    if not same:
        raise AssertionError("exported rules predict something else")
    return "JSON and SQL predict the same"


SELF_TESTS: dict[str, Callable[[], str]] = {
    "self-test: cutting plane": lambda: _solves("cutting-plane"),
    "self-test: fits": _fits_again,
    "self-test: exports": _exports,
}
