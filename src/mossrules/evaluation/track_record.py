"""Repeat an analysis on parts of its rows: which rules come back, and what depends on the rows.

Each refit is the whole analysis (cut points, forest, choice, effects) on a part of the rows, with a
seed of its own. Two kinds of intervals come of them, and they answer different questions:

    held fixed      the effects of this rule set's rules, fitted again to the rows of each refit:
                    how far they would move with other rows, *given* that one looks at these rules
    whole analysis  the effect of a rule in the refits that found it, beside whatever other rules
                    they have: how far it moves in repetitions of all that was done

Neither corrects for the rules having been chosen on the same rows, for which effects are too large
on average: `split_effects` does.

Notation
    m, n       rows of a refit, rows in all
    theta_b    what refit b says of a number theta, which the model has as theta_0
    s          sqrt(m / (n - m)) of `spread_factor`, 1 of bootstraps: theta_0 + s (theta_b - mean)
               varies as estimates from samples of n rows do
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from numbers import Real
from pathlib import Path
from threading import Lock
from typing import Any, NoReturn, get_args

import numpy as np
from scipy.stats import norm
from sklearn.base import is_classifier

from mossrules._common import cached_property, check_choice, check_integer, check_number
from mossrules._typing import AnyArray, BoolArray, FloatArray, IntArray
from mossrules.candidates.rules import OPEN, Condition, Levels, Rule
from mossrules.candidates.search import count_again, numbering_of, resolve_seed
from mossrules.checkpoint import CheckpointFile, read_number
from mossrules.constraints.compile import check_constraints, directions_of
from mossrules.data.chunks import resolve_n_jobs
from mossrules.data.columns import Label
from mossrules.data.labels import python_label
from mossrules.data.rows import Rows, read_rows
from mossrules.data.table import Table
from mossrules.evaluation.agreement import SAME_ROWS, key_of_each
from mossrules.evaluation.folds import FoldRun, Listener, Split
from mossrules.evaluation.methods import FAILURES, Method, expect_part
from mossrules.evaluation.refits import SHARE, Scheme, refit_splits, spread_factor
from mossrules.evaluation.trust import PERCENTILES_FROM
from mossrules.exceptions import InvalidParameter, MossError
from mossrules.learning.fit import FittedRules, build_problem, no_candidates, target_varies
from mossrules.learning.objective import no_rules
from mossrules.model.importance import rule_importances
from mossrules.model.ruleset import RuleSet
from mossrules.model.rulesets import RuleSets
from mossrules.model.track_record import (
    Interval,
    Measured,
    PeopleRanges,
    PeopleSummary,
    RuleRecord,
    TrackRecord,
    wilson,
)
from mossrules.solver.result import Status
from mossrules.statistics import Statistics

__all__ = ["track_record"]

FORMAT, VERSION = "mossrules refits", 1
MOST_PEOPLE = 10_000  # rows whose predictions, and on which rules' rows, are compared
UNDECIDED = 0.1  # of the refits
# Of a refit where `n_trees` is "auto". With 8,000 in their place, refits find rules as often (.415
# of 40 refits and .411, mean over four tables), and take two to four times as long.
REFIT_TREES = 1000
NAN = float("nan")
NO_INTERVAL = Interval(NAN, NAN)
ROUNDING = 1e-12  # of the rows: a smaller share is none
LARGEST_SEED = 2**32 - 2**20  # so that one for each refit is left

RuleModel = RuleSet | RuleSets
Records = TrackRecord | dict[Label, TrackRecord]


def track_record(
    model: Any,
    X: Any,
    y: Any,
    *,
    refits: int = 100,
    scheme: Scheme = "subsample",
    share: float = SHARE,
    sample_weight: Any = None,
    groups: Any = None,
    confidence: float = 0.95,
    threshold: float | None = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Listener | None = None,
    verbose: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Records:
    """Return what repeated analyses say of a fitted model, which stays as it is.

    `MossRegressor.track_record` does this and lets the rule set carry the record.

    Parameters
    ----------
    model : MossRegressor or MossClassifier
        Fitted to these rows.
    X, y, sample_weight, groups : as in `MossRegressor.fit`
        The rows of the fit, also files or a Dask collection. Rows of a group stay together.
    refits : int, default=100
        At least 2; with fewer than 40, intervals are those of normal distributions.
    scheme : {"subsample", "bootstrap", "folds"}, default="subsample"
        Whether refits have a random share of the rows, as many rows drawn with replacement, or
        leave out a tenth.
    share : float, default=1/3
        Of the rows, or of the groups, in a refit of "subsample".
    confidence : float, default=0.95
        Of all intervals.
    threshold : float, optional
        Of a decision: how many rows change their side of it. 0.5 for classes.
    n_jobs : int or None, default=None
        Threads, over refits first; None uses all cores.
    random_state : int, NumPy generator or None, default=0
        The seed of the draws; refits have the next ones.
    progress : callable, optional
        Called with an `EvaluationProgress` after each refit.
    verbose : bool, default=False
        Whether to show a line of progress.
    checkpoint : path, optional
        A file from which an interrupted run resumes.

    Returns
    -------
    TrackRecord
        Of several classes, a dict with the record of each.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> X, y = {"age": range(40), "dose": [1, 2, 3, 4] * 10}, [1.0, 1.0, 4.0, 5.0] * 10
    >>> model = MossRegressor(2, n_trees=50).fit(X, y)
    >>> record = track_record(model, X, y, refits=10, scheme="bootstrap")
    >>> record.rules[0].rule, record.rules[0].found
    ('dose > 2', 10)
    >>> model.rules_.track_record is None
    True
    """
    refits = check_integer("refits", refits, minimum=2)
    check_choice("scheme", scheme, get_args(Scheme))
    if check_number("share", share) >= 1:
        raise InvalidParameter(f"share is {share!r}; pass a share of the rows between 0 and 1.")
    if check_number("confidence", confidence) >= 1:
        raise InvalidParameter(f"confidence is {confidence!r}; pass a number between 0 and 1.")
    classes = is_classifier(model)
    threshold = _read_threshold(threshold, of_classes=classes)
    jobs = resolve_n_jobs(n_jobs)
    rows = read_rows(
        X,
        y,
        sample_weight,
        groups,
        of_classes=classes,
        class_weight=getattr(model, "class_weight", None),
        numbering=numbering_of(model.generator),
        n_jobs=jobs,
    )
    if classes:
        _check_classes(model, rows)
    seed = resolve_seed(random_state) % LARGEST_SEED
    splits = refit_splits(rows, refits, scheme, None, seed, stratify=classes, share=share)
    work = _Refits.of(model, rows, splits, seed, jobs)
    run = FoldRun(splits, 1, jobs)
    record = None if checkpoint is None else _Record.open(checkpoint, work)
    with run.shown(progress, verbose=verbose, title="refits"):
        done = run.map(partial(_refit, work, run, record))
    n_groups = None if rows.group_numbers is None else len(np.unique(rows.group_numbers))
    settings = _Settings(scheme, confidence, threshold, seed, n_groups)
    return _records_of(work, done, settings)


def _read_threshold(threshold: Any, *, of_classes: bool) -> float | None:
    """Return the threshold of a decision; that of probabilities is 0.5 unless one is given."""
    if threshold is None:
        return 0.5 if of_classes else None
    known = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not known or not np.isfinite(threshold) or (of_classes and not 0 <= threshold <= 1):
        wanted = "a probability, from 0 to 1" if of_classes else "a finite number"
        raise InvalidParameter(f"threshold is {threshold!r}; pass {wanted}.")
    return float(threshold)


# --- the refits -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Refit:
    """A whole analysis of a part of the rows, and the effects of the model's own rules there."""

    rules: RuleModel
    held: Mapping[Label | None, FloatArray]  # by outcome: intercept and effects of the model's


