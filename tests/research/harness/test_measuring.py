import numpy as np
import pytest

from research.harness.measuring import PeakMemory
from research.harness.reports import Skipped


def test_peak_memory_sees_what_is_allocated():
    """An array of 32 MB shows, though it is gone at the end."""
    try:
        with PeakMemory() as peak:
            np.ones(4_000_000)
    except Skipped as reason:
        pytest.skip(str(reason))
    assert 30 < peak.grown < 60
