"""Sound calls of the public surface, each parameter of which can be given something else.

`CALLS` are functions with arguments with which they work; `COMMANDS` are commands with the files
that they find in the current folder. What is given in place of an argument is in `HOSTILE` and
`HOSTILE_WORDS`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mossrules import MossClassifier, MossRegressor, RuleSet, constraints, find_candidates
from mossrules import evaluation as ev
from mossrules.baselines import FireRegressor, GlrmClassifier, RuleFitRegressor, SirusRegressor
from mossrules.data import check, read_file, scan_files
from mossrules.display.report import collect, write_report
from mossrules.estimators import candidates_for
from mossrules.frontier import (
    Frontier,
    approximate_frontier,
    epsilon_sequence,
    solve_frontier,
)
from mossrules.model import RuleSets
from mossrules.solver import (
    LinearConstraints,
    LogisticProblem,
    Options,
    Problem,
    near_optimal,
    solve,
)
from mossrules.stability import dice, jaccard, nogueira, ochiai, pog

__all__ = ["CALLS", "COMMANDS", "HOSTILE", "HOSTILE_WORDS", "parameters", "write_files"]

HOSTILE: Mapping[str, Any] = {
    "None": None,
    "True": True,
    "-1": -1,
    "0": 0,
    "2.5": 2.5,
    "2**63": 2**63,
    "10**400": 10**400,
    "nan": math.nan,
    "inf": math.inf,
    "1j": 1j,
    "''": "",
    "'x'": "x",
    "'auto'": "auto",
    "half a character": "\ud800",
    "a null character": "a\x00b",
    "a long text": "x" * 5000,
    "bytes": b"x",
    "[]": [],
    "[1, 'a', None]": [1, "a", None],
    "[[]]": [[]],
    "{}": {},
    "{'x': 1}": {"x": 1},
    "{1: [2]}": {1: [2]},
    "a set": {1, "a"},
    "a range": range(3),
    "an object": object(),
    "a class": dict,
    "a function": len,
    "a date": date(2025, 1, 1),
    "an empty array": np.empty((0, 0)),
    "a cube": np.zeros((2, 2, 2)),
    "an array of objects": np.array([object(), None], dtype=object),
    "a frame": pd.DataFrame({"x": [1.0, np.nan], 3: [1, 2]}),
    "a series": pd.Series([1, 2], dtype="category"),
    "a path": Path("nowhere"),
    "a folder": Path(),
}
HOSTILE_WORDS = (
    "", " ", "x", "-1", "0", "1", "2.5", "1e400", "nan", "inf", "99999999999999999999", "auto", "y",
    "x0", "x0,x1", "x0=", "x0=1,2", "=", ",", "x0 > 1", "[/b]", "\udcff", "nowhere.csv", ".",
    "rows.csv", "model.json", "/dev/null", "a\tb", "é", "x" * 300, "--", "true", "high",
)  # fmt: skip
SMALL = {"max_rules": 2, "n_trees": 10, "random_state": 0, "n_jobs": 1}


def frame() -> pd.DataFrame:
    """Return a few rows."""
    draw = np.random.default_rng(0)
    X = pd.DataFrame({f"x{i}": draw.normal(size=40).round(2) for i in range(3)})
    X["kind"] = draw.choice(["a", "b"], 40)
    X["y"] = (2.0 * (X["x0"] > 0) + draw.normal(size=40)).round(2)
    return X


X = frame()
FEATURES, Y = X.drop(columns="y"), X["y"].to_numpy()
LABELS = np.where(Y > 1, "high", "low")
MODEL = MossRegressor(**SMALL).fit(FEATURES, Y)
CLASSES = MossClassifier(**SMALL, outcome="high").fit(FEATURES, LABELS)
SEVERAL = MossClassifier(**SMALL).fit(FEATURES, np.arange(40) % 3)
DRAW = np.random.default_rng(1)
M, COUNTS = DRAW.normal(size=(20, 5)), np.arange(1, 6)
PROBLEM = Problem.from_matrix(M, M.sum(axis=1), COUNTS, max_rules=2, gamma=1.0)
FRONTIER = solve_frontier(PROBLEM)
METHODS = {"MOSS": MossRegressor(**SMALL)}


def fitted(kind: Any, y: Any) -> Callable[..., Any]:
    """Return a call that makes an estimator and fits it."""

    def made(**given: Any) -> Any:
        return kind(**given).fit(FEATURES, y)

    made.__signature__ = inspect.signature(kind)  # type: ignore[attr-defined]
    return made


def solved(kind: Any, *rows: Any) -> Callable[..., Any]:
    """Return a call that makes a problem of rows and solves it."""

    def made(**given: Any) -> Any:
        return solve(kind.from_matrix(*rows, COUNTS, **given), options=Options(node_limit=50))

    fields = list(inspect.signature(kind).parameters.values())[1:]
    made.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in fields]
    )
    return made


def with_options(**given: Any) -> Any:
    """Solve with options."""
    return solve(PROBLEM, options=Options(**given))


with_options.__signature__ = inspect.signature(Options)  # type: ignore[attr-defined]

Call = tuple[Callable[..., Any], Mapping[str, Any]]
ROWS = {"X": FEATURES, "y": Y}
FEW = {"cv": 2, "n_jobs": 1}

CALLS: dict[str, Call] = {
    "MossRegressor": (fitted(MossRegressor, Y), SMALL),
    "MossClassifier": (fitted(MossClassifier, LABELS), {**SMALL, "outcome": "high"}),
    "SirusRegressor": (fitted(SirusRegressor, Y), {"max_rules": 2, "n_trees": 10}),
    "RuleFitRegressor": (fitted(RuleFitRegressor, Y), {"max_rules": 2, "n_trees": 10}),
    "FireRegressor": (fitted(FireRegressor, Y), {"max_rules": 2, "n_trees": 10}),
    "GlrmClassifier": (fitted(GlrmClassifier, LABELS), {"max_rules": 2}),
    "fit": (MossRegressor(**SMALL).fit, ROWS),
    "fit, classes": (MossClassifier(**SMALL).fit, {"X": FEATURES, "y": LABELS}),
    "predict": (MODEL.predict, {"X": FEATURES}),
    "predict_proba": (CLASSES.predict_proba, {"X": FEATURES}),
    "score": (MODEL.score, ROWS),
    "select": (MODEL.select, {"stability": 0.5}),
    "frontier": (MODEL.frontier, {}),
    "model.track_record": (MODEL.track_record, {**ROWS, "refits": 2}),
    "RuleSet.predict": (MODEL.rules_.predict, {"X": FEATURES}),
    "RuleSet.explain": (CLASSES.rules_.explain, {"row": FEATURES.iloc[:1]}),
    "RuleSet.thresholds": (CLASSES.rules_.thresholds, {}),
    "RuleSet.to_sql": (MODEL.rules_.to_sql, {"table": "t"}),
    "RuleSet.to_python": (MODEL.rules_.to_python, {}),
    "RuleSet.to_frame": (MODEL.rules_.to_frame, {}),
    "RuleSet.from_json": (RuleSet.from_json, {"text": MODEL.rules_.to_json()}),
    "RuleSets.from_json": (RuleSets.from_json, {"text": SEVERAL.rules_.to_json()}),
    "RuleSets.predict_proba": (SEVERAL.rules_.predict_proba, {"X": FEATURES}),
    "find_candidates": (find_candidates, {**ROWS, "n_trees": 10, "n_jobs": 1}),
    "candidates_for": (candidates_for, {**ROWS, "n_trees": 10}),
    "check": (check, ROWS),
    "read_file": (read_file, {"path": Path("rows.csv")}),
    "scan_files": (scan_files, {"paths": "rows.csv"}),
    "Problem": (solved(Problem, M, M.sum(axis=1)), {"max_rules": 2, "gamma": 1.0}),
    "LogisticProblem": (solved(LogisticProblem, M > 0, M[:, 0] > 0), {"max_rules": 2}),
    "Problem.from_matrix": (
        Problem.from_matrix, {"M": M, "y": M.sum(axis=1), "counts": COUNTS, "gamma": 1.0},
    ),
    "LogisticProblem.from_matrix": (
        LogisticProblem.from_matrix, {"active": M > 0, "y": M[:, 0] > 0, "counts": COUNTS},
    ),
    "LinearConstraints": (LinearConstraints, {"A": [[1.0, 1.0]], "b": [1.0]}),
    "Options": (with_options, {}),
    "solve": (solve, {"problem": PROBLEM}),
    "Problem.at": (PROBLEM.at, {"min_stability": 3}),
    "near_optimal": (near_optimal, {"problem": PROBLEM}),
    "solve_frontier": (solve_frontier, {"problem": PROBLEM, "epsilons": [0, 4]}),
    "approximate_frontier": (approximate_frontier, {"problem": PROBLEM}),
    "epsilon_sequence": (epsilon_sequence, {"counts": COUNTS, "max_rules": 2}),
    "Frontier.from_json": (Frontier.from_json, {"text": FRONTIER.to_json()}),
    "Frontier.at": (FRONTIER.at, {"stability": 0.5}),
    "evaluate": (ev.evaluate, {"methods": METHODS, **ROWS, **FEW}),
    "evaluate_frontier": (
        ev.evaluate_frontier,
        {"estimator": MossRegressor(**SMALL), **ROWS, **FEW, "points": 2},
    ),
    "assess": (ev.assess, {"methods": METHODS, **ROWS, "refits": 2}),
    "track_record": (ev.track_record, {"model": MODEL, **ROWS, "refits": 2, "n_jobs": 1}),
    "split_effects": (ev.split_effects, {"estimator": MossRegressor(**SMALL), **ROWS}),
    "prediction_intervals": (
        ev.prediction_intervals, {"estimator": MossRegressor(**SMALL), **ROWS, "n_jobs": 1},
    ),
    "performance": (ev.performance, {"model": MODEL, **ROWS, **FEW}),
    "compare_rule_sets": (ev.compare_rule_sets, {"old": MODEL.rules_, "new": MODEL.rules_}),
    "collect": (collect, {"model": MODEL, **ROWS, "cv": None, "points": 2}),
    "write_report": (
        write_report, {"path": "page.html", "data": collect(MODEL, cv=None, points=2)},
    ),
    **{
        f"constraints.{name}": (
            lambda given, kind=kind: MossRegressor(**SMALL, constraints=[kind(given)]).fit(
                FEATURES, Y
            ),
            {"given": sound},
        )
        for name, kind, sound in [
            ("NeverUse", constraints.NeverUse, "x0"),
            ("MustInclude", constraints.MustInclude, "x0 > 0"),
            ("MustExclude", constraints.MustExclude, "x0 > 0"),
            ("AtMostPerFeature", constraints.AtMostPerFeature, 1),
            ("AtMostFeatures", constraints.AtMostFeatures, 1),
            ("AtMostConditions", constraints.AtMostConditions, 1),
            ("Increasing", constraints.Increasing, "x0"),
            ("OnlyUp", constraints.OnlyUp, "x0"),
        ]
    },
    **{
        each.__name__: (each, {"a": MODEL.rules_, "b": MODEL.rules_})
        for each in (dice, jaccard, ochiai, pog)
    },
    "nogueira": (nogueira, {"rule_sets": [MODEL.rules_] * 2, "n_candidates": 40}),
}  # fmt: skip


def parameters(call: Call) -> list[str]:
    """Return the names of what can be given to a function."""
    function, _ = call
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [
        name
        for name, each in inspect.signature(function).parameters.items()
        if each.kind not in kinds and name != "kind"
    ]


# --- commands -------------------------------------------------------------------------------------

MODEST = ("--n-trees", "10", "--max-rules", "2", "--jobs", "1")
TABLE = ("rows.csv", "--target", "y")
COMMANDS: dict[str, Sequence[str]] = {
    "fit": ("fit", *TABLE, *MODEST, "--refits", "0"),
    "predict": ("predict", "model.json", "rows.csv"),
    "check": ("check", *TABLE),
    "diff": ("diff", "model.json", "model.json"),
    "frontier": ("frontier", *TABLE, *MODEST, "--points", "2"),
    "report": ("report", *TABLE, *MODEST, "--folds", "2", "--points", "2", "--refits", "0"),
    "stability": ("stability", *TABLE, *MODEST, "--folds", "2"),
    "compare": ("compare", *TABLE, *MODEST, "--folds", "2", "--methods", "MOSS"),
    "performance": ("performance", *TABLE, *MODEST, "--folds", "2"),
}


def write_files(folder: Path) -> None:
    """Write the files that calls and commands read."""
    X.to_csv(folder / "rows.csv", index=False)
    (folder / "model.json").write_text(MODEL.rules_.to_json(), "utf-8")
