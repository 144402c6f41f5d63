"""A fitted model, and the rows it was fitted to -> what a report shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mossrules import defaults
from mossrules._provenance import provenance
from mossrules.candidates.rules import Rule
from mossrules.candidates.search import read_weights
from mossrules.data.labels import read_labels
from mossrules.data.table import Table, finite_numbers, split_column
from mossrules.display.report.certificates import certificate_of
from mossrules.display.report.columns import known_column, quantiles, seen_column
from mossrules.display.report.data import (
    BaselinePoint,
    ColumnSummary,
    EvaluatedSummary,
    ReportData,
    ReportPoint,
    ReportRule,
    TargetSummary,
    plain_label,
)
from mossrules.display.report.folds import Folds, Learners, measure_rivals
from mossrules.estimators import MossClassifier, MossRegressor
from mossrules.estimators.cross_validation import read_shares
from mossrules.estimators.evaluated import FrontierEvaluation
from mossrules.exceptions import InvalidParameter, UnsupportedType
from mossrules.frontier import Frontier, FrontierPoint
from mossrules.model import RuleSet
from mossrules.model.link import event_text
from mossrules.model.values import Interval, sorted_labels, value_test
from mossrules.progress import StageListener
from mossrules.solver import Solution

__all__ = ["collect", "with_own"]

Moss = MossRegressor | MossClassifier

SQL_TABLE = "data"
SCORES = {"identity": "R2", "logit": "share of log-loss explained"}


def collect(
    model: Moss,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    cv: Any = defaults.FOLDS_OF_A_CHOICE,
    points: int | Iterable[float] = 51,
    learners: Learners = "baselines",
    gap: float = defaults.FRONTIER_GAP,
    title: str | None = None,
    made: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    progress: StageListener | None = None,
) -> ReportData:
    """Return what a report shows of a fitted model and its trade-off.

    Parameters
    ----------
    model
        A fitted MossRegressor, or MossClassifier of two classes.
    X, y, sample_weight
        The rows it was fitted to. Without them the report has neither a summary of the data nor a
        cross-validation.
    cv
        Folds, as in `evaluate_frontier`, 5 by default; None for none.
    points : int or shares of the largest stability, default=51
        How many levels of stability to look at, in equal steps from 1 to 0.5; or which.
    learners : "baselines", dict from names to estimators, or None
        What to show beside the model, measured on the same folds.
    gap : float, default=0.01
        Largest relative distance of each point from its optimum.
    title
        Of the page.
    made : dict, optional
        How to make the report again, beside versions and settings: `source`, the name of a file,
        `sha256` of it, and the `command`.
    n_jobs
        Threads; None uses all cores.
    progress
        Called with a stage, the steps done, and their number if it is known.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> X, y = {"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0]
    >>> model = MossRegressor(2, n_trees=20).fit(X, y)
    >>> data = collect(model, X, y, cv=None, points=3)
    >>> data.rows, len(data.points), len(data.rules)
    (4, 3, 4)
    """
    own = _rules_of(model)
    if (X is None) is not (y is None):
        raise InvalidParameter("A report takes X and y together, or neither; pass both.")
    say = progress or (lambda *_: None)
    started = datetime.now(UTC)
    say("solving at levels of stability", None, None)
    frontier = with_own(model.frontier(read_shares(points), gap), model.solution_)
    if frontier.interrupted:
        raise KeyboardInterrupt  # folds would take longer, and the page would lack points
    solutions = _points(frontier, model.solution_)
    rule_sets = [_rule_set(model, own, each) for each in solutions]
    evaluation: FrontierEvaluation | None = None
    rivals: Sequence[BaselinePoint] = ()
    if X is not None and cv is not None:
        folds = Folds(X, y, {"cv": cv, "sample_weight": sample_weight, "n_jobs": n_jobs}, say)
        shares = [frontier.share(each.stability) for each in solutions if each.stability > 0]
        evaluation = folds.evaluate(model, shares or [1.0], gap)
        rivals = measure_rivals(model, learners, folds, evaluation)
    rules = list(dict.fromkeys(rule for each in rule_sets for rule in each.rules))
    table = None if X is None else split_column(X, y)[0]
    scores = _training_scores(model, rule_sets, X, y, sample_weight)
    found = ReportData(
        title=title or _title(own),
        target=own.target,
        outcome=None if own.outcome is None else plain_label(own.outcome),
        link=own.link,
        score=SCORES[own.link],
        made={"source": None, "sha256": None, "command": None, **(made or {}), **_made(started)},
        settings=[(name, _text(value)) for name, value in model.get_params(deep=False).items()],
        rows=round(model.candidates_.statistics.n) if table is None else table.n_rows,
        columns=_columns(model, table, rules),
        rules=_rules(rule_sets, rules),
        points=[
            replace(_point(frontier, solution, rule_set, rules, model.max_rules), training=score)
            for solution, rule_set, score in zip(solutions, rule_sets, scores, strict=True)
        ],
        chosen=solutions.index(model.solution_),
        knee=solutions.index(frontier.knee()) if len(frontier) > 2 else None,
        target_summary=_target(model, X, y),
        baselines=rivals,
    )
    return found if evaluation is None else _with_evaluation(found, evaluation, rule_sets)


def _rules_of(model: Any) -> RuleSet:
    """Return the one rule set of a fitted model."""
    if not isinstance(model, Moss):
        raise UnsupportedType(
            f"A report is of a MossRegressor or a MossClassifier and not of {type(model)}, which "
            "has no trade-off to show."
        )
    check_is_fitted(model)
    if isinstance(model.rules_, RuleSet):
        return model.rules_
    label = next(iter(model.rules_))
    raise InvalidParameter(
        f"The model has {len(model.rules_)} classes, each with a trade-off of its own; make "
        f"a report of one of them, model.estimators_[{label!r}] with y == {label!r}."
    )


# --- points ---------------------------------------------------------------------------------------


def with_own(frontier: Frontier, own: Solution) -> Frontier:
    """Return the frontier with the model's own choice, in the place of one of the same rules.

    Its certificate is of the gap that was asked for.
    """
    rules = set(own.support.tolist())
    others = [each for each in frontier.entries if set(each.solution.support.tolist()) != rules]
    entries = sorted([*others, FrontierPoint(own.stability, own)], key=lambda each: -each.floor)
    return replace(frontier, entries=tuple(entries))


def _points(frontier: Frontier, own: Solution) -> list[Solution]:
    """Return the choices to show, the most stable first: the model's even if another beats it."""
    shown = frontier.points
    if not any(each is own for each in shown):
        shown.append(own)
    return sorted(shown, key=lambda each: (-each.stability, each.loss))


def _rule_set(model: Moss, own: RuleSet, solution: Solution) -> RuleSet:
    """Return the rules of a choice, as `select` does."""
    return own if solution is model.solution_ else model._make_rules(solution)  # noqa: SLF001


def _point(
    frontier: Frontier, solution: Solution, rule_set: RuleSet, rules: Sequence[Rule], most: int
) -> ReportPoint:
    return ReportPoint(
        stability=frontier.share(solution.stability),
        explained=frontier.explained(solution.loss),
        loss=solution.loss,
        intercept=rule_set.intercept,
        rules=tuple(map(rules.index, rule_set.rules)),
        weights=tuple(rule_set.weights.tolist()),
        certificate=certificate_of(solution, most),
        exports={
            "text": rule_set.to_text(),
            "sql": rule_set.to_sql(SQL_TABLE),
            "python": rule_set.to_python(),
            "json": rule_set.to_json(),
        },
    )


def _rules(rule_sets: Sequence[RuleSet], rules: Sequence[Rule]) -> list[ReportRule]:
    """Return the rules that some point has; they are the same wherever they are."""
    where = {rule: each for each in rule_sets for rule in each.rules}
    found = []
    for rule in rules:
        rule_set = where[rule]
        position = rule_set.rules.index(rule)
        found.append(
            ReportRule(
                text=rule.text(rule_set.binning),
                support=float(rule_set.support[position]),
                proportion=float(rule_set.proportion[position]),
                tests=tuple(_tests(rule, rule_set)),
            )
        )
    return found


def _tests(rule: Rule, rule_set: RuleSet) -> Iterable[Mapping[str, Any]]:
    for condition in rule.conditions:
        test = value_test(condition, rule_set.binning[condition.feature])
        if isinstance(test, Interval):
            yield asdict(test)
        else:
            yield {
                "feature": test.feature,
                "levels": [
                    None if label is None else plain_label(label) for label in sorted_labels(test)
                ],
                "inside": test.inside,
            }


# --- rows -----------------------------------------------------------------------------------------


def _columns(model: Moss, table: Table | None, rules: Sequence[Rule]) -> list[ColumnSummary]:
    used = {feature for rule in rules for feature in rule.features}
    binning = model.candidates_.binning
    if table is None:
        return [known_column(each, used=each.name in used) for each in binning.columns]
    by_position = table.select(binning.names) if table.named and binning.named else table
    return [
        seen_column(each, values, table.n_rows, used=each.name in used)
        for each, values in zip(binning.columns, by_position.columns, strict=True)
    ]


def _target(model: Moss, X: Any, y: Any) -> TargetSummary:
    statistics = model.candidates_.statistics
    if isinstance(model, MossClassifier):
        return TargetSummary("class", share=statistics.target_mean)
    found = TargetSummary("number", statistics.target_mean, statistics.target_scale)
    if X is None:
        return found
    table, column = split_column(X, y)
    return replace(found, quantiles=quantiles(column.read(0, table.n_rows)))


def _training_scores(
    model: Moss, rule_sets: Sequence[RuleSet], X: Any, y: Any, sample_weight: Any
) -> Sequence[float | None]:
    """Return what the predictions of each rule set are worth on the rows they come from."""
    if X is None:
        return [None] * len(rule_sets)
    table, column = split_column(X, y)
    weights = read_weights(sample_weight, table.n_rows)
    if isinstance(model, MossClassifier):
        target = (read_labels(column, table.n_rows)[1] == 1).astype(np.float64)
    else:
        target = finite_numbers(column, 0, table.n_rows)
    return [model._measure(target, each.predict(table), weights)[0] for each in rule_sets]  # noqa: SLF001


# --- folds ----------------------------------------------------------------------------------------


def _with_evaluation(
    found: ReportData, evaluation: FrontierEvaluation, rule_sets: Sequence[RuleSet]
) -> ReportData:
    """Return a report with what folds say of its points."""
    by_share = {share: index for index, share in enumerate(evaluation.shares.tolist())}
    points = []
    for point, rule_set in zip(found.points, rule_sets, strict=True):
        index = by_share.get(point.stability)
        if index is None:
            points.append(point)
            continue
        seen = evaluation.points[index]
        folds = evaluation.rule_sets(index)
        evaluated = EvaluatedSummary(
            score=seen.r2,
            score_se=seen.r2_se,
            dice=seen.dice.estimate,
            dice_low=seen.dice.lower,
            dice_high=seen.dice.upper,
            rules=seen.rules,
            stopped=seen.stopped,
        )
        times = tuple(sum(rule in each for each in folds) for rule in rule_set.rules)
        points.append(replace(point, found=times, evaluated=evaluated))
    advised = None
    if not all(np.isnan(each.r2) for each in evaluation.points):
        share = evaluation.choose().share
        advised = next(i for i, point in enumerate(points) if point.stability == share)
    return replace(found, points=points, folds=evaluation.n_folds, advised=advised)


# --- words ----------------------------------------------------------------------------------------


def _title(rules: RuleSet) -> str:
    named = "the target" if rules.target is None else rules.target
    if rules.link == "logit":
        named = event_text(rules.target, rules.outcome)
    return f"Rules for {named}"


def _made(started: datetime) -> dict[str, Any]:
    """Return who made a report and when."""
    releases = dict(provenance())
    commit = releases.pop("commit") or None
    return {
        "date": started.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "seconds": (datetime.now(UTC) - started).total_seconds(),
        "mossrules": releases.pop("mossrules"),
        "python": releases.pop("python"),
        "packages": releases,
        "commit": commit,
    }


def _text(value: object) -> str:
    return value if isinstance(value, str) else repr(value)
