"""Do repeated analyses find the same rules? One definition of each measure, for everyone.

Notation (shapes in brackets)
    T, d    runs (rule sets), and candidates that could have been chosen
    n       sizes of the rule sets                                              (T,)
    S       shared rules: S_ij = |R_i and R_j|, so that S_ii = n_i              (T, T)
    D       similarity of two rule sets, a function of S_ij, n_i and n_j        (T, T)

    Dice     2 S_ij / (n_i + n_j)              Ochiai   S_ij / sqrt(n_i n_j)
    Jaccard  S_ij / (n_i + n_j - S_ij)         POG      S_ij / n_i

    empirical stability = mean of D_ij over all i != j

POG asks which part of the first set is in the second, and so depends on their order; its mean over
i != j does not. Two empty sets agree (1); an empty and another set do not (0).

All of it, and Nogueira's measure too, depends on the rules through S alone. So a new measure is one
line in `Agreement.similarity`. When two rules count as the same is a choice of its own, and moves
every figure: it has a name, and every `Estimate` carries it. The functions that users call are in
`measures.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import norm
from scipy.stats import t as student

from mossrules import defaults
from mossrules._common import check_choice, check_integer, check_number
from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.candidates.rules import Rule
from mossrules.candidates.search import resolve_seed
from mossrules.data.table import Table
from mossrules.exceptions import InvalidParameter, UnsupportedType
from mossrules.model.ruleset import RuleSet

__all__ = [
    "MEASURES",
    "SAME_ROWS",
    "Agreement",
    "Estimate",
    "Identity",
    "Measure",
    "Rules",
    "check_identity",
    "key_of_each",
    "keys",
    "matches",
    "packed_rows",
    "pairwise",
    "read_runs",
]

Identity = Literal["codes", "thresholds", "rows"]
Rules = RuleSet | Iterable[Hashable]

SAME_ROWS = 0.9  # rules match if they share this part of the rows on which either holds
Measure = Literal["dice", "jaccard", "ochiai", "pog"]
MEASURES: tuple[Measure, ...] = get_args(Measure)

# A product with a share may come out a rounding error above a whole number, which rows reach.
ROUNDING = 1.0 - 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(float):
    """A measured stability: a number to compute with, which knows what it is.

    The interval and the standard error are of the mean over runs such as these. The runs of a
    cross-validation share most of their rows, so it is narrower than one over new data would be.

    Examples
    --------
    >>> from mossrules.stability import empirical_stability
    >>> stability = empirical_stability([{"a", "b"}, {"a", "b"}, {"a", "c"}, {"a", "b"}])
    >>> stability
    dice 0.750 [0.161, 1.000] (95% interval, 4 runs, same thresholds)
    >>> stability > 0.5, stability.runs
    (True, 4)
    """

    estimate: float  #: the number itself
    lower: float  #: end of the interval
    upper: float  #: end of the interval
    standard_error: float  #: of the mean over runs
    confidence: float  #: of the interval from lower to upper
    measure: str  #: what was measured, such as dice
    identity: str  #: when two rules counted as the same
    runs: int  #: rule sets that were compared

    def __new__(cls, estimate: float, *_: object, **__: object) -> Self:
        """Return the number; what it is comes with it."""
        return super().__new__(cls, estimate)

    def __repr__(self) -> str:
        return (
            f"{self.measure} {self.estimate:.3f} [{self.lower:.3f}, {self.upper:.3f}] "
            f"({self.confidence:.0%} interval, {self.runs} runs, same {self.identity})"
        )

    __str__ = __repr__


@dataclass(frozen=True, eq=False)
class Agreement:
    """How many rules each two of several rule sets share: all that any measure needs.

    Make it with `Agreement.of`; to compute several measures, make it once.

    Examples
    --------
    >>> agreement = Agreement.of([{"a", "b"}, {"a", "b"}, {"a", "c"}])
    >>> agreement.similarity("jaccard").round(2)
    array([[1.  , 1.  , 0.33],
           [1.  , 1.  , 0.33],
           [0.33, 0.33, 1.  ]])
    >>> agreement.nogueira(n_candidates=10)
    nogueira 0.583 [0.361, 0.806] (95% interval, 3 runs, same thresholds)
    """

    shared: IntArray  #: S of the notation: sizes on the diagonal
    distinct: int  #: rules that some set has; for matches on rows, a lower bound
    identity: str = defaults.IDENTITY  #: when two rules counted as the same

    @classmethod
    def of(
        cls,
        rule_sets: Iterable[Rules],
        *,
        identity: Identity = defaults.IDENTITY,
        X: Any = None,
        overlap: float = SAME_ROWS,
    ) -> Agreement:
        """Return the agreement of rule sets, one from each run; parameters as of `dice`."""
        check_identity(identity, overlap)
        if (X is not None) != (identity == "rows"):
            raise InvalidParameter(
                "X goes with identity='rows', which needs it to see where rules hold; "
                + ("pass a table as X." if X is None else "leave it out.")
            )
        runs = read_runs(rule_sets, identity, minimum=2)
        if identity != "rows":
            sets = [keys(rules, identity) for rules in runs]
            distinct = len(frozenset[Hashable]().union(*sets))
            return cls(pairwise(sets, lambda a, b: len(a & b)), distinct, identity)
        table = Table.from_any(X)
        bits = [packed_rows(rules, table) for rules in runs]
        shared = pairwise(bits, lambda a, b: matches(a, b, overlap))
        # "Nearly the same rows" is not transitive, so matches form no classes that one could count.
        # The largest set is what is certain.
        return cls(shared, int(shared.max()), f"rows to {overlap:g}")

    @property
    def sizes(self) -> IntArray:
        """Number of rules of each set."""
        return np.diagonal(self.shared)

    @property
    def runs(self) -> int:
        """Number of rule sets."""
        return len(self.shared)

    def similarity(self, measure: Measure = "dice") -> FloatArray:
        """Return the similarity of the i-th to the j-th rule set: (runs, runs)."""
        check_choice("measure", measure, get_args(Measure))
        S, a, b = self.shared, self.sizes[:, None], self.sizes[None, :]
        whole = {
            "dice": (a + b) / 2.0,
            "jaccard": a + b - S,
            "ochiai": np.sqrt(a * b),
            "pog": a + 0 * b,
        }[measure]
        # 0/0, where both are empty: they agree. One empty set against another is 0 by the formulas.
        neither = np.asarray((a == 0) & (b == 0), dtype=np.float64)
        values: FloatArray = np.divide(S, whole, out=neither, where=whole > 0)
        return values

    def mean(
        self,
        measure: Measure = "dice",
        *,
        confidence: float = 0.95,
        n_resamples: int = 1000,
        random_state: Any = 0,
    ) -> Estimate:
        """Return the mean similarity of all pairs.

        Parameters
        ----------
        measure, confidence, n_resamples, random_state
            As in `empirical_stability`.
        """
        _check_confidence(confidence)
        D = self.similarity(measure)
        np.fill_diagonal(D, 0.0)
        T = self.runs
        value, error, width = float(D.sum() / (T * (T - 1))), np.nan, np.nan
        if T > 2:
            # A bootstrap over runs. With t_i the times that run i was drawn, the mean over pairs of
            # different runs is t'Dt / (T^2 - t't): one product for all resamples, in place of a
            # submatrix of D for each.
            rng = np.random.default_rng(resolve_seed(random_state))
            draws = check_integer("n_resamples", n_resamples, minimum=20)
            times = rng.multinomial(T, np.full(T, 1.0 / T), size=draws)
            pairs = T * T - np.sum(times**2, axis=1)
            totals = np.sum((times @ D) * times, axis=1)
            # Where one run was drawn every time there is no pair.
            error = float((totals[pairs > 0] / pairs[pairs > 0]).std())
            # Student's t covers 92 to 98 % of ten runs where 95 % is asked for; percentiles of the
            # resampled means, which were tried first, covered 90 to 94 %.
            width = float(student.ppf((1.0 + confidence) / 2.0, T - 1)) * error
        return Estimate(
            estimate=value,
            lower=float(np.clip(value - width, 0.0, 1.0)),
            upper=float(np.clip(value + width, 0.0, 1.0)),
            standard_error=error,
            confidence=confidence,
            measure=measure,
            identity=self.identity,
            runs=T,
        )

    def nogueira(self, n_candidates: int, *, confidence: float = 0.95) -> Estimate:
        """Return Nogueira's measure; see `nogueira`.

        With p_f the share of the runs that chose candidate f, n_bar the mean size and Z the
        indicators of choices, their formulas need three sums, which S has:

            sum_f p_f = n_bar,   sum_f p_f^2 = sum_ij S_ij / T^2,   sum_f Z_if p_f = sum_j S_ij / T
        """
        _check_confidence(confidence)
        T, sizes = self.runs, self.sizes
        d = check_integer("n_candidates", n_candidates, minimum=max(1, self.distinct))
        mean_size = float(sizes.mean())
        by_chance = mean_size / d * (1.0 - mean_size / d)
        value, variance = 1.0, 0.0
        # All sets empty, or full: chance leaves no room for disagreement, and there is none.
        if by_chance > 0:
            # 1 - (unbiased variance of the indicators, mean over candidates) / (that by chance).
            spread = T / (T - 1) * (mean_size - float(self.shared.sum()) / T**2) / d
            value = 1.0 - spread / by_chance
            own, mean = sizes / d, mean_size / d
            # phi_i is what run i contributes; the variance is 4 / T^2 sum_i (phi_i - mean)^2.
            phi = self.shared.sum(axis=1) / (T * d) - own * mean
            phi = phi + value / 2.0 * (2.0 * own * mean - own - mean + 1.0)
            phi = phi / by_chance
            variance = 4.0 / T**2 * float(np.sum((phi - phi.mean()) ** 2))
        error = variance**0.5
        width = float(norm.ppf((1.0 + confidence) / 2.0)) * error
        return Estimate(
            estimate=value,
            lower=value - width,
            upper=value + width,
            standard_error=error,
            confidence=confidence,
            measure="nogueira",
            identity=self.identity,
            runs=T,
        )


def check_identity(identity: str, overlap: float) -> None:
    """Refuse what does not say when two rules count as the same."""
    check_choice("identity", identity, get_args(Identity))
    if check_number("overlap", overlap) > 1:
        raise InvalidParameter(f"overlap is {overlap!r}; pass a share of rows in (0, 1].")


def _check_confidence(confidence: float) -> None:
    if check_number("confidence", confidence) >= 1:
        raise InvalidParameter(f"confidence is {confidence!r}; pass a number between 0 and 1.")


# --- when two rules count as the same ---------------------------------------------------------


def pairwise(items: Sequence[Any], count: Callable[[Any, Any], int]) -> IntArray:
    """Return the counts of all pairs, each counted once."""
    shared = np.zeros((len(items), len(items)), dtype=np.int64)
    for i, one in enumerate(items):
        for j, other in enumerate(items[: i + 1]):
            shared[i, j] = shared[j, i] = count(one, other)
    return shared


def keys(rules: Rules, identity: str) -> frozenset[Hashable]:
    """Return what stands for the rules: the rules themselves, or what they say."""
    return frozenset(key_of_each(rules, identity))


def key_of_each(rules: Rules, identity: str) -> tuple[Hashable, ...]:
    """Return what stands for each rule, in their order."""
    if identity == "codes" or not isinstance(rules, RuleSet):
        return tuple(rules)
    return tuple(rule.printed(rules.binning) for rule in rules)


def packed_rows(rules: Rules, table: Table) -> AnyArray:
    """Return the rows on which each rule holds, eight to a byte: (rules, rows / 8)."""
    return np.packbits(_as_rule_set(rules).holds(table).T, axis=1)


def matches(a: AnyArray, b: AnyArray, overlap: float) -> int:
    """Return how many rules of `a` and `b` can be paired that hold on nearly the same rows."""
    if len(a) == 0 or len(b) == 0:
        return 0
    both = np.stack([np.bitwise_count(one & b).sum(axis=1, dtype=np.int64) for one in a])
    either = np.stack([np.bitwise_count(one | b).sum(axis=1, dtype=np.int64) for one in a])
    same = both >= overlap * either * ROUNDING
    # An assignment, as a rule may be near several: pairing greedily could count fewer.
    return int(same[linear_sum_assignment(same, maximize=True)].sum())


def read_runs(rule_sets: Iterable[Rules], identity: str, *, minimum: int) -> list[Rules]:
    """Return the rule sets of several runs, at least `minimum` of them.

    Rules on their own have no thresholds. Anything else in a plain collection stands for itself,
    and cannot be the same as a rule of a `RuleSet`.
    """
    if isinstance(rule_sets, RuleSet | str) or not isinstance(rule_sets, Iterable):
        raise UnsupportedType(
            f"rule_sets is a {type(rule_sets).__name__}; pass a list of rule sets, one from each "
            "run."
        )
    runs = list(rule_sets)
    for run in runs:
        if isinstance(run, str) or not isinstance(run, Iterable):
            raise UnsupportedType(
                f"rule_sets has a {type(run).__name__} in it; pass a RuleSet or a collection of "
                "rules for each run."
            )
    if len(runs) < minimum:
        raise InvalidParameter(f"rule_sets has {len(runs)} of them; pass at least {minimum}.")
    plain = [type(run).__name__ for run in runs if not isinstance(run, RuleSet)]
    runs = [run if isinstance(run, RuleSet) else tuple(run) for run in runs]  # of generators, once
    if identity == "thresholds" and plain:
        bare = any(isinstance(rule, Rule) for run in runs for rule in run)
        if bare or len(plain) < len(runs):
            raise UnsupportedType(
                "identity is 'thresholds', which needs rules with their thresholds, and there is a "
                f"{plain[0]}; pass RuleSets, or identity='codes'."
            )
    return runs


def _as_rule_set(rules: Rules) -> RuleSet:
    if not isinstance(rules, RuleSet):
        raise UnsupportedType(
            "identity is 'rows', which needs rules with their thresholds, and there is a "
            f"{type(rules).__name__}; pass RuleSets."
        )
    return rules
