"""How many training rows have the outcome of a rule set, and whether they are enough for its rules.

Effects of a logistic model are far off, and rules are found by chance, where there are few events
for each of them. The rule of thumb is 10 of the rarer class for each effect that is fitted
(Peduzzi, Concato, Kemper, Holford and Feinstein 1996, Journal of Clinical Epidemiology 49). It is
a floor and no guarantee: rules are chosen among many candidates, so more events are better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mossrules import defaults

if TYPE_CHECKING:
    from mossrules.model.ruleset import RuleSet

__all__ = ["Events", "events_sentence", "few_events_sentence"]


class Events(NamedTuple):
    """Numbers of training rows; whole weights count as repetitions, others not at all.

    Examples
    --------
    >>> from mossrules import MossClassifier
    >>> X = {"age": list(range(40))}
    >>> model = MossClassifier(1, n_trees=20).fit(X, [age > 29 for age in range(40)])
    >>> model.rules_.events
    Events(outcome=10, others=30)
    >>> model.rules_.events_per_rule
    10.0
    """

    outcome: int  #: those that have the outcome
    others: int  #: those that have not

    @property
    def rarer(self) -> int:
        """Number of rows of the rarer of the two: by them it is known what tells them apart."""
        return min(self)


def events_sentence(ruleset: RuleSet, event: str) -> str | None:
    """Return how many training rows have the outcome, and how many that is for each rule."""
    events = ruleset.events
    if events is None:
        return None
    words = f"{events.outcome:,} of {sum(events):,} training rows are {event}"
    if not len(ruleset):
        return f"{words}."
    rarer = "" if events.rarer == events.outcome else f" and {events.others:,} are not"
    return f"{words}{rarer}: {ruleset.events_per_rule:.1f} for each rule."


def few_events_sentence(ruleset: RuleSet, event: str) -> str | None:
    """Return a warning where there are fewer events for each rule than the rule of thumb asks."""
    events, per_rule = ruleset.events, ruleset.events_per_rule
    if events is None or per_rule is None or per_rule >= defaults.MIN_EVENTS_PER_RULE:
        return None
    are = "are" if events.rarer == events.outcome else "are not"
    rules = "the rule" if len(ruleset) == 1 else f"each of the {len(ruleset)} rules"
    allowed = events.rarer // defaults.MIN_EVENTS_PER_RULE
    fewer = f"allow no more than {allowed} (max_rules), or " if allowed else ""
    return (
        f"Only {events.rarer:,} training rows {are} {event}, {per_rule:.1f} for {rules}, and with "
        f"fewer than {defaults.MIN_EVENTS_PER_RULE} effects are unreliable and rules may be there "
        f"by chance; {fewer}collect more of these rows."
    )
