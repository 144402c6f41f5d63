"""Branch and bound, and the heuristics it starts from."""
