"""Files that carry programs, read under a hook that hears of whatever Python executes.

This is a program of its own, for the hook stays until a process ends: `hostile.py FOLDER` prints a
line for each thing that happened while a hostile file was read and not while sound and damaged
ones were. In the end it executes something itself, to show that the hook hears it.
"""

from __future__ import annotations

import encodings
import gzip
import html
import io
import json
import os
import pickle
import re
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from mossrules.exceptions import MossError
from support.readers import READERS, Reader, read_damaged, table

DAMAGED, HOSTILE = 8, 12  # files of each kind
HEARD = {
    "exec", "compile", "import", "code.__new__", "os.system", "os.exec", "os.fork", "os.forkpty",
    "os.posix_spawn", "os.spawn", "os.startfile", "subprocess.Popen", "pickle.find_class",
    "ctypes.dlopen", "socket.connect",
}  # fmt: skip
CODECS = str(Path(encodings.__file__).parent)  # which Python loads when it first needs them
HOOK = "the hook hears"
SAID = "executed"
CODE = f"__import__('os').system('echo {SAID}')"


class Program:
    """What a pickle of it would run."""

    def __reduce__(self) -> tuple[Callable[[str], Any], tuple[str]]:
        """Return the call with which it is made again."""
        return os.system, (f"echo {SAID}",)


PICKLE = pickle.dumps(Program())
WHOLE = (
    PICKLE,
    pickle.dumps(Program(), protocol=0),
    f"!!python/object/apply:os.system ['{CODE}']\n".encode(),
    CODE.encode(),
)
VALUES = (
    CODE,
    f"{{{CODE}}}",
    f"=cmd|'{CODE}'!A0",
    PICKLE.decode("latin-1"),
    {"__reduce__": ["os.system", [CODE]]},
    {"py/reduce": [{"py/function": "os.system"}, {"py/tuple": [CODE]}]},
    {"__class__": "os.system", "args": [CODE]},
)


# --- files ----------------------------------------------------------------------------------------


def hostile_json(rng: Random, sample: bytes) -> bytes:
    """Return a file with a program as one of its values or keys."""
    content = json.loads(sample)
    where, key = rng.choice(list(_places(content)))
    if isinstance(where, dict) and rng.random() < 0.2:
        where[CODE] = where.pop(key)
    else:
        where[key] = rng.choice(VALUES)
    return json.dumps(content).encode()


