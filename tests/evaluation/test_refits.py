"""Which rows each refit learns from: shares, groups, classes, and how far results then vary."""

import numpy as np
import pandas as pd
import pytest

from mossrules.data.rows import read_rows
from mossrules.evaluation.refits import refit_splits, spread_factor
from mossrules.exceptions import InvalidParameter

N = 240
RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.integers(0, 5, N)})
Y = X["a"] + RNG.normal(size=N)
CLASSES = np.where(RNG.random(N) < 0.15, "case", "control")
GROUPS = RNG.integers(0, 40, N)
WHOLE = RNG.integers(0, 4, N).astype(float)
SCHEMES = ["subsample", "bootstrap", "folds"]


def splits_of(y=Y, *, refits=30, scheme="subsample", weights=None, groups=None, seed=0, **how):
    """Return rows, and the splits of refits to them."""
    of_classes = not np.issubdtype(np.asarray(y).dtype, np.number)
    rows = read_rows(X, y, weights, groups, of_classes=of_classes)
    return rows, refit_splits(rows, refits, scheme, None, seed, stratify=of_classes, **how)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("groups", [None, GROUPS])
def test_a_row_is_learned_from_or_left_out(scheme, groups):
    """Never both, whatever the scheme, and hardly any refit is like another one."""
    rows, splits = splits_of(scheme=scheme, groups=groups)
    assert len(splits) == 30
    for train, test in splits:
        assert np.union1d(train, test).tolist() == list(range(rows.n_rows))
        assert not np.isin(test, train).any()
        assert len(test) > 0
    assert len({train.tobytes() for train, _ in splits}) > 25


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("given", ["rows", "argument"])
def test_rows_of_a_group_are_on_one_side(scheme, given):
    """Of groups that the rows have, or that are passed beside them."""
    rows = read_rows(X, Y, None, GROUPS if given == "rows" else None)
    codes = None if given == "rows" else GROUPS
    of_rows = GROUPS[rows.origin]
    for train, test in refit_splits(rows, 25, scheme, codes, 0, stratify=False):
        assert not np.isin(of_rows[test], of_rows[train]).any()
        times = np.bincount(train, minlength=N)
        for group in np.unique(GROUPS):
            assert len(set(times[of_rows == group])) == 1


@pytest.mark.parametrize("share", [1 / 3, 0.5, 0.1, 0.77, 0.999])
def test_subsamples_have_the_share_of_rows_that_is_asked_for(share):
    """To one row, and leave out one at least; all rows are drawn equally often."""
    _, splits = splits_of(refits=400, share=share)
    share = min(share, 1 - 1 / N)
    sizes = np.array([len(train) for train, _ in splits])
    assert np.abs(sizes - share * N).max() <= 1
    assert sizes.mean() == pytest.approx(share * N, abs=0.1)
    drawn = np.bincount(np.concatenate([train for train, _ in splits]), minlength=N) / 400
    assert np.abs(drawn - share).max() < 5 * np.sqrt(share * (1 - share) / 400) + 1e-9


def test_subsamples_have_the_share_of_groups_that_is_asked_for():
    """A number of groups, and each as often as others."""
    rows, splits = splits_of(refits=300, groups=GROUPS, share=0.25)
    of_rows = GROUPS[rows.origin]
    distinct = np.unique(GROUPS)
    numbers = {len(np.unique(of_rows[train])) for train, _ in splits}
    assert numbers == {round(0.25 * len(distinct))}
    drawn = sum(np.isin(distinct, of_rows[train]) for train, _ in splits) / 300
    assert np.abs(drawn - 0.25).max() < 5 * np.sqrt(0.25 * 0.75 / 300)


def test_all_subsamples_of_a_few_groups_are_drawn_before_any_is_repeated():
    """Of two groups each in turn, of five all ten pairs; of many, draws are independent."""
    for n_groups, share, expected in ((2, 1 / 3, 2), (5, 0.4, 10), (4, 0.75, 4)):
        groups = np.arange(N) % n_groups
        _, splits = splits_of(refits=2 * expected, groups=groups, share=share)
        drawn = [tuple(train) for train, _ in splits]
        first, second = set(drawn[:expected]), set(drawn[expected:])
        assert first == second
        assert len(first) == expected
    orders = {
        tuple(splits_of(refits=1, groups=np.arange(N) % 5, share=0.4, seed=seed)[1][0][0])
        for seed in range(20)
    }
    assert len(orders) > 5


@pytest.mark.parametrize("scheme", ["subsample", "folds"])
def test_refits_of_classes_have_the_share_of_each(scheme):
    """To one row of each class, where rows are in no groups."""
    rows, splits = splits_of(CLASSES, scheme=scheme)
    cases = rows.target == 0
    for train, _ in splits:
        expected = cases.sum() * len(train) / N
        assert abs(cases[train].sum() - expected) <= 1


def test_names_and_order_of_classes_do_not_change_draws():
    """Where rows are numbered by content."""
    found = []
    for names in (("case", "control"), ("z", "a")):
        y = np.where(CLASSES == "case", *names)
        rows = read_rows(X, y, of_classes=True, numbering="content")
        splits = refit_splits(rows, 5, "subsample", None, 0, stratify=True)
        found.append([sorted(rows.origin[train]) for train, _ in splits])
    assert found[0] == found[1]


