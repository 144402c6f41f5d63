"""From a table to candidate rules and their statistics, in one call.

table -> binning -> forest -> rules -> pool -> statistics
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from mossrules import defaults
from mossrules._common import check_number
from mossrules._frames import Backend, make_frame
from mossrules._refusals import names_input
from mossrules.candidates.approved import ApprovedRules
from mossrules.candidates.codes import EncodedTable, encode_table
from mossrules.candidates.cut_points import Cuts, read_cuts
from mossrules.candidates.cuts import Binning, fit_binning
from mossrules.candidates.enough_trees import find_pool
from mossrules.candidates.ensembles import FittedEnsemble
from mossrules.candidates.forest import ForestGenerator, Generator
from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.rule_texts import read_rule
from mossrules.candidates.rules import Levels, Rule
from mossrules.candidates.simplify import merge_equivalent, simplify_pool
from mossrules.candidates.statistics import (
    Overlaps,
    compute_overlaps,
    compute_patterns,
    count_rows,
    statistics_of_overlaps,
)
from mossrules.candidates.thresholds import format_number
from mossrules.data.chunks import Progress, resolve_n_jobs
from mossrules.data.columns import Kind
from mossrules.data.content_order import CONTENT, TARGET, Numbering
from mossrules.data.rows import Rows, read_rows
from mossrules.exceptions import InvalidParameter, InvalidTable
from mossrules.patterns import Patterns
from mossrules.statistics import Statistics

# How many times max_candidates rules are kept until near-copies are one: about so many trees'
# rules stand for one in the end.
BEFORE_SIMPLER = 4

AUTO = "auto"
COVERAGE, LEAST_ROWS = 0.01, 5  # of the rows that a rule holds on by default: a share, a number

FORESTS = ("forest", "paper-forest", "noisy-target")  # those of our own, by name


@dataclass(frozen=True)
class Candidates:
    """Candidate rules, how often each was found, and all that a solver needs to choose among them.

    Rules are in the order of the pool: the most frequently found first.

    Examples
    --------
    >>> from mossrules import find_candidates
    >>> candidates = find_candidates({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0], n_trees=20)
    >>> candidates
    Candidates(7 rules from 20 trees on 4 rows)
    >>> candidates.texts[:3]
    ['age > 50', 'age <= 40', '40 < age <= 50']
    >>> list(candidates.frame(backend="pandas"))
    ['rule', 'count', 'proportion', 'coverage', 'mean']
    """

    binning: Binning  #: how values of columns become bins
    pool: CandidatePool  #: the rules, and in which trees each is
    statistics: Statistics  #: sums over the rows that the loss is made of
    patterns: Patterns | None = None  #: of a target of two values, where they were asked for
    n_groups: int | None = None  #: number of groups that trees took whole; None without groups

    def __len__(self) -> int:
        return len(self.pool)

    @property
    def named(self) -> bool:
        """Whether the columns have names of their own; those of an array are made up."""
        return self.binning.named

    @property
    def texts(self) -> list[str]:
        """The rules in the user's units."""
        return [rule.text(self.binning) for rule in self.pool.rules]

    def columns(self) -> dict[str, list[Any]]:
        """Return lists of the rules' texts, counts, proportions, coverages and mean targets."""
        statistics = self.statistics
        means = statistics.target_mean + statistics.target_scale * statistics.values
        return {
            "rule": self.texts,
            "count": self.pool.counts.tolist(),
            "proportion": self.pool.proportions.tolist(),
            "coverage": (statistics.support / statistics.n).tolist(),
            "mean": means.tolist(),
        }

    def frame(self, backend: Backend | None = None) -> Any:
        """Return `columns()` as a pandas frame (or polars or pyarrow, by name)."""
        return make_frame(self.columns(), backend)

    def __str__(self) -> str:
        lines = [repr(self), "  share  rows   mean  rule"]
        table = self.columns()
        for i in range(min(10, len(self))):
            mean = format_number(float(f"{table['mean'][i]:.3g}"))
            lines.append(
                f"  {table['proportion'][i]:5.1%}  {table['coverage'][i]:4.0%}  {mean:>5}  "
                f"{table['rule'][i]}"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"Candidates({len(self):,} rules from {self.pool.n_trees:,} trees on "
            f"{self.statistics.n:,.0f} rows)"
        )


