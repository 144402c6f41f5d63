"""Rows are put in an order that depends on nothing but what they hold."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules.data.canonical_order import GOLDEN, MOST_REPEATS, mix
from mossrules.data.rows import read_rows


def settled(X, y, weights=None):
    """Return columns, target and weights in the order found, as lists."""
    rows = read_rows(X, y, weights)
    columns = {
        column.name: column.read(0, rows.table.n_rows).tolist() for column in rows.table.columns
    }
    weights = None if rows.weights is None else rows.weights.tolist()
    return {**columns, "y": rows.target.tolist(), "w": weights}


def same(a, b):
    """Tell whether two tables are equal, NaN like NaN, and like None.

    A column without any value is of numbers or of labels, and that makes no difference.
    """
    return repr(a).replace("None", "nan") == repr(b).replace("None", "nan")


@st.composite
def tables(draw):
    """Return a table with many ties, missing values and labels, a target and weights."""
    n = draw(st.integers(2, 30))
    numbers = st.sampled_from([0.0, 1.0, 2.5, float("nan")])
    labels = st.sampled_from(["a", "b", None])
    X = pd.DataFrame(
        {
            "number": draw(st.lists(numbers, min_size=n, max_size=n)),
            "label": pd.Series(draw(st.lists(labels, min_size=n, max_size=n)), dtype=object),
            "flag": draw(st.lists(st.booleans(), min_size=n, max_size=n)),
        }
    )
    y = np.array(draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=n, max_size=n)))
    weights = draw(st.lists(st.sampled_from([0.5, 1.25, 2.0]), min_size=n, max_size=n))
    return X, y, np.array(weights)


@settings(deadline=None)
@given(tables(), st.randoms(use_true_random=False), st.booleans())
def test_the_order_given_is_forgotten(table, random, weighted):
    """Any permutation of the rows, ties and different weights among them, gives the same."""
    X, y, weights = table
    order = random.sample(range(len(y)), len(y))
    w = weights if weighted else None
    other = settled(X.iloc[order], y[order], None if w is None else w[order])
    assert same(settled(X, y, w), other)


@settings(deadline=None)
@given(tables())
def test_rows_are_neither_lost_nor_mixed_up(table):
    """What comes out is a permutation of what went in."""
    X, y, weights = table
    found = settled(X, y, weights)
    before = zip(X["number"], X["label"], X["flag"].astype(float), y, weights, strict=True)
    after = zip(*(found[name] for name in ("number", "label", "flag", "y", "w")), strict=True)
    assert sorted(map(repr, (tuple(map(plain, row)) for row in before))) == sorted(
        map(repr, (tuple(map(plain, row)) for row in after))
    )


def plain(value):
    """Return a Python number or label; missing ones as None."""
    return None if pd.isna(value) else getattr(value, "item", lambda: value)()


@settings(deadline=None)
@given(tables(), st.data())
def test_whole_weights_are_rows_repeated(table, data):
    """Rows of weight 0, 1, 2, ... are found where that many copies are."""
    X, y, _ = table
    counts = st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))
    w = np.array(data.draw(counts.filter(any)), dtype=float)
    again = np.repeat(np.arange(len(y)), w.astype(int))
    weighted, repeated = settled(X, y, w), settled(X.iloc[again], y[again])
    assert same(weighted, repeated)
    assert weighted["w"] is None


@settings(deadline=None)
@given(tables())
def test_units_do_not_move_rows(table):
    """Another unit of a column or of the target leaves the rows where they are."""
    X, y, _ = table
    plain_units = settled(X.assign(row=np.arange(len(y))), y)
    other = X.assign(number=1.8 * X["number"] + 32.0, row=np.arange(len(y)))
    assert settled(other, 1000.0 * y - 7.0)["row"] == plain_units["row"]


def test_large_weights_stay_weights():
    """Whole weights that would make the table too long are not repetitions."""
    w = np.full(4, MOST_REPEATS + 1.0)
    assert settled({"x": [1.0, 2.0, 3.0, 4.0]}, [1.0, 2.0, 3.0, 4.0], w)["w"] == w.tolist()


def test_the_order_found_tells_nothing_of_the_target():
    """Rows are shuffled: neighbours in the target are no neighbours in the table."""
    y = np.arange(2000.0)
    found = np.array(settled({"x": y}, y)["y"])
    assert abs(np.corrcoef(found[1:], found[:-1])[0, 1]) < 0.1
    assert sorted(found) == y.tolist()


@pytest.mark.parametrize("changed", [0, 1000, 1999])
def test_another_table_has_another_order(changed):
    """A row more or less, or another value, and hardly any row stays where it is."""
    y = np.arange(2000.0)
    x = np.random.default_rng(0).permutation(y)
    found = settled({"x": x}, y)["y"]
    keep = y != changed
    fewer = settled({"x": x[keep]}, y[keep])["y"]
    assert np.mean(np.array(fewer) == found[:-1]) < 0.02
    other = np.where(np.arange(2000) % 500 == 0, -x, x)
    assert np.mean(np.array(settled({"x": other}, y)["y"]) == found) < 0.02


@pytest.mark.parametrize("n", [1, 5, 100_000])
def test_mixed_numbers_differ(n):
    """Places of the sequence are mixed one to one."""
    assert len(np.unique(mix(np.arange(n, dtype=np.uint64) * GOLDEN))) == n
