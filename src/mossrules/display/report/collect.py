"""A fitted model, and the rows it was fitted to -> what a report shows.

The steps of `collect`: solve the trade-off, make the rule set of each point, cross-validate points
and other methods on the same folds, and put all of it into the values of `data.py`. Nothing is
drawn here, and no words of the page are written but its title.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mossrules import defaults
from mossrules._deprecated import old_parameters
from mossrules._provenance import provenance
from mossrules._refusals import names_input
from mossrules.baselines.registry import BASELINES, baselines_like
from mossrules.budget import Budget, read_budget
from mossrules.candidates.rules import Rule, named_levels
from mossrules.candidates.search import numbering_of
from mossrules.data.groups import number_of, split_beside
from mossrules.data.table import Table, split_column
from mossrules.display.report.data import (
    BaselinePoint,
    CertificateSummary,
    ColumnSummary,
    EvaluatedSummary,
    ReportData,
    ReportPoint,
    ReportRule,
    TargetSummary,
    json_label,
    quantiles,
)
from mossrules.display.report.record import SeenRows, record_for
from mossrules.estimators import MossClassifier, MossRegressor
from mossrules.evaluation import Evaluation, TrackRecord, evaluate, evaluate_frontier
from mossrules.evaluation.agreement import Identity, key_of_each, keys
from mossrules.evaluation.folds import Dealt, EvaluationProgress
from mossrules.evaluation.frontier_evaluation import FrontierEvaluation, standard_error
from mossrules.exceptions import InvalidParameter, UnsupportedType
from mossrules.frontier import Frontier, FrontierPoint
from mossrules.learning.stability_levels import read_shares
from mossrules.model import RuleSet
from mossrules.model.events import events_sentence
from mossrules.model.export_text import event_text, few_events, one_line
from mossrules.model.values import Interval, sorted_labels, value_test
from mossrules.progress import StageListener
from mossrules.solver import Solution, Status

__all__ = ["collect", "with_own"]

Moss = MossRegressor | MossClassifier
Methods = Literal["baselines"] | Mapping[str, Any] | None

SQL_TABLE = "data"
SCORES = {"identity": "R2", "logit": "share of log-loss explained"}


@names_input("X")
@old_parameters({"learners": "methods"})
def collect(
    model: Moss,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    cv: Any = defaults.FOLDS_OF_A_CHOICE,
    points: int | Iterable[float] = 51,
    methods: Methods = "baselines",
    identity: Identity = defaults.IDENTITY,
    gap: float = defaults.FRONTIER_GAP,
    fold_gap: float = defaults.FOLD_GAP,
    refits: int = 20,
    time_budget: float | Budget | None = defaults.REPORT_SECONDS,
    title: str | None = None,
    made: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    progress: StageListener | None = None,
) -> ReportData:
    """Return what a report shows of a fitted model and its trade-off.

    Parameters
    ----------
    model
        A fitted MossRegressor, or MossClassifier of two classes; the report is of its outcome.
    X, y, sample_weight, groups
        The rows it was fitted to, as in `MossRegressor.fit`. Without them the report has neither a
        summary of the data nor a cross-validation.
    cv
        Folds, as in `evaluate_frontier`, 5 by default; None for no cross-validation.
    points : int or shares of the largest stability, default=51
        Number of stability targets, in equal ratios from 1 to 0.05 (with floor="sum" in equal steps
        to 0.5), or the targets themselves.
    methods : "baselines", dict from names to estimators, or None
        Methods to compare with, measured on the same folds.
    identity : {"thresholds", "codes", "rows"}, default="thresholds"
        When rules of two folds count as the same, as in `mossrules.stability.dice`. With "rows",
        a rule of the report counts as found in a fold where a rule reads the same.
    gap : float, default=0.01
        Largest optimality gap of each point.
    fold_gap : float, default=0.05
        Largest optimality gap of each rule set of a fold, as in `evaluate_frontier`.
    refits : int, default=20
        How often the analysis is repeated for the track record of the model's own rules, unless the
        model has one: see `MossRegressor.track_record`. 0 for none.
    time_budget : float or None, default=60.0
        Seconds for the report, which refits, points, folds and methods share; None for as many as
        it takes. What does not fit in is cut short, and the page says so: searches end before their
        proof, refits and folds of other methods are left out. Reading rows, growing trees and
        methods of other packages are not interrupted, so a report of much data takes longer.
    title
        Title of the page.
    made : dict, optional
        What is needed to reproduce the report, beside versions and settings: the name of the
        `source` file, its `sha256`, and the `command`.
    n_jobs
        Threads; None uses all cores.
    progress
        Called with a stage, the steps done, and their number if it is known.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> X, y = {"age": [20, 30, 40, 50, 60, 70, 80]}, [2.0, 3.0, 9.0, 8.0, 7.0, 2.0, 1.0]
    >>> model = MossRegressor(2, n_trees=20).fit(X, y)
    >>> data = collect(model, X, y, cv=None, points=[1, 0.55, 0.5])
    >>> data.rows, len(data.points), len(data.rules)
    (7, 4, 5)
    """
    own = _rules_of(model)
    if X is not None:
        X, sample_weight, groups = split_beside(X, y, sample_weight, groups)
    if (X is None) is not (y is None):
        raise InvalidParameter("A report takes X and y together, or neither; pass both.")
    for name, beside in (("sample_weight", sample_weight), ("groups", groups)):
        if X is None and beside is not None:
            raise InvalidParameter(f"{name} is one value for each row of X; pass X and y as well.")
    say = progress or (lambda *_: None)
    started = datetime.now(UTC)
    stages = _Stages.of(time_budget, rows=X is not None)
    told = {"sample_weight": sample_weight, "groups": groups}
    how: dict[str, Any] = {"refits": refits, "time_budget": stages.next("refits"), "n_jobs": n_jobs}
    record, not_repeated = record_for(model, X, y, say=say, **how, **told)
    own = replace(own, track_record=record)
    say("solving at stability targets", None, None)
    shares = read_shares(points, model.floor)
    solved = model.frontier(shares, gap, time_budget=stages.next("frontier"))
    frontier = with_own(solved, model.solution_)
    if frontier.interrupted:
        raise KeyboardInterrupt  # folds would take longer, and the page would lack points
    every = [(each, _rule_set(model, own, each)) for each in _points(frontier, model.solution_)]
    # The user has seen the rules of the model and kept them. Those of other points nobody has, so
    # a level of a few rows would be passed on unseen.
    shown = [pair for pair in every if pair[1] is own or not pair[1].rare_levels]
    solutions, rule_sets = [each for each, _ in shown], [each for _, each in shown]
    evaluation: FrontierEvaluation | None = None
    comparison: Evaluation | None = None
    if X is not None and cv is not None:
        options = {"cv": cv, "n_jobs": n_jobs, "identity": identity, **told}
        folds = _Folds(X, y, options, say, stages)
        reached = [frontier.share(point.stability) for point in solutions if point.stability > 0]
        evaluation = folds.evaluate(model, reached or [1.0], fold_gap)
        comparison = folds.compare(model, methods)
    # Each rule once, in the order of the points: points refer to rules by position, as most rules
    # are in many points and their texts are long.
    rules = list(dict.fromkeys(rule for rule_set in rule_sets for rule in rule_set.rules))
    table = None if X is None else split_column(X, y)[0]
    place = model.outcome_place if isinstance(model, MossClassifier) else None
    seen = None if X is None else SeenRows.of(X, y, sample_weight, place)
    scores = _training_scores(model, rule_sets, seen)
    data = ReportData(
        title=title or _title(own),
        target=own.target,
        outcome=None if own.outcome is None else json_label(own.outcome),
        link=own.link,
        score=SCORES[own.link],
        made={"source": None, "sha256": None, "command": None, **(made or {}), **_made(started)},
        settings=_settings(model),
        rows=round(model.candidates_.statistics.n) if table is None else table.n_rows,
        columns=_columns(model, table, rules),
        rules=_rules(rule_sets, rules, seen),
        points=[
            replace(_point(frontier, solution, rule_set, rules, model), training=score)
            for solution, rule_set, score in zip(solutions, rule_sets, scores, strict=True)
        ],
        chosen=solutions.index(model.solution_),
        knee=_position(frontier.knee(), solutions) if len(frontier) > 2 else None,
        target_summary=_target(model, own, X, y, seen),
        baselines=_baselines(comparison, evaluation),
        floor=model.floor,
        identity=identity,
        track_record=record,
        not_repeated=not_repeated,
        groups=None if table is None or groups is None else number_of(groups, table.n_rows),
        repetitions=None if seen is None else seen.repetitions,
        rare_levels=tuple((name, json_label(level)) for name, level in own.rare_levels),
        left_out=len(every) - len(shown),
        fold_gap=None if evaluation is None else evaluation.gap,
        cut_short=_cut_short(model, record, frontier, evaluation, comparison),
    )
    return data if evaluation is None else _with_evaluation(data, evaluation, rule_sets)


# Of the time of a report: refits take longest, and what a stage does not need the next ones have.
WEIGHTS = {"refits": 4, "frontier": 3, "folds": 2, "methods": 3}
KEPT = 0.1  # of the time, for what is not interrupted: the rules of all points, and the page


@dataclass
class _Stages:
    """The time of a report, and the stages that are still to come."""

    budget: Budget
    to_come: dict[str, int]

    @classmethod
    def of(cls, time_budget: float | Budget | None, *, rows: bool) -> _Stages:
        budget = read_budget(time_budget).part(1.0 - KEPT)
        names = WEIGHTS if rows else ("frontier",)
        return cls(budget, {name: WEIGHTS[name] for name in names})

    def next(self, stage: str) -> Budget:
        """Return the budget of a stage; a stage that is not planned has nothing to do."""
        everything = sum(self.to_come.values())
        return self.budget.part(self.to_come.pop(stage, 0) / max(1, everything))


def _cut_short(
    model: Moss,
    record: TrackRecord | None,
    frontier: Frontier,
    evaluation: FrontierEvaluation | None,
    comparison: Evaluation | None,
) -> tuple[str, ...]:
    """Return what was cut short for lack of time, in sentences."""
    sentences = [frontier.cut_short]
    if model.solution_.status is Status.TIME_LIMIT:
        gap = f"{model.solution_.gap:.2%}"
        sentences.insert(0, f"The rules of the model are proven to {gap} only: time was up.")
    if record is not None:
        sentences += record.cut_short
    sentences += [each.cut_short for each in (evaluation, comparison) if each is not None]
    return tuple(filter(None, sentences))


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
    """Return the frontier with the model's own solution, in the place of one of the same rules.

    The two have the same weights, but the certificate of the model's own is to the gap that its
    user asked for, and that of the frontier's is usually to a wider one.
    """
    rules = set(own.support.tolist())
    others = [entry for entry in frontier.entries if set(entry.solution.support.tolist()) != rules]
    entries = sorted([*others, FrontierPoint(own.stability, own)], key=lambda entry: -entry.floor)
    return replace(frontier, entries=tuple(entries))


def _points(frontier: Frontier, own: Solution) -> list[Solution]:
    """Return the solutions to show, the most stable first: the model's even if dominated."""
    shown = frontier.points
    if not any(solution is own for solution in shown):
        shown.append(own)
    return sorted(shown, key=lambda solution: (-solution.stability, solution.loss))


