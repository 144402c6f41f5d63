"""The fits whose figures are kept: each case is a function of nothing that returns its figures.

Cases use public names alone, so that they stay as they are while the package is rebuilt. What is
not public is in `inner`, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression

from mossrules import (
    FittedEnsemble,
    Frontier,
    MossClassifier,
    MossRegressor,
    RuleSet,
    RuleSets,
    defaults,
    evaluate_frontier,
    find_candidates,
)
from mossrules.baselines import (
    FireRegressor,
    GlrmClassifier,
    GlrmRegressor,
    RuleFitClassifier,
    RuleFitRegressor,
    SirusClassifier,
    SirusRegressor,
)
from mossrules.constraints import (
    AtMostConditions,
    AtMostFeatures,
    AtMostPerFeature,
    Decreasing,
    Increasing,
    MustExclude,
    MustInclude,
    NeverUse,
    OnlyDown,
    OnlyUp,
    OwnDirection,
)
from mossrules.data import read_file, scan_files
from mossrules.display.report import collect, render
from mossrules.evaluation import FrontierEvaluation, evaluate
from mossrules.frontier import (
    approximate_frontier,
    epsilon_sequence,
    excess_loss,
    frontier_from_json,
    frontier_to_json,
    solve_frontier,
)
from mossrules.solver import (
    LinearConstraints,
    LogisticProblem,
    Options,
    Problem,
    near_optimal,
    solve,
)
from mossrules.stability import (
    Agreement,
    consistent_rules,
    dice,
    empirical_stability,
    jaccard,
    nogueira,
    ochiai,
    pog,
)
from support.golden_figures import (
    digest,
    of_candidates,
    of_choice,
    of_estimate,
    of_evaluated,
    of_evaluation,
    of_frontier,
    of_json,
    of_model,
    of_predictions,
    of_report,
    of_rules,
    of_solution,
    of_text,
    plain,
    table,
)

Figures = dict[str, Any]

# Draws as the first release made them, whatever the default is, and the first defaults of MOSS.
PAPER: dict[str, Any] = {"generator": "paper-forest"}
FIRST: dict[str, Any] = {
    **defaults.PAPER_WAY,
    "stability": 0.8,
    "n_trees": 2000,
    "n_bins": 8,
    "max_features": 0.5,
}
PAPER_COMMAND = ("--paper", "--generator", "paper-forest", "--n-bins", 8, "--max-features", 0.5)

ONCE = ("--refits", 0)

CASES: dict[str, Callable[[], Figures]] = {}


def inner() -> Any:
    """Return the command line as an application: the only name here that is not public."""
    from mossrules.cli import app  # noqa: PLC0415  the one place to change

    return app


def case(function: Callable[[], Figures]) -> Callable[[], Figures]:
    """Keep a function as the case of its name."""
    CASES[function.__name__] = function
    return function


def run(*arguments: object) -> str:
    """Return what a command prints; it must not fail."""
    from typer.testing import CliRunner  # noqa: PLC0415

    plainly = {"COLUMNS": "160", "NO_COLOR": "1", "TERM": "dumb"}
    result = CliRunner().invoke(inner(), list(map(str, arguments)), env=plainly)
    if result.exit_code != 0:
        raise AssertionError(result.output) from result.exception
    return result.stdout


def moss(max_rules: int = 5, **settings: Any) -> MossRegressor:
    """Return a quick regressor whose search is never cut short."""
    return MossRegressor(max_rules, **{**FIRST, "n_trees": 100, "time_limit": None, **settings})


def moss_classes(max_rules: int = 3, **settings: Any) -> MossClassifier:
    """Return a quick classifier whose search is never cut short."""
    quick = {**FIRST, "n_trees": 60, "gap": 0.02, "time_limit": None}
    return MossClassifier(max_rules, **{**quick, **settings})


# --- rows ---------------------------------------------------------------------------------------


@cache
def diabetes() -> tuple[pd.DataFrame, pd.Series]:
    """Return 442 patients with ten numbers each, and a number to predict."""
    return load_diabetes(return_X_y=True, as_frame=True, scaled=False)


@cache
def cancer() -> tuple[pd.DataFrame, pd.Series]:
    """Return 569 tumours with ten numbers each, and whether they are benign."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X.iloc[:, :10], y


@cache
def iris() -> tuple[pd.DataFrame, pd.Series]:
    """Return 150 flowers of three kinds."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, y.map(dict(enumerate(["setosa", "versicolor", "virginica"]))).astype(object)


@cache
def mixed(n: int = 700) -> pd.DataFrame:
    """Return columns of every kind, most with missing values, a number and a class to predict."""
    rng = np.random.default_rng(31)
    number, count = rng.normal(50, 20, n).round(1), rng.integers(0, 9, n)
    word = rng.choice(np.array(["red", "green", "blue", "grey"], dtype=object), n)
    town = rng.integers(0, 60, n)
    size, flag = rng.integers(0, 3, n), rng.random(n) < 0.4
    y = rng.normal(size=n) + 2.0 * (number > 55) + 1.5 * size + 3.0 * np.isin(word, ["red", "blue"])
    y += 2.0 * (town % 7 == 2) + flag + 0.2 * count
    number[rng.random(n) < 0.15] = np.nan
    y[np.isnan(number)] += 1.5
    word[rng.random(n) < 0.1] = None
    towns = np.array([f"town {place:02d}" for place in range(60)], dtype=object)
    sizes = pd.Categorical.from_codes(size, ["small", "medium", "large"], ordered=True)
    return pd.DataFrame({
        "number": number,
        "count": count,
        "word": word,
        "town": towns[town],
        "size": sizes,
        "flag": flag,
        "noise": rng.normal(size=n),
        "y": y.round(3),
        "kind": np.where(y > 4.5, "high", "low").astype(object),
    })  # fmt: skip


def mixed_rows(target: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return the columns of `mixed` without its targets, and one of them."""
    frame = mixed()
    return frame.drop(columns=["y", "kind"]), frame[target]


