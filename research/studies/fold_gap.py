"""How close a proof do rule sets of folds need? What a wider gap changes, and what it saves.

On each of five folds of a table candidates are found once, and the rule sets at the eleven shares
of `stability="auto"` are searched for at several gaps. Against the closest: seconds of the
processor, how much more loss on the training rows, how many rule sets are the same, what test R2
and Dice between folds become, and the share that is chosen. Run
`python -m research.studies.fold_gap [table ...]`; its table is in docs/choosing.md.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mossrules import MossRegressor
from mossrules.data.rows import Rows, read_rows
from mossrules.data.table import take_rows
from mossrules.evaluation.folds import split_rows
from mossrules.exceptions import SolveLimitWarning
from mossrules.learning.fit import build_problem, find_in_rows, rule_set_of, solve_floors
from mossrules.learning.stability_levels import at_stability, read_shares
from mossrules.model.ruleset import RuleSet
from mossrules.solver.search.branch_and_bound import compile_kernels
from mossrules.stability import empirical_stability
from research.benchmarks._data import read_mixed

DATASETS = ("560_bodyfat", "547_no2", "223_stock", "183_abalone", "503_wind", "315_us_crime")
GAPS = (0.01, 0.02, 0.05, 0.1)
SHARES = read_shares(11, "each")
SECONDS = 20.0  # for each search


@dataclass
class Searched:
    """What a gap gives, over folds and shares."""

    seconds: float
    loss: list[float]
    supports: list[bytes]
    scores: np.ndarray  # (folds, shares), R2 on test rows
    rules: list[list[RuleSet]]  # by fold, then by share

    @property
    def dice(self) -> list[float]:
        """Agreement between folds at each share."""
        return [float(empirical_stability(sets)) for sets in zip(*self.rules, strict=True)]

    @property
    def chosen(self) -> float:
        """The share that "auto" takes: the largest Dice within a standard error of the best R2."""
        means = self.scores.mean(axis=0)
        best = int(means.argmax())
        error = self.scores[:, best].std(ddof=1) / np.sqrt(len(self.scores))
        within = means >= means[best] - error
        return float(SHARES[int(np.argmax(np.where(within, self.dice, -1.0)))])


def measure(name: str) -> dict[float, Searched]:
    """Return what each gap gives on a table."""
    X, y = read_mixed(name)
    rows = read_rows(X, y, None, None, whole=True)
    settings = MossRegressor(n_jobs=1, random_state=0, time_limit=SECONDS).settings()
    found = {gap: Searched(0.0, [], [], np.empty((0, len(SHARES))), []) for gap in GAPS}
    for train, test in split_rows(rows, 5):
        candidates = find_in_rows(rows.take(train), **settings.search)
        problem = build_problem(candidates, settings)
        if problem is None:
            continue
        floors = [at_stability(problem, float(share)).min_stability for share in SHARES]
        for gap, searched in found.items():
            started = time.process_time()
            distinct = sorted(set(floors), reverse=True)
            frontier = solve_floors(problem, distinct, settings.but(n_jobs=1), gap)
            searched.seconds += time.process_time() - started
            by_floor = {entry.floor: entry.solution for entry in frontier.entries}
            solutions = [by_floor[floor] for floor in floors]
            sets = [rule_set_of(candidates, problem, each, settings) for each in solutions]
            searched.loss += [each.loss for each in solutions]
            searched.supports += [each.support.tobytes() for each in solutions]
            searched.rules.append(sets)
            scores = [r_squared(rows, test, each) for each in sets]
            searched.scores = np.vstack([searched.scores, scores])
    return found


def r_squared(rows: Rows, test: np.ndarray, rules: RuleSet) -> float:
    """Return R2 on test rows."""
    target = rows.target[test]
    apart = target - rules.predict(take_rows(rows.table, test))
    return float(1.0 - np.mean(apart**2) / np.var(target))


def lines(names: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of the table, as they are measured."""
    yield "| table | gap | seconds | more loss | same | R2 changes by | Dice changes by | chosen |"
    yield "|---|---|---|---|---|---|---|---|"
    for name in names:
        found = measure(name)
        closest = found[GAPS[0]]
        for gap, each in found.items():
            more = float(np.mean(np.array(each.loss) / closest.loss)) - 1.0
            pairs = zip(each.supports, closest.supports, strict=True)
            same = np.mean([own == other for own, other in pairs])
            apart = np.abs(each.scores.mean(axis=0) - closest.scores.mean(axis=0)).mean()
            dice = np.abs(np.subtract(each.dice, closest.dice)).mean()
            yield (
                f"| {name.partition('_')[2]} | {gap:.0%} | {each.seconds:.2f} | {more:.3%} | "
                f"{same:.0%} | {apart:.4f} | {dice:.3f} | {each.chosen:.3f} |"
            )


if __name__ == "__main__":
    compile_kernels()
    warnings.simplefilter("ignore", SolveLimitWarning)
    for line in lines(tuple(sys.argv[1:]) or DATASETS):
        print(line, flush=True)
