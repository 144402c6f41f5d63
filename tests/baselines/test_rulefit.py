import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.linear_model import lasso_path as sklearn_path
from sklearn.utils.estimator_checks import parametrize_with_checks

from mossrules import find_candidates
from mossrules.baselines import RuleFitRegressor, designs, rulefit, rulefit_columns
from mossrules.baselines.boosted_trees import BoostedTrees, _Columns, rows_per_tree
from mossrules.baselines.rulefit_columns import LinearTerms, bootstrap_counts, first_tree_means
from mossrules.candidates.generators import Generator, tree_paths
from mossrules.candidates.rules import Rule, condition_of_step
from mossrules.candidates.search import encode_rows
from mossrules.candidates.statistics import rule_columns
from mossrules.data.chunks import row_ranges
from mossrules.data.rows import Rows
from mossrules.data.table import Table
from mossrules.estimators import candidates_for
from mossrules.exceptions import InvalidColumn, InvalidParameter, SolveLimitWarning
from mossrules.learning.stability_levels import count_untied

LIMIT = {"max_iter": 200_000, "tol": 1e-12}  # of scikit-learn's descent


@pytest.fixture(scope="module")
def diabetes():
    """Return a table in the users' units and its target."""
    return load_diabetes(return_X_y=True, as_frame=True, scaled=False)


@pytest.fixture(scope="module")
def candidates(diabetes):
    """Return the candidates that learners share."""
    return candidates_for(*diabetes, n_trees=100)


def holds(candidates, X):
    """Return all candidates' columns of 0 and 1."""
    codes = candidates.binning.encode(Table.from_any(X))
    return rule_columns(candidates.pool.rules, candidates.binning, codes).T.astype(float)


def scaled(y):
    """Return the target with mean 0 and variance 1."""
    return ((y - y.mean()) / y.std(ddof=0)).to_numpy()


def mixed_table(seed=0, n=150):
    """Return numbers, flags, words and missing values, and a target."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "kind": rng.choice(["oak", "ash", "elm", None], n),
            "wet": rng.random(n) < 0.5,
            "age": rng.integers(0, 40, n),
            "sex": rng.choice(["m", "f"], n),
        }
    )
    y = 2.0 * (X["kind"] == "oak") + X["size"].fillna(2.0) + X["wet"] * (X["age"] > 20)
    return X, y + 0.1 * rng.normal(size=n)


def rows_as_given(X, y, weights=None):
    """Return rows to learn from in the order that they have."""
    return Rows.from_table(Table.from_any(X), y, weights, keeps_order=True)


@parametrize_with_checks(
    [
        RuleFitRegressor(n_trees=50),
        RuleFitRegressor(5, n_trees=20, source="own", linear_terms=True, penalty="cv"),
        RuleFitRegressor(8, n_trees=50, max_features=1 / 3, variant="paper"),
    ]
)
def test_scikit_learn_is_content(estimator, check):
    """All of scikit-learn's checks pass, with none that is expected to fail."""
    check(estimator)


# --- the choice -----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 6, 15])
def test_the_published_choice_is_on_the_path_of_scikit_learn(diabetes, candidates, k):
    """Of scikit-learn's hundred points, the model is the last with at most k rules."""
    X, y = diabetes
    R = holds(candidates, X)
    Z = R - R.mean(axis=0)
    alphas = np.geomspace(1, 1e-3, 100)[:60] * np.abs(Z.T @ scaled(y)).max() / len(y)
    weights = sklearn_path(Z, scaled(y), alphas=alphas, **LIMIT)[1]
    sizes = (np.abs(weights) > 1e-5).sum(axis=0)
    last = np.flatnonzero(np.maximum.accumulate(sizes) <= k)[-1]
    model = RuleFitRegressor(k).fit_candidates(candidates)
    assert model.alpha_ == pytest.approx(alphas[last])
    assert len(model.rules_) == sizes[last]
    expected = y.mean() + y.std(ddof=0) * Z @ weights[:, last]
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-3)


def test_the_path_may_come_back(monkeypatch):
    """A point with few weights counts even if one before it had more, unless it had far more."""
    sizes = [0, 1, 3, 2, 4, 5, 2]
    points = [rulefit.LassoPoint(1.0, (np.arange(9) < size).astype(float), 0.0) for size in sizes]
    monkeypatch.setattr(rulefit, "lasso_path", lambda *_, **__: iter(points))
    found = rulefit.points_of(None, 2, n_alphas=7)
    assert [point.size for point in found] == [0, 1, 2]


