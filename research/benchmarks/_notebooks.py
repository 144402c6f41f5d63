"""What the notebooks of the MOSS paper do differently, one thing at a time.

Written from a description of them, to measure how much of a difference to the paper's figures
each thing makes. Nothing here is a better way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mossrules import MossRegressor
from mossrules.baselines.base import ChosenRules
from mossrules.baselines.column_generation import Beam, ColumnGeneration
from mossrules.baselines.designs import Design
from mossrules.baselines.fire import FirePath
from mossrules.baselines.glrm import prices_of_length
from mossrules.baselines.paths import solve_closely
from mossrules.baselines.rulefit_columns import first_tree_means
from mossrules.candidates.codes import EncodedTable
from mossrules.candidates.cuts import Binning
from mossrules.candidates.forest import ForestGenerator, Step
from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.rules import Rule, condition_of_step
from mossrules.candidates.search import Candidates, encode_rows
from mossrules.data.rows import Rows
from mossrules.data.table import Table
from mossrules.learning.fit import build_problem
from mossrules.learning.squared_error import refit_weights
from mossrules.learning.stability_levels import at_stability, count_untied, method_for
from mossrules.model import RuleSet
from mossrules.solver import Options, solve
from mossrules.solver.kernels.descent import descend
from research.benchmarks._data import Floats

BINS = 10
PRICES = np.linspace(100.0, 1.0, 200)  # of a rule, for MOSS-L
NO_RIDGE = 1e-9
STRENGTHS = np.geomspace(1.0, 1e-3, 200)  # lambda_0 of GLRM
LENGTH_PRICE = 0.005  # lambda_1 of GLRM
LINEAR = 0.4  # standard deviation of a linear term: about that of a rule
PER_ROUND, MAX_ROUNDS = 10, 50
SLACK = 1e-3
REFIT = 1e-6


class Model(NamedTuple):
    """Predictions for the test rows, in units of the target, and the rules that are counted."""

    predictions: Floats
    rules: frozenset[object]


# --- bins and columns -----------------------------------------------------------------------------


def ranked(table: pd.DataFrame) -> pd.DataFrame:
    """Return tenths by rank among the rows given; equal values are ranked by their place."""
    tenths = {
        name: np.floor((column.rank(method="first") - 1) * BINS / len(table))
        for name, column in table.items()
    }
    return pd.DataFrame(tenths, index=table.index)


def ranked_as(table: pd.DataFrame, training: pd.DataFrame) -> pd.DataFrame:
    """Return tenths of other rows by rank among training rows, in the middle of equal values."""

    def tenths(column: pd.Series, known: Floats) -> Floats:
        ends = [np.searchsorted(known, column, side=side) for side in ("left", "right")]
        middle = np.minimum((ends[0] + ends[1]) / 2.0, len(known) - 1)
        found: Floats = np.floor(middle * BINS / len(known))
        return found

    coded = {name: tenths(column, np.sort(training[name])) for name, column in table.items()}
    return pd.DataFrame(coded, index=table.index)


def with_first_means(candidates: Candidates, rows: Rows, seed: int) -> Candidates:
    """Return candidates whose means are those of the first tree with the rule."""
    statistics = candidates.statistics
    means = first_tree_means(candidates, rows, seed)
    known = statistics.values != 0  # noqa: PD011  no frame
    factors = np.divide(means, statistics.values, out=np.zeros_like(means), where=known)
    changed = replace(
        statistics,
        G=statistics.G * np.outer(factors, factors),
        q=statistics.q * factors,
        values=means,
    )
    return replace(candidates, statistics=changed)


class Unmerged(NamedTuple):
    """Paths of trees as they are, as candidates; `x <= 5 and x <= 3` is not `x <= 3`."""

    candidates: Candidates  # some of whose rules are the same
    paths: tuple[frozenset[Step], ...]

    @classmethod
    def of(cls, candidates: Candidates, rows: Rows, n_trees: int, seed: int) -> Unmerged:
        """Return the paths of the forest that found the candidates."""
        source = ForestGenerator(n_trees=n_trees, seed=seed)
        data = encoded(rows, source)
        trees: dict[frozenset[Step], set[int]] = {}
        for tree, path in source.paths(data):
            trees.setdefault(frozenset(path), set()).add(tree)
        paths = sorted(trees, key=lambda path: (-len(trees[path]), sorted(path)))
        columns, position = candidates.binning.columns, candidates.pool.rules.index
        at = np.array(
            [
                position(Rule.of(condition_of_step(step, columns[step.feature]) for step in path))
                for path in paths
            ]
        )
        old = candidates.statistics
        statistics = replace(
            old,
            G=old.G[np.ix_(at, at)],
            q=old.q[at],
            values=old.values[at],  # noqa: PD011  no frame
            support=old.support[at],
            counts=np.array([len(trees[path]) for path in paths]),
        )
        pool = CandidatePool(
            tuple(candidates.pool.rules[i] for i in at),
            tuple(frozenset(trees[path]) for path in paths),
            n_trees,
        )
        return cls(Candidates(candidates.binning, pool, statistics), tuple(paths))

    def learn(self, model: Any, rows: Rows, test: pd.DataFrame) -> Model:
        """Return what a learner chooses among the paths."""
        candidates, statistics = self.candidates, self.candidates.statistics
        choice = (
            choose_exactly(model, candidates)
            if isinstance(model, MossRegressor)
            else model._choose(candidates, rows)  # noqa: SLF001  `fit_candidates` refuses copies
        )
        predictions = np.full(len(test), choice.intercept)
        for i, weight in zip(choice.support, choice.weights, strict=True):
            one = RuleSet.from_candidates(candidates, [i], [weight], 0.0)
            predictions += one.predict(test)
        chosen = frozenset(self.paths[i] for i in choice.support)
        return Model(statistics.target_mean + statistics.target_scale * predictions, chosen)


def choose_exactly(model: MossRegressor, candidates: Candidates) -> ChosenRules:
    """Return the choice of MOSS, which needs no distinct rules."""
    statistics = candidates.statistics
    settings = model.settings()
    problem = at_stability(build_problem(candidates, settings), settings.stability)
    method = method_for(problem, settings.stability, "auto")
    support = solve(problem, method, Options(gap=model.gap, time_limit=model.time_limit)).support
    w, intercept = refit_weights(statistics, support)
    values = statistics.values  # noqa: PD011  no frame
    return ChosenRules(support, w * values[support], intercept)


# --- FIRE -----------------------------------------------------------------------------------------


def fire_on_even_prices(candidates: Candidates, max_rules: int) -> RuleSet:
    """Return FIRE with its 100 prices from 1 to 0.001 in equal steps, not in equal ratios."""
    statistics = candidates.statistics
    path = FirePath.of_rules(statistics, gamma=1.1)
    even = np.linspace(path.prices[0], path.prices[-1], len(path.prices))
    point = replace(path, prices=even).follow(count_untied(statistics.counts, max_rules))
    choice = ChosenRules.of_weights(path.weights(point.w), path.intercept(point.w))
    return RuleSet.from_candidates(
        candidates,
        choice.support,
        choice.weights * statistics.target_scale,
        statistics.target_mean + choice.intercept * statistics.target_scale,
    )


# --- MOSS-L ---------------------------------------------------------------------------------------


def reward_counts(candidates: Candidates, max_rules: int, rho: float) -> RuleSet:
    """Return MOSS-L: a rule's count lowers its price; columns standardised, weights not refitted.

    1/2 |y - Zw|^2 + sum over rules of (price - (1 - rho) count) / rho, by coordinate descent, at
    the last of falling prices that leaves few enough rules.
    """
    statistics = candidates.statistics
    design = Design.of_rules(statistics)
    spread = np.sqrt(np.diagonal(design.C) / design.n)
    factors = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    scaled = design.scaled(factors)
    most = count_untied(statistics.counts, max_rules)
    w, r = np.zeros(design.m), scaled.c.copy()
    inside = np.zeros(design.m, dtype=bool)
    best = w.copy()
    useless = np.where(factors > 0, 0.0, np.inf)
    any_sign = np.zeros(design.m, dtype=np.int64)
    for price in PRICES:
        prices = (price - (1.0 - rho) * statistics.counts) / rho + useless
        descend(scaled.C, NO_RIDGE, prices, any_sign, 1e-9 * design.yy, 1000, w, r, inside)
        if np.count_nonzero(inside) > most:
            break
        best = w * factors
    support = np.flatnonzero(best)
    return RuleSet.from_candidates(
        candidates,
        support,
        best[support] * statistics.target_scale,
        statistics.target_mean + design.intercept(best) * statistics.target_scale,
        target=None,
    )


# --- GLRM -----------------------------------------------------------------------------------------


@dataclass
class UncountedTerms:
    """GLRM that counts only rules of two literals and more.

    Rules of one literal and linear terms are free to come in beside them. Longer rules are
    generated by the library's beam search.
    """

    beam: Beam
    rows: Rows
    z: Floats  # the scaled target
    rules: list[frozenset[int]]

    def __post_init__(self) -> None:
        linear = numbers(self.rows.table)
        self.centre, spread = linear.mean(axis=0), linear.std(axis=0)
        self.spread = np.where(spread > 0, spread, 1.0)
        self.columns = self.columns_of(self.beam, self.rows.table)
        self.w = np.zeros(self.columns.shape[1])

    @classmethod
    def of(cls, rows: Rows) -> UncountedTerms:
        """Return the terms to start with: the linear ones, and literals with an upper end."""
        data = encoded(rows, ForestGenerator())
        prices = prices_of_length(LENGTH_PRICE)
        problem = ColumnGeneration.of(data, prices, width=1, max_length=10)
        upper = np.flatnonzero(problem.beam.literals.ends > 0)
        z = (rows.target - rows.target.mean()) / rows.target.std()
        return cls(problem.beam, rows, z, [frozenset({int(i)}) for i in upper])

    def columns_of(self, beam: Beam, table: Table) -> Floats:
        """Return the terms of a table, of which the beam has the codes: (rows, terms)."""
        linear = LINEAR * (numbers(table) - self.centre) / self.spread
        return np.column_stack([linear, *(beam.holds(members) for members in self.rules)])

    @property
    def lengths(self) -> Floats:
        """Literals of each term; none of a linear one."""
        return np.array([0.0] * len(self.centre) + [float(len(rule)) for rule in self.rules])

    def solve(self, strength: float) -> None:
        """Find weights at one price, adding rules until none is worth it."""
        by_length = 0.5 * (strength + LENGTH_PRICE * np.arange(self.beam.max_length + 1))
        for _ in range(MAX_ROUNDS):
            design = design_of(self.columns, self.z)
            start = np.append(self.w, np.zeros(design.m - len(self.w)))
            self.w = solve_closely(design, by_length[self.lengths.astype(int)], start)
            used = np.flatnonzero(self.w)
            left = self.z - design.intercept(self.w) - self.columns[:, used] @ self.w[used]
            found = self.beam.search(left / len(left), by_length, SLACK * by_length[1])
            known = set(self.rules)
            new = [each.members for each in found if each.members not in known][:PER_ROUND]
            if not new:
                return
            self.rules += new
            self.columns = np.column_stack([self.columns, *map(self.beam.holds, new)])

    def learn(self, test: pd.DataFrame, binning: Binning, max_rules: int) -> Model:
        """Lower the price until there are `max_rules` less one that count, then refit."""
        for strength in STRENGTHS:
            self.solve(strength)
            chosen = np.flatnonzero(self.w)
            counted = chosen[self.lengths[chosen] > 1]
            if len(counted) >= max_rules - 1:
                break
        design = design_of(self.columns[:, chosen], self.z)
        weights = np.linalg.solve(design.C + REFIT * np.eye(len(chosen)), design.c)
        table = Table.from_any(test)
        columns = self.columns_of(replace(self.beam, codes=binning.encode(table)), table)
        fitted = design.intercept(weights) + columns[:, chosen] @ weights
        target = self.rows.target
        first = len(self.centre)
        rules = frozenset(self.beam.literals.rule(self.rules[i - first]) for i in counted)
        return Model(float(target.mean()) + float(target.std()) * fitted, rules)


def encoded(rows: Rows, source: ForestGenerator) -> EncodedTable:
    """Return rows as a forest sees them."""
    return encode_rows(
        Rows.from_table(rows.table, rows.target, rows.weights, keeps_order=True),
        source,
        n_bins=BINS,
        cuts="quantile",
    )


def numbers(table: Table) -> Floats:
    """Return the columns of a table: (rows, columns)."""
    columns = [column.read(0, table.n_rows) for column in table.columns]
    return np.column_stack(columns).astype(np.float64)


def design_of(columns: Floats, z: Floats) -> Design:
    """Return the sums over rows of explicit columns and a target of mean zero."""
    means = columns.mean(axis=0)
    centred = columns - means
    return Design(centred.T @ centred, centred.T @ z, float(z @ z), float(len(z)), means)
