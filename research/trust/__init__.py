"""The trust table over the paper's tables, and six of classes: `python -m research.trust`."""
