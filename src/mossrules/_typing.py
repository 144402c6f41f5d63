"""Array aliases, so that a signature says what an array holds."""

from typing import Any

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
CodeArray = npt.NDArray[np.uint8]  # bin codes, one row per column of the table: (columns, rows)
BitArray = npt.NDArray[np.uint64]  # packed bits, 64 rows of data per word: (sets, words)
AnyArray = npt.NDArray[Any]
