import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from mossrules.estimators import MossClassifier, MossRegressor
from mossrules.evaluation import MethodTrust, assess
from mossrules.evaluation.assessment import trust_to_dict
from research.harness.processes import Answers
from research.harness.records import Record
from research.paper.peer_packages import PEERS, Peer
from research.trust import __main__, measuring, peers
from research.trust.measuring import measure, measure_all
from research.trust.methods import BEFORE, LATER, METHODS, RUN, before, methods_named
from research.trust.page import page, write_page
from research.trust.tables import NUMBERS, TABLES, TrustTable, tables_named

SETTINGS = {"rules": 3, "refits": 3, "seeds": 2, "scheme": "folds", "max_rows": 100}


def table(name, _max_rows=None, _folder=None):
    """Return rows of scikit-learn's tables in place of a table."""
    if name == "ESL":
        X, y = load_diabetes(return_X_y=True, as_frame=True)
        return TrustTable(name, X.iloc[:80], y.to_numpy()[:80], classes=False)
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return TrustTable(name, X.iloc[:80, :6], y.to_numpy()[:80], classes=True)


@pytest.mark.parametrize("kind", [MossRegressor, MossClassifier])
def test_the_default_before_has_every_parameter_written_out(kind):
    """A new parameter needs a value with which nothing changes, before it is a default."""
    names = set(kind().get_params(deep=False))
    assert names <= {*BEFORE, *LATER, *RUN}
    assert not {*BEFORE} & {*LATER}
    model = before(7, classes=kind is MossClassifier)
    assert model.max_rules == 7
    assert all(model.get_params()[name] == value for name, value in BEFORE.items())


@pytest.mark.parametrize("name", ["ESL", "adult"])
@pytest.mark.parametrize("method", ["default", "MOSS-H", "SIRUS", "linear", "FIRE"])
def test_a_task_is_a_row_of_assess(name, method, monkeypatch):
    """The figures are those of the library; a method that is not for classes has no row."""
    monkeypatch.setattr(measuring, "load", table)
    rows = measure(name, method, SETTINGS)
    if (name, method) == ("adult", "FIRE"):
        assert rows == []
        return
    given = table(name)
    prepared = METHODS[method].make(given.X, 3, given.classes)
    how = {"refits": 3, "seeds": 2}
    expected = assess({method: prepared.estimator}, prepared.X, given.y, **how)[method]
    (row,) = rows
    assert (row["table"], row["rows"], row["classes"]) == (name, 80, name == "adult")
    for key in ("r2", "auc", "dice", "weighted_overlap", "instability", "failure"):
        assert row[key] == pytest.approx(getattr(expected, key), nan_ok=True)


def test_the_papers_settings_are_those_of_its_protocol():
    """Ten bins, 500 trees, a third of the columns, the authors' gamma and ties."""
    given = table("ESL")
    model = METHODS["MOSS-H"].make(given.X, 15, False).estimator
    assert (model.n_trees, model.n_bins, model.max_features) == (500, 10, 1 / 3)
    assert (model.stability, model.gamma, model.ties) == ("high", 0.05, "drop")
    assert METHODS["MOSS-L"].make(given.X, 15, False).estimator.stability == "low"


