"""Lower bounds, and proofs of them that others can check."""
