import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from mossrules.baselines import GlrmRegressor, column_generation, glrm
from mossrules.baselines.column_generation import Beam, ColumnGeneration, Literals, count_literals
from mossrules.baselines.designs import Design
from mossrules.baselines.glrm import (
    Generated,
    choose_rules,
    generate_rules,
    prices_in_proportion,
    prices_of_length,
)
from mossrules.baselines.paths import solve_closely
from mossrules.candidates.rules import CandidatePool, Levels, Range, Rule
from mossrules.candidates.statistics import compute_statistics
from mossrules.estimators import candidates_for, search_parameters
from mossrules.exceptions import InvalidParameter, SolveLimitWarning
from mossrules.learning.stability_levels import count_untied
from support.oracles import encode, holds

WIDE = 10_000  # a beam that keeps everything


@pytest.fixture(scope="module")
def diabetes():
    """Return a table in the users' units and its target."""
    return load_diabetes(return_X_y=True, as_frame=True, scaled=False)


def mixed_table(rng, n):
    """Return columns of numbers, categories and booleans, some values missing, and a target."""
    x = np.round(rng.normal(size=n), 1)
    kind = rng.choice(["a", "b", "c"], n)
    flag = rng.random(n) < 0.4
    y = np.abs(x) + 2.0 * (kind == "b") * flag + rng.normal(size=n) / 2
    gaps = rng.random((2, n)) < 0.15
    X = pd.DataFrame({"x": np.where(gaps[0], np.nan, x), "kind": kind, "flag": flag})
    X.loc[gaps[1], "kind"] = None
    return X, y


def rows_of(rules, binning, X):
    """Return where rules hold, by the values themselves, as columns."""
    columns = {name: X[name].astype(object).where(X[name].notna(), None).to_numpy() for name in X}
    found = [holds(rule, binning, columns) for rule in rules]
    return np.column_stack(found).astype(float) if found else np.empty((len(X), 0))


def all_literals(X, binning):
    """Return by hand, from the values themselves, where each literal holds, as columns."""
    columns = []
    for name in X:
        values = X[name]
        missing = values.isna().to_numpy()
        if name == "kind":
            columns += [(values == level).to_numpy() for level in "abc"]
            columns += [(values != level).to_numpy() for level in "abc"]
        else:
            numbers = values.to_numpy(dtype=np.float64)
            columns += [numbers <= cut for cut in binning[name].cuts]
            columns += [numbers > cut for cut in binning[name].cuts]
        columns += [missing, ~missing]
    return np.column_stack(columns)


def all_rules(X, binning):
    """Return the rows of all conjunctions of one and two literals, and their lengths."""
    ones = all_literals(X, binning)
    twos = [ones[:, i] & ones[:, j] for i, j in itertools.combinations(range(ones.shape[1]), 2)]
    lengths = np.repeat([1, 2], [ones.shape[1], len(twos)])
    return np.column_stack([ones, *twos]), lengths


# --- literals -------------------------------------------------------------------------------------


def test_literals_are_all_conditions_of_one_cut_or_level():
    """Cuts have two sides, levels are met or left out, and to be missing is a level."""
    X = {"x": [1.0, 2.0, 3.0, np.nan], "kind": ["a", "b", "c", "a"], "flag": [True, False] * 2}
    literals = Literals.of(encode(X, [0.0, 1.0, 2.0, 3.0]))
    assert [str(condition) for condition in literals.conditions] == [
        *("x in bins 1..1", "x in bins 2..", "x in bins 1..2", "x in bins 3.."),
        *("x is missing", "x in bins 1.."),
        *("kind is a", "kind is not a", "kind is b", "kind is not b", "kind is c", "kind is not c"),
        *("flag in bins 1..1", "flag in bins 2.."),
    ]
    two = Literals.of(encode({"kind": ["a", "b", "a"], "same": ["z"] * 3}, [0.0, 1.0, 2.0]))
    assert [str(condition) for condition in two.conditions] == ["kind is a", "kind is b"]


def test_literals_that_go_together_are_longer_by_one():
    """Two literals make a rule of two exactly where that is said; all others make none or less."""
    rng = np.random.default_rng(0)
    X, y = mixed_table(rng, 200)
    literals = Literals.of(encode(X, y, n_bins=5))
    for i in range(len(literals)):
        beside = literals.beside(i)
        assert not beside[i]
        for j in np.flatnonzero(beside):
            assert literals.beside(j)[i]
            assert count_literals(literals.rule(frozenset((i, int(j))))) == 2
        for j in np.flatnonzero(~beside):
            same = literals.features[i] == literals.features[j]
            both = literals.accepts[i] & literals.accepts[j]
            # What is left out says nothing new, or is a level that a literal of its own names.
            assert same
            assert any(np.array_equal(both, one) for one in literals.accepts) or not both.any()


