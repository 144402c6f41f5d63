"""Defaults have one home, and what is written about them agrees with it."""

import ast
import inspect
import re

import pytest

from mossrules import MossClassifier, MossRegressor, baselines, defaults, find_candidates

CLASSES = [MossRegressor, MossClassifier, *(getattr(baselines, name) for name in baselines.__all__)]
SHARED = ("n_trees", "max_depth", "n_bins", "max_features")


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_docstrings_name_the_defaults_of_the_signature(kind):
    """Each "default=" in the docstring of an estimator is the value that its constructor has."""
    told = re.findall(r"^    (\w+) : .*, default=(.+)$", kind.__doc__, re.MULTILINE)
    parameters = inspect.signature(kind).parameters
    assert {name: ast.literal_eval(value) for name, value in told} == {
        name: parameters[name].default for name, _ in told
    }


@pytest.mark.parametrize("kind", [*CLASSES, find_candidates], ids=lambda kind: kind.__name__)
def test_all_look_for_candidates_alike(kind):
    """Estimators and `find_candidates` have the same defaults for what decides on candidates."""
    parameters = inspect.signature(kind).parameters
    for name in SHARED:
        assert parameters[name].default == getattr(defaults, name.upper())
