import math
import pickle
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student
from sklearn.datasets import load_diabetes
from sklearn.metrics import f1_score, jaccard_score, recall_score

from mossrules import MossRegressor, RuleSet
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import Range, Rule
from mossrules.data.columns import Kind
from mossrules.exceptions import InvalidParameter, UnsupportedType
from mossrules.stability import (
    Agreement,
    consistent_rules,
    dice,
    empirical_stability,
    jaccard,
    nogueira,
    ochiai,
    pog,
)

MEASURES = {"dice": dice, "jaccard": jaccard, "ochiai": ochiai, "pog": pog}
SYMMETRIC = [dice, jaccard, ochiai]

some_rules = st.frozensets(st.integers(0, 12), max_size=8)
runs = st.lists(some_rules, min_size=2, max_size=7)


def line_rules(*bounds, cuts=tuple(range(1, 10))):
    """Return a rule set on one column with cuts at whole numbers: each rule is x <= bound."""
    rules = tuple(Rule((Range("x", high=bound),)) for bound in bounds)
    n = len(rules)
    return RuleSet(
        rules=rules,
        weights=np.ones(n),
        intercept=0.0,
        binning=Binning((BinnedColumn("x", Kind.NUMERIC, cuts=cuts),)),
        columns=("x",),
        support=np.full(n, 0.5),
        proportion=np.full(n, 0.5),
    )


# --- two rule sets --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("abc", "bcd", (2 / 3, 2 / 4, 2 / 3, 2 / 3)),
        ("abcd", "a", (2 / 5, 1 / 4, 1 / 2, 1 / 4)),
        ("a", "abcd", (2 / 5, 1 / 4, 1 / 2, 1.0)),
        ("ab", "cd", (0, 0, 0, 0)),
        ("ab", "ba", (1, 1, 1, 1)),
        ("", "", (1, 1, 1, 1)),
        ("", "ab", (0, 0, 0, 0)),
        ("ab", "", (0, 0, 0, 0)),
    ],
)
def test_measures_by_hand(a, b, expected):
    """Each measure has the value of its definition; two empty sets agree."""
    for measure, value in zip(MEASURES.values(), expected, strict=True):
        assert measure(set(a), set(b)) == pytest.approx(value, abs=1e-15)


@given(some_rules, some_rules)
def test_measures_have_the_properties_of_agreement(a, b):
    """They lie in [0, 1], are 1 for equal sets only, and symmetric; POG is 1 for a part too."""
    for measure in MEASURES.values():
        assert 0.0 <= measure(a, b) <= 1.0
        assert measure(a, a) == 1.0
    for measure in SYMMETRIC:
        assert measure(a, b) == measure(b, a)
        assert (measure(a, b) == 1.0) == (a == b)
    assert (pog(a, b) == 1.0) == (a <= b and (bool(a) or not b))
    assert jaccard(a, b) <= dice(a, b) <= ochiai(a, b) + 1e-15
    assert pog(a, b) + pog(b, a) >= 2 * ochiai(a, b) - 1e-12 or not (a and b)


@given(some_rules.filter(bool), some_rules.filter(bool))
def test_scikit_learn_agrees(a, b):
    """On indicators, Dice is scikit-learn's F1, Jaccard its Jaccard and POG its recall."""
    one, other = ([int(rule in chosen) for rule in range(13)] for chosen in (a, b))
    assert dice(a, b) == pytest.approx(f1_score(one, other), abs=1e-12)
    assert jaccard(a, b) == pytest.approx(jaccard_score(one, other), abs=1e-12)
    assert ochiai(a, b) == pytest.approx(math.sqrt(pog(a, b) * pog(b, a)), abs=1e-12)
    assert pog(a, b) == pytest.approx(recall_score(one, other), abs=1e-12)


# --- when rules are the same ----------------------------------------------------------------------