@dataclass(frozen=True, eq=False)
class _Refits:
    """What refits share."""

    model: Any
    method: Method
    fitted: Mapping[Label | None, FittedRules]  # by outcome; None is the only one
    bases: Mapping[Label | None, _Base]
    rows: Rows
    splits: Sequence[Split]
    seed: int

    @classmethod
    def of(cls, model: Any, rows: Rows, splits: Sequence[Split], seed: int, n_jobs: int) -> _Refits:
        """Return the refits of a model; other rows than those of its fit are refused."""
        members = getattr(model, "estimators_", None) or {None: model}
        fitted = {label: member.fitted_ for label, member in members.items()}
        bases = {label: _Base.of(each, rows, label, n_jobs) for label, each in fitted.items()}
        again = model.get_params(deep=False)
        again["stability"] = next(iter(fitted.values())).settings.stability
        if again["n_trees"] == "auto":
            grown = max(each.candidates.pool.n_trees for each in fitted.values())
            again["n_trees"] = min(grown, REFIT_TREES)
        method = Method("model", type(model)(**again), resolve_seed(model.random_state))
        return cls(model, method, fitted, bases, rows, splits, seed)

    def fresh(self, number: int, n_jobs: int) -> Any:
        """Return the model of a refit, unfitted; a stability that was chosen stays what it was."""
        model = replace(self.method, seed=self.seed + 1 + number).fresh(n_jobs)
        if None not in self.fitted:
            chosen = {label: each.settings.stability for label, each in self.fitted.items()}
            model.set_stabilities(chosen)
        expect_part(model)
        return model

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that refits depend on; the same rows in a file of another kind have it."""
        digest = sha256(f"{self.seed} {self.method.fingerprint}".encode())
        numbers: list[AnyArray | None] = []
        for fitted in self.fitted.values():
            rules = replace(fitted.rules, track_record=None)
            digest.update(f"{rules.to_json()} {fitted.settings.stability}".encode())
            # Sums over the rows where two candidates hold: rows that differ have others.
            statistics = fitted.candidates.statistics
            numbers += [statistics.G, statistics.q, statistics.support]
        numbers += [self.rows.target, self.rows.weights, self.rows.group_numbers]
        numbers += [train for train, _ in self.splits]
        for each in numbers:
            digest.update(b"none" if each is None else np.ascontiguousarray(each).tobytes())
        return digest.hexdigest()


def _rule_set(rules: RuleModel, label: Label | None) -> RuleSet:
    """Return the rule set of an outcome."""
    if isinstance(rules, RuleSets):
        return rules[label]  # type: ignore[index]  # which is a label then
    return rules


def _of_outcome(rows: Rows, label: Label | None) -> Rows:
    """Return rows with the target of one outcome."""
    if rows.classes is None:
        return rows
    if label is None:
        return rows.one_vs_rest(1)
    labels = [python_label(each) for each in rows.classes]
    return rows.one_vs_rest(labels.index(label))


@dataclass(frozen=True, eq=False)
class _Base:
    """What the rows themselves say of the model's rules."""

    coverage: FloatArray
    n: IntArray
    means: FloatArray
    events: IntArray  # of classes, rows that have the outcome
    deviation: float  # of the target

    @classmethod
    def of(cls, fitted: FittedRules, given: Rows, label: Label | None, n_jobs: int) -> _Base:
        """Count the rows of each rule, and what is observed on them."""
        rows, known = _of_outcome(given, label), fitted.candidates.statistics
        _check_size(fitted, rows)
        if len(fitted.rules) == 0:
            nothing = np.empty(0, np.int64)
            return cls(np.empty(0), nothing, np.empty(0), nothing, known.target_scale)
        count = partial(count_again, fitted.candidates, _places(fitted), n_jobs=n_jobs)
        statistics = seen = counted = count(rows).statistics
        _check_rules(fitted, statistics)
        if given.class_weight is not None:
            # What is observed does not depend on how much a class counts in the fit.
            rows = _of_outcome(replace(given, class_weight=None), label)
            seen = counted = count(rows).statistics
        if rows.is_weighted:  # numbers of rows, beside shares and means of their weight
            there = None if rows.sample_weight is None else (rows.sample_weight > 0).astype(float)
            counted = count(replace(rows, sample_weight=there)).statistics
        return cls(
            statistics.support / statistics.n,
            np.rint(counted.support).astype(np.int64),
            _means(seen),
            np.rint(counted.support * _means(counted)).astype(np.int64),
            known.target_scale,
        )


