"""Records as values: Wilson's interval, frames, tables for people, and JSON that is checked."""

import json
import math
from dataclasses import asdict, replace
from random import Random

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from mossrules import RuleSet
from mossrules.exceptions import InvalidFile, InvalidParameter
from mossrules.model import RuleSets
from mossrules.model.json_schema import ruleset_schema, violation
from mossrules.model.shares import normal_quantile, wilson_ends
from mossrules.model.track_record import Interval, TrackRecord
from support.damage import damaged_json
from support.track_record_cases import classifier, labels, regressor, table

X, Y = table()


@pytest.fixture(scope="module")
def model():
    """Return a model whose rules have a record of four refits."""
    model = regressor().fit(X, Y)
    model.track_record(X, Y, refits=4)
    return model


@pytest.fixture(scope="module")
def record(model):
    """Return the record that the rule set carries."""
    return model.rules_.track_record


@pytest.fixture(scope="module")
def several():
    """Return the rule sets of three classes with their records."""
    y = labels(Y, 3)
    model = classifier().fit(X, y)
    model.track_record(X, y, refits=3)
    return model.rules_


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_intervals_of_shares_are_those_of_statsmodels(confidence):
    """Of none, of all, and of everything between; and none of no trials."""
    z = normal_quantile(confidence)
    for trials in (1, 2, 7, 20, 100):
        for found in range(trials + 1):
            expected = proportion_confint(found, trials, 1 - confidence, method="wilson")
            assert wilson_ends(found / trials, trials, z) == pytest.approx(expected, abs=1e-12)
        assert (wilson_ends(0, trials, z)[0], wilson_ends(1, trials, z)[1]) == (0.0, 1.0)
    assert all(math.isnan(end) for end in wilson_ends(0, 0, z))


def test_the_frame_has_a_row_for_each_rule(record):
    """The ends of intervals are columns, in any kind of frame."""
    frame = record.frame(backend="pandas")
    assert list(frame) == [
        "rule", "found", "refits", "found_lower", "found_upper", "near", "effect", "effect_lower",
        "effect_upper", "same_sign", "coverage", "n", "observed",
        "whole_analysis_lower", "whole_analysis_upper", "approved",
    ]  # fmt: skip
    for row, rule in zip(frame.to_dict("records"), record.rules, strict=True):
        assert row["refits"] == 4
        for name, value in asdict(rule).items():
            if name == "events":
                continue
            if isinstance(value, tuple):
                stem = "effect" if name == "held_fixed" else name.removesuffix("_interval")
                ends = row[f"{stem}_lower"], row[f"{stem}_upper"]
                assert ends == pytest.approx(tuple(value), nan_ok=True)
            else:
                assert row[name] == (pytest.approx(value, nan_ok=True) if name != "rule" else value)
    other = record.frame(backend="polars")
    assert isinstance(other, pl.DataFrame)
    assert other["rule"].to_list() == frame["rule"].tolist()


def test_frames_of_classes_have_events(several):
    """Beside n, as the mean is their share."""
    for ruleset in several.values():
        frame = ruleset.track_record.frame(backend="pandas")
        np.testing.assert_allclose(frame["events"] / frame["n"], frame["observed"], atol=1e-9)


def test_records_are_values(record):
    """Equal where all but people is, NaN too, and hashable."""
    again = TrackRecord.from_json(record.to_json())
    assert again == record
    assert hash(again) == hash(record)
    assert replace(record, refits=5) != record
    assert record != "a record"
    assert len({again, record, replace(record, seed=9)}) == 2


# --- shown where the rules are --------------------------------------------------------------------


def test_every_table_of_the_rules_says_how_often_each_was_found(model, record):
    """Text, Markdown, LaTeX, HTML and notebooks; tree frequency gives way."""
    rules = model.rules_
    tables = [str(rules), rules.to_text(), rules.to_markdown(), rules.to_latex()]
    tables += [rules._repr_html_(), model._repr_html_().partition("</table>")[0]]
    plain = replace(rules, track_record=None)
    for text in tables:
        for rule in record.rules:
            assert f"{rule.found} of 4" in text
        assert "tree frequency" not in text
        assert "95% interval" in text.replace("\\", "")
    assert "tree frequency" in plain.to_text()
    assert "interval" not in plain.to_text()
    for rule, line in zip(record.rules, str(rules).splitlines()[3:], strict=False):
        assert rule.rule in line
        assert f"{rule.held_fixed.lower:+.3f} to {rule.held_fixed.upper:+.3f}" in line


