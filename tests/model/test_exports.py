import ast
import json
import math
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mossrules import RuleSet
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import Levels, Range, Rule
from mossrules.data.columns import Kind
from mossrules.exceptions import InvalidFile, InvalidParameter
from mossrules.model.export_json import ruleset_schema, violation
from mossrules.model.export_text import format_amounts, one_line
from support.model_cases import HOSTILE, MAKERS, _measured, finite, records, rulesets, wild_ruleset


def on_names(names, target="cost", **changes):
    """Return a rule set with one rule for each name, of weights 1, 2, ..."""
    n = len(names)
    return RuleSet(
        rules=tuple(Rule.of([Range(name, low=2)]) for name in names),
        weights=changes.pop("weights", np.arange(1.0, n + 1)),
        intercept=changes.pop("intercept", 10.0),
        binning=Binning(tuple(BinnedColumn(name, Kind.NUMERIC, (0.5,)) for name in names)),
        columns=tuple(names),
        support=np.full(n, 0.391),
        proportion=np.full(n, 0.076),
        target=target,
    )


ALL_NAMES = on_names(HOSTILE)


# --- text, frame ----------------------------------------------------------------------------------


def test_a_rule_set_prints_as_a_table():
    """With the intercept, signs, aligned decimals, shares of rows and trees, and the rules."""
    ruleset = on_names(["bmi", "age"], weights=[-12.3456, 0.5])
    assert repr(ruleset) == str(ruleset) == ruleset.to_text()
    assert ruleset.to_text() == (
        "Predicted cost is the sum of the weights of the rules that hold.\n"
        "  weight    rows   trees  rule\n"
        "  +10.00                  (intercept)\n"
        "  -12.35   39.1%    7.6%  bmi > 0.5\n"
        "   +0.50   39.1%    7.6%  age > 0.5"
    )
    assert on_names(["a"], target=None).to_text().startswith("The prediction is the sum")


def test_hostile_names_take_one_line_each():
    """A table of text has a line per rule whatever the names, and shows each of them."""
    lines = ALL_NAMES.to_text().splitlines()
    assert len(lines) == 3 + len(HOSTILE)
    for line, text in zip(lines[3:], ALL_NAMES.texts, strict=True):
        assert line.endswith(f"   39.1%    7.6%  {one_line(text)}")
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
        "| weight | rows | trees | rule |",
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
        if match := re.match(r"\$(\\leq|<|>)\$", source[i:]):
            shown.append({"\\leq": "<="}.get(match[1], match[1]))
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
        r"weight & rows & trees & rule \\",
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
    assert parser.caption == "Rules for <b>&: add the weights of those that hold"
    assert parser.cells[3::4] == ["(intercept)", *map(one_line, ALL_NAMES.texts)]
    assert parser.cells[5::4] == ["39.1%"] * len(HOSTILE)
    nameless = on_names(["a"], target=None)._repr_html_()
    assert "Rules for the prediction: add" in nameless


# --- Python ---------------------------------------------------------------------------------------


def function_of(ruleset, name="predict"):
    """Execute the exported source, with nothing but built-ins, and return the function."""
    source = ruleset.to_python(name)
    assert not [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import)]
    names = {}
    exec(compile(source, "exported", "exec"), names)  # noqa: S102  our own export
    return names[name]


@pytest.mark.parametrize("seed", range(40))
def test_the_exported_function_computes_what_predict_does(seed):
    """On rows of all kinds, bit for bit."""
    makers = (_measured, *MAKERS) if seed % 2 else MAKERS
    ruleset, later = wild_ruleset(seed, makers)
    function = function_of(ruleset)
    found = [function(row) for row in records(later, np.random.default_rng(seed))]
    assert {type(each) for each in found} == {float}
    np.testing.assert_array_equal(found, ruleset.predict(later))


