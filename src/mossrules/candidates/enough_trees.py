"""How many trees are enough, and a pool of rules from as many.

The same rows under another seed give another forest, and other rules where counts are close. How
far two forests would agree can be told from one: the count of a rule is binomial. So trees are
grown in batches until two forests of this size would have 95 % of their 100 most frequent rules in
common. A forest of more trees is the smaller one and further trees, so that a batch costs what it
adds; and counts decide alone, so that the number is the same for any chunks, threads or engine.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from mossrules._typing import IntArray
from mossrules.candidates.forest import ForestGenerator, Generator
from mossrules.candidates.pool import CandidatePool, FoundRules
from mossrules.exceptions import InvalidParameter

if TYPE_CHECKING:
    from mossrules.candidates.codes import EncodedTable
    from mossrules.data.chunks import Progress

__all__ = ["LEAST_TREES", "agreement_of_forests", "find_pool"]

AGREEMENT = 0.95  # Dice of the most frequent rules of two forests, as expected
MOST_FREQUENT = 100  # rules, among which a choice of 15 or so is made

LEAST_TREES = 500
MOST_TREES = 8000
# Trees beyond these are grown as long as rows x columns x trees are no more than this: less than a
# second of two cores. A large table has them all the same.
SURE_TREES = 2000
MOST_WORK = 400_000_000

BATCH = 100  # numbers of trees are multiples of this


def find_pool(
    source: Generator,
    data: EncodedTable,
    *,
    inner_nodes: bool = False,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> CandidatePool:
    """Return the rules of a source with their counts."""
    how: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress}
    if not isinstance(source, ForestGenerator):
        if isinstance(source.n_trees, str):
            raise InvalidParameter("n_trees is 'auto', which a source of given trees cannot have.")
        paths = source.paths(data, inner_nodes=inner_nodes, **how)
        return CandidatePool.from_paths(paths, data.binning, source.n_trees, data.made_up_order)
    found, most = FoundRules(data.binning), _most_trees(data)
    wanted = LEAST_TREES if isinstance(source.n_trees, str) else source.n_trees
    while found.n_trees < wanted:
        batch = replace(source, n_trees=wanted - found.n_trees, first_tree=found.n_trees)
        found.add_forest(batch.grow(data, **how), inner_nodes=inner_nodes)
        if isinstance(source.n_trees, str):
            wanted = min(_trees_wanted(found.counts, found.n_trees), most)
    return found.pool(data.made_up_order)


def agreement_of_forests(counts: IntArray, n_trees: int) -> float:
    """Return the share of the most frequent rules that two forests are expected to have in common.

    A forest has a rule among its most frequent ones with probability phi, and the other one too
    with phi^2, by the normal approximation; the limit is between the last of them and the next.
    """
    shares = np.sort(counts / n_trees)[::-1]
    if len(shares) <= MOST_FREQUENT:
        return 1.0  # all of them are
    limit = (shares[MOST_FREQUENT - 1] + shares[MOST_FREQUENT]) / 2
    spread = np.sqrt(shares * (1.0 - shares) / n_trees)
    certain = np.copysign(np.inf, shares - limit)  # a rule of all trees is in every forest
    phi = ndtr(np.divide(shares - limit, spread, out=certain, where=spread > 0))
    return float((phi**2).sum() / phi.sum())


def _most_trees(data: EncodedTable) -> int:
    """Return how many trees are within the budget of work."""
    within = MOST_WORK // (data.n_rows * len(data.binning.columns))
    return min(MOST_TREES, max(SURE_TREES, within // BATCH * BATCH))


def _trees_wanted(counts: IntArray, n_trees: int) -> int:
    """Return how many trees are expected to be enough, at most twice as many as there are."""
    agreement = agreement_of_forests(counts, n_trees)
    if agreement >= AGREEMENT:
        return n_trees
    # What forests differ in falls with the square root of their size.
    wanted = n_trees * ((1.0 - agreement) / (1.0 - AGREEMENT)) ** 2
    return min(2 * n_trees, (int(wanted) // BATCH + 1) * BATCH)
