"""Nothing that a fit, a search or a command gives may change: see `support.golden`."""

import os

import pytest

from support import golden

EXACT = os.environ.get("MOSSRULES_GOLDEN") == "exact"


@pytest.mark.parametrize("name", golden.CASES)
def test_the_figures_of_a_case_are_those_that_were_kept(name):
    """Rules, counts and texts are the same, and numbers are up to the rounding of machines."""
    try:
        found = golden.figures(name)
    except ModuleNotFoundError as missing:  # an extra, and never a part of the package itself
        if missing.name is None or missing.name.partition(".")[0] in ("mossrules", "support"):
            raise
        pytest.skip(f"{missing.name} is not installed")
    different = golden.differences(golden.read()[name], found, exact=EXACT, place=name)
    assert list(different) == []


def test_every_case_is_kept():
    """No case is without figures, and no figures are without a case."""
    assert sorted(golden.read()) == sorted(golden.CASES)


def test_differences_are_found_and_told():
    """Rounding is forgiven unless everything is asked for; text and whole numbers never are."""
    # "effort" and "floats:" digests are looked at in exact comparisons alone.
    kept = {"text": "a", "count": 3, "x": (0.1).hex(), "all": "floats:1", "effort": 7, "old": 1}
    found = {"text": "a", "count": 3, "x": (0.1).hex(), "all": "floats:1", "effort": 7}
    near = {**found, "old": 1, "x": (0.10000000000001).hex(), "all": "floats:2", "effort": 8}
    other = {**found, "old": 1, "text": "b", "count": 4, "x": (0.2).hex()}
    assert list(golden.differences(kept, found, exact=True)) == ["/old: only in what was kept"]
    assert list(golden.differences(kept, near, exact=False)) == []
    assert len(list(golden.differences(kept, near, exact=True))) == 3
    assert len(list(golden.differences(kept, other, exact=False))) == 3
    assert list(golden.differences(1, True, exact=False)) == [": kept 1, found True"]
