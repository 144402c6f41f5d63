"""The steps of a fit, as those call them who need no estimator."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from mossrules import MossClassifier, MossRegressor, defaults
from mossrules.candidates.search import Candidates
from mossrules.data.rows import read_rows
from mossrules.exceptions import InvalidParameter
from mossrules.learning.fit import SEARCH, Settings, build_problem, choose_rules, fit_rules
from mossrules.learning.log_loss import LogLoss
from mossrules.learning.squared_error import SquaredError
from mossrules.solver import Solution

QUICK = {"n_trees": 50, "random_state": 0}
# An objective is the paper's, and a search plain, where nothing else is asked for.
WEIGHTS = {
    "directions": defaults.DIRECTIONS,
    "shrinkage": defaults.SHRINKAGE,
    "intercept": defaults.INTERCEPT,
    "min_importance": defaults.MIN_IMPORTANCE,
    "refit_ridge": defaults.REFIT_RIDGE,
}


@pytest.fixture(scope="module")
def diabetes():
    """Return the rows of a table of numbers, and the table."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return read_rows(X, y), X, y


def test_the_steps_give_what_the_estimator_gives(diabetes):
    """Rules, weights and certificate are those of `MossRegressor`, bit for bit."""
    rows, X, y = diabetes
    search = {**SEARCH, **QUICK}
    settings = Settings(SquaredError(**WEIGHTS), max_rules=5, search=search, target="target")
    fitted, model = fit_rules(rows, settings), MossRegressor(5, **QUICK).fit(X, y)
    assert fitted.rules == model.rules_
    assert fitted.solution.bound == model.solution_.bound
    assert np.array_equal(fitted.rules.predict(X), model.predict(X))


def test_another_loss_is_another_objective():
    """The same steps with `LogLoss` are those of `MossClassifier`."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    rows = read_rows(X, y, of_classes=True).one_vs_rest(1)
    search = {**SEARCH, **QUICK, "patterns": True}
    settings = Settings(LogLoss(1, **WEIGHTS), max_rules=4, search=search, target="target")
    assert fit_rules(rows, settings).rules == MossClassifier(4, **QUICK).fit(X, y).rules_


def test_progress_hears_of_candidates_and_of_the_solution(diabetes):
    """In that order, once each."""
    heard = []
    fitted = fit_rules(diabetes[0], Settings(SquaredError(), 3, search=QUICK), heard.append)
    assert [type(thing) for thing in heard] == [Candidates, Solution]
    assert heard == [fitted.candidates, fitted.solution]


def test_another_point_of_the_trade_off_shares_candidates_and_frontiers(diabetes):
    """`at` finds no rules anew, and leaves the fit as it was."""
    fitted = fit_rules(diabetes[0], Settings(SquaredError(), 5, search=QUICK))
    stricter = fitted.at(stability=0.5)
    assert stricter.candidates is fitted.candidates
    assert stricter.frontiers is fitted.frontiers
    assert stricter.solution.loss > fitted.solution.loss
    assert stricter.settings == replace(fitted.settings, stability=0.5)


def test_auto_is_found_by_what_was_given(diabetes):
    """The function gets the settings; without one there is a sentence that says what to do."""
    settings = Settings(SquaredError(), 3, "auto", search=QUICK)
    fitted = fit_rules(
        diabetes[0], settings, find_stability=lambda given, _budget: 0.7 * (given == settings)
    )
    assert fitted.settings.stability == 0.7
    with pytest.raises(InvalidParameter, match="'auto', which needs rows"):
        choose_rules(fitted.candidates, settings)


def test_without_candidates_there_is_the_mean(diabetes):
    """A constant target has no problem to solve, a proven solution, and a frontier of one point."""
    _, X, y = diabetes
    fitted = fit_rules(read_rows(X, 0 * y + 3.0), Settings(SquaredError(), search=QUICK))
    assert build_problem(fitted.candidates, fitted.settings) is None
    assert (len(fitted.rules), fitted.rules.intercept, fitted.solution.gap) == (0, 3.0, 0.0)
    assert len(fitted.frontier()) == 1


def test_learning_needs_no_estimator():
    """The room loads none of scikit-learn's, nor ours."""
    code = (
        "import sys, mossrules.learning.fit, mossrules.learning.log_loss\n"
        "loaded = {'mossrules.estimators', 'mossrules.baselines', 'sklearn.ensemble'}\n"
        "assert not loaded & set(sys.modules), loaded & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
