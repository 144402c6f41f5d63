"""Files from which long runs go on: what is written is read again, and all else is refused."""

import json
import math

import pytest

from mossrules.checkpoint import (
    CheckpointFile,
    read_count,
    read_number,
    read_truth,
    refuse_damage,
    strict_json,
)
from mossrules.exceptions import InvalidFile

FORM = "mossrules work"


def file_in(folder, version=1):
    """Return a file of some work."""
    return CheckpointFile(folder / "runs" / "work.json", FORM, version)


def test_what_is_written_is_read(tmp_path):
    """Folders are made, the format and the version stand first, and numbers keep their bits."""
    file = file_in(tmp_path)
    file.write({"owner": "me", "values": [0.1, math.nan, -math.inf, 3]})
    assert list(json.loads(file.path.read_text())) == ["format", "version", "owner", "values"]
    content = file.read_own("owner", "me", "somebody else")
    values = [read_number(value) for value in content["values"]]
    assert repr(values) == "[0.1, nan, -inf, 3]"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not JSON .*; remove it"),
        ("[" * 100_000, "is not JSON .*; remove it"),
        ("[]", "is not in the format 'mossrules work'; remove it"),
        ('{"format": "other"}', "is not in the format 'mossrules work'; remove it"),
        (f'{{"format": "{FORM}", "version": 2}}', "format version 2 and this release reads .* 1"),
        (f'{{"format": "{FORM}", "version": 1}}', "belongs to somebody else; remove it or choose"),
    ],
)
def test_other_files_are_refused_in_one_sentence(tmp_path, text, words):
    """The sentence names the file and what to do."""
    file = file_in(tmp_path)
    file.write({})
    file.path.write_text(text)
    with pytest.raises(InvalidFile, match=rf"work\.json .*{words}"):
        file.read_own("owner", "me", "somebody else")
    assert file.path.read_text() == text


def test_places_that_cannot_be_read_or_written_are_named(tmp_path):
    """A folder in place of the file, and a file in place of the folder."""
    folder = CheckpointFile(tmp_path, FORM, 1)
    with pytest.raises(InvalidFile, match="cannot be read"):
        folder.read()
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(InvalidFile, match=r"cannot be written .*choose another path"):
        file_in(tmp_path).write({})


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (read_number, True),
        (read_number, "1"),
        (read_number, None),
        (read_count, True),
        (read_count, -1),
        (read_count, 2**63),
        (read_count, 1.0),
        (read_truth, 1),
    ],
)
def test_values_of_another_kind_are_damage(read, value):
    """A flag is no number and a number no flag; a count fits into 64 bits."""
    with (
        pytest.raises(InvalidFile, match=r"^It is damaged \(TypeError: .*\); mend it\.$"),
        refuse_damage("It is damaged", "mend it"),
    ):
        read(value)


def test_json_is_strict():
    """Other languages read it: NaN and infinities are text."""
    text = strict_json({"a": [math.inf, {"b": math.nan}], "c": 1.5})
    assert text == '{"a": ["inf", {"b": "nan"}], "c": 1.5}'
