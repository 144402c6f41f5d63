"""Branch and bound, and the heuristics it starts from.

`state.py` has the loop, limits, progress and the tolerance, the same for both losses;
`branch_and_bound.py` and `logistic.py` relax and branch for one each, `group_branching.py` where
there are limits on rules or groups. `instance.py` stands between problems and kernels.
"""
