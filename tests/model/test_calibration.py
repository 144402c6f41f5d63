import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import balanced_accuracy_score, precision_score, recall_score

from mossrules import RuleSet
from mossrules.exceptions import InvalidFile, InvalidParameter
from mossrules.model.calibration import PARTS, Calibration
from support.model_cases import many_rules


def predictions(n=500, seed=0):
    """Return probabilities, some at the ends, and outcomes that are a little rarer than said."""
    rng = np.random.default_rng(seed)
    p = np.concatenate([[0.0, 1.0, 0.3, 0.7], rng.beta(0.7, 1.2, n - 4)])
    return p, rng.random(n) < 0.9 * p


def test_shares_are_those_of_the_rows_predicted_alike():
    """Each tenth has its rows and the share of outcomes, with Wilson's interval of SciPy."""
    p, y = predictions()
    found = Calibration.of(p, y)
    assert found.rows == len(p)
    assert found.prevalence == pytest.approx(y.mean())
    for probability in (0.0, 0.05, 0.31, 0.7, 0.999, 1.0):
        each = found.around(probability)
        assert each.low <= probability <= each.high
        inside = (p >= each.low) & ((p < each.high) | (each.high == 1.0))
        assert each.rows == inside.sum()
        assert each.share == pytest.approx(y[inside].mean())
        interval = binomtest(int(y[inside].sum()), int(inside.sum())).proportion_ci(method="wilson")
        assert (each.lower, each.upper) == pytest.approx((interval.low, interval.high))
    assert found.frame()["rows"].sum() == len(p)
    assert math.isnan(Calibration.of(np.array([0.95]), [1]).around(0.1).share)


@pytest.mark.parametrize("threshold", [0.01, 0.2, 0.5, 0.93])
def test_figures_of_a_threshold_are_those_of_scikit_learn(threshold):
    """Recall, precision and balanced accuracy agree, with weights of rows too."""
    p, y = predictions()
    weights = np.random.default_rng(1).integers(0, 4, len(p)).astype(float)
    found = Calibration.of(p, y, weights).at_threshold(threshold)
    act = p >= threshold
    assert found.flagged == pytest.approx(np.average(act, weights=weights))
    assert found.sensitivity == pytest.approx(recall_score(y, act, sample_weight=weights))
    assert found.precision == pytest.approx(precision_score(y, act, sample_weight=weights))
    assert found.balanced_accuracy == pytest.approx(
        balanced_accuracy_score(y, act, sample_weight=weights)
    )


def test_advice_is_by_cost_and_by_balance():
    """A miss that costs c false alarms has the threshold 1 / (1 + c); no other is more balanced."""
    p, y = predictions()
    found = Calibration.of(p, y)
    advice = found.advice([1, 4])
    assert advice["a miss costs as much as a false alarm"].threshold == 0.5
    assert advice["a miss costs 4 times a false alarm"].threshold == 0.2
    best = advice["best balanced accuracy"].balanced_accuracy
    every = [balanced_accuracy_score(y, p >= part / PARTS) for part in range(1, PARTS)]
    assert best == pytest.approx(max(every))


def test_explanations_say_what_was_seen_and_what_a_threshold_means():
    """With a probability goes what was seen, what the threshold means and what it does."""
    p, y = predictions()
    ruleset = replace(
        many_rules(4, scale=1.0, target="risk"), link="logit", outcome="high",
        calibration=Calibration.of(p, y),
    )  # fmt: skip
    row = dict.fromkeys(ruleset.columns, 0.0)
    found = ruleset.explain(row, threshold=0.2)
    seen = ruleset.calibration.around(found.prediction)
    text = repr(found)
    assert f"Of the {seen.rows:,.0f} training rows predicted" in text
    assert f"{seen.share:.0%} were risk = high" in text
    assert "a miss costs 4 times a false alarm" in text
    assert f"sensitivity {ruleset.calibration.at_threshold(0.2).sensitivity:.0%}" in text
    assert f"specificity {ruleset.calibration.at_threshold(0.2).specificity:.0%}" in text
    assert ruleset.thresholds(1, 9)["threshold"].tolist()[:2] == [0.5, 0.1]
    bare = replace(ruleset, calibration=None)
    assert len(bare.explain(row).advice) == 1
    with pytest.raises(InvalidParameter, match="no predictions of training rows"):
        bare.thresholds()


def test_calibrations_are_kept_and_checked():
    """They survive JSON bit for bit; what is no calibration is refused."""
    ruleset = replace(
        many_rules(2), link="logit", calibration=Calibration.of(*predictions(), np.full(500, 0.1))
    )
    assert RuleSet.from_json(ruleset.to_json()).calibration == ruleset.calibration
    content = json.loads(ruleset.to_json())
    content["calibration"]["positives"][3] = -1.0
    with pytest.raises(InvalidFile, match=r"positives\[3\]"):
        RuleSet.from_json(json.dumps(content))
    with pytest.raises(InvalidParameter, match="100 weights"):
        Calibration((1.0,), (2.0,))
    with pytest.raises(InvalidParameter, match="link='logit' only"):
        replace(many_rules(2), calibration=ruleset.calibration)
