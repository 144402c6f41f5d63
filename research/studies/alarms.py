"""How often does `check` cry wolf? What it finds in tables that others have cleaned.

Tables are those of OpenML and PMLB that experiments use, as far as they are there, and those of
scikit-learn. Run `python -m research.studies.alarms`, and judge each line by what is known of the
table; docs/check.md says how that went.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterator

from sklearn import datasets

from mossrules.data import TableCheck, check
from mossrules.exceptions import MixedColumnWarning
from research.harness.clone import DATA

CLASSES = ("load_iris", "load_wine", "load_breast_cancer", "load_digits")
NUMBERS = ("load_diabetes", "load_linnerud")


def checks() -> Iterator[tuple[str, TableCheck]]:
    """Yield each table's name and what was found."""
    for folder, of_classes in (("openml", None), ("pmlb_classification", True)):
        for path in sorted((DATA / folder).glob("*.csv.gz")):
            yield path.name, check(path, "target", of_classes=of_classes)
    for name in (*CLASSES, *NUMBERS):
        table = getattr(datasets, name)(as_frame=True)
        y = table.target if table.target.ndim == 1 else table.target.iloc[:, 0]
        yield name, check(table.data, y, of_classes=name in CLASSES)


def lines() -> Iterator[str]:
    """Yield a line for each table, and one for each finding but notes, which are counted."""
    columns = 0
    totals: Counter[str] = Counter()
    for name, found in checks():
        notes = Counter(each.kind for each in found.notes)
        columns += len(found.columns) - 1
        totals.update(f"{each.severity}: {each.kind}" for each in found.findings)
        counted = ", ".join(f"{number} {kind}" for kind, number in notes.items())
        about = f"{found.rows} rows, {len(found.columns) - 1} features"
        yield f"{name}: {about}; notes: {counted or '-'}"
        for each in (*found.wrong, *found.suspect):
            yield f"    {each.severity}: {each.sentence()}"
    yield f"{columns} features in all"
    yield from (f"{number} {kind}" for kind, number in sorted(totals.items()))


if __name__ == "__main__":
    warnings.simplefilter("ignore", MixedColumnWarning)  # it is among what is found
    for line in lines():
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