def weightings(n: int) -> dict[str, np.ndarray]:
    """Return weights that are whole numbers, fractions, and some of them zero."""
    rng = np.random.default_rng(5)
    whole = rng.integers(0, 4, n).astype(np.float64)
    return {"whole": whole, "fractions": rng.uniform(0.2, 3.0, n), "large": whole * 40.0}


BINS: dict[str, Any] = {"identity": "codes"}  # what cases were kept with


# --- regressors ---------------------------------------------------------------------------------


@case
def regressor() -> Figures:
    """Fit a regressor as it is, and check its certificate."""
    X, y = diabetes()
    model = moss(8, n_trees=300).fit(X, y)
    found = model.solution_.verify(model.problem_, quick=True)
    checks = [[each.name, each.passed] for each in found.checks]
    return {
        **of_model(model, X),
        "score": plain(model.score(X, y)),
        "checks": checks,
        "unchecked": list(found.unchecked),
    }


@case
def regressor_stability() -> Figures:
    """Every way to say how stable the rules are to be, but for "auto"."""
    X, y = diabetes()
    levels = ("high", "medium", "low", 1.0, 0.5)
    return {str(level): of_choice(moss(stability=level).fit(X, y)) for level in levels}


def by_bins(found: FrontierEvaluation) -> FrontierEvaluation:
    """Return an evaluation with rules that are the same by bins, as cases were kept."""
    return FrontierEvaluation.of(
        found.results,
        n_candidates=found.n_candidates,
        gap=found.gap,
        seconds=found.seconds,
        identity="codes",
    )


@case
def regressor_auto() -> Figures:
    """Choose a stability by cross-validation."""
    X, y = diabetes()
    model = moss(4, stability="auto", cv=3, n_trees=60).fit(X, y)
    return {**of_model(model, X), "evaluation": of_evaluated(by_bins(model.evaluation_))}


@case
def regressor_parameters() -> Figures:
    """Ties, inner nodes, noisy targets, gamma, bins, no refit, and trees of depth 1 and 3."""
    X, y = diabetes()
    settings: dict[str, dict[str, Any]] = {
        "ties": {"ties": "drop", "n_trees": 40, "max_rules": 6},
        "inner_nodes": {"inner_nodes": True},
        "noisy": {"generator": "noisy-target", "random_state": 3},
        "gamma": {"gamma": 0.5},
        "no refit": {"refit": False},
        "depth 1": {"max_depth": 1, "n_bins": 16},
        "depth 3": {"max_depth": 3, "max_features": 1.0, "n_trees": 50},
        "seed": {"random_state": np.random.default_rng(8)},
    }
    found = {}
    for name, each in settings.items():
        model = moss(**each).fit(X, y)
        found[name] = {**of_choice(model), "candidates": of_candidates(model.candidates_)}
    return found


@case
def regressor_methods() -> Figures:
    """Choose by the solvers that are not the default one."""
    X, y = diabetes()
    return {
        "cutting-plane": of_model(moss(3, solver="cutting-plane", n_trees=40).fit(X, y), X),
        "coordinate-descent": of_model(moss(8, solver="coordinate-descent").fit(X, y), X),
    }


@case
def regressor_ensemble() -> Figures:
    """Rules of a forest of scikit-learn, at the cuts of the table and at its own."""
    X, y = diabetes()
    forest = RandomForestRegressor(40, max_depth=2, max_features=0.5, random_state=0).fit(X, y)
    return {
        "snap": of_model(moss(generator=FittedEnsemble(forest)).fit(X, y), X),
        "exact": of_model(moss(generator=FittedEnsemble(forest, "exact")).fit(X, y), X),
    }


@case
def regressor_tables() -> Figures:
    """Arrays, dicts, and tables of polars and pyarrow, some with the target as a column."""
    import polars as pl  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415

    X, y = diabetes()
    whole = X.assign(y=y)
    columns = {name: whole[name].tolist() for name in whole}
    inputs: dict[str, tuple[Any, Any]] = {
        "array": (X.to_numpy(), y.to_numpy()),
        "dict": ({name: columns[name] for name in X}, columns["y"]),
        "polars": (pl.DataFrame(columns), "y"),
        "pyarrow": (pa.table(columns), "y"),
    }
    found = {}
    for name, (rows, target) in inputs.items():
        model = moss(4, n_trees=40).fit(rows, target)
        found[name] = {
            **of_choice(model),
            "predictions": of_predictions(model, rows),
            "names": [str(each) for each in getattr(model, "feature_names_in_", [])],
        }
    return found


@case
def regressor_weights() -> Figures:
    """Weights that are whole numbers, zeros among them, and fractions."""
    X, y = diabetes()
    found = {}
    for name, weights in weightings(len(y)).items():
        model = moss(4, n_trees=60).fit(X, y, weights)
        found[name] = {**of_choice(model), "candidates": of_candidates(model.candidates_)}
    return found


@case
def regressor_mixed() -> Figures:
    """Missing values, texts, ordered categories, many categories and truth values."""
    X, y = mixed_rows("y")
    model = moss(6).fit(X, y)
    return {**of_model(model, X), "explained": digest(repr(model.rules_.explain(X.iloc[3])))}


