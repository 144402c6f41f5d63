"""Repeat an analysis on parts of its rows: which rules come back, and what depends on the rows.

Each refit is the whole analysis (cut points, forest, choice, effects) on a part of the rows, with a
seed of its own. Two kinds of intervals come of them, and they answer different questions:

    held fixed      how far the effects of these rules would move with other rows, *given* that one
                    looks at these rules: by what refits mispredict on rows that they left out
    whole analysis  the effect of a rule in the refits that found it, beside whatever other rules
                    they have: how far it moves in repetitions of all that was done

Effects of rules that were chosen on the same rows are too large on average, which neither corrects:
`split_effects` does.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, get_args

import numpy as np
from sklearn.base import is_classifier

from mossrules._common import check_choice, check_integer, check_number
from mossrules._refusals import is_from_files, names_input
from mossrules.budget import Budget, read_budget
from mossrules.candidates.search import numbering_of, resolve_seed
from mossrules.data.chunks import resolve_n_jobs
from mossrules.data.columns import Label
from mossrules.data.rows import read_rows
from mossrules.evaluation.folds import FoldRun, Listener
from mossrules.evaluation.methods import FAILURES, check_estimator
from mossrules.evaluation.refit_file import RefitFile
from mossrules.evaluation.refit_measures import Asked, OutcomeRefits, People
from mossrules.evaluation.refits import SHARE, Scheme, refit_splits, spread_factor
from mossrules.evaluation.refitting import RefitPlan, RuleModel, rule_set_of
from mossrules.evaluation.rule_rows import check_classes
from mossrules.exceptions import InvalidParameter
from mossrules.model.track_record import TrackRecord

__all__ = ["track_record"]

FEWEST_REFITS = 2  # of which something can be said
LARGEST_SEED = 2**32 - 2**20  # so that one for each refit is left

Records = TrackRecord | dict[Label, TrackRecord]


@names_input("X")
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
    time_budget: float | Budget | None = None,
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
    time_budget : float, optional
        Seconds for all refits together. Two at least are made, and further ones while there is
        time; their searches share it too. The record says how many were `asked` for, and how many
        had a search that was `stopped`.
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
    check_estimator("model", model)
    classes = is_classifier(model)
    threshold = _read_threshold(threshold, of_classes=classes)
    budget = read_budget(time_budget)
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
        check_classes(model, rows)
    seed = resolve_seed(random_state) % LARGEST_SEED
    splits = refit_splits(rows, refits, scheme, None, seed, stratify=classes, share=share)
    plan = RefitPlan.of(model, rows, splits, seed, jobs)
    run = FoldRun(splits, 1, jobs, budget=budget, needed=FEWEST_REFITS)
    stopped: list[int] = []
    done_before = None if checkpoint is None else RefitFile.open(checkpoint, plan)
    with run.shown(progress, verbose=verbose, title="refits"):
        done = run.map(partial(_one, plan, run, done_before, stopped))
    settings = Asked(scheme, confidence, threshold, seed, rows.n_groups)
    made = replace(plan, splits=[splits[number] for number in sorted(run.parts)])
    return _records_of(made, done, settings, refits, len(stopped))


def _read_threshold(threshold: Any, *, of_classes: bool) -> float | None:
    """Return the threshold of a decision; that of probabilities is 0.5 unless one is given."""
    if threshold is None:
        return 0.5 if of_classes else None
    known = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not known or not np.isfinite(threshold) or (of_classes and not 0 <= threshold <= 1):
        wanted = "a probability, from 0 to 1" if of_classes else "a finite number"
        raise InvalidParameter(f"threshold is {threshold!r}; pass {wanted}.")
    return float(threshold)


def _one(
    plan: RefitPlan,
    run: FoldRun,
    file: RefitFile | None,
    stopped: list[int],
    *split: Any,
) -> RuleModel | str:
    """Return one refit, or why there is none; `stopped` gets the numbers of those cut short."""
    number, train, _ = split
    run.check()
    known: RuleModel | str | None = None if file is None else file.find(number)
    if known is None:
        in_time = True
        try:
            rows = plan.rows.draw(train)
            known, late = plan.refit(number, rows, run.threads, run.parts[number])
            if late:
                stopped.append(number)
                # With more time another run may do better than one whose share was over.
                in_time = not run.budget.is_limited
        except FAILURES as failure:
            if is_from_files(failure):  # of which a refit knows nothing
                raise
            known = f"{type(failure).__name__}: {' '.join(str(failure).split())}"
        if file is not None and in_time:
            file.add(number, known)
    run.tell(number)
    return known


def _records_of(
    plan: RefitPlan, done: Sequence[RuleModel | str], settings: Asked, asked: int, stopped: int
) -> Records:
    refits = [each for each in done if not isinstance(each, str)]
    failures = [each for each in done if isinstance(each, str)]
    if len(refits) < 2:
        raise InvalidParameter(
            f"{len(failures)} of {len(done)} refits failed, the first by this: {failures[0]}"
        )
    people = People.of(plan.rows)
    left_out = [
        test for (_, test), each in zip(plan.splits, done, strict=True) if not isinstance(each, str)
    ]
    distinct = [len(np.unique(train)) for train, _ in plan.splits]
    records: dict[Label | None, TrackRecord] = {}
    for label in plan.fitted:
        one = OutcomeRefits(
            rules=rule_set_of(plan.model.rules_, label),
            refits=[rule_set_of(each, label) for each in refits],
            rows=people.left_out(plan.rows, plan.places[label], left_out),
            stretch=spread_factor(plan.splits, settings.scheme),
            settings=settings,
        )
        records[label] = replace(
            one.record(people, plan.bases[label]),
            asked=asked,
            stopped=stopped,
            failed=len(failures),
            failure=failures[0] if failures else None,
            share=float(np.mean(distinct)) / len(plan.rows.target),
            rows=len(plan.rows.target),
        )
    if None in records:
        return records[None]
    return {label: record for label, record in records.items() if label is not None}
