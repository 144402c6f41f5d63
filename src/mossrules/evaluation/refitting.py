"""One refit: the whole analysis on a part of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np

from mossrules._common import cached_property
from mossrules._typing import AnyArray
from mossrules.budget import Budget
from mossrules.candidates.search import resolve_seed
from mossrules.data.columns import Label
from mossrules.data.labels import python_label
from mossrules.data.rows import Rows
from mossrules.evaluation.folds import Split
from mossrules.evaluation.methods import Method, expect_part, statuses_of
from mossrules.evaluation.rule_rows import RuleRows
from mossrules.learning.fit import FittedRules
from mossrules.model.ruleset import RuleSet
from mossrules.model.rulesets import RuleSets
from mossrules.solver.result import Status

__all__ = ["RefitPlan", "RuleModel", "rule_set_of"]

# Of a refit where `n_trees` is "auto". With 8,000 in their place, refits find rules as often (.415
# of 40 refits and .411, mean over four tables), and take two to four times as long.
REFIT_TREES = 1000

RuleModel = RuleSet | RuleSets


@dataclass(frozen=True, eq=False)
class RefitPlan:
    """What refits share."""

    model: Any
    method: Method
    fitted: Mapping[Label | None, FittedRules]  # by outcome; None is the only one
    places: Mapping[Label | None, int | None]  # of each outcome among the classes of the rows
    bases: Mapping[Label | None, RuleRows]
    rows: Rows
    splits: Sequence[Split]
    seed: int

    @classmethod
    def of(
        cls, model: Any, rows: Rows, splits: Sequence[Split], seed: int, n_jobs: int
    ) -> RefitPlan:
        """Return the refits of a model; other rows than those of its fit are refused."""
        several = getattr(model, "estimators_", None)
        fitted = {label: member.fitted_ for label, member in (several or {None: model}).items()}
        places: dict[Label | None, int | None] = {None: getattr(model, "outcome_place", None)}
        if several:
            places = {python_label(label): place for place, label in enumerate(rows.classes)}
        bases = {k: RuleRows.of(each, rows, places[k], n_jobs) for k, each in fitted.items()}
        again = model.get_params(deep=False)
        again["stability"] = next(iter(fitted.values())).settings.stability
        if again["n_trees"] == "auto":
            grown = max(each.candidates.pool.n_trees for each in fitted.values())
            again["n_trees"] = min(grown, REFIT_TREES)
        method = Method("model", type(model)(**again), resolve_seed(model.random_state))
        return cls(model, method, fitted, places, bases, rows, splits, seed)

    def fresh(self, number: int, n_jobs: int, budget: Budget | None = None) -> Any:
        """Return the model of a refit, unfitted; a stability that was chosen stays what it was."""
        model = replace(self.method, seed=self.seed + 1 + number).fresh(n_jobs, budget)
        if None not in self.fitted:
            chosen = {label: each.settings.stability for label, each in self.fitted.items()}
            model.set_stabilities(chosen)
        expect_part(model, self.rows.classes)
        return model

    def refit(
        self, number: int, rows: Rows, n_jobs: int, budget: Budget | None = None
    ) -> tuple[RuleModel, bool]:
        """Return the rules of some rows, and whether a search had no more time before its proof."""
        model = self.fresh(number, n_jobs, budget).fit_read(rows)
        statuses = statuses_of(model)
        if Status.INTERRUPTED in statuses:
            raise KeyboardInterrupt  # which a choice takes for a wish to have what there is
        return model.rules_, Status.TIME_LIMIT in statuses

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


def rule_set_of(rules: RuleModel, label: Label | None) -> RuleSet:
    """Return the rule set of an outcome."""
    if isinstance(rules, RuleSets):
        return rules[label]  # type: ignore[index]  # which is a label then
    return rules