def test_literals_of_any_rule_are_counted():
    """A range has as many as ends, levels one or as many as are left out."""
    conditions = {
        Range("a", low=2, high=5): 2,
        Range("a", high=5, missing=True): 1,
        Range("a", 1, 0, missing=True): 1,
        Range("a"): 1,
        Levels("a", frozenset("xyz")): 1,
        Levels("a", frozenset("xyz"), inside=False): 3,
    }
    for condition, count in conditions.items():
        assert count_literals(Rule.of([condition])) == count
        assert count_literals(Rule.of([condition, Range("b", low=2)])) == count + 1


# --- the search -----------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 0.5), st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_a_wide_beam_finds_the_best_conjunction(seed, ratio, width):
    """The lowest reduced cost of all conjunctions of one or two literals, or that of a few."""
    rng = np.random.default_rng(seed)
    X, y = mixed_table(rng, 60)
    data = encode(X, y, n_bins=4)
    codes = next(iter(data.chunks)).codes
    literals = Literals.of(data)
    residual = rng.normal(size=60) / 60
    residual -= residual.mean()  # as an intercept leaves it
    prices = prices_in_proportion(ratio)(0.1, np.arange(3))
    rules, lengths = all_rules(X, data.binning)
    costs = prices[lengths] - np.abs(residual @ rules)
    found = Beam(literals, codes, WIDE, 2).search(residual, prices, 1e-9)
    assert bool(found) == (costs.min() < -1e-9)
    if found:
        assert found[0].cost == pytest.approx(costs.min(), abs=1e-9)
    for beam in (found, Beam(literals, codes, width, 2).search(residual, prices, 1e-9)):
        assert [each.cost for each in beam] == sorted(each.cost for each in beam)
        for members, cost in beam:
            (where,) = rows_of([literals.rule(members)], data.binning, X).T
            assert cost == pytest.approx(prices[len(members)] - abs(residual @ where), abs=1e-9)
            assert cost < -1e-9


def test_a_beam_goes_as_deep_as_it_is_allowed():
    """A conjunction of three is found step by step, and none longer than allowed."""
    rng = np.random.default_rng(0)
    X = rng.random((400, 4)) < 0.5
    y = (X[:, 0] & X[:, 1] & ~X[:, 3]).astype(float)
    data = encode(X, y, n_bins=2)
    residual = (y - y.mean()) / 400
    prices = np.full(5, 1e-3)
    for length in (1, 2, 3, 4):
        beam = Beam(Literals.of(data), next(iter(data.chunks)).codes, 1, length)
        best = beam.search(residual, prices, 0.0)[0]
        assert len(best.members) == min(length, 3)
    assert str(beam.literals.rule(best.members)) == (
        "x0 in bins 2.. and x1 in bins 2.. and x3 in bins 1..1"
    )


# --- the master problem ---------------------------------------------------------------------------


def objective(rows, z, weights, w, prices):
    """Return the objective of weights on 0/1 columns, with the intercept that is best."""
    left = z - rows @ w
    left = left - np.average(left, weights=weights)
    return 0.5 * np.average(left**2, weights=weights) + prices @ np.abs(w)


def lasso(rows, z, weights, prices):
    """Return scikit-learn's weights for columns that pay different prices."""
    model = Lasso(1.0, tol=1e-10, max_iter=1_000_000)
    return model.fit(rows / prices, z, sample_weight=weights).coef_ / prices