@pytest.mark.parametrize("k", [3, 15])
def test_the_choice_of_the_paper_is_on_its_path(diabetes, candidates, k):
    """The first of scikit-learn's thousand points with the size that ties leave, on raw columns."""
    X, y = diabetes
    size = count_untied(candidates.statistics.counts, k)
    R = holds(candidates, X)
    M = R * (R.T @ scaled(y) / R.sum(axis=0))
    alphas = np.geomspace(1, 1e-3, 1000)[:400] * np.abs(M.T @ scaled(y)).max() / len(y)
    weights = sklearn_path(M, scaled(y), alphas=alphas, **LIMIT)[1]
    sizes = (np.abs(weights) > 1e-5).sum(axis=0)
    first = int(np.argmax(sizes == size))
    model = RuleFitRegressor(k, variant="paper").fit_candidates(candidates)
    assert sizes[first] == size == len(model.rules_)
    assert model.alpha_ == pytest.approx(alphas[first], rel=0.01)
    assert model.rules_.intercept == pytest.approx(y.mean())
    chosen = {candidates.pool.rules[i] for i in np.flatnonzero(weights[:, first])}
    assert set(model.rules_) == chosen
    np.testing.assert_allclose(
        model.predict(X), y.mean() + y.std(ddof=0) * M @ weights[:, first], rtol=0.01
    )


def test_a_tree_splits_where_its_bootstrap_sample_splits_best(diabetes):
    """The counts of a tree's rows are those it was grown with: no other cut is as good by them."""
    X, y = diabetes
    data = encoded(X, y)
    codes = np.concatenate([chunk.codes for chunk in data.chunks], axis=1)
    found = find_candidates(
        X, y, n_trees=9, max_depth=1, n_bins=10, max_features=1.0, random_state=7
    )
    for tree in range(9):
        counts = bootstrap_counts(7, tree, 0, len(y))
        assert abs(counts.sum() - len(y)) < 5 * np.sqrt(len(y))

        def gain(left, counts=counts):
            sides = [counts * left, counts * ~left]
            return sum((w @ y) ** 2 / max(w.sum(), 1) for w in sides)

        best = max(gain(column <= code) for column in codes for code in range(1, 10))
        rules = [i for i, trees in enumerate(found.pool.trees) if tree in trees]
        assert len(rules) == 2
        split = gain(holds(found, X)[:, rules[0]].astype(bool))
        assert split == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_means_of_the_first_tree_are_over_its_rows(diabetes, monkeypatch, weighted):
    """Each rule has the mean of the first tree that contains it, whatever the chunks."""
    X, y = diabetes
    w = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    found = find_candidates(X, y, n_trees=30, sample_weight=w, random_state=2)
    monkeypatch.setattr(rulefit_columns, "row_ranges", lambda n: row_ranges(n, chunk_rows=100))
    means = first_tree_means(found, rows_as_given(X, y.to_numpy(), w), 2)
    target = (y - found.statistics.target_mean) / found.statistics.target_scale
    weights = np.ones(len(y)) if w is None else w
    for column, trees, mean in zip(holds(found, X).T, found.pool.trees, means, strict=True):
        counts = weights * column * bootstrap_counts(2, min(trees), 0, len(y))
        assert mean == pytest.approx(np.average(target, weights=counts))


def test_the_paper_may_take_means_of_the_first_tree(diabetes):
    """Columns of noisier means give another path; it is scikit-learn's on those columns."""
    X, y = diabetes
    model = RuleFitRegressor(8, variant="paper", means="first", n_trees=60, random_state=1)
    model.fit(X, y)
    rows = Rows.from_table(Table.from_any(X), y.to_numpy())
    M = holds(model.candidates_, X) * first_tree_means(model.candidates_, rows, 1)
    fit = Lasso(model.alpha_, fit_intercept=False, **LIMIT).fit(M, scaled(y))
    chosen = np.flatnonzero(np.abs(fit.coef_) > 1e-6)
    assert set(model.rules_) == {model.pool_.rules[i] for i in chosen}
    expected = y.mean() + y.std(ddof=0) * fit.predict(M)
    np.testing.assert_allclose(model.predict(X), expected, rtol=0.01)
    with pytest.raises(InvalidParameter, match="needs rows"):
        model.fit_candidates(model.candidates_)