@case
def regressor_without_rules() -> Figures:
    """Fit to a target that does not vary, and to two columns that say the same."""
    X = {"a": np.arange(30.0), "b": np.repeat([0.0, 1.0], 15)}
    same = moss().fit(X, np.full(30, 2.5))
    few = moss().fit(X, (X["b"] > 0) * 2.0)
    return {"same": of_choice(same), "few": of_model(few, X)}


# --- constraints --------------------------------------------------------------------------------


def constrained(constraints: dict[str, Any], **settings: Any) -> Figures:
    """Return the choices of a regressor under each of several constraints."""
    X, y = diabetes()
    found = {}
    for name, each in constraints.items():
        model = moss(4, n_trees=50, gap=0.01, constraints=each, **settings).fit(X, y)
        found[name] = {**of_choice(model), "largest": int(model.problem_.max_stability)}
    return found


@case
def constraints_on_features() -> Figures:
    """Features that are forbidden, and limits on how many there are."""
    return constrained({
        "never": NeverUse("bmi", "s5"),
        "features": AtMostFeatures(2),
        "per feature": AtMostPerFeature(2),
        "per bmi": AtMostPerFeature(1, "bmi"),
    })  # fmt: skip


@case
def constraints_on_signs() -> Figures:
    """Features that may only push one way."""
    return constrained({
        "up": OnlyUp("bmi"),
        "down": [OnlyDown("s3"), OwnDirection()],
        "increasing": Increasing("bmi", "s5"),
        "decreasing": Decreasing("s3"),
    })  # fmt: skip


@case
def constraints_on_rules() -> Figures:
    """Rules that must be there, must not, or have few conditions; and several at once."""
    X, y = diabetes()
    texts = find_candidates(X, y, n_trees=50, **PAPER).texts
    return constrained({
        "include": MustInclude(texts[9]),
        "exclude": MustExclude(*texts[:3]),
        "conditions": AtMostConditions(1),
        "several": [NeverUse("sex"), AtMostPerFeature(2), Increasing("bmi"), MustExclude(texts[0])],
        "low": [AtMostConditions(1), AtMostFeatures(3)],
    })  # fmt: skip


@case
def constraints_on_classes() -> Figures:
    """Fit a classifier of two classes under constraints."""
    X, y = cancer()
    asked: dict[str, Any] = {
        "never": NeverUse("mean concave points"),
        "features": [AtMostFeatures(2), OwnDirection()],
        "decreasing": Decreasing("mean radius", "mean texture"),
    }
    return {
        name: of_choice(moss_classes(constraints=each, n_trees=40).fit(X, y))
        for name, each in asked.items()
    }


# --- classifiers --------------------------------------------------------------------------------


@case
def classifier() -> Figures:
    """Fit a classifier of two classes as it is."""
    X, y = cancer()
    model = moss_classes(4).fit(X, y)
    return {**of_model(model, X), "score": plain(model.score(X, y))}


@case
def classifier_three_classes() -> Figures:
    """Fit a classifier of three kinds of flowers, and look at another point of each trade-off."""
    X, y = iris()
    model = moss_classes(2, n_trees=50).fit(X, y)
    return {
        **of_model(model, X),
        "score": plain(model.score(X, y)),
        "selected": of_choice(model.select(stability=0.6)),
    }


@case
def classifier_parameters() -> Figures:
    """Weights of classes, levels of stability, no refit, other rules, and descent."""
    X, y = cancer()
    ensemble = GradientBoostingClassifier(n_estimators=20, max_depth=2, random_state=0).fit(X, y)
    settings: dict[str, dict[str, Any]] = {
        "balanced": {"class_weight": "balanced"},
        "dict": {"class_weight": {0: 3, 1: 1}},
        "high": {"stability": "high"},
        "medium": {"stability": "medium"},
        "low": {"stability": "low"},
        "no refit": {"refit": False},
        "descent": {"solver": "coordinate-descent", "max_rules": 6},
        "cutting plane": {"solver": "cutting-plane", "max_rules": 2, "gap": 0.05, "n_trees": 20},
        "noisy": {"generator": "noisy-target", "inner_nodes": True, "max_rules": 2},
        "ensemble": {"generator": FittedEnsemble(ensemble), "max_rules": 2},
    }
    return {
        name: of_choice(moss_classes(**{"n_trees": 40, **each}).fit(X, y))
        for name, each in settings.items()
    }


@case
def classifier_auto() -> Figures:
    """Choose the stability of a classifier by cross-validation."""
    X, y = cancer()
    model = moss_classes(2, stability="auto", cv=3, n_trees=30).fit(X, y)
    return {**of_choice(model), "evaluation": of_evaluated(by_bins(model.evaluation_))}


@case
def classifier_labels() -> Figures:
    """Labels of text, truth values and whole numbers, in arrays and as a column."""
    X, y = cancer()
    labels = {
        "text": np.where(y == 1, "benign", "malignant").astype(object),
        "truth": (y == 1).to_numpy(),
        "numbers": y.to_numpy() * 7 - 2,
    }
    found = {}
    for name, each in labels.items():
        model = moss_classes(2, n_trees=30).fit(X.to_numpy(), each)
        found[name] = {
            "classes": plain(model.classes_),
            "rules": of_rules(model.rules_),
            "predictions": of_predictions(model, X.to_numpy()),
        }
    model = moss_classes(2, n_trees=30).fit(X.assign(kind=labels["text"]), "kind")
    return {**found, "column": of_choice(model)}


