"""Compiled loops of the solver; called by position, none of them allocates per rule or node."""
