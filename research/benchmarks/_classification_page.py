"""The page of `classification`: one table of all learners, and one of what it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from research.harness.reports import Row

INTRODUCTION = """\
# Classifiers side by side

AUC / log-loss / Dice on six tables of PMLB, means over folds that are the
same for all learners. `python -m research.benchmarks classification` measures it and writes this
page beside its results. Dice is the agreement of the rules of any two folds; what has no rules, or
not few, has none. AUC and Dice are better if larger, the log-loss if smaller; **bold** is the best
of the learners with at most {max_rules} rules.
"""
NOTES = """\
* **Settings.** At most {max_rules} rules, {n_trees} trees of depth 2, 8 bins, half of the columns
  at each split; MOSS as in the paper (`defaults.PAPER_WAY`) at "high", "medium" and "low", to a gap
  of {gap:.0%}. MOSS, SIRUS and RuleFit choose from one pool of candidates for
  each fold; GLRM generates its rules itself.
* **Tables.** The phone number of churn is an identifier, and was dropped. Categories of adult and
  credit_approval_germany are integer codes; they are read as categories (as dummies in logistic
  regression, by code in the forest). All else is numbers.
* **Beside the rules.** Logistic regression with scaled numbers and scikit-learn's defaults; EBM,
  the explainable boosting machine of interpret with 4 bags and 10 interactions (its defaults, 14
  and three for each column, take minutes for a fold of the smallest table), on as many of the folds
  as it finishes in {ebm_seconds:g} s; a forest of {full_trees} full trees, a black box, to see what
  can be had at all.
* **Log-loss of SIRUS.** It averages rates of its rules, as published, and such means are never far
  from the rate of all rows. It ranks rows well, but its probabilities are too cautious.
* **Measured** at commit {commit} with Python {python} and scikit-learn {sklearn}, on {cpus} cores
  that other work shared: seconds tell no more than the order of size.
"""
DETAIL = (
    "Standard errors of AUC / log-loss; rules of a fold; median seconds of a fold; and how many "
    "choices ran out of time before their gap was proven."
)


def page(rows: Sequence[Row], settings: Mapping[str, Any], made_with: Mapping[str, Any]) -> str:
    """Return the page as text."""
    tables = list(dict.fromkeys(row["table"] for row in rows))
    learners = list(dict.fromkeys(row["learner"] for row in rows))
    found = {(row["table"], row["learner"]): row for row in rows}
    heading = [f"{table} ({folds_of(rows, table)} folds)" for table in tables]
    best = {table: best_of([row for row in rows if row["table"] == table]) for table in tables}

    def line(learner: str, cell: Any) -> str:
        cells = [cell(found.get((table, learner)), table) for table in tables]
        return f"| {learner} | {' | '.join(cells)} |"

    figures = {
        **settings,
        "commit": (made_with["commit"] or "unknown")[:10],
        "python": made_with["python"],
        "sklearn": made_with["packages"]["scikit-learn"],
        "cpus": made_with["cpus"],
    }
    rule = "|---" * (len(tables) + 1) + "|"
    lines = [INTRODUCTION.format(**figures)]
    lines += [f"| learner | {' | '.join(heading)} |", rule]
    lines += [
        line(each, lambda row, table: main_cell(row, best[table], folds_of(rows, table)))
        for each in learners
    ]
    lines += ["", NOTES.format(**figures), *failures(rows)]
    lines += ["## Standard errors, sizes and times", ""]
    lines += [
        "Standard errors of AUC / log-loss; rules of a fold; median seconds of a fold; and",
        "",
    ]
    lines[-2] += " how many choices ran out of time before their gap was proven."
    lines += [f"| learner | {' | '.join(tables)} |", rule]
    lines += [line(each, lambda row, _: detail_cell(row)) for each in learners]
    return "\n".join(lines) + "\n"


def folds_of(rows: Sequence[Row], table: str) -> int:
    """Return how many folds a table was measured on."""
    return int(max(row["folds"] for row in rows if row["table"] == table))


def best_of(rows: Sequence[Row]) -> dict[str, float]:
    """Return the best figures of learners with rules, as they are printed."""
    ruled = [row for row in rows if row["failure"] is None and row["dice"] is not None]
    if not ruled:
        return {}
    return {
        "auc": round(max(row["auc"] for row in ruled), 3),
        "log_loss": round(min(row["log_loss"] for row in ruled), 3),
        "dice": round(max(row["dice"] for row in ruled), 2),
    }


def main_cell(row: Row | None, best: Mapping[str, float], folds: int) -> str:
    """Return AUC / log-loss / Dice; of fewer folds than others have, it says of how many."""
    if row is None or row.get("auc") is None:
        return "not measured"
    parts = []
    for what, places in (("auc", 3), ("log_loss", 3), ("dice", 2)):
        if row[what] is None:
            continue
        text = f"{row[what]:.{places}f}"
        is_best = row["dice"] is not None and round(row[what], places) == best.get(what)
        parts.append(f"**{text}**" if is_best else text)
    few = f" ({row['folds']} folds)" if row["folds"] < folds else ""
    return " / ".join(parts) + few


def detail_cell(row: Row | None) -> str:
    """Return standard errors, size and seconds."""
    if row is None or row.get("auc") is None:
        return ""
    parts = [f"{row['auc_se']:.3f} / {row['log_loss_se']:.3f}"]
    if row["dice"] is not None:
        parts.append(f"{row['n_rules']:.3g} rules")
    parts.append(f"{row['seconds']:.2g} s")
    if row.get("unproven"):
        parts.append(f"{row['unproven']} not proven")
    return "; ".join(parts)


def failures(rows: Sequence[Row]) -> list[str]:
    """Return a sentence for each learner that could not be measured on some tables."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["failure"] is not None:
            found.setdefault((row["learner"], row["failure"]), []).append(row["table"])
    lines = [f"* {learner} on {', '.join(of)}: {why}" for (learner, why), of in found.items()]
    return ["## Not measured", "", *lines, ""] if lines else []
