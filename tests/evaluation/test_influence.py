import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import norm, t
from sklearn.metrics import (
    brier_score_loss,
    log_loss,
    mean_absolute_error,
    precision_score,
    r2_score,
    recall_score,
    roc_auc_score,
    root_mean_squared_error,
)
from statsmodels.stats.proportion import proportion_confint

from mossrules.evaluation.influence import (
    Sample,
    area_under_curve,
    measure_classes,
    measure_numbers,
    proportion,
)

RNG = np.random.default_rng(0)
N, CLUSTERS = 200, 25
LOG_ODDS = RNG.normal(size=N).round(1)  # with ties
P = 1 / (1 + np.exp(-1.3 * LOG_ODDS))
Y = (RNG.random(N) < 1 / (1 + np.exp(-LOG_ODDS - 0.3))).astype(float)
NUMBERS = 2 * LOG_ODDS + RNG.normal(size=N)
PREDICTED = 1.8 * LOG_ODDS + 0.2
WEIGHTS = RNG.uniform(0.5, 2.0, N)
GROUPS = RNG.integers(CLUSTERS, size=N)
ONES = np.ones(N)


@pytest.mark.parametrize("weights", [ONES, WEIGHTS])
def test_values_are_those_of_scikit_learn(weights):
    """Of all measures that it has."""
    found = measure_classes(Y, P, 0.4, Sample(weights, None, 0.95))
    how, flagged = {"sample_weight": weights}, P >= 0.4
    known = {
        "auc": roc_auc_score(Y, P, **how),
        "brier": brier_score_loss(Y, P, **how),
        "log_loss": log_loss(Y, P, **how),
        "sensitivity": recall_score(Y, flagged, **how),
        "specificity": recall_score(1 - Y, ~flagged, **how),
        "ppv": precision_score(Y, flagged, **how),
        "npv": precision_score(1 - Y, ~flagged, **how),
    }
    assert {name: found[name].estimate for name in known} == pytest.approx(known)
    of_numbers = measure_numbers(NUMBERS, PREDICTED, Sample(weights, None, 0.95))
    known = {
        "r2": r2_score(NUMBERS, PREDICTED, **how),
        "mae": mean_absolute_error(NUMBERS, PREDICTED, **how),
        "rmse": root_mean_squared_error(NUMBERS, PREDICTED, **how),
        "bias": np.average(PREDICTED - NUMBERS, weights=weights),
    }
    assert {name: of_numbers[name].estimate for name in known} == pytest.approx(known)


def test_the_interval_of_auc_is_that_of_delong():
    """By comparing every event with every other row, on the scale of log-odds."""
    events, others = P[Y > 0], P[Y == 0]
    right = (events[:, None] > others) + 0.5 * (events[:, None] == others)
    area = right.mean()
    variance = right.mean(axis=1).var(ddof=1) / len(events)
    variance += right.mean(axis=0).var(ddof=1) / len(others)
    width = norm.ppf(0.95) * np.sqrt(variance) / (area * (1 - area))
    log_odds = np.log(area / (1 - area)) + np.array([-width, width])
    found = area_under_curve(Y, P, Sample(ONES, None, 0.9))
    assert found == pytest.approx((area, *(1 / (1 + np.exp(-log_odds)))))


def test_auc_of_a_single_event_has_no_interval():
    """Nothing tells how events differ; nor where all of them are in one group."""
    one = (np.arange(N) == np.flatnonzero(Y)[0]).astype(float)
    found = area_under_curve(one, P, Sample(ONES, None, 0.95))
    assert found.estimate == pytest.approx(roc_auc_score(one, P))
    assert np.isnan(found[1:]).all()
    together = Sample(ONES, np.where(Y > 0, 0, 1 + np.arange(N)), 0.95)
    assert np.isnan(area_under_curve(Y, P, together)[1:]).all()


def test_intervals_of_errors_do_not_reach_below_zero():
    """Where one row of many has all of the error."""
    y = np.zeros(12)
    y[0] = 1.0
    found = measure_classes(y, np.full(12, 0.01), 0.5, Sample(np.ones(12), None, 0.95))
    found |= measure_numbers(y, np.zeros(12), Sample(np.ones(12), None, 0.95))
    for name in ("brier", "log_loss", "mae"):
        assert found[name].lower == 0.0 < found[name].estimate < found[name].upper


def test_shares_have_the_intervals_of_wilson():
    """Also where all rows are hits."""
    flagged = P >= 0.5
    for hits, among in ((flagged, Y > 0), (Y > 0, flagged), (Y > 0, Y > 0)):
        count, rows = np.count_nonzero(hits & among), np.count_nonzero(among)
        known = proportion_confint(count, rows, method="wilson")
        found = proportion(hits, among, Sample(ONES, None, 0.95))
        assert found == pytest.approx((count / rows, *known))