def _position(solution: Solution, solutions: Sequence[Solution]) -> int | None:
    """Return where a solution is among those shown, if it is."""
    return solutions.index(solution) if solution in solutions else None


def _rule_set(model: Moss, own: RuleSet, solution: Solution) -> RuleSet:
    """Return the rules of a solution, as `select` does."""
    return own if solution is model.solution_ else model.fitted_.rule_set(solution)


def _point(
    frontier: Frontier, solution: Solution, rule_set: RuleSet, rules: Sequence[Rule], model: Moss
) -> ReportPoint:
    return ReportPoint(
        stability=frontier.share(solution.stability),
        explained=frontier.explained(solution.loss),
        loss=solution.loss,
        intercept=rule_set.intercept,
        rules=tuple(map(rules.index, rule_set.rules)),
        weights=tuple(rule_set.weights.tolist()),
        certificate=CertificateSummary.of(model.fitted_, solution, rule_set),
        exports={
            "text": rule_set.to_text(),
            "sql": _sql(rule_set),
            "python": rule_set.to_python(),
            "json": rule_set.to_json(),
        },
    )


def _sql(rule_set: RuleSet) -> str:
    """Return a query, or a comment that says why there is none: a report has other exports too."""
    try:
        return rule_set.to_sql(SQL_TABLE)
    except InvalidParameter as error:
        return f"-- {one_line(str(error))}\n"