def test_identity_is_a_choice():
    """The same bins with other cuts are the same codes, other words, and perhaps the same rows."""
    a, b = line_rules(2, 5), line_rules(2, 5, cuts=(1, 2, 3, 4, 5.5, 6, 7, 8, 9))
    X = {"x": np.arange(10.0)}
    assert dice(a, b) == dice(a, b, identity="thresholds") == 0.5
    assert dice(a, b, identity="codes") == 1.0
    assert dice(a, b, identity="rows", X=X) == 1.0  # no value lies between 5 and 5.5
    assert dice(a, b, identity="rows", X={"x": [5.0, 5.2, 6.0]}) == 0.5


def test_rows_match_from_the_overlap_on():
    """Rules match if they share the part of their rows that was asked for, and no less."""
    a, b = line_rules(3), line_rules(4)
    X = {"x": [1.0, 2.0, 3.0, 4.0, 9.0]}  # they share 3 of 4 rows
    assert dice(a, b, identity="rows", X=X, overlap=0.75) == 1.0
    assert dice(a, b, identity="rows", X=X, overlap=0.76) == 0.0


def test_rules_that_hold_nowhere_agree():
    """On a table where neither holds, two rules cannot be told apart."""
    assert dice(line_rules(3), line_rules(4), identity="rows", X={"x": [9.0, 10.0]}) == 1.0


def most_pairs(a, b, X, overlap):
    """Return the largest one-to-one matching by trying all of them."""
    A, B = (set_.holds(X).T for set_ in (a, b))
    if len(A) > len(B):
        A, B = B, A
    same = [[(u & v).sum() >= overlap * (u | v).sum() for v in B] for u in A]
    return max(
        sum(same[i][j] for i, j in enumerate(chosen))
        for chosen in permutations(range(len(B)), len(A))
    )


@settings(max_examples=60)
@given(
    st.sets(st.integers(1, 9), min_size=1, max_size=4),
    st.sets(st.integers(1, 9), min_size=1, max_size=5),
    st.sampled_from([0.3, 0.5, 0.7, 0.9, 1.0]),
    st.integers(0, 99),
)
def test_rows_are_matched_one_to_one(first, second, overlap, seed):
    """The number of matches is the largest of all ways to pair rules, in either order."""
    a, b = line_rules(*first), line_rules(*second)
    X = {"x": np.random.default_rng(seed).integers(0, 11, 30).astype(float)}
    pairs = most_pairs(a, b, X, overlap)
    for measure in SYMMETRIC:
        forth = measure(a, b, identity="rows", X=X, overlap=overlap)
        assert forth == measure(b, a, identity="rows", X=X, overlap=overlap)
        assert measure(a, a, identity="rows", X=X, overlap=overlap) == 1.0
    expected = 2 * pairs / (len(a) + len(b))
    assert dice(a, b, identity="rows", X=X, overlap=overlap) == pytest.approx(expected)


