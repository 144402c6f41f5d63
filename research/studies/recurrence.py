"""Does "found in k of n refits" say what a fresh sample finds? Beside halves, tenths and trees.

An analysis of a sample has a track record, and fresh samples of as many rows are analysed too: of
the rules with k/n near one half, do fresh samples find one half? Samples come from sources that are
known, or from one half of a large table, with fresh ones from the other half. The share of rows in
a refit (a third) was chosen on the sources and tables of CHOSEN_ON; those of HELD_BACK were looked
at afterwards. People's ranges are held against the predictions of fresh analyses likewise.

`python -m research.studies.recurrence` takes about an hour of one core; it writes
docs/results/recurrence/, whose table stands in docs/trackrecord.md. `--page` draws it again.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from mossrules import MossClassifier, MossRegressor
from mossrules._typing import FloatArray
from mossrules.evaluation.agreement import key_of_each
from mossrules.evaluation.track_record import track_record
from research.harness.clone import DATA, ROOT
from research.trust.tables import load

OUT = ROOT / "docs" / "results" / "recurrence"
REFITS, FRESH = 40, 10
ROWS = (300, 1000)  # of samples from a source
SAMPLE = 400  # rows of samples from a table
SCHEMES: dict[str, dict[str, Any]] = {
    "third": {},
    "half": {"share": 0.5},
    "nine tenths": {"scheme": "folds"},
    "bootstrap": {"scheme": "bootstrap"},
}
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

Draw = Callable[[int, bool], tuple[dict[str, Any], Any]]  # so many rows, of the fresh ones or not


@dataclass(frozen=True)
class RuleOutcome:
    """A rule of an analysis: what refits and trees say of it, and what fresh samples find."""

    set: str
    source: str
    rows: int
    rule: str
    trees: float
    fresh: float
    third: float
    half: float
    nine_tenths: float
    bootstrap: float


@dataclass(frozen=True)
class Case:
    """Where samples come from."""

    set: str
    name: str
    classes: bool
    rows: int
    draw: Draw


# --- where samples come from ----------------------------------------------------------------------


def cases(seed: int) -> Iterator[Case]:
    """Yield all cases of a repetition."""
    rng = np.random.default_rng(seed)
    for kind, classes in (("rules", False), ("additive", False), ("weak", False)):
        for n in ROWS:
            yield Case("chosen on", kind, classes, n, _source(kind, rng))
    for kind, classes in (("steps", False), ("crossed", False), ("risk", True)):
        for n in ROWS:
            yield Case("held back", kind, classes, n, _source(kind, rng))
    for name in ("houses", "kin8nm", "elevators", "cpu_small", "wind", "pol"):
        yield Case("chosen on", name, False, SAMPLE, _table(name, rng))
    for name in ("bank32nh", "house_16H", "mv", "wine_quality", "abalone", "space_ga"):
        rows = SAMPLE if name not in ("abalone", "space_ga") else 200
        yield Case("held back", name, False, rows, _table(name, rng))
    for name in ("magic", "adult", "spambase"):
        yield Case(
            "held back", name, True, 200 if name == "spambase" else SAMPLE, _table(name, rng)
        )


def _source(kind: str, rng: np.random.Generator) -> Draw:
    def draw(n: int, _: bool) -> tuple[dict[str, Any], Any]:
        X = rng.normal(size=(n, 8))
        X[:, 1] = 20 * rng.exponential(size=n)
        X[:, 2] = rng.integers(0, 10, n)
        X[:, 3] = 50 + 7 * X[:, 0] + 7 * rng.normal(size=n)
        noise = rng.normal(size=n)
        a, b, c, d, e, f = (X[:, j] for j in range(6))
        y: Any
        match kind:
            case "rules":
                y = 3 * (a > 0.5) + 2 * ((b > 15) & (c > 4)) - 2 * (e < -0.3) + 1.5 * (f > 0)
                y = y + 2 * noise
            case "additive":
                y = a + 0.05 * b + 0.2 * c + 0.5 * e + 0.5 * np.sin(f) + 1.2 * noise
            case "weak":
                y = 1.5 * (a > 0.5) + (e > 0) + 3 * noise
            case "steps":
                y = np.round(a) + (b > 30) - np.round(e / 2) + 0.1 * (d > 55) + 1.5 * noise
            case "crossed":
                y = 2 * ((a > 0) & (e > 0)) - 2 * ((a < -0.5) & (c > 6)) + (f > 1) + noise
            case _:
                log_odds = -1 + 1.2 * (a > 0.3) + 1.0 * (b > 25) - 1.0 * ((c > 5) & (e > 0))
                y = np.where(rng.random(n) < 1 / (1 + np.exp(-log_odds)), "yes", "no")
        return {f"c{j}": X[:, j] for j in range(8)}, y

    return draw


def _table(name: str, rng: np.random.Generator) -> Draw:
    table = load(name, 20_000, DATA)
    halves = np.array_split(rng.permutation(len(table.y)), 2)

    def draw(n: int, fresh: bool) -> tuple[dict[str, Any], Any]:
        rows = rng.choice(halves[int(fresh)], n, replace=False)
        X = table.X
        columns = {each: np.asarray(X[each])[rows] for each in X}
        return columns, np.asarray(table.y)[rows]

    return draw


# --- what is measured -----------------------------------------------------------------------------


def measure(case: Case, seed: int) -> tuple[list[RuleOutcome], list[float]]:
    """Return the rules of an analysis, and how many fresh predictions lie in people's ranges."""
    kind = MossClassifier if case.classes else MossRegressor
    X, y = case.draw(case.rows, False)
    model = kind(random_state=seed).fit(X, y)
    fresh = [kind(random_state=100 + i).fit(*case.draw(case.rows, True)) for i in range(FRESH)]
    theirs = [set(key_of_each(each.rules_, "thresholds")) for each in fresh]
    records = {
        name: track_record(model, X, y, refits=REFITS, random_state=seed, **how)
        for name, how in SCHEMES.items()
    }
    rules = model.rules_
    found = {
        name.replace(" ", "_"): [each.found / record.refits for each in record.rules]
        for name, record in records.items()
    }
    outcomes = [
        RuleOutcome(
            case.set,
            case.name,
            case.rows,
            rules.texts[i],
            float(rules.proportion[i]),
            float(np.mean([key in keys for keys in theirs])),
            **{name: values[i] for name, values in found.items()},
        )
        for i, key in enumerate(key_of_each(rules, "thresholds"))
    ]
    inside = []
    for name in SCHEMES:
        ranges = records[name].people_ranges
        taken = {column: values[ranges.rows] for column, values in X.items()}
        predicted = np.stack([each.rules_.predict(taken) for each in fresh])
        within = (ranges.lower <= predicted) & (predicted <= ranges.upper)
        inside.append(float(within.mean()))
    return outcomes, inside


