"""`mossrules verify`: check a proof that `fit --proof` has written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mossrules import _late as late
from mossrules.cli import _options as options
from mossrules.cli._output import print_json, print_line, print_plain
from mossrules.exceptions import InvalidFile

__all__ = ["checked_proof", "verify"]


def verify(
    proof: Annotated[
        Path, typer.Argument(help="A proof that fit has written.", show_default=False)
    ],
    model: Annotated[
        Path | None,
        typer.Argument(
            help="The rule set that the proof should be of, as fit has written it.",
            show_default=False,
        ),
    ] = None,
    *,
    exact: Annotated[
        bool, typer.Option("--exact", help="Compute in rational numbers; takes about ten times.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Check a proof without the solver; the exit status is 1 if it does not prove what it claims.

    With a rule set, also that its rules are among those that the proof is of. Whether the numbers
    in a proof are those of a table, fit can say of that table.
    """
    rules = None if model is None else late.rulesets.read_model(model)
    found = checked_proof(proof, exact=exact)
    missing = [] if rules is None else rules_missing(rules, found)
    if missing:
        raise InvalidFile(
            f"{proof} is proven, but not of {model}: its rule {missing[0]!r} is none of the rule "
            "set in the proof."
        )
    if as_json:
        claims = [
            {
                "min_stability": claim.min_stability,
                "bound": claim.bound,
                "loss": claim.loss,
                "rules": len(claim.support),
                "records": claim.records,
            }
            for claim in found.claims
        ]
        print_json({"proven": True, "exact": found.exact, "claims": claims})
        return
    print_plain(str(found))
    if model is not None:
        print_line(f"All rules of {model.name} are among those of the rule set in the proof.")


def checked_proof(path: Path, problem: Any = None, *, exact: bool = False) -> late.solver.Proof:
    """Return what a file proves, of a problem if one is given."""
    try:
        return late.solver.check_proof(path, problem, exact=exact)
    except late.solver.ProofRefused as refused:
        raise InvalidFile(f"{path} is no proof: {refused}") from refused


def rules_missing(
    rules: late.model.RuleSet | late.model.RuleSets, proof: late.solver.Proof
) -> list[str]:
    """Return the rules of a rule set that the proof's first claim does not have."""
    if "names" not in proof.header:
        raise InvalidFile("The proof has no texts of rules, so nothing can be said of the model.")
    if not isinstance(rules, late.model.RuleSet):
        raise InvalidFile("The model is of several classes, and proofs are of numbers.")
    names = dict(zip(proof.kept, proof.header["names"], strict=True))
    chosen = {names[i] for i in proof.claims[0].support}
    return [text for text in rules.texts if text not in chosen]
