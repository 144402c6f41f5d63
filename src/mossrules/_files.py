"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from mossrules.exceptions import InvalidFile

__all__ = ["check_place", "replace_file", "write_file"]


def replace_file(path: Path, content: str | bytes) -> None:
    """Put content in the place of a file; a reader sees the old one or the new one."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    # Always the same name: what a killed process leaves behind, the next one writes over.
    temporary = path.with_name(f"{path.name}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file that a user asked for, or say why that cannot be."""
    check_place(path)
    try:
        replace_file(path, content)
    except OSError as reason:
        raise InvalidFile(
            f"{path} cannot be written ({reason.strerror or reason}); choose another path."
        ) from reason


def check_place(path: Path) -> None:
    """Refuse a path at which no file can be; best asked before long work."""
    if path.is_dir():
        raise InvalidFile(f"{path} is a folder; name a file to write.")
    if not path.parent.is_dir():
        raise InvalidFile(f"{path} cannot be written, as its folder does not exist; make it first.")
