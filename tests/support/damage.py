"""Files that are nearly right: valid ones with something cut out, put in, exchanged or recoded.

All choices are those of a `random.Random`, which Hypothesis can draw and a script can seed.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

__all__ = ["damaged_bytes", "damaged_gzip", "damaged_json", "damaged_parquet", "damaged_text"]

HOSTILE_TEXT = [
    "", " ", "nan", "inf", "-inf", "__class__", "../../etc/passwd", "\x00", "\ufeff", "\ud800",
    "\udfff\ud83d", "\u202e", "\x1b[31m", "a" * 3000, "=1+1", "{0.__class__}", "%n%s", "數", "1e5",
    "true", "None", "\n", "\r\n", "\u2028",
]  # fmt: skip
HOSTILE_NUMBERS = [
    0, -0.0, 1, -1, 2, 0.5, 254, 255, 256, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 2**64,
    10**30, 10**400, -(10**400), 5e-324, 1e308, -1e308, 1.7976931348623157e308, math.inf, -math.inf,
    math.nan,
]  # fmt: skip
SNIPPETS = [
    b"", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b'"', b"'", b",", b";", b"\t", b"\r",
    b"\n", b"\r\n", b"\n\n", b'""', b"{", b"}", b"[" * 200, b"{" * 200, b"NaN", b"Infinity",
    b"-1", b"1e999", b"9" * 400, b"null", b"true", b"\\u0000", b"\\ud800", b"\xed\xa0\x80",
    b"\xc3\x28", b"A" * 200_000, b"1_000", b"0x10", "١٢".encode(), b"# comment\n",
]  # fmt: skip
DEEP = 2_000  # levels of lists: more than any reader descends
Mutation = Callable[[Random, bytes], bytes]


# --- bytes ----------------------------------------------------------------------------------------


def damaged_bytes(rng: Random, sample: bytes) -> bytes:
    """Return a file with one to four changes that know nothing of its structure."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        sample = rng.choice([_cut_off, _cut_out, _put_in, _flip, _repeat, _exchange])(rng, sample)
    return sample


def _span(rng: Random, sample: bytes) -> tuple[int, int]:
    start = rng.randint(0, len(sample))
    return start, min(len(sample), start + rng.choice([1, 2, 8, 64, 1000]))


def _cut_off(rng: Random, sample: bytes) -> bytes:
    return sample[: rng.randint(0, len(sample))]


def _cut_out(rng: Random, sample: bytes) -> bytes:
    start, stop = _span(rng, sample)
    return sample[:start] + sample[stop:]


def _put_in(rng: Random, sample: bytes) -> bytes:
    start, _ = _span(rng, sample)
    return sample[:start] + rng.choice(SNIPPETS) + sample[start:]


def _exchange(rng: Random, sample: bytes) -> bytes:
    start, stop = _span(rng, sample)
    return sample[:start] + rng.choice(SNIPPETS) + sample[stop:]


def _repeat(rng: Random, sample: bytes) -> bytes:
    start, stop = _span(rng, sample)
    return sample[:start] + sample[start:stop] * rng.choice([2, 3, 50]) + sample[stop:]


def _flip(rng: Random, sample: bytes) -> bytes:
    if not sample:
        return sample
    changed = bytearray(sample)
    for _ in range(rng.choice([1, 1, 4, 16])):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def damaged_parquet(rng: Random, sample: bytes) -> bytes:
    """Return Parquet with bytes of its footer changed, or of all of it."""
    if rng.random() < 0.3:
        return damaged_bytes(rng, sample)
    size = int.from_bytes(sample[-8:-4], "little")
    footer = slice(len(sample) - 8 - size, len(sample) - 8)
    return sample[: footer.start] + _flip(rng, sample[footer]) + sample[footer.stop :]


# --- tables as text -------------------------------------------------------------------------------


def damaged_text(rng: Random, sample: bytes) -> bytes:
    """Return a CSV file with damaged fields, lines, line ends or encoding."""
    if rng.random() < 0.4:
        return damaged_bytes(rng, sample)
    lines = [line.split(",") for line in sample.decode().splitlines()]
    for _ in range(rng.choice([1, 2, 5])):
        line = rng.choice(lines) if lines else []
        match rng.choice(["field", "field", "shorten", "lengthen", "repeat", "remove", "empty"]):
            case "field" if line:
                line[rng.randrange(len(line))] = _field(rng)
            case "shorten" if line:
                line.pop(rng.randrange(len(line)))
            case "lengthen":
                line.insert(rng.randint(0, len(line)), _field(rng))
            case "repeat" if lines:
                lines.insert(rng.randrange(len(lines)), list(line))
            case "remove" if lines:
                lines.pop(rng.randrange(len(lines)))
            case "empty" if lines:
                lines.insert(rng.randrange(len(lines)), [])
    end = rng.choice(["\n", "\r\n", "\r", "\n\r", "mixed"])
    ends = ["\n", "\r\n", "\r"]
    text = "".join(",".join(each) + (rng.choice(ends) if end == "mixed" else end) for each in lines)
    return _encoded(rng, text)


