"""Commands run in this process, as a shell would run them."""

from typer.testing import CliRunner

from mossrules import cli

runner = CliRunner()


def run(*arguments):
    """Run a command; an exception that is not a way to exit is one here."""
    result = runner.invoke(cli.app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result