def _check_size(fitted: FittedRules, rows: Rows) -> None:
    """Refuse rows of another table than that of the fit."""
    known, n_columns = fitted.candidates.statistics, len(fitted.candidates.binning.columns)
    if len(rows.columns) != n_columns:
        raise InvalidParameter(
            f"X has {len(rows.columns)} columns and the model was fitted to {n_columns}; pass the "
            "table of the fit, and its sample_weight and groups."
        )
    weight = len(rows.target) if rows.weights is None else float(rows.weights.sum())
    same = np.isclose(weight, known.n, rtol=1e-6)
    if not (same and np.isclose(rows.mean, known.target_mean, rtol=1e-6, atol=1e-9)):
        _refuse_other_rows(
            f"{weight:g} rows with the mean {rows.mean:g} in place of {known.n:g} with "
            f"{known.target_mean:g}"
        )


def _check_classes(model: Any, rows: Rows) -> None:
    """Refuse classes that are called otherwise than those of the fit."""
    known, given = (
        [python_label(each) for each in labels] for labels in (model.classes_, rows.classes)
    )
    if known != given:
        names = (", ".join(map(repr, labels[:5])) for labels in (given, known))
        _refuse_other_rows("their classes are {} in place of {}".format(*names))


def _check_rules(fitted: FittedRules, statistics: Statistics) -> None:
    """Refuse rows that differ from those of the fit in what the chosen rules see of them."""
    known, places = fitted.candidates.statistics, _places(fitted)
    shares, before = statistics.support / statistics.n, known.support[places] / known.n
    for text, share, fit_share in zip(fitted.rules.texts, shares, before, strict=True):
        if not np.isclose(share, fit_share, rtol=1e-6, atol=1e-9):
            _refuse_other_rows(f"{text} holds on {share:.1%} of them, and did on {fit_share:.1%}")
    if not np.allclose(statistics.values, known.values[places], rtol=1e-6, atol=1e-6):
        _refuse_other_rows("the rules hold on rows with other values of y")


