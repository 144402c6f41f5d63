import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

from mossrules.baselines import GlrmClassifier, RuleFitClassifier, SirusClassifier
from mossrules.baselines.rulefit import N_FOLDS
from mossrules.candidates.statistics import rule_columns
from mossrules.data.table import Table
from mossrules.estimators import candidates_for, search_parameters
from mossrules.exceptions import InvalidParameter

THREE = (SirusClassifier, RuleFitClassifier, GlrmClassifier)


@pytest.fixture(scope="module")
def tumours():
    """Return some columns of a table, and classes of text."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X.iloc[::2, :8], y[::2].map({0: "malignant", 1: "benign"})


@parametrize_with_checks(
    [
        SirusClassifier(4, n_trees=10, source="own"),
        RuleFitClassifier(4, n_trees=10, n_jobs=1),
        GlrmClassifier(3, source="own", max_length=2),
    ]
)
def test_scikit_learn_is_content(estimator, check):
    """All of scikit-learn's checks pass, with none that is expected to fail."""
    check(estimator)


def is_second(model, y):
    """Return 1 for the class whose probability rules are for."""
    return (y == model.classes_[1]).to_numpy(float)


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


def test_rulefit_is_on_the_path_of_scikit_learn(tumours):
    """At its price, the objective over all candidates is that of L1 logistic regression."""
    X, y = tumours
    model = RuleFitClassifier(8, n_trees=15).fit(X, y)
    s, n = is_second(model, y), len(y)
    binning = model.candidates_.binning
    R = rule_columns(model.pool_.rules, binning, binning.encode(Table.from_any(X))).T.astype(float)
    saga = LogisticRegression(
        C=1 / (n * model.alpha_), l1_ratio=1, solver="saga", tol=1e-6, max_iter=20_000,
        random_state=0,
    ).fit(R, s)  # fmt: skip

    def objective(logits, w):
        return log_loss(s, expit(logits)) + model.alpha_ * np.abs(w).sum()

    expected = objective(saga.decision_function(R), saga.coef_)
    found = objective(model.decision_function(X), model.rules_.weights)
    assert found == pytest.approx(expected, rel=1e-6)
    assert 6 <= len(model.rules_) <= 8


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


def test_candidates_found_before_give_the_same_model(tumours):
    """A fit is a search and a choice; whole weights are repeated rows; order does not matter."""
    X, y = tumours
    w = np.random.default_rng(0).integers(1, 4, len(y))
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), w))
    for kind in THREE:
        model = kind(5, n_trees=20, random_state=3).fit(X, y, sample_weight=w)
        again = clone(model).fit(X.iloc[order], y.iloc[order])
        assert again.rules_.to_json() == model.rules_.to_json()
        s = is_second(model, y)
        found = candidates_for(X, s, w, **search_parameters(model))
        other = clone(model).fit_candidates(found, classes=model.classes_)
        np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X))
        assert (other.predict(X) == model.predict(X)).all()


def test_linear_terms_and_folds(tumours):
    """With linear terms probabilities are those of all terms; folds choose among the path."""
    X, y = tumours
    model = RuleFitClassifier(6, n_trees=2, n_bins=10, max_depth=1, linear_terms=True).fit(X, y)
    assert 0 < len(model.linear_) < 6
    assert len(model.linear_) + len(model.rules_) <= 6
    f = model.rules_.decision_function(X) + model.linear_.predict(Table.from_any(X))
    np.testing.assert_allclose(model.decision_function(X), f)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(f))
    careful = RuleFitClassifier(6, n_trees=20, penalty="cv").fit(X, y)
    eager = RuleFitClassifier(6, n_trees=20).fit(X, y)
    assert careful.alpha_ >= eager.alpha_
    assert N_FOLDS == 3
    with pytest.raises(InvalidParameter, match="need rows"):
        model.fit_candidates(eager.candidates_)


def test_rulefit_chooses_among_its_own_trees(tumours):
    """Rules of boosted trees are told from each other by the logistic loss, as those of a pool."""
    X, y = tumours
    model = RuleFitClassifier(5, source="own", n_trees=30).fit(X, y)
    assert 0 < len(model.rules_) <= 5
    assert model.pool_.n_trees == 30
    assert model.score(X, y) > 0.85


@pytest.mark.parametrize(
    "model",
    [
        SirusClassifier(3, n_trees=20),
        RuleFitClassifier(3, n_trees=20, linear_terms=True),
        GlrmClassifier(3, n_trees=20, class_weight="balanced"),
    ],
)
def test_several_classes_have_a_rule_set_each(model):
    """Probabilities add up, the most probable class is predicted, and figures are by class."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = clone(model).fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert (model.predict(X) == P.argmax(axis=1)).all()
    assert list(model.rules_) == [0, 1, 2]
    assert max(map(len, model.rules_.values())) <= 3
    assert model.score(X, y) > 0.9
    for name in model._by_class:
        assert list(getattr(model, name)) == [0, 1, 2]


def test_what_cannot_be_is_refused(tumours):
    """Parameters are checked before any work, and candidates have to have patterns."""
    X, y = tumours
    for kind in THREE:
        for parameters in ({"max_rules": 0}, {"source": "own pool"}, {"class_weight": "heavy"}):
            with pytest.raises(InvalidParameter, match=next(iter(parameters))):
                kind(**parameters).fit(None, None)
    plain = candidates_for(X, (y == "benign").to_numpy(float), n_trees=5)
    with pytest.raises(InvalidParameter, match="patterns=True"):
        GlrmClassifier(2).fit_candidates(plain)
    with pytest.raises(InvalidParameter, match="source is 'own'"):
        SirusClassifier(2, source="own").fit_candidates(plain)


def test_columns_that_say_nothing_leave_the_share():
    """Without candidates the probability is the share of the class."""
    X, y = np.ones((8, 2)), [0, 0, 0, 0, 0, 0, 1, 1]
    for kind in THREE:
        model = kind(n_trees=5).fit(X, y)
        assert len(model.rules_) == 0
        np.testing.assert_allclose(model.predict_proba(X), [[0.75, 0.25]] * 8)