@case
def classifier_weights() -> Figures:
    """Weights of rows, of two classes and of three."""
    X, y = cancer()
    found = {}
    for name, weights in weightings(len(y)).items():
        model = moss_classes(2, n_trees=30).fit(X, y, weights)
        found[name] = {**of_choice(model), "candidates": of_candidates(model.candidates_)}
    X, y = iris()
    model = moss_classes(2, n_trees=30, class_weight="balanced")
    return {**found, "three": of_choice(model.fit(X, y, weightings(len(y))["fractions"]))}


@case
def classifier_mixed() -> Figures:
    """Missing values and categories of all kinds, for a classifier."""
    X, y = mixed_rows("kind")
    model = moss_classes(4).fit(X, y)
    return {
        **of_model(model, X),
        "explained": digest(repr(model.rules_.explain(X.iloc[3]))),
        "thresholds": table(model.rules_.thresholds(1.0, 5.0, backend="pandas")),
    }


# --- files and clusters -------------------------------------------------------------------------


def both_from(rows: Any, X: Any, **settings: Any) -> Figures:
    """Return a regressor and a classifier of rows with the columns "y" and "kind"."""
    parts = rows if isinstance(rows, dict) else {"y": rows, "kind": rows}
    return {
        "y": of_model(moss(4, n_trees=40, **settings).fit(parts["y"], "y"), X),
        "kind": of_model(moss_classes(2, n_trees=30, **settings).fit(parts["kind"], "kind"), X),
    }


@case
def files_of_csv() -> Figures:
    """CSV files: one that is read whole, one that is not, and several of a pattern."""
    frame = mixed()
    X = frame.drop(columns=["y", "kind"])
    with TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        frame.to_csv(path, index=False)
        for part in range(3):
            frame.iloc[part::3].to_csv(Path(folder, f"part{part}.csv"), index=False)
        scanned = {
            "y": scan_files(path, drop=["kind"]),
            "kind": scan_files(path, drop=["y"]),
        }
        parts = scan_files(f"{folder}/part*.csv", drop=["kind"])
        whole = read_file(path, drop=["kind", "town"])
        return {
            "scanned": both_from(scanned, X),
            "parts": of_choice(moss(4, n_trees=40).fit(parts, "y")),
            "read": of_choice(moss(4, n_trees=40).fit(whole, "y")),
            "path": of_choice(moss(3, n_trees=40).fit(str(path), "y")),
        }


@case
def files_of_parquet() -> Figures:
    """Parquet files with several row groups: one, a pattern, and with weights."""
    frame = mixed()
    X = frame.drop(columns=["y", "kind"])
    with TemporaryDirectory() as folder:
        for target, other in (("y", "kind"), ("kind", "y")):
            rows = frame.drop(columns=other)
            rows.to_parquet(Path(folder, f"{target}.parquet"), index=False, row_group_size=150)
        for part in range(2):
            path = Path(folder, f"part{part}.parquet")
            frame.drop(columns="kind").iloc[part::2].to_parquet(path, row_group_size=90)
        paths = {name: f"{folder}/{name}.parquet" for name in ("y", "kind")}
        weights = weightings(len(frame))["fractions"]
        weighted = moss(4, n_trees=40).fit(paths["y"], "y", weights)
        drop = scan_files(f"{folder}/part*.parquet", drop=["noise"])
        return {
            "one": both_from(paths, X),
            "weighted": of_choice(weighted),
            "parts": of_choice(moss(4, n_trees=40).fit(drop, "y")),
        }


@case
def dask_frames() -> Figures:
    """Frames of Dask in partitions, with predictions that are lazy."""
    import dask  # noqa: PLC0415
    import dask.dataframe as dd  # noqa: PLC0415

    frame = mixed().drop(columns=["town", "size"])
    with dask.config.set(scheduler="synchronous"):
        parts = {
            target: dd.from_pandas(frame.drop(columns=other), npartitions=5, sort=False)
            for target, other in (("y", "kind"), ("kind", "y"))
        }
        lazy = moss(4, n_trees=40).fit(parts["y"], "y")
        found = both_from(parts, frame.drop(columns=["y", "kind"]))
        return {**found, "lazy": plain(np.asarray(lazy.predict(parts["y"]).compute()))}


@case
def dask_arrays() -> Figures:
    """Arrays of Dask in blocks."""
    import dask  # noqa: PLC0415
    import dask.array as da  # noqa: PLC0415

    X, y = (each.to_numpy() for each in diabetes())
    kinds = np.where(y > 140, "ill", "well")
    with dask.config.set(scheduler="synchronous"):
        blocks = da.from_array(X, chunks=(100, 4))
        weights = weightings(len(y))["whole"]
        number = moss(4, n_trees=40).fit(blocks, da.from_array(y, chunks=70), weights)
        labels = da.from_array(kinds, chunks=100)
        classes = moss_classes(2, n_trees=30, outcome="well").fit(blocks, labels)
        return {"number": of_model(number, X), "classes": of_model(classes, X)}


# --- baselines ----------------------------------------------------------------------------------


def of_learners(learners: dict[str, Any], X: Any, y: Any, *, weighted: bool = False) -> Figures:
    """Return the rules and predictions of learners, and what else some of them have."""
    found = {}
    for name, learner in learners.items():
        learner.fit(X, y, weightings(len(y))["fractions"] if weighted else None)
        extra = {
            each: getattr(learner, f"{each}_", None) for each in ("price", "strength", "alpha")
        }
        linear = getattr(learner, "linear_", {})
        found[name] = {
            "rules": of_rules(learner.rules_),
            "predictions": of_predictions(learner, X),
            "extra": plain({key: value for key, value in extra.items() if value is not None}),
            "linear": plain(getattr(linear, "weights", None)),
        }
    return found


