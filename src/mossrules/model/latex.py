"""Rule sets as LaTeX tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mossrules.model.formatting import header, table_rows

if TYPE_CHECKING:
    from mossrules.model.ruleset import RuleSet

__all__ = ["to_latex"]

# What means something to LaTeX.
ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<=": r"$\leq$",
    "<": "$<$",
    ">": "$>$",
    " ": r"\ ",  # the first of two, which would be set as one
}
# The last two are signs that LaTeX would join with the next one.
SPECIAL = re.compile(r"<=|[\\{}$&#%_~^|<>]| (?= |$)|^ |([-',])(?=\1)|[`?!](?=`)")


def to_latex(ruleset: RuleSet) -> str:
    r"""Return a tabular; the document needs \usepackage{booktabs}."""
    lines = [
        r"\begin{tabular}{rrrl}",
        r"\toprule",
        " & ".join(header(ruleset)) + r" \\",
        r"\midrule",
    ]
    for row in table_rows(ruleset):
        cells = f"${row.weight}$", escape(row.support), escape(row.proportion), escape(row.rule)
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def escape(text: str) -> str:
    """Return text that LaTeX sets as it is."""
    return SPECIAL.sub(lambda found: ESCAPES.get(found[0], found[0] + "{}"), text)
