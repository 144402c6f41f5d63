"""The steps of a fit: from rows to candidates, to a choice, to a rule set."""
