"""The command line: parses, calls the library, prints. No mathematics here."""

from mossrules.cli._app import app, main
from mossrules.cli.compare import compare
from mossrules.cli.demo import demo
from mossrules.cli.doctor import doctor
from mossrules.cli.fit import fit
from mossrules.cli.frontier import frontier
from mossrules.cli.predict import predict
from mossrules.cli.report import report
from mossrules.cli.stability import stability

__all__ = ["app", "main"]

for command in (demo, fit, predict, frontier, report, stability, compare, doctor):
    app.command()(command)