def _places(content: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(content, dict | list):
        for key in content if isinstance(content, dict) else range(len(content)):
            yield content, key
            yield from _places(content[key])


def hostile_text(rng: Random, sample: bytes) -> bytes:
    """Return a file with a program as one of its fields, or as the name of a column."""
    lines = sample.decode().splitlines()
    line = 0 if rng.random() < 0.3 else rng.randrange(len(lines))
    separator = "\t" if "\t" in lines[0] else ","
    fields = lines[line].split(separator)
    fields[rng.randrange(len(fields))] = '"' + rng.choice(VALUES[:3]) + '"'
    lines[line] = separator.join(fields)
    return "\n".join(lines).encode()


def hostile_gzip(rng: Random, sample: bytes) -> bytes:
    """Return the same, packed."""
    return gzip.compress(hostile_text(rng, gzip.decompress(sample)))


def hostile_parquet(rng: Random, _sample: bytes) -> bytes:
    """Return a file whose names, labels or metadata are programs.

    Those of an extension type are such as pyarrow before 14.0.1 executed.
    """
    found = pa.Table.from_pandas(table())
    extension = {"ARROW:extension:name": "arrow.py_extension_type",
                 "ARROW:extension:metadata": PICKLE}  # fmt: skip
    place = rng.randrange(found.num_columns)
    field = found.schema.field(place)
    if rng.random() < 0.3:
        field = field.with_name(CODE)
    if rng.random() < 0.5:
        field = field.with_metadata(extension)
    found = found.set_column(place, field, found[place])
    found = found.set_column(2, "colour", pa.array([CODE] * found.num_rows))
    metadata = rng.choice([{"pandas": PICKLE}, {"pandas": CODE}, {"ARROW:schema": PICKLE}, None])
    buffer = io.BytesIO()
    parquet.write_table(found.replace_schema_metadata(metadata), buffer)
    return buffer.getvalue()


def hostile_excel(rng: Random, sample: bytes) -> bytes:
    """Return a workbook with a program as a text, a formula, a macro or one of its parts."""
    with zipfile.ZipFile(io.BytesIO(sample)) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    program = html.escape(rng.choice(VALUES[:3])).encode()
    kind = rng.choice(["text", "formula", "macro", "part"])
    if kind == "text":
        parts[sheet] = _with_one(rng, rb"<t>.*?</t>", b"<t>" + program + b"</t>", parts[sheet])
    elif kind == "formula":
        cell = b"<f>" + program + b"</f><v>1</v>"
        parts[sheet] = _with_one(rng, rb"<v>.*?</v>", cell, parts[sheet])
    else:
        place = "xl/vbaProject.bin" if kind == "macro" else rng.choice(list(parts))
        parts[place] = rng.choice(WHOLE)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    return buffer.getvalue()


def _with_one(rng: Random, pattern: bytes, new: bytes, content: bytes) -> bytes:
    """Return content with something else in one of the places of a pattern."""
    place = rng.choice(list(re.finditer(pattern, content)))
    return content[: place.start()] + new + content[place.end() :]


MAKERS = {".json": hostile_json, ".csv": hostile_text, ".tsv": hostile_text,
          ".csv.gz": hostile_gzip, ".xlsx": hostile_excel, ".parquet": hostile_parquet}  # fmt: skip


def hostile_files(reader: Reader, samples: Sequence[bytes], rng: Random) -> Iterator[bytes]:
    """Yield files that are nothing but programs, and sound ones with programs in them."""
    yield from WHOLE
    for _ in range(HOSTILE):
        yield MAKERS[reader.suffix](rng, rng.choice(samples))


# --- what is heard --------------------------------------------------------------------------------


class Ears:
    """Hears what is executed, and remembers what for."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self.learning = True
        self.path = ""

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Be the hook."""
        if event not in HEARD:
            return
        told = f"{event} {_about(event, arguments)}"
        if self.learning:
            self.known.add(told)
        elif told not in self.known and not told.startswith(
            ("import encodings.", f"exec {CODECS}")
        ):
            print(f"{self.path}: {told}", flush=True)  # noqa: T201


def _about(event: str, arguments: tuple[Any, ...]) -> str:
    """Return what is executed, in words that are the same whenever it is the same."""
    if event == "exec":
        code = arguments[0]
        return f"{code.co_filename} {code.co_name} {code.co_names}"
    if event == "import":
        return str(arguments[0])
    return repr(arguments)


def main(folder: Path) -> None:
    """Learn what sound and damaged files lead to, and listen while hostile ones are read."""
    warnings.simplefilter("ignore")
    rng, ears = Random(0), Ears()  # noqa: S311  no secrets
    samples = {name: reader.samples(folder) for name, reader in READERS.items()}
    sys.addaudithook(ears.hear)
    for name, reader in READERS.items():
        for _ in range(DAMAGED):
            read_damaged(reader, samples[name], rng, folder)
        for sample in samples[name]:
            sound = folder / f"sound{reader.suffix}"
            sound.write_bytes(sample)
            reader.use(sound)
    for name, reader in READERS.items():
        for number, content in enumerate(hostile_files(reader, samples[name], rng)):
            ears.path = f"{name} {number}"
            path = folder / f"hostile{reader.suffix}"
            path.write_bytes(content)
            ears.learning = False
            try:
                reader.use(path)
            except MossError:
                continue
            finally:
                ears.learning = True
    ears.learning, ears.path = False, HOOK
    pickle.loads(PICKLE)  # noqa: S301  our own


if __name__ == "__main__":
    main(Path(sys.argv[1]))
