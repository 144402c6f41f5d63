"""The methods of the trust table: ours before and now, the paper's, others, and yardsticks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mossrules.baselines.registry import BASELINES, make_methods
from mossrules.baselines.yardsticks import YARDSTICKS
from mossrules.estimators import MossClassifier, MossRegressor
from research.paper.peer_packages import PEERS, Peer
from research.paper.protocols import FOREST, GAP, MedianFiller, protocol_for

__all__ = ["BEFORE", "LATER", "METHODS", "Prepared", "TrustMethod", "before", "methods_named"]

# Every parameter of the default before issue 19, so that "default before" stays what it was.
BEFORE: Mapping[str, Any] = {
    "stability": 0.8,
    "gamma": "auto",
    "n_trees": 2000,
    "max_depth": 2,
    "n_bins": 8,
    "max_features": 0.5,
    "generator": "paper-forest",
    "inner_nodes": False,
    "solver": "auto",
    "gap": 1e-3,
    "time_limit": 60.0,
    "refit": True,
    "ties": "keep",
    "constraints": None,
    "cv": 5,
    "verbose": 0,
}
# Parameters that came later, at the value with which nothing changes.
LATER: Mapping[str, Any] = {
    "cuts": "quantile",
    "floor": "sum",
    "directions": "free",
    "intercept": "refitted",
    "shrinkage": "equal",
    "refit_ridge": None,
    "max_overlap": None,
    "min_coverage": 0,
    "min_importance": 0,
    "min_tree_frequency": 0,
    "near": None,
    "keep": None,
    "outcome": None,
    "time_budget": None,
}
RUN = ("max_rules", "random_state", "n_jobs", "class_weight")  # of each run, or of the data


@dataclass(frozen=True)
class Prepared:
    """An estimator, and the table as it is to see it."""

    estimator: Any
    X: Any


@dataclass(frozen=True)
class TrustMethod:
    """A method under its name: of this package, or one of another that runs elsewhere."""

    name: str
    make: Callable[[Any, int, bool], Prepared | None] | None = None  # None: not for this target
    peer: Peer | None = None


def before(max_rules: int, *, classes: bool) -> Any:
    """Return the default as it was before issue 19."""
    kind = MossClassifier if classes else MossRegressor
    known = kind().get_params(deep=False)
    later = {name: value for name, value in LATER.items() if name in known}
    return kind(max_rules=max_rules, **BEFORE, **later)


def _before(X: Any, max_rules: int, classes: bool) -> Prepared:
    return Prepared(before(max_rules, classes=classes), X)


def _now(X: Any, max_rules: int, classes: bool) -> Prepared:
    return Prepared((MossClassifier if classes else MossRegressor)(max_rules=max_rules), X)


def _paper(stability: str) -> Callable[[Any, int, bool], Prepared]:
    def make(X: Any, max_rules: int, classes: bool) -> Prepared:
        if classes:  # which the paper does not have: its forest and ties, and our gamma
            model = before(max_rules, classes=True)
            return Prepared(
                model.set_params(stability=stability, ties="drop", gap=GAP, **FOREST), X
            )
        protocol = protocol_for("paper")
        # Medians of all rows, not of each refit: a rule is then looked up where it was learned.
        seen = MedianFiller().fit(one := protocol.prepare(X)).transform(one)
        bare = before(max_rules, classes=False)
        model = protocol.moss(stability, seen, max_rules=max_rules)  # type: ignore[arg-type]
        own = ("stability", "gamma", "ties", "gap", "refit", *FOREST)
        return Prepared(bare.set_params(**{name: getattr(model, name) for name in own}), seen)

    return make


def _built_in(name: str) -> Callable[[Any, int, bool], Prepared | None]:
    def make(X: Any, max_rules: int, classes: bool) -> Prepared | None:
        if name in BASELINES and BASELINES[name].estimator(classes=classes) is None:
            return None
        return Prepared(make_methods([name], classes=classes, max_rules=max_rules)[name], X)

    return make


METHODS: Mapping[str, TrustMethod] = {
    method.name: method
    for method in (
        TrustMethod("default before", _before),
        TrustMethod("default", _now),
        TrustMethod("MOSS-H", _paper("high")),
        TrustMethod("MOSS-L", _paper("low")),
        *(TrustMethod(name, _built_in(name)) for name in ("SIRUS", "FIRE", "GLRM", "RuleFit")),
        *(
            TrustMethod(name, peer=PEERS[name])
            for name in ("SIRUS (PyPI)", "RuleFit, rules only (imodels)", "FIGS (imodels)")
        ),
        *(TrustMethod(name, _built_in(name)) for name in YARDSTICKS),
    )
}


def methods_named(names: list[str] | None) -> list[str]:
    """Return the names of methods that were asked for, or of all."""
    unknown = [name for name in names or () if name not in METHODS]
    if unknown:
        raise SystemExit(f"There is no method {unknown[0]!r}; choose from {', '.join(METHODS)}.")
    return list(METHODS if names is None else names)
