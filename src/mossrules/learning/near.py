"""Staying near an approved rule set: what `near` may be, how many rules are kept, and the price.

Notation
    A       the approved rules
    keep    the share of them that a rule set has to have
    p       ceil(keep |A|), how many these are

Approved rules are candidates as they were printed (`candidates.approved`), may be chosen whatever
their tree frequency, and at least p of them are (`solver.problems.approved`).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mossrules import defaults
from mossrules.candidates.approved import ApprovedRules
from mossrules.data.columns import Label
from mossrules.exceptions import InfeasibleProblem, InvalidParameter
from mossrules.frontier.near import NearFrontier, NearPoint
from mossrules.frontier.result import Frontier
from mossrules.model.ruleset import RuleSet
from mossrules.model.rulesets import RuleSets, read_model

if TYPE_CHECKING:
    from mossrules.candidates.search import Candidates
    from mossrules.learning.fit import FittedRules, Settings
    from mossrules.solver.problems.selection import FloorKind, SelectionProblem
    from mossrules.solver.result import Solution

__all__ = [
    "approved_rules",
    "check_keep",
    "check_near",
    "keep_approved",
    "near_frontier_of",
    "near_sentence",
    "number_to_keep",
]

REMEDY = "pass a rule set, a fitted model, or the path of one as .json"
ROUNDING = 1.0 - 1e-12  # a share of a whole number may be a rounding error above one


# --- what was passed ------------------------------------------------------------------------------


def check_near(near: Any, keep: Any, floor: FloorKind, *, classifies: bool) -> None:
    """Refuse what cannot be, before any work."""
    if keep is not None:
        check_keep(keep, near)
    if near is None:
        return
    if floor == "sum":
        raise InvalidParameter(
            "near goes with floor='each', and not with a floor on the sum of tree frequencies; "
            "choose that, or leave near out."
        )
    _check_kind(_read(near), classifies=classifies)


def check_keep(keep: Any, near: Any) -> None:
    """Refuse a share that is none, or of nothing."""
    if near is None:
        raise InvalidParameter(
            f"keep is {keep!r}, and there is no near; pass the approved rule set as near too."
        )
    known = isinstance(keep, Real) and not isinstance(keep, bool)
    if not known or not 0 < float(keep) <= 1:
        raise InvalidParameter(
            f"keep is {keep!r}; pass the share of the approved rules to keep, in (0, 1]."
        )


def approved_rules(
    near: Any, *, classifies: bool, outcome: Label | None = None, several: bool = False
) -> ApprovedRules | None:
    """Return the approved rules that `near` stands for; of several classes, those of one of them.

    Parameters
    ----------
    near
        As a user has passed it; None where nothing is approved.
    classifies
        Whether the model predicts a class, and not a number.
    outcome
        The class that the rules are for; None where it is not known yet, or there is none.
    several
        Whether it is one of more than two classes.
    """
    if near is None:
        return None
    model = _read(near)
    _check_kind(model, classifies=classifies)
    if isinstance(model, RuleSets):
        if outcome is None:
            return None  # each class asks for its own
        model = _of_class(model, outcome, several=several)
    elif outcome is not None and (several or str(model.outcome) not in ("None", str(outcome))):
        classes = "one of several classes" if several else f"{outcome!r}"
        other = "" if several else f", or set outcome to {model.outcome!r} if that is one of them"
        raise InvalidParameter(
            f"near is for the class {model.outcome!r}, and the rules here are for {classes}; pass "
            f"an approved model of the same classes{other}."
        )
    return ApprovedRules(model.rules, model.binning)


def _read(near: Any) -> RuleSet | RuleSets:
    """Return the rule set that was passed, or the rule sets of several classes."""
    if isinstance(near, os.PathLike) or (isinstance(near, str) and near.endswith(".json")):
        near = read_model(Path(near))
    near = getattr(near, "rules_", near)
    if isinstance(near, RuleSet | RuleSets):
        return near
    if isinstance(near, Mapping) and all(isinstance(each, RuleSet) for each in near.values()):
        return RuleSets(near)
    if hasattr(near, "fit"):
        raise InvalidParameter(
            f"near is a {type(near).__name__} that is not fitted, or was emptied by a clone; pass "
            "the rules_ of a fitted one."
        )
    raise InvalidParameter(f"near is {near!r}; {REMEDY}.")


def _check_kind(model: RuleSet | RuleSets, *, classifies: bool) -> None:
    several = isinstance(model, RuleSets)
    sets = list(model.values()) if isinstance(model, RuleSets) else [model]
    if not any(len(each) for each in sets):
        raise InvalidParameter(
            "near has no rules, so that there is nothing to stay near; pass a rule set with rules."
        )
    was_class = several or sets[0].link == "logit"
    if was_class != classifies:
        was, now = ("class", "number") if was_class else ("number", "class")
        raise InvalidParameter(
            f"near predicts a {was}, and this model a {now}; pass an approved rule set for a {now}."
        )


def _of_class(model: RuleSets, outcome: Label, *, several: bool) -> RuleSet:
    """Return the rule set of a class; labels of a file may be text where they are numbers here."""
    named = {str(label): rules for label, rules in model.items()}
    if not several or str(outcome) not in named:
        raise InvalidParameter(
            f"near has the classes {', '.join(map(repr, model))}, and the rules here are for "
            f"{outcome!r}{'' if several else ' of two classes'}; pass an approved model of the "
            "same classes."
        )
    return named[str(outcome)]


# --- the problem ----------------------------------------------------------------------------------


def number_to_keep(keep: float | None, n_approved: int) -> int:
    """Return how many rules a share of the approved ones is, rounded up.

    >>> number_to_keep(0.8, 6), number_to_keep(0.07, 100)
    (5, 7)
    """
    share = defaults.KEPT_SHARE if keep is None else keep
    return math.ceil(share * n_approved * ROUNDING)


def keep_approved(
    problem: SelectionProblem, candidates: Candidates, settings: Settings
) -> SelectionProblem:
    """Return a problem in which the share of the approved rules that was asked for is kept."""
    near = settings.near
    if near is None:
        return problem
    positions = near.positions(candidates.pool, candidates.binning)
    number = number_to_keep(settings.keep, len(positions))
    most = problem.keeping(positions, 0).max_approved if positions else 0
    if number > most:
        raise InfeasibleProblem(_too_many(problem, settings, number, len(positions), most))
    return problem.keeping(positions, number)


def _too_many(
    problem: SelectionProblem, settings: Settings, number: int, n_approved: int, most: int
) -> str:
    """Return what stands in the way of keeping so many rules, and what to do."""
    keep = defaults.KEPT_SHARE if settings.keep is None else settings.keep
    share = math.floor(100 * max(0, most) / n_approved) / 100
    lower = f", or lower keep to {share:g}" if share else ", or leave near out"
    asked = f"keep={keep:g} asks for {number} of the {n_approved} approved rules"
    if most < min(n_approved, problem.max_rules):
        return f"{asked}, and the constraints leave {max(0, most)} at most; relax them{lower}."
    return f"{asked}, and max_rules is {problem.max_rules}; raise max_rules to {number}{lower}."


# --- what was kept --------------------------------------------------------------------------------


def near_sentence(fitted: FittedRules) -> str | None:
    """Return how many approved rules are kept and which are not; None where none are approved."""
    near = fitted.settings.near
    if near is None:
        return None
    if fitted.problem is None:
        return "No approved rule is kept, as there is nothing to learn: the target is constant."
    weights = dict(zip(fitted.rules.rules, fitted.rules.weights.tolist(), strict=True))
    here = dict(zip(near.on(fitted.candidates.binning), near.texts, strict=True))
    gone = [text for rule, text in here.items() if rule not in weights]
    coverage = dict(zip(fitted.rules.rules, fitted.rules.support.tolist(), strict=True))
    empty = [text for rule, text in here.items() if coverage.get(rule) == 0.0]
    idle = [text for rule, text in here.items() if weights.get(rule) == 0.0 and text not in empty]
    n, kept = len(here), len(here) - len(gone)
    asked = number_to_keep(fitted.settings.keep, n)
    rules = "approved rule" if n == 1 else "approved rules"
    said = f"{kept} of the {n} {rules} {'is' if kept == 1 else 'are'} kept; at least {asked} "
    said += f"{'was' if asked == 1 else 'were'} asked for."
    if gone:
        said += f" Left out: {'; '.join(gone)}."
    if empty:
        they = "it holds" if len(empty) == 1 else "they hold"
        said += f" Kept with an effect of 0, as {they} on no row here: {'; '.join(empty)}."
    if idle:
        they = "it adds" if len(idle) == 1 else "they add"
        said += (
            f" Kept with an effect of 0, as {they} nothing beside the others: {'; '.join(idle)}."
        )
    return said


# --- the price ------------------------------------------------------------------------------------


def near_frontier_of(fitted: FittedRules, solve: Any) -> NearFrontier:
    """Return the price of keeping more approved rules, at the model's stability target.

    `solve` returns the frontier of a problem at floors. Each number of rules is one, as neighbours
    share a search: that is three times as fast as to walk over those that are points.
    """
    near, problem = fitted.settings.near, fitted.problem
    if near is None:
        raise InvalidParameter(
            "The model stays near no rule set; fit it with near=, the approved rules."
        )
    measure: Literal["R2", "explained"] = (
        "explained" if fitted.settings.objective.needs_patterns else "R2"
    )
    if problem is None:
        nothing = Frontier((), 0, fitted.solution.loss, fitted.settings.max_rules, float("nan"))
        return NearFrontier((), len(near.rules), nothing, measure)
    frontier = solve(problem.counting_approved(), range(problem.max_approved + 1))
    points = tuple(_point(fitted, problem, solution) for solution in frontier.points)
    return NearFrontier(points, len(near.rules), frontier, measure)


def _point(fitted: FittedRules, problem: SelectionProblem, solution: Solution) -> NearPoint:
    """Return what a solution of the price is worth as a rule set: all that it keeps stays in it."""
    kept, n = solution.stability, len(problem.approved)
    keeping = replace(fitted, problem=problem.keeping(problem.approved, kept))
    rules = keeping.rule_set(solution)
    return NearPoint(
        kept=kept,
        share=kept / n if n else 1.0,
        rules=len(rules),
        recurrence=2 * kept / (n + len(rules)) if n + len(rules) else 1.0,
        fit=fitted.settings.objective.training_fit(fitted.candidates, rules),
        loss=solution.loss,
        bound=solution.bound,
        gap=solution.gap,
        status=solution.status.value,
    )
