"""The paper's cutting plane: its loop, and one file for each integer solver behind it.

`loop.py` adds cuts until loss and bound meet; `master.py` has the integer program and its units. To
add a solver, write a module beside `highs.py`, and name it in `loop.py` and in `solver/options.py`.
"""
