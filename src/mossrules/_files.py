"""Files that are written whole or not at all: to a temporary file, which then takes the place.

Whatever stops a process on the way, a reader finds the old content or the new one. Outputs of
commands, checkpoints and records are all written here.
"""

from __future__ import annotations

import os
import platform
import re
import secrets
import shutil
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from mossrules.exceptions import InvalidFile, InvalidParameter

__all__ = ["check_outputs", "check_place", "refuse_pipe", "replace_file", "write_file"]

# What is not yet whole: .mossrules-HOST-PROCESS-RANDOM.tmp, beside the file that it will be.
LEFTOVER = re.compile(r"\.mossrules-(\w*)-(\d{1,9})-[0-9a-f]+\.tmp")
LONG = 3600.0  # seconds, after which no one still writes a file


def replace_file(path: Path, content: str | bytes) -> None:
    """Put content in the place of a file; a reader sees the old one or the new one.

    A link stays one, and a device or a pipe, which cannot be replaced, gets what a file would hold.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    if _is_special(path):
        path.write_bytes(data)
        return
    target = Path(os.path.realpath(path))  # to replace a link would leave what it names as it was
    _remove_leftovers(target.parent)
    # In the folder of the target, as only within one file system is replacing a single step.
    temporary = target.with_name(f".mossrules-{_host()}-{os.getpid()}-{secrets.token_hex(8)}.tmp")
    try:
        # Not by `tempfile`, whose files have mode 600: the user's umask decides on a new file's.
        with temporary.open("xb") as file:
            if target.exists():
                shutil.copymode(target, temporary)  # before there is anything to read
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # else a crash may keep the new name and lose the content
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file that a user asked for, or say why that cannot be."""
    check_place(path)
    try:
        replace_file(path, content)
    except OSError as reason:
        raise _unwritable(path, reason) from reason


def check_place(path: Path) -> None:
    """Refuse a path at which no file can be written; best asked before long work."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass  # a new file; of its folder below
    except OSError as reason:  # a name that is too long, say
        raise _unwritable(path, reason) from reason
    if path.is_dir():
        raise InvalidFile(f"{path} is a folder; name a file to write.")
    folder = Path(os.path.realpath(path)).parent
    if _is_special(path):
        allowed = os.access(path, os.W_OK)
    elif folder.is_dir():
        allowed = os.access(folder, os.W_OK | os.X_OK)
    else:
        raise InvalidFile(f"{path} cannot be written, as its folder does not exist; make it first.")
    if not allowed:
        raise InvalidFile(
            f"{path} cannot be written, as that is not permitted there; choose another path."
        )


def check_outputs(outputs: Mapping[str, Path | None], inputs: Iterable[Path | None]) -> None:
    """Refuse to write where that cannot be, or to a file that is read or written already.

    `outputs` are by the options that name them. Files are the same by device and inode, whatever
    links lead to them.
    """
    # Of several names of a file, the one that was given again is said.
    read = {_identity(path): path for path in inputs if path is not None}
    written: dict[object, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        check_place(path)
        if _is_special(path):
            continue  # what a device or a pipe gets replaces nothing
        identity = _identity(path)
        if identity in read:
            known = read[identity]
            same = "" if known == path else f"the same file as {known}, "
            raise InvalidParameter(
                f"{option} is {path}, {same}which is read; choose another path, or what it holds "
                "would be lost."
            )
        if identity in written:
            raise InvalidParameter(
                f"{option} and {written[identity]} are both {path}; choose another path for one."
            )
        written[identity] = option


def _identity(path: Path) -> object:
    """Return what tells files apart: device and inode, or the place where one will be."""
    try:
        found = path.stat()
    except (OSError, ValueError):  # not there, so that reading it fails or writing it makes it
        return os.path.realpath(path)
    return found.st_dev, found.st_ino


def refuse_pipe(path: Path) -> None:
    """Refuse to read what is no file: a pipe is read once, and waits for someone to write."""
    if _is_special(path) and not path.is_dir():
        raise InvalidFile(
            f"{path} is a pipe or a device, which cannot be read again; write its content to a "
            "file and name that."
        )


def _unwritable(path: Path, reason: OSError) -> InvalidFile:
    return InvalidFile(
        f"{path} cannot be written ({reason.strerror or reason}); choose another path."
    )


def _is_special(path: Path) -> bool:
    """Tell whether something is there that is no file."""
    return path.exists() and not path.is_file()


# --- what killed processes have left --------------------------------------------------------------


def _remove_leftovers(folder: Path) -> None:
    for path in folder.glob(".mossrules-*.tmp"):
        parts = LEFTOVER.fullmatch(path.name)
        # One that is still written, or is another user's, is none of ours and does no harm.
        with suppress(OSError):
            if parts and (_is_old(path) or (parts[1] == _host() and not _is_alive(int(parts[2])))):
                path.unlink()


def _host() -> str:
    """Return the name of this machine: others may write to the same folder."""
    return re.sub(r"\W", "_", platform.node())[:64]


def _is_old(path: Path) -> bool:
    return time.time() - path.lstat().st_mtime > LONG


def _is_alive(process: int) -> bool:
    if sys.platform == "win32":
        return False  # there os.kill would end it, and a file that is open cannot be removed
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # another user's
    return True