@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_labels_are_only_data_to_python(name):
    """A column may be called like the parameter, like a variable, or like a piece of code."""
    column = BinnedColumn(name, Kind.CATEGORICAL, levels=(name, "other"))
    rule = Rule.of([Levels(name, frozenset([name]))])
    ruleset = RuleSet((rule,), [1.0], 0.0, Binning((column,)), (name,), [0.5], [0.5], target=name)
    function = function_of(ruleset)
    assert [function({name: value}) for value in (name, "other", "unseen", None)] == [1, 0, 0, 0]


@settings(deadline=None, max_examples=60)
@given(rulesets())
def test_any_rule_set_is_valid_python(ruleset):
    """Also with names and labels that nobody would think of."""
    function = function_of(ruleset, "f")
    nothing = dict.fromkeys(ruleset.columns)
    assert function(nothing) == ruleset.explain(nothing).prediction


def test_the_exported_function_refuses_what_predict_refuses():
    """Text for numbers, numbers for text, infinities and columns that are not there."""
    columns = (
        BinnedColumn("x", Kind.NUMERIC, (0.5,)),
        BinnedColumn("c", Kind.CATEGORICAL, levels=("a", "b")),
    )
    rules = (Rule.of([Range("x", low=2)]), Rule.of([Levels("c", frozenset("a"))]))
    ruleset = RuleSet(rules, [1.0, 2.0], 0.0, Binning(columns), ("x", "c"), [0.5] * 2, [0.5] * 2)
    function = function_of(ruleset)
    assert function({"x": np.float32(0.6), "c": np.str_("a")}) == 3.0
    assert function({"x": pd.NA, "c": pd.NA}) == 0.0
    assert function({"x": pd.NaT, "c": math.nan}) == 0.0
    assert function({"x": True, "c": "?"}) == 1.0
    for row, error in [
        ({"x": "1", "c": "a"}, TypeError),
        ({"x": 1.0, "c": 3}, TypeError),
        ({"x": math.inf, "c": "a"}, ValueError),
        ({"x": -math.inf, "c": "a"}, ValueError),
        ({"x": 1.0}, KeyError),
    ]:
        with pytest.raises(error, match=r"c|x"):
            function(row)


def test_the_function_can_have_any_name_that_python_leaves_free():
    """Not a keyword, nor a built-in that the function itself may need, nor something else."""
    ruleset = on_names(["a"])
    for name in ("f", "row", "total", "number", "v0", "größe"):
        assert function_of(ruleset, name)({"a": 1.0}) == 11.0
    for name in ("class", "float", "type", "1st", "a b", "", "f(row): pass\ndef g"):
        with pytest.raises(InvalidParameter, match="pass an identifier"):
            ruleset.to_python(name)


def test_no_rules_are_a_function_too():
    """Which returns the intercept for any row."""
    empty = RuleSet((), [], 1.5, Binning(()), (), [], [])
    assert function_of(empty)({}) == 1.5
    assert RuleSet.from_json(empty.to_json()).to_json() == empty.to_json()
    assert "(intercept)" in empty.to_text()


# --- JSON -----------------------------------------------------------------------------------------


def bits(ruleset):
    """Return all numbers of a rule set as bytes, and the rest."""
    cuts = [column.cuts for column in ruleset.binning.columns]
    return (
        ruleset.weights.tobytes(), ruleset.support.tobytes(), ruleset.proportion.tobytes(),
        np.array([ruleset.intercept]).tobytes(), [np.array(each).tobytes() for each in cuts],
        ruleset.rules, ruleset.binning, ruleset.columns, ruleset.target,
        [[(type(level), level) for level in column.levels] for column in ruleset.binning.columns],
    )  # fmt: skip


@settings(deadline=None)
@given(rulesets())
def test_json_keeps_every_bit(ruleset):
    """Numbers, labels with their types, names of any kind."""
    text = ruleset.to_json()
    back = RuleSet.from_json(text)
    assert bits(back) == bits(ruleset)
    assert back.to_json() == text
    assert bits(RuleSet.from_json(text.encode())) == bits(ruleset)
    assert violation(json.loads(text), ruleset_schema()) is None


