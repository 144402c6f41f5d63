"""Figures: each has its data first, as a frame, and a drawing of exactly that by matplotlib.

Each module has a class `...Display`, made by `from_...` and drawn by `plot(ax)`. What they share,
and the one place where matplotlib is loaded, is `_axes.py`.
"""
