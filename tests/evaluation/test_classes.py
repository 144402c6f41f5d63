import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import (
    balanced_accuracy_score,
    brier_score_loss,
    log_loss,
    roc_auc_score,
)
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from mossrules.baselines import GlrmClassifier, RuleFitClassifier, SirusClassifier
from mossrules.evaluation import evaluate
from mossrules.exceptions import InvalidFile, InvalidParameter, InvalidTarget
from mossrules.stability import empirical_stability

METRICS = ["auc", "log_loss", "balanced_accuracy", "brier"]


@pytest.fixture(scope="module")
def tumours():
    """Return some columns of a table, and classes of text."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X.iloc[::3, :6], y[::3].map({0: "malignant", 1: "benign"})


def some():
    """Return methods with and without rules, all of them quick."""
    return {
        "SIRUS": SirusClassifier(4, n_trees=20),
        "RuleFit": RuleFitClassifier(4, n_trees=20, class_weight="balanced"),
        "tree": DecisionTreeClassifier(max_depth=2, random_state=0),
        "ridge": RidgeClassifier(),
    }


@pytest.fixture(scope="module")
def evaluation(tumours):
    """Return an evaluation that no test changes."""
    return evaluate(some(), *tumours, cv=StratifiedKFold(3))


def expected_scores(model, X, y, weights):
    """Return scikit-learn's metrics of a fitted model."""
    found = {
        "balanced_accuracy": balanced_accuracy_score(y, model.predict(X), sample_weight=weights)
    }
    two = len(model.classes_) == 2
    if not hasattr(model, "predict_proba"):
        return found | {"auc": roc_auc_score(y, model.decision_function(X), sample_weight=weights)}
    P = model.predict_proba(X)
    ranking = {} if two else {"multi_class": "ovr"}
    return found | {
        "auc": roc_auc_score(y, P[:, 1] if two else P, sample_weight=weights, **ranking),
        "log_loss": log_loss(y, P, sample_weight=weights),
        "brier": brier_score_loss(y, P, sample_weight=weights, labels=model.classes_),
    }


@pytest.mark.parametrize("table", ["two classes", "weights", "three classes"])
def test_metrics_are_those_of_scikit_learn(tumours, table):
    """Each metric of each fold is scikit-learn's, of the method fitted alone."""
    X, y = tumours if table != "three classes" else load_iris(return_X_y=True, as_frame=True)
    y = y.reset_index(drop=True)
    w = np.linspace(0.5, 2, len(y)) if table == "weights" else None
    models = some() if table != "three classes" else {"tree": some()["tree"]}
    found = evaluate(models, X, y, cv=StratifiedKFold(2), sample_weight=w)
    assert found.failures == []
    for name, model in models.items():
        for each, (train, test) in zip(
            found.folds(name), StratifiedKFold(2).split(X, y), strict=True
        ):
            weights = [None, None] if w is None else [w[train], w[test]]
            model.fit(X.iloc[train], y[train], sample_weight=weights[0])
            expected = expected_scores(model, X.iloc[test], y[test], weights[1])
            for metric in METRICS:
                if metric in expected:
                    # Weights lie on a grid, which that of all rows and that of a fold differ in.
                    near = pytest.approx(expected[metric], rel=1e-9 if w is None else 1e-7)
                    assert each.scores[metric] == near
                else:
                    assert np.isnan(each.scores[metric])


def test_the_table_has_metrics_of_classes_and_stability(evaluation):
    """Columns are those of classes in place of R2; ranks are by AUC, or by another metric."""
    frame, summary = evaluation.frame(), evaluation.summary().set_index("method")
    assert [name for name in frame if name in (*METRICS, "r2", "error")] == METRICS
    assert {f"{metric}_se" for metric in METRICS} <= set(summary)
    assert summary["dice"].isna().tolist() == [False, False, True, True]
    assert summary.loc["SIRUS", "dice"] == empirical_stability(evaluation.rule_sets("SIRUS"))
    np.testing.assert_allclose(summary["rank_auc"], summary["auc"].rank(ascending=False))
    other = evaluation.by("log_loss")
    by_loss = other.summary().set_index("method")
    np.testing.assert_allclose(by_loss["rank_log_loss"], summary["log_loss"].rank())
    assert "log-loss (s.e.)" in str(other)
    assert "AUC (s.e.)" in str(evaluation)
    with pytest.raises(InvalidParameter, match="metric is 'r2'; choose from 'auc'"):
        evaluation.by("r2")


