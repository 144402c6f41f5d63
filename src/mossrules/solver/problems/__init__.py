"""What to select and at what loss: the plain definitions, which every answer is checked against.

`selection.py` says what may be selected, `squared.py` and `logistic.py` at what loss. Problems are
frozen; nothing here is tuned for speed, since all that is faster is tested against it.
"""
