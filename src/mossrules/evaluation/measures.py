"""Measures of agreement between two rule sets, or among those of many runs, as users call them.

Each builds an `Agreement` and reads one number of it: formulas stand in `agreement.py` alone. The
signatures are written out, alike in each, so that editors and `help` show the parameters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal

import numpy as np

from mossrules import defaults
from mossrules._common import check_choice, check_number
from mossrules._refusals import names_input
from mossrules._typing import AnyArray, IntArray
from mossrules.evaluation.agreement import (
    ROUNDING,
    SAME_ROWS,
    Agreement,
    Estimate,
    Identity,
    Measure,
    Rules,
    key_of_each,
    keys,
    read_runs,
)
from mossrules.exceptions import InvalidParameter
from mossrules.model.ruleset import RuleSet

__all__ = [
    "consistent_rules",
    "dice",
    "empirical_stability",
    "jaccard",
    "nogueira",
    "ochiai",
    "pog",
    "shares_of_rules",
]


# --- two rule sets --------------------------------------------------------------------------------


@names_input("a")
def dice(
    a: Rules,
    b: Rules,
    *,
    identity: Identity = defaults.IDENTITY,
    X: Any = None,
    overlap: float = SAME_ROWS,
) -> float:
    """Return the Dice-Sorensen coefficient: rules shared, over the mean size of the two sets.

    Parameters
    ----------
    a, b
        Two rule sets, or any collections of rules.
    identity : {"thresholds", "codes", "rows"}, default="thresholds"
        When two rules count as the same:

        * "thresholds": they read the same, in the user's units: the same columns, thresholds and
          levels, exactly. What is in plain collections, and not a `Rule`, stands for itself.
        * "codes": they have the same conditions on the same bins, as the literature counts. Only
          for analyses with the same `n_bins`.
        * "rows": they hold on the same rows of `X`, nearly: on at least the share `overlap` of
          those where either holds (two rules that hold nowhere agree). Each rule counts in one pair
          only; of all ways to pair them, one with most pairs is taken. For methods with cuts of
          their own.
    X
        Table with the columns of training, for "rows" only.
    overlap : float in (0, 1], default=0.9
        Share of the rows that rules must have in common, for "rows" only.

    Examples
    --------
    >>> dice({"a", "b", "c"}, {"b", "c", "d"})
    0.6666666666666666
    """
    return _similarity("dice", [a, b], identity=identity, X=X, overlap=overlap)


@names_input("a")
def jaccard(
    a: Rules,
    b: Rules,
    *,
    identity: Identity = defaults.IDENTITY,
    X: Any = None,
    overlap: float = SAME_ROWS,
) -> float:
    """Return the Jaccard index: rules shared, over rules in either.

    Parameters
    ----------
    a, b, identity, X, overlap
        As in `dice`.

    Examples
    --------
    >>> jaccard({"a", "b", "c"}, {"b", "c", "d"})
    0.5
    """
    return _similarity("jaccard", [a, b], identity=identity, X=X, overlap=overlap)


@names_input("a")
def ochiai(
    a: Rules,
    b: Rules,
    *,
    identity: Identity = defaults.IDENTITY,
    X: Any = None,
    overlap: float = SAME_ROWS,
) -> float:
    """Return the Ochiai coefficient: rules shared, over the geometric mean of the sizes.

    Parameters
    ----------
    a, b, identity, X, overlap
        As in `dice`.

    Examples
    --------
    >>> ochiai({"a", "b", "c", "d"}, {"b"})
    0.5
    """
    return _similarity("ochiai", [a, b], identity=identity, X=X, overlap=overlap)


@names_input("a")
def pog(
    a: Rules,
    b: Rules,
    *,
    identity: Identity = defaults.IDENTITY,
    X: Any = None,
    overlap: float = SAME_ROWS,
) -> float:
    """Return the percentage of overlapping genes: the part of the rules of `a` that `b` has too.

    As a share in [0, 1], and not symmetric: `pog(b, a)` is the part of `b`.

    Parameters
    ----------
    a, b, identity, X, overlap
        As in `dice`.

    Examples
    --------
    >>> pog({"a", "b", "c", "d"}, {"b"}), pog({"b"}, {"a", "b", "c", "d"})
    (0.25, 1.0)
    """
    return _similarity("pog", [a, b], identity=identity, X=X, overlap=overlap)


def _similarity(measure: Measure, rule_sets: list[Rules], **same: Any) -> float:
    return float(Agreement.of(rule_sets, **same).similarity(measure)[0, 1])


# --- several rule sets ----------------------------------------------------------------------------


def empirical_stability(
    rule_sets: Iterable[Rules],
    measure: Measure = "dice",
    *,
    identity: Identity = defaults.IDENTITY,
    X: Any = None,
    overlap: float = SAME_ROWS,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    random_state: Any = 0,
) -> Estimate:
    """Return the mean similarity of all pairs of rule sets, with a bootstrap interval.

    The paper prints the factor of its mean upside down; the mean over pairs is meant, and is here.

    For the standard error, runs are drawn again with replacement. A run that is drawn twice makes a
    pair with itself, whose agreement says nothing: such pairs are left out of the mean. The
    interval has the width that Student's t asks for, cut at 0 and 1. Two runs are too few for
    either, which are then NaN.

    Parameters
    ----------
    rule_sets
        One from each run, at least two.
    measure : {"dice", "jaccard", "ochiai", "pog"}, default="dice"
        Of two rule sets.
    identity, X, overlap
        When two rules count as the same, as in `dice`.
    confidence : float in (0, 1), default=0.95
        Of the interval.
    n_resamples : int, default=1000
        Number of times that the runs are resampled, at least 20.
    random_state : int, NumPy generator or None, default=0
        Seed of these draws.

    Examples
    --------
    >>> empirical_stability([{"a", "b"}, {"a", "b"}, {"a", "c"}])
    dice 0.667 [0.000, 1.000] (95% interval, 3 runs, same thresholds)
    """
    agreement = Agreement.of(rule_sets, identity=identity, X=X, overlap=overlap)
    return agreement.mean(
        measure, confidence=confidence, n_resamples=n_resamples, random_state=random_state
    )


@names_input("rule_sets")
def nogueira(
    rule_sets: Iterable[Rules] | AnyArray,
    n_candidates: int | None = None,
    *,
    identity: Identity = defaults.IDENTITY,
    X: Any = None,
    overlap: float = SAME_ROWS,
    confidence: float = 0.95,
) -> Estimate:
    """Return the measure of Nogueira, Sechidis and Brown (JMLR 18:174, 2018), with its interval.

    Unlike the means over pairs it is corrected for chance: 1 if all sets are the same, 0 in
    expectation if rules are drawn at random, whatever the sizes. The interval is theirs, that of a
    normal limit, and may reach beyond 1. Where all sets are empty, or hold all candidates, it is 1.

    Parameters
    ----------
    rule_sets
        One from each run, at least two; or an array of zeros and ones, (runs, candidates).
    n_candidates : int
        How many distinct rules there were to choose from, over all runs; by default the columns of
        the array, and needed for rule sets.
    identity, X, overlap
        When two rules count as the same, as in `dice`.
    confidence : float in (0, 1), default=0.95
        Of the interval.

    Examples
    --------
    >>> round(nogueira([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), 9)  # an example of the authors
    -0.5
    """
    if _is_matrix(rule_sets):
        indicators = _read_indicators(rule_sets)
        distinct = int(indicators.any(axis=0).sum())
        agreement = Agreement(indicators @ indicators.T, distinct, identity)
        n_candidates = indicators.shape[1] if n_candidates is None else n_candidates
    else:
        agreement = Agreement.of(rule_sets, identity=identity, X=X, overlap=overlap)
        if n_candidates is None:
            raise InvalidParameter(
                "n_candidates is missing; pass the number of rules there were to choose from."
            )
    return agreement.nogueira(n_candidates, confidence=confidence)


def consistent_rules(
    rule_sets: Iterable[Rules],
    share: float = 1.0,
    *,
    identity: Literal["codes", "thresholds"] = defaults.IDENTITY,
) -> dict[Any, float]:
    """Return the rules found in at least a share of the runs, the most frequent first.

    A dict from the text of each rule (with "codes", from the rule) to its share of the runs.
    Agreement on rows makes pairs, and no groups of more than two, so it has no such list.

    Parameters
    ----------
    rule_sets
        One from each run.
    share : float in (0, 1], default=1
        Least share of the runs.
    identity : {"thresholds", "codes"}, default="thresholds"
        When two rules count as the same, as in `dice`.

    Examples
    --------
    >>> consistent_rules([{"a", "b"}, {"a", "c"}, {"a", "b"}], share=0.5)
    {'a': 1.0, 'b': 0.6666666666666666}
    """
    if check_number("share", share) > 1:
        raise InvalidParameter(f"share is {share!r}; pass a part of the runs in (0, 1].")
    check_choice("identity", identity, ("codes", "thresholds"))
    runs = read_runs(rule_sets, identity, minimum=1)
    return dict(_named_shares(runs, share, identity).values())


def shares_of_rules(
    rule_sets: Iterable[Rules], share: float = 1e-9, *, identity: Literal["codes", "thresholds"]
) -> dict[Hashable, float]:
    """Return the same by what stands for rules (`key_of_each`): by default of all rules."""
    runs = read_runs(rule_sets, identity, minimum=1)
    return {key: part for key, (_, part) in _named_shares(runs, share, identity).items()}


def _named_shares(
    runs: Sequence[Rules], share: float, identity: str
) -> dict[Hashable, tuple[Any, float]]:
    """Return name and share of each rule that is frequent enough, the most frequent first."""
    names: dict[Hashable, Any] = {}
    for rules in runs:
        own = key_of_each(rules, identity)
        if identity == "thresholds" and isinstance(rules, RuleSet):
            names.update(zip(own, rules.texts, strict=True))
        else:
            names.update(zip(own, own, strict=True))
    times = Counter(key for rules in runs for key in keys(rules, identity))
    needed = share * len(runs) * ROUNDING
    frequent = [key for key, count in times.items() if count >= needed]
    frequent.sort(key=lambda key: (-times[key], _order(names[key])))
    return {key: (names[key], times[key] / len(runs)) for key in frequent}


def _is_matrix(rule_sets: object) -> bool:
    """Tell an array, or lists of zeros and ones, from rule sets."""
    # Lists of the rules 0 and 1 look the same; who has those can pass sets.
    if isinstance(rule_sets, list | tuple) and all(isinstance(run, list) for run in rule_sets):
        return any(rule_sets) and all(entry in (0, 1) for run in rule_sets for entry in run)
    return hasattr(rule_sets, "__array__")


def _read_indicators(matrix: Any) -> IntArray:
    if isinstance(matrix, list | tuple) and len({len(row) for row in matrix}) > 1:
        matrix = ()  # NumPy's own error on ragged lists would not say what is wanted
    values = np.asarray(matrix)
    if values.ndim != 2 or len(values) < 2 or not np.isin(values, (0, 1)).all():
        raise InvalidParameter(
            "rule_sets must be rule sets, or an array of zeros and ones with a row for each of at "
            "least two runs and a column for each candidate."
        )
    return values.astype(np.int64)


def _order(rule: Any) -> tuple[Any, ...]:
    """Return what settles the order of rules that are equally frequent."""
    return getattr(rule, "sort_key", (str(rule),))
