"""Compiled kernels, whose cache may be damaged or have no room: then they are compiled anew.

numba keeps what it has compiled in files. It trusts them: half a file, left by a full disc or a
crash, would be an error of pickle at every later start, and a disc without room one at the first.
Neither is a reason not to fit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache

from mossrules.exceptions import CacheWarning, warn_user

__all__ = ["KernelCache", "njit"]

REMEDY = (
    "kernels are compiled at each start, which takes a minute; make room, or set NUMBA_CACHE_DIR "
    "to a folder of yours"
)


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return `numba.njit` with a cache that never stands in the way."""

    def compiled(function: Callable[..., Any]) -> Any:
        kernel = numba.njit(**{**options, "cache": False})(function)
        if options.get("cache") and hasattr(kernel, "enable_caching"):  # not with JIT disabled
            try:
                kernel._cache = KernelCache(function)  # noqa: SLF001  as `enable_caching` does
            except RuntimeError:  # there is no folder to write to, and `doctor` says so
                kernel._cache = numba.core.caching.NullCache()  # noqa: SLF001
        return kernel

    return compiled


class KernelCache(FunctionCache):  # type: ignore[misc]  # numba has no types
    """A cache of one kernel: what cannot be read is removed, and what cannot be kept is not."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled for a signature; None where it has to be compiled."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as reason:  # noqa: BLE001  pickle raises anything for bytes that are not its own
            self._start_again(reason)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if there is room."""
        try:
            super().save_overload(sig, data)
        except Exception as reason:  # noqa: BLE001  an index may be damaged, or the disc full
            self._start_again(reason)

    def _start_again(self, reason: Exception) -> None:
        folder = Path(self.cache_path)
        what = f"The compile cache in {folder} "
        try:
            for path in folder.glob(f"{self._name_of_files}*.nb[ic]"):
                path.unlink()
        except OSError as failure:
            reason = failure
        why = getattr(reason, "strerror", None)
        _warn_once(
            f"{what}was damaged; what is damaged is removed and made again."
            if why is None
            else f"{what}cannot be used ({why}): {REMEDY}."
        )

    @property
    def _name_of_files(self) -> str:
        return str(self._impl.filename_base)


@cache
def _warn_once(sentence: str) -> None:
    """Warn, but not of each of a hundred kernels."""
    warn_user(sentence, CacheWarning)
