"""Reading a proof from front to back, so that no file makes the reader grow; see docs/proofs.md.

Of the standard library and NumPy only, as all that checks proofs.
"""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any

import numpy as np

__all__ = ["MAGIC", "MOST_RULES", "Array", "ProofRefused", "Source", "check_claim", "check_header"]

Array = np.ndarray[Any, Any]
MAGIC = b"mossrules proof 1\n"
MOST_RULES, MOST_TEXT, MOST_NUMBERS = 4096, 1 << 24, 1 << 24


class ProofRefused(ValueError):
    """A proof that does not prove what it claims; the message names the record at fault.

    See Also
    --------
    mossrules.solver.check_proof : Raises it.
    """


class Source:
    """Reads a file from front to back, and says where a fault is."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.place, self.records = stream, "the header", 0
        self.seen = hashlib.sha256()  # of all that was read

    def refuse(self, why: str) -> ProofRefused:
        """Return what says that a proof is refused, and where."""
        return ProofRefused(f"Refused at {self.place}: {why}.")

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        data: bytes = self.stream.read(size)
        if len(data) < size:
            raise self.refuse("the file is cut off")
        self.seen.update(data)
        return data

    def number(self) -> int:
        """Return the next whole number."""
        return int(struct.unpack("<I", self.take(4))[0])

    def text(self) -> Any:
        """Return the next JSON object."""
        size = self.number()
        if size > MOST_TEXT:
            raise self.refuse(f"a text of {size} bytes is longer than {MOST_TEXT}")
        try:
            value = json.loads(self.take(size))
        except ValueError:
            raise self.refuse("its text is not JSON") from None
        if not isinstance(value, dict):
            raise self.refuse("its text is not a JSON object")
        return value

    def floats(self, n: int) -> Array:
        """Return the next floats, all of them finite."""
        values = np.frombuffer(self.take(8 * n), "<f8")
        if not np.isfinite(values).all():
            raise self.refuse("a number is not finite")
        return values

    def array(self, name: str, dtype: str, shape: tuple[int, ...], header: Any) -> Array:
        """Return an array of the header, which has its hash."""
        self.place, n = f"array {name!r}", int(np.prod(shape, dtype=object))
        if n > MOST_NUMBERS:
            raise self.refuse(f"{n} numbers are more than {MOST_NUMBERS}")
        data = self.take(n * np.dtype(dtype).itemsize)
        if hashlib.sha256(data).hexdigest() != header["hashes"].get(name):
            raise self.refuse("its hash is not that of the header")
        values = np.frombuffer(data, dtype).reshape(shape)
        if dtype == "<f8" and not np.isfinite(values).all():
            raise self.refuse("a number is not finite")
        return values


# --- texts --------------------------------------------------------------------------------------


def check_header(source: Source, header: Any) -> None:
    """Refuse a header that states no problem."""
    ranges = {
        "rules": (1, MOST_NUMBERS), "kept": (1, MOST_RULES), "max_rules": (1, MOST_RULES),
        "min_approved": (0, MOST_RULES), "limits": (0, MOST_RULES), "groups": (0, MOST_RULES),
    }  # fmt: skip
    for name, (low, high) in ranges.items():
        if not _is_whole(header.get(name), low, high):
            raise source.refuse(f"{name} is {header.get(name)!r}, not from {low} to {high}")
    for name in ("fixed_in", "fixed_out", "approved"):
        if not _are_whole(header.get(name), header["rules"]):
            raise source.refuse(f"{name} is no list of rules")
    for name in ("gamma", "yy"):
        if not _is_finite(header.get(name)) or header[name] < 0:
            raise source.refuse(f"{name} is {header.get(name)!r}")
    known = header.get("loss") == "squared" and header.get("floor") in ("sum", "each")
    if not known or header["gamma"] == 0 or not isinstance(header.get("hashes"), dict):
        raise source.refuse("its loss, floor, gamma or hashes are of no known kind")


def check_claim(source: Source, claim: Any, n: int, m: int) -> None:
    """Refuse the text of a claim that is none."""
    pairs, weights = claim.get("duplicates"), claim.get("weights")
    good = _is_whole(claim.get("min_stability"), 0, 2**53) and _is_finite(claim.get("bound"))
    good = good and _are_whole(claim.get("support"), m) and isinstance(weights, list)
    good = good and len(weights) == len(claim["support"]) and all(map(_is_finite, weights))
    good = good and isinstance(pairs, list) and len(pairs) < n
    if not good or not all(_are_whole(pair, n) and len(pair) == 2 for pair in pairs):
        raise source.refuse("its text is not that of a claim")


def _is_whole(value: Any, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def _are_whole(values: Any, end: int) -> bool:
    known = isinstance(values, list) and all(_is_whole(i, 0, end - 1) for i in values)
    return known and len(set(values)) == len(values)


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e300
