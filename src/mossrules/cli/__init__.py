"""The command line: parses, calls the library, prints. No mathematics here.

Each command has a module of its name, which holds its options, what it prints and its JSON. What
several commands share is in `_options` (options), `_learning` (from a file to a model) and
`_output` (printing, tables, figures). Heavy modules are loaded when used, by `mossrules._late`.
"""

from mossrules.cli import (
    check,
    compare,
    demo,
    diff,
    doctor,
    fit,
    frontier,
    performance,
    predict,
    report,
    stability,
    verify,
)
from mossrules.cli._app import app, main

__all__ = ["app", "main"]

for command in (  # in the order in which help lists them
    demo.demo,
    check.check,
    fit.fit,
    predict.predict,
    diff.diff,
    verify.verify,
    frontier.frontier,
    report.report,
    stability.stability,
    compare.compare,
    performance.performance,
    doctor.doctor,
):
    app.command()(command)