def test_figures_of_models_carry_their_identity():
    """On models of several splits the three identities differ, and each figure says which it is."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    folds = [np.arange(len(y)) % 4 != i for i in range(3)]
    how = {"n_trees": 200, "n_bins": 5, "cuts": "quantile"}  # cut points that move
    models = [MossRegressor(6, **how).fit(X[fold], y[fold]) for fold in folds]
    rule_sets = [model.rules_ for model in models]
    codes = empirical_stability(rule_sets, identity="codes")
    words = empirical_stability(rule_sets)
    rows = empirical_stability(rule_sets, identity="rows", X=X, overlap=0.8)
    assert (codes.identity, words.identity, rows.identity) == ("codes", "thresholds", "rows to 0.8")
    by_hand = [dice(set(a.texts), set(b.texts)) for a, b in combinations(rule_sets, 2)]
    assert words == pytest.approx(np.mean(by_hand))
    assert words < codes
    assert 0.0 <= rows <= 1.0
    assert "same rows to 0.8" in repr(rows)


def test_an_empty_model_has_no_rows_to_match():
    """A model without rules agrees with another such only."""
    X = {"x": [1.0, 2.0]}
    assert dice(line_rules(), line_rules(), identity="rows", X=X) == 1.0
    assert dice(line_rules(), line_rules(1), identity="rows", X=X) == 0.0


# --- several runs ---------------------------------------------------------------------------------


@given(runs, st.sampled_from(sorted(MEASURES)))
def test_the_mean_is_over_all_pairs(rule_sets, name):
    """Empirical stability is the mean over ordered pairs, with an interval in [0, 1] around it."""
    found = empirical_stability(rule_sets, name, n_resamples=50)
    by_hand = np.mean([MEASURES[name](a, b) for a, b in permutations(rule_sets, 2)])
    assert found == pytest.approx(by_hand, abs=1e-12)
    assert found.estimate == float(found)
    assert found.runs == len(rule_sets)
    assert found.measure == name
    if len(rule_sets) > 2:
        assert 0.0 <= found.lower <= found + 1e-12
        assert found - 1e-12 <= found.upper <= 1.0
    again = empirical_stability(rule_sets[::-1], name, n_resamples=50)
    assert again == pytest.approx(found, abs=1e-12)


@given(runs)
def test_resampled_means_are_those_of_pairs_of_different_runs(rule_sets):
    """The standard error is that of means over resampled pairs without self-pairs."""
    rng = np.random.default_rng(7)
    T, means = len(rule_sets), []
    for times in rng.multinomial(T, np.full(T, 1 / T), size=40):
        drawn = np.repeat(np.arange(T), times)
        pairs = [(i, j) for i, j in combinations(drawn, 2) if i != j]
        if pairs:
            means.append(np.mean([dice(rule_sets[i], rule_sets[j]) for i, j in pairs]))
    found = empirical_stability(rule_sets, confidence=0.8, n_resamples=40, random_state=7)
    if T > 2:
        assert found.standard_error == pytest.approx(np.std(means), abs=1e-12)
        width = student.ppf(0.9, T - 1) * np.std(means)
        assert found.lower == pytest.approx(max(0.0, found - width), abs=1e-12)
        assert found.upper == pytest.approx(min(1.0, found + width), abs=1e-12)
    else:
        assert all(map(math.isnan, (found.lower, found.upper, found.standard_error)))


def test_an_interval_covers_what_it_should():
    """Of runs that are drawn alike, the interval contains the expected agreement about as often."""
    rng, hits = np.random.default_rng(3), 0
    # Each of 20 rules is in a run with probability 0.7; the limit of the mean by a large sample.
    many = [set(np.flatnonzero(rng.random(20) < 0.7).tolist()) for _ in range(300)]
    truth = empirical_stability(many, n_resamples=20)
    for _ in range(200):
        few = [set(np.flatnonzero(rng.random(20) < 0.7).tolist()) for _ in range(12)]
        found = empirical_stability(few, n_resamples=300)
        hits += found.lower <= truth <= found.upper
    assert 0.9 <= hits / 200 <= 0.99


def test_an_estimate_is_a_number_that_knows_what_it_is():
    """It computes, compares, prints and pickles, and cannot be changed."""
    found = empirical_stability([{1, 2}, {1, 2}, {1, 3}])
    assert found == 2 / 3
    assert 3 * found == 2.0
    assert f"{found:.2f}" == "0.67"
    assert repr(found) == "dice 0.667 [0.000, 1.000] (95% interval, 3 runs, same thresholds)"
    copy = pickle.loads(pickle.dumps(found))  # noqa: S301  our own
    assert (copy, copy.lower, copy.runs) == (found, found.lower, 3)
    with pytest.raises(AttributeError):
        found.lower = 0.0


# --- Nogueira -------------------------------------------------------------------------------------

# From the demonstration that comes with the paper, github.com/nogueirs/JMLR2018: ten random
# choices of 4 of 10, stability -0.037037037037, variance 0.00516666666667.
PUBLISHED = [
    "1111000000", "0001011100", "0100011100", "1100101000", "0110110000",
    "0111001000", "1001000011", "0001011100", "0011110000", "0000100111",
]  # fmt: skip


def test_the_published_examples_of_nogueira():
    """Stability and variance are those that the authors print."""
    Z = np.array([[int(bit) for bit in row] for row in PUBLISHED])
    found = nogueira(Z)
    assert found == pytest.approx(-0.037037037037, abs=1e-12)
    assert found.standard_error**2 == pytest.approx(0.00516666666667, abs=1e-14)
    assert nogueira([[1, 1, 0]] * 3) == 1.0
    assert nogueira([[1, 1, 0], [0, 1, 1], [1, 0, 1]]) == pytest.approx(-0.5)


def test_a_published_example_of_sets():
    """Three sets of ten features, from the vignette of the R package stabm."""
    sets = [{1, 2, 3}, {1, 2, 3, 4}, {1, 2, 3, 5, 6, 7}]
    assert empirical_stability(sets, "jaccard") == pytest.approx((3 / 4 + 3 / 6 + 3 / 7) / 3)
    assert nogueira(sets, 10) == pytest.approx(1 - (4 / 3 / 10) / (13 / 30 * 17 / 30))


def direct(Z):
    """Return stability and variance by the formulas of the paper, one candidate after the other."""
    M, d = Z.shape
    p = Z.mean(axis=0)
    k, k_bar = Z.sum(axis=1), Z.sum() / M
    chance = k_bar / d * (1 - k_bar / d)
    stability = 1 - Z.var(axis=0, ddof=1).mean() / chance
    phi = [
        (
            (Z[i] * p).mean()
            - k[i] * k_bar / d**2
            + stability / 2 * (2 * k_bar * k[i] / d**2 - k[i] / d - k_bar / d + 1)
        )
        / chance
        for i in range(M)
    ]
    return stability, 4 / M**2 * sum((each - np.mean(phi)) ** 2 for each in phi)


@given(runs, st.integers(13, 40))
def test_nogueira_is_its_formula(rule_sets, d):
    """From shared rules alone comes what the formulas give from the matrix of choices."""
    Z = np.array([[int(rule in chosen) for rule in range(d)] for chosen in rule_sets])
    found = nogueira(rule_sets, d)
    assert nogueira(Z) == pytest.approx(found, abs=1e-12)
    assert nogueira(Z[:, :13], d) == pytest.approx(found, abs=1e-12)
    assert found <= 1.0 + 1e-12
    if Z.sum() == 0:
        assert (found, found.lower, found.upper) == (1.0, 1.0, 1.0)
        return
    stability, variance = direct(Z)
    assert found == pytest.approx(stability, abs=1e-9)
    assert found.standard_error**2 == pytest.approx(variance, abs=1e-9)
    width = 1.959963984540054 * found.standard_error
    assert found.upper - found == pytest.approx(width)
    assert found - found.lower == pytest.approx(width)


def test_nogueira_is_zero_for_rules_drawn_at_random():
    """Its mean over many random draws is zero, and Dice's is not."""
    rng = np.random.default_rng(0)
    draws = [[set(rng.choice(30, 6, replace=False).tolist()) for _ in range(5)] for _ in range(400)]
    values = np.array([nogueira(draw, 30) for draw in draws])
    assert abs(values.mean()) < 4 * values.std() / math.sqrt(len(values))
    assert np.mean([empirical_stability(draw, n_resamples=20) for draw in draws]) > 0.15


