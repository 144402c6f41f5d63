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
from contextlib import suppress
from pathlib import Path

from mossrules.exceptions import InvalidFile

__all__ = ["check_place", "replace_file", "write_file"]

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
