"""The steps of a fit: from rows to candidates, to a solution, to a rule set; no scikit-learn."""
