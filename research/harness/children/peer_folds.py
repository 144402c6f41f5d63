"""Run by the interpreter that has a peer: fit it to the folds of a job.

The job has `peer` (a name of FITS), `max_rules`, `seed`, and `folds` with `X`, `y` and `new` for
each: rows to learn from, and rows to predict; a fold may have a `seed` of its own. An answer has
`predictions`, `terms`, the seconds of the fit (`seconds` of the clock, `cpu` of the processor) and
the peer's `version`; or `failure`, if the fit failed. A term is a list of conditions [column,
comparison, value], all of which must hold; the comparison "linear" is a linear term. `terms` is
null where there are none.

This file needs nothing of mossrules: it is not there.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from answering import answer

# What data or settings can lead to; other errors are the peer's own, and end the process.
FAILURES = (ValueError, TypeError, ArithmeticError, LookupError, RuntimeError, MemoryError)


def sirus(max_rules: int, seed: int) -> Any:
    """Return SIRUS with so many rules."""
    return import_module("sirus").SirusRegressor(num_rules=max_rules, random_state=seed)


def sirus_terms(model: Any, _n_columns: int) -> Any:
    """Return the rules that have a weight."""
    return [
        [[each.feature, each.op, float(each.value)] for each in rule.conditions]
        for rule in model.rules_
        if rule.weight != 0
    ]


def rulefit(max_rules: int, seed: int) -> Any:
    """Return RuleFit with so many terms, linear ones among them."""
    return import_module("imodels").RuleFitRegressor(max_rules=max_rules, random_state=seed)


def rulefit_rules(max_rules: int, seed: int) -> Any:
    """Return RuleFit without linear terms."""
    return rulefit(max_rules, seed).set_params(include_linear=False)


def rulefit_terms(model: Any, n_columns: int) -> Any:
    """Return linear terms and rules whose weights are not zero."""
    terms = [
        [
            [int(column.removeprefix("X_")), comparison, float(value)]
            for (column, comparison), value in rule.agg_dict.items()
        ]
        for rule in model.rules_without_feature_names_
    ]
    weights = list(model.coef)[:n_columns] if model.include_linear else []
    return terms + [[[i, "linear", 0.0]] for i, weight in enumerate(weights) if weight != 0]


def figs(max_rules: int, seed: int) -> Any:
    """Return FIGS with so many splits, which it calls rules."""
    return import_module("imodels").FIGSRegressor(max_rules=max_rules, random_state=seed)


def figs_terms(model: Any, _n_columns: int) -> Any:
    """Return the way to each leaf of each tree."""
    terms: list[Any] = []

    def descend(node: Any, way: list[Any]) -> None:
        if node.left is None:
            terms.append(way)
            return
        column, cut = int(node.feature), float(node.threshold)
        descend(node.left, [*way, [column, "<=", cut]])
        descend(node.right, [*way, [column, ">", cut]])

    for tree in model.trees_:
        descend(tree, [])
    return [way for way in terms if way]


def ebm(_max_rules: int, seed: int) -> Any:
    """Return an explainable boosting machine as it is, on one thread."""
    glassbox = import_module("interpret.glassbox")
    return glassbox.ExplainableBoostingRegressor(random_state=seed, n_jobs=1)


def no_terms(_model: Any, _n_columns: int) -> Any:
    """Return that there are no rules."""
    return


# By name: how to make it, how to read it, and what it is called where it is installed from.
FITS = {
    "sirus": (sirus, sirus_terms, "sirus"),
    "rulefit": (rulefit, rulefit_terms, "imodels"),
    "rulefit-rules": (rulefit_rules, rulefit_terms, "imodels"),
    "figs": (figs, figs_terms, "imodels"),
    "ebm": (ebm, no_terms, "interpret-core"),
}


def fit(job: Any, fold: Any) -> dict[str, Any]:
    """Return what the peer makes of a fold."""
    make, read, _ = FITS[job["peer"]]
    X, y, new = (np.array(fold[name], dtype=np.float64) for name in ("X", "y", "new"))
    model = make(job["max_rules"], fold.get("seed", job["seed"]))
    begun, cpu = time.perf_counter(), time.process_time()
    try:
        model.fit(X, y)
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
        predictions = np.asarray(model.predict(new), dtype=np.float64).ravel().tolist()
    except FAILURES as failure:
        return {"failure": f"{type(failure).__name__}: {' '.join(str(failure).split())}"}
    terms = read(model, X.shape[1])
    return {"predictions": predictions, "terms": terms, "seconds": seconds, "cpu": cpu}


def release(name: str) -> str:
    """Return the release of a package."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


def fit_all(job: Any) -> Iterator[dict[str, Any]]:
    """Fit the folds of a job one after the other."""
    make, _, package = FITS[job["peer"]]
    make(job["max_rules"], job["seed"])  # loads the package, before any clock
    for fold in job["folds"]:
        yield {**fit(job, fold), "version": release(package)}


if __name__ == "__main__":
    answer(fit_all)
