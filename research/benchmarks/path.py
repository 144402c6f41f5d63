"""The whole path from a table to statistics, against the way of a research notebook."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
import pandas as pd

from mossrules import Candidates, Rule, find_candidates
from mossrules.candidates.rules import Range
from research.benchmarks._data import Floats, read_openml, warm_up
from research.benchmarks.authors_way import Form, NotebookResult, TextRule, notebook_candidates
from research.harness.measuring import THREADS, interleave
from research.harness.reports import Bound, Figure, Report, Skipped
from research.paper.generated import generated_rows

N_TREES = 500
SEED = 0
TOP = 50
Proportions = dict[Rule, float]


def run(*, quick: bool) -> Report:
    """Time both paths on houses, then check that they find the same rules."""
    table, y, note = read_houses()
    n_seeds = 2 if quick else 10
    if quick:
        table, y = table[:2_000], y[:2_000]
    warm_up()
    notebook(table[:200], y[:200])
    best = interleave(
        {
            "ours": lambda: ours(table, y),
            "notebook": lambda: notebook(table, y),
            "notebook with get_dummies": lambda: notebook(table, y, form="dummies"),
        },
        repeats=1 if quick else 5,
    )
    size = f"{len(table):,} x {table.shape[1]}"
    report = Report(
        "path",
        settings={"trees": N_TREES, "seed": SEED, "threads": THREADS, "check_seeds": n_seeds},
        notes=[
            note,
            (
                "The notebook makes its leaf columns by pivot, as described; the second figure "
                "is for get_dummies, the quicker of pandas's ways."
            ),
            (
                f"Proportions of {N_TREES} trees are noisy: two seeds of the notebook itself "
                "agree no better than shown, so what is asked is asked of the mean of "
                f"{n_seeds} seeds."
            ),
        ],
    )
    for name, asked in (("notebook", Bound(">=", 50)), ("notebook with get_dummies", None)):
        report.figures.append(
            Figure(
                f"speed against the {name}, {size}",
                best[name] / best["ours"],
                "times",
                asked,
                {"seconds": {"ours": best["ours"], name: best[name]}},
            )
        )
    report.figures += check_rules(table, y, n_seeds)
    return report


def ours(table: pd.DataFrame, y: Floats, seed: int = SEED) -> Candidates:
    """Return the candidates by the library, found as in the paper."""
    return find_candidates(
        table,
        y,
        n_trees=N_TREES,
        n_bins=10,
        cuts="quantile",
        max_features=1 / 3,
        generator="paper-forest",
        random_state=seed,
        n_jobs=THREADS,
    )


def notebook(
    table: pd.DataFrame, y: Floats, seed: int = SEED, form: Form = "pivot"
) -> NotebookResult:
    """Return the candidates by the notebook's way."""
    return notebook_candidates(table, y, n_trees=N_TREES, seed=seed, n_jobs=THREADS, form=form)


def check_rules(table: pd.DataFrame, y: Floats, n_seeds: int) -> list[Figure]:
    """Return how well the proportions of both sides agree, and each side's number of rules."""
    mine = [proportions_of(ours(table, y, seed)) for seed in range(n_seeds)]
    theirs = [proportions_of_texts(notebook(table, y, seed)) for seed in range(n_seeds)]
    sizes = {
        "ours": float(np.mean([len(found) for found in mine])),
        "notebook": float(np.mean([len(found) for found in theirs])),
    }
    return [
        Figure(
            f"correlation of the top {TOP} proportions, mean of {n_seeds} seeds",
            correlate(average(mine), average(theirs)),
            asked=Bound(">=", 0.9),
        ),
        Figure(
            "the same, one seed of each",
            float(np.mean([correlate(a, b) for a, b in product(mine, theirs)])),
        ),
        Figure(
            "the same, two seeds of the notebook",
            float(np.mean([correlate(a, b) for a, b in combinations(theirs, 2)])),
        ),
        Figure("distinct rules, ours over theirs", sizes["ours"] / sizes["notebook"], parts=sizes),
    ]


def read_houses() -> tuple[pd.DataFrame, Floats, str]:
    """Return houses or, without the file, generated rows of the same size; and a note on which."""
    try:
        table, y = read_openml("537_houses")
    except Skipped as reason:
        X, y = generated_rows(20_640, 8, SEED)
        table = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
        return table, y, f"Generated data of the size of houses: {reason}."
    return table, y, "houses (OpenML 537), a pandas frame on both sides."


def proportions_of(found: Candidates) -> Proportions:
    """Return the share of trees of each of our rules."""
    return dict(zip(found.pool.rules, found.pool.proportions.tolist(), strict=True))


def proportions_of_texts(result: NotebookResult) -> Proportions:
    """Return the share of trees of each of the notebook's rules, in canonical form."""
    counts: Counter[Rule] = Counter()
    for rule, count in zip(result.rules, result.counts, strict=True):
        counts[canonical(rule)] += count
    return {rule: count / N_TREES for rule, count in counts.items()}


def canonical(texts: TextRule) -> Rule:
    """Return the rule that the texts mean; their codes start at 0 and ours at 1."""
    return Rule.of(map(condition, texts))


def condition(text: str) -> Range:
    """Return one condition of a text rule."""
    name, threshold, side = text.rsplit("|", 2)
    last_left = int(np.floor(float(threshold))) + 1
    return Range(name, high=last_left) if side == "L" else Range(name, low=last_left + 1)


def average(pools: list[Proportions]) -> Proportions:
    """Return the mean proportion of every rule found by any of the forests."""
    rules = set().union(*pools)
    return {rule: sum(pool.get(rule, 0.0) for pool in pools) / len(pools) for rule in rules}


def correlate(a: Proportions, b: Proportions) -> float:
    """Return the correlation of proportions over the rules most frequent in both together."""
    mean = average([a, b])
    top = sorted(mean, key=lambda rule: (-mean[rule], rule.sort_key))[:TOP]
    pairs = np.array([(a.get(rule, 0.0), b.get(rule, 0.0)) for rule in top])
    return float(np.corrcoef(pairs.T)[0, 1])
