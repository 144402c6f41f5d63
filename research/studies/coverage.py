"""Do intervals contain the truth as often as they say? Simulations in which the truth is known.

Of a generated source, each simulation draws a sample, makes all intervals of docs/intervals.md, and
looks up the truth in one very large sample: for effects, the coefficients of the regression of the
whole population on the rules that were found; for measures of performance, those of the very model
on the population; for predictions, fresh rows. Run `python -m research.studies.coverage [names]`:
it takes half an hour, or with `--simulations 100` some minutes. Its table is in docs/intervals.md.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from mossrules import MossClassifier, MossRegressor
from mossrules.data.labels import python_label
from mossrules.evaluation import performance, prediction_intervals, split_effects
from mossrules.evaluation.influence import Sample, measure_classes, measure_numbers
from mossrules.evaluation.sandwich import least_squares, logistic
from mossrules.evaluation.track_record import track_record

SIMULATIONS = 500
ROWS, CLUSTERS = 400, 50
POPULATION = 100_000
FRESH = 2000
CONFIDENCE = 0.95
REFITS = 40  # of a track record
PREDICTION = 0.9
Covered = dict[str, list[bool]]


# --- the source -----------------------------------------------------------------------------------


def draw(
    n: int, seed: Any, *, classes: bool = False, clusters: int = 0
) -> tuple[pd.DataFrame, Any, Any]:
    """Return columns, target and clusters of n rows; errors spread more where x0 is large."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 6)), columns=[f"x{i}" for i in range(6)])
    X["site"] = rng.choice(["a", "b", "c"], n)
    groups, shared = None, np.zeros(n)
    if clusters:
        groups = np.arange(n) % clusters
        X["x0"] += rng.normal(size=clusters)[groups]  # columns of a cluster are alike too
        X["x1"] += rng.normal(size=clusters)[groups]
        shared = rng.normal(size=clusters)[groups]
    signal = 1.5 * (X["x0"] > 0) + 1.0 * (X["x1"] > 0.5) + 0.7 * X["x2"] - 0.8 * (X["site"] == "a")
    eta = signal.to_numpy() + shared
    if classes:
        return X, np.where(rng.random(n) < 1 / (1 + np.exp(1.0 - eta)), "yes", "no"), groups
    return X, eta + rng.normal(size=n) * (0.5 + (X["x0"] > 0)), groups


def model_of(*, classes: bool, seed: int = 0) -> Any:
    """Return a small model that is quick to fit."""
    kind = MossClassifier if classes else MossRegressor
    return kind(5, n_trees=100, n_jobs=1, random_state=seed)


class Source:
    """A kind of source, and its population."""

    def __init__(self, *, classes: bool = False, clusters: int = 0) -> None:
        self.classes, self.clusters = classes, clusters
        many = POPULATION // 8 if clusters else 0  # clusters of eight rows, as in a sample
        self.X, self.y, _ = draw(POPULATION, 10**6, classes=classes, clusters=many)

    def sample(self, seed: int) -> tuple[pd.DataFrame, Any, Any]:
        """Return one sample."""
        return draw(ROWS, seed, classes=self.classes, clusters=self.clusters)

    @property
    def target(self) -> Any:
        """The target of the population as numbers."""
        return (self.y == "yes").astype(float) if self.classes else self.y


# --- one simulation -------------------------------------------------------------------------------


def effects(source: Source, seed: int) -> Covered:
    """Return whether intervals of effects contain the coefficients of the population."""
    X, y, groups = source.sample(seed)
    model = model_of(classes=source.classes, seed=seed)
    names = (
        {"split": groups, "split, clusters not told": None} if source.clusters else {"split": None}
    )
    covered: Covered = {}
    for name, told in names.items():
        found = split_effects(model, X, y, groups=told, random_state=seed)
        covered |= _effects_covered(source, found.effects[1:], found.rules, name)
    whole = model.fit(X, y)
    covered |= _same_rows(source, whole.rules_, X, y, groups)
    return covered


