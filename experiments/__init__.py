"""Measurements behind the library's defaults: `python -m experiments.<name>`."""