@case
def baselines_of_numbers() -> Figures:
    """Every baseline that is a regressor, with rules of the shared pool."""
    X, y = diabetes()
    quick = {**PAPER, "n_trees": 60}
    learners = {
        "fire": FireRegressor(5, **quick),
        "fire paper": FireRegressor(5, variant="paper", **quick),
        "glrm": GlrmRegressor(5, **quick),
        "glrm paper": GlrmRegressor(5, variant="paper", refit=False, **quick),
        "sirus": SirusRegressor(5, **quick),
        "sirus ridge": SirusRegressor(5, p0=0.1, ridge=0.5, **quick),
        "rulefit": RuleFitRegressor(5, **quick),
        "rulefit linear": RuleFitRegressor(5, linear_terms=True, **quick),
    }
    return of_learners(learners, X, y)


@case
def baselines_with_rules_of_their_own() -> Figures:
    """Baselines that search for rules in their own ways, and weights of rows."""
    X, y = diabetes()
    quick = {**PAPER, "n_trees": 40}
    own = {
        "fire": FireRegressor(4, source="own", **quick),
        "glrm": GlrmRegressor(4, source="own", **quick),
        "sirus": SirusRegressor(4, source="own", **quick),
        "rulefit": RuleFitRegressor(4, source="own", **quick),
    }
    weighted = {
        "fire": FireRegressor(4, **quick),
        "glrm": GlrmRegressor(4, **quick),
        "sirus": SirusRegressor(4, ridge="cv", **quick),
        "rulefit": RuleFitRegressor(4, penalty="cv", **quick),
    }
    return {
        "own": of_learners(own, X, y),
        "weighted": of_learners(weighted, X, y, weighted=True),
    }


@case
def baselines_of_classes() -> Figures:
    """Every baseline that is a classifier, of two classes and of three."""
    X, y = cancer()
    quick = {**PAPER, "n_trees": 40}
    learners = {
        "glrm": GlrmClassifier(4, **quick),
        "glrm own": GlrmClassifier(3, source="own", **quick),
        "sirus": SirusClassifier(4, **quick),
        "rulefit": RuleFitClassifier(4, **quick),
        "rulefit linear": RuleFitClassifier(4, linear_terms=True, class_weight="balanced", **quick),
    }
    three = {
        "sirus": SirusClassifier(2, **quick),
        "rulefit": RuleFitClassifier(2, **quick),
    }
    return {"two": of_learners(learners, X, y), "three": of_learners(three, *iris())}


@case
def baselines_of_mixed_columns() -> Figures:
    """Baselines on missing values and categories."""
    X, y = mixed_rows("y")
    quick = {**PAPER, "n_trees": 40}
    learners = {
        "fire": FireRegressor(4, **quick),
        "glrm": GlrmRegressor(4, source="own", **quick),
        "sirus": SirusRegressor(4, **quick),
        "rulefit": RuleFitRegressor(4, linear_terms=True, **quick),
    }
    return of_learners(learners, X, y)


# --- candidates ---------------------------------------------------------------------------------


@case
def candidates() -> Figures:
    """Every parameter of the search for rules."""
    X, y = mixed_rows("y")
    settings: dict[str, dict[str, Any]] = {
        "all": {"max_candidates": None},
        "few": {"max_candidates": 30, "min_leaf": 40},
        "merged": {"merge_identical": True, "inner_nodes": True},
        "chunks": {"chunk_rows": 64, "n_jobs": 2},
        "noise": {"generator": "noisy-target", "noise": 0.3, "random_state": 11},
        "bins": {"n_bins": 30, "max_features": 1.0, "max_depth": 3, "n_trees": 30},
        "weights": {"sample_weight": weightings(len(y))["fractions"], "chunk_rows": 100},
    }
    return {
        name: of_candidates(find_candidates(X, y, **{**PAPER, "n_trees": 60, **each}))
        for name, each in settings.items()
    }


@case
def candidates_with_patterns() -> Figures:
    """Patterns of rules that hold together, and the columns of a frame of candidates."""
    X, y = cancer()
    weights = weightings(len(y))["fractions"]
    plainly = find_candidates(X, y, n_trees=60, patterns=True, **PAPER)
    weighted = find_candidates(
        X, y, n_trees=60, patterns=True, sample_weight=weights, chunk_rows=90,
        merge_identical=True, **PAPER,
    )  # fmt: skip
    return {
        "plain": of_candidates(plainly),
        "weighted": of_candidates(weighted),
        "frame": {name: digest(str(each)) for name, each in plainly.columns().items()},
        "text": digest(str(plainly)),
    }


# --- solvers and frontiers ----------------------------------------------------------------------


def made_problem(seed: int, m: int = 24, **settings: Any) -> Problem:
    """Return a problem of made-up columns, whole numbers all of them."""
    rng = np.random.default_rng([2, seed])
    M = (rng.random((120, m)) < rng.uniform(0.2, 0.8, m)) * rng.choice([-3.0, -1.0, 1.0, 2.0], m)
    y = M[:, :5].sum(axis=1) + rng.integers(-4, 5, 120)
    counts = rng.integers(1, 200, m)
    usual = {"max_rules": 4, "gamma": 0.1}
    return Problem.from_matrix(M, y - round(y.mean()), counts, **{**usual, **settings})


NO_LIMIT = Options(gap=0.0, time_limit=None)


