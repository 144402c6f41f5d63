"""A comparison of rule sets as frame, JSON, text and Markdown."""

import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt

from mossrules import MossRegressor, RuleSetComparison, compare_rule_sets
from mossrules.candidates.cuts import BinnedColumn
from mossrules.candidates.rules import Levels, Range
from mossrules.data.columns import Kind
from support.model_cases import HOSTILE, many_rules, on_names
from support.small_rulesets import age, ruleset, small_rulesets

DOSE = BinnedColumn("dose", Kind.NUMERIC, (109.0, 115.0))
SITE = BinnedColumn("site", Kind.CATEGORICAL, (), ("a", "b", "c"))
X = {"age": [*range(20)], "dose": [*range(100, 119), 0], "site": ["a", "b", "c", None] * 5}
OLD = ruleset(
    Range("age", low=2),
    Range("age", high=2),
    [Range("dose", high=1), Levels("site", frozenset("ab"))],
    Levels("site", frozenset("c")),
    [Range("age", high=1), Range("dose", low=2)],
    columns=[age(4, 9), DOSE, SITE],
    weights=[20.0, -10.0, 5.0, 2.0, 1.0],
    intercept=3.0,
)
NEW = ruleset(
    Range("age", low=2),
    Range("age", high=2),
    [Range("dose", high=2), Levels("site", frozenset("bc"))],
    Levels("site", frozenset("c")),
    Range("age", low=2, high=2),
    columns=[age(4, 9), DOSE, SITE],
    weights=[21.0, 9.0, 4.9, 3.0, -1.5],
    intercept=2.0,
)


@pytest.fixture(scope="module")
def found():
    """Return a comparison in which everything happens but pairs on the same rows."""
    return compare_rule_sets(OLD, NEW, X)


def test_text_is_what_a_person_reads(found):
    """Sections in the order of what to look at first, aligned; each rule is there once."""
    assert str(found) == found.to_text() == repr(found)
    assert (
        found.to_text().splitlines()
        == """\
Two rule sets: old (5 rules) and new (5 rules), compared on 20 rows.

  kept                    3  the same conditions, as printed
  moved                   1  the same columns and directions, other cut points or levels
  same rows               0  other conditions that hold on nearly the same rows
  gone                    1  rules of old alone
  new                     1  rules of new alone
  effect changed          2  of the 4 pairs of rules, by more than 20% of the old
  sign flipped            1  of the 4 pairs of rules: effects of opposite signs
  Dice                0.600  rules kept, over the mean number of rules
  weighted overlap    0.807  the same, weighted by importance
  correlation         0.662  of the two predictions
  mean difference     9.585  of predictions, absolute
  largest difference   23.9  of predictions
  intercept           +3.00 -> +2.00  the prediction where no rule holds

Sign flipped (1): the same conditions, effects of opposite signs
           effect   change  coverage  rule
  -10.00 -> +9.00  flipped     50.0%  age <= 9

Effect changed (1): the same conditions, effects that differ by more than 20%
          effect  change  coverage  rule
  +2.00 -> +3.00    +50%     25.0%  site is c

Kept (1): the same conditions, effects that differ by at most 20%
            effect  change  coverage  rule
  +20.00 -> +21.00     +5%     75.0%  age > 4

Moved (1): the same columns and directions, other cut points or levels
          effect  change        coverage  differ  rule
  +5.00 -> +4.90     -2%  30.0% -> 40.0%   40.0%  dose <= 109 -> dose <= 115
                                                  and site is a or b -> site is b or c

Gone (1): rules of old alone
  effect  coverage  rule
   +1.00      0.0%  age <= 4 and dose > 109

New (1): rules of new alone
  effect  coverage  rule
   -1.50     25.0%  4 < age <= 9

Effects are in units of the target; coverage is the share of the rows compared on which a rule
holds.""".splitlines()
    )


def test_the_frame_has_a_row_for_each_rule_or_pair(found):
    """In every frame library; without rows it lacks what rows tell."""
    for backend in ("pandas", "polars", "pyarrow"):
        frame = found.frame(backend)
        assert len(frame) == 6
    frame = found.frame("pandas")
    assert frame["pairing"].tolist() == ["kept", "kept", "kept", "moved", "gone", "new"]
    assert frame["sign_flipped"].tolist() == [False, True, False, False, False, False]
    assert frame["effect_change"].tolist()[:3] == pytest.approx([0.05, -1.9, 0.5])
    assert frame["differ"].tolist()[3] == pytest.approx(0.4)
    assert frame["old_rule"].isna().tolist() == [False] * 5 + [True]
    alone = compare_rule_sets(OLD, NEW).frame("pandas")
    assert set(frame) - set(alone) == {"old_coverage", "new_coverage", "differ", "jaccard"}


