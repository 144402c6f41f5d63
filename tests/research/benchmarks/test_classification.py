import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

from mossrules import MossClassifier
from mossrules.baselines import SirusClassifier
from mossrules.estimators import search_parameters
from mossrules.evaluation import evaluate
from research.benchmarks import classification
from research.benchmarks.__main__ import RESUMABLE, SUBJECTS
from research.harness.processes import Answers
from research.harness.reports import Skipped


@pytest.fixture
def small(monkeypatch):
    """Put a small table and quick learners in the place of the large ones; interpret is absent."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X.iloc[:200, :4], y[:200]

    def absent(*_):
        raise Skipped("no interpret: nothing found")

    def quick(n_trees, _):
        return {
            "SIRUS": SirusClassifier(3, n_trees=n_trees // 5),
            "logistic regression": LogisticRegression(max_iter=2000),
        }

    monkeypatch.setattr(classification, "features_and_classes", lambda _: (X, y))
    monkeypatch.setattr(classification, "learners", quick)
    monkeypatch.setattr(classification, "kept_environment", absent)
    return X, y


def test_the_subject_is_known():
    """It is among the subjects, keeps what is finished, and has all learners that are asked for."""
    assert "classification" in SUBJECTS
    assert "classification" in RESUMABLE
    found = classification.learners(500, 500)
    assert len(found) == 8
    assert isinstance(found["MOSS medium"], MossClassifier)
    assert {getattr(found[name], "max_rules", 15) for name in found} == {15}


def test_learners_choose_from_one_pool():
    """All but GLRM, which generates its rules, look for the same candidates."""
    found = classification.learners(500, 500)
    names = ("MOSS high", "MOSS medium", "MOSS low", "SIRUS", "RuleFit")
    first, *others = (search_parameters(found[name]) for name in names)
    assert others == [first] * 4
    assert (first["n_bins"], first["max_features"], first["cuts"]) == (8, 0.5, "quantile")


def test_figures_are_those_of_evaluate(small, tmp_path):
    """Rows and page have what evaluate finds on the same folds; who is absent says so."""
    report = classification.run(quick=True, folder=tmp_path)
    rows = {row["learner"]: row for row in report.tables["all"]}
    expected = evaluate(classification.learners(50, 50), *small, cv=classification.splitter(3))
    for each in expected.summaries:
        for metric in classification.METRICS:
            assert rows[each.method][metric] == each.scores[metric]
    assert rows["SIRUS"]["dice"] == expected.summaries[0].dice
    assert "no interpret" in rows["EBM"]["failure"]
    page = (tmp_path / "classification_results-quick.md").read_text()
    sirus = rows["SIRUS"]
    cell = f"**{sirus['auc']:.3f}** / **{sirus['log_loss']:.3f}** / **{sirus['dice']:.2f}**"
    assert f"| SIRUS | {cell} |" in page
    assert "| EBM | not measured |" in page
    assert "no interpret: nothing found" in page
    assert list(tmp_path.iterdir()) == [tmp_path / "classification_results-quick.md"]


@pytest.mark.usefixtures("small")
def test_a_boosting_machine_that_runs_out_of_time_has_the_folds_it_answered(tmp_path, monkeypatch):
    """Means are of these folds, and the page says of how many."""
    answers = [
        {**dict.fromkeys(classification.METRICS, value), "seconds": 1.0} for value in (0.5, 0.7)
    ]
    monkeypatch.setattr(classification, "kept_environment", lambda *_: "python")
    monkeypatch.setattr(classification, "ask", lambda *_: Answers(answers, "no answer after 900 s"))
    report = classification.run(quick=True, folder=tmp_path)
    row = report.tables["all"][-1]
    assert (row["learner"], row["folds"], row["failure"]) == ("EBM", 2, None)
    assert row["auc"] == pytest.approx(0.6)
    assert row["auc_se"] == pytest.approx(0.1)
    page = (tmp_path / "classification_results-quick.md").read_text()
    assert "| EBM | 0.600 / 0.600 (2 folds) |" in page
    answers.pop()
    assert "900" in classification.measure_ebm("any", 3)[0]["failure"]


def test_tables_are_read_as_the_index_says(tmp_path, monkeypatch):
    """Identifiers are dropped, codes of categories are texts, and all else is numbers."""
    frame = pd.DataFrame({"age": [1, 2], "sex": [0, 1], "target": [0, 1]})
    frame.to_csv(tmp_path / "adult.csv.gz", index=False)
    frame.rename(columns={"sex": "phone number"}).to_csv(tmp_path / "churn.csv.gz", index=False)
    monkeypatch.setattr(classification, "CLASSES", tmp_path)
    monkeypatch.setattr(classification, "CATEGORIES", {"adult": ("sex",)})
    X, y = classification.features_and_classes("adult")
    assert X["sex"].tolist() == ["0", "1"]
    assert np.issubdtype(X["age"].dtype, np.integer)
    assert y.tolist() == [0, 1]
    assert list(classification.features_and_classes("churn")[0]) == ["age"]
