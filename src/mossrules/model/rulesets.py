"""`RuleSets`: one rule set for each of several classes, and their probabilities side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mossrules._frames import Backend, make_frame
from mossrules._typing import FloatArray
from mossrules.data.columns import Label
from mossrules.exceptions import InvalidFile, InvalidParameter
from mossrules.model.explanation import Explanation
from mossrules.model.formatting import one_line
from mossrules.model.python import check_name
from mossrules.model.ruleset import RuleSet
from mossrules.model.sql import dialect_of, quoted, table_name
from mossrules.model.storage import REMEDY, parse_json

__all__ = ["RuleSets"]

FORMAT, VERSION = "mossrules rule sets", 1
LAST = "Probabilities of all classes are then divided by their sum."
LEAST = float(np.finfo(np.float64).tiny)  # keeps probabilities that are all 0 from 0 / 0


class RuleSets(Mapping[Label, RuleSet]):
    """A mapping from classes to rule sets, each of which gives the log-odds of its class.

    The probability of a class is what its own rules say, divided by the sum over all classes.

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
    (['high', 'low', 'mid'], ['dose <= 2'])
    >>> rules.predict_proba({"dose": [1, 6]}).round(2)
    array([[0.1 , 0.66, 0.25],
           [0.67, 0.1 , 0.24]])
    """

    def __init__(self, by_class: Mapping[Label, RuleSet]) -> None:
        if len(by_class) < 2 or not all(
            each.link == "logit" and each.outcome == label for label, each in by_class.items()
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

    # --- predictions ----------------------------------------------------------------------------

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log-odds of each class against all others: (rows, classes)."""
        return np.column_stack([each.decision_function(X) for each in self.values()])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class: (rows, classes), each row adding up to 1."""
        alone = np.column_stack([each.predict(X) for each in self.values()])
        alone = np.maximum(alone, LEAST)
        return np.asarray(alone / alone.sum(axis=1, keepdims=True), dtype=np.float64)

    def explain(self, row: Any, *, threshold: float = 0.5) -> dict[Label, Explanation]:
        """Return for each class which of its rules hold for one row, and what each adds.

        A probability is there what the rules of its class say, before the division by their sum.
        """
        return {label: each.explain(row, threshold=threshold) for label, each in self.items()}

    # --- exports --------------------------------------------------------------------------------

    def to_text(self) -> str:
        """Return the tables of all classes for people to read."""
        return "\n\n".join([*(each.to_text() for each in self.values()), LAST])

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a row per class and rule: `outcome`, and the columns of `RuleSet.to_frame`."""
        columns: dict[str, list[Any]] = {"outcome": []}
        for label, each in self.items():
            columns["outcome"] += [str(label)] * len(each)
            for name, values in each.figures().items():
                columns.setdefault(name, []).extend(values)
        return make_frame(columns, backend)

    def to_markdown(self) -> str:
        """Return a table in GitHub's Markdown for each class."""
        parts = [
            f"Class {number} of {len(self)}, `{_plain(label)}`:\n\n{each.to_markdown()}"
            for number, (label, each) in enumerate(self.items(), start=1)
        ]
        return "\n\n".join([*parts, LAST])

    def to_latex(self) -> str:
        r"""Return a LaTeX tabular for each class; the document needs `\usepackage{booktabs}`."""
        return "\n\n".join(
            f"% class {number} of {len(self)}\n{each.to_latex()}"
            for number, each in enumerate(self.values(), start=1)
        )

    def to_json(self) -> str:
        """Return all rule sets, bit for bit, as versioned JSON; see `from_json`."""
        parts = [json.loads(each.to_json()) for each in self.values()]
        content = {"format": FORMAT, "version": VERSION, "rule_sets": parts}
        return json.dumps(content, allow_nan=False, indent=2)

    @classmethod
    def from_json(cls, text: str | bytes) -> RuleSets:
        """Return the rule sets of a text that `to_json` wrote; what is wrong is `InvalidFile`."""
        content = parse_json(text, FORMAT, VERSION)
        parts = content.get("rule_sets")
        if set(content) != {"format", "version", "rule_sets"} or not isinstance(parts, list):
            raise InvalidFile(f"The JSON has other fields than rule sets have; {REMEDY}.")
        read = [RuleSet.from_json(json.dumps(part)) for part in parts]
        by_class = {each.outcome: each for each in read if each.outcome is not None}
        if len(by_class) < max(2, len(read)) or any(each.link != "logit" for each in read):
            raise InvalidFile(f"The rule sets are not those of two classes or more; {REMEDY}.")
        return cls(by_class)

    def to_sql(
        self, table: str | Sequence[str], dialect: str = "ansi", *, keep: Sequence[str] = ()
    ) -> str:
        """Return a SELECT with a column `probability of <class>` for each class.

        Parameters
        ----------
        table, dialect, keep
            As in `RuleSet.to_sql`.
        """
        speaker = dialect_of(dialect)
        alone = [
            quoted(f"{'_' * (1 + max(map(len, keep), default=0))}{number}", speaker)
            for number in range(len(self))
        ]  # names that no column to keep has
        kept = [quoted(name, speaker) for name in keep]
        inner = [
            f"{each.to_sql(None, dialect)} AS {name}"
            for each, name in zip(self.values(), alone, strict=True)
        ]
        total = " + ".join(alone)
        outer = [
            f"{name} / ({total}) AS {quoted(f'probability of {label}', speaker)}"
            for label, name in zip(self, alone, strict=True)
        ]
        source = f"SELECT {', '.join([*kept, *inner])}\nFROM {table_name(table, speaker)}"
        return f"SELECT {', '.join([*kept, *outer])}\nFROM (\n{source}\n) AS {quoted('t', speaker)}"

    def to_python(self, name: str = "predict") -> str:
        """Return the source of a function from a row to a dict of the classes' probabilities."""
        check_name(name)
        parts = [each.to_python(f"{name}_{number}") for number, each in enumerate(self.values())]
        calls = "".join(
            f"        {label!r}: max({name}_{number}(row), {LEAST!r}),\n"
            for number, label in enumerate(self)
        )
        parts.append(
            f"def {name}(row):\n"
            '    """Return the probability of each class for a row, as a dict."""\n'
            f"    alone = {{\n{calls}    }}\n"
            "    total = sum(alone.values())\n"
            "    return {label: value / total for label, value in alone.items()}\n"
        )
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        return "".join(each._repr_html_() for each in self.values())

    def __repr__(self) -> str:
        return self.to_text()


def _plain(label: Label) -> str:
    return one_line(str(label)).replace("`", "'")