def test_all_candidates_in_all_runs_agree():
    """Where nothing could differ the measure is 1."""
    assert nogueira([{1, 2}, {1, 2}], 2) == 1.0
    assert nogueira([set(), set()], 5) == 1.0


# --- rules that come again ------------------------------------------------------------------------


def test_consistent_rules_are_those_of_all_runs():
    """By default rules of every run; of a share, the most frequent first."""
    sets = [{"a", "b", "c"}, {"a", "b"}, {"c", "a"}, {"a"}]
    assert consistent_rules(sets) == {"a": 1.0}
    assert list(consistent_rules(sets, 0.5).items()) == [("a", 1.0), ("b", 0.5), ("c", 0.5)]
    assert consistent_rules(sets, 0.51) == {"a": 1.0}
    assert consistent_rules([set(), set()]) == {}


@given(runs, st.integers(1, 7))
def test_a_share_of_runs_is_exact(rule_sets, times):
    """A rule that is in k of n runs counts for the share k / n, whatever the rounding."""
    T = len(rule_sets)
    share = min(times, T) / T
    found = consistent_rules(rule_sets, share)
    counts = {rule: sum(rule in run for run in rule_sets) for rule in range(13)}
    assert set(found) == {rule for rule in counts if counts[rule] >= min(times, T)}


