"""Reports of small tables whose names and labels break careless pages, and rows to try in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mossrules import MossClassifier, MossRegressor, RuleSet
from mossrules.baselines import SirusRegressor
from support.model_cases import later_rows

MARKUP = "<script>alert(1)</script>"
PICTURE = '"><img src=x onerror=alert(2)>'
QUOTES = "it's a `flag` \\ & more"
ARABIC = "مرحبا \u202eevil"
LONG = "long_" * 30
BRACES = "{{ 7 * 7 }} ${x} <!--"

WORDS = [
    "</script><script>alert(3)</script>", 'say "hi" & <b>bold</b>', "🌲", "שלום",
    "line\u2028and\u2029page\nbreak", "null", "",
]  # fmt: skip
SIZES = ["s & m", "<i>medium</i>", "l'arge"]
TITLE = "</title></script><script>alert(4)</script> of <b>bold</b> claims"
TARGET = '</script><u>"target"</u>'
CLASSES = ["<u>low</u>", "high & <i>mighty</i>"]

SHARES = [1.0, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1]


def hostile_table(n: int = 240) -> tuple[pd.DataFrame, pd.Series]:
    """Return a column of every kind, all with missing values and effects, and the target."""
    rng = np.random.default_rng(9)
    number, tenths = np.round(rng.normal(50, 20, n), 1), rng.integers(-8, 9, n) / 10
    word, size, code = (rng.integers(choices, size=n) for choices in (len(WORDS), len(SIZES), 4))
    flag = rng.random(n) < 0.4
    target = rng.normal(size=n) + 1.5 * size + 4.0 * np.isin(word, [0, 3, 6])
    target += 3.0 * ((number > 55) + (tenths > 0.1).astype(int) + flag + np.isin(code, [1, 3]))
    columns = {
        MARKUP: pd.Series(number),
        PICTURE: pd.Series(np.array(WORDS, dtype=object)[word]),
        QUOTES: pd.Series(flag).astype("boolean"),
        ARABIC: pd.Series(tenths),
        LONG: pd.Series(pd.Categorical.from_codes(size, SIZES, ordered=True)),
        BRACES: pd.Series(pd.Categorical(code + 3)),
    }
    for position, column in enumerate(columns.values()):
        gone = rng.random(n) < 0.12
        column[gone] = None
        target[gone] += (-1) ** position * 1.5
    return pd.DataFrame(columns), pd.Series(target, name=TARGET)


@dataclass(frozen=True)
class Report:
    """A report in a file, the rule sets that it is to show, and rows to try."""

    path: Path
    content: dict[str, Any]
    rule_sets: list[RuleSet]  # by position
    rows: pd.DataFrame

    @property
    def chosen(self) -> int:
        """The position of the fitted model."""
        return self.content["chosen"]


def report_numbers(folder: Path) -> Report:
    """Report on a target of numbers, with folds and other methods."""
    X, y = hostile_table()
    model = MossRegressor(10, stability=0.55, n_trees=150, random_state=0).fit(X, y)
    return _report(
        folder / "numbers.html",
        model,
        X,
        y,
        cv=3,
        methods={BRACES: SirusRegressor(8, n_trees=150, random_state=0)},
    )


def report_classes(folder: Path) -> Report:
    """Report on a target of two classes, without folds."""
    X, y = hostile_table()
    labels = pd.Series(np.where(y > y.median(), *CLASSES), name=TARGET)
    forest = {"n_trees": 150, "max_features": 0.7}
    model = MossClassifier(6, stability=0.45, **forest, random_state=0).fit(X, labels)
    return _report(folder / "classes.html", model, X, labels, cv=None)


def _report(path: Path, model: Any, X: pd.DataFrame, y: pd.Series, **how: Any) -> Report:
    data = model.report(path, X, y, **how, points=SHARES, title=TITLE)
    frontier = model.frontier(SHARES, 0.01)
    by_share = {
        frontier.share(point.stability): model.select(index=position, frontier=frontier).rules_
        for position, point in enumerate(frontier.points)
    }
    content = data.content()
    rule_sets = [by_share.get(point["stability"]) for point in content["points"]]
    rule_sets[data.chosen] = replace(model.rules_, track_record=data.track_record)
    rows = later_rows(np.random.default_rng(5), X, model.candidates_.binning).head(50)
    return Report(path, content, rule_sets, rows)
