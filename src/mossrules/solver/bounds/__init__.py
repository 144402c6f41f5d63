"""Lower bounds on the loss of every selection, and proofs of them that others can check."""
