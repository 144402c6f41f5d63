"""`RuleSets`: one rule set for each of several classes, and their probabilities side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mossrules._files import refuse_pipe
from mossrules._frames import Backend, make_frame
from mossrules._refusals import names_input
from mossrules._typing import FloatArray
from mossrules.data.columns import Label
from mossrules.data.reading import Reading
from mossrules.exceptions import InvalidFile, InvalidParameter
from mossrules.model.explanation import Explanation
from mossrules.model.export_json import CLASSES_FORMAT, classes_from_json, classes_to_json
from mossrules.model.export_python import classes_to_python
from mossrules.model.export_sql import classes_to_sql
from mossrules.model.export_text import one_line, to_html
from mossrules.model.ruleset import RuleSet

__all__ = ["RuleSets", "read_model"]

NORMALISED = "Probabilities of all classes are then divided by their sum."
# Log-odds below -745 have a probability of 0 in float64; if all have, their shares would be 0 / 0.
MIN_PROBABILITY = float(np.finfo(np.float64).tiny)


class RuleSets(Mapping[Label, RuleSet]):
    """A mapping from classes to rule sets, each of which gives the log-odds of its class.

    The probability of a class is the one its own rules give, divided by the sum over all classes.

    Parameters
    ----------
    by_class
        A dict from each class to its rule set, which has `link="logit"` and this `outcome`.

    Examples
    --------
    >>> from mossrules import MossClassifier
    >>> X, y = {"dose": [1, 2, 3, 4, 5, 6]}, ["low", "low", "mid", "mid", "high", "high"]
    >>> rules = MossClassifier(1, n_trees=20).fit(X, y).rules_
    >>> list(rules), rules["low"].texts
    (['high', 'low', 'mid'], ['dose > 2'])
    >>> rules.predict_proba({"dose": [1, 6]}).round(2)
    array([[0.13, 0.73, 0.13],
           [0.73, 0.13, 0.13]])
    """

    def __init__(self, by_class: Mapping[Label, RuleSet]) -> None:
        if len(by_class) < 2 or not all(
            ruleset.link == "logit" and ruleset.outcome == label
            for label, ruleset in by_class.items()
        ):
            raise InvalidParameter(
                "RuleSets needs two classes or more, each with a rule set of link='logit' whose "
                "outcome it is."
            )
        self._by_class = dict(by_class)

    def __getitem__(self, label: Label) -> RuleSet:
        return self._by_class[label]

    def __iter__(self) -> Iterator[Label]:
        return iter(self._by_class)

    def __len__(self) -> int:
        return len(self._by_class)

    @property
    def reading(self) -> Reading:
        """How the values of the training file were read, as `RuleSet.reading`."""
        return Reading.common(ruleset.reading for ruleset in self.values())

    # --- predictions ----------------------------------------------------------------------------

    @names_input("X")
    def decision_function(self, X: Any) -> FloatArray:
        """Return the log-odds of each class against all others: (rows, classes)."""
        return np.column_stack([ruleset.decision_function(X) for ruleset in self.values()])

    @names_input("X")
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class: (rows, classes), each row adding up to 1."""
        # Divided by their sum, not a softmax of log-odds: each class is fitted and calibrated
        # against all other classes, so what they give is a probability already.
        alone = np.column_stack([ruleset.predict(X) for ruleset in self.values()])
        alone = np.maximum(alone, MIN_PROBABILITY)
        return np.asarray(alone / alone.sum(axis=1, keepdims=True), dtype=np.float64)

    def explain(self, row: Any, *, threshold: float = 0.5) -> dict[Label, Explanation]:
        """Return for each class which of its rules hold for one row, and the effect of each.

        Probabilities in it are those of each class alone, before the division by their sum.
        """
        return {label: ruleset.explain(row, threshold=threshold) for label, ruleset in self.items()}

    # --- exports --------------------------------------------------------------------------------

    def to_text(self) -> str:
        """Return the tables of all classes for people to read."""
        return "\n\n".join([*(ruleset.to_text() for ruleset in self.values()), NORMALISED])

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a row per class and rule: `outcome`, and the columns of `RuleSet.to_frame`."""
        parts = [ruleset.frame_columns() for ruleset in self.values()]
        columns: dict[str, list[Any]] = {"outcome": []}
        for label, ruleset in self.items():
            columns["outcome"] += [str(label)] * len(ruleset)
        for name in min(parts, key=len):  # those of track records only if all classes have one
            columns[name] = [value for part in parts for value in part[name]]
        return make_frame(columns, backend)

    def to_markdown(self) -> str:
        """Return a table in GitHub's Markdown for each class."""
        parts = [
            f"Class {number} of {len(self)}, `{_code_label(label)}`:\n\n{ruleset.to_markdown()}"
            for number, (label, ruleset) in enumerate(self.items(), start=1)
        ]
        return "\n\n".join([*parts, NORMALISED])

    def to_latex(self) -> str:
        r"""Return a LaTeX tabular for each class; the document needs `\usepackage{booktabs}`."""
        return "\n\n".join(
            f"% class {number} of {len(self)}\n{ruleset.to_latex()}"
            for number, ruleset in enumerate(self.values(), start=1)
        )

    def to_json(self) -> str:
        """Return all rule sets, bit for bit, as versioned JSON; see `from_json`."""
        return classes_to_json(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> RuleSets:
        """Return the rule sets of a text that `to_json` wrote; what is wrong is `InvalidFile`."""
        return cls(classes_from_json(text, RuleSet.from_json))

    def to_sql(
        self, table: str | Sequence[str], dialect: str = "ansi", *, keep: Sequence[str] = ()
    ) -> str:
        """Return a SELECT with a column such as `P(species=setosa)` for each class.

        Parameters
        ----------
        table, dialect, keep
            As in `RuleSet.to_sql`.
        """
        return classes_to_sql(self, table, dialect, keep)

    def to_python(self, name: str = "predict") -> str:
        """Return the source of a function from a row to a dict of the classes' probabilities."""
        return classes_to_python(self, name, MIN_PROBABILITY)

    def _repr_html_(self) -> str:
        return "".join(to_html(ruleset) for ruleset in self.values())

    def __repr__(self) -> str:
        return self.to_text()


def _code_label(label: Label) -> str:
    # A backtick would end the code; what the label is, its rules' tables say exactly.
    return one_line(str(label)).replace("`", "'")


# --- files ----------------------------------------------------------------------------------------


def read_model(path: Path) -> RuleSet | RuleSets:
    """Return the rule set in a file, or those of several classes."""
    refuse_pipe(path)
    try:
        text = path.read_bytes()
        several = CLASSES_FORMAT.encode() in text[:100]
        return (RuleSets if several else RuleSet).from_json(text)
    except FileNotFoundError:
        raise InvalidFile(f"{path} does not exist; write a model with fit --output.") from None
    except OSError as reason:
        raise InvalidFile(
            f"{path} cannot be read ({reason.strerror or reason}); check the path."
        ) from reason
    except InvalidFile as reason:
        raise InvalidFile(f"{path} holds no model. {reason}") from reason