def _refuse_other_rows(why: str) -> NoReturn:
    raise InvalidParameter(
        f"X and y are not those of the fit ({why}); pass the rows, and weights, that the model was "
        "fitted to."
    )


def _refit(
    work: _Refits, run: FoldRun, record: _Record | None, number: int, train: IntArray, _: IntArray
) -> Refit | str:
    """Return one refit, or why there is none."""
    run.check()
    known: Refit | str | None = None if record is None else record.find(number)
    if known is None:
        rows = work.rows.draw(train)
        try:
            model = work.fresh(number, run.threads).fit_read(rows)
            if getattr(model.solution_, "status", None) is Status.INTERRUPTED:
                raise KeyboardInterrupt  # which a choice takes for a wish to have what there is
            known = Refit(model.rules_, _held_fixed(work, rows, run.threads))
        except FAILURES as failure:
            known = f"{type(failure).__name__}: {' '.join(str(failure).split())}"
        if record is not None:
            record.add(number, known)
    run.tell(number)
    return known


def _held_fixed(work: _Refits, rows: Rows, n_jobs: int) -> dict[Label | None, FloatArray]:
    """Return intercept and effects of the model's rules, fitted to some rows, by outcome."""
    return {
        label: effects_again(fitted, _of_outcome(rows, label), n_jobs)
        for label, fitted in work.fitted.items()
    }