def test_markdown_and_latex_are_tables_of_as_many_cells(model):
    """Each row has as many as the titles; what is below it is no row."""
    lines = [line for line in model.rules_.to_markdown().splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in lines}) == 1
    assert len(lines) == 3 + len(model.rules_)
    lines = [line for line in model.rules_.to_latex().splitlines() if line.endswith(r"\\")]
    assert {line.count("&") for line in lines} == {5}
    notes = model.rules_.to_latex().split(r"\end{tabular}")[1].strip().splitlines()
    assert notes
    assert all(note.startswith("% ") for note in notes)


def test_frames_of_rules_have_the_record_too(model, record, several):
    """Of several classes as well, unless some of them have none."""
    frame = model.rules_.to_frame("pandas")
    assert frame["found"].tolist() == [each.found for each in record.rules]
    assert frame["weight_lower"].tolist() == [each.held_fixed.lower for each in record.rules]
    together = several.to_frame("pandas")
    assert len(together) == sum(map(len, several.values()))
    assert set(together["refits"]) == {3}
    first, *rest = several
    without = {first: replace(several[first], track_record=None)}
    mixed = RuleSets(without | {label: several[label] for label in rest})
    assert list(mixed.to_frame("pandas")) == ["outcome", *without[first].frame_columns()]
    assert len(mixed.to_frame("pandas")) == len(together)


def test_a_rule_without_an_interval_has_a_dash(model, record):
    """As where it held on no row of the refits."""
    rules = (replace(record.rules[0], held_fixed=Interval(math.nan, math.nan)), *record.rules[1:])
    shown = replace(model.rules_, track_record=replace(record, rules=rules))
    (line,) = [each for each in str(shown).splitlines() if each.endswith(f" {rules[0].rule}")]
    assert " - " in line
    assert "nan" not in str(shown) + shown.to_markdown() + shown.to_latex() + shown._repr_html_()


@pytest.mark.parametrize(
    ("share", "scheme", "groups", "said"),
    [
        (1 / 3, "subsample", None, "a random third of the rows"),
        (0.5, "subsample", 12, "a random half of the groups"),
        (0.4, "subsample", None, "a random 40% of the rows"),
        (0.632, "bootstrap", None, "as many rows, drawn with replacement"),
        (0.9, "folds", None, "90% of the rows"),
    ],
)
def test_words_say_what_a_refit_was(record, share, scheme, groups, said):
    """Its share of the rows, or of the groups."""
    assert replace(record, share=share, scheme=scheme, groups=groups).how == said


def test_one_rule_and_one_refit_that_failed_are_not_plural(record):
    """Nor are several singular."""
    one = replace(record, rules=record.rules[:1], failed=1, failure="ValueError: no.")
    assert "of 1 rule was" in one.summary()
    assert "1 refit failed" in one.summary()
    assert "refits failed" not in one.summary()
    assert "2 refits failed" in replace(one, failed=2).summary()


def test_names_with_line_breaks_take_one_line_of_a_record(record):
    """Like the lines of tables; the frame has the names as they are."""
    rule = 'say "hi"\n\x1bthere > 1'
    only = (replace(record.rules[0], rule=rule),)
    hostile = replace(record, rules=only, failure="a\nb", failed=1)
    lines = repr(hostile).splitlines()
    assert lines[1].startswith('  say "hi"\\n\\x1bthere > 1  ')
    assert lines[-1] == "1 refit failed; the first: a\\nb"
    assert hostile.columns()["rule"] == [rule]