def test_consistent_rules_of_models():
    """Rules are found again by code, or by what they read."""
    sets = [line_rules(2, 5), line_rules(5, 7), line_rules(5, cuts=(1, 2, 3, 4, 5.5, 6, 7, 8, 9))]
    assert consistent_rules(sets, identity="codes") == {Rule((Range("x", high=5),)): 1.0}
    assert consistent_rules(sets, 0.6) == {"x <= 5": 2 / 3}
    assert consistent_rules(sets) == {}


def test_rules_on_their_own_have_no_thresholds():
    """Bare rules are compared by bins, and only if that is what was asked for."""
    rule = line_rules(5).rules[0]
    assert dice({rule}, line_rules(5), identity="codes") == 1.0
    for a, b in (({rule}, {rule}), ({rule}, line_rules(5)), ({"x <= 5"}, line_rules(5))):
        with pytest.raises(UnsupportedType, match=r"pass RuleSets, or identity='codes'"):
            dice(a, b)


# --- what was passed ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dice({1}, {2}, identity="names"), "identity is 'names'"),
        (lambda: dice({1}, {2}, identity="rows"), "X"),
        (lambda: dice({1}, {2}, X=[[1.0]]), "leave it out"),
        (lambda: dice({1}, {2}, overlap=1.5), "overlap"),
        (lambda: empirical_stability([{1}]), "at least 2"),
        (lambda: empirical_stability([{1}, {2}], "cosine"), "measure is 'cosine'"),
        (lambda: empirical_stability([{1}, {2}], confidence=1.0), "confidence"),
        (lambda: empirical_stability([{1}, {2}, {3}], n_resamples=0), "n_resamples"),
        (lambda: empirical_stability(line_rules(1, 2)), "list of rule sets"),
        (lambda: empirical_stability([{1}, 2]), "int in it"),
        (lambda: empirical_stability(["ab", "ac"]), "str in it"),
        (lambda: nogueira([{1}, {2}]), "n_candidates is missing"),
        (lambda: nogueira([{1}, {2}], 1), "at least 2"),
        (lambda: nogueira(np.array([[0, 2], [1, 1]])), "zeros and ones"),
        (lambda: nogueira([[1, 0], [1]]), "zeros and ones"),
        (lambda: nogueira([[1, 0]]), "zeros and ones"),
        (lambda: consistent_rules([{1}], share=0), "share"),
        (lambda: consistent_rules([{1}], share=1.1), "share"),
        (lambda: consistent_rules([{1}], identity="rows"), "identity"),
        (lambda: consistent_rules([]), "at least 1"),
    ],
)
def test_what_is_wrong_is_named(call, words):
    """One sentence says what was wrong."""
    with pytest.raises((InvalidParameter, UnsupportedType), match=words):
        call()


def test_several_measures_from_one_agreement():
    """Shared rules are counted once, for all measures."""
    sets = [{1, 2, 3}, {2, 3}, {3, 4}]
    agreement = Agreement.of(sets)
    assert agreement.shared.tolist() == [[3, 2, 1], [2, 2, 1], [1, 1, 2]]
    assert (agreement.runs, agreement.distinct) == (3, 4)
    assert agreement.sizes.tolist() == [3, 2, 2]
    for name in MEASURES:
        assert agreement.mean(name) == empirical_stability(sets, name)
    assert agreement.nogueira(9) == nogueira(sets, 9)