def test_where_no_point_has_the_size_there_are_fewer(candidates, monkeypatch):
    """If the path jumps over the size, the last point before it is taken; else the first."""
    size = count_untied(candidates.statistics.counts, 6)

    def choose(sizes):
        points = [
            rulefit.LassoPoint(1.0, (np.arange(len(candidates)) < each).astype(float), 0.0)
            for each in sizes
        ]
        monkeypatch.setattr(rulefit, "lasso_path", lambda *_, **__: iter(points))
        return len(RuleFitRegressor(6, variant="paper").fit_candidates(candidates).rules_)

    assert size > 2
    assert choose([0, 1, size - 1, size + 1]) == size - 1
    assert choose([0, 1, size, 1]) == size


@pytest.mark.parametrize("variant", ["published", "paper"])
def test_a_descent_cut_short_says_so(candidates, monkeypatch, variant):
    """Weights that are not yet the best for their price come with a warning, at the user's line."""
    monkeypatch.setattr(designs, "MAX_SWEEPS", 1)
    with pytest.warns(SolveLimitWarning, match="gap of .* left") as caught:
        RuleFitRegressor(8, variant=variant).fit_candidates(candidates)
    assert [each.filename for each in caught] == [__file__]


def test_folds_choose_the_penalty(diabetes):
    """Where most of the target is noise, fewer rules than allowed are best on rows left out."""
    X, y = diabetes
    rng = np.random.default_rng(0)
    noise = pd.Series(rng.normal(size=len(y)) + 0.4 * scaled(y))
    model = RuleFitRegressor(15, penalty="cv", n_trees=60).fit(X, noise)
    smallest = RuleFitRegressor(15, n_trees=60).fit(X, noise)
    assert model.alpha_ > smallest.alpha_
    assert len(model.rules_) < len(smallest.rules_)


def test_errors_on_folds_are_those_of_scikit_learn(diabetes, monkeypatch):
    """Each price's error is that of scikit-learn's models of the other rows."""
    X, y = diabetes
    seen = []

    def best(points, folds):
        seen.append((points, folds))
        return points[-1]

    monkeypatch.setattr(rulefit, "_best_of_squares", best)
    some = find_candidates(X, y, n_trees=20)
    rows = rows_as_given(X, y.to_numpy())
    RuleFitRegressor(8, penalty="cv")._choose(some, rows)
    ((points, folds),) = seen
    alphas = [point.alpha for point in points[1::6]]
    R, target = holds(some, X), scaled(y)
    expected = np.zeros(len(alphas))
    for fold in range(3):
        out = np.arange(len(y)) % 3 == fold
        for i, alpha in enumerate(alphas):
            fit = Lasso(alpha, **LIMIT).fit(R[~out], target[~out])
            expected[i] += np.sum((target[out] - fit.predict(R[out])) ** 2)
    errors = folds.errors(
        lambda part: [p.weights for p in rulefit.lasso_at(part, np.array(alphas))]
    )
    np.testing.assert_allclose(errors, expected / len(y), rtol=1e-3)


# --- linear terms ---------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_linear_terms_are_columns_of_the_lasso(weighted):
    """With rules and linear terms side by side, scikit-learn finds the same model."""
    X, y = mixed_table()
    y = y + 3 * X["age"] / 40 + X["size"].fillna(0)
    w = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    model = RuleFitRegressor(6, linear_terms=True, n_trees=40).fit(X, y, sample_weight=w)
    assert len(model.linear_) > 0
    assert 0 < len(model.rules_) + len(model.linear_) <= 6
    weights = np.ones(len(y)) if w is None else w
    numbers = X[["size", "age"]].to_numpy(float)
    columns = []
    for x in numbers.T:
        here = ~np.isnan(x)
        bounds = np.quantile(x[here], [0.025, 0.975], weights=weights[here], method="inverted_cdf")
        cut = np.clip(x, *bounds)
        cut = np.where(here, cut - np.average(cut[here], weights=weights[here]), 0)
        columns.append(0.4 * cut / np.sqrt(np.average(cut**2, weights=weights)))
    A = np.column_stack([holds(model.candidates_, X), *columns])
    mean = np.average(y, weights=weights)
    scale = np.sqrt(np.average((y - mean) ** 2, weights=weights))
    fit = Lasso(model.alpha_, **LIMIT).fit(A, (y - mean) / scale, sample_weight=w)
    np.testing.assert_allclose(
        model.predict(X), mean + scale * fit.predict(A), rtol=1e-2, atol=1e-3
    )
    chosen = np.abs(fit.coef_[-2:]) > 1e-6
    assert list(model.linear_.names) == [
        n for n, c in zip(["size", "age"], chosen, strict=True) if c
    ]


