"""Compiled loops of the solver; called by position, none of them allocates per rule or node.

The state they share is in `state.py`: a node, its workspace, counters. Data and nodes are tuples of
arrays, since numba compiles again for each new type. The order in which numbers are added is part
of the result: a change that reorders a sum changes last bits, and golden results tell.
"""
