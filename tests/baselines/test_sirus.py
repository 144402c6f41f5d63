import numpy as np
import pytest
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.linear_model import Ridge

from mossrules.baselines import SirusClassifier, SirusRegressor, sirus
from mossrules.baselines.frequent_rules import independent_rules, settled_trees
from mossrules.data.rows import read_rows
from mossrules.exceptions import InvalidParameter, SolveLimitWarning
from mossrules.learning.fit import find_in_rows
from support.baseline_cases import is_second


@pytest.fixture(scope="module")
def candidates(diabetes):
    """Return the candidates that learners share."""
    return find_in_rows(read_rows(*diabetes), n_trees=200)


# --- which rules ----------------------------------------------------------------------------------


def test_the_variant_of_the_paper_takes_the_most_frequent_rules(candidates):
    """Sorting by counts gives the rules, less those that tie with the first that is left out."""
    counts = candidates.pool.counts
    for k in (1, 2, 5, 15):
        model = SirusRegressor(k, variant="paper").fit_candidates(candidates)
        kth_next = sorted(counts, reverse=True)[k]
        expected = {
            rule
            for rule, count in zip(candidates.pool.rules, counts, strict=True)
            if count > kth_next
        }
        assert set(model.rules_) == expected


def test_the_variant_of_the_paper_has_weights_of_a_small_ridge(diabetes, candidates):
    """Weights are those of scikit-learn's ridge of 0.001 on columns of the rules' mean targets."""
    X, y = diabetes
    scaled = (y - y.mean()) / y.std(ddof=0)
    model = SirusRegressor(10, variant="paper").fit_candidates(candidates)
    R = model.rules_.holds(X).astype(float)
    M = R * (R.T @ scaled / R.sum(axis=0))
    expected = Ridge(alpha=1e-3).fit(M, scaled).predict(M) * y.std(ddof=0) + y.mean()
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-5)


def test_only_frequent_rules_are_taken(candidates):
    """A threshold on the share of trees bounds both variants; above all shares none is left."""
    share = float(np.sort(candidates.pool.proportions)[-4])
    few = SirusRegressor(15, p0=share, variant="paper").fit_candidates(candidates)
    assert len(few.rules_) == 3
    for variant in ("published", "paper"):
        none = SirusRegressor(p0=0.99, variant=variant).fit_candidates(candidates)
        assert len(none.rules_) == 0
        assert none.rules_.intercept == pytest.approx(candidates.statistics.target_mean)
    model = SirusRegressor(15, p0=share).fit_candidates(candidates)
    assert (model.rules_.proportion > share).all()


def test_inner_nodes_are_rules_of_its_own_forest(diabetes):
    """Its own source has inner nodes for candidates beside the leaves that all learners share."""
    X, y = diabetes
    rows = read_rows(X, y)
    shared = SirusRegressor(n_trees=50).fit(X, y)
    assert shared.pool_.rules == find_in_rows(rows, n_trees=50).pool.rules
    own = SirusRegressor(n_trees=50, source="own").fit(X, y)
    assert own.pool_.rules == find_in_rows(rows, n_trees=50, inner_nodes=True).pool.rules
    assert set(shared.pool_.rules) < set(own.pool_.rules)
    assert min(map(len, own.rules_)) == 1


def test_the_published_forest_grows_until_it_is_settled(diabetes, monkeypatch):
    """With n_trees="auto" the forest has the trees that agreement asks for, whatever the start."""
    X, y = diabetes
    X = X[["bmi", "s5", "bp"]]
    monkeypatch.setattr(sirus, "AGREEMENT", 0.9)
    search = {"n_bins": 10, "max_features": 1 / 3}
    model = SirusRegressor(5, source="own", n_trees="auto", **search).fit(X, y)
    n_trees = model.pool_.n_trees
    assert n_trees % 1000 == 0
    assert n_trees > 1000
    assert (
        model.rules_.to_json()
        == clone(model).set_params(n_trees=n_trees).fit(X, y).rules_.to_json()
    )
    pool = find_in_rows(read_rows(X, y), n_trees=n_trees, inner_nodes=True, **search).pool
    assert settled_trees(pool, 0.9) == n_trees
    monkeypatch.setattr(sirus, "MAX_TREES", 1000)
    with pytest.warns(SolveLimitWarning, match="1000 trees would still not agree"):
        SirusRegressor(5, source="own", n_trees="auto", **search).fit(X, y)


# --- weights --------------------------------------------------------------------------------------