@pytest.mark.parametrize("seed", range(15))
def test_a_rule_set_predicts_the_same_after_a_round_trip(seed):
    """Predictions, explanations and all exports."""
    ruleset, later = wild_ruleset(seed)
    back = RuleSet.from_json(ruleset.to_json())
    np.testing.assert_array_equal(back.predict(later), ruleset.predict(later))
    assert back.to_python() == ruleset.to_python()
    assert back.to_sql() == ruleset.to_sql()
    assert back.to_text() == ruleset.to_text()


def read_or_refuse(text):
    """Read a text; if it is not refused properly, it is a rule set in every respect."""
    try:
        ruleset = RuleSet.from_json(text)
    except InvalidFile as error:
        message = str(error)
        assert message.endswith(".")
        assert len(message.splitlines()) == 1
        assert len(message) < 500
        return
    assert bits(RuleSet.from_json(ruleset.to_json())) == bits(ruleset)
    ruleset.to_text()
    function_of(ruleset)
    ruleset.explain(dict.fromkeys(ruleset.columns, None) or {"x": 1.0})


SAMPLES = [wild_ruleset(seed)[0].to_json() for seed in (1, 2, 5)]


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(SAMPLES), st.data())
def test_damaged_text_is_refused(sample, data):
    """Whatever is cut out, put in or exchanged: a rule set is read, or InvalidFile raised."""
    start = data.draw(st.integers(0, len(sample)))
    stop = min(len(sample), start + data.draw(st.integers(0, 30)))
    put_in = data.draw(
        st.text(max_size=5)
        | st.sampled_from(["NaN", "1e999", "-1", "null", "{}", "[]", '"', "9" * 5000, "[" * 3000])
    )
    read_or_refuse(sample[:start] + put_in + sample[stop:])


fields = st.sampled_from(["feature", "low", "high", "missing", "levels", "inside", "number", "x"])
words = st.sampled_from([*HOSTILE[:3], "numeric", "ordered", "inf"])
scalars = st.one_of(st.none(), st.booleans(), st.integers(-3, 300), st.just(10**400), finite, words)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(fields, inner, max_size=4),
    max_leaves=6,
)


def places(content, path=()):
    """Yield the paths of all values in a JSON value."""
    yield path
    items = content.items() if isinstance(content, dict) else ()
    items = enumerate(content) if isinstance(content, list) else items
    for key, value in items:
        yield from places(value, (*path, key))


@settings(deadline=None, max_examples=400)
@given(st.sampled_from(SAMPLES), st.data())
def test_damaged_values_are_refused(sample, data):
    """Values exchanged for others, left out, or repeated, anywhere."""
    content = json.loads(sample)
    for _ in range(data.draw(st.integers(1, 2))):
        *path, key = data.draw(st.sampled_from([path for path in places(content) if path]))
        parent = content
        for step in path:
            parent = parent[step]
        match data.draw(st.sampled_from(["exchange", "nudge", "remove", "repeat", "swap"])):
            case "exchange":
                parent[key] = data.draw(json_values)
            case "nudge" if isinstance(parent[key], int | float):
                parent[key] += data.draw(st.sampled_from([-1, 1, 0.5, -2, 100]))
            case "remove":
                del parent[key]
            case "repeat" if isinstance(parent, list):
                parent.append(parent[key])
            case "swap" if isinstance(parent, list):
                parent.reverse()
    read_or_refuse(json.dumps(content))