def test_bootstraps_draw_as_many_rows_with_replacement():
    """About e^-1 of them are left out, and numbers of draws are those of a binomial."""
    _, splits = splits_of(scheme="bootstrap", refits=200)
    assert {len(train) for train, _ in splits} == {N}
    assert np.mean([len(test) for _, test in splits]) / N == pytest.approx((1 - 1 / N) ** N, 0.02)
    times = np.concatenate([np.bincount(train, minlength=N) for train, _ in splits])
    assert times.var() == pytest.approx(1 - 1 / N, rel=0.05)


def test_bootstraps_draw_as_many_groups():
    """Each as often as it was drawn, with all of its rows."""
    rows, splits = splits_of(scheme="bootstrap", groups=GROUPS)
    of_rows, sizes = GROUPS[rows.origin], np.bincount(GROUPS)
    for train, _ in splits:
        drawn = np.bincount(of_rows[train], minlength=len(sizes)) / np.maximum(sizes, 1)
        assert (drawn == np.round(drawn)).all()
        assert drawn.sum() == len(np.unique(GROUPS))


def test_ten_folds_leave_out_each_row_once():
    """Twenty are two rounds, each dealt anew; 25 end in the middle of the third."""
    _, splits = splits_of(scheme="folds", refits=25)
    for first in (0, 10):
        left_out = np.concatenate([test for _, test in splits[first : first + 10]])
        assert sorted(left_out) == list(range(N))
    assert splits[0][1].tolist() != splits[10][1].tolist()
    _, few = splits_of(scheme="folds", groups=np.arange(N) % 4)
    assert {len(test) for _, test in few} == {N // 4}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_order_of_rows_and_the_names_of_groups_do_not_matter(scheme):
    """Rows are known by what they hold, groups by theirs."""
    order = np.random.default_rng(1).permutation(N)
    names = np.array([f"g{-each}" for each in GROUPS])
    found = []
    for groups in (None, GROUPS):
        one = read_rows(X, Y, None, groups)
        renamed = None if groups is None else names[order]
        other = read_rows(X.iloc[order], Y.iloc[order], None, renamed)
        for rows, given in ((one, np.arange(N)), (other, order)):
            splits = refit_splits(rows, 12, scheme, None, 4, stratify=False)
            found.append([sorted(given[rows.origin[train]]) for train, _ in splits])
    assert found[0] == found[1]
    assert found[2] == found[3]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_whole_weights_are_rows_repeated(scheme):
    """Draws are of repetitions, and rows of weight 0 are in none."""
    one, splits = splits_of(scheme=scheme, weights=WHOLE)
    rows = np.repeat(np.arange(N), WHOLE.astype(int))
    other = read_rows(X.iloc[rows], Y.iloc[rows])
    expected = refit_splits(other, 30, scheme, None, 0, stratify=False)
    for (train, _), (repeated, _) in zip(splits, expected, strict=True):
        assert one.origin[train].tolist() == rows[other.origin[repeated]].tolist()


def test_seeds_decide():
    """The same one draws the same rows, and refits do not depend on how many there are."""
    for scheme in SCHEMES:
        one, longer, other = (
            splits_of(scheme=scheme, refits=r, seed=s)[1] for r, s in ((15, 0), (40, 0), (15, 1))
        )
        assert all(np.array_equal(a[0], b[0]) for a, b in zip(one, longer, strict=False))
        # The first ten folds need no seed.
        assert not np.array_equal(one[12][0], other[12][0])


@pytest.mark.parametrize(("share", "n"), [(1 / 3, 90), (0.5, 90), (0.9, 90)])
def test_results_of_refits_vary_as_those_of_samples_once_they_are_stretched(share, n):
    """The mean of subsamples varies less or more than that of samples, by the factor."""
    rng = np.random.default_rng(2)
    y = rng.normal(size=n)
    rows = read_rows(pd.DataFrame({"x": np.arange(n)}), y)
    splits = refit_splits(rows, 4000, "subsample", None, 0, stratify=False, share=share)
    means = [rows.target[train].mean() for train, _ in splits]
    stretched = spread_factor(splits, "subsample") * np.std(means)
    assert stretched == pytest.approx(y.std(ddof=1) / np.sqrt(n), rel=0.05)


def test_bootstraps_are_not_stretched():
    """Their means vary as those of samples do."""
    rows, splits = splits_of(scheme="bootstrap", refits=2000)
    means = [rows.target[train].mean() for train, _ in splits]
    found = spread_factor(splits, "bootstrap") * np.std(means)
    assert found == pytest.approx(Y.std(ddof=0) / np.sqrt(N), rel=0.05)


def test_too_few_rows_or_groups_are_refused():
    """In a sentence that says what to add, or to pass."""
    few = read_rows(X.iloc[:3], Y.iloc[:3])
    with pytest.raises(InvalidParameter, match="There are 3 rows, and each refit leaves some out"):
        refit_splits(few, 2, "bootstrap", None, 0, stratify=False)
    some = read_rows(X.iloc[:5], Y.iloc[:5])
    with pytest.raises(InvalidParameter, match=r"a share of 0.333 is less than 2; add rows, or"):
        refit_splits(some, 2, "subsample", None, 0, stratify=False)
    with pytest.raises(InvalidParameter, match="groups has a single group, and each refit"):
        refit_splits(some, 2, "subsample", np.zeros(5, int), 0, stratify=False)
    assert len(refit_splits(some, 3, "folds", None, 0, stratify=False)) == 3


def test_two_groups_are_enough():
    """One of them is learned from, the other is left out."""
    rows = read_rows(X, Y, None, np.arange(N) % 2)
    for train, test in refit_splits(rows, 6, "subsample", None, 0, stratify=False):
        assert len(train) == len(test) == N // 2