def test_predictions_are_rules_plus_linear_terms():
    """Each term adds its weight per unit within its bounds; the rule set is not all then."""
    X, y = mixed_table()
    y = y + 3 * X["age"] / 40
    model = RuleFitRegressor(8, linear_terms=True, n_trees=40, max_features=1 / 3).fit(X, y)
    terms = model.linear_
    added = model.predict(X) - model.rules_.predict(X)
    expected = np.zeros(len(y))
    for term, name in enumerate(terms.names):
        values = X[name].clip(terms.low[term], terms.high[term]) - terms.means[term]
        expected += terms.weights[term] * values.fillna(0.0)
    np.testing.assert_allclose(added, expected, atol=1e-9)
    assert "age" in repr(terms)
    assert "Linear terms" in repr(terms)


def test_importance_counts_rules_and_linear_terms():
    """A column has its share of the rules that use it, and the spread of its own term."""
    X, y = mixed_table()
    model = RuleFitRegressor(8, linear_terms=True, n_trees=40, max_features=1 / 3).fit(
        X, y + 3 * X["age"] / 40
    )
    expected = dict.fromkeys(X, 0.0)
    for rule, weight, support in zip(
        model.rules_, model.rules_.weights, model.rules_.support, strict=True
    ):
        for feature in rule.features:
            expected[feature] += abs(weight) * np.sqrt(support * (1 - support)) / len(rule)
    added = model.linear_.columns(Table.from_any(X)) * model.linear_.weights
    for name, spread in zip(model.linear_.names, added.std(axis=0), strict=True):
        expected[name] += spread
    found = model.feature_importances_
    assert len(model.linear_) > 0
    np.testing.assert_allclose(found, np.array(list(expected.values())) / sum(expected.values()))


def test_without_linear_terms_there_are_none(diabetes, candidates):
    """The rule set is the whole model, bit for bit, and says so."""
    X, _ = diabetes
    model = RuleFitRegressor(5).fit_candidates(candidates)
    assert len(model.linear_) == 0
    assert repr(model.linear_) == "No linear terms."
    np.testing.assert_array_equal(model.predict(X), model.rules_.predict(X))


def test_columns_without_spread_have_no_term():
    """A column that its bounds leave constant, one all missing, and words make no terms."""
    X = pd.DataFrame({"a": [0.0] * 99 + [1.0], "b": [np.nan] * 100, "c": ["x", "y"] * 50,
                      "d": np.arange(100.0), "e": [True, False] * 50})  # fmt: skip
    terms = LinearTerms.of_rows(rows_as_given(X, np.arange(100.0)))
    assert terms.names == ("d",)
    assert (terms.low[0], terms.high[0]) == (2.0, 97.0)
    assert len(LinearTerms.of_rows(rows_as_given(X[["b", "c"]], np.arange(100.0)))) == 0


def test_columns_keep_their_type():
    """A numeric column that became words is refused; one that lost all its values is missing."""
    X, y = mixed_table()
    y = y + 3 * X["age"] / 40
    model = RuleFitRegressor(8, linear_terms=True, n_trees=40, max_features=1 / 3).fit(X, y)
    assert "age" in model.linear_.names
    terms = LinearTerms(("age",), (3,), *(np.array([x]) for x in (0.0, 9.0, 4.0, 1.0, 2.0)))
    table = Table.from_any(X.assign(age="old"))
    with pytest.raises(InvalidColumn, match="'age' was numeric in training and is categorical now"):
        terms.predict(table)
    np.testing.assert_array_equal(terms.predict(Table.from_any(X.assign(age=None))), 0.0)
    with pytest.raises(InvalidColumn, match="infinite"):
        terms.predict(Table.from_any(X.assign(age=np.inf)))


# --- boosted trees --------------------------------------------------------------------------------


