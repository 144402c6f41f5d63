"""Rule sets on tables of all kinds, with names and labels that break careless exports."""

from __future__ import annotations

import ast
import math

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from mossrules import RuleSet, find_candidates
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import OPEN, Levels, Range, Rule
from mossrules.data.columns import Kind

HOSTILE = [
    "plain", "with space", 'quote"d', "apo'strophe", "back`tick", "semi;colon", "select", "row",
    "ünïcødé", "数", "🌲", "new\nline", "tab\tbed", "back\\slash", "100%", "%s %(x)s", "{x} {{y}}",
    "$math$", "a_b^c~d#e&f", "<script>alert(1)</script>", "a|b", "a\\|b", "*bold* _it_", "1st",
    "v0", "total", "class", '"; DROP TABLE t; --', "a' OR '1'='1", "-- comment", "/* c */",
    "\\textbf{x}", "x <= 3 and y", " lead", "trail ", "a  b", "&amp;", "[0]", "it''s",
    "\u202eevil", "prediction", "?`--", "number", "\r", "\\", "'''", '"""', "a\\", ":bind", "?",
]  # fmt: skip

# --- tables ---------------------------------------------------------------------------------------


def _real(rng, n):
    scale = 10.0 ** rng.integers(-3, 6)
    return pd.Series(np.round(rng.normal(size=n) * scale, int(rng.integers(0, 12))))


def _tenths(rng, n):
    return pd.Series(rng.integers(-8, 9, n) / 10)


def _single(rng, n):
    return pd.Series((rng.integers(0, 30, n) / 10).astype(np.float32))


def _whole(rng, n):
    return pd.Series(rng.integers(-5, 12, n)).astype("Int64")


def _beyond_doubles(rng, n):
    """Return integers that are closer to each other than doubles are."""
    return pd.Series((1 << 53) + rng.integers(-6, 7, n)).astype("Int64")


def _flags(rng, n):
    return pd.Series(rng.random(n) < 0.4).astype("boolean")


def _words(rng, n):
    return pd.Series(rng.choice(rng.choice(HOSTILE, int(rng.integers(2, 7)), replace=False), n))


def _numbered(rng, n):
    return pd.Series(pd.Categorical(rng.integers(3, 7, n)))


def _measured(rng, n):
    return pd.Series(pd.Categorical(rng.choice([0.1, 15.527698, math.inf, -2.0], n)))


def _ordered(rng, n):
    levels = rng.choice(HOSTILE, int(rng.integers(2, 6)), replace=False).tolist()
    return pd.Series(pd.Categorical(rng.choice(levels, n), categories=levels, ordered=True))


MAKERS = (
    _real, _tenths, _single, _whole, _beyond_doubles, _flags, _words, _numbered, _ordered
)  # fmt: skip


