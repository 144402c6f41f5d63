import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from mossrules import MossRegressor
from mossrules.candidates.rules import OPEN, Range, Rule
from mossrules.defaults import PAPER_WAY
from mossrules.exceptions import InvalidParameter
from research.harness.processes import ask
from research.harness.records import RECORD
from research.paper import peers
from research.paper.framework import ExperimentContext
from research.paper.measuring import compare
from research.paper.numbers import Numbers, OnNumbers
from research.paper.peer_packages import PEERS, SCRIPT, VARIABLE, Peer
from research.paper.peer_rules import Cuts, holds
from research.paper.protocols import protocol_for
from research.paper.running import reproduce
from support.experiment_cases import write_tables

# A package of the name and interface of PyPI's: one rule of two conditions and one of weight 0.
FAKE = """
from types import SimpleNamespace as Of

class SirusRegressor:
    def __init__(self, num_rules, random_state):
        self.num_rules = num_rules

    def fit(self, X, y):
        if len(y) < 10:
            raise ValueError("too few\\n rows")
        low, high = sorted(X[:, 0])[len(X) // 2], sorted(X[:, 1])[len(X) // 2]  # the middle
        conditions = [Of(feature=0, op=">=", value=low), Of(feature=1, op="<", value=high)]
        self.rules_ = [Of(conditions=conditions, weight=1.0), Of(conditions=[], weight=0.0)]
        self.mean = y.mean()
        return self

    def predict(self, X):
        print("noise on the way out")
        return [self.mean] * len(X)
"""
SIRUS = "SIRUS (PyPI)"


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Make a package called sirus importable, and others not."""
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "sirus.py").write_text(FAKE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "packages"))
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setitem(PEERS, "absent", Peer("figs", "no_such_module", "no-such", "nothing"))


# --- the same rule --------------------------------------------------------------------------------

ROUGH = st.lists(st.integers(-6, 6).map(float), min_size=12, max_size=40)


@settings(deadline=None, max_examples=50)
@given(ROUGH, st.floats(-8, 8), st.sampled_from(["<", "<=", ">", ">="]))
def test_a_threshold_stands_for_the_cut_that_splits_rows_most_nearly_so(values, threshold, op):
    """No other cut of ten bins has, on its low side, a number of rows nearer to the threshold's."""
    X = {"a": np.array(values), "b": np.arange(len(values), dtype=float)}
    cuts = Cuts.of(X)
    (condition,) = cuts.rule([("a", op, threshold)]).conditions
    below = cuts.below["a"]
    if len(below) == 0:
        return
    wanted = sum(v < threshold if op in ("<", ">=") else v <= threshold for v in values)
    cut = condition.high if op in ("<", "<=") else condition.low - 1
    assert abs(below[cut - 1] - wanted) == min(abs(each - wanted) for each in below)
    assert (condition.low == 1) == (op in ("<", "<="))
    assert (condition.high == OPEN) == (op in (">", ">="))


def test_thresholds_of_ten_bins_are_the_rules_of_ten_bins():
    """What another package says in thresholds of ten bins is what we say in bins."""
    rng = np.random.default_rng(0)
    X = {name: rng.normal(size=300).round(1) for name in "abc"}
    y = X["a"] * (X["b"] > 0) + rng.normal(size=300)
    rules = MossRegressor(20, n_bins=10, cuts="quantile", n_trees=50).fit(X, y).rules_
    assert len(rules) > 10
    cuts = Cuts.of(X)
    for rule in rules:
        comparisons = []
        for each in rule.conditions:
            column = rules.binning[each.feature]
            if each.low > 1:
                comparisons.append((each.feature, ">", column.cuts[each.low - 2]))
            if each.high < OPEN:
                comparisons.append((each.feature, "<=", column.cuts[each.high - 1]))
        assert cuts.rule(comparisons) == rule


def test_near_thresholds_are_one_rule_and_a_narrow_range_is_a_bin():
    """Thresholds within a bin's half become the same; ranges between two cuts do not vanish."""
    cuts = Cuts.of({"a": np.arange(100.0), "b": np.arange(100.0) % 7})
    one = cuts.rule([("a", ">", 18.0), ("b", "<=", 3.5), ("a", "<=", 52.0)])
    other = cuts.rule([("b", "<", 3.9), ("a", ">=", 21.0), ("a", "<=", 48.0), ("a", "<", 70.0)])
    assert one == other == Rule.of([Range("a", 3, 5), Range("b", 1, 4)])
    assert cuts.rule([("a", ">", 61.0), ("a", "<=", 62.0)]) == Rule.of([Range("a", 7, 7)])
    matrix = np.column_stack([np.arange(100.0), np.arange(100.0) % 7])
    found = holds([("b", ">=", 5.0), ("a", "<", 14.0)], matrix, {"a": 0, "b": 1})
    assert np.flatnonzero(found).tolist() == [5, 6, 12, 13]


def test_tables_are_read_as_numbers_with_levels_and_medians_of_training_rows():
    """A new level is in none of the columns, and a missing number is the median."""
    train = {"size": [1.0, np.nan, 3.0, 8.0], "place": ["n", "s", None, "s"]}
    numbers = Numbers.of(train)
    assert numbers.names == ("size", "place=n", "place=s")
    new = {"size": [np.nan, 2.0], "place": ["s", "w"]}
    np.testing.assert_array_equal(numbers.read(new), [[3.0, 0.0, 1.0], [2.0, 0.0, 0.0]])
    model = OnNumbers(LinearRegression()).fit(train, [1.0, 2.0, 3.0, 4.0])
    assert model.predict(new).shape == (2,)