def effects_again(fitted: FittedRules, rows: Rows, n_jobs: int = 1) -> FloatArray:
    """Return the intercept and the effects of chosen rules, fitted again to other rows.

    In the order of the rule set, with the refit's own ridge and directions; no rule is left out.
    NaN where the target does not vary, and of rules that hold on none of the rows, or on all.
    """
    rules = fitted.rules
    if not target_varies(rows):
        return np.full(1 + len(rules), NAN)
    settings = fitted.settings.but(
        max_rules=max(1, len(rules)), ties="keep", constraints=None, near=None, keep=None
    )
    again, allowed = no_candidates(rows, 1), np.arange(0)
    if len(rules):
        again = count_again(fitted.candidates, _places(fitted), rows, n_jobs=n_jobs)
    problem = build_problem(again, settings)
    if problem is not None:
        # Which rules there are is settled; what constraints say of the sign of an effect is not.
        asked = settings.objective.all_constraints(check_constraints(fitted.settings.constraints))
        signs, forbidden = directions_of(again, asked)
        problem = replace(problem, signs=signs)  # type: ignore[type-var]  # a dataclass
        allowed = np.flatnonzero(~forbidden)
    solution = replace(no_rules(0.0), support=allowed, weights=np.zeros(len(allowed)))
    if not settings.refit and problem is not None:
        fit = problem.fit(allowed)
        solution = replace(solution, weights=fit.weights, intercept=fit.intercept)
    refitted = replace(settings.objective, min_importance=0.0).rule_set(
        again, solution, problem, refit=settings.refit, target=None
    )
    effect = dict(zip(refitted.rules, refitted.weights.tolist(), strict=True))
    share = again.statistics.support / again.statistics.n
    unknown = (share < ROUNDING) | (share > 1.0 - ROUNDING)
    weights = np.where(unknown, NAN, [effect.get(rule, 0.0) for rule in rules])
    return np.array([refitted.intercept, *weights.tolist()])


def _places(fitted: FittedRules) -> list[int]:
    """Return the position of each chosen rule among the candidates."""
    places = {rule: place for place, rule in enumerate(fitted.candidates.pool.rules)}
    return [places[rule] for rule in fitted.rules]


# --- the checkpoint -------------------------------------------------------------------------------


@dataclass
class _Record:
    """Refits that are done, in memory and on disk."""

    file: CheckpointFile
    work: _Refits
    done: dict[int, Refit] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    @classmethod
    def open(cls, path: str | os.PathLike[str], work: _Refits) -> _Record:
        """Return the record at a path, with what an earlier run has put there."""
        record = cls(CheckpointFile(Path(path), FORMAT, VERSION), work)
        if record.file.path.exists():
            content = record.file.read_own(
                "data", work.fingerprint, "other data, refits or settings"
            )
            with record.file.refuse_damage():
                known = content["refits"].items()
                record.done = {int(number): _read(each, work) for number, each in known}
        else:
            record.write()
        return record

    def find(self, number: int) -> Refit | None:
        """Return a refit if it is known; those that failed are tried again."""
        return self.done.get(number)

    def add(self, number: int, refit: Refit | str) -> None:
        """Store one more refit."""
        if isinstance(refit, Refit):
            with self.lock:
                self.done[number] = refit
                self.write()

    def write(self) -> None:
        """Put all that is known into the file."""
        done = {str(number): _written(each) for number, each in sorted(self.done.items())}
        self.file.write({"data": self.work.fingerprint, "refits": done})


def _written(refit: Refit) -> dict[str, Any]:
    held = [values.tolist() for values in refit.held.values()]
    return {"rules": refit.rules.to_json(), "held": held}