@pytest.mark.parametrize("strength", [0.3, 0.1, 0.03])
def test_the_master_is_the_lasso_of_scikit_learn(diabetes, strength):
    """With all rules of a pool as columns, dearer if longer, the objective is the same."""
    X, y = diabetes
    candidates = candidates_for(X, y, n_trees=25, max_depth=3)
    R = rows_of(candidates.pool.rules, candidates.binning, X)
    z = ((y - y.mean()) / y.std(ddof=0)).to_numpy()
    lengths = np.array([count_literals(rule) for rule in candidates.pool.rules])
    prices = prices_in_proportion(0.2)(strength, lengths)
    assert len(set(prices)) > 1
    found = solve_closely(Design.of_rules(candidates.statistics), prices, np.zeros(len(prices)))
    even = np.ones(len(z))
    assert objective(R, z, even, found, prices) == pytest.approx(
        objective(R, z, even, lasso(R, z, even, prices), prices), rel=1e-6
    )


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.4, 0.2, 0.1]), st.booleans())
@settings(max_examples=12, deadline=None)
def test_generated_columns_are_as_good_as_all_rules(seed, strength, weighted):
    """On all rules of one or two literals, enumerated by hand, there is no better solution."""
    rng = np.random.default_rng(seed)
    X, y = mixed_table(rng, 80)
    weights = rng.integers(1, 5, 80).astype(float) if weighted else np.ones(80)
    data = encode(X, y, n_bins=4, weights=weights if weighted else None)
    prices = prices_in_proportion(0.2)
    problem = ColumnGeneration.of(data, prices, width=WIDE, max_length=2)
    point = problem.solve(strength, np.zeros(0))
    assert point.converged
    z = y - np.average(y, weights=weights)
    z /= np.sqrt(np.average(z**2, weights=weights))
    own = rows_of(problem.rules, data.binning, X)
    own_lengths = np.array([len(members) for members in problem.columns], dtype=int)
    rules, lengths = all_rules(X, data.binning)
    every = prices(strength, lengths)
    best = objective(rules, z, weights, lasso(rules, z, weights, every), every)
    found = objective(own, z, weights, point.w, prices(strength, own_lengths))
    assert found == pytest.approx(best, rel=1e-6)


def test_generated_columns_have_the_sums_of_their_rules(diabetes):
    """The master that grows has the same sums as statistics of its rules; columns differ."""
    X, y = diabetes
    data = encode(X, y, weights=np.linspace(0.5, 2, len(y)), chunk_rows=100)
    problem = ColumnGeneration.of(data, prices_in_proportion(0.2), width=3, max_length=4)
    for strength in (0.3, 0.2, 0.1):
        problem.solve(strength, np.zeros(0))
    assert len(set(problem.columns)) == len(set(problem.rules)) == len(problem.columns) > 10
    pool = CandidatePool(tuple(problem.rules), (frozenset(),) * len(problem.rules), 1)
    expected = Design.of_rules(compute_statistics(data, pool))
    np.testing.assert_allclose(problem.master.loss.C, expected.C, atol=1e-6)
    np.testing.assert_allclose(problem.master.loss.c, expected.c, atol=1e-6)
    np.testing.assert_allclose(problem.master.loss.means, expected.means)
    assert problem.master.loss.yy == pytest.approx(expected.yy)


def test_prices_grow_with_length():
    """In proportion to the price of any rule, or by a fixed amount for each literal."""
    lengths = np.array([1, 2, 5])
    np.testing.assert_allclose(prices_in_proportion(0.2)(0.1, lengths), [0.06, 0.07, 0.1])
    np.testing.assert_allclose(prices_of_length(0.02)(0.1, lengths), [0.06, 0.07, 0.1])
    np.testing.assert_allclose(prices_of_length(0.02)(0.01, lengths), [0.015, 0.025, 0.055])


# --- the path -------------------------------------------------------------------------------------


@pytest.mark.parametrize("prices", [prices_in_proportion(0.2), prices_of_length(0.005)])
@pytest.mark.parametrize("seed", range(3))
def test_a_path_of_generated_columns_ends_as_if_all_rules_were_there(prices, seed):
    """Where the path ends, the columns that were generated on it are as good as all rules."""
    X, y = mixed_table(np.random.default_rng(seed), 150)
    data = encode(X, y, n_bins=4)
    generated = generate_rules(data, prices, 6, width=WIDE, max_length=2)
    assert generated.converged
    pool = CandidatePool(generated.rules, (frozenset(),) * len(generated.rules), 1)
    point = choose_rules(
        Design.of_rules(compute_statistics(data, pool)), generated.rules, prices, 6
    )
    assert 5 <= point.n_rules <= 6
    z = (y - y.mean()) / y.std()
    even = np.ones(150)
    own = rows_of(generated.rules, data.binning, X)
    own_lengths = np.array([count_literals(rule) for rule in generated.rules])
    rules, lengths = all_rules(X, data.binning)
    every = prices(point.strength, lengths)
    assert objective(own, z, even, point.w, prices(point.strength, own_lengths)) == pytest.approx(
        objective(rules, z, even, lasso(rules, z, even, every), every), rel=1e-6
    )


# --- the learner ----------------------------------------------------------------------------------


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


