"""Results as frames of whichever library the user has."""

from __future__ import annotations

import importlib.util
from typing import Any, Literal, get_args

import narwhals as nw

from mossrules._common import check_choice
from mossrules.exceptions import MissingDependency

Backend = Literal["pandas", "polars", "pyarrow"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)


def make_frame(columns: dict[str, list[Any]], backend: Backend | None = None) -> Any:
    """Return a frame of the named library, or of the first one that is installed."""
    check_choice("backend", backend, (None, *BACKENDS))
    choices = BACKENDS if backend is None else (backend,)
    # By narwhals, so that no frame library is needed or imported but the one that is asked for.
    columns = {_writable(name): list(map(_writable, values)) for name, values in columns.items()}
    for choice in choices:
        if importlib.util.find_spec(choice) is not None:
            return nw.from_dict(columns, backend=choice).to_native()
    raise MissingDependency(
        f"A frame needs {' or '.join(choices)}, which is not installed; "
        f"run pip install {choices[0]}."
    )


def _writable(value: Any) -> Any:
    """Return text without halves of surrogate pairs, which Arrow refuses; all else as it is."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
