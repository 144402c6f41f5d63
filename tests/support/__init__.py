"""What tests share: oracles, examples, readers of what was written."""

import os
from pathlib import Path

TESTS = Path(__file__).parents[1]


def environment(**variables):
    """Return the environment of a program of our own, which finds this package and research too."""
    # The root comes first: tests/research is no package of that name.
    path = os.pathsep.join(filter(None, [str(TESTS.parent), str(TESTS), os.getenv("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, **variables}
