"""Certificates in plain words."""

from __future__ import annotations

from mossrules.display.report.data import CertificateSummary
from mossrules.solver import Solution, Status

__all__ = ["certificate_of"]


def certificate_of(solution: Solution, max_rules: int) -> CertificateSummary:
    """Return how good a choice of at most so many rules is known to be."""
    return CertificateSummary(
        status=solution.status.value,
        gap=solution.gap,
        asked=solution.report.asked_gap,
        bound=solution.bound,
        seconds=solution.report.seconds,
        method=solution.report.method,
        sentence=_sentence(solution, max_rules),
    )


def _sentence(solution: Solution, max_rules: int) -> str:
    rivals = f"no other choice of at most {max_rules} of the candidate rules that is as stable"
    if solution.status is Status.OPTIMAL and not solution.gap > 0:
        return f"Proven: {rivals} has a smaller loss."
    if solution.status is Status.OPTIMAL:
        return f"Proven: {rivals} has a loss that is smaller by more than {solution.gap:.2%}."
    if solution.status is Status.HEURISTIC:
        return (
            f"Not proven: these rules come from an approximate method ({solution.report.method}), "
            "and others may fit better."
        )
    return (
        f"Not proven: the search ended early ({solution.status.value}, after "
        f"{solution.report.seconds:.1f} s); another choice may have a loss that is smaller by up "
        f"to {solution.gap:.2%}."
    )