def _rules(
    rule_sets: Sequence[RuleSet], rules: Sequence[Rule], seen: SeenRows | None
) -> list[ReportRule]:
    """Return the rules that some point has; they are the same wherever they are."""
    sets = {rule: rule_set for rule_set in rule_sets for rule in rule_set.rules}
    told = [_rule(rule, sets[rule]) for rule in rules]
    if seen is None:
        return told
    observed = seen.observed(rule_sets)
    return [replace(each, **asdict(observed[rule])) for each, rule in zip(told, rules, strict=True)]


def _rule(rule: Rule, rule_set: RuleSet) -> ReportRule:
    position = rule_set.rules.index(rule)
    return ReportRule(
        text=rule.text(rule_set.binning),
        support=float(rule_set.support[position]),
        proportion=float(rule_set.proportion[position]),
        tests=tuple(_tests(rule, rule_set)),
    )


def _tests(rule: Rule, rule_set: RuleSet) -> Iterable[Mapping[str, Any]]:
    for condition in rule.conditions:
        test = value_test(condition, rule_set.binning[condition.feature])
        if isinstance(test, Interval):
            yield asdict(test)
        else:
            yield {
                "feature": test.feature,
                "levels": [
                    None if label is None else json_label(label) for label in sorted_labels(test)
                ],
                "inside": test.inside,
            }