def encoded(X, y, **options):
    """Return a table as trees see it."""
    spans = row_ranges(len(X), chunk_rows=40)
    rows = Rows.from_table(
        Table.from_any(X), y.to_numpy(), options.get("weights"), spans=spans, keeps_order=True
    )
    return encode_rows(rows, BoostedTrees(), n_bins=10)


def test_rules_hold_where_rows_end_up():
    """Leaves' rules are true on exactly the rows that scikit-learn's tree sends there."""
    X, y = mixed_table()
    data = encoded(X, y)
    columns = _Columns.of(data)
    codes = np.concatenate([chunk.codes for chunk in data.chunks], axis=1)
    trees = BoostedTrees(30, tree_size=7, learning_rate=0.3)
    n_levels = 0
    for tree in trees._grow(data, columns.values):
        paths = list(
            tree_paths(tree, lambda node, t=tree: columns.steps(t, node), inner_nodes=False)
        )
        rules = [
            Rule.of(condition_of_step(s, data.binning.columns[s.feature]) for s in path)
            for path in paths
        ]
        n_levels += sum(columns.levels[f] is not None for f in tree.feature if f >= 0)
        leaves = tree.apply(columns.values)
        ours = rule_columns(rules, data.binning, codes)
        assert (ours.sum(axis=0) == 1).all()
        groups = {tuple(np.flatnonzero(leaves == leaf)) for leaf in np.unique(leaves)}
        assert {tuple(np.flatnonzero(row)) for row in ours if row.any()} == groups
    assert n_levels > 0


def test_trees_are_boosted():
    """Each tree is fitted to what those before it leave, on rows drawn without replacement."""
    X, y = mixed_table()
    data = encoded(X, y)
    columns = _Columns.of(data)
    rate = 0.2
    target = np.concatenate([chunk.target for chunk in data.chunks]).astype(float)
    residuals = target - target.mean()
    errors = [residuals.var()]
    for tree in BoostedTrees(40, learning_rate=rate)._grow(data, columns.values):
        assert tree.n_node_samples[0] == rows_per_tree(150) == 75
        values = tree.value[:, 0, 0]
        # The mean over drawn rows of what the tree was fitted to is near that of our residuals.
        assert abs(values[0] - residuals.mean()) < 4 * residuals.std() / np.sqrt(75)
        residuals = residuals - rate * values[tree.apply(columns.values)]
        errors.append(residuals.var())
    assert errors[-1] < 0.2 * errors[0]


def test_sizes_of_trees_are_as_published():
    """Two leaves plus a whole, exponential number; of many rows, a small share is drawn."""
    rng = np.random.default_rng(0)
    sizes = BoostedTrees(20_000, tree_size=4).tree_sizes(rng)
    assert sizes.min() == 2
    rate = np.exp(-1 / 2)
    assert sizes.mean() == pytest.approx(2 + rate / (1 - rate), abs=0.05)
    assert set(BoostedTrees(50, tree_size=2).tree_sizes(rng)) == {2}
    assert [rows_per_tree(n) for n in (2, 100, 400, 10_000)] == [2, 50, 200, 700]


def test_boosted_trees_are_a_generator(diabetes):
    """find_candidates takes them as it takes a forest; all nodes but the root are rules."""
    X, y = diabetes
    trees = BoostedTrees(30, seed=3)
    assert isinstance(trees, Generator)
    done = []
    found = find_candidates(X, y, generator=trees, inner_nodes=True,
                            progress=lambda *each: done.append(each))  # fmt: skip
    assert found.pool.n_trees == 30
    assert ("boosting trees", 30, 30) in done
    model = RuleFitRegressor(5, source="own", n_trees=30, random_state=3)
    assert find_candidates(X, y, generator=trees).pool.rules != found.pool.rules
    assert model.fit(X, y).pool_.n_trees == 30
    assert clone(model).fit(X[::-1], y[::-1]).rules_.to_json() == model.rules_.to_json()
    other = clone(model).set_params(random_state=4).fit(X, y)
    assert other.pool_.rules != model.pool_.rules