@names_input("X")
def find_candidates(
    X: Any,
    y: Any,
    *,
    n_trees: int | Literal["auto"] = defaults.PLAIN_TREES,
    max_depth: int = defaults.MAX_DEPTH,
    n_bins: int = defaults.PLAIN_BINS,
    cuts: Cuts = defaults.PLAIN_CUTS,
    max_features: float = defaults.PLAIN_MAX_FEATURES,
    min_leaf: float = 1,
    generator: Any = defaults.GENERATOR,
    noise: float = 1.0,
    inner_nodes: bool = False,
    max_overlap: float | None = None,
    min_coverage: float | Literal["auto"] = 0,
    min_tree_frequency: float = 0,
    max_candidates: int | None = defaults.MAX_CANDIDATES,
    merge_identical: bool = False,
    include: Sequence[Rule | str] = (),
    near: ApprovedRules | None = None,
    patterns: bool = False,
    sample_weight: Any = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    chunk_rows: int | None = None,
    progress: Progress | None = None,
) -> Candidates:
    """Find candidate rules in a table and compute their statistics.

    The result is a function of the rows, the parameters and the seed: it does not depend on
    `n_jobs` or `chunk_rows`, nor on the machine.

    Parameters
    ----------
    X : pandas, polars or pyarrow table, or two-dimensional array
        Numbers, booleans, strings and categories are used as they are; missing values are allowed.
        Or `Rows`, which have a target and weights of their own.
    y
        One number per row, or the name of the target's column in X.
    n_trees, max_depth, max_features, min_leaf
        The forest: trees, their depth (1 to 6), the share of columns each split looks at, and the
        least number of bootstrap rows in a leaf. With `n_trees="auto"` there are as many trees as
        are needed until two forests would have 95 % of their 100 most frequent rules in common:
        from 500 to 8,000, and beyond 2,000 only while rows x columns x trees are within 400
        million; `pool.n_trees` says how many.
    n_bins
        Most bins of a numeric column.
    cuts
        Where numbers are cut, as in `MossRegressor`, but for the path of a file.
    generator
        "forest", "paper-forest", "noisy-target", or a fitted scikit-learn ensemble. The first two
        differ in their random draws alone: those of "forest" do not depend on the order of the
        columns, nor on the sign and the unit of the target; "paper-forest" has those of the paper's
        experiments.
    noise
        Standard deviation of the noise of "noisy-target", in those of the target.
    inner_nodes
        Whether inner nodes of the trees are rules as well as leaves (as in SIRUS).
    max_overlap
        A condition that keeps more than this share of the rows on which the rest of its rule holds
        is dropped; of a rule and its complement one stays, and of rules that hold on the same rows
        one. None keeps rules as the trees have them.
    min_coverage
        Rows that a rule must hold on, and must not hold on: a share below 1, or a number of rows.
        "auto" is 1 % of the rows, and no fewer than 5; of fewer than 50 rows a tenth of them.
    min_tree_frequency
        Share of the trees that a rule must be in.
    max_candidates
        Keep only the most frequent rules; None keeps all.
    merge_identical
        Whether rules that hold on the same rows become one.
    include
        Rules, or their texts, that are candidates whether or not a tree has found them.
    near
        Rules of an approved rule set, with its binning, which are candidates too: as they are
        printed, so that their cut points are added. An estimator makes it of its own `near`.
    patterns
        Whether to count the patterns of rules that hold together, which the logistic loss of a
        target of 0 and 1 needs.
    sample_weight
        One non-negative number per row, or the name of a column of X.
    groups
        One label per row, or the name of a column of X, which is then no feature: trees draw all
        rows of a group, or none.
    random_state
        Integer seed; None is the seed 0, so that the same call gives the same rules.
    n_jobs
        Threads; None uses all cores.
    chunk_rows
        Rows per chunk; None lets the library choose.
    progress
        Called as progress(stage, done, total) after each chunk of each pass.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> find_candidates(X, y, n_trees=100)
    Candidates(... rules from 100 trees on 442 rows)
    """
    jobs = resolve_n_jobs(n_jobs)
    if isinstance(generator, str) and generator in FORESTS:
        generator = ForestGenerator(
            n_trees=n_trees,
            max_depth=max_depth,
            max_features=max_features,
            min_leaf=min_leaf,
            noise=noise if generator == "noisy-target" else None,
            seed=resolve_seed(random_state),
            numbering=numbering_of(generator),
        )
    # Whatever the source of rules, cuts come first: its paths speak of bins.
    source = resolve_generator(generator)
    rows = X
    if not isinstance(X, Rows):
        rows = read_rows(X, y, sample_weight, groups, keeps_order=True, n_jobs=jobs)
    rows = rows.numbered(numbering_of(source)).in_chunks(n_jobs=jobs, chunk_rows=chunk_rows)
    how: dict[str, Any] = {"n_jobs": jobs, "progress": progress}
    data = encode_rows(rows, source, n_bins=n_bins, cuts=cuts, near=near, **how)
    approved = () if near is None else near.on(data.binning)
    pool = found = find_pool(source, data, inner_nodes=inner_nodes, n_jobs=jobs, progress=progress)
    if not pool.rules:
        raise InvalidTable(
            "No tree found a split, so there are no rules; there may be too few rows for "
            f"min_leaf={min_leaf}, or no column that explains the target."
        )
    if max_overlap is not None:
        pool = _simpler(pool, data, max_overlap, max_candidates, **how)
    pool = _frequent(pool, min_tree_frequency)
    pool = _covering(pool, data, min_coverage, **how)
    # Before the overlaps, which take time and memory with the square of the number of rules.
    if max_candidates is not None:
        pool = pool.cap(max_candidates)
    # After the cap: a rule that is asked for stays, though hardly any tree found it.
    included = tuple(check_rule(rule, data.binning) for rule in include)
    pool = pool.including(included)
    pool = pool.including(approved, found)
    asked = (*approved, *included)  # these stay where others hold on the same rows
    overlaps = compute_overlaps(data, pool.rules, **how)
    # Only now is it known which rules hold on the same rows: their overlap is both of their
    # supports.
    if max_overlap is not None:
        pool, overlaps = merge_equivalent(pool, overlaps, data.moments.weight, asked)
    elif merge_identical:
        pool, overlaps = merge_pool(pool, overlaps, asked)
    statistics = statistics_of_overlaps(data, overlaps, pool.counts)
    _check_included(included, pool, statistics)
    counted = compute_patterns(data, pool, **how) if patterns else None
    return Candidates(data.binning, pool, statistics, counted, rows.n_groups)