def test_a_fit_is_a_search_and_a_choice(diabetes):
    """Candidates found before give the same bits, and so do rows in another order."""
    X, y = diabetes
    order = np.random.default_rng(0).permutation(len(y))
    for source in ("pool", "own"):
        model = GlrmRegressor(source=source, n_trees=60, random_state=7).fit(X, y)
        shuffled = clone(model).fit(X.iloc[order], y.iloc[order])
        assert shuffled.rules_.to_json() == model.rules_.to_json()
    candidates = candidates_for(X, y, **search_parameters(model))
    again = GlrmRegressor().fit_candidates(candidates, target="target")
    expected = GlrmRegressor(n_trees=60, random_state=7).fit(X, y)
    assert again.rules_.to_json() == expected.rules_.to_json()
    with pytest.raises(InvalidParameter, match="source is 'own'"):
        model.fit_candidates(candidates)


def test_missing_values_categories_and_weights_are_used():
    """A table of all kinds is learned from, and integer weights are repeated rows."""
    rng = np.random.default_rng(0)
    X, _ = mixed_table(rng, 200)
    y = 3.0 * X["x"].isna() + 2.0 * (X["kind"] == "b") + X["flag"] + rng.normal(size=200) / 10
    weights = rng.integers(1, 4, 200)
    repeated = np.repeat(np.arange(200), weights)
    for source, variant in itertools.product(("pool", "own"), ("published", "paper")):
        model = GlrmRegressor(10, source=source, variant=variant, n_trees=50)
        assert model.fit(X, y).score(X, y) > 0.9
        assert set(model.rules_.features) == {"x", "kind", "flag"}
        weighted = clone(model).fit(X, y, sample_weight=weights)
        assert weighted.rules_ == clone(model).fit(X.iloc[repeated], y.iloc[repeated]).rules_
        assert clone(model).fit(X, y, sample_weight=rng.random(200)).score(X, y) > 0.9


def test_without_candidates_the_mean_is_predicted():
    """A constant target, or columns that are constant, leave no rules, and no strength."""
    varied, constant = [[0.0], [1.0], [2.0]], [[5.0], [5.0], [5.0]]
    for source, (X, y) in itertools.product(
        ("pool", "own"), ((varied, [4.0, 4.0, 4.0]), (constant, [3.0, 4.0, 5.0]))
    ):
        model = GlrmRegressor(source=source, n_trees=5).fit(X, y)
        assert (len(model.rules_), model.predict([[7.0]]).tolist()) == (0, [4.0])
        assert np.isnan(model.strength_)


def test_a_target_that_no_rule_explains_leaves_the_mean():
    """Where all rules have the mean of the target, none of them gets a weight."""
    X, y = [[0.0], [0.0], [1.0], [1.0]], [0.0, 1.0, 0.0, 1.0]
    for source in ("pool", "own"):
        model = GlrmRegressor(source=source, n_trees=20).fit(X, y)
        assert (len(model.rules_), model.predict(X).tolist()) == (0, [0.5] * 4)


def test_an_unfinished_generation_is_warned_about(diabetes, monkeypatch):
    """Columns that may not be all are used with a warning."""
    X, y = diabetes

    def generate(*arguments, **settings):
        return Generated(generate_rules(*arguments, **settings).rules, converged=False)

    monkeypatch.setattr(glrm, "generate_rules", generate)
    with pytest.warns(SolveLimitWarning, match="before all worthwhile rules were added") as caught:
        GlrmRegressor(3, source="own").fit(X, y)
    assert caught[0].filename == __file__


def test_rounds_of_generation_are_limited(diabetes, monkeypatch):
    """Where the limit comes first, the point says that it is not final."""
    X, y = diabetes
    monkeypatch.setattr(column_generation, "MAX_ROUNDS", 1)
    problem = ColumnGeneration.of(encode(X, y), prices_in_proportion(0.2), width=1, max_length=2)
    assert not problem.solve(0.1, np.zeros(0)).converged


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"length_price": -1}, "length_price is -1; pass a finite number of at least 0"),
        ({"beam_width": 0}, "beam_width is 0"),
        ({"max_length": 0}, "max_length is 0"),
        ({"max_rules": 0}, "max_rules is 0"),
    ],
)
def test_parameters_are_checked(parameters, message):
    """What cannot be is refused before any work, by name."""
    with pytest.raises(InvalidParameter, match=message):
        GlrmRegressor(**parameters).fit(None, None)


@parametrize_with_checks(
    [
        GlrmRegressor(refit=False, n_trees=30),
        GlrmRegressor(5, source="own", beam_width=3, max_length=3),
        GlrmRegressor(variant="paper", n_trees=100),
    ]
)
def test_scikit_learn_is_content(estimator, check):
    """All of scikit-learn's checks pass, with none that is expected to fail."""
    check(estimator)