def outputs(model, X, y, weights=None):
    """Return what each rule of a model predicts: the mean inside where it holds, else outside."""
    R = model.rules_.holds(X)
    inside = [np.average(y[holds], weights=weights) for holds in R.T]
    outside = [np.average(y[~holds], weights=weights) for holds in R.T]
    return np.where(R, inside, outside)


@pytest.mark.parametrize("ridge", [0.003, 0.3])
def test_the_published_model_adds_up_means_inside_and_outside(diabetes, ridge):
    """From rows alone, non-negative ridge on the rules' predictions gives the same model."""
    X, y = diabetes
    model = SirusRegressor(12, source="own", n_trees=200, ridge=ridge).fit(X, y)
    G = outputs(model, X, y)
    Z, scale = G - G.mean(axis=0), y.std(ddof=0)
    n, k = Z.shape
    penalty = scale * np.sqrt(n * ridge) * np.eye(k)  # on weights of outputs in the target's units
    w = nnls(np.vstack([Z, penalty]), np.append(y - y.mean(), np.zeros(k)))[0]
    assert (w > 0).all()
    np.testing.assert_allclose(model.predict(X), y.mean() + Z @ w)
    # The rules left out had weight zero: with them in, nothing changes.
    kept = independent_rules(model.pool_.rules, model.candidates_.binning, 12)
    assert set(model.rules_) <= {model.pool_.rules[i] for i in kept}


def test_one_rule_predicts_its_means(diabetes):
    """With a single rule there is no ridge: the prediction is its mean, inside or outside."""
    X, y = diabetes
    model = SirusRegressor(1, n_trees=50).fit(X, y)
    np.testing.assert_allclose(model.predict(X), outputs(model, X, y)[:, 0])


def test_penalties_by_folds_and_without_rows_are_near_each_other(diabetes):
    """Both ways to choose the penalty give models that explain the target equally well."""
    X, y = diabetes
    models = [SirusRegressor(12, source="own", n_trees=200, ridge=r) for r in ("gcv", "cv")]
    by_gcv, by_cv = (model.fit(X, y).predict(X) for model in models)
    assert np.corrcoef(by_gcv, by_cv)[0, 1] > 0.99


def test_folds_need_rows(candidates):
    """Cross-validation from candidates alone is refused, with the way out."""
    with pytest.raises(InvalidParameter, match="needs rows"):
        SirusRegressor(ridge="cv").fit_candidates(candidates)


@pytest.mark.slow
def test_the_package_on_pypi_finds_much_the_same(diabetes):
    """The model is near that of `sirus` 0.1.0, which draws, bins and splits on its own."""
    theirs = pytest.importorskip("sirus", reason="sirus 0.1.0 from PyPI is not installed")
    X, y = diabetes
    search = {"n_trees": 3000, "n_bins": 10, "max_features": 1 / 3}
    ours = SirusRegressor(10, source="own", ridge="cv", **search).fit(X, y)
    other = theirs.SirusRegressor(num_rules=10, num_trees=3000, random_state=0).fit(X, y)
    assert np.corrcoef(ours.predict(X), other.predict(X))[0, 1] > 0.97
    assert ours.score(X, y) == pytest.approx(other.score(X, y), abs=0.02)
    holds = [
        np.logical_and.reduce(
            [X.eval(f"{c.name} {c.op} {float(c.value)!r}") for c in rule.conditions]
        )
        for rule in other.rules_
    ]
    # Cuts fall beside the same values, so a few rows may change sides; opposites are one rule.
    alike = np.abs(np.corrcoef(np.array(holds), ours.rules_.holds(X).T))[10:, :10] > 0.95
    assert alike.any(axis=0).sum() >= 8


# --- classes --------------------------------------------------------------------------------------


def test_sirus_averages_the_rates_of_its_rules(tumours):
    """The probability is the mean over rules of the class's share on their side of each."""
    X, y = tumours
    model = SirusClassifier(6, n_trees=40).fit(X, y)
    s = is_second(model, y)
    rates = [np.where(rule, s[rule].mean(), s[~rule].mean()) for rule in model.rules_.holds(X).T]
    assert len(rates) == 6
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], np.mean(rates, axis=0))
    assert (model.predict(X) == model.classes_[(np.mean(rates, axis=0) > 0.5).astype(int)]).all()
    counts = model.pool_.counts
    assert model.rules_.proportion.max() == counts.max() / 40
    few = SirusClassifier(15, p0=float(counts[3]) / 40, n_trees=40).fit(X, y)
    assert len(few.rules_) <= 3
