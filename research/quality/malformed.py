"""Calls of the public surface with one argument that they cannot use, by library and commands.

Each parameter of each function, and each option and argument of each command, is given values of
other kinds, beyond all limits, empty, or hostile. What cannot be used is a `MossError` of one
sentence, or one line on standard error with status 1 (2 where the option itself is wrong); what
can be used works. scikit-learn's own checks, of models that are not fitted say, keep its errors.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from sklearn.exceptions import NotFittedError
from typer.main import get_command
from typer.testing import CliRunner

from mossrules import cli
from mossrules.exceptions import MossError
from research.quality._record import Record
from support import sound_calls
from support.sound_calls import CALLS, COMMANDS, HOSTILE, HOSTILE_WORDS

__all__ = ["arguments", "calls", "commands", "run", "try_call", "try_command"]

ENDS = ("worked", "refused", "defects")
LONG = 60  # seconds for a call
LONGEST = 2_000  # characters of a sentence


class TooLongError(Exception):
    """A call had no end in sight."""


# --- what there is --------------------------------------------------------------------------------


def calls() -> Iterator[tuple[str, str, str]]:
    """Yield all functions, each with its parameters, each with the values it is given."""
    for name, call in CALLS.items():
        for parameter in sound_calls.parameters(call):
            for value, hostile in HOSTILE.items():
                # What can be called is a listener, and what it raises is its own.
                if parameter != "progress" or not callable(hostile):
                    yield name, parameter, value


def commands() -> Iterator[tuple[str, str, str]]:
    """Yield all commands, each with its options and places, each with the words it is given."""
    group: Any = get_command(cli.app)
    for name, words in COMMANDS.items():
        for parameter in group.commands[name].params:
            options = [each for each in parameter.opts if each.startswith("--")]
            if options and options[0] != "--help" and not parameter.is_flag:
                yield from ((name, options[0], word) for word in HOSTILE_WORDS)
        for place, word in enumerate(words):
            if place and not word.startswith("-"):
                yield from ((name, str(place), hostile) for hostile in HOSTILE_WORDS)


# --- one call -------------------------------------------------------------------------------------


def try_call(name: str, parameter: str, value: str) -> str:
    """Make a call with one argument that may be of no use; return how it ended."""
    function, sound = CALLS[name]
    try:
        with _in_time():
            function(**{**sound, parameter: HOSTILE[value]})
    except MossError as error:
        return _sentence(str(error))
    except NotFittedError:
        return "refused"
    except ValueError as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        if name != "score" or "sklearn" not in last.filename:
            raise
        return "refused"  # by scikit-learn's r2_score
    return "worked"


def try_command(name: str, option: str, word: str) -> str:
    """Run a command with an option, or with another word in a place; return how it ended."""
    words = list(COMMANDS[name])
    if option.startswith("--"):
        words += [f"{option}={word}"]
    else:
        words[int(option)] = word
    with _in_time():
        ended = CliRunner().invoke(cli.app, words)
    if isinstance(ended.exception, OSError):
        return "refused"  # with a sentence by `main`, which is around what is called here
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    if ended.exit_code == 2:
        return "refused"  # by the parser of options, with the usage
    lines = [line for line in ended.stderr.splitlines() if line.startswith("error: ")]
    if ended.exit_code == 1 and name == "check" and not lines:
        return "worked"  # it has found something
    if ended.exit_code not in (0, 1) or len(lines) != ended.exit_code:
        raise AssertionError(f"status {ended.exit_code}: {ended.stderr}")
    return "worked" if ended.exit_code == 0 else _sentence(lines[0])


def _sentence(said: str) -> str:
    """Look at what was said: one line, not long, for any terminal."""
    if len(said.splitlines()) != 1 or len(said) > LONGEST:
        raise AssertionError(f"{len(said.splitlines())} lines, {len(said):,} characters: {said!r}")
    said.encode("utf-8", "surrogatepass")
    return "refused"


@contextlib.contextmanager
def _in_time() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TooLongError(f"more than {LONG} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONG)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# --- the run --------------------------------------------------------------------------------------


def run(count: int, seed: int, only: str | None) -> Record:
    """Try so many calls of the library, and as many commands, or those of one name."""
    warnings.simplefilter("ignore")
    seen: dict[str, Counter[str]] = {}
    begun, here = time.monotonic(), Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        for what, listed, attempt in (
            ("of the library", calls, try_call),
            ("of the command line", commands, try_command),
        ):
            chosen = [each for each in listed() if only in (None, each[0])]
            rng = Random(f"{what} {seed}")  # noqa: S311  no secrets
            seen[what] = Counter(there=len(chosen))
            for each in rng.sample(chosen, min(count, len(chosen))):
                seen[what][_in_folder(Path(name), attempt, each)] += 1
                os.chdir(here)
            print(f"{time.monotonic() - begun:.0f} s, {what}: {dict(seen[what])}", flush=True)
    return _record(seen, f"{count} --seed {seed}")


def _in_folder(folder: Path, attempt: Any, each: tuple[str, str, str]) -> str:
    """Make an attempt in a folder with the files there are; print what is wrong with it."""
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            path.unlink()
    sound_calls.write_files(folder)
    os.chdir(folder)
    try:
        return str(attempt(*each))
    except Exception:  # noqa: BLE001  whatever it is, it is a defect
        said = traceback.format_exc(limit=-3)
        print(f"DEFECT {' '.join(map(repr, each))}:\n{re.sub('x{100,}', 'x...', said)}", flush=True)
        return "defects"


def _record(seen: dict[str, Counter[str]], arguments: str) -> Record:
    total = sum(seen.values(), Counter[str]())
    tried = sum(total[end] for end in ENDS)
    return Record(
        title="Malformed calls",
        asked=(
            "An argument that cannot be used is refused in one sentence, by a `MossError` of the "
            "library and with status 1 or 2 by a command, whatever it is; none is a raw exception."
        ),
        seen=f"{tried:,} calls, {total['refused']:,} refused, {total['defects']:,} defects",
        passed=not total["defects"],
        command=f"python -m research.quality malformed {arguments}",
        table=[
            {
                "Calls": what,
                "there are": each["there"],
                "tried": sum(each[end] for end in ENDS),
                **{end: each[end] for end in ENDS},
            }
            for what, each in seen.items()
        ],
        notes=[
            (
                f"Each parameter of {len(CALLS)} functions with {len(HOSTILE)} values, and each "
                f"option and place of {len(COMMANDS)} commands with {len(HOSTILE_WORDS)} words; "
                "all other arguments are sound. Those tried are drawn."
            )
        ],
    )


def arguments(parser: argparse.ArgumentParser) -> None:
    """Say what may be asked for."""
    parser.add_argument("count", type=int, nargs="?", default=1000, help="calls of each sort")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=[*CALLS, *COMMANDS], help="one function or command")