def _read(content: Mapping[str, Any], work: _Refits) -> Refit:
    several = None not in work.fitted
    try:
        rules = (RuleSets if several else RuleSet).from_json(content["rules"])
    except MossError as reason:
        raise ValueError(str(reason)) from reason
    held = [np.array(list(map(read_number, values))) for values in content["held"]]
    for values, fitted in zip(held, work.fitted.values(), strict=True):
        if len(values) != 1 + len(fitted.rules):
            raise ValueError("a refit has effects of other rules")
    return Refit(rules, dict(zip(work.fitted, held, strict=True)))


# --- what they say --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Settings:
    """How refits were made, and what is asked of them."""

    scheme: Scheme
    confidence: float
    threshold: float | None
    seed: int
    n_groups: int | None


def _records_of(work: _Refits, done: Sequence[Refit | str], settings: _Settings) -> Records:
    refits = [each for each in done if isinstance(each, Refit)]
    failures = [each for each in done if isinstance(each, str)]
    if len(refits) < 2:
        raise InvalidParameter(
            f"{len(failures)} of {len(done)} refits failed, the first by this: {failures[0]}"
        )
    people = _People.of(work.rows)
    distinct = [len(np.unique(train)) for train, _ in work.splits]
    records: dict[Label | None, TrackRecord] = {}
    for label in work.fitted:
        one = _Outcome(
            rules=_rule_set(work.model.rules_, label),
            refits=[_rule_set(each.rules, label) for each in refits],
            held=np.stack([each.held[label] for each in refits]),
            stretch=spread_factor(work.splits, settings.scheme),
            settings=settings,
        )
        records[label] = replace(
            one.record(people, work.bases[label]),
            failed=len(failures),
            failure=failures[0] if failures else None,
            share=float(np.mean(distinct)) / len(work.rows.target),
            rows=len(work.rows.target),
        )
    if None in records:
        return records[None]
    return {label: record for label, record in records.items() if label is not None}


@dataclass(frozen=True, eq=False)
class _People:
    """Rows whose predictions are compared: all, or of many some at equal distances."""

    table: Table
    offsets: IntArray  # in the table, as it was given
    weights: FloatArray  # of each; a row that is repeated counts as often
    n: int  # repetitions counted

    @classmethod
    def of(cls, rows: Rows) -> _People:
        """Return some of the rows by number, so that these do not depend on their order."""
        numbers = np.arange(len(rows.origin))
        if len(numbers) > MOST_PEOPLE:
            numbers = np.linspace(0, len(numbers) - 1, MOST_PEOPLE).astype(np.int64)
        offsets, which = np.unique(rows.origin[numbers], return_inverse=True)
        counted = None if rows.weights is None else rows.weights[numbers]
        weights = np.bincount(which, counted).astype(np.float64)
        return cls(rows.features_of(offsets), offsets, weights, len(numbers))

    def mean(self, values: FloatArray | BoolArray) -> float:
        """Return the mean over people."""
        return float(np.average(values, weights=self.weights))


