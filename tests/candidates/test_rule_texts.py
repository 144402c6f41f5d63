"""What is printed of a rule can be asked for: the text means the rule that prints it."""

import numpy as np
import pandas as pd
import pytest

from mossrules import MossRegressor, find_candidates
from mossrules.candidates.rule_texts import read_rule
from mossrules.constraints import MustInclude
from mossrules.exceptions import InvalidParameter


@pytest.fixture(scope="module")
def table():
    """Return columns of all kinds, with missing values, and names that look like conditions."""
    draw = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame({
        "age": draw.integers(18, 90, n).astype(float),
        "age and weight": draw.normal(size=n).round(3),
        "a > b": draw.exponential(size=n),
        "smoker": draw.random(n) < 0.4,
        "city": draw.choice(["Bonn", "Ulm or Au", "missing", "Rom and Kiel", "Bari"], n),
        "stage": pd.Categorical(draw.choice(["I", "II", "III"], n), ordered=True),
    })  # fmt: skip
    frame.loc[::9, "age"] = np.nan
    frame.loc[::11, "city"] = None
    y = frame["age"].fillna(80) + 30 * frame["smoker"] + 20 * (frame["city"] == "Ulm or Au")
    return frame, (y + 10 * frame["stage"].cat.codes + 9 * frame["a > b"]).to_numpy()


def test_every_printed_rule_is_read_as_itself(table):
    """Numbers, truth values, orders, categories, and missing values, alone and together."""
    found = find_candidates(*table, n_trees=300, max_depth=3, inner_nodes=True)
    assert len(found) > 500
    some = range(0, len(found), 3)
    texts = found.texts
    for i in some:
        assert read_rule(texts[i], found.binning) == found.pool.rules[i]
    assert any("missing" in texts[i] for i in some)
    assert any("Ulm or Au" in texts[i] for i in some)
    assert any("stage" in texts[i] for i in some)


def test_conditions_may_come_in_any_order(table):
    """A person does not know in which order the library prints them."""
    binning = find_candidates(*table, n_trees=20).binning
    one, two = "smoker is true", "city is Rom and Kiel"
    rule = read_rule(f"{one} and {two}", binning)
    assert rule == read_rule(f"{two} and {one}", binning)
    assert rule.features == ("city", "smoker")


def test_any_cut_point_can_be_required(table):
    """Also one at which no tree has cut; the rule in the model is the one that was asked for."""
    X, y = table
    quick = {"n_trees": 20, "max_depth": 1, "cuts": {"age": [20, 66, 86]}}
    plain = MossRegressor(3, **quick).fit(X[["age", "smoker"]], y)
    assert "age > 20" not in plain.candidates_.texts[:3]
    for text in ("age > 20", "age > 66", "20 < age <= 66", "smoker is false and age <= 86"):
        model = MossRegressor(3, **quick, constraints=MustInclude(text))
        printed = model.fit(X[["age", "smoker"]], y).rules_.texts
        assert {*text.split(" and ")} in [{*each.split(" and ")} for each in printed]


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("age > 60", "; the nearest is 'age > 66'."),
        ("age > 67", "; the nearest is 'age > 66'."),
        ("age <= 99", "; the nearest is 'age <= 86'."),
        ("weight > 4", "."),
        ("age > 66 and weight > 4", "."),
    ],
)
def test_a_text_that_nothing_prints_is_refused_with_the_nearest(table, text, nearest):
    """By the numbers in it, and not by how alike the letters are."""
    X, y = table
    model = MossRegressor(
        3, n_trees=20, cuts={"age": [20, 66, 86]}, constraints=MustInclude(text), max_depth=1
    )
    with pytest.raises(InvalidParameter) as refused:
        model.fit(X[["age"]], y)
    assert str(refused.value) == (
        f"The rule {text!r} must be in, but no column prints it by its cut points or categories"
        f"{nearest}"
    )


def test_conditions_that_contradict_are_refused(table):
    """They are read, and no row can have both."""
    X, y = table
    model = MossRegressor(3, n_trees=20, constraints=MustInclude("age > 66 and age <= 20"),
                          cuts={"age": [20, 66, 86]})  # fmt: skip
    with pytest.raises(InvalidParameter, match="conditions on 'age' contradict each other"):
        model.fit(X[["age"]], y)
