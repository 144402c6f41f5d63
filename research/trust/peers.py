"""Packages that run elsewhere, on the same refits and with the same seeds as all others.

What they answer has rules with thresholds and predictions, and no effects: measures that need
effects are missing. As printed, a rule is its comparisons, each column and direction once, with
the threshold to the last digit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from mossrules._typing import IntArray
from mossrules.data.rows import Rows, read_rows
from mossrules.evaluation import MethodTrust
from mossrules.evaluation.methods import Source
from mossrules.evaluation.refits import Scheme, refit_splits
from mossrules.evaluation.trust import Fit, FoundRules, Outcomes, measure_trust
from research.harness.processes import NO_ANSWER, ask
from research.paper.numbers import Numbers
from research.paper.peer_packages import SCRIPT, Peer
from research.paper.peer_rules import holds
from research.trust.tables import TrustTable

__all__ = ["SECONDS", "assess_peer"]

SECONDS = 1800.0  # for a fit, in the mean over all fits of a table


def assess_peer(
    name: str,
    peer: Peer,
    table: TrustTable,
    *,
    max_rules: int,
    refits: int,
    scheme: Scheme,
    seeds: int,
    seconds: float = SECONDS,
) -> MethodTrust:
    """Return the row of a peer."""
    if table.classes:
        return MethodTrust(name, failed=1, failure="It is measured on numbers only.")
    python = peer.interpreter()
    if python is None:
        return MethodTrust(name, failed=1, failure=peer.remedy)
    rows = read_rows(table.X, table.y, whole=True)
    splits = refit_splits(rows, refits, scheme, None, 0, stratify=False)
    source = Source(table.X, None)
    everyone = np.arange(len(rows.target))

    tasks = [(*split, seed) for seed, split in enumerate(splits)]
    tasks += [(everyone, everyone[:0], seed) for seed in range(seeds)]
    fits = _fit_all(
        python, {"peer": peer.key, "max_rules": max_rules}, (source, rows), tasks, seconds
    )
    done, alike = fits[: len(splits)], fits[len(splits) :]
    ours = [each for each in done if isinstance(each, Fit)]
    failures = [each for each in (*done, *alike) if isinstance(each, str)]
    reseeded = [each.rules for each in alike if isinstance(each, Fit) and each.rules is not None]
    outcomes = Outcomes.of(rows.target, None, None)
    measures = measure_trust(ours, reseeded, outcomes) if ours else {}
    known = {field.name for field in fields(MethodTrust)}
    return MethodTrust(
        name,
        settings=peer.package,
        refits=len(ours),
        failed=len(failures),
        failure=failures[0] if failures else None,
        **{key: value for key, value in measures.items() if key in known},  # type: ignore[arg-type]
    )


def _fit_all(
    python: str,
    about: Mapping[str, Any],
    data: tuple[Source, Rows],
    tasks: Sequence[tuple[IntArray, IntArray, int]],
    seconds: float,
) -> list[Fit | str]:
    """Return the fit of each task, or why there is none; one interpreter does all of them."""
    source, rows = data
    numbers = [Numbers.of(source.take(rows.origin[train])) for train, _, _ in tasks]
    folds = [
        {
            "X": each.read(source.take(rows.origin[train])),
            "y": rows.target[train],
            "new": each.read(source.take(rows.origin)),
            "seed": seed,
        }
        for each, (train, _, seed) in zip(numbers, tasks, strict=True)
    ]
    job = {**about, "seed": 0, "folds": folds}
    answers = ask(python, SCRIPT, job, seconds * len(tasks))
    missing = answers.failure or f"{NO_ANSWER}."
    fits: list[Fit | str] = [missing] * len(tasks)
    for place, answer in enumerate(answers.results):
        train, test, _ = tasks[place]
        if "failure" in answer:
            fits[place] = str(answer["failure"])
            continue
        predicted = np.array(answer["predictions"], dtype=np.float64)[:, None]
        rules = None
        if answer["terms"] is not None:
            rules = (found_rules(answer["terms"], numbers[place].names, folds[place]["new"]),)
        fits[place] = Fit(train, test, predicted, rules, float(answer["seconds"]))
    return fits


def found_rules(terms: Sequence[Any], names: Sequence[str], matrix: Any) -> FoundRules:
    """Return the rules that a peer answered, and where each holds."""
    place = {name: position for position, name in enumerate(names)}
    rules = [
        [(names[column], sign, float(value)) for column, sign, value in term] for term in terms
    ]
    where = [holds(rule, matrix, place) for rule in rules]
    matrix_of_rules = np.reshape(where, (len(rules), len(matrix))).T.astype(bool)
    return FoundRules(tuple(map(as_printed, rules)), matrix_of_rules)


def as_printed(rule: Sequence[tuple[str, str, float]]) -> frozenset[tuple[str, str, float]]:
    """Return the comparisons of a rule without those that another one implies."""
    tightest: dict[tuple[str, str], float] = {}
    for name, sign, value in rule:
        choose = min if sign.startswith("<") else max
        known = tightest.get((name, sign), value)
        tightest[name, sign] = choose(known, value)
    return frozenset((name, sign, value) for (name, sign), value in tightest.items())
