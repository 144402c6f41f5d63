"""Tables: everything that is in a rule set shows, and nothing in it is markup."""

import re
import shutil
import subprocess
from html.parser import HTMLParser

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mossrules import RuleSet
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import Levels, Rule
from mossrules.data.columns import Kind
from mossrules.model.export_text import format_amounts, one_line
from support.model_cases import HOSTILE, on_names

ALL_NAMES = on_names(HOSTILE)


# --- text, frame ----------------------------------------------------------------------------------


def test_a_rule_set_prints_as_a_table():
    """With the intercept, signs, aligned decimals, shares of rows and trees, and the rules."""
    ruleset = on_names(["bmi", "age"], weights=[-12.3456, 0.5])
    assert repr(ruleset) == str(ruleset) == ruleset.to_text()
    assert ruleset.to_text() == (
        "Predicted cost is the intercept plus the effects of the rules that hold.\n"
        "  effect  coverage  tree frequency  rule\n"
        "  +10.00                            (intercept)\n"
        "  -12.35     39.1%            7.6%  bmi > 0.5\n"
        "   +0.50     39.1%            7.6%  age > 0.5"
    )
    assert on_names(["a"], target=None).to_text().startswith("The prediction is the intercept")


def test_hostile_names_take_one_line_each():
    """A table of text has a line per rule whatever the names, and shows each of them."""
    lines = ALL_NAMES.to_text().splitlines()
    assert len(lines) == 3 + len(HOSTILE)
    for line, text in zip(lines[3:], ALL_NAMES.texts, strict=True):
        assert line.endswith(f"     39.1%            7.6%  {one_line(text)}")
        assert line.isprintable()


@settings(deadline=None)
@given(st.text())
def test_one_line_keeps_what_shows_and_escapes_the_rest(text):
    """What is printable stays; the rest is readable by Python as an escape."""
    line = one_line(text)
    assert line.isprintable()
    assert len(line.splitlines()) <= 1
    if text.isprintable():
        assert line == text
    if "\\" not in text:
        assert line.encode("ascii", "backslashreplace").decode("unicode_escape") == text


amounts = st.floats(-1e8, 1e8)


@settings(deadline=None)
@given(st.lists(amounts, min_size=1, max_size=8), amounts)
def test_printed_weights_are_close_enough_to_add_up(weights, intercept):
    """All have the decimals that give the largest weight four digits, and a sign."""
    largest = max(map(abs, weights))
    assume(largest >= 1e-6)
    for value, text in zip(weights, format_amounts(weights, weights), strict=True):
        assert text[0] in "+-"
        assert abs(float(text) - value) <= 0.5001e-3 * largest
    decimals = {text.partition(".")[2] for text in format_amounts([intercept, *weights], weights)}
    assert len({len(each) for each in decimals}) == 1


def test_very_large_and_very_small_weights_are_printed_by_their_digits():
    """Where decimals would fill the line."""
    assert format_amounts([1.0, 2e12], [2e12]) == ["+1", "+2e+12"]
    assert format_amounts([1.0, 2.34567e-9], [2.34567e-9]) == ["+1", "+2.346e-09"]
    assert format_amounts([0.0, 0.0], [0.0]) == ["+0.000", "+0.000"]
    assert format_amounts([123.456], []) == ["+123.5"]


def test_a_frame_has_all_digits():
    """A row per rule, in the library asked for."""
    frame = on_names(["bmi", "age"], weights=[1 / 3, 2 / 3]).to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.to_dict("list") == {
        "rule": ["age > 0.5", "bmi > 0.5"],
        "weight": [2 / 3, 1 / 3],
        "support": [0.391, 0.391],
        "proportion": [0.076, 0.076],
    }
    assert isinstance(ALL_NAMES.to_frame("polars"), pl.DataFrame)
    assert isinstance(ALL_NAMES.to_frame("pyarrow"), pa.Table)
    assert ALL_NAMES.to_frame()["rule"].tolist() == ALL_NAMES.texts


# --- Markdown -------------------------------------------------------------------------------------


def cells_of_markdown(text):
    """Return the cells of a Markdown table, as a parser of others reads it."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert [token.type for token in tokens if token.level == 0] == ["table_open", "table_close"]
    rows = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_shown(token.children))
    return rows


def _shown(children):
    parts = []
    for child in children:
        assert child.type in ("text", "code_inline", "html_inline", "text_special"), child
        if child.type == "html_inline":
            assert child.content in ("<code>", "</code>")
        else:
            parts.append(child.content)
    return "".join(parts)


def test_markdown_is_a_table():
    """A header, the intercept, and a row per rule with the rule as code."""
    text = on_names(["bmi"]).to_markdown()
    assert text.splitlines() == [
        "| effect | coverage | tree frequency | rule |",
        "|---:|---:|---:|:---|",
        "| +10.000 |  |  | `(intercept)` |",
        "| +1.000 | 39.1% | 7.6% | `bmi > 0.5` |",
    ]


def test_hostile_names_survive_markdown():
    """A parser finds the rules' texts in the cells, and no markup in them."""
    rows = cells_of_markdown(ALL_NAMES.to_markdown())[2:]
    assert [row[3] for row in rows] == [one_line(text) for text in ALL_NAMES.texts]
    assert {len(row) for row in rows} == {4}


def test_spaces_at_the_ends_survive_markdown():
    """Code between backticks would lose one at each end."""
    column = BinnedColumn(" a", Kind.CATEGORICAL, levels=("b ", "c"))
    rule = Rule.of([Levels(" a", frozenset(["b "]))])
    ruleset = RuleSet((rule,), [1.0], 0.0, Binning((column,)), (" a",), [0.5], [0.5])
    assert cells_of_markdown(ruleset.to_markdown())[2][3] == " a is b "