def records(source: Source, seed: int) -> Covered:
    """Return whether intervals of a track record contain the coefficients of the population."""
    X, y, groups = source.sample(seed)
    model = model_of(classes=source.classes, seed=seed).fit(X, y, groups=groups)
    made: Any = track_record(model, X, y, refits=REFITS, groups=groups, random_state=seed, n_jobs=1)
    truth = _population(source, model.rules_)
    covered: Covered = {}
    for name in ("held_fixed", "whole_analysis"):
        intervals = [
            (getattr(each, name), value) for each, value in zip(made.rules, truth, strict=True)
        ]
        covered[f"effects, track record, {name.replace('_', ' ')}"] = [
            bool(lower <= value <= upper)
            for (lower, upper), value in intervals
            if np.isfinite(lower)
        ]
    return covered


def _effects_covered(source: Source, estimated: Any, rules: Any, name: str) -> Covered:
    by_text = dict(zip(rules.texts, _population(source, rules), strict=True))
    known = [each for each in estimated if each.rule in by_text and np.isfinite(each.lower)]
    inside = [bool(each.lower <= by_text[each.rule] <= each.upper) for each in known]
    rare = [
        ok for ok, each in zip(inside, known, strict=True) if min(each.n, ROWS // 2 - each.n) < 20
    ]
    return {f"effects, {name}": inside, f"effects, {name}: rules on fewer than 20 rows": rare}


def _population(source: Source, rules: Any) -> Any:
    """Return the coefficients of the population, whose rows count by which rules hold there."""
    holds = rules.holds(source.X)
    _, first, which = np.unique(
        holds @ (1 << np.arange(len(rules))), return_index=True, return_inverse=True
    )
    counts = np.bincount(which).astype(float)
    means = np.bincount(which, source.target) / counts
    M = np.column_stack([np.ones(len(first)), holds[first]]).astype(float)
    found = (logistic if source.classes else least_squares)(M, means, counts, None)
    return found.values[1:]  # noqa: PD011  no frame


def _same_rows(source: Source, rules: Any, X: pd.DataFrame, y: Any, groups: Any) -> Covered:
    """Return the same for the regression on the rows in which the rules were found."""
    M = np.column_stack([np.ones(len(X)), rules.holds(X)]).astype(float)
    target = (y == "yes").astype(float) if source.classes else y
    if not len(rules) or np.linalg.matrix_rank(M) < M.shape[1]:
        return {}
    regress = logistic if source.classes else least_squares
    try:
        lower, upper = regress(M, target, None, groups).interval(CONFIDENCE)
    except (ValueError, np.linalg.LinAlgError):  # separated classes
        return {}
    truth = _population(source, rules)
    inside = (lower[1:] <= truth) & (truth <= upper[1:])
    return {"effects, on the rows of the choice (no interval to use)": inside.tolist()}


def predictions(source: Source, seed: int) -> Covered:
    """Return whether intervals contain the target of fresh rows."""
    X, y, groups = source.sample(seed)
    fresh, truth, _ = draw(FRESH, 10**7 + seed, clusters=FRESH // 8 if source.clusters else 0)
    covered: Covered = {}
    for method in ("split", "cv+"):
        model = model_of(classes=False, seed=seed)
        made = prediction_intervals(
            model, X, y, method=method, confidence=PREDICTION, groups=groups, cv=5,
            random_state=seed, n_jobs=1,
        )  # fmt: skip
        covered[f"predictions, {method}"] = made.covers(fresh, truth).tolist()
    return covered


def measures(source: Source, seed: int) -> Covered:
    """Return whether intervals of measures contain those of the population, of the same model.

    The truth is that of the model at hand, which is fitted to all rows of the sample. On new rows
    it is the very one that is measured. Folds measure models of four fifths of the rows instead,
    so that their intervals cover it less often: this is what a reader of them has to know.
    """
    X, y, groups = source.sample(seed)
    model = model_of(classes=source.classes, seed=seed).fit(X, y)
    new, known, of_new = source.sample(10**7 + seed)
    found = performance(model, new, known, cv=None, groups=of_new)
    truth = _truth(source, model)
    covered = {
        f"performance on new rows, {name}": [bool(each.lower <= truth[name] <= each.upper)]
        for name, each in found.rows[0].measures.items()
        if np.isfinite(each.lower)
    }
    crossed = performance(
        model_of(classes=source.classes, seed=seed), X, y, groups=groups, n_jobs=1
    )
    return covered | {
        f"performance by folds, {name}": [bool(each.lower <= truth[name] <= each.upper)]
        for name, each in crossed.rows[0].measures.items()
        if np.isfinite(each.lower)
    }


def _truth(source: Source, model: Any) -> dict[str, float]:
    everyone = Sample(np.ones(len(source.X)), None, CONFIDENCE)
    if not source.classes:
        found = measure_numbers(source.y, model.predict(source.X), everyone)
    else:
        yes = [python_label(label) for label in model.classes_].index("yes")
        chances = model.predict_proba(source.X)[:, yes]
        found = measure_classes(source.target, chances, 0.5, everyone)
    return {name: each.estimate for name, each in found.items()}


# --- all of them ----------------------------------------------------------------------------------

STUDIES: dict[str, tuple[Callable[[Source, int], Covered], dict[str, Any]]] = {
    "effects of numbers": (effects, {}),
    "effects of classes": (effects, {"classes": True}),
    "effects of numbers, clusters": (effects, {"clusters": CLUSTERS}),
    "effects of classes, clusters": (effects, {"classes": True, "clusters": CLUSTERS}),
    "records of numbers": (records, {}),
    "records of classes": (records, {"classes": True}),
    "records of numbers, clusters": (records, {"clusters": CLUSTERS}),
    "records of classes, clusters": (records, {"classes": True, "clusters": CLUSTERS}),
    "predictions": (predictions, {}),
    "predictions, clusters": (predictions, {"clusters": CLUSTERS}),
    "performance of numbers": (measures, {}),
    "performance of classes": (measures, {"classes": True}),
    "performance of classes, clusters": (measures, {"classes": True, "clusters": CLUSTERS}),
}


def run(name: str, simulations: int) -> Iterator[str]:
    """Yield the lines of a study: how often intervals contain the truth, and how many there are."""
    simulate, kind = STUDIES[name]
    one = partial(_quietly, simulate, Source(**kind))
    done = Parallel(n_jobs=2)(delayed(one)(seed) for seed in range(simulations))
    for interval in dict.fromkeys(key for covered in done for key in covered):
        hits = [np.mean(covered[interval]) for covered in done if covered.get(interval)]
        sizes = [len(covered[interval]) for covered in done if covered.get(interval)]
        if not hits:
            continue
        # Intervals of a simulation hang together: its mean counts as one, by their number.
        share = np.average(hits, weights=sizes)
        error = np.sqrt(np.sum((np.array(sizes) * (hits - share)) ** 2)) / np.sum(sizes)
        yield f"| {name} | {interval} | {share:.1%} | {error:.1%} | {len(hits)} |"


def _quietly(simulate: Callable[[Source, int], Covered], source: Source, seed: int) -> Covered:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of searches that end at their limit
        return simulate(source, seed)


def main() -> None:
    """Run the studies that are named, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=[*STUDIES])
    parser.add_argument("--simulations", type=int, default=SIMULATIONS)
    asked = parser.parse_args()
    sys.stdout.write(
        "| source | interval | contains the truth | s.e. | simulations |\n|---|---|---|---|---|\n"
    )
    for name in asked.names:
        for line in run(name, asked.simulations):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
