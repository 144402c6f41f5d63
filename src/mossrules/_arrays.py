"""Arguments that are to be arrays of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mossrules._typing import AnyArray
from mossrules.exceptions import InvalidParameter

__all__ = ["number_array"]


def number_array(name: str, values: Any) -> AnyArray:
    """Return values as an array of numbers or truth values, in their type if they have one."""
    try:
        array = np.asarray(values)
        return array if array.dtype.kind in "biuf" else np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as reason:
        raise InvalidParameter(
            f"{name} is of type {type(values).__name__}; pass an array of numbers."
        ) from reason