@case
def solved_problems() -> Figures:
    """Problems of every kind by every method that takes them."""
    signs = np.array([1, -1, 0] * 8)
    limits = LinearConstraints(np.repeat(np.eye(4), 6, axis=1), np.ones(4))
    problems = {
        "plain": made_problem(0),
        "floor": made_problem(1, min_stability=500),
        "fixed": made_problem(2, fixed_in=[7], fixed_out=[0, 1]),
        "signs": made_problem(3, signs=signs),
        "limits": made_problem(4, constraints=limits, min_stability=300),
    }
    found = {}
    for name, problem in problems.items():
        found[name] = of_solution(solve(problem, options=NO_LIMIT))
    for name in ("plain", "floor", "fixed"):
        found[f"{name} by descent"] = of_solution(solve(problems[name], "coordinate-descent"))
    limits = LinearConstraints(np.repeat(np.eye(2), 5, axis=1), np.ones(2))
    for name, problem in {
        "plain": made_problem(6, 10, max_rules=3),
        "floor": made_problem(7, 10, max_rules=3, min_stability=350),
        "limits": made_problem(8, 10, max_rules=3, constraints=limits),
    }.items():
        found[f"{name} by cuts"] = of_solution(solve(problem, "cutting-plane", NO_LIMIT))
    warm = solve(made_problem(1), options=NO_LIMIT)
    found["warm"] = of_solution(solve(problems["floor"], options=NO_LIMIT, start=warm))
    return found


