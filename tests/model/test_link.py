import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from mossrules import RuleSet, RuleSets
from mossrules.exceptions import InvalidFile, InvalidParameter
from support.model_cases import function_of, many_rules, plain_values, records, wild_ruleset
from support.sql_engines import ENGINES, TABLE, run


def as_log_odds(ruleset, scale=1.0, outcome="'yes\n"):
    """Return a rule set whose weights are log-odds of a size that people meet."""
    size = max(1.0, float(np.abs(ruleset.weights).max(initial=0.0))) / scale
    return replace(
        ruleset,
        weights=ruleset.weights / size,
        intercept=ruleset.intercept / 100,
        link="logit",
        outcome=outcome,
    )


@pytest.mark.parametrize("seed", range(4))
def test_all_exports_give_the_probability(seed):
    """SQL in SQLite and DuckDB, Python and JSON say what predict says, whatever the names."""
    plain, later = wild_ruleset(seed)
    ruleset = as_log_odds(plain, scale=(0.1, 1.0, 5.0, 30.0)[seed])
    expected = ruleset.predict(later)
    totals = replace(ruleset, link="identity", outcome=None).predict(later)
    np.testing.assert_allclose(expected, 1.0 / (1.0 + np.exp(-totals)), rtol=1e-12)
    np.testing.assert_array_equal(ruleset.decision_function(later), totals)
    np.testing.assert_array_equal(ruleset.predict_proba(later)[:, 1], expected)
    np.testing.assert_allclose(ruleset.predict_proba(later).sum(axis=1), 1.0, rtol=1e-15)
    again = RuleSet.from_json(ruleset.to_json())
    assert (again.link, again.outcome) == ("logit", ruleset.outcome)
    np.testing.assert_array_equal(again.predict(later), expected)
    predict = function_of(ruleset)
    found = [predict(row) for row in records(later)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    columns = {name: plain_values(later[name]) for name in later}
    for engine, dialect in ENGINES:
        found = run(engine, columns, ruleset.to_sql(TABLE, dialect, keep=["the_key"]))
        np.testing.assert_allclose(found, expected, rtol=1e-12, err_msg=f"{engine} {dialect}")


def test_exports_of_several_classes_give_all_probabilities():
    """SQL, Python and JSON of rule sets say what predict_proba says, for labels of any name."""
    parts, later = [], None
    for seed, label in enumerate(('it\'s "A"', "b`", "ünï\n")):
        plain, rows = wild_ruleset(11)
        kept = as_log_odds(plain, scale=2.0 + seed, outcome=label)
        parts.append(replace(kept, intercept=float(seed - 1)))
        later = rows
    sets = RuleSets({each.outcome: each for each in parts})
    expected = sets.predict_proba(later)
    np.testing.assert_allclose(expected.sum(axis=1), 1.0, rtol=1e-12)
    alone = np.column_stack([each.predict(later) for each in parts])
    np.testing.assert_allclose(expected * alone.sum(axis=1, keepdims=True), alone, rtol=1e-12)
    again = RuleSets.from_json(sets.to_json())
    assert list(again) == list(sets)
    np.testing.assert_array_equal(again.predict_proba(later), expected)
    predict = function_of(sets)
    for row, probabilities in zip(records(later), expected, strict=True):
        np.testing.assert_allclose(list(predict(row).values()), probabilities, rtol=1e-12)
    columns = {name: plain_values(later[name]) for name in later}
    for engine, dialect in ENGINES:
        sql = sets.to_sql(TABLE, dialect, keep=["the_key"])
        for number in range(3):
            found = run(engine, columns, sql, column=1 + number)
            np.testing.assert_allclose(found, expected[:, number], rtol=1e-12)
    assert sets.to_text().endswith("divided by their sum.")
    assert len(sets.to_frame()) == sum(map(len, parts))
    assert sets.to_markdown().count("| log-odds |") == sets.to_latex().count("toprule") == 3
    assert sets._repr_html_().count("<table>") == 3
    with pytest.raises(InvalidFile, match="not in the format 'mossrules rule sets'"):
        RuleSets.from_json(parts[0].to_json())
    with pytest.raises(InvalidParameter, match="two classes"):
        RuleSets({"b`": parts[1]})


def test_sql_needs_no_exponential_unless_log_odds_are_extreme():
    """A probability is a product of constants; where that could overflow, EXP takes its place."""
    ruleset = as_log_odds(many_rules(4))
    assert "EXP" not in ruleset.to_sql()
    assert ruleset.to_sql("t").endswith('AS "P(\'yes\\n)"\nFROM "t"')
    assert replace(ruleset, outcome=None).to_sql("t").endswith('AS "probability"\nFROM "t"')
    extreme = replace(ruleset, intercept=-900.0)
    assert "EXP" in extreme.to_sql()
    columns = {name: [0.0, 9.0] for name in extreme.columns}
    found = run("duckdb", columns, extreme.to_sql(TABLE, keep=["the_key"]))
    np.testing.assert_array_equal(found, 0.0)
    row = dict.fromkeys(extreme.columns, 1.0)
    assert function_of(extreme)(row) == 0.0
    assert function_of(replace(extreme, intercept=900.0))(row) == 1.0


def test_an_explanation_adds_up_to_log_odds():
    """Contributions add up to the log-odds of the row, and those give its probability."""
    ruleset = replace(as_log_odds(many_rules(6, target="income"), 2.0), outcome=">50K")
    row = dict.fromkeys(ruleset.columns, 1.5)
    found = ruleset.explain(row)
    assert found.total == ruleset.decision_function({k: [v] for k, v in row.items()})[0]
    assert found.prediction == ruleset.predict({k: [v] for k, v in row.items()})[0]
    assert math.fsum([found.intercept, *found.contributions]) == pytest.approx(found.total)
    assert "log-odds of income = >50K" in repr(found)
    assert f"{found.prediction:.3f}  probability" in repr(found)


def test_tables_say_that_weights_are_log_odds():
    """Every form for people names the outcome or the unit; the frame has odds ratios."""
    ruleset = replace(as_log_odds(many_rules(3, target="a <b>"), 2.0), outcome="$1")
    assert ruleset.to_text().startswith("The log-odds of a <b> = $1 are the intercept plus")
    assert "log-odds" in ruleset.to_text().splitlines()[1]
    assert ruleset.to_markdown().startswith("Log-odds of `a <b> = $1`:\n\n| log-odds |")
    assert ruleset.to_latex().startswith("% The log-odds of a <b> = $1\n")
    assert "log-odds & coverage" in ruleset.to_latex()
    assert '"""Return the probability of a <b> = $1 for a row' in ruleset.to_python()
    assert "a &lt;b&gt; = $1" in ruleset._repr_html_()
    frame = ruleset.to_frame()
    np.testing.assert_allclose(frame["odds_ratio"], np.exp(frame["weight"]))
    assert "odds_ratio" not in replace(ruleset, link="identity", outcome=None).to_frame()


def test_files_without_a_link_are_as_they_were():
    """A rule set without a link has no new fields, and a file with a wrong one is refused."""
    plain = many_rules(2)
    assert {"link", "outcome", "calibration"}.isdisjoint(json.loads(plain.to_json()))
    assert RuleSet.from_json(plain.to_json()).link == "identity"
    content = json.loads(as_log_odds(plain, outcome=math.inf).to_json())
    assert RuleSet.from_json(json.dumps(content)).outcome == math.inf
    for field, value in (("link", "probit"), ("outcome", ["a"]), ("link", "identity")):
        with pytest.raises(InvalidFile):
            RuleSet.from_json(json.dumps(content | {field: value}))


def test_links_are_checked_and_copied():
    """Unknown links and outcomes without one are refused; a pickled copy keeps both."""
    plain = many_rules(2)
    with pytest.raises(InvalidParameter, match="link is 'log'"):
        replace(plain, link="log")
    with pytest.raises(InvalidParameter, match="outcome is 'yes'"):
        replace(plain, outcome="yes")
    with pytest.raises(InvalidParameter, match="call predict"):
        plain.predict_proba(np.zeros((1, 9)))
    copied = pickle.loads(pickle.dumps(as_log_odds(plain)))  # noqa: S301  our own
    assert (copied.link, copied.outcome) == ("logit", "'yes\n")
