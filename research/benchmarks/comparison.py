"""The paper's seven methods on six of its tables, beside the figures that it prints.

By the "paper" protocol of `research.paper.protocols`: 10 folds, 15 rules, 500 trees of depth
2. Then again with one thing changed at a time, to see what a difference comes from: other folds,
and what the authors' notebooks do otherwise. The result is a page in Markdown beside the JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from mossrules.baselines.registry import METHODS
from mossrules.candidates.search import Candidates
from mossrules.data.rows import Rows, read_rows
from mossrules.learning.fit import find_in_rows
from mossrules.stability import empirical_stability
from research.benchmarks._comparison_page import (
    BASE,
    FAR,
    MEASURES,
    error_ratio,
    is_far,
    page,
)
from research.benchmarks._data import COMPARED, Floats, read_mixed
from research.benchmarks._notebooks import (
    Model,
    UncountedTerms,
    Unmerged,
    fire_on_even_prices,
    ranked,
    ranked_as,
    reward_counts,
    with_first_means,
)
from research.harness.clone import write_text
from research.harness.records import resume
from research.harness.reports import Figure, Report, Row, say
from research.paper.datasets import NOMINAL
from research.paper.protocols import FOREST, protocol_for
from research.paper.published import published_results

FOLDS, MAX_RULES, N_TREES = 10, 15, 500
OWN_SOURCE = ("GLRM", "RuleFit")  # need rows: one makes its rules itself, one looks at trees again


# --- what is measured -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """The protocol with one thing changed, and the words that say which."""

    name: str
    words: str
    methods: tuple[str, ...] = METHODS
    shuffle: int = 42
    seed: int = 0
    nominal: bool = True
    ranks: Literal["training", "each"] | None = None
    first_means: bool = False
    unmerged: bool = False
    parameters: tuple[tuple[str, Any], ...] = ()
    rho: float | None = None
    even_prices: bool = False
    uncounted: bool = False
    theirs: bool = True


EXACT = ("MOSS-H", "MOSS-M")
MOSS_AND_FREQUENT = (*EXACT, "MOSS-L", "FIRE", "SIRUS")  # all that choose from the pool's counts
# Those with theirs=True are what the authors' notebooks do, and may explain a difference.
CHANGES = (
    Setting("other folds", "with other folds and another seed", shuffle=7, seed=1),
    Setting("first means", "with means of the first tree", EXACT, first_means=True),
    Setting(
        "unmerged",
        "with conditions on one column left unmerged",
        (*MOSS_AND_FREQUENT, "RuleFit"),
        unmerged=True,
    ),
    Setting(
        "unmerged, first means",
        "with unmerged conditions and means of the first tree",
        EXACT,
        unmerged=True,
        first_means=True,
    ),
    Setting("5 % gap", "with choices exact to 5 % only", EXACT, parameters=(("gap", 0.05),)),
    Setting(
        "split ties",
        "with equal values split over bins in training",
        MOSS_AND_FREQUENT,
        ranks="training",
    ),
    Setting(
        "test ranks",
        "with equal values split over bins and test rows ranked among themselves",
        MOSS_AND_FREQUENT,
        ranks="each",
    ),
    Setting("no refit", "without a refit", ("MOSS-L",), parameters=(("refit", False),)),
    *(
        Setting(f"rho {rho}", f"with a reward for counts, rho = {rho}", ("MOSS-L",), rho=rho)
        for rho in (0.5, 0.75, 0.9)
    ),
    Setting("even prices", "with prices in equal steps", ("FIRE",), even_prices=True),
    Setting(
        "uncounted terms",
        "with linear terms and rules of one condition that do not count",
        ("GLRM",),
        uncounted=True,
    ),
    Setting(
        "numbers",
        "with nominal columns as numbers",
        MOSS_AND_FREQUENT,
        nominal=False,
        theirs=False,
    ),
    Setting(
        "ties kept",
        "with rules that tie kept",
        EXACT,
        parameters=(("ties", "keep"),),
        theirs=False,
    ),
    Setting(
        "pool",
        "on the shared pool",
        ("GLRM",),
        parameters=(("source", "pool"),),
        theirs=False,
    ),
    Setting(
        "all means",
        "with means of all rows",
        ("RuleFit",),
        parameters=(("means", "all"),),
        theirs=False,
    ),
)


class Measured(NamedTuple):
    """R2 and Dice over the folds, with standard errors."""

    r2: float
    r2_se: float
    dice: float
    dice_se: float
    dice_low: float
    dice_high: float
    size: float


@dataclass(frozen=True)
class Fold:
    """Training and test rows without gaps, and the candidates of the training rows."""

    train: pd.DataFrame
    y: Floats
    test: pd.DataFrame
    y_test: Floats
    rows: Rows
    candidates: Candidates


def measure(name: str, setting: Setting, n_folds: int, n_trees: int) -> dict[str, Measured]:
    """Return the figures of all methods of a setting on one table."""
    scores: dict[str, list[float]] = {method: [] for method in setting.methods}
    rules: dict[str, list[Any]] = {method: [] for method in setting.methods}
    for fold in folds_of(name, setting, n_folds, n_trees):
        for method in setting.methods:
            model = learn(fold, method, setting, n_trees)
            scores[method].append(float(r2_score(fold.y_test, model.predictions)))
            rules[method].append(model.rules)
    return {method: summarise(scores[method], rules[method]) for method in setting.methods}


def summarise(scores: list[float], rules: list[Any]) -> Measured:
    """Return means and standard errors: of R2 over folds, of Dice by resampling folds."""
    dice = empirical_stability(rules, identity="codes")
    return Measured(
        float(np.mean(scores)),
        float(np.std(scores, ddof=1) / np.sqrt(len(scores))),
        float(dice),
        dice.standard_error,
        dice.lower,
        dice.upper,
        float(np.mean([len(each) for each in rules])),
    )


def folds_of(name: str, setting: Setting, n_folds: int, n_trees: int) -> Iterator[Fold]:
    """Yield the folds of a table, missing numbers filled with medians of training rows."""
    table, y = read_mixed(name)
    if setting.nominal:
        table = table.astype(dict.fromkeys(nominal(name), str))
    X = pd.DataFrame(protocol_for("paper").prepare(table))
    splitter = KFold(n_folds, shuffle=True, random_state=setting.shuffle)
    for train, test in splitter.split(X):
        medians = X.iloc[train].median()
        parts = [X.iloc[part].fillna(medians).reset_index(drop=True) for part in (train, test)]
        if setting.ranks == "each":
            parts = [ranked(part) for part in parts]
        elif setting.ranks == "training":
            parts = [ranked(parts[0]), ranked_as(parts[1], parts[0])]
        rows = read_rows(parts[0], y[train])
        search = {**FOREST, "n_trees": n_trees, "random_state": setting.seed}
        candidates = find_in_rows(rows, cuts="quantile", **search)
        if setting.first_means and not setting.unmerged:
            candidates = with_first_means(candidates, rows, setting.seed)
        yield Fold(parts[0], y[train], parts[1], y[test], rows, candidates)


def learn(fold: Fold, method: str, setting: Setting, n_trees: int) -> Model:
    """Return what a method learns from a fold."""
    if setting.uncounted:
        terms = UncountedTerms.of(fold.rows)
        return terms.learn(fold.test, fold.candidates.binning, MAX_RULES)
    if setting.rho is not None or setting.even_prices:
        found = (
            fire_on_even_prices(fold.candidates, MAX_RULES)
            if setting.rho is None
            else reward_counts(fold.candidates, MAX_RULES, setting.rho)
        )
        return Model(found.predict(fold.test), frozenset(found))
    learners = protocol_for("paper").learners(
        fold.train, names=(method,), max_rules=MAX_RULES, seed=setting.seed, n_trees=n_trees
    )
    model = learners[method].set_params(**dict(setting.parameters))
    if setting.unmerged:
        paths = Unmerged.of(fold.candidates, fold.rows, n_trees, setting.seed)
        if setting.first_means:
            changed = with_first_means(paths.candidates, fold.rows, setting.seed)
            paths = paths._replace(candidates=changed)
        return paths.learn(model, fold.rows, fold.test)
    if method in OWN_SOURCE and not setting.parameters:
        model.fit(fold.train, fold.y)
    else:
        model.fit_candidates(fold.candidates)
    return Model(model.predict(fold.test), frozenset(model.rules_))


# --- beside the paper -----------------------------------------------------------------------------


def difference_row(name: str, method: str, setting: Setting, found: Measured) -> Row:
    """Return figures of ours beside the paper's, with differences in standard errors.

    Of R2 the paper prints a standard error. Of Dice what it prints is the spread of pairs, so the
    standard error of ours stands for both.
    """
    title = name.partition("_")[2]
    paper = {
        what: published_results(what)[title, method] for what in ("r2_mean", "r2_se", "dsc_mean")
    }
    r2_error = float(np.hypot(found.r2_se, paper["r2_se"]))
    dice_error = float(np.sqrt(2.0) * found.dice_se)
    return {
        "table": title,
        "method": method,
        "setting": setting.name,
        "theirs": setting.theirs,
        "R2": found.r2,
        "R2 se": found.r2_se,
        "paper R2": paper["r2_mean"],
        "paper R2 se": paper["r2_se"],
        "R2 error": r2_error,
        "R2 off": (found.r2 - paper["r2_mean"]) / r2_error,
        "Dice": found.dice,
        "Dice low": found.dice_low,
        "Dice high": found.dice_high,
        "paper Dice": paper["dsc_mean"],
        "Dice error": dice_error,
        "Dice off": (found.dice - paper["dsc_mean"]) / dice_error,
        "rules": found.size,
    }


def settings_for(name: str) -> list[Setting]:
    """Return the protocol and the changes that change something on a table."""
    base = Setting(BASE, "by the protocol")
    return [base, *(each for each in CHANGES if each.nominal or nominal(name))]


def nominal(name: str) -> tuple[str, ...]:
    """Return the columns of a table that OpenML has as categories."""
    return NOMINAL.get(name.partition("_")[2], ())


def run(*, quick: bool, folder: Path) -> Report:
    """Measure all settings on all tables, and write the page."""
    names = COMPARED[:1] if quick else COMPARED
    n_folds, n_trees = (3, 50) if quick else (FOLDS, N_TREES)
    settings = {"folds": n_folds, "n_trees": n_trees, "max_rules": MAX_RULES, "quick": quick}
    record = resume(folder, "comparison", settings, quick=quick)
    rows: list[Row] = []
    for name in names:
        for setting in settings_for(name):

            def run_setting(name: str = name, setting: Setting = setting) -> list[Row]:
                say(f"{name} {setting.name}")
                found = measure(name, setting, n_folds, n_trees)
                return [difference_row(name, each, setting, found[each]) for each in found]

            rows += record.once(f"{name} {setting.name}", run_setting)
    words = {each.name: each.words for each in CHANGES}
    path = folder / f"comparison_paper{'-quick' if quick else ''}.md"
    write_text(path, page(rows, words, METHODS))
    record.delete()
    report = Report("comparison", settings=settings, tables={"beside the paper": rows})
    report.notes.append(f"The page with sentences is {path.name}, beside the JSON.")
    report.figures = figures_of([row for row in rows if row["setting"] == BASE])
    return report


def figures_of(rows: list[Row]) -> list[Figure]:
    """Return how many differences are large, and how our standard errors compare."""
    figures = [
        Figure(
            f"differences of {what} above {FAR:g} standard errors, of {len(rows)}",
            float(sum(is_far(row, what) for row in rows)),
        )
        for what in MEASURES
    ]
    ratio = Figure("standard error of R2, ours over the paper's", error_ratio(rows), "times")
    return [*figures, ratio]
