"""The paper's outer approximation, with the integer solvers of others."""