@dataclass(frozen=True, eq=False)
class _Outcome:
    """A rule set, and what refits have in its place."""

    rules: RuleSet
    refits: Sequence[RuleSet]
    held: FloatArray  # (refits, 1 + rules): intercept and effects
    stretch: float
    settings: _Settings

    def record(self, people: _People, base: _Base) -> TrackRecord:
        """Return the track record, but for what is the same for all outcomes."""
        settings = self.settings
        ranges, summary = self._people(people, base.deviation)
        return TrackRecord(
            rules=tuple(self._rules(people, base)),
            intercept=self._interval(self.held[:, 0], self.rules.intercept),
            refits=len(self.refits),
            failed=0,
            failure=None,
            scheme=settings.scheme,
            share=NAN,
            confidence=settings.confidence,
            seed=settings.seed,
            rows=0,
            groups=settings.n_groups,
            recurrence=self._recurrence(),
            overlap=self._overlap(),
            n_rules=float(np.mean([len(each) for each in self.refits])),
            people=summary,
            outcome=None if self.rules.outcome is None else str(self.rules.outcome),
            people_ranges=ranges,
        )

    # --- rules ----------------------------------------------------------------------------------

    def _rules(self, people: _People, base: _Base) -> list[RuleRecord]:
        found = [_effects(each) for each in self.refits]
        near = self._near(people)
        of_classes = self.rules.link == "logit"
        records = []
        for i, (key, text) in enumerate(zip(_keys(self.rules), self.rules.texts, strict=True)):
            effects = np.array([each[key] for each in found if key in each])
            own = float(self.rules.weights[i])
            records.append(
                RuleRecord(
                    rule=text,
                    found=len(effects),
                    near=int(near[:, i].sum()),
                    found_interval=wilson(len(effects), len(found), self.settings.confidence),
                    effect=own,
                    held_fixed=self._interval(self.held[:, 1 + i], own),
                    whole_analysis=self._interval(effects),
                    same_sign=_mean(np.sign(effects) == np.sign(own)),
                    coverage=float(base.coverage[i]),
                    n=int(base.n[i]),
                    mean=float(base.means[i]),
                    events=int(base.events[i]) if of_classes else None,
                )
            )
        return records

    def _near(self, people: _People) -> BoolArray:
        """Return for each refit and rule whether it has the rule, or one near it.

        Near is a rule on the same columns with comparisons in the same directions, of levels one
        that names some of the same, or one that holds on nearly the same rows, or on nearly all
        others; but none that the rule set has too.
        """
        own, keys = set(_keys(self.rules)), _keys(self.rules)
        holds = self.rules.holds(people.table).T
        near = np.zeros((len(self.refits), len(self.rules)), dtype=bool)
        for b, refit in enumerate(self.refits):
            theirs = _keys(refit)
            near[b] = [key in theirs for key in keys]
            left = [j for j, key in enumerate(theirs) if key not in own]
            if not left:
                continue
            other = refit.holds(people.table).T[left]
            alike = _same_rows(holds, other, people.weights)
            rules = [refit.rules[j] for j in left]
            of_shape = [[_differ_in_cuts(ours, rule) for rule in rules] for ours in self.rules]
            near[b] |= (alike | np.reshape(of_shape, alike.shape)).any(axis=1)
        return near

    def _interval(self, values: FloatArray, centre: float | None = None) -> Interval:
        """Return the interval of what refits say: percentiles, or of few the range of a normal.

        With a centre, their spread about their mean is put around it: refits to few rows shrink
        effects more, and all of them may lie on one side of the model's own.
        """
        known = values[~np.isnan(values)]
        if len(known) < 2:
            return NO_INTERVAL
        ends = (1.0 - self.settings.confidence) / 2.0
        mean = known.mean()
        if len(known) >= PERCENTILES_FROM:
            spread = np.quantile(known, [ends, 1.0 - ends]) - mean
        else:
            spread = norm.ppf(1.0 - ends) * known.std(ddof=1) * np.array([-1.0, 1.0])
        low, high = (mean if centre is None else centre) + self.stretch * spread
        return Interval(float(low), float(high))

    # --- the whole ------------------------------------------------------------------------------

    def _recurrence(self) -> Measured:
        """Return Dice of the rule set and a refit's, as printed."""
        own = set(_keys(self.rules))
        theirs = [set(_keys(each)) for each in self.refits]
        return self._measured([_dice(own, keys) for keys in theirs])

    def _overlap(self) -> Measured:
        """Return the same weighted by importance."""
        own = _importance(self.rules)
        return self._measured([_common_importance(own, _importance(each)) for each in self.refits])

    def _measured(self, values: Sequence[float]) -> Measured:
        """Return the mean over refits, and the range of refits."""
        ends = (1.0 - self.settings.confidence) / 2.0
        lower, upper = np.quantile(values, [ends, 1.0 - ends]).tolist()
        return Measured(float(np.mean(values)), lower, upper)

    def _people(self, people: _People, deviation: float) -> tuple[PeopleRanges, PeopleSummary]:
        """Return how far predictions of people vary over refits."""
        threshold = self.settings.threshold
        prediction = self.rules.predict(people.table)
        predicted = np.stack([each.predict(people.table) for each in self.refits])
        lower, upper = np.array(
            [self._interval(*each) for each in zip(predicted.T, prediction, strict=True)]
        ).T
        if self.rules.link == "logit":
            lower, upper = np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)
        other_side = np.full(len(prediction), NAN)
        if threshold is not None:
            moved = prediction + self.stretch * (predicted - predicted.mean(axis=0))
            other_side = ((moved >= threshold) != (prediction >= threshold)).mean(axis=0)
        width = people.mean(upper - lower)
        return PeopleRanges(people.offsets, prediction, lower, upper, other_side), PeopleSummary(
            n=people.n,
            mean_range=width,
            relative_range=width / deviation if deviation > 0 else NAN,
            threshold=threshold,
            other_side=people.mean(other_side),
            undecided=NAN if threshold is None else people.mean(other_side >= UNDECIDED),
        )


