"""Measurements behind the library's defaults: `python -m research.studies.<name>`."""
