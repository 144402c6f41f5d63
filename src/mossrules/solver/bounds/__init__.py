"""Lower bounds on the loss of every selection, and proofs of them that others can check.

A bound must hold whatever the numbers that went into it, good ones or bad: tests try arbitrary
multipliers. `verification.py` checks solutions by definitions and duality, without a search.
"""
