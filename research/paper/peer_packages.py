"""Learners of other packages, and how to have them measured.

Nothing is installed here. A peer is looked for in the interpreters that the environment variable
MOSSRULES_PEERS names (separated as in PATH), and then in this one.
"""

from __future__ import annotations

from dataclasses import dataclass

from research.harness.processes import interpreter_with

__all__ = ["PEERS", "SCRIPT", "VARIABLE", "Peer"]

VARIABLE = "MOSSRULES_PEERS"
SCRIPT = "peer_folds.py"  # of harness/children


@dataclass(frozen=True)
class Peer:
    """A learner of another package."""

    key: str  # in the script
    module: str
    package: str  # to install
    how: str  # it is kept to so many rules

    @property
    def remedy(self) -> str:
        """How to have it measured."""
        return (
            f"No interpreter has {self.module}; pip install {self.package} into an environment and "
            f"put its python into {VARIABLE}."
        )

    def interpreter(self) -> str | None:
        """Return the first interpreter that has it."""
        return interpreter_with(self.module, VARIABLE)


PEERS = {
    "SIRUS (PyPI)": Peer("sirus", "sirus", "sirus", "`num_rules`; rules of weight 0 are none"),
    "RuleFit (imodels)": Peer(
        "rulefit", "imodels", "imodels", "`max_rules`, which counts linear terms too"
    ),
    "RuleFit, rules only (imodels)": Peer(
        "rulefit-rules", "imodels", "imodels", "`max_rules`, with `include_linear=False`"
    ),
    "FIGS (imodels)": Peer(
        "figs", "imodels", "imodels", "`max_rules`, which counts splits; its leaves are the rules"
    ),
    "EBM (interpret)": Peer("ebm", "interpret", "interpret-core", "no rules: curves, a ceiling"),
}
