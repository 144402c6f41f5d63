"""A compile cache that is damaged, full or not there costs time, and no fit."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mossrules
from mossrules._compiled import KernelCache
from mossrules.cli import doctor

# A small kernel, in a process of its own: what is compiled stays with a process.
KERNEL = """
import numpy as np
from mossrules.patterns import logistic_loss
print(logistic_loss(np.zeros(3), np.ones(3), np.ones(3), np.zeros(3)))
"""


def compiled(folder, **environment):
    """Run a kernel with a cache; return what it prints, and what it says."""
    path = os.pathsep.join([str(Path(mossrules.__file__).parents[1]), *sys.path])
    environment = {"NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": path, **environment}
    ran = subprocess.run(
        [sys.executable, "-c", KERNEL], env={**os.environ, **environment}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return float(ran.stdout), ran.stderr


def test_a_damaged_cache_is_made_again(tmp_path, monkeypatch):
    """Whatever part of it is damaged, with one warning; doctor sees indices that are."""
    expected, said = compiled(tmp_path)
    assert said == ""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    for pattern, content in (("*.nbi", b"garbage"), ("*.nbi", b""), ("*.nbc", b"\x80garbage")):
        paths = list(tmp_path.rglob(pattern))
        assert paths
        for path in paths:
            path.write_bytes(content)
        damaged = doctor._cache()
        assert damaged.state == ("note" if pattern == "*.nbi" else "good")
        assert ("are damaged; they are made again when used, or remove them" in damaged.what) == (
            pattern == "*.nbi"
        )
        value, said = compiled(tmp_path)
        assert value == expected
        assert said.count("CacheWarning: The compile cache in") == 1
        assert "was damaged; what is damaged is removed and made again." in said
    assert compiled(tmp_path) == (expected, "")


def test_a_cache_without_room_is_done_without(tmp_path, monkeypatch):
    """A full disc is told of in a sentence with the remedy, and the kernel runs."""

    def full(*_):
        raise OSError(28, "No space left on device")

    cache = KernelCache.__new__(KernelCache)
    cache._cache_path, cache._impl = str(tmp_path), type("", (), {"filename_base": "k"})()
    monkeypatch.setattr("mossrules._compiled.FunctionCache.save_overload", full)
    said = r"\(No space left on device\): .* or set NUMBA_CACHE_DIR"
    with pytest.warns(mossrules.exceptions.CacheWarning, match=said):
        cache.save_overload(None, None)


def test_without_compiling_kernels_run_as_python(tmp_path):
    """NUMBA_DISABLE_JIT=1, as for debugging."""
    assert compiled(tmp_path, NUMBA_DISABLE_JIT="1")[0] == pytest.approx(compiled(tmp_path)[0])
    assert list(tmp_path.rglob("*.nbi"))