def changed(path, value):
    """Return the JSON of a small rule set in which one value is another."""
    columns = (
        BinnedColumn("x", Kind.NUMERIC, (0.5, 1.5)),
        BinnedColumn("c", Kind.CATEGORICAL, levels=("a", "b")),
        BinnedColumn("o", Kind.ORDERED, (0.0,), ("s", "m", "l")),
    )
    rules = (
        Rule.of([Range("x", low=2), Levels("c", frozenset("a"))]),
        Rule.of([Range("o", high=1)]),
    )
    ruleset = RuleSet(
        rules, [2.0, 1.0], 0.0, Binning(columns), ("x", "c", "o"), [0.5] * 2, [0.5] * 2
    )
    content = json.loads(ruleset.to_json())
    parent = content
    for step in path[:-1]:
        parent = parent[step]
    if value is ...:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return json.dumps(content)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], "other", "not in the format 'mossrules rule set'"),
        (["version"], 2, "has format version 2 and this release reads version 1"),
        (["version"], True, "version must be 1"),
        (["intercept"], ..., "the whole lacks 'intercept'"),
        (["intercept"], "1", "intercept must be of type number"),
        (["intercept"], True, "intercept must be of type number"),
        (["intercept"], 10**400, "intercept must be between"),
        (["extra"], 1, "the whole has an unknown field 'extra'"),
        (["target"], 3, "target must be of type string or null"),
        (["columns"], ["x", "x", "c", "o"], "columns has an item twice"),
        (["columns"], ["x", "c"], "'o' is used by a rule and not among"),
        (["columns"], ["c", "x", "o"], "in another order than the columns"),
        (["rules"], [], "features that no rule uses"),
        (["rules", 0, "weight"], None, r"rules\[0\].weight must be of type number"),
        (["rules", 0, "support"], 1.5, r"rules\[0\].support must be between 0 and 1"),
        (["rules", 1, "proportion"], -1, r"rules\[1\].proportion must be between 0 and 1"),
        (["rules", 0, "conditions"], [], r"rules\[0\].conditions must have 1 or more items"),
        (["rules", 1, "conditions", 0, "low"], 2, "conditions on 'o' contradict each other"),
        (["rules", 1, "conditions", 0, "high"], 2, "has bins 1 to 2"),
        (["rules", 1, "conditions", 0, "low"], 1.5, "low must be of type integer"),
        (["rules", 1, "conditions", 0, "high"], 251, "high is of none of the kinds"),
        (
            ["rules", 1, "conditions", 0],
            {"feature": "o"},
            r"conditions\[0\] is of none of the kinds",
        ),
        (["rules", 1, "conditions", 0, "feature"], "y", "no column 'y'"),
        (["rules", 0, "conditions", 0, "levels"], ["z"], "'z', which is no level"),
        (["rules", 0, "conditions", 0, "levels"], ["a", "a"], "has a level twice"),
        (["rules", 0, "conditions", 0, "feature"], "z", "not in canonical form|no column"),
        (["features", 0, "kind"], "date", r"features\[0\].kind must be"),
        (["features", 0, "cuts"], [1.5, 0.5], "cuts that do not increase"),
        (["features", 0, "cuts"], [1.5, 1.5], "cuts that do not increase"),
        (["features", 0, "cuts"], list(range(250)), "at most 249"),
        (["features", 0, "levels"], ["a"], "levels, or none, unlike its kind"),
        (["features", 1, "levels"], [], "levels, or none, unlike its kind"),
        (["features", 1, "levels"], ["a", "b", "a"], "a level twice"),
        (["features", 1, "levels"], ["a", 1, True], "a level twice"),
        (["features", 1, "levels"], [None, "a"], "none of the kinds"),
        (["features", 1, "levels"], ["a", *range(250)], "more than 250 levels"),
        (["features", 1, "cuts"], [1.0], "cuts, or more than 250 levels"),
        (["features", 2, "cuts"], [0.5], "cuts that are not between two levels"),
        (["features", 2, "cuts"], [2.0], "cuts that are not between two levels"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(path, value, message):
    """In one sentence that names the place."""
    with pytest.raises(InvalidFile, match=message):
        RuleSet.from_json(changed(path, value))


@pytest.mark.parametrize(
    "text",
    ["", "3", "[]", "null", '{"format": 1}', "\ud800", b"\xff\xfe\x00", b"", None, 3, "[" * 100_000,
     '{"a": 1, "a": 2}', "NaN", "9" * 10_000],
)  # fmt: skip
def test_what_is_no_rule_set_at_all_is_refused(text):
    """Also what is no text."""
    with pytest.raises(InvalidFile, match="pass the whole text that to_json returned"):
        RuleSet.from_json(text)


def test_a_field_given_twice_is_refused():
    """Readers of JSON differ in which of two fields they take."""
    text = changed(["target"], "y").replace('"version": 1', '"version": 1, "version": 1')
    with pytest.raises(InvalidFile, match="a field is there twice"):
        RuleSet.from_json(text)


def test_files_may_be_written_by_others():
    """Whole numbers without a point, and rules in any order, are as good."""
    text = changed(["rules", 0, "weight"], 0)
    assert '"weight": 0,' in text
    ruleset = RuleSet.from_json(text)
    assert ruleset.weights.tolist() == [1.0, 0.0]
    assert ruleset.weights.dtype == np.float64
    assert RuleSet.from_json(changed(["rules", 1, "conditions", 0, "low"], 1.0)) == ruleset


def test_reading_executes_nothing():
    """A label that looks like a program stays a label."""
    evil = "__import__('os').system('false')"
    ruleset = RuleSet.from_json(changed(["target"], evil))
    assert ruleset.target == evil
    assert evil not in function_of(ruleset).__code__.co_names


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer"}, [3, 3.0], [3.5, True, "3", None, math.inf]),
        ({"type": "number"}, [3, 3.5], [True, "3", None, []]),
        ({"type": ["string", "null"]}, ["", None], [3, [], {}]),
        ({"type": "boolean"}, [True, False], [0, 1]),
        ({"const": 1}, [1, 1.0], [True, 2, "1"]),
        ({"enum": ["a", "b"]}, ["a"], ["c", None]),
        ({"minimum": 2, "maximum": 4}, [2, 4, 3.5, "x", True], [1.99, 4.01]),
        ({"anyOf": [{"type": "null"}, {"type": "number", "minimum": 0}]}, [None, 3], [-1, "x"]),
        ({"type": "array", "items": {"type": "null"}, "minItems": 1, "maxItems": 2},
         [[None], [None, None]], [[], [None] * 3, [1], {}]),
        ({"type": "array", "uniqueItems": True}, [[], ["a", "b"]], [["a", "a"]]),
        ({"type": "object", "required": ["a"], "properties": {"a": {"type": "null"}}},
         [{"a": None}, {"a": None, "b": 1}], [{}, {"a": 1}]),
        ({"additionalProperties": False, "properties": {"a": {}}}, [{}, {"a": 1}], [{"b": 1}]),
        ({"$ref": "#/$defs/share"}, [0, 1, 0.5], [2, -1, "x"]),
    ],
)  # fmt: skip
def test_the_schema_language_means_what_its_standard_says(schema, good, bad):
    """Each keyword that the published schema uses."""
    for value in good:
        assert violation(value, schema) is None
    for value in bad:
        assert violation(value, schema) is not None


def test_the_published_schema_uses_only_words_that_are_checked():
    """A keyword that we would pass over in silence would be a promise not kept."""
    known = {
        "$schema", "$defs", "$ref", "title", "description", "type", "const", "enum", "anyOf",
        "minimum", "maximum", "required", "properties", "additionalProperties", "items",
        "minItems", "maxItems", "uniqueItems",
    }  # fmt: skip

    def check(schema):
        assert set(schema) <= known
        if "$ref" in schema:
            assert set(schema) <= {"$ref", "description"}
            assert schema["$ref"].removeprefix("#/$defs/") in ruleset_schema()["$defs"]
        for each in (
            *schema.get("properties", {}).values(),
            *schema.get("$defs", {}).values(),
            *schema.get("anyOf", []),
            *([schema["items"]] if "items" in schema else []),
        ):
            check(each)

    check(ruleset_schema())