def test_few_groups_and_approved_rules_are_warned_of(model, record):
    """Where rules are shown and in the print of the record; ten groups are enough."""
    first, *rest = record.rules
    kept = replace(record, rules=(replace(first, approved=True), *rest))
    asked = "Refits were asked to keep the 1 approved rule too, so that it is found says little."
    for groups, few in ((2, True), (9, True), (10, False), (None, False)):
        said = replace(kept, groups=groups)
        shown = replace(model.rules_, track_record=said)
        texts = [repr(said), shown.to_text(), shown.to_markdown(), shown.to_latex()]
        for text in [*texts, shown._repr_html_()]:
            assert (f"There are only {groups} groups, so few refits differ" in text) is few
            assert asked in text
    assert record.cautions == []
    assert TrackRecord.from_json(kept.to_json()) == kept
    assert kept.columns()["approved"] == [True] + [False] * len(rest)


# --- other rules than those that were measured ----------------------------------------------------


def test_the_order_of_rules_is_that_of_the_rule_set(model, record):
    """Given in another order, records go with their rules."""
    rules = model.rules_
    turned = RuleSet(
        rules=rules.rules[::-1], weights=rules.weights[::-1], intercept=rules.intercept,
        binning=rules.binning, columns=rules.columns, support=rules.support[::-1],
        proportion=rules.proportion[::-1], target=rules.target,
        track_record=replace(record, rules=record.rules[::-1]),
    )  # fmt: skip
    assert turned.to_json() == rules.to_json()


def test_a_record_does_not_stay_where_rules_or_effects_change(model, several):
    """Edited weights, fewer rules, other rules, another outcome: refused until it is left out."""
    rules = model.rules_
    fewer = {
        "rules": rules.rules[1:], "weights": rules.weights[1:], "support": rules.support[1:],
        "proportion": rules.proportion[1:],
    }  # fmt: skip
    for change in ({"weights": rules.weights * 1.01}, {"weights": rules.weights[::-1]}, fewer):
        with pytest.raises(InvalidParameter, match="track_record is of other rules"):
            replace(rules, **change)
        assert replace(rules, **change, track_record=None).track_record is None
    one, other, *_ = several.values()
    with pytest.raises(InvalidParameter, match="track_record is of other rules"):
        replace(one, track_record=other.track_record)
    with pytest.raises(InvalidParameter, match="another outcome"):
        replace(one, outcome=other.outcome)
    assert replace(rules, target="another name").track_record == rules.track_record


# --- JSON -----------------------------------------------------------------------------------------


def test_json_keeps_every_bit(record, model, several):
    """Alone, in a rule set and in those of several classes; it fits the published schema."""
    text = record.to_json()
    assert TrackRecord.from_json(text).to_json() == text
    assert TrackRecord.from_json(text.encode()) == record
    for own, back in zip(record.rules, TrackRecord.from_json(text).rules, strict=True):
        assert np.array(own[3:] if isinstance(own, tuple) else own.effect).tobytes() == (
            np.array(back.effect).tobytes()
        )
    text = model.rules_.to_json()
    back = RuleSet.from_json(text)
    assert back.track_record == record
    assert back.to_json() == text
    assert violation(json.loads(text), ruleset_schema()) is None
    text = several.to_json()
    assert RuleSets.from_json(text).to_json() == text
    assert [each.track_record for each in RuleSets.from_json(text).values()] == [
        each.track_record for each in several.values()
    ]
    assert isinstance(RuleSet.from_json(model.rules_.to_json()).track_record.rules, tuple)


def test_a_rule_set_without_a_record_has_no_field_for_it(model):
    """So files of earlier rule sets stay as they are."""
    assert "track_record" not in json.loads(replace(model.rules_, track_record=None).to_json())


def test_the_json_holds_no_row_of_the_data():
    """Of people there are means over all; nothing has as many entries as there are rows."""
    rng = np.random.default_rng(0)
    secret = rng.normal(size=50) * 1234.5678
    frame = pd.DataFrame({"x": np.arange(50.0), "secret": secret})
    y = 3.3 * (frame["x"] > 24) + rng.normal(size=50)
    model = regressor(max_rules=2).fit(frame, y)
    model.track_record(frame, y, refits=3)
    text = model.rules_.to_json()
    assert not any(repr(float(value)) in text for value in [*secret, *y, *model.predict(frame)[:0]])

    def lengths(content):
        if isinstance(content, dict | list):
            yield len(content)
            for each in content.values() if isinstance(content, dict) else content:
                yield from lengths(each)

    assert max(lengths(json.loads(text)["track_record"])) < 20
    assert "people_ranges" not in text


