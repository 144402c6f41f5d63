"""Texts of pages are written anew from what their code prints."""

import pytest

from docs.printed import main, renewed


@pytest.mark.parametrize(
    ("shown", "output", "new"),
    [
        ("a 1\n", "a 2\n", "a 2\n"),
        ("a 1\n", "a 2\nb 3\n", "a 2\nb 3\n"),
        ("b 1\n", "title\nb 2\n", "b 2\n"),
        ("a 1\n...\nc 1\n", "a 2\nb 2\nb 3\nc 2\nd 2\n", "a 2\n...\nc 2\n"),
        ("...\nc 1\n", "a 2\nc 2\n", "...\nc 2\n"),
        ("a 1\n...\n", "a 2\nb 2\n", "a 2\n...\n"),
        ("least value ...\nb 1\n", "least value 3 of 4\nb 2\n", "least value ...\nb 2\n"),
    ],
)
def test_lines_are_those_most_alike(shown, output, new):
    """Dots stay, and what stands beside them is found in the output."""
    assert renewed(shown, output) == new


def test_a_page_is_written_anew(tmp_path, capsys):
    """Only what follows code changes, and a page that is true stays as it is."""
    page = tmp_path / "page.md"
    text = "x is 1\n\n```python\nprint('x', {})\n```\n\n```text\nx {}\n```\n\nand 1 stays\n"
    page.write_text(text.format(2, 1))
    main([str(page)])
    assert page.read_text() == text.format(2, 2)
    main([str(page)])
    assert page.read_text() == text.format(2, 2)
    told = capsys.readouterr().out.splitlines()
    assert [line.rpartition(": ")[2] for line in told] == ["changed", "the same"]
