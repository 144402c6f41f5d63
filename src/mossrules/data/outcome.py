"""Which of two classes is the outcome: the one whose probability a model gives.

A class that the user names is it. Otherwise the names of the two classes may tell: one of them says
that something happened (`EVENTS`), or the other that it did not (`NO_EVENTS`). Where they tell
nothing it is the last of the two in the order of labels, and whoever fits a model is told so
(`OutcomeWarning`): a model of the wrong one of two classes looks just like that of the right one.

The rarer class would be a guess as well, and a worse one: it can change with a few rows, and so
from one refit to the next.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from mossrules._typing import AnyArray
from mossrules.data.columns import Label
from mossrules.data.labels import python_label
from mossrules.data.table import did_you_mean
from mossrules.exceptions import InvalidParameter, OutcomeWarning, warn_user

Labels = Sequence[Any] | AnyArray

__all__ = ["EVENTS", "NO_EVENTS", "PAIRS", "find_class", "outcome_place", "warn_if_guessed"]

#: Names of classes, in small letters, that say that something happened or is there.
EVENTS = frozenset({
    "true", "yes", "case", "cases", "event", "events", "positive", "pos", "dead", "death",
    "died", "deceased", "disease", "diseased", "ill", "sick", "present", "abnormal", "malignant",
    "infected", "detected", "relapse", "relapsed", "recurrence", "recurred", "progression",
    "progressed", "churn", "churned", "default", "defaulted", "fraud",
})  # fmt: skip
#: Names that say that it did not happen or is not there.
NO_EVENTS = frozenset({
    "false", "no", "control", "controls", "negative", "neg", "alive", "survived", "survivor",
    "living", "healthy", "absent", "normal", "benign", "uninfected", "undetected", "censored",
    "never", "none", "nothing",
})  # fmt: skip
#: Short names that tell something as a pair only: (the outcome, the other).
PAIRS = frozenset({("1", "0"), ("1", "-1"), ("t", "f"), ("y", "n"), ("+", "-")})
DENIAL = r"(?:no|non|not|without|un)[\W_]*"  # "no relapse" beside "relapse", "non-smoker"


def outcome_place(classes: Labels, outcome: Any = None) -> int:
    """Return the position of the outcome among two classes: as it was named, or by default."""
    if outcome is None:
        return _told_by_names(classes) if len(classes) == 2 else len(classes) - 1
    if len(classes) > 2:
        raise InvalidParameter(
            f"outcome is {outcome!r}, and the target has {len(classes)} classes, each of which has "
            "rules of its own; leave it out, or pass a target that says whether a row is of this "
            "class."
        )
    return find_class(classes, outcome)


def find_class(classes: Labels, named: Any, what: str = "outcome") -> int:
    """Return the position of a class that was named; what is no class is refused.

    Its text will do, as on a command line, where labels are no text.
    """
    labels = [python_label(label) for label in classes]
    named = python_label(named)
    for place, label in enumerate(labels):
        if type(label) is type(named) and label == named:
            return place
    if isinstance(named, Label):
        alike = [place for place, label in enumerate(labels) if _text(label) == _text(named)]
        if len(alike) == 1:
            return alike[0]
    listed = ", ".join(map(repr, labels[:10])) + (", ..." if len(labels) > 10 else "")
    hint = did_you_mean(named, [str(label) for label in labels]) if isinstance(named, str) else ""
    raise InvalidParameter(
        f"{what} is {named!r}, which is none of the classes; name one of {listed}.{hint}"
    )


def warn_if_guessed(classes: Labels, outcome: Any) -> None:
    """Tell whoever fits a model of two classes which one it is of, where that is a guess."""
    if outcome is not None or len(classes) != 2 or _tells_more(*classes) != 0:
        return
    other, last = (python_label(label) for label in classes)
    warn_user(
        f"The names of the classes {other!r} and {last!r} do not say which one is the outcome, so "
        f"the model gives the probability of {last!r}; name it as the outcome to be told no more, "
        f"or {other!r} for the other (outcome=..., on the command line --outcome).",
        OutcomeWarning,
    )


# --- what names tell ------------------------------------------------------------------------------


def _told_by_names(classes: Labels) -> int:
    return 0 if _tells_more(*classes) < 0 else 1


def _tells_more(first: Any, second: Any) -> int:
    """Return 1 if the second of two classes is the outcome by its name, -1 if the first is."""
    one, other = _text(first), _text(second)
    if (other, one) in PAIRS:
        return 1
    if (one, other) in PAIRS:
        return -1
    score = _score(other, one) - _score(one, other)
    return (score > 0) - (score < 0)


def _score(text: str, other: str) -> int:
    """Return 1 of a name that says that something happened, -1 of one that says it did not."""
    if text in NO_EVENTS or re.fullmatch(DENIAL + re.escape(other), text):
        return -1
    return int(text in EVENTS)


def _text(label: Any) -> str:
    """Return the name of a class in small letters; whole numbers are the same in all types."""
    value = python_label(label)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip().lower()