def test_json_has_everything_that_was_found(found):
    """Numbers with all digits, null where there is none, and what can be derived beside it."""
    content = json.loads(found.to_json())
    assert content == found.to_dict()
    assert (content["format"], content["version"]) == ("mossrules comparison of rule sets", 1)
    (outcome,) = content["outcomes"]
    moved = outcome["pairs"][3]
    assert moved["conditions"] == [
        {"column": "dose", "old": "dose <= 109", "new": "dose <= 115"},
        {"column": "site", "old": "site is a or b", "new": "site is b or c"},
    ]
    assert moved["distance"] == pytest.approx(1.0 + 2 / 3)
    assert outcome["pairs"][1]["sign_flipped"] is True
    assert outcome["gone"][0]["coverage"] == 0.0
    nothing = ruleset(Range("age", low=2), columns=[age(4)], weights=[0.0])
    other = ruleset(Range("age", low=2), columns=[age(4)], weights=[1.0])
    pair = compare_rule_sets(nothing, other).to_dict()["outcomes"][0]["pairs"][0]
    assert (pair["relative_change"], pair["differ"]) == (None, None)


def test_a_rule_of_a_known_record_is_told_with_it(found):
    """Of a rule that is gone: in how many refits of its own analysis it was found."""
    (outcome,) = found.outcomes
    gone = tuple(replace(rule, found=3, refits=20) for rule in outcome.gone)
    told = replace(found, outcomes=(replace(outcome, gone=gone),)).to_text()
    assert "  effect  coverage    found  rule\n   +1.00      0.0%  3 of 20  age <= 4" in told
    assert "Found: how many refits" in told
    assert "Found" not in found.to_text()


def test_rules_carry_the_record_of_their_refits():
    """What `track_record` has counted is in the comparison of the rule sets that carry it."""
    y = np.repeat([1.0, 5.0], 10)
    model = MossRegressor(1, n_trees=20).fit({"age": X["age"]}, y)
    model.track_record({"age": X["age"]}, y, refits=5)
    (pair,) = compare_rule_sets(model, model.rules_).outcomes[0].kept
    assert (pair.old.found, pair.old.refits) == (model.rules_.track_record.rules[0].found, 5)


@settings(max_examples=30)
@given(small_rulesets(), small_rulesets())
def test_text_names_every_rule_once(old, new):
    """Whatever is compared, on lines that are no longer than they should be."""
    found = compare_rule_sets(old, new)
    text = found.to_text()
    assert all(len(line) <= 96 for line in text.splitlines())
    flat = re.sub(r"\s+", " ", text)
    for rule in (*found.outcomes[0].gone, *found.outcomes[0].new):
        assert rule.text in flat
    counts = [int(n) for n in re.findall(r"^[A-Z][\w ]+ \((\d+)\): ", text, re.MULTILINE)]
    assert sum(counts) == sum(len(each) for each in
                              (found.outcomes[0].pairs, found.outcomes[0].gone,
                               found.outcomes[0].new))  # fmt: skip


def test_nothing_to_tell_is_told():
    """Two rule sets without rules agree, and have no section."""
    empty = ruleset(columns=[age(4)])
    found = compare_rule_sets(empty, empty, X)
    assert found.is_same
    assert "Two rule sets: old (0 rules) and new (0 rules), compared on 20 rows." in str(found)
    assert "correlation              -  of the two predictions; one of the two is c" in str(found)
    assert "(0)" not in str(found)
    assert len(found.frame("pandas")) == 0


def cells(markdown):
    """Return the cells of all tables of a text in Markdown, as a reader of it shows them."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown)
    inside = [after for token, after in pairwise(tokens)
              if token.type in ("td_open", "th_open")]  # fmt: skip
    return ["".join(child.content for child in token.children) for token in inside]


def test_markdown_has_tables_whose_rules_are_code(found):
    """As GitHub shows them: rules word for word, and headings with numbers of rules."""
    shown = cells(found.to_markdown())
    assert "age <= 4 and dose > 109" in shown
    assert "+20.00 -> +21.00" in shown
    assert "### Sign flipped (1)" in found.to_markdown()


def test_no_name_is_markup():
    """Names that break careless exports are shown as they are, in text and in Markdown."""
    names = [name for name in HOSTILE if name.isprintable() and name.strip() == name]
    one = on_names(names, target="<b>*cost*</b>|")
    found = compare_rule_sets(one, on_names(names[::-1], target="[x](y)"))
    assert len(found.outcomes[0].kept) == len(names)
    assert "The targets have other names: <b>*cost*</b>| in old, [x](y) in new." in found.to_text()
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(found.to_markdown())
    assert "<b>" not in html
    assert "<em>" not in html
    assert "<script" not in html
    assert "<a " not in html
    assert html.count("<td") == html.count("</td>")


def test_many_long_rules_stay_on_their_lines():
    """Rules that are longer than a line go on below, and are read as one."""
    long = "an extraordinarily long name of a column {}"
    found = compare_rule_sets(many_rules(15, name=long), many_rules(15, name=long, seed=1))
    assert max(map(len, found.to_text().splitlines())) <= 96
    assert isinstance(found, RuleSetComparison)
    assert np.isfinite(found.dice)