def broken(record, change):
    """Return the JSON of a record with something changed."""
    content = json.loads(record.to_json())
    change(content)
    return json.dumps(content)


CHANGES = {
    "a rule found too often": lambda c: c["rules"][0].update(found=5, near=5),
    "found more often than near": lambda c: c["rules"][0].update(found=3, near=2),
    "a count below 0": lambda c: c["rules"][0].update(found=-1),
    "a count that is text": lambda c: c["rules"][0].update(found="3"),
    "half a count": lambda c: c["rules"][0].update(found=2.5),
    "a count that is true": lambda c: c.update(refits=True),
    "an interval of three": lambda c: c["rules"][0].update(held_fixed=[1, 2, 3]),
    "an interval of texts": lambda c: c.update(intercept=["a", "b"]),
    "a field too many": lambda c: c.update(people_ranges=[[1, 2]]),
    "a field too few": lambda c: c.pop("seed"),
    "another scheme": lambda c: c.update(scheme="__import__('os')"),
    "a share of 2": lambda c: c.update(share=2.0),
    "an outcome that is a number": lambda c: c.update(outcome=1),
    "a rule that is no text": lambda c: c["rules"][0].update(rule=["x"]),
    "rules that are no list": lambda c: c.update(rules={}),
    "another format": lambda c: c.update(format="mossrules rule set"),
    "another version": lambda c: c.update(version=2),
    "a number too large": lambda c: c.update(n_rules=10**400),
    "people that are no object": lambda c: c.update(people=None),
}


@pytest.mark.parametrize("case", CHANGES)
def test_damaged_records_are_refused_in_a_sentence(record, model, case):
    """Alone, and inside a rule set."""
    text = broken(record, CHANGES[case])
    with pytest.raises(InvalidFile) as error:
        TrackRecord.from_json(text)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)
    if case in ("another format", "another version"):
        return
    content = json.loads(text)
    inside = json.loads(model.rules_.to_json())
    inside["track_record"] = {k: v for k, v in content.items() if k not in ("format", "version")}
    with pytest.raises(InvalidFile):
        RuleSet.from_json(json.dumps(inside))


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"format": 1, "format": 1}', b"\xff"])
def test_what_is_no_record_is_refused(text):
    """Whatever it is."""
    with pytest.raises(InvalidFile):
        TrackRecord.from_json(text)


def test_a_rule_set_whose_record_is_of_other_rules_contradicts_itself(model):
    """As where somebody has edited a weight, or a rule, in one place only."""
    for change in (
        lambda c: c["rules"][0].update(weight=c["rules"][0]["weight"] * 2),
        lambda c: c["track_record"]["rules"][0].update(rule="age > 1"),
        lambda c: c["track_record"]["rules"].pop(),
        lambda c: c["track_record"].update(outcome="well"),
    ):
        content = json.loads(model.rules_.to_json())
        change(content)
        with pytest.raises(InvalidFile, match="contradicts itself"):
            RuleSet.from_json(json.dumps(content))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_records_damaged_at_random_are_read_or_refused(seed):
    """What is read can be shown, and written as it was."""
    text = damaged_json(Random(seed), SAMPLE.encode())  # noqa: S311  no secrets
    try:
        found = TrackRecord.from_json(text)
    except InvalidFile as error:
        (message,) = error.args
        assert "\n" not in message
        return
    assert TrackRecord.from_json(found.to_json()) == found
    assert repr(found)
    assert len(found.frame()) == len(found.rules)


def _sample():
    model = regressor(max_rules=2).fit(X, Y)
    return model.track_record(X, Y, refits=2).to_json()


SAMPLE = _sample()