def test_folds_are_stratified_whatever_the_order(tumours):
    """A number of folds has the same share of each class in all, and rows in any order."""
    X, y = tumours
    models = {"tree": some()["tree"]}
    order = np.random.default_rng(0).permutation(len(y))
    one = evaluate(models, X, y, cv=4).frame()
    two = evaluate(models, X.iloc[order], y.iloc[order], cv=4).frame()
    assert one["auc"].tolist() == two["auc"].tolist()
    rare = np.arange(len(y)) < 8  # two in each fold, or some fold would have no AUC
    assert evaluate(models, X, rare, cv=4).frame()["auc"].notna().all()


def test_a_record_is_gone_on_from(tumours, tmp_path, evaluation):
    """A second run takes what is there, and adds a method; other classes are refused."""
    X, y = tumours
    path, cv = tmp_path / "record.json", StratifiedKFold(3)
    evaluate({"SIRUS": some()["SIRUS"]}, X, y, cv=cv, checkpoint=path)
    found = evaluate(
        {name: some()[name] for name in ("SIRUS", "tree")}, X, y, cv=cv, checkpoint=path
    )
    for metric in METRICS:
        both = [evaluation.folds("SIRUS"), found.folds("SIRUS")]
        assert [each.scores[metric] for each in both[0]] == [
            each.scores[metric] for each in both[1]
        ]
    with pytest.raises(InvalidFile, match="other data"):
        evaluate({"SIRUS": some()["SIRUS"]}, X, y == "benign", cv=KEPT, checkpoint=path)


KEPT = [(np.arange(0, 120), np.arange(120, 190)), (np.arange(60, 190), np.arange(0, 60))]


def test_what_is_no_task_is_refused(tumours):
    """Classifiers beside regressors, or numbers as classes, are told in a sentence."""
    X, y = tumours
    with pytest.raises(InvalidParameter, match="a classifier, 'tree', and a regressor, 'ridge'"):
        evaluate({"ridge": Ridge(), "tree": some()["tree"]}, X, y)
    with pytest.raises(InvalidParameter, match="metric is 'auc'; choose from 'r2'"):
        evaluate({"ridge": Ridge()}, X, y, metric="auc")
    with pytest.raises(InvalidTarget, match="continuous"):
        evaluate({"tree": some()["tree"]}, X, X["mean radius"])


def test_several_classes_have_no_stability(tmp_path):
    """Each class has a rule set of its own; and a class without test rows leaves no AUC."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    cv = [(np.arange(0, 150, 2), np.arange(1, 150, 2)), (np.arange(0, 150, 3), np.arange(1, 99, 3))]
    models = {"GLRM": GlrmClassifier(2, n_trees=10), "logistic": LogisticRegression(max_iter=500)}
    found = evaluate(models, X, y, cv=cv, checkpoint=tmp_path / "record.json")
    assert found.failures == []
    assert found.frame()["auc"].isna().tolist() == [False, True] * 2
    assert found.frame()["log_loss"].notna().all()
    assert found.summary()["dice"].isna().all()


def test_the_figure_has_the_metric(evaluation):
    """Marks are at the chosen metric, and the axis and the data say which."""
    display = evaluation.by("brier").plot()
    assert display.ax_.get_ylabel().startswith("Brier score")
    frame = display.frame()
    assert frame["brier"].tolist()[:3] == evaluation.summary()["brier"].tolist()[:3]
    assert "brier_se" in frame
