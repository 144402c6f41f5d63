"""Benchmarks: each figure compares the library with a reference in one run.

They use the library from outside; nothing imports them.
"""
