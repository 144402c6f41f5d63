"""Compiled loops: arrays in, arrays out, no Python objects, no knowledge of the layers above.

Every kernel releases the GIL, so that chunks of rows run on plain threads, and is cached on disk,
so that only the first run after an installation compiles.
All sums over rows are sums of integers: exact, and so the same in any order.
"""