def count_again(
    candidates: Candidates, positions: Sequence[int], rows: Rows, *, n_jobs: int = 1
) -> Candidates:
    """Return some of the candidates with their statistics on other rows, in one pass.

    Cut points, and the trees that contain each rule, stay those of the first rows.
    """
    pool = candidates.pool
    some = replace(
        pool,
        rules=tuple(pool.rules[i] for i in positions),
        trees=tuple(pool.trees[i] for i in positions),
    )
    binning = candidates.binning
    if candidates.named:  # columns of an array are known by their position among all
        used = {feature for rule in some.rules for feature in rule.features}
        columns = tuple(column for column in binning.columns if column.name in used)
        binning = Binning(columns, named=True, reading=binning.reading)
    data = encode_table(rows, binning, n_jobs=n_jobs)
    overlaps = compute_overlaps(data, some.rules, n_jobs=n_jobs)
    statistics = statistics_of_overlaps(data, overlaps, some.counts)
    patterns = None
    if candidates.patterns is not None:
        patterns = compute_patterns(data, some, n_jobs=n_jobs)
    return Candidates(candidates.binning, some, statistics, patterns)


def _simpler(
    pool: CandidatePool,
    data: EncodedTable,
    max_overlap: float,
    max_candidates: int | None,
    **how: Any,
) -> CandidatePool:
    """Return the rules without conditions that say little, and one of each and its complement."""
    check_number("max_overlap", max_overlap)
    # Rules that hardly any tree has found would only cost time here.
    if max_candidates is not None:
        pool = pool.cap(BEFORE_SIMPLER * max_candidates)
    return simplify_pool(pool, data, max_overlap=max_overlap, **how)


def _frequent(pool: CandidatePool, min_tree_frequency: float) -> CandidatePool:
    """Return the rules that are in enough trees."""
    share = check_number("min_tree_frequency", min_tree_frequency, minimum=0)
    # A share of a whole number may come out a rounding error above it.
    frequent = pool.counts >= share * pool.n_trees * (1.0 - 1e-12)
    if not frequent.any():
        raise InvalidParameter(
            f"min_tree_frequency is {share:g}, and the most frequent candidate rule is in "
            f"{pool.proportions.max():.3g} of the trees; ask for at most that."
        )
    return pool.only(frequent)


def _covering(
    pool: CandidatePool, data: EncodedTable, min_coverage: float | str, **how: Any
) -> CandidatePool:
    """Return the rules that hold on enough rows, and leave out as many."""
    least = _least_weight(min_coverage, data)
    if least == 0:
        return pool
    total = data.moments.weight
    rows = count_rows(data, pool.rules, **how)
    smaller = np.minimum(rows, total - rows)
    enough = smaller >= least * (1.0 - 1e-12)
    if not enough.any():
        can_be = f"both holds on and leaves out more than {smaller.max() / total:.3g} of the rows"
        if min_coverage == AUTO:  # the mean is a model too
            raise InvalidTable(f"No candidate rule {can_be}; pass a smaller min_coverage.")
        raise InvalidParameter(
            f"min_coverage is {min_coverage}, and no candidate rule {can_be}; ask for at most that."
        )
    return pool.only(enough)


