"""Small tables in a folder, as experiments read them."""

import csv
import gzip

import numpy as np

from research.paper.datasets import NUMBERS_OF

__all__ = ["write_tables"]


def write_tables(folder, *names, n_rows=120, missing=(), substitutes=()):
    """Write generated tables under the names of some of the paper's."""
    rng = np.random.default_rng(0)
    with (folder / "INDEX.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "name", "matches_paper"])
        for name in names:
            match = "no: substitute" if name in substitutes else "yes"
            writer.writerow([NUMBERS_OF[name], f"{name}_here", match])
    for name in names:
        X = rng.normal(size=(n_rows, 3))
        y = 2.0 * (X[:, 0] > 0) + (X[:, 1] > 0.5) * (X[:, 2] < 0.3) + 0.3 * rng.normal(size=n_rows)
        place = rng.choice(["north", "south"], n_rows)
        with gzip.open(folder / f"{NUMBERS_OF[name]}_{name}_here.csv.gz", "wt", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["size", "age", "height", "place", "target"])
            for row, (values, where, target) in enumerate(zip(X, place, y, strict=True)):
                cells = [f"{value:.6f}" for value in values]
                if name in missing and row % 9 == 0:
                    cells[0] = ""
                writer.writerow([*cells, where, f"{target:.6f}"])
    return folder