@settings(deadline=None)
@given(names=st.text(alphabet=st.sampled_from("`|\\*_<>&[]()!a ~$#\n"), max_size=12))
def test_markup_in_names_is_no_markup_in_markdown(names):
    """Whatever signs of Markdown stand next to each other."""
    ruleset = on_names([names])
    assert cells_of_markdown(ruleset.to_markdown())[2][3] == one_line(ruleset.texts[0])


# --- LaTeX ----------------------------------------------------------------------------------------

COMMANDS = {
    "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textbar": "|",
}  # fmt: skip
LIGATURES = ("--", "''", "``", "?`", "!`", ",,", "  ")


def untex(source):
    """Read LaTeX as TeX would, and return the text it sets; refuse what needs more than that."""
    shown, i = [], 0
    while i < len(source):
        if match := re.match(r"\$(\\leq|\\geq|<|>)\$", source[i:]):
            shown.append({"\\leq": "<=", "\\geq": ">="}.get(match[1], match[1]))
        elif match := re.match(r"\\([a-zA-Z]+)\{\}", source[i:]):
            shown.append(COMMANDS[match[1]])
        elif match := re.match(r"\\([{}$&#%_ ])", source[i:]):
            shown.append(match[1])
        elif match := re.match(r"\{\}", source[i:]):
            pass
        else:
            assert source[i] not in "\\{}$&#%_~^|<>", source[i:]
            assert not source[i:].startswith(LIGATURES), source[i:]
            match = re.match(r".", source[i:])
            shown.append(match[0])
        i += match.end()
    return "".join(shown)


def rows_of_latex(text):
    """Return the cells of a tabular, split where TeX would split."""
    body = text.split("\\midrule\n")[1].split("\n\\bottomrule")[0]
    assert all(line.endswith(r" \\") for line in body.split("\n"))
    return [re.split(r" (?<!\\)& ", line.removesuffix(r" \\")) for line in body.split("\n")]


def test_latex_is_a_booktabs_table():
    """Rules and alignment, with the signs of mathematics."""
    ruleset = on_names(["bmi_1"], weights=[-1.0])
    assert ruleset.to_latex().splitlines() == [
        r"\begin{tabular}{rrrl}",
        r"\toprule",
        r"effect & coverage & tree frequency & rule \\",
        r"\midrule",
        r"$+10.000$ &  &  & (intercept) \\",
        r"$-1.000$ & 39.1\% & 7.6\% & bmi\_1 $>$ 0.5 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_hostile_names_survive_latex():
    """Reading the cells back gives the rules' texts."""
    rows = rows_of_latex(ALL_NAMES.to_latex())[1:]
    assert [len(row) for row in rows] == [4] * len(HOSTILE)
    for row, text in zip(rows, ALL_NAMES.texts, strict=True):
        assert untex(row[3]) == one_line(text)
        assert (untex(row[1]), untex(row[2])) == ("39.1%", "7.6%")


@settings(deadline=None)
@given(name=st.text(alphabet=st.sampled_from("\\{}$&#%_~^|<>=-'`?!,a \n"), max_size=12))
def test_what_means_something_to_latex_is_escaped(name):
    """Whatever signs stand next to each other."""
    ruleset = on_names([name])
    (row,) = rows_of_latex(ruleset.to_latex())[1:]
    assert untex(row[3]) == one_line(ruleset.texts[0])


def test_latex_compiles(tmp_path):
    """A LaTeX that is installed makes a page of the table."""
    engine = next(filter(shutil.which, ("lualatex", "xelatex", "pdflatex", "tectonic")), None)
    if engine is None:
        pytest.skip("needs a LaTeX, and none is installed")
    table = on_names([name for name in HOSTILE if name.isascii()]).to_latex()
    source = tmp_path / "table.tex"
    source.write_text(
        "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\\tiny\n"
        f"{table}\n\\end{{document}}\n",
        encoding="utf-8",
    )
    options = [] if engine == "tectonic" else ["-interaction=nonstopmode", "-halt-on-error"]
    subprocess.run([engine, *options, source.name], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "table.pdf").exists()


# --- HTML -----------------------------------------------------------------------------------------


class Cells(HTMLParser):
    """Collects the text of all cells, and the tags."""

    def __init__(self):
        super().__init__()
        self.cells, self.tags, self.caption, self.inside = [], set(), "", None

    def handle_starttag(self, tag, _attributes):
        """Start a cell or the caption."""
        self.tags.add(tag)
        self.inside = tag
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, _tag):
        """End it."""
        self.inside = None

    def handle_data(self, data):
        """Add text."""
        if self.inside == "td":
            self.cells[-1] += data
        elif self.inside == "caption":
            self.caption += data


def test_hostile_names_survive_html():
    """A browser's view of the cells is the rules' texts; no tag comes from a name."""
    parser = Cells()
    parser.feed(on_names(HOSTILE, target="<b>&")._repr_html_())
    assert parser.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    are = "is the intercept plus the effects of the rules that hold."
    assert parser.caption == f"Predicted <b>& {are}"
    assert parser.cells[3::4] == ["(intercept)", *map(one_line, ALL_NAMES.texts)]
    assert parser.cells[5::4] == ["39.1%"] * len(HOSTILE)
    nameless = on_names(["a"], target=None)._repr_html_()
    assert "The prediction is the intercept plus" in nameless
