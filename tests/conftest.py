"""What holds for all tests: the same examples in every run, and an interrupt that is heard."""

import os
import signal
import sys
import tomllib
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from hypothesis import settings

# A red run must be red again when it is repeated, so that it can be understood. To look for new
# examples: `HYPOTHESIS_PROFILE=search pytest`. How long one takes says little on a busy machine.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("search", derandomize=False, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# A shell that starts the tests in the background may have it ignored, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Containers often set this. Each process of the tests, and each that they start, would compile all
# sources and rewrite all assertions for itself, which takes longer than most of the tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


@pytest.fixture
def research_commands(monkeypatch):
    """Let the command line find what research adds, also where it is not installed."""
    group = "mossrules.commands"
    project = Path(__file__).parents[1] / "research" / "pyproject.toml"
    declared = tomllib.loads(project.read_text("utf-8"))["project"]["entry-points"][group]
    added = [EntryPoint(name, value, group) for name, value in declared.items()]
    others = metadata.entry_points  # numba asks for its own when it first compiles

    def entry_points(**asked):
        return added if asked.get("group") == group else others(**asked)

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