# --- other interpreters ---------------------------------------------------------------------------


@pytest.mark.usefixtures("fake")
def test_a_peer_answers_each_fold_and_fails_fold_by_fold():
    """Predictions, rules with a weight, and seconds come back; a fold that fails says why."""
    python = PEERS[SIRUS].interpreter()
    fold = {"X": [[0.0, 1.0]] * 12, "y": list(range(12)), "new": [[1.0, 1.0]] * 2}
    short = {"X": [[0.0, 1.0]], "y": [1.0], "new": [[1.0, 1.0]]}
    job = {"peer": "sirus", "max_rules": 3, "seed": 0, "folds": [fold, short]}
    answers = ask(python, SCRIPT, job, 60.0)
    assert answers.failure is None
    first, second = answers.results
    assert first["predictions"] == [5.5, 5.5]
    assert first["terms"] == [[[0, ">=", 0.0], [1, "<", 1.0]]]
    assert first["seconds"] >= 0
    assert first["version"]
    assert second["failure"] == "ValueError: too few rows"
    crashed = ask(python, SCRIPT, {**job, "folds": [fold, {}]}, 60.0)
    assert len(crashed.results) == 1
    assert "KeyError" in crashed.failure


def test_an_interpreter_that_is_none_is_refused(monkeypatch, tmp_path):
    """A wrong path in the variable is an error that names the variable, not a missing peer."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "no-python"))
    with pytest.raises(InvalidParameter, match=f"{VARIABLE} names .*no-python"):
        PEERS[SIRUS].interpreter()


# --- the experiment -------------------------------------------------------------------------------


@pytest.mark.usefixtures("fake")
def test_a_run_measures_who_is_there_and_says_how_to_have_the_others(tmp_path, monkeypatch):
    """A peer that is missing is a row with the remedy, and is tried again by the next run."""
    write_tables(tmp_path, "ESL", n_rows=60, missing=["ESL"])
    small = replace(
        peers.EXPERIMENT.quick, datasets=("ESL",), ours=("SIRUS",), peers=(SIRUS, "absent"),
        folds=2, n_trees=20, max_rules=4,
    )  # fmt: skip
    monkeypatch.setattr(peers, "EXPERIMENT", replace(peers.EXPERIMENT, quick=small))
    given = {"out": tmp_path / "out", "data": tmp_path, "protocol": "ours", "quick": True}
    found = reproduce("peers", **given)
    ours, theirs, absent = found.rows
    assert theirs["dice"] == 1.0
    assert 0.0 <= theirs["dice_rows"] <= 1.0
    assert (theirs["terms"], theirs["failed"], theirs["folds"]) == (1.0, 0, 2)
    assert theirs["r2"] <= 0
    assert ours["learner"] == "SIRUS"
    assert ours["r2"] > theirs["r2"]
    assert absent["r2"] is None
    assert "pip install no-such" in absent["failure"]
    means, _each, failures = found.tables
    assert [line["learner"] for line in means.rows] == ["SIRUS", SIRUS]
    assert failures.rows[0]["why"] == absent["failure"]
    assert any(path.name == "peers.png" for path in found.paths)

    monkeypatch.setitem(PEERS, "absent", PEERS[SIRUS])
    again = reproduce("peers", **given)
    assert again.reused == 2
    assert again.rows[2]["r2"] == theirs["r2"]
    stored = json.loads((tmp_path / "out" / "peers-ours-quick" / RECORD).read_text())
    assert len(stored["tasks"]) == 3


@pytest.mark.parametrize("way", ["paper", "ours"])
def test_folds_are_those_of_an_evaluation(tmp_path, way):
    """Our learner on a fold has the R2 that `evaluate` measures there, gaps filled or not."""
    write_tables(tmp_path, "ESL", n_rows=60, missing=["ESL"])
    context = ExperimentContext(protocol_for(way), tmp_path, 1)
    data = context.load("ESL")
    small = {"max_rules": 4, "n_trees": 20}
    few = replace(peers.EXPERIMENT.quick, ours=("SIRUS", "SIRUS"), **small)
    (model,) = peers.our_learners(few, data, context).values()
    folds = peers.folds_of(data, 2, fill=context.protocol.is_paper)
    learners = context.protocol.learners(data.X, names=("SIRUS",), jobs=1, **small)
    expected = compare(context, data, learners, 2).results
    assert [peers.fit_ours(model, fold).r2 for fold in folds] == [each.r2 for each in expected]


def test_our_default_stands_beside_the_papers_method(tmp_path):
    """One is a bare estimator, on one thread; the other finds and chooses as the paper does."""
    write_tables(tmp_path, "ESL", n_rows=60)
    context = ExperimentContext(protocol_for("ours"), tmp_path, 1)
    few = replace(peers.EXPERIMENT.quick, max_rules=4, n_trees=20)
    found = peers.our_learners(few, context.load("ESL"), context)
    assert tuple(found) == few.ours
    bare = MossRegressor(4, n_trees=20, random_state=0, n_jobs=1)
    assert found["MOSS"].get_params() == bare.get_params()
    papers = bare.set_params(**PAPER_WAY, stability="high")
    assert found["MOSS-H"].get_params() == papers.get_params()