@case
def solved_problems_of_classes() -> Figures:
    """Problems with the logistic loss."""
    X, y = cancer()
    patterns = find_candidates(X, y, n_trees=20, patterns=True, **PAPER).patterns
    problem = LogisticProblem(patterns, max_rules=3, gamma=0.05)
    options = Options(gap=0.01, time_limit=None)
    return {
        "plain": of_solution(solve(problem, options=options)),
        "floor": of_solution(solve(problem.at(problem.max_stability * 8 // 10), options=options)),
        "descent": of_solution(solve(problem, "coordinate-descent", options)),
    }


@case
def pools() -> Figures:
    """All choices that are nearly as good as the best."""
    found = {}
    for seed, tolerance, most in ((0, 0.05, 1000), (1, 0.2, 20), (2, 0.0, 1000)):
        pool = near_optimal(made_problem(seed), tolerance, most, NO_LIMIT)
        found[f"{seed} within {tolerance}"] = {
            "supports": [support.tolist() for support in pool.supports][:30],
            "number": len(pool),
            "losses": plain(pool.losses),
            "stabilities": plain(pool.stabilities),
            "limit": plain(pool.limit),
            "status": pool.status.value,
            "effort": pool.nodes,
            "core": pool.core.tolist(),
            "complete_within": plain(pool.complete_within),
        }
    return found


@case
def frontiers() -> Figures:
    """Solve the trade-off of a regressor at some points, and choose on it."""
    X, y = diabetes()
    model = moss(4, n_trees=50).fit(X, y)
    found = model.frontier(points=8)
    selected = {
        "stability": model.select(stability=0.6),
        "index": model.select(index=1, frontier=found),
        "max_loss": model.select(max_loss=float(found.loss.mean()), frontier=found),
    }
    return {
        "points": of_frontier(found),
        "shares": of_frontier(model.frontier([1.0, 0.9, 0.55], 0.0)),
        "selected": {name: of_choice(each) for name, each in selected.items()},
        "knee": of_solution(found.knee()),
        "at": found.at(stability=0.9).support.tolist(),
        "sequence": plain(epsilon_sequence(model.problem_.counts, 4)),
        "kept": Frontier.from_json(found.to_json()).to_json() == found.to_json(),
    }


@case
def frontiers_of_problems() -> Figures:
    """Complete frontiers, some floors, floors that do not learn from each other, and threads."""
    problem = made_problem(5)
    complete = solve_frontier(problem, "complete", options=NO_LIMIT)
    small = made_problem(6, 10, max_rules=3)
    floors = [600, 450, 300, 100]
    approximate = approximate_frontier(problem, 12)
    return {
        "complete": of_frontier(complete),
        "part": of_frontier(
            solve_frontier(
                problem, "complete", options=NO_LIMIT, min_stability=200, max_stability=500
            )
        ),
        "floors": of_frontier(solve_frontier(problem, floors, options=NO_LIMIT, n_jobs=2)),
        "alone": of_frontier(solve_frontier(problem, floors, options=NO_LIMIT, reuse=False)),
        "cuts": of_frontier(solve_frontier(small, [250, 100], "cutting-plane", NO_LIMIT)),
        "approximate": of_frontier(approximate),
        "excess": plain(excess_loss(approximate, complete)),
        "kept": of_frontier(frontier_from_json(frontier_to_json(complete)))["points"],
    }


@case
def frontiers_of_classes() -> Figures:
    """Solve the trade-off of classifiers, and choose on it."""
    X, y = cancer()
    model = moss_classes(2, n_trees=30).fit(X, y)
    found = model.frontier([1.0, 0.8, 0.6], 0.02)
    three = moss_classes(2, n_trees=20).fit(*iris()).frontier([1.0, 0.7], 0.02)
    return {
        "two": of_frontier(found),
        "three": {label: of_frontier(each) for label, each in three.items()},
        "selected": of_choice(model.select(index=-1, frontier=found)),
    }


# --- evaluation ---------------------------------------------------------------------------------


@case
def evaluation_of_numbers() -> Figures:
    """Learners side by side on folds, with each identity of rules."""
    X, y = diabetes()
    learners = {
        "moss": moss(3, n_trees=30),
        "sirus": SirusRegressor(3, n_trees=30, **PAPER),
        "fire": FireRegressor(3, n_trees=30, **PAPER),
        "line": LinearRegression(),
    }
    found = evaluate(learners, X, y, cv=4, identity="codes")
    again = evaluate(
        {"moss": learners["moss"]}, X, y, cv=3, identity="rows", overlap=0.9, vary_seed=True,
        sample_weight=weightings(len(y))["fractions"],
    )  # fmt: skip
    texts = evaluate({"moss": learners["moss"]}, X, y, cv=3, identity="thresholds")
    return {
        "codes": of_evaluation(found),
        "rows": of_evaluation(again),
        "thresholds": of_evaluation(texts),
    }


@case
def evaluation_of_classes() -> Figures:
    """Classifiers side by side, and the same from a record of half of them."""
    X, y = cancer()
    learners = {
        "moss": moss_classes(2, n_trees=20),
        "glrm": GlrmClassifier(2, n_trees=20, **PAPER),
        "rulefit": RuleFitClassifier(2, n_trees=20, **PAPER),
    }
    with TemporaryDirectory() as folder:
        record = Path(folder, "record.jsonl")
        evaluate({"glrm": learners["glrm"]}, X, y, cv=3, checkpoint=record, **BINS)
        found = evaluate(learners, X, y, cv=3, checkpoint=record, **BINS)
    flowers, kinds = iris()
    three = evaluate(
        {"sirus": SirusClassifier(2, n_trees=20, **PAPER)}, flowers, kinds, cv=3, **BINS
    )
    return {
        "two": of_evaluation(found),
        "by loss": plain(found.by("log_loss").summary_columns()["rank_log_loss"]),
        "three": of_evaluation(three),
    }


@case
def evaluation_of_frontiers() -> Figures:
    """Trade-offs on folds, of numbers and of classes."""
    shares = [1.0, 0.9, 0.7]
    X, y = diabetes()
    weights = weightings(len(y))["whole"]
    number = evaluate_frontier(moss(3, n_trees=30), X, y, cv=4, points=shares, **BINS)
    weighted = evaluate_frontier(
        moss(3, n_trees=30), X, y, cv=3, points=4, sample_weight=weights, identity="thresholds"
    )
    classes = evaluate_frontier(
        moss_classes(2, n_trees=20), *cancer(), cv=3, points=shares, gap=0.02, **BINS
    )
    return {
        "number": of_evaluated(number),
        "weighted": of_evaluated(weighted),
        "classes": of_evaluated(classes),
    }


@case
def measures_of_stability() -> Figures:
    """Every measure, of rule sets of half of the rows and of sets of letters."""
    X, y = diabetes()
    half = np.random.default_rng(4).random((5, len(y))) < 0.5
    runs = [moss(4, n_trees=30).fit(X[each], y[each]).rules_ for each in half]
    found: Figures = {}
    for identity in ("codes", "thresholds", "rows"):
        how = {"identity": identity, "X": X if identity == "rows" else None}
        agreement = Agreement.of(runs, **how)
        found[identity] = {
            "shared": plain(agreement.shared),
            "pairs": [
                plain(measure(runs[0], runs[1], **how)) for measure in (dice, jaccard, ochiai, pog)
            ],
            "means": [
                of_estimate(empirical_stability(runs, measure, **how))
                for measure in ("dice", "jaccard", "ochiai", "pog")
            ],
            "nogueira": of_estimate(nogueira(runs, 80, **how)),
        }
    often = consistent_rules(runs, 0.4, **BINS)
    letters = [set("abcd"), set("abce"), set("bcdf")]
    return {
        **found,
        "often": {str(rule): plain(share) for rule, share in often.items()},
        "letters": of_estimate(empirical_stability(letters, "jaccard", confidence=0.9, **BINS)),
        "matrix": of_estimate(
            nogueira(np.array([[1, 0, 1, 0], [1, 1, 0, 0], [1, 0, 1, 0]]), **BINS)
        ),
    }


# --- exports and reports ------------------------------------------------------------------------


def exports(rules: Any, X: Any) -> Figures:
    """Return every form of a rule set, and what a copy predicts that went through JSON."""
    copy = type(rules).from_json(rules.to_json())
    select = "rows" if isinstance(rules, RuleSets) else None
    found = {
        "text": of_text(rules.to_text()),
        "markdown": of_text(rules.to_markdown()),
        "latex": of_text(rules.to_latex()),
        "python": of_text(rules.to_python("foretell")),
        "sql": of_text(rules.to_sql(select)),
        "select": of_text(rules.to_sql(("main", "rows"), "sqlite", keep=["id"])),
        "duckdb": of_text(rules.to_sql("rows", "duckdb")),
        "html": of_text(rules._repr_html_()),
        "frame": table(rules.to_frame("pandas")),
        "copy": plain(copy.decision_function(X)),
    }
    if isinstance(rules, RuleSet):
        found["by rule"] = table(rules.rule_importances("pandas"))
        found["by feature"] = table(rules.feature_importances("pandas"))
        found["holds"] = plain(rules.holds(X))
    return found


@case
def exports_of_rules() -> Figures:
    """Every form in which rule sets leave, of numbers, two classes and three."""
    X, y = mixed_rows("y")
    number = moss(5, n_trees=60).fit(X, y).rules_
    classes = moss_classes(3, n_trees=40).fit(*mixed_rows("kind")).rules_
    flowers, kinds = iris()
    three = moss_classes(2, n_trees=20).fit(flowers, kinds).rules_
    return {
        "number": exports(number, X),
        "classes": exports(classes, X),
        "three": exports(three, flowers),
    }


def page(data: Any) -> str:
    """Return the digest of the page of a report, without times and releases."""
    points = [
        replace(each, certificate=replace(each.certificate, seconds=0.0)) for each in data.points
    ]
    made = {**dict.fromkeys(data.made, "same"), "packages": {}, "seconds": 0.0}
    return digest(render(replace(data, made=made, points=points)))


@case
def reports() -> Figures:
    """Collect what reports show of a regressor and of a classifier."""
    X, y = mixed_rows("y")
    number = moss(3, n_trees=30).fit(X, y)
    others = {"sirus": SirusRegressor(3, n_trees=30, **PAPER)}
    shown = collect(
        number, X, y, cv=3, points=4, methods=others, refits=0, time_budget=None, **BINS
    )
    alone = collect(number, cv=None, points=[1.0, 0.7], title="Alone", time_budget=None)
    X, y = cancer()
    classes = moss_classes(2, n_trees=20).fit(X, y)
    of_classes = collect(
        classes,
        X,
        y,
        cv=3,
        points=[1.0, 0.8, 0.6],
        methods=None,
        gap=0.02,
        refits=0,
        time_budget=None,
        **BINS,
    )
    return {
        "number": {**of_report(shown), "page": page(shown)},
        "alone": {**of_report(alone), "page": page(alone)},
        "classes": {**of_report(of_classes), "page": page(of_classes)},
    }


# --- the command line ---------------------------------------------------------------------------

LEVEL = ("--stability", 0.8)
QUICK = ("--n-trees", 40, "--max-rules", 4, *PAPER_COMMAND)


@case
def commands_of_numbers() -> Figures:
    """`fit`, `predict` and `frontier` on a CSV file with a number to predict."""
    with TemporaryDirectory() as folder:
        data, model, kept = (Path(folder, each) for each in ("rows.csv", "m.json", "f.json"))
        mixed().to_csv(data, index=False)
        rows = (data, "--target", "y", "--drop", "kind", *QUICK)
        limited = ("--never-use", "town", "--at-most-per-feature", 2, "--inner-nodes")
        fitted = run("fit", *rows, *LEVEL, *ONCE, "--output", model)
        forms = ("text", "markdown", "latex", "sql", "python")
        front = run("frontier", *rows, "--points", 4, "--output", kept)
        return {
            "fit": of_text(fitted, model),
            "model": of_json(model.read_text()),
            "fit json": of_json(run("fit", *rows, *LEVEL, *ONCE, *limited, "--json")),
            "exports": {
                form: of_text(run("fit", *rows, *LEVEL, *ONCE, "--export", form)) for form in forms
            },
            "predict": of_text(run("predict", model, data, "--keep", "town")),
            "explain": of_text(run("predict", model, data, "--explain", 3)),
            "predict json": plain(np.array(of_json_list(run("predict", model, data, "--json")))),
            "frontier": of_text(front, kept),
            "frontier json": of_json(run("frontier", *rows, "--points", "complete", "--json")),
            "floors": of_frontier(Frontier.from_json(kept.read_text()))["points"],
        }


def of_json_list(text: str) -> list[float]:
    """Return the predictions that a command has printed as JSON."""
    import json  # noqa: PLC0415

    return json.loads(text)["prediction"]


@case
def commands_of_classes() -> Figures:
    """`fit` and `predict` on CSV files with classes to predict."""
    quick = ("--n-trees", 20, "--max-rules", 2, "--gap", 0.05, *PAPER_COMMAND)
    with TemporaryDirectory() as folder:
        data, flowers, model = (Path(folder, each) for each in ("a.csv", "b.csv", "m.json"))
        mixed().to_csv(data, index=False)
        X, y = iris()
        X.assign(kind=y).to_csv(flowers, index=False)
        rows = (data, "--target", "kind", "--drop", "y", *quick)
        found = {
            "fit": of_text(run("fit", *rows, *LEVEL, *ONCE, "--output", model), model),
            "predict": of_text(run("predict", model, data)),
            "fit json": of_json(run("fit", *rows, *LEVEL, *ONCE, "--json")),
        }
        run("fit", flowers, "--target", "kind", *quick, *LEVEL, *ONCE, "--output", model)
        return {
            **found,
            "three": of_json(model.read_text())["rule_sets"],
            "predict three": of_text(run("predict", model, flowers)),
            "explain three": of_text(run("predict", model, flowers, "--explain", 60)),
        }


@case
def commands_that_compare() -> Figures:
    """`report`, `compare` and `stability` on a CSV file."""
    quick = ("--n-trees", 20, "--max-rules", 3, *PAPER_COMMAND)
    with TemporaryDirectory() as folder:
        data, html = Path(folder, "rows.csv"), Path(folder, "page.html")
        X, y = diabetes()
        X.assign(y=y).to_csv(data, index=False)
        rows = (data, "--target", "y", *quick)
        three = [word for name in ("MOSS-M", "SIRUS", "FIRE") for word in ("--method", name)]
        bins = ("--identity", "codes")
        page = ("--output", html, "--folds", 3, "--points", 3, "--no-baselines", *bins)
        told = run("report", *rows, *LEVEL, *page)
        fold = ("--folds", 3, *bins)
        return {
            "report": of_text(re.sub(r"; open it.*", "", told), html),
            "compare": of_json(run("compare", *rows, *LEVEL, *fold, *three, "--json")),
            "stability": of_text(run("stability", *rows, *LEVEL, *fold)),
            "stability json": of_json(run("stability", *rows, *LEVEL, *fold, "--json")),
        }