def test_weights_count_in_boosting():
    """Rows of weight zero are as if they were not there, and equal weights are no weights."""
    X, y = mixed_table()
    X = X[["age", "size"]]
    w = np.where(np.arange(150) < 100, 1.5, 0.0)
    pools = [
        find_candidates(table, target, generator=BoostedTrees(30), sample_weight=weights).pool
        for table, target, weights in ((X, y, w), (X[:100], y[:100], None), (X, y, None))
    ]
    assert pools[0] == pools[1]
    assert pools[0] != pools[2]
    heavy = np.where(X["age"] > 20, 5.5, 0.5)
    pool = find_candidates(X, y, generator=BoostedTrees(30), sample_weight=heavy).pool
    assert pool != pools[2]


@pytest.mark.parametrize("linear_terms", [False, True])
@pytest.mark.parametrize("source", ["pool", "own"])
def test_tables_are_taken_as_they_are(linear_terms, source):
    """Missing values and categories are there, and the order of rows makes no difference."""
    X, y = mixed_table()
    model = RuleFitRegressor(10, source=source, linear_terms=linear_terms, n_trees=60, penalty="cv")
    order = np.random.default_rng(0).permutation(len(y))
    fitted = model.fit(X, y)
    again = clone(model).fit(X.iloc[order], y.iloc[order])
    assert model.score(X, y) > 0.5
    assert again.rules_.to_json() == fitted.rules_.to_json()
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))


# --- as an estimator ------------------------------------------------------------------------------


def test_parameters_are_those_promised():
    """Names and defaults of the constructor are the documented ones."""
    assert RuleFitRegressor().get_params() == {
        "max_rules": 15, "linear_terms": False, "penalty": "smallest", "means": "all",
        "n_trees": 2000, "max_depth": 2, "n_bins": 8, "max_features": 0.5, "generator": "forest",
        "tree_size": 4, "learning_rate": 0.01, "source": "pool", "variant": "published",
        "random_state": None, "n_jobs": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"linear_terms": 2}, "linear_terms is 2"),
        ({"penalty": "best"}, "penalty is 'best'; choose from 'smallest', 'cv'"),
        ({"variant": "paper", "linear_terms": True}, "rules alone"),
        ({"tree_size": 1.5}, "tree_size is 1.5"),
        ({"means": "last"}, "means is 'last'"),
        ({"means": "first"}, "means='first' is for variant='paper'"),
        ({"means": "first", "variant": "paper", "source": "own"}, "source='pool'"),
        ({"means": "first", "variant": "paper", "generator": "noisy-target"}, "'forest'"),
        ({"means": "first", "variant": "paper", "random_state": object()}, "an integer"),
        ({"learning_rate": 1.5}, "learning_rate is 1.5; pass a share"),
    ],
)
def test_parameters_are_checked(parameters, message):
    """What cannot be is refused before any work."""
    with pytest.raises(InvalidParameter, match=message):
        RuleFitRegressor(**parameters).fit(None, None)


def test_what_needs_rows_says_so(candidates):
    """Linear terms and folds cannot come from candidates alone."""
    for parameters in ({"linear_terms": True}, {"penalty": "cv"}):
        with pytest.raises(InvalidParameter, match="need rows"):
            RuleFitRegressor(**parameters).fit_candidates(candidates)


def test_a_constant_target_has_no_terms(diabetes):
    """The mean is the model, with neither rules nor linear terms."""
    X, y = diabetes
    model = RuleFitRegressor(linear_terms=True, n_trees=10).fit(X, np.full(len(y), 2.5))
    assert (len(model.rules_), len(model.linear_), model.alpha_) == (0, 0, 0.0)
    np.testing.assert_array_equal(model.predict(X), 2.5)
    np.testing.assert_array_equal(model.feature_importances_, 0.0)


@pytest.mark.slow
def test_the_package_on_pypi_finds_much_the_same(diabetes):
    """The model is near that of `imodels`, which grows trees and cuts on its own."""
    pytest.importorskip("six", reason="imodels needs six, which is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = pytest.importorskip("imodels", reason="imodels from PyPI is not installed")
        X, y = diabetes
        other = theirs.RuleFitRegressor(max_rules=15, include_linear=False, random_state=0)
        other.fit(X.to_numpy(), y.to_numpy())
        expected = other.predict(X.to_numpy())
    ours = RuleFitRegressor(15, source="own", penalty="cv", n_trees=60).fit(X, y)
    assert np.corrcoef(ours.predict(X), expected)[0, 1] > 0.93
    best = LinearRegression().fit(expected[:, None], y)  # both shrink, and not by the same
    assert ours.score(X, y) == pytest.approx(best.score(expected[:, None], y), abs=0.08)
