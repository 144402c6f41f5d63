"""Any table, file or Dask collection to rows: each input is opened and checked once.

`rows.py` is what the other rooms see: one `Rows`, whatever it was made from. Only `columns.py` and
`table.py` know frame libraries, only `files/` knows formats, only `dask_partitions.py` knows Dask.
`checks/` looks at a table before anything is learned from it. What works on rows is a fold
(`chunks.py`) whose parts may come in any order; `canonical_order.py` and `fixed_point.py` are why
that changes no result.
"""

from mossrules.data.checks import ColumnCheck, Finding, Severity, TableCheck, check
from mossrules.data.files import read_file, scan_files

__all__ = [
    "ColumnCheck",
    "Finding",
    "Severity",
    "TableCheck",
    "check",
    "read_file",
    "scan_files",
]
