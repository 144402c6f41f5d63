import matplotlib as mpl
import numpy as np
import pytest

from mossrules import MossRegressor
from mossrules.exceptions import InvalidParameter
from mossrules.frontier import NearFrontier

mpl.use("Agg")


@pytest.fixture(scope="module")
def price():
    """Return the price of keeping more of three approved rules, two of which say little now."""
    rng = np.random.default_rng(3)
    X = {"age": rng.integers(20, 90, 200).astype(float), "dose": rng.random(200)}
    old = (X["age"] > 50) * 2.0 + (X["dose"] > 0.5) + (X["age"] > 70) + rng.normal(size=200) / 9
    new = (X["age"] > 35) * 2.0 - (X["dose"] > 0.2) + (X["age"] > 70) + rng.normal(size=200) / 9
    approved = MossRegressor(3, n_trees=80, max_depth=1, min_importance=0).fit(X, old).rules_
    model = MossRegressor(3, n_trees=80, max_depth=1, near=approved, keep=0.5).fit(X, new)
    return model.near_frontier(gap=0)


def test_points_are_the_nearest_first_and_cost_more_the_nearer_they_are(price):
    """Each has its certificate, and its rules in common as Dice counts them."""
    assert price.n_approved == 3
    kept = [point.kept for point in price]
    assert kept == sorted(kept, reverse=True)
    assert len(price) > 1
    assert kept[0] == 3
    losses = [point.loss for point in price]
    assert losses == sorted(losses, reverse=True)
    for point in price:
        assert point.bound <= point.loss * (1 + 1e-9)
        assert (point.status, point.share) == ("optimal", point.kept / 3)
        assert point.recurrence == pytest.approx(2 * point.kept / (3 + point.rules))


def test_a_number_between_two_points_costs_what_the_next_one_does(price):
    """So `at` returns the best point that keeps at least so many."""
    assert price.at(3) is price[0]
    assert price.at(0) is price[len(price) - 1]
    for number in range(4):
        assert price.at(number).kept >= number
    with pytest.raises(InvalidParameter, match="at most 3 of the 3 approved rules can be kept"):
        price.at(4)


def test_a_frame_has_a_row_for_each_point(price):
    """With the fields of a point."""
    frame = price.frame(backend="pandas")
    assert frame.columns[:5].tolist() == ["kept", "share", "rules", "recurrence", "fit"]
    assert frame["kept"].tolist() == [point.kept for point in price]


def test_it_prints_as_a_table_that_says_what_is_proven(price):
    """Also where a search was cut short."""
    text = repr(price)
    assert text.startswith("What it costs to keep more of the 3 approved rules")
    assert text.count("\n") == len(price) + 2
    assert "no rule set that keeps as many fits better" in text
    stopped = NearFrontier((), 3, MossRegressor(1, n_trees=5).fit({"x": [0, 1]}, [0, 1]).frontier())
    assert stopped.complete
    assert "more than" in repr(
        NearFrontier(
            tuple(type(point)(**{**vars(point), "gap": 0.01}) for point in price),
            3,
            price.frontier,
        )
    )


def test_the_figure_counts_kept_rules_and_not_trees(price):
    """The axis above has their share of the approved ones; no ring marks a stability."""
    drawn = price.plot()
    assert drawn.ax_.get_xlabel() == "approved rules that are kept"
    assert drawn.ax_.child_axes[0].get_xlabel() == "% of the approved rules"
    assert "stability only" not in {mark.mark for mark in drawn.marks}
    assert {mark.stability for mark in drawn.marks if mark.mark == "exact"} == {
        point.kept for point in price
    }
    assert drawn.complete
