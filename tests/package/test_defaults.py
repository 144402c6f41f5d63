"""Defaults have one home, and what is written about them agrees with it."""

import ast
import inspect
import re

import pytest

from mossrules import MossClassifier, MossRegressor, baselines, defaults, find_candidates
from mossrules.estimators import search_parameters
from mossrules.learning.fit import SEARCH as SEARCH_DEFAULTS

MOSS = [MossRegressor, MossClassifier]
CLASSES = [*MOSS, *(getattr(baselines, name) for name in baselines.__all__)]
SEARCH = ("n_trees", "max_depth", "n_bins", "cuts", "max_features", "inner_nodes", "max_overlap",
          "min_coverage", "min_tree_frequency", "generator", "max_candidates")  # fmt: skip
# What baselines and `find_candidates` have of their own.
PLAIN = {
    "n_trees": defaults.PLAIN_TREES,
    "n_bins": defaults.PLAIN_BINS,
    "cuts": defaults.PLAIN_CUTS,
    "max_features": defaults.PLAIN_MAX_FEATURES,
    "inner_nodes": False,
    "max_overlap": None,
    "min_coverage": 0,
}


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_docstrings_name_the_defaults_of_the_signature(kind):
    """Each "default=" in the docstring of an estimator is the value that its constructor has."""
    told = re.findall(r"^    (\w+) : .*, default=(.+)$", kind.__doc__, re.MULTILINE)
    parameters = inspect.signature(kind).parameters
    assert {name: ast.literal_eval(value) for name, value in told} == {
        name: parameters[name].default for name, _ in told
    }


@pytest.mark.parametrize("kind", [*CLASSES, find_candidates], ids=lambda kind: kind.__name__)
def test_candidates_are_looked_for_by_one_set_of_defaults_or_the_plain_one(kind):
    """MOSS has the defaults that were chosen for it; all else has those of rules as trees are."""
    shared = {name: getattr(defaults, name.upper()) for name in SEARCH}
    wanted = shared if kind in MOSS else {**shared, **PLAIN}
    parameters = inspect.signature(kind).parameters
    found = {name: parameters[name].default for name in SEARCH if name in parameters}
    assert {"n_trees", "max_depth", "n_bins", "max_features"} <= set(found)
    assert found == {name: wanted[name] for name in found}


@pytest.mark.parametrize("kind", MOSS, ids=lambda kind: kind.__name__)
def test_moss_chooses_by_its_defaults(kind):
    """What has a default in `defaults` has that one, and `candidates_for` finds what `fit` does."""
    parameters = inspect.signature(kind).parameters
    known = {name: getattr(defaults, name.upper(), None) for name in parameters}
    named = {name: value for name, value in known.items() if value is not None}
    assert named.pop("stability") == kind().settings().stability  # goes with the floor
    assert {"floor", "directions", "shrinkage", "gap", "time_limit"} <= set(named)
    assert {name: parameters[name].default for name in named} == named
    searched = search_parameters(kind())
    assert {name: searched[name] for name in SEARCH_DEFAULTS} == SEARCH_DEFAULTS


@pytest.mark.parametrize("kind", MOSS, ids=lambda kind: kind.__name__)
def test_the_papers_parameters_are_parameters_of_moss(kind):
    """All of them can be given, and those without a number are among them."""
    model = kind(**defaults.PAPER)
    assert {name: getattr(model, name) for name in defaults.PAPER} == dict(defaults.PAPER)
    assert defaults.PAPER_WAY.items() <= defaults.PAPER.items()
