"""docs/architecture.md says where things are: they must be there."""

import re
from pathlib import Path

from docs.floor_plan import PICTURE, ROOT, draw, rooms, sentence_of

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "mossrules"
# Files of the package are named without its folder, as `data/rows.py`.
NAMED = sorted(set(re.findall(r"`([\w./]+(?:/|\.py|\.toml))`", PAGE)))


def test_every_file_that_the_page_names_is_there():
    """In the package, or from the root of the repository."""
    missing = [name for name in NAMED if not any((at / name).exists() for at in (PACKAGE, ROOT))]
    assert missing == []
    assert len(NAMED) > 40  # the pattern finds them


def test_the_picture_is_what_the_code_draws():
    """After a change of rooms or of what they import: `python -m docs.floor_plan`."""
    assert PICTURE.read_text(encoding="utf-8") == draw()


def test_every_room_says_what_it_is_for():
    """One sentence of its docstring, short enough for the picture; and the page knows its name."""
    for room in rooms():
        assert 20 < len(sentence_of(room)) < 110, room
        assert f"{room}/" in PAGE, room


def test_every_function_that_the_page_names_is_in_the_file_before_it():
    """`data/rows.py`, `read_rows`: the function is defined there."""
    pairs = re.findall(r"`([\w/]+\.py)`, `(\w+)`", PAGE)
    for file, name in pairs:
        assert f"def {name}(" in Path(PACKAGE / file).read_text(encoding="utf-8"), (file, name)
    assert len(pairs) >= 3