# --- the page -------------------------------------------------------------------------------------


def summary(rows: list[dict[str, str]], column: str) -> list[str]:
    """Return the cells of a line: bias, error, rank correlation, and fresh share by bin."""
    said = np.array([float(row[column]) for row in rows])
    fresh = np.array([float(row["fresh"]) for row in rows])
    places = np.clip(np.digitize(said, BINS) - 1, 0, len(BINS) - 2)
    bins = [
        f"{said[places == b].mean():.2f} → {fresh[places == b].mean():.2f}"
        if (places == b).any()
        else "-"
        for b in range(len(BINS) - 1)
    ]
    error = float(np.sqrt(np.mean((said - fresh) ** 2)))
    rank = float(spearmanr(said, fresh)[0])
    return [f"{np.mean(said - fresh):+.3f}", f"{error:.3f}", f"{rank:.2f}", *bins]


def write_page() -> None:
    """Write the table and the figure of the rows that were measured."""
    with (OUT / "rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    ranges: dict[str, FloatArray] = {}
    with (OUT / "people.csv").open(newline="") as file:
        people = list(csv.DictReader(file))
    how = f"{REFITS} refits of each analysis, and {FRESH} fresh samples of as many rows"
    made = "Made by `python -m research.studies.recurrence`."
    lines = ["# Does k of n predict what fresh samples find?", "", f"{how}. {made}"]
    ends = [f"{low:.1f}-{high:.1f}" for low, high in pairwise(BINS)]
    for which in ("chosen on", "held back"):
        some = [row for row in rows if row["set"] == which]
        sources = len({row["source"] for row in some})
        lines += [
            "",
            f"## {which.capitalize()}: {len(some):,} rules of {sources} sources",
            "",
            f"| said by | bias | error | rank correlation | {' | '.join(ends)} |",
            f"|---|{'---:|' * (3 + len(ends))}",
        ]
        for name in (*SCHEMES, "trees"):
            cells = summary(some, name.replace(" ", "_"))
            lines.append(f"| {name} | {' | '.join(cells)} |")
        chosen = [row for row in people if row["set"] == which]
        ranges[which] = np.array([[float(row[name]) for name in SCHEMES] for row in chosen])
    lines += ["", "## Predictions of fresh analyses within people's 95 % ranges", ""]
    lines += [f"| | {' | '.join(SCHEMES)} |", f"|---|{'---:|' * len(SCHEMES)}"]
    for which, values in ranges.items():
        cells = [f"{value:.1%}" for value in values.mean(axis=0)]
        lines.append(f"| {which} | {' | '.join(cells)} |")
    (OUT / "results.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    draw(rows)


def draw(rows: list[dict[str, str]]) -> None:
    """Draw what fresh samples find against what is said of the rules."""
    from matplotlib.figure import Figure  # noqa: PLC0415  only here

    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    for position, which in enumerate(("chosen on", "held back")):
        axes = figure.add_subplot(1, 2, position + 1)
        some = [row for row in rows if row["set"] == which]
        fresh = np.array([float(row["fresh"]) for row in some])
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for name in (*SCHEMES, "trees"):
            said = np.array([float(row[name.replace(" ", "_")]) for row in some])
            places = np.clip(np.digitize(said, BINS) - 1, 0, len(BINS) - 2)
            known = [b for b in range(len(BINS) - 1) if (places == b).sum() >= 10]
            x = [said[places == b].mean() for b in known]
            label = "tree frequency" if name == "trees" else f"refits: {name}"
            wide = 2.5 if name == "third" else 1.0
            axes.plot(x, [fresh[places == b].mean() for b in known], "o-", lw=wide, label=label)
        axes.set(
            title=f"{which}: {len(some):,} rules",
            xlabel="share of refits (or trees) that found a rule",
            ylabel="share of fresh samples that found it",
            xlim=(-0.02, 1.02),
            ylim=(-0.02, 1.02),
        )
        if position == 0:
            axes.legend(fontsize=8, frameon=False)
    figure.savefig(OUT / "recurrence.png", dpi=150)


def main(repetitions: int = 3) -> None:
    """Measure all cases, and write what was found."""
    OUT.mkdir(parents=True, exist_ok=True)
    outcomes: list[dict[str, Any]] = []
    people: list[dict[str, Any]] = []
    warnings.simplefilter("ignore")
    for seed in range(repetitions):
        for case in cases(1000 + seed):
            found, inside = measure(case, seed)
            outcomes += [asdict(each) for each in found]
            shares = dict(zip(SCHEMES, inside, strict=True))
            people.append({"set": case.set, "source": case.name, "rows": case.rows, **shares})
            sys.stderr.write(f"{seed} {case.set} {case.name} {case.rows}\n")
            for name, content in (("rows.csv", outcomes), ("people.csv", people)):
                _write_csv(OUT / name, content)
    write_page()


def _write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {key: f"{v:.4g}" if isinstance(v, float) else v for key, v in row.items()}
            for row in rows
        )


if __name__ == "__main__":
    if "--page" in sys.argv:
        write_page()
    else:
        main()