def _least_weight(min_coverage: float | str, data: EncodedTable) -> float:
    """Return the weight of the rows that a rule must hold on."""
    total = data.moments.weight
    row = total / data.moments.rows  # a number of rows, where rows have weights, is of average rows
    if min_coverage == AUTO:
        # Of a few rows nobody can say how the others like them would be.
        return max(COVERAGE * total, min(LEAST_ROWS * row, total / 10))
    if isinstance(min_coverage, str):
        raise InvalidParameter(
            f"min_coverage is {min_coverage!r}; pass a share, a number of rows or 'auto'."
        )
    asked = check_number("min_coverage", min_coverage, minimum=0)
    return asked * total if asked < 1 else asked * row


def _check_included(rules: Sequence[Rule], pool: CandidatePool, statistics: Statistics) -> None:
    for rule in rules:
        if rule in pool.rules and statistics.support[pool.rules.index(rule)] == 0:
            raise InvalidParameter(f"The rule '{rule}' holds on no row, so it cannot be included.")


def check_rule(rule: Rule | str, binning: Binning) -> Rule:
    """Return a rule whose conditions fit the columns of a table, from its text if that is given."""
    if isinstance(rule, str):
        return read_rule(rule, binning)
    for condition in rule.conditions:
        if condition.feature not in binning.names:
            raise InvalidParameter(
                f"The rule '{rule}' is to be included, but there is no column "
                f"{condition.feature!r}; leave it out."
            )
        categorical = binning[condition.feature].kind is Kind.CATEGORICAL
        if isinstance(condition, Levels) != categorical:
            words = "categories" if categorical else "an order"
            raise InvalidParameter(
                f"The rule '{rule}' is to be included, but column {condition.feature!r} has "
                f"{words}; write the condition for that."
            )
    return rule


def numbering_of(generator: Any) -> Numbering:
    """Return by what a source of rules wants rows and columns numbered."""
    if isinstance(generator, str):
        return CONTENT if generator == "forest" else TARGET
    found: Numbering = getattr(generator, "numbering", TARGET)
    return found


def resolve_generator(generator: Any) -> Generator:
    """Return the source of rules that a user's `generator` means."""
    if isinstance(generator, Generator):
        return generator
    if hasattr(generator, "fit"):
        return FittedEnsemble(generator)
    raise InvalidParameter(
        f"generator is {generator!r}; pass 'forest', 'paper-forest', 'noisy-target' or a fitted "
        "scikit-learn ensemble of trees."
    )


def resolve_seed(random_state: Any) -> int:
    """Return a seed below 2^63 from an integer, a NumPy generator or None (the seed 0)."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(1 << 63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int64).max, dtype=np.int64))
    if isinstance(random_state, int | np.integer) and 0 <= int(random_state) < 1 << 63:
        return int(random_state)
    raise InvalidParameter(
        f"random_state is {random_state!r}; pass None, a non-negative integer or a NumPy generator."
    )


def encode_rows(
    rows: Rows,
    source: Generator,
    *,
    n_bins: int,
    cuts: Cuts = defaults.PLAIN_CUTS,
    near: ApprovedRules | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> EncodedTable:
    """Learn the bins of rows and apply them: two passes over the columns."""
    if rows.n_rows < 2:
        raise InvalidTable(
            f"The table has {rows.n_rows} sample(s) (n_samples={rows.n_rows}, shape="
            f"({rows.n_rows}, {len(rows.columns)})) while a minimum of 2 is required; add rows."
        )
    points = read_cuts(cuts)
    if near is not None:
        near.check_columns(rows.columns)
    binning = fit_binning(rows, n_bins=n_bins, cuts=points, n_jobs=n_jobs, progress=progress)
    binning = source.adapt(binning)
    if near is not None:
        binning = near.added_to(binning)
    return encode_table(rows, binning, n_jobs=n_jobs, progress=progress)


def merge_pool(
    pool: CandidatePool, overlaps: Overlaps, kept: Sequence[Rule] = ()
) -> tuple[CandidatePool, Overlaps]:
    """Make one rule of those that hold on exactly the same rows, but for those to be kept."""
    own = {place for place, rule in enumerate(pool.rules) if rule in kept}
    merged = pool.merge(
        [[place for place in group if place not in own] for group in overlaps.identical()]
        if own
        else overlaps.identical()
    )
    position = {rule: number for number, rule in enumerate(pool.rules)}
    return merged, overlaps.take(np.array([position[rule] for rule in merged.rules]))
