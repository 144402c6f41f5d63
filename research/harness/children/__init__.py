"""Scripts for interpreters that have other packages; see `processes.ask`.

They are started as files and not imported, as mossrules is not installed where they run.
"""
