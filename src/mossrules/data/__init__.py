"""Any table, file or Dask collection to rows: each input is opened and checked once."""

from mossrules.data.files import read_file, scan_files

__all__ = ["read_file", "scan_files"]