def test_rules_of_other_packages_are_measured_by_their_thresholds(monkeypatch):
    """Every fit is asked for with its own seed; comparisons that others imply do not count."""
    asked = []

    def ask(_python, _script, job, _limit):
        results = []
        for fold in job["folds"]:
            asked.append(fold["seed"])
            mean = float(np.mean(fold["y"]))
            terms = [[[0, "<=", 0.0], [0, "<=", 1.0]], [[1, ">", 0.01 * fold["seed"]]]]
            predicted = [mean] * len(fold["new"])
            results.append({"predictions": predicted, "terms": terms, "seconds": 1.0})
        return Answers(results)

    monkeypatch.setattr(peers, "ask", ask)
    monkeypatch.setattr(Peer, "interpreter", lambda _: "python")
    peer = PEERS["SIRUS (PyPI)"]
    how = {"max_rules": 3, "refits": 4, "seeds": 2, "scheme": "folds"}
    found = peers.assess_peer("x", peer, table("ESL"), **how)
    assert asked == [0, 1, 2, 3, 0, 1]
    assert found.r2 == pytest.approx(0.0, abs=1e-12)
    assert (found.dice, found.dice_seeds, found.n_rules, found.in_all) == (0.5, 0.5, 2.0, 1.0)
    assert np.isnan([found.same_sign, found.opposing, found.weighted_overlap]).all()
    assert peers.assess_peer("x", peer, table("adult"), **how).failure
    monkeypatch.setattr(peers, "ask", lambda *_: Answers([], "Exit 1"))
    failed = peers.assess_peer("x", peer, table("ESL"), **how)
    assert (failed.failed, failed.failure) == (6, "Exit 1")
    monkeypatch.setattr(Peer, "interpreter", lambda _: None)
    assert "pip install sirus" in peers.assess_peer("x", peer, table("ESL"), **how).failure


def rows_of(*tables):
    """Return rows of two methods, one of which has no rules, and of one that failed."""
    rows = []
    for i, name in enumerate(tables):
        classes = name not in NUMBERS
        score = {"auc" if classes else "r2": 0.5 + 0.1 * i}
        found = (
            MethodTrust("default", dice=0.25 * (i + 1), **score),
            MethodTrust("linear", **score),
            MethodTrust("FIGS (imodels)", failed=1, failure="not here"),
        )
        about = {"table": name, "classes": classes, "rows": 9}
        rows += [{**about, **trust_to_dict(trust)} for trust in found]
    return rows


def test_the_page_has_means_tables_and_failures():
    """Means are over tables; what a method does not have is a dash."""
    text = page(rows_of("ESL", "no2", "adult"), SETTINGS)
    assert "| default | 0.550 | 0.375 |" in text
    assert "| linear | 0.550 | - |" in text
    assert "| no2 | 0.600 / 0.500 | 0.600 / - | - / - |" in text
    assert "| adult | 0.700 / 0.750 |" in text
    assert "* FIGS (imodels), on ESL, no2, adult: not here" in text
    assert "3 refits without a tenth of the rows" in text


def test_a_run_is_recorded_and_made_a_page(tmp_path, monkeypatch):
    """What is recorded is not done again, and what failed is."""
    out = tmp_path / "trust.json"
    record = Record.open(out, SETTINGS)
    ours, line, failed = rows_of("ESL")
    record.add("ESL: default", [ours])
    record.add("ESL: FIGS (imodels)", [failed])
    done = []

    class Alone:
        """A pool that works here."""

        def __init__(self, *_):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def submit(self, _function, table, method, *_):
            from concurrent.futures import Future  # noqa: PLC0415

            done.append((table, method))
            future = Future()
            future.set_result([{"linear": line}.get(method, failed)])
            return future

    monkeypatch.setattr(measuring, "ProcessPoolExecutor", Alone)
    tasks = [("ESL", "default"), ("ESL", "linear"), ("ESL", "FIGS (imodels)")]
    measure_all(tasks, SETTINGS, out, 1, tmp_path)
    assert done == [("ESL", "linear"), ("ESL", "FIGS (imodels)")]
    assert sorted(json.loads(out.read_text())["tasks"]) == sorted(": ".join(task) for task in tasks)
    assert out.with_name("rows.csv").read_text().count("\n") == 4
    __main__.main(["--page", "--out", str(out)])
    first = out.with_name("results.md").read_text()
    write_page(out, tmp_path / "again.md")
    assert (tmp_path / "again.md").read_text() == first
    assert "| default | 0.500 |" in first


def test_names_are_checked():
    """A table or method that is not there is named."""
    assert tables_named("all") == list(TABLES)
    assert tables_named("ESL,no2") == ["ESL", "no2"]
    assert methods_named(None) == list(METHODS)
    with pytest.raises(SystemExit, match="no table 'x'"):
        tables_named("ESL,x")
    with pytest.raises(SystemExit, match="no method 'x'"):
        methods_named(["x"])
