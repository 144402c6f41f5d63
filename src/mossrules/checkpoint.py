"""Files from which a long run goes on after a stop: JSON with a format and a version.

The whole file is written anew after each step, to a temporary file that takes its place: the old
content is there until the new one is, and files are small beside the work of a step. (Lines that
are appended would be less to write, but a killed run may leave half a line, and later steps replace
earlier ones.) Whatever is wrong with a file, reading it raises `InvalidFile` and nothing else: a
run that believed a damaged file would go astray without a word.

`frontier/checkpoint.py` and `evaluation/record.py` say what is in their files. The same checks read
the texts of `Frontier.to_json` and `RuleSet.to_json`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mossrules._files import refuse_pipe, replace_file
from mossrules.exceptions import InvalidFile

__all__ = [
    "CheckpointFile",
    "parse_document",
    "read_count",
    "read_number",
    "read_truth",
    "refuse_damage",
    "strict_json",
]


def parse_document(
    text: str | bytes, what: str, remedy: str, form: str, version: int
) -> Mapping[str, Any]:
    """Return the content of a text; errors name it as `what`, and say what to do."""
    try:
        content = json.loads(text, object_pairs_hook=_unrepeated)
    except (TypeError, ValueError, RecursionError) as reason:
        raise InvalidFile(f"{what} is not JSON ({reason}); {remedy}.") from reason
    if not isinstance(content, dict) or content.get("format") != form:
        raise InvalidFile(f"{what} is not in the format '{form}'; {remedy}.")
    if content.get("version") != version:
        raise InvalidFile(
            f"{what} has format version {repr(content.get('version'))[:50]} and this release reads "
            f"version {version}; use the release that wrote it."
        )
    return content


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object in which a field appears twice: readers differ in which one they take."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a field appears twice")
    return content


@contextmanager
def refuse_damage(what: str, remedy: str) -> Iterator[None]:
    """Turn what goes wrong with fields that are missing or of another kind into one sentence."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as reason:
        brief = f"{type(reason).__name__}: {str(reason)[:100]}"
        raise InvalidFile(f"{what} ({brief}); {remedy}.") from reason


def strict_json(content: Any) -> str:
    """Return content as JSON, with text in place of NaN and infinities, which JSON has not."""
    return json.dumps(_without_nan(content), allow_nan=False)


def _without_nan(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _without_nan(value) for name, value in content.items()}
    if isinstance(content, list):
        return [_without_nan(value) for value in content]
    return str(content) if isinstance(content, float) and not math.isfinite(content) else content


@dataclass(frozen=True)
class CheckpointFile:
    """A file of one format and version; what is done is up to the run that writes it."""

    path: Path
    form: str  # such as "mossrules frontier"
    version: int
    remedy: str = "remove it to start again"

    def __str__(self) -> str:
        return f"The checkpoint {self.path}"

    def read(self) -> Mapping[str, Any]:
        """Return the content, or say why it cannot be used."""
        refuse_pipe(self.path)
        try:
            text = self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as reason:
            raise InvalidFile(f"{self} cannot be read: {reason}.") from reason
        return parse_document(text, str(self), self.remedy, self.form, self.version)

    def read_own(self, key: str, fingerprint: str, other: str) -> Mapping[str, Any]:
        """Return the content if it has the fingerprint of this run, and not that of an `other`."""
        content = self.read()
        if content.get(key) != fingerprint:
            raise InvalidFile(f"{self} belongs to {other}; remove it or choose another path.")
        return content

    def write(
        self, content: Mapping[str, Any], to_text: Callable[[Any], str] = strict_json
    ) -> None:
        """Put content in the place of what was there, making the folder if need be."""
        marked = {"format": self.form, "version": self.version, **content}
        text = to_text(marked)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self.path, text)
        except OSError as reason:
            raise InvalidFile(
                f"{self} cannot be written ({reason}); choose another path."
            ) from reason

    def refuse_damage(self) -> AbstractContextManager[None]:
        """Return a block in which fields that are missing or of another kind are refused."""
        return refuse_damage(f"{self} is damaged", self.remedy)


# --- values --------------------------------------------------------------------------------------
#
# What raises here becomes one sentence in `refuse_damage`. `bool` is refused first each time: to
# Python, True is an integer.


def read_number(value: Any) -> float:
    """Return a number, also one that `strict_json` made a text of."""
    if value in ("nan", "inf", "-inf"):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("a figure is not a number")
    return value


def read_count(value: Any) -> int:
    """Return an integer that NumPy's 64 bits hold."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise TypeError("a count is not an integer from 0 on, of 63 bits at most")
    return value


def read_truth(value: Any) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise TypeError("true or false is something else")
    return value
