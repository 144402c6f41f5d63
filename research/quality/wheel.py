"""The wheel and the source distribution: what is in them, and the suite against the wheel."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from packaging.metadata import Metadata

from research.harness.clone import ROOT
from research.harness.processes import install, run_in
from research.quality._record import Record
from research.quality._requirements import PINS
from research.quality._suite import (
    arguments,
    fresh_environment,
    record_of_tests,
)

__all__ = ["arguments", "build", "run", "sdist_faults", "wheel_faults"]

NEEDED = (  # a wheel without these installs, and fails later
    "mossrules/py.typed",
    "mossrules/model/ruleset.schema.json",
    "mossrules/display/report/page/report.html.j2",
    "mossrules/display/report/page/report.css",
    "mossrules/display/report/page/report.js",
)
ABOUT = ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")


def run(workers: int, only: Sequence[str] = ()) -> Record:
    """Build both twice, look into them, install the wheel and run the tests against it."""
    python = fresh_environment("wheel")
    folder = python.parents[2]
    source = _commit(folder)
    sdist, wheel = build(source, folder / "first", "--sdist", "--wheel")
    again = build(source, folder / "again", "--sdist", "--wheel")
    (from_sdist,) = build(_unpacked(sdist, folder / "unpacked"), folder / "from_sdist", "--wheel")
    tracked = run_in(ROOT, "git", "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    faults = [*wheel_faults(_names(wheel), tracked), *sdist_faults(_names(sdist), tracked)]
    faults += _different("A second build", (sdist, wheel), again)
    faults += _different("The wheel from the source distribution", (wheel,), (from_sdist,))
    with zipfile.ZipFile(wheel) as archive:
        (about,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        Metadata.from_email(archive.read(about), validate=True)  # raises where it is not valid
    install(python, "--require-hashes", "--requirement", PINS / "development.txt")
    install(python, "--no-deps", wheel)
    install(python, "--no-deps", "--no-build-isolation", "./research")  # a wheel of it, too
    where = Path(run_in(ROOT, python, "-c", "import mossrules; print(mossrules.__file__)"))
    if "site-packages" not in where.parts:
        raise SystemExit(f"The tests would be run against {where}, not against the wheel.")
    record = record_of_tests(
        python,
        "wheel",
        workers,
        only,
        title="The wheel",
        asked=(
            "The wheel has the package and no more, two builds of it are the same bytes, and all "
            "tests pass against it where it is installed, away from the sources."
        ),
        notes=[*(f"Fault: {each}" for each in faults), *map(_described, (wheel, sdist))],
    )
    same = f"{len(faults)} faults in what is in it and in 3 builds"
    return replace(record, seen=f"{record.seen}; {same}", passed=record.passed and not faults)


def build(source: Path, folder: Path, *what: str) -> list[Path]:
    """Build distributions with the locked backend, as at the time of the commit."""
    moment = run_in(ROOT, "git", "log", "-1", "--format=%ct")
    subprocess.run(  # noqa: S603  this interpreter
        [sys.executable, "-m", "build", "--no-isolation", *what, "--outdir", folder, source],
        env={**os.environ, "SOURCE_DATE_EPOCH": moment},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return sorted(folder.iterdir(), key=lambda path: path.suffix)  # .gz, then .whl


def wheel_faults(names: Iterable[str], tracked: Iterable[str]) -> list[str]:
    """Return what a wheel has too much or too little: it has the package as it is kept by git."""
    package = {name.removeprefix("src/") for name in tracked if name.startswith("src/")}
    inside = set(names)
    about = {name for name in inside if ".dist-info/" in name}
    expected_about = {f"{name.partition('/')[0]}/{each}" for name in about for each in ABOUT}
    return _faults("wheel", inside, {*package, *expected_about, *NEEDED})


def sdist_faults(names: Iterable[str], tracked: Iterable[str]) -> list[str]:
    """Return what a source distribution has too much or too little: it has what is kept by git."""
    inside = {name.partition("/")[2] for name in names}
    return _faults("source distribution", inside, {*tracked, "PKG-INFO"})


def _faults(what: str, inside: set[str], expected: set[str]) -> list[str]:
    return [
        *(f"the {what} lacks {name}" for name in sorted(expected - inside)),
        *(f"the {what} has {name}" for name in sorted(inside - expected)),
    ]


def _different(what: str, ones: Iterable[Path], others: Iterable[Path]) -> list[str]:
    pairs = zip(ones, others, strict=True)
    return [f"{what} differs: {one.name}" for one, other in pairs if _hash(one) != _hash(other)]


def _names(path: Path) -> list[str]:
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return wheel.namelist()
    with tarfile.open(path) as sdist:
        return [each.name for each in sdist.getmembers() if each.isfile()]


def _commit(folder: Path) -> Path:
    """Return a folder with the files of the commit, and none that lies about in the clone."""
    archive = folder / "commit.tar"
    run_in(ROOT, "git", "archive", "--prefix=commit/", f"--output={archive}", "HEAD")
    return _unpacked(archive, folder / "source")


def _unpacked(path: Path, folder: Path) -> Path:
    with tarfile.open(path) as archive:
        archive.extractall(folder, filter="data")
    (only,) = folder.iterdir()
    return only


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _described(path: Path) -> str:
    size, files = path.stat().st_size / 1000, len(_names(path))
    return f"{path.name}: {files} files, {size:,.0f} kB, SHA-256 `{_hash(path)}`."