# --- rows -----------------------------------------------------------------------------------------


def _columns(model: Moss, table: Table | None, rules: Sequence[Rule]) -> list[ColumnSummary]:
    used = {feature for rule in rules for feature in rule.features}
    binning = model.candidates_.binning
    named = named_levels(rules)
    known = [each.without_rare(named.get(each.name, ())) for each in binning.columns]
    if table is None:
        return [ColumnSummary.of_model(column, used=column.name in used) for column in known]
    # The binning has the order of training; a frame may have its columns in another.
    in_order = table.select(binning.names) if table.named and binning.named else table
    return [
        ColumnSummary.of_rows(column, values, table.n_rows, used=column.name in used)
        for column, values in zip(known, in_order.columns, strict=True)
    ]


def _target(model: Moss, own: RuleSet, X: Any, y: Any, seen: SeenRows | None) -> TargetSummary:
    statistics = model.candidates_.statistics
    if isinstance(model, MossClassifier):
        auc, balanced = (None, None) if seen is None else seen.discrimination(own)
        return TargetSummary(
            "class",
            share=statistics.target_mean,
            events=events_sentence(own, one_line(event_text(own.target, own.outcome))),
            few_events=few_events(own),
            auc=auc,
            balanced_accuracy=balanced,
        )
    summary = TargetSummary("number", statistics.target_mean, statistics.target_scale)
    if X is None:
        return summary
    table, column = split_column(X, y)
    return replace(summary, quantiles=quantiles(column.read(0, table.n_rows)))


def _training_scores(
    model: Moss, rule_sets: Sequence[RuleSet], seen: SeenRows | None
) -> Sequence[float | None]:
    """Return what the predictions of each rule set are worth on the rows they come from."""
    if seen is None:
        return [None] * len(rule_sets)
    fitted = model.fitted_
    score = partial(
        fitted.settings.objective.score, fitted.candidates, seen.target, weights=seen.weights
    )
    return [score(rule_set.predict(seen.table)).explained for rule_set in rule_sets]


# --- folds ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Folds:
    """Rows, how they are divided into folds, and whom to tell about progress."""

    X: Any
    y: Any
    options: Mapping[str, Any]
    say: StageListener
    stages: _Stages

    def evaluate(self, model: Moss, shares: Sequence[float], gap: float) -> FrontierEvaluation:
        """Return how well each point does on rows that its rules were not made from."""
        listen = self._listener("cross-validating the trade-off")
        own = self.stages.next("folds")
        how: dict[str, Any] = {"points": shares, "gap": gap, "time_budget": own}
        found: FrontierEvaluation = evaluate_frontier(
            model, self.X, self.y, progress=listen, **how, **self.options
        )
        return found

    def compare(self, model: Moss, methods: Methods) -> Evaluation | None:
        """Return how well other methods do on the folds that the trade-off was evaluated on."""
        if methods is None:
            return None
        if not isinstance(methods, Mapping):
            if methods != "baselines":
                raise InvalidParameter(
                    f"methods is {methods!r}; pass 'baselines', a dict of estimators, or None."
                )
            methods = baselines_like(model)
        listen = self._listener("comparing with other methods")
        # The trade-off's folds go by the numbers that rows have for the source of its rules.
        same = Dealt(self.options["cv"], numbering_of(model.generator))
        options = {**self.options, "cv": same, "time_budget": self.stages.next("methods")}
        return evaluate(methods, self.X, self.y, progress=listen, **options)

    def _listener(self, stage: str) -> Callable[[EvaluationProgress], None]:
        def listen(state: EvaluationProgress) -> None:
            self.say(stage, state.done, state.total)

        return listen