def _field(rng: Random) -> str:
    if rng.random() < 0.5:
        return rng.choice(HOSTILE_TEXT)
    try:
        return str(rng.choice(HOSTILE_NUMBERS))
    except ValueError:  # more digits than Python writes
        return "9" * 400


def _encoded(rng: Random, text: str) -> bytes:
    others = ["utf-8-sig", "utf-16", "utf-32", "latin-1", "utf-7"]
    encoding = rng.choice(others) if rng.random() < 0.1 else "utf-8"
    errors = "replace" if encoding == "latin-1" else "surrogatepass"
    return text.encode(encoding, errors)


def damaged_gzip(rng: Random, sample: bytes) -> bytes:
    """Return a damaged table in a sound gzip file, or a sound one in a damaged file."""
    if rng.random() < 0.7:
        return gzip.compress(damaged_text(rng, gzip.decompress(sample)), 1)
    return damaged_bytes(rng, sample)


# --- JSON -----------------------------------------------------------------------------------------


def damaged_json(rng: Random, sample: bytes) -> bytes:
    """Return JSON in which fields are left out, doubled, renamed or of another type."""
    if rng.random() < 0.2:
        return damaged_bytes(rng, sample)
    content = json.loads(sample)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        places = list(_places(content))
        if places:
            _damage(rng, places, *rng.choice(places))
    text = json.dumps(content, ensure_ascii=rng.random() < 0.7)
    text = text.replace('"<deep>"', "[" * DEEP + "]" * DEEP)
    text = text.replace('"<nested>"', '{"a":' * 900 + "1" + "}" * 900)
    if rng.random() < 0.03:
        text = text.replace('"version"', '"version": 1, "version"')
    return _encoded(rng, text)


def _places(content: Any) -> Iterator[tuple[Any, Any]]:
    """Yield all containers with the keys of what is in them."""
    items = content.items() if isinstance(content, dict) else ()
    items = enumerate(content) if isinstance(content, list) else items
    for key, value in items:
        yield content, key
        yield from _places(value)


def _damage(rng: Random, places: list[Any], parent: Any, key: Any) -> None:  # noqa: C901  a list
    kinds = ["exchange"] * 3 + ["nudge"] * 2 + ["remove", "repeat", "rename", "borrow", "swap"]
    match rng.choice([*kinds, "throughout", "throughout"]):
        case "exchange":
            parent[key] = _value(rng)
        case "nudge" if isinstance(parent[key], int | float):
            parent[key] = _nudged(rng, parent[key])
        case "remove":
            del parent[key]
        case "repeat" if isinstance(parent, list):
            parent.extend([json.loads(json.dumps(parent[key]))] * rng.choice([1, 2, 300]))
        case "rename" if isinstance(parent, dict):
            parent[rng.choice([*HOSTILE_TEXT, *parent])] = parent.pop(key)
        case "borrow":  # what is right elsewhere
            other, name = rng.choice(places)
            parent[key] = json.loads(json.dumps(other[name]))
        case "swap" if isinstance(parent, list):
            parent.reverse()
        case "throughout" if isinstance(parent[key], str | int | float):
            old, new = parent[key], _value(rng)
            for each, name in places:
                if type(each[name]) is type(old) and each[name] == old:
                    each[name] = new


def _nudged(rng: Random, value: float) -> float:
    try:
        return value + rng.choice([-1, 1, 0.5, -2, 100, 1e9]) if rng.random() < 0.7 else -value
    except OverflowError:  # an integer beyond all floats
        return -value


def _value(rng: Random) -> Any:
    match rng.randrange(6):
        case 0:
            return rng.choice(HOSTILE_TEXT)
        case 1 | 2:
            return rng.choice(HOSTILE_NUMBERS)
        case 3:
            return rng.choice([None, True, False, [], {}, "<deep>", "<nested>"])
        case 4:
            return [_value(rng) for _ in range(rng.choice([1, 2, 3]))]
    return {rng.choice([*HOSTILE_TEXT, "number", "levels"]): _value(rng) for _ in range(2)}
