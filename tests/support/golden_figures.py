"""Results as figures that JSON holds bit for bit: what the golden results are made of.

- Text, whole numbers and truth values are as they are.
- A number is its `float.hex()`.
- A large array is a digest of its bytes, with the sum and the first three of its numbers.
- A long text is a digest too. Digests begin with "floats:" where a number with a fraction plays a
  part in them, and with "exact:" where none does.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

import numpy as np

MOST = 24  # entries of an array that are listed one by one
TIMES = re.compile(r"\d[\d.e+-]* s\b")
# What depends on the clock, the machine or the release, and is no result.
PASSING = frozenset({"seconds", "search_seconds", "master_seconds", "made", "path"})


def digest(content: bytes | str, kind: str = "floats") -> str:
    """Return a short digest of bytes or text."""
    content = content.encode() if isinstance(content, str) else content
    return f"{kind}:{blake2b(content, digest_size=12).hexdigest()}"


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it, to the last bit, without what is passing."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items() if key not in PASSING}
    if isinstance(value, np.ndarray):
        return of_array(value)
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        return float(value).hex()
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    raise TypeError(f"a {type(value).__name__} is no figure")


def of_array(values: np.ndarray) -> Any:
    """Return a small array as lists, a large one as a digest."""
    if values.size <= MOST:
        return plain(values.tolist())
    shape = list(values.shape)
    if values.dtype.kind not in "biuf":
        return {"shape": shape, "digest": digest("\n".join(map(repr, values.tolist())), "exact")}
    if values.dtype.kind != "f":
        whole = values.astype(np.int64)
        return {
            "shape": shape,
            "digest": digest(whole.tobytes(), "exact"),
            "sum": int(whole.astype(object).sum())
            if values.dtype.kind == "u"
            else int(whole.sum()),
        }
    numbers = np.ascontiguousarray(values, dtype=np.float64)
    return {
        "shape": shape,
        "digest": digest(numbers.tobytes()),
        "sum": math.fsum(numbers.ravel().tolist()).hex(),
        "first": plain(numbers.ravel()[:3].tolist()),
    }


def of_text(text: str, *paths: object) -> str:
    """Return the digest of a text with numbers in it, without times and without paths."""
    for path in paths:
        text = text.replace(str(path), "<path>")
    return digest(TIMES.sub("<time> s", text))


def of_lines(lines: Iterable[str]) -> str:
    """Return the digest of texts that no rounding can change."""
    return digest("\n".join(lines), "exact")


# --- models -------------------------------------------------------------------------------------


def of_rules(rules: Any) -> Any:
    """Return a rule set, or those of several classes."""
    if isinstance(rules, Mapping):
        return {
            "json": digest(rules.to_json()) if hasattr(rules, "to_json") else None,
            **{f"class {label}": of_rules(each) for label, each in rules.items()},
        }
    return {
        "texts": rules.texts,
        "weights": plain(rules.weights.tolist()),
        "intercept": plain(rules.intercept),
        "json": digest(rules.to_json()),  # shares of rows and trees too, and thresholds
    }


def of_solution(solution: Any) -> dict[str, Any]:
    """Return a choice with its certificate, and how much work it took."""
    found = {
        "support": solution.support.tolist(),
        "weights": digest(solution.weights.tobytes()),
        "intercept": plain(solution.intercept),
        "loss": plain(solution.loss),
        "bound": plain(solution.bound),
        "gap": plain(solution.gap),
        "stability": solution.stability,
        "status": solution.status.value,
        "method": solution.report.method,
        "effort": plain(solution.report.counters),
    }
    if solution.dual is not None:
        dual = solution.dual
        numbers = np.array([dual.lam, dual.mu, *dual.rules, *dual.weights], dtype=np.float64)
        found["dual"] = {"bound": plain(dual.bound), "rest": digest(numbers.tobytes())}
    return found


def of_problem(problem: Any) -> dict[str, Any]:
    """Return what a solution solves."""
    return {
        "m": problem.m,
        "max_rules": problem.max_rules,
        "gamma": plain(problem.gamma),
        "min_stability": int(problem.min_stability),
        "eps_max": int(problem.max_stability),
        "null_loss": plain(problem.null_loss),
        "fixed_in": sorted(map(int, problem.fixed_in)),
        "fixed_out": of_lines(map(str, sorted(map(int, problem.fixed_out)))),
    }


def of_candidates(candidates: Any) -> dict[str, Any]:
    """Return candidate rules and the statistics that are made of them."""
    statistics, pool = candidates.statistics, candidates.pool
    found = {
        "rules": len(candidates),
        "first": candidates.texts[:3],
        "texts": of_lines(candidates.texts),
        "trees": of_lines(str(sorted(each)) for each in pool.trees),
        "n_trees": pool.n_trees,
        "counts": plain(pool.counts),
        "G": plain(statistics.G),
        "q": plain(statistics.q),
        "values": plain(statistics.values),
        "support": plain(statistics.support),
        "yy": plain(statistics.yy),
        "n": plain(statistics.n),
        "target": plain([statistics.target_mean, statistics.target_scale, statistics.row_weight]),
    }
    if candidates.patterns is not None:
        patterns = candidates.patterns
        found["patterns"] = {
            "number": patterns.n_patterns,
            "positives": plain(patterns.positives),
            "negatives": plain(patterns.negatives),
            "values": plain(patterns.values),
            "activations": digest(np.ascontiguousarray(patterns.activations).tobytes(), "exact"),
        }
    return found


def of_predictions(model: Any, X: Any) -> dict[str, Any]:
    """Return what a model says of rows."""
    names = ("predict", "decision_function", "predict_proba")
    found = {name: getattr(model, name)(X) for name in names if hasattr(model, name)}
    return {
        name: plain(getattr(each, "compute", lambda a=each: a)()) for name, each in found.items()
    }


def of_model(model: Any, X: Any) -> dict[str, Any]:
    """Return all figures of a fitted regressor or classifier, and what it says of rows."""
    members = getattr(model, "estimators_", None) or {None: model}
    found = {
        "rules": of_rules(model.rules_),
        "importances": plain(model.feature_importances_),
        "predictions": of_predictions(model, X),
    }
    for label, member in members.items():
        part = {"candidates": of_candidates(member.candidates_)}
        if hasattr(member, "solution_"):
            part["solution"] = of_solution(member.solution_)
            problem = member.problem_
            part["problem"] = None if problem is None else of_problem(problem)
        found[f"of {label}"] = part
    return found


def of_choice(model: Any) -> dict[str, Any]:
    """Return the rules and the certificate alone, without the candidates."""
    if hasattr(model, "estimators_"):
        return {str(label): of_choice(each) for label, each in model.estimators_.items()}
    return {"rules": of_rules(model.rules_), "solution": of_solution(model.solution_)}


# --- what is made of models ---------------------------------------------------------------------


def of_frontier(frontier: Any) -> dict[str, Any]:
    """Return every floor of a frontier, and its points."""
    return {
        "floors": [
            {
                "floor": int(each.floor),
                "reused": each.reused,
                "support": each.solution.support.tolist(),
                "loss": plain(each.solution.loss),
                "bound": plain(each.solution.bound),
                "status": each.solution.status.value,
                "effort": digest(repr(plain(each.solution.report.counters))),
            }
            for each in frontier.entries
        ],
        "points": [int(each) for each in frontier.stability],
        "loss": plain(frontier.loss),
        "complete": frontier.complete,
        "largest": int(frontier.max_stability),
        "worst_gap": plain(frontier.worst_gap),
    }


def of_estimate(found: Any) -> Any:
    """Return a measured stability with its interval."""
    if found is None:
        return None
    names = ("estimate", "lower", "upper", "standard_error", "confidence")
    return {
        "measure": found.measure,
        "identity": found.identity,
        "runs": found.runs,
        **{name: plain(float(getattr(found, name))) for name in names},
    }


def of_evaluated(found: Any) -> dict[str, Any]:
    """Return a cross-validated trade-off."""
    return {
        "n_candidates": found.n_candidates,
        "chosen": {
            rule: found.choose(rule).index
            for rule in ("one-standard-error", "paired-standard-error", "best")
        },
        "frame": table(found.frame(backend="pandas")),
        "folds": [
            [
                {
                    "rules": of_lines(each.rules.texts),
                    "json": digest(each.rules.to_json()),
                    "loss": plain(each.loss),
                    "r2": plain(each.r2),
                    "error": plain(each.error),
                    "status": each.status.value,
                }
                for each in fold
            ]
            for fold in found.results
        ],
    }


def of_evaluation(found: Any) -> dict[str, Any]:
    """Return learners side by side."""
    return {
        "metric": found.metric,
        "learners": list(found.methods),
        "summary": plain(found.summary_columns()),
        "folds": plain({k: v for k, v in found.columns().items() if k != "settings"}),
        "rules": {
            name: [of_lines(each.texts) for each in found.rule_sets(name)] for name in found.methods
        },
        "n_candidates": {name: found.n_candidates(name) for name in found.methods},
    }


def of_report(data: Any) -> dict[str, Any]:
    """Return what a page shows, its exports and settings as digests."""
    content = plain(data.content())
    content["settings"] = of_lines(f"{name} {value}" for name, value in data.settings)
    for point, shown in zip(content["points"], data.points, strict=True):
        point["exports"] = {name: digest(text) for name, text in shown.exports.items()}
        del point["certificate"]["sentence"]
    return content


def table(frame: Any) -> dict[str, Any]:
    """Return a pandas frame by columns."""
    return plain({name: frame[name].tolist() for name in frame.columns})


def of_json(text: str) -> Any:
    """Return what a program reads in JSON that a command has printed."""
    return plain(json.loads(text))
