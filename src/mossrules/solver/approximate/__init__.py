"""Good selections quickly, and without a proof: the paper's approximate algorithm.

`coordinate_descent.py` follows its path, `repair.py` brings what comes of it to the size and the
floor. Nothing is promised about its gap: the status is HEURISTIC.
"""
