"""Proofs in files: what a search leaves behind, how it is written, and a checker of its own.

`checking` imports nothing of this package, so that whoever doubts the solver need not trust it.
"""
