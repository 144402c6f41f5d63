"""Classes keep the exact value of their labels, from whatever source."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mossrules import MossClassifier
from mossrules.data.columns import as_vector, make_column
from mossrules.data.labels import read_labels
from mossrules.exceptions import InvalidTarget
from mossrules.model.rulesets import RuleSets

NEIGHBOURS = (2**53, 2**53 + 1)
UNSIGNED = (2**63, 2**63 + 1)


def classes_of(vector):
    """Return the classes of a vector, as Python's own."""
    classes, codes = read_labels(make_column("y", as_vector(vector)), len(vector))
    given = [each.as_py() if isinstance(each, pa.Scalar) else each for each in vector]
    assert classes[codes].tolist() == given
    return classes


@pytest.mark.parametrize("labels", [NEIGHBOURS, UNSIGNED, (-(2**63), 2**63 - 1)], ids=str)
def test_large_whole_numbers_are_classes_of_their_own(labels):
    """Not rounded to floats, and not wrapped around."""
    values = [labels[row % 2] for row in range(6)]
    typed = np.array(values, dtype=np.uint64 if max(values) > 2**63 else np.int64)
    for vector in (
        typed,
        np.array(values, dtype=object),
        pl.Series(typed),
        pa.array(typed),
        pd.Series(typed),
        pd.Series(pd.Categorical(values)),
    ):
        classes = classes_of(vector)
        assert classes.tolist() == list(labels)
        assert classes.dtype.kind in "iu"


def test_numbers_of_more_than_64_bits_are_refused():
    """And floats that may have rounded a whole number, in one sentence each."""
    with pytest.raises(InvalidTarget, match=r"y labels classes by whole .* 64 bits, .* to text"):
        classes_of(np.array([2**70, 1], dtype=object))
    with pytest.raises(InvalidTarget, match="more than 64 bits"):
        classes_of(np.array([2**63, -1], dtype=object))
    with pytest.raises(InvalidTarget, match=r"'y' has labels such as .* from 2\^53 on .* to text"):
        classes_of(np.array([2.0**53, 1.0]))


def test_labels_of_categories_keep_their_type():
    """Whole numbers are such, as in a column of numbers; truth values and text are too."""
    assert classes_of(pd.Series(pd.Categorical([2, 1]))).dtype == np.int64
    assert classes_of(pd.Series(pd.Categorical([True, False]))).dtype == bool
    assert classes_of(pd.Series(pd.Categorical(["b", "a"]))).tolist() == ["a", "b"]


@pytest.mark.parametrize("labels", [NEIGHBOURS, (*UNSIGNED, 1)], ids=str)
def test_fits_of_every_source_know_the_same_classes(labels, tmp_path):
    """In memory, Parquet, Dask and JSON they are exact; CSV, which is read as floats, says so."""
    n = 16 * len(labels)
    frame = pd.DataFrame({"a": np.arange(n) % len(labels)})
    frame["y"] = np.array([labels[row % len(labels)] for row in range(n)], dtype=np.uint64)
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_csv(tmp_path / "a.csv", index=False)
    sources = [frame, pl.from_pandas(frame), tmp_path / "a.parquet"]
    sources.append(dd.from_pandas(frame, npartitions=2))
    for table in sources:
        with dask.config.set(scheduler="synchronous"):
            model = MossClassifier(1, n_trees=4).fit(table, "y")
        assert model.classes_.tolist() == sorted(labels)
        assert model.predict(frame[["a"]]).tolist() == frame["y"].tolist()
        assert model.score(frame, "y") == 1
        rules = type(model.rules_).from_json(model.rules_.to_json())
        known = [*rules] if isinstance(rules, RuleSets) else [rules.outcome]
        assert set(known) <= set(labels)
        assert all(type(label) is int for label in known)
    with pytest.raises(InvalidTarget, match=r"'y' has labels such as .* from 2\^53 on"):
        MossClassifier(1, n_trees=4).fit(tmp_path / "a.csv", "y")
