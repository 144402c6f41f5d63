"""Contents of reports made by hand: small, without a fit, and as hostile as wanted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mossrules.display.report.data import (
    BaselinePoint,
    CertificateSummary,
    ColumnSummary,
    EvaluatedSummary,
    ReportData,
    ReportPoint,
    ReportRule,
    TargetSummary,
)

HOSTILE = '<i id="evil" onload=alert(1)>\'&</script></td>{{ 7*7 }}\u202e\u2028!'


def made_report(
    n_points: int = 4, n_rules: int = 3, *, spice: str = "", **changes: Any
) -> ReportData:
    """Return a report with all parts; `spice` is part of everything that comes from a user."""
    size, red = f"size{spice}", f"red{spice}"
    rules = [
        ReportRule(
            text=f"{size} > {i} and colour{spice} is {red}",
            support=0.3,
            proportion=0.8 / (i + 1),
            tests=(
                {
                    "feature": size,
                    "above": float(i),
                    "most": None,
                    "missing": False,
                    "present": True,
                },
                {"feature": f"colour{spice}", "levels": [red], "inside": True},
            ),
        )
        for i in range(n_rules + 1)
    ]
    points = [_point(i, n_points, n_rules, spice) for i in range(n_points)]
    found = ReportData(
        title=f"Title{spice}",
        target=f"target{spice}",
        outcome=None,
        link="identity",
        score="R2",
        made={
            "date": "2026-11-16T15:40:00Z",
            "seconds": 3.25,
            "mossrules": "0.1.0",
            "python": "3.11.7",
            "packages": {"numpy": "2.3.4"},
            "commit": "abc1234",
            "source": f"data{spice}.csv",
            "sha256": "9f86d0",
            "command": f"mossrules report data{spice}.csv",
        },
        settings=[("constraints", f"[AtMost{spice}]"), ("random_state", "0")],
        rows=1234,
        columns=_columns(spice),
        rules=rules,
        points=points,
        chosen=n_points // 2,
        knee=0,
        advised=n_points - 1,
        folds=10,
        target_summary=TargetSummary("number", 12.5, 3.0, (1.0, 2.0, 3.0, 4.0, 5.0)),
        baselines=[
            BaselinePoint(f"SIRUS{spice}", 0.4, 0.02, 0.7, 0.6, 0.8, 15.0, f"What{spice}."),
            BaselinePoint("FIRE", 0.41, 0.02, None, None, None, None),
        ],
    )
    return replace(found, **changes)


def as_classifier(report: ReportData) -> ReportData:
    """Return the report of a model that predicts a probability."""
    return replace(
        report,
        link="logit",
        outcome=f"yes{HOSTILE}",
        score="share of log-loss explained",
        target_summary=TargetSummary("class", share=0.31),
    )


def without_rows(report: ReportData) -> ReportData:
    """Return a report of a model alone: neither a summary of rows nor a cross-validation."""
    columns = [ColumnSummary(each.name, each.kind, each.used) for each in report.columns]
    points = [replace(each, training=None, found=None, evaluated=None) for each in report.points]
    summary = TargetSummary("number", 12.5, 3.0)
    return replace(
        report,
        columns=columns,
        points=points,
        target_summary=summary,
        advised=None,
        folds=None,
        baselines=(),
    )


def without_rules(report: ReportData) -> ReportData:
    """Return a report of a model that found nothing: one point, without rules."""
    point = replace(report.points[0], rules=(), weights=(), found=(), stability=0.0, explained=0.0)
    columns = [replace(each, used=False) for each in report.columns]
    return replace(
        report, rules=[], points=[point], columns=columns, chosen=0, knee=None, advised=0
    )


def _point(i: int, n_points: int, n_rules: int, spice: str) -> ReportPoint:
    part = i / max(1, n_points - 1)
    status = "optimal" if i % 3 else "time limit"
    return ReportPoint(
        stability=1.0 - 0.5 * part,
        explained=0.3 + 0.2 * part,
        loss=20.0 - part,
        intercept=12.5,
        rules=tuple(range(n_rules)) if i % 2 else tuple(range(1, n_rules + 1)),
        weights=tuple((-1.0) ** k * (n_rules - k + 0.25) for k in range(n_rules)),
        certificate=CertificateSummary(
            status, 0.0004, 0.001, 12.2, 0.02, "branch-and-bound", f"Sentence {i}."
        ),
        exports={name: f"{name}{spice}" for name in ("text", "sql", "python", "json")},
        training=0.32 + 0.2 * part,
        found=tuple(range(n_rules)),
        evaluated=EvaluatedSummary(0.3 + 0.1 * part, 0.02, 0.8 - 0.3 * part, 0.4, 0.9, 2.5, 0),
    )


def _columns(spice: str) -> list[ColumnSummary]:
    levels = ((f"red{spice}", 0.6), (f"blue{spice}", 0.3))
    return [
        ColumnSummary(f"size{spice}", "numeric", True, 0.1, (1.0, 2.0, 3.0, 4.0, 5.0), typical=3.0),
        ColumnSummary(
            f"colour{spice}",
            "categorical",
            True,
            0.0,
            levels=levels,
            others=0.1,
            typical=f"red{spice}",
            choices=(f"blue{spice}", f"red{spice}", 1.0, True),
        ),
        ColumnSummary("smoker", "boolean", True, 0.0, levels=((True, 0.2),), typical=True),
        ColumnSummary(f"unused{spice}", "numeric", False, 0.0),
    ]
