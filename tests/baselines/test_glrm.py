import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss

from mossrules.baselines import (
    GlrmClassifier,
    GlrmRegressor,
    glrm,
)
from mossrules.baselines.column_generation import count_literals
from mossrules.baselines.designs import Design
from mossrules.baselines.glrm import (
    Generated,
    choose_rules,
    generate_rules,
    prices_in_proportion,
    prices_of_length,
)
from mossrules.exceptions import SolveLimitWarning
from mossrules.learning.stability_levels import count_untied
from support.baseline_cases import is_second


def test_prices_grow_with_length():
    """In proportion to the price of any rule, or by a fixed amount for each literal."""
    lengths = np.array([1, 2, 5])
    np.testing.assert_allclose(prices_in_proportion(0.2)(0.1, lengths), [0.06, 0.07, 0.1])
    np.testing.assert_allclose(prices_of_length(0.02)(0.1, lengths), [0.06, 0.07, 0.1])
    np.testing.assert_allclose(prices_of_length(0.02)(0.01, lengths), [0.015, 0.025, 0.055])


@pytest.mark.parametrize("source", ["pool", "own"])
@pytest.mark.parametrize("variant", ["published", "paper"])
def test_the_model_is_the_point_of_the_path(diabetes, source, variant):
    """Rules are those of the path; weights are the path's, or least squares on its rules."""
    X, y = diabetes
    model = GlrmRegressor(6, source=source, variant=variant, n_trees=60, random_state=1).fit(X, y)
    candidates = model.candidates_
    prices = prices_in_proportion(0.2) if variant == "published" else prices_of_length(0.005)
    most = 6 if variant == "published" else count_untied(candidates.statistics.counts, 6)
    assert (most < 6) == ((source, variant) == ("pool", "paper"))
    point = choose_rules(
        Design.of_rules(candidates.statistics), candidates.pool.rules, prices, most
    )
    assert model.strength_ == point.strength
    assert len(model.rules_) == most
    assert set(model.rules_) == {candidates.pool.rules[i] for i in np.flatnonzero(point.w)}
    R = model.rules_.holds(X)
    expected = LinearRegression().fit(R, y).predict(R)
    np.testing.assert_allclose(model.predict(X), expected, rtol=2e-4)  # but for a small ridge
    shrunk = clone(model).set_params(refit=False).fit(X, y)
    assert shrunk.rules_ == model.rules_
    weights = {rule: w for rule, w in zip(candidates.pool.rules, point.w, strict=True) if w}
    expected = [weights[rule] * y.std(ddof=0) for rule in shrunk.rules_]
    np.testing.assert_allclose(shrunk.rules_.weights, expected)
    assert np.mean(y - shrunk.predict(X)) == pytest.approx(0, abs=1e-9)


@given(st.integers(0, 1000), st.integers(1, 8), st.floats(0, 2), st.integers(1, 4))
@settings(max_examples=15, deadline=None)
def test_there_are_never_more_rules_than_allowed(seed, max_rules, length_price, max_length):
    """Whatever the data and the prices; rules of its own are no longer than allowed."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(40, 3)).astype(float)
    y = X[:, 0] * X[:, 1] + rng.normal(size=40)
    for source, variant in itertools.product(("pool", "own"), ("published", "paper")):
        model = GlrmRegressor(
            max_rules,
            source=source,
            variant=variant,
            length_price=length_price,
            max_length=max_length,
            n_trees=20,
        ).fit(X, y)
        assert len(model.rules_) <= max_rules
        if source == "own":
            assert max(map(count_literals, model.pool_.rules)) <= max_length


def test_dear_literals_make_short_rules(diabetes):
    """The more each literal costs, the shorter the rules that are found."""
    X, y = diabetes
    lengths = [
        np.mean(
            [len(rule) for rule in GlrmRegressor(source="own", length_price=p).fit(X, y).rules_]
        )
        for p in (0.0, 0.2, 5.0)
    ]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > lengths[-1] == 1.0


def test_own_rules_do_not_depend_on_the_forest(diabetes):
    """Column generation has no randomness, and its rules were all found in the one search."""
    X, y = diabetes
    model = GlrmRegressor(source="own", random_state=0).fit(X, y)
    other = GlrmRegressor(source="own", random_state=1, n_trees=7, max_depth=3, n_jobs=1).fit(X, y)
    assert model.rules_.to_json() == other.rules_.to_json()
    assert (model.rules_.proportion == 1).all()
    assert model.pool_.n_trees == 1
    keys = [rule.sort_key for rule in model.pool_.rules]
    assert keys == sorted(keys)
    assert model.score(X, y) > 0.45


@pytest.mark.parametrize("seed", range(5))
def test_unit_and_sign_of_the_target_do_not_matter(diabetes, seed):
    """Rules stay the same, and weights follow: rounding does not choose between opposites."""
    X, y = diabetes
    drawn = np.random.default_rng(seed).choice(len(y), 300, replace=False)
    X, y = X.iloc[drawn], y.iloc[drawn]
    X = X.join(-X.add_suffix(" reversed"))  # the same rules in other words
    model = GlrmRegressor(source="own").fit(X, y)
    for factor, offset in ((-1.0, 0.0), (1000.0, 7.0), (-0.3, 1e6)):
        other = clone(model).fit(X, factor * y + offset)
        assert other.rules_ == model.rules_
        np.testing.assert_allclose(other.predict(X), factor * model.predict(X) + offset, rtol=1e-5)


def test_an_unfinished_generation_is_warned_about(diabetes, monkeypatch):
    """Columns that may not be all are used with a warning."""
    X, y = diabetes

    def generate(*arguments, **settings):
        return Generated(generate_rules(*arguments, **settings).rules, converged=False)

    monkeypatch.setattr(glrm, "generate_rules", generate)
    with pytest.warns(SolveLimitWarning, match="before all worthwhile rules were added") as caught:
        GlrmRegressor(3, source="own").fit(X, y)
    assert caught[0].filename == __file__


# --- classes --------------------------------------------------------------------------------------


def test_glrm_is_refitted(tumours):
    """The refit has the same rules and less loss; without it weights are those of the path."""
    X, y = tumours
    model = GlrmClassifier(4, source="own").fit(X, y)
    shrunk = clone(model).set_params(refit=False).fit(X, y)
    assert model.rules_ == shrunk.rules_
    assert len(model.rules_) == 4
    losses = [log_loss(y, each.predict_proba(X)) for each in (model, shrunk)]
    R = model.rules_.holds(X).astype(float)
    free = LogisticRegression(C=1e12, max_iter=1000).fit(R, y)
    assert log_loss(y, free.predict_proba(R)) <= losses[0] < losses[1]
    assert losses[0] == pytest.approx(log_loss(y, free.predict_proba(R)), rel=0.02)
    assert shrunk.predict_proba(X)[:, 1].mean() == pytest.approx(is_second(model, y).mean())