def test_means_have_the_intervals_of_t():
    """Of the mean error, as statsmodels has it."""
    found = measure_numbers(NUMBERS, PREDICTED, Sample(ONES, None, 0.95))["bias"]
    known = sm.stats.DescrStatsW(PREDICTED - NUMBERS).tconfint_mean()
    assert found[1:] == pytest.approx(known)


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_calibration_is_that_of_statsmodels(groups):
    """Slope and intercept, of numbers and of classes."""
    sample = Sample(ONES, groups, 0.95)
    log_odds = np.log(P / (1 - P))
    how = {"family": sm.families.Binomial()}
    slope = sm.GLM(Y, sm.add_constant(log_odds), **how).fit(tol=1e-12)
    intercept = sm.GLM(Y, ONES, offset=log_odds, **how).fit(tol=1e-12)
    found = measure_classes(Y, P, 0.5, sample)
    assert found["slope"].estimate == pytest.approx(slope.params[1])
    assert found["intercept"].estimate == pytest.approx(intercept.params[0])
    line = sm.OLS(NUMBERS, sm.add_constant(PREDICTED)).fit(cov_type="HC3", use_t=True)
    of_numbers = measure_numbers(NUMBERS, PREDICTED, sample)["slope"]
    assert of_numbers.estimate == pytest.approx(line.params[1])
    if groups is None:
        assert of_numbers[1:] == pytest.approx(line.conf_int()[1])


SCALES = {
    "auc": lambda value: np.log(value / (1 - value)),
    "r2": lambda value: -np.log(1 - value),
    "rmse": np.log,
    "brier": float,
    "log_loss": float,
    "mae": float,
}


def measure(rows, groups=None):
    """Return the measures of some rows, with weights, on the scales of their intervals."""
    sample = Sample(WEIGHTS[rows], None if groups is None else groups[rows], 0.95)
    found = measure_classes(Y[rows], P[rows], 0.5, sample)
    found |= measure_numbers(NUMBERS[rows], PREDICTED[rows], sample)
    return {name: np.array([*map(scale, found[name])]) for name, scale in SCALES.items()}


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_influences_are_what_leaving_out_rows_or_groups_moves(groups):
    """Half widths are those of the jackknife."""
    units = np.arange(N) if groups is None else groups
    left = [measure(units != unit) for unit in np.unique(units)]
    for name, (_, lower, upper) in measure(np.ones(N, dtype=bool), groups).items():
        quantile = t.ppf(0.975, len(left) - 1)
        if name == "auc" and groups is None:
            quantile = norm.ppf(0.975)
        error = np.sqrt((len(left) - 1) * np.var([each[name][0] for each in left]))
        assert (upper - lower) / 2 == pytest.approx(quantile * error, rel=0.05), name


def test_groups_whose_rows_are_alike_count_as_one_row_each():
    """Every row four times, told to be one group, has the interval of the rows once."""
    four = np.tile(np.arange(N), 4)
    of_groups = Sample(np.ones(4 * N), four, 0.95)
    once = Sample(ONES, np.arange(N), 0.95)
    for many, few in zip(
        measure_classes(Y[four], P[four], 0.5, of_groups).values(),
        measure_classes(Y, P, 0.5, once).values(),
        strict=True,
    ):
        assert many == pytest.approx(few)


def test_what_the_rows_do_not_determine_is_missing():
    """The slope of a perfect ranking, R2 of a constant target, the line of one prediction."""
    perfect = measure_classes(Y, np.where(Y > 0, 0.8, 0.3), 0.5, Sample(ONES, None, 0.95))
    assert perfect["auc"].estimate == 1.0
    assert np.isnan([perfect["auc"].lower, perfect["slope"].estimate]).all()
    assert perfect["sensitivity"].lower > 0.95
    constant = measure_numbers(ONES, PREDICTED, Sample(ONES, None, 0.95))
    assert np.isnan(constant["r2"].estimate)
    flat = measure_numbers(NUMBERS, 2 * ONES, Sample(ONES, None, 0.95))
    assert np.isnan(flat["slope"].estimate)
    assert flat["r2"].estimate < 0
    exact = measure_numbers(NUMBERS, NUMBERS, Sample(ONES, None, 0.95))
    assert (exact["r2"].estimate, exact["rmse"].estimate) == (1.0, 0.0)
    nobody = proportion(P > 2, P > 2, Sample(ONES, None, 0.95))
    assert np.isnan(nobody.estimate)
