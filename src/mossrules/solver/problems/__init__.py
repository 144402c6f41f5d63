"""What is to be solved: the conditions of a rule set, and a loss."""
