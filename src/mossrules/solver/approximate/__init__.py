"""Good selections quickly, and without a proof: the paper's approximate algorithm."""