def wild_table(seed: int, n: int = 90, makers=MAKERS) -> tuple[pd.DataFrame, np.ndarray]:
    """Return columns of random kinds and hostile names, with missing values, and a target."""
    rng = np.random.default_rng([3, seed])
    names = rng.choice(HOSTILE, int(rng.integers(3, 7)), replace=False).tolist()
    target, columns = rng.normal(size=n), {}
    for name in names:
        column = makers[rng.integers(len(makers))](rng, n)
        effect = dict(enumerate(rng.normal(size=4)))
        ranks = column.rank(method="dense") if pd.api.types.is_numeric_dtype(column) else None
        codes = pd.factorize(column)[0] if ranks is None else ranks.to_numpy(dtype=float)
        target += np.array(
            [effect[min(int(code) * 4 // (int(codes.max()) + 1), 3)] for code in codes]
        )
        if rng.random() < 0.5:
            gone = rng.random(n) < 0.25
            column[gone] = None
            target[gone] += rng.normal()
        columns[name] = column
    return pd.DataFrame(columns), target


def wild_ruleset(seed: int, makers=MAKERS) -> tuple[RuleSet, pd.DataFrame]:
    """Return rules found in a random table, and other rows that are awkward to predict."""
    rng = np.random.default_rng([4, seed])
    X, y = wild_table(seed, makers=makers)
    candidates = find_candidates(
        X, y, n_trees=15, max_depth=int(rng.integers(1, 4)), n_bins=int(rng.integers(3, 11)),
        max_features=0.6, inner_nodes=bool(rng.integers(2)), random_state=seed, n_jobs=1,
    )  # fmt: skip
    chosen = rng.permutation(len(candidates))[: rng.integers(1, 13)]
    weights = rng.normal(size=len(chosen)) * 10.0 ** rng.integers(-3, 4)
    weights[rng.random(len(chosen)) < 0.15] = rng.choice([0.0, 1.0, -2.5])
    ruleset = RuleSet.from_candidates(
        candidates, chosen, weights, float(rng.normal() * 100), target="the 'target'"
    )
    return ruleset, later_rows(rng, X, candidates.binning)


def later_rows(rng, X: pd.DataFrame, binning: Binning) -> pd.DataFrame:
    """Return rows with values on and next to the cuts, unseen levels and more missing values."""
    later = X.iloc[rng.permutation(len(X))].reset_index(drop=True)
    for name in later:
        column, binned = later[name].copy(), binning[name]
        some = rng.random(len(later)) < 0.4
        if binned.cuts and binned.kind is Kind.NUMERIC:
            cuts = rng.choice(binned.cuts, int(some.sum()))
            if str(column.dtype) == "Int64":
                column[some] = [int(cut) + int(rng.integers(-1, 2)) for cut in cuts]
            else:
                towards = rng.choice([-np.inf, np.inf], len(cuts))
                near = np.where(rng.random(len(cuts)) < 0.5, cuts, np.nextafter(cuts, towards))
                column[some] = near.astype(column.dtype)
        elif binned.kind is Kind.ORDERED:
            column = column.cat.add_categories(["never seen"])
            column[some & (rng.random(len(later)) < 0.3)] = "never seen"
        elif binned.kind is Kind.CATEGORICAL:
            unseen = "never seen" if isinstance(binned.levels[0], str) else 99
            if hasattr(column, "cat"):
                column = column.cat.add_categories([unseen])
            column[some & (rng.random(len(later)) < 0.3)] = unseen
        column[rng.random(len(later)) < 0.1] = None
        later[name] = column
    return later


def records(frame: pd.DataFrame, rng=None) -> list[dict]:
    """Return rows as dicts of plain values, missing ones as None or, now and then, NaN."""
    columns = {name: plain_values(frame[name], rng) for name in frame}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def plain_values(column: pd.Series, rng=None) -> list:
    """Return a column as a list of plain values; missing is None or, in floats, perhaps NaN."""
    values = [None if pd.isna(value) else value for value in column.tolist()]
    if rng is not None and column.dtype.kind == "f":
        values = [math.nan if value is None and rng.random() < 0.5 else value for value in values]
    return values


# --- rule sets out of thin air --------------------------------------------------------------------

finite = st.floats(allow_nan=False, allow_infinity=False)
names = st.text(max_size=8) | st.sampled_from(HOSTILE)
labels = st.one_of(
    st.lists(names, min_size=1, max_size=5, unique=True),
    st.lists(st.integers(), min_size=1, max_size=5, unique=True),
    st.lists(st.floats(allow_nan=False), min_size=1, max_size=5, unique=True),
    st.just([False, True]),
)


@st.composite
def binned_columns(draw, name: str) -> BinnedColumn:
    """Draw how a column of any kind is binned."""
    kind = draw(st.sampled_from([Kind.NUMERIC, Kind.BOOLEAN, Kind.CATEGORICAL, Kind.ORDERED]))
    levels = tuple(draw(labels)) if kind in (Kind.CATEGORICAL, Kind.ORDERED) else ()
    cuts = []
    if kind is Kind.NUMERIC:
        cuts = sorted(draw(st.sets(finite, max_size=6)))
    elif kind is Kind.BOOLEAN:
        cuts = [0.0]
    elif kind is Kind.ORDERED:
        cuts = [float(rank) for rank in range(len(levels) - 1) if draw(st.booleans())]
    return BinnedColumn(name, kind, tuple(cuts), levels)


@st.composite
def conditions(draw, column: BinnedColumn) -> Range | Levels:
    """Draw a condition that a column can have."""
    if column.kind is Kind.CATEGORICAL:
        some = draw(st.sets(st.sampled_from([None, *column.levels]), min_size=1))
        return Levels(column.name, frozenset(some), draw(st.booleans()))
    last = len(column.cuts)
    low = draw(st.integers(1, last + 1))
    high = draw(st.sampled_from([*range(low, last + 1), OPEN]))
    missing = draw(st.booleans())
    if draw(st.booleans()) and (low, high) == (1, OPEN):
        return Range(column.name, 1, 0, missing=True)
    return Range(column.name, low, high, missing and (low, high) != (1, OPEN))


@st.composite
def rulesets(draw) -> RuleSet:
    """Draw a rule set of up to five rules on up to four columns; not one that training makes."""
    columns = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    binned = [draw(binned_columns(name)) for name in columns]
    rules = {}
    for _ in range(draw(st.integers(0, 5))):
        used = draw(st.lists(st.sampled_from(binned), min_size=1, unique_by=lambda each: each.name))
        rules[Rule.of([draw(conditions(column)) for column in used])] = draw(finite)
    shares = st.floats(0, 1)
    return RuleSet(
        rules=tuple(rules),
        weights=np.array(list(rules.values()), dtype=float),
        intercept=draw(finite),
        binning=Binning(tuple(binned)),
        columns=tuple(columns),
        support=np.array([draw(shares) for _ in rules], dtype=float),
        proportion=np.array([draw(shares) for _ in rules], dtype=float),
        target=draw(st.none() | names),
    )


def many_rules(n: int, *, name: str = "x{}", scale: float = 10.0, target=None, seed=0) -> RuleSet:
    """Return `n` rules of two conditions each on columns named after a pattern."""
    rng = np.random.default_rng([5, seed])
    columns = [BinnedColumn(name.format(i), Kind.NUMERIC, (0.5, 1.25, 2.0)) for i in range(9)]
    rules = []
    while len(rules) < n:
        one, other = rng.choice(len(columns), 2, replace=False)
        low, high = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        rule = Rule.of([Range(columns[one].name, low), Range(columns[other].name, 1, high)])
        rules += [rule] * (rule not in rules)
    return RuleSet(
        rules=tuple(rules),
        weights=rng.normal(size=n) * scale,
        intercept=0.37 * scale,
        binning=Binning(tuple(columns)),
        columns=tuple(column.name for column in columns),
        support=rng.uniform(0.0, 1.0, n),
        proportion=rng.uniform(0.0, 0.1, n),
        target=target,
    )


# --- whole rule sets ------------------------------------------------------------------------------


def on_names(names, target="cost", **changes):
    """Return a rule set with one rule for each name, of weights 1, 2, ..."""
    n = len(names)
    return RuleSet(
        rules=tuple(Rule.of([Range(name, low=2)]) for name in names),
        weights=changes.pop("weights", np.arange(1.0, n + 1)),
        intercept=changes.pop("intercept", 10.0),
        binning=Binning(tuple(BinnedColumn(name, Kind.NUMERIC, (0.5,)) for name in names)),
        columns=tuple(names),
        support=np.full(n, 0.391),
        proportion=np.full(n, 0.076),
        target=target,
    )


def function_of(ruleset, name="predict"):
    """Execute the exported source, with nothing but built-ins, and return the function."""
    source = ruleset.to_python(name)
    assert not [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import)]
    names = {}
    exec(compile(source, "exported", "exec"), names)  # noqa: S102  our own export
    return names[name]