def _baselines(
    comparison: Evaluation | None, evaluation: FrontierEvaluation | None
) -> Sequence[BaselinePoint]:
    if comparison is None or evaluation is None:
        return ()
    return [_baseline(comparison, evaluation, name) for name in comparison.methods]


def _baseline(comparison: Evaluation, evaluation: FrontierEvaluation, name: str) -> BaselinePoint:
    summary = next(each for each in comparison.summaries if each.method == name)
    scores, dice = _scores(comparison, evaluation, name), summary.dice
    return BaselinePoint(
        name=name,
        score=float(np.mean(scores)) if len(scores) else float("nan"),
        score_se=standard_error(scores),
        dice=None if dice is None else dice.estimate,
        dice_low=None if dice is None else dice.lower,
        dice_high=None if dice is None else dice.upper,
        rules=summary.n_rules,
        what=BASELINES[name].about if name in BASELINES else "",
    )


def _scores(comparison: Evaluation, evaluation: FrontierEvaluation, name: str) -> Any:
    """Return the score of each fold, by the measure that the trade-off has."""
    folds = [fold for fold in comparison.folds(name) if not fold.failed]
    if comparison.metric == "r2":
        return np.array([fold.r2 for fold in folds])
    # The share of the log-loss that is gone. The log-loss without rules is not in the comparison;
    # the trade-off, whose share and log-loss are both known, gives it: error / (1 - share).
    alone = {
        point.fold: point.error / (1.0 - point.r2)
        for points in evaluation.results
        for point in points[:1]
    }
    return np.array([1.0 - fold.score("log_loss") / alone[fold.fold] for fold in folds])


def _with_evaluation(
    data: ReportData, evaluation: FrontierEvaluation, rule_sets: Sequence[RuleSet]
) -> ReportData:
    """Return a report with what folds say of its points."""
    by_share = {share: index for index, share in enumerate(evaluation.shares.tolist())}
    points = []
    for point, rule_set in zip(data.points, rule_sets, strict=True):
        index = by_share.get(point.stability)
        if index is None:
            points.append(point)
            continue
        evaluated = evaluation.points[index]
        summary = EvaluatedSummary(
            score=evaluated.r2,
            score_se=evaluated.r2_se,
            dice=evaluated.dice.estimate,
            dice_low=evaluated.dice.lower,
            dice_high=evaluated.dice.upper,
            rules=evaluated.rules,
            stopped=evaluated.stopped,
        )
        folds = evaluation.rule_sets(index)
        by = "codes" if evaluation.identity == "codes" else defaults.IDENTITY
        found = [keys(fold, by) for fold in folds]
        times = tuple(sum(key in fold for fold in found) for key in key_of_each(rule_set, by))
        points.append(replace(point, found=times, evaluated=summary))
    advised = None
    if not all(np.isnan(evaluated.r2) for evaluated in evaluation.points):
        # By share and not by position: points of no stability were not evaluated.
        share = evaluation.choose().share
        advised = next(i for i, point in enumerate(points) if point.stability == share)
    return replace(data, points=points, folds=evaluation.n_folds, advised=advised)


# --- what made it ---------------------------------------------------------------------------------


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


def _settings(model: Moss) -> list[tuple[str, str]]:
    """Return the parameters of a model as text, with the stability target that None stands for."""
    parameters = model.get_params(deep=False)
    if parameters["stability"] is None:
        parameters["stability"] = model.settings().stability
    return [(name, _text(value)) for name, value in parameters.items()]


def _text(value: object) -> str:
    return value if isinstance(value, str) else repr(value)
