"""Commands of the library in a process that may reach no other machine.

Run as a program, in a folder of its own: `python _offline.py LOG COMMANDS.json`. Every attempt to
connect or to resolve a name is written to the log and refused, except on this machine itself.
Children inherit none of it, so commands run here, one after the other.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["COMMANDS", "is_local", "refuse_network"]

# Each writes a file, or its output is kept in one of its name.
TRAIN = ["--target", "progression", "--drop", "id", "--max-rules", "4", "--n-trees", "50"]
COMMANDS: dict[str, list[str]] = {
    "table": ["demo", "--table", "patients.csv"],
    "demo": ["demo", "--trees", "50", "--report", "demo.html"],
    "fit": ["fit", "patients.csv", *TRAIN, "-o", "model.json"],
    "predict": ["predict", "model.json", "patients.csv", "-o", "predictions.csv"],
    "explain": ["predict", "model.json", "patients.csv", "--explain", "1"],
    "frontier": ["frontier", "patients.csv", *TRAIN, "--points", "3", "-o", "frontier.json"],
    "report": [
        *("report", "patients.csv", *TRAIN, "-o", "report.html"),
        *("--points", "3", "--folds", "2", "--no-baselines"),
    ],
    "stability": ["stability", "patients.csv", *TRAIN, "--folds", "2"],
    "compare": [
        *("compare", "patients.csv", *TRAIN, "--folds", "2"),
        *("--method", "moss-h", "--method", "sirus", "--json"),
    ],
    "doctor": ["doctor"],
}
# What Python is about to do, and where the address is among the arguments of the event.
EVENTS = {
    "socket.connect": 1,
    "socket.sendto": 1,
    "socket.sendmsg": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
    "socket.gethostbyaddr": 0,
    "socket.getnameinfo": 0,
}


def is_local(address: Any) -> bool:
    """Whether an address, or the name of a machine, is on this one."""
    if address is None:
        return True
    if isinstance(address, tuple):
        return is_local(address[0])
    text = address.decode("utf-8", "replace") if isinstance(address, bytes) else str(address)
    # Sockets of Unix have a path, or a name that begins with a null byte; or none.
    return text in ("", "localhost", "::1") or text.startswith(("127.", "/", "\0"))


def refuse_network(log: Path) -> None:
    """Refuse and write down each attempt to reach another machine, from now on, for good."""

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in EVENTS:
            return
        address = arguments[EVENTS[event]]
        kind = "local" if is_local(address) else "refused"
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{kind} {event} {address!r}\n")
        if kind == "refused":
            raise ConnectionRefusedError(f"{event} to {address!r}, where there is no network.")

    log.touch()
    sys.addaudithook(look)


def run_commands(commands: dict[str, list[str]]) -> None:
    """Run commands in this folder; one that fails ends the program."""
    from mossrules.cli import main  # noqa: PLC0415  watched from its import on

    for name, command in commands.items():
        sys.argv = ["mossrules", *command]
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                main()
        except SystemExit as stop:
            if stop.code:
                sys.exit(f"{name} ended with {stop.code}:\n{printed.getvalue()}")
        Path(f"{name}.txt").write_text(printed.getvalue(), "utf-8")


if __name__ == "__main__":
    if sys.argv[1] != "-":
        refuse_network(Path(sys.argv[1]))
    run_commands(json.loads(sys.argv[2]))
