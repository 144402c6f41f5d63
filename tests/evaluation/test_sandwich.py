import numpy as np
import pytest
import statsmodels.api as sm

from mossrules.evaluation.sandwich import (
    independent_columns,
    least_squares,
    logistic,
    separating_columns,
)

RNG = np.random.default_rng(0)
N, CLUSTERS = 90, 12
M = np.column_stack([np.ones(N), RNG.random((N, 4)) < 0.4]).astype(float)
Y = M @ [1.0, 2.0, 0.0, -1.0, 0.5] + RNG.normal(size=N) * (1 + M[:, 1])
EVENTS = (RNG.random(N) < 1 / (1 + np.exp(-(M @ [-0.5, 1.0, 0.0, -1.0, 0.5])))).astype(float)
WEIGHTS = RNG.uniform(0.5, 2.0, N)
GROUPS = RNG.integers(CLUSTERS, size=N)
BINOMIAL = {"family": sm.families.Binomial()}


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_least_squares_are_those_of_statsmodels(weights):
    """Coefficients, HC3 errors, t intervals and p values."""
    found = least_squares(M, Y, weights, None)
    known = sm.WLS(Y, M, weights=np.ones(N) if weights is None else weights)
    known = known.fit(cov_type="HC3", use_t=True)
    np.testing.assert_allclose(found.values, known.params)
    np.testing.assert_allclose(found.errors, known.bse)
    np.testing.assert_allclose(found.p_values, known.pvalues, atol=1e-14)
    np.testing.assert_allclose(np.transpose(found.interval(0.9)), known.conf_int(0.1))


def test_errors_of_groups_are_those_of_leaving_out_each_in_statsmodels():
    """The variance is (G - 1) / G times the sum of the squared moves."""
    found = least_squares(M, Y, WEIGHTS, GROUPS)
    moves = []
    for group in range(CLUSTERS):
        left = group != GROUPS
        moves.append(sm.WLS(Y[left], M[left], weights=WEIGHTS[left]).fit().params - found.values)
    variance = (CLUSTERS - 1) / CLUSTERS * np.sum(np.square(moves), axis=0)
    np.testing.assert_allclose(found.errors, np.sqrt(variance))
    assert found.degrees == CLUSTERS - 1


def test_logistic_regression_is_that_of_statsmodels():
    """Maximum likelihood; errors are the moves of one step without each row."""
    weighted = sm.GLM(EVENTS, M, freq_weights=WEIGHTS, **BINOMIAL).fit(tol=1e-12)
    np.testing.assert_allclose(logistic(M, EVENTS, WEIGHTS, None).values, weighted.params)
    known = sm.GLM(EVENTS, M, **BINOMIAL).fit(tol=1e-12)
    moves = known.get_influence(observed=False).d_params
    found = logistic(M, EVENTS, None, None)
    np.testing.assert_allclose(found.errors, np.sqrt(np.sum(moves**2, axis=0)))


def test_an_offset_is_that_of_statsmodels():
    """The intercept where a slope is fixed at one."""
    offset = RNG.normal(size=N)
    known = sm.GLM(EVENTS, M[:, :1], offset=offset, **BINOMIAL).fit(tol=1e-12)
    found = logistic(M[:, :1], EVENTS, None, None, offset)
    np.testing.assert_allclose(found.values, known.params)


@pytest.mark.parametrize("groups", [None, np.arange(N) // 10])
def test_what_a_single_row_or_group_decides_has_no_error(groups):
    """Others keep theirs: as if the column were not there."""
    alone = (np.arange(N) < (1 if groups is None else 10)).astype(float)
    found = least_squares(np.column_stack([M, alone]), Y, None, groups)
    assert np.isnan(found.errors).tolist() == [False] * 5 + [True]
    assert np.isnan(found.p_values).tolist() == [False] * 5 + [True]


def test_groups_of_one_row_are_rows_but_for_a_factor():
    """(n - 1) / n of the variance."""
    each, rows = least_squares(M, Y, None, np.arange(N)), least_squares(M, Y, None, None)
    np.testing.assert_allclose(each.errors, rows.errors * np.sqrt((N - 1) / N))


def test_columns_that_others_determine_are_told():
    """The first of them stay."""
    both = np.column_stack([M, M[:, 1] + M[:, 2], M[:, 0] - M[:, 3]])
    assert independent_columns(both).tolist() == [True] * 5 + [False] * 2


def test_columns_that_separate_classes_are_told():
    """Those whose effects grow without end in statsmodels."""
    assert not separating_columns(M, EVENTS).any()
    sure = ((RNG.random(N) < 0.3) & (EVENTS > 0)).astype(float)
    apart = np.column_stack([M, sure])
    assert np.flatnonzero(separating_columns(apart, EVENTS)).tolist() == [5]
    with pytest.warns(sm.tools.sm_exceptions.ConvergenceWarning):
        grown = sm.Logit(EVENTS, apart).fit(disp=0, maxiter=30).params
    assert grown[5] > 15
    assert np.abs(grown[:5]).max() < 5