def _means(statistics: Statistics) -> FloatArray:
    """Return the mean target of the rows of each rule."""
    return statistics.target_mean + statistics.target_scale * statistics.values


def _keys(rules: RuleSet) -> tuple[Hashable, ...]:
    return key_of_each(rules, "thresholds")


def _effects(rules: RuleSet) -> dict[Hashable, float]:
    return dict(zip(_keys(rules), rules.weights.tolist(), strict=True))


def _importance(rules: RuleSet) -> dict[Hashable, float]:
    """Return the share of importance of each rule, as printed."""
    keys = _keys(rules)
    return {keys[each.position]: each.share for each in rule_importances(rules)}


def _dice(one: set[Hashable], other: set[Hashable]) -> float:
    """Return the share of rules in common; two without rules agree."""
    return 2.0 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


def _common_importance(one: Mapping[Hashable, float], other: Mapping[Hashable, float]) -> float:
    """Return the sum over common rules of the smaller share; two without rules agree."""
    if not one and not other:
        return 1.0
    return sum(min(share, other[key]) for key, share in one.items() if key in other)


def _differ_in_cuts(one: Rule, other: Rule) -> bool:
    """Tell whether two rules are on the same columns, with comparisons in the same directions."""
    return len(one) == len(other) and all(map(_alike, one.conditions, other.conditions))


def _alike(one: Condition, other: Condition) -> bool:
    """Tell whether two conditions differ in cut points at most, or have levels in common.

    "south" is no cut point that "north" has moved to.
    """
    if isinstance(one, Levels) and isinstance(other, Levels):
        named = (one.feature, one.inside) == (other.feature, other.inside)
        return named and not one.levels.isdisjoint(other.levels)
    return _outline(one) == _outline(other)


def _outline(condition: Condition) -> Hashable:
    """Return the column of a condition and the direction of its comparison, without cut points."""
    if isinstance(condition, Levels):
        return condition.feature, condition.inside
    low, high = condition.low, condition.high
    return condition.feature, low > 1, high < OPEN, low > high


def _same_rows(own: BoolArray, other: BoolArray, weights: FloatArray) -> BoolArray:
    """Return which rules hold on nearly the same rows, or nearly where the other does not."""
    a, b, n = own * weights, other.astype(np.float64), weights.sum()
    both = a @ b.T
    size_a, size_b = a.sum(axis=1)[:, None], (b @ weights)[None, :]
    either = size_a + size_b - both
    only_a, neither_b = size_a - both, n - size_b
    with_complement = size_a + neither_b - only_a
    tolerance = 1.0 - 1e-12
    same = both >= SAME_ROWS * either * tolerance
    opposite = only_a >= SAME_ROWS * with_complement * tolerance
    return np.asarray((same & (either > 0)) | (opposite & (with_complement > 0)))


def _mean(values: Any) -> float:
    values = np.asarray(values, dtype=np.float64)
    return float(values.mean()) if len(values) else NAN
