"""Cut points of one's own and of earlier analyses: what is done with them, and what is refused."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from mossrules import MossClassifier, MossRegressor, defaults, find_candidates
from mossrules.candidates.cut_points import read_cuts
from mossrules.candidates.cuts import BinnedColumn, Binning, fit_binning
from mossrules.data.columns import Kind
from mossrules.data.rows import Rows
from mossrules.data.table import Table
from mossrules.exceptions import InvalidParameter

LEVELS = ["mild", "moderate", "severe", "critical"]
PATIENTS = pd.DataFrame(
    {
        "age": np.arange(20.0, 90.0),
        "bmi": np.linspace(17.5, 42.5, 70),
        "stage": pd.Categorical.from_codes(np.arange(70) % 3, LEVELS, ordered=True),
        "smoker": np.arange(70) % 2 == 0,
        "ward": np.array(["a", "b"])[np.arange(70) % 2],
        "dose": np.where(np.arange(70) < 60, np.arange(70) % 25, np.nan),
    }
)
TARGET = (PATIENTS["age"] >= 65) * 3.0 + (PATIENTS["bmi"] > 30) * 2.0


def binned(cuts, frame=PATIENTS, **how):
    """Return the binning of a table with some `cuts`."""
    rows = Rows.from_table(Table.from_any(frame), None, keeps_order=True, **how)
    return fit_binning(rows, n_bins=8, cuts=read_cuts(cuts))


# --- cut points of one's own ----------------------------------------------------------------------


def test_given_cut_points_are_used_and_other_columns_are_as_ever():
    """Only the columns that are named change."""
    found, usual = binned({"age": [40, 65], "bmi": (25, 30.5)}), binned(defaults.CUTS)
    assert found["age"].cuts == (40.0, 65.0)
    assert found["bmi"].cuts == (25.0, 30.5)
    for name in ("stage", "smoker", "ward", "dose"):
        assert found[name] == usual[name]


@pytest.mark.parametrize(
    ("value", "rows_below"),
    [
        (65, 46), (65.0, 46), ("65", 46), ("<65", 45), (">=65", 45), (" >= 65 ", 45), ("<=65", 46),
        (">65", 46), (Decimal("64.5"), 45), (Fraction(129, 2), 45), (np.float32(65), 46),
        (np.int8(65), 46), ("6.5e1", 46),
    ],
)  # fmt: skip
def test_each_way_to_write_a_cut_point_separates_the_rows_that_pandas_would(value, rows_below):
    """`<65` and `>=65` leave 65 above, a number and the other signs leave it below."""
    column = binned({"age": [value]})["age"]
    codes = column.encode_values(PATIENTS["age"].to_numpy(), Kind.NUMERIC)
    assert int((codes == 1).sum()) == rows_below


def test_both_sides_of_a_number_may_be_cut():
    """`age < 65`, `age = 65` and `age > 65` are three bins."""
    cuts = binned({"age": ["<65", 65]})["age"].cuts
    assert cuts == (math.nextafter(65.0, 0.0), 65.0)


def test_ordered_categories_are_cut_after_a_level():
    """A level is the last of its bin."""
    column = binned({"stage": ["mild", "moderate"]})["stage"]
    assert [column.code_of_level[level] for level in LEVELS] == [1, 2, 3, 3]
    numbers = pd.DataFrame({"grade": pd.Categorical([1, 2, 5], [1, 2, 5], ordered=True)})
    assert binned({"grade": [2]}, numbers) == binned({"grade": ["2"]}, numbers)


def test_what_is_passed_is_not_changed():
    """A dict of lists is the same afterwards, and may be an array or a series."""
    cuts = {"age": [40, "<65"], "bmi": np.array([25.0])}
    before = {name: list(values) for name, values in cuts.items()}
    found = binned(cuts)
    assert {name: list(values) for name, values in cuts.items()} == before
    assert found == binned({"age": (40, "<65"), "bmi": pd.Series([25])})


@pytest.mark.parametrize(
    ("cuts", "words"),
    [
        ("rounds", "cuts is 'rounds'; pass 'round', 'quantile'"),
        (None, "cuts is None"),
        (8, "cuts is 8"),
        ({"agee": [40]}, "cuts names 'agee', which is not a column. Did you mean 'age'?"),
        ({"zzz": [40]}, "There are 6 columns"),
        ({"smoker": [0.5]}, "cuts names 'smoker', which is boolean and has nothing to cut"),
        ({"ward": ["a"]}, "cuts names 'ward', which is categorical"),
        ({"age": 65}, "cuts has 65 for 'age'; pass a list"),
        ({"age": "65"}, "pass a list"),
        ({"age": {40, 65}}, "pass a list"),
        ({"age": []}, "cuts has 0 cut points for 'age'"),
        ({"age": list(range(300))}, "cuts has 300 cut points for 'age'; pass 1 to 249"),
        ({"age": [65, 40]}, "cuts has 65 before 40 for 'age'; cut points have to increase"),
        ({"age": [40, 40]}, "have to increase"),
        ({"age": [65, "<65"]}, "have to increase"),
        ({"age": [40, "old"]}, "cuts has 'old' for 'age', which is no cut point"),
        ({"age": ["=65"]}, "which is no cut point"),
        ({"age": [True]}, "cuts has True for 'age', which is no cut point"),
        ({"age": [None]}, "cuts has None for 'age', which is no cut point"),
        ({"age": [math.nan]}, "cuts has nan for 'age', which is no cut point"),
        ({"age": [math.inf]}, "cuts has inf for 'age', which is no cut point"),
        ({"age": [10**400]}, "which is no cut point"),
        ({"age": [40, 95]}, "cuts has 95 for 'age', which separates no rows, as its values are "),
        ({"age": [40, 95]}, "as its values are 20 to 89; leave that cut point out"),
        ({"age": [89]}, "separates no rows"),
        ({"age": ["<20"]}, "separates no rows"),
        ({"stage": ["moderat"]}, "which is none of its levels. Did you mean 'moderate'?"),
        ({"stage": ["severe"]}, "separates no rows, as its values are mild to severe"),
        ({"stage": ["moderate", "mild"]}, "have to increase"),
        ({"stage": [2]}, "cuts has 2 for 'stage', which is none of its levels"),
        (MossRegressor(), "cuts is a MossRegressor that is not fitted"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_a_sentence(cuts, words):
    """Whatever is wrong is named, with what to do about it."""
    with pytest.raises(InvalidParameter) as caught:
        binned(cuts)
    assert words in str(caught.value)


def test_the_ends_of_a_range_are_cut_points():
    """The smallest value itself, and the largest with a sign, separate rows."""
    assert binned({"age": [20, "<89"]})["age"].cuts == (20.0, math.nextafter(89.0, 0.0))


def test_a_column_without_values_is_refused():
    """Where all is missing there is nothing to cut."""
    frame = PATIENTS.assign(dose=np.nan)
    with pytest.raises(InvalidParameter, match="cuts names 'dose', which has no values here"):
        binned({"dose": [1]}, frame)


def test_rows_of_no_weight_do_not_count():
    """A cut that only rows of weight zero are beyond separates none."""
    weights = np.where(PATIENTS["age"] > 80, 0.0, 1.0)
    rows = Rows.from_table(Table.from_any(PATIENTS), None, weights, keeps_order=True)
    with pytest.raises(InvalidParameter, match="as its values are 20 to 80"):
        fit_binning(rows, cuts=read_cuts({"age": [85]}))


def test_a_fold_may_lack_the_rows_beyond_a_cut():
    """What separates rows of the whole table is kept in its parts."""
    rows = Rows.from_table(Table.from_any(PATIENTS), TARGET.to_numpy(), keeps_order=True)
    part = rows.take(np.arange(40))
    assert fit_binning(part, cuts=read_cuts({"age": [40, 65]}))["age"].cuts == (40.0, 65.0)


# --- earlier analyses -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def earlier():
    """Return a model of some patients."""
    return MossRegressor(4, n_trees=100, random_state=0).fit(PATIENTS, TARGET)


def test_new_data_are_cut_where_an_earlier_analysis_was(earlier):
    """A model knows all columns, its rule set those of its rules, and others are cut as ever."""
    new = PATIENTS.sample(40, random_state=1).assign(height=np.arange(40.0))
    by_model, by_rules, usual = (
        binned(earlier, new),
        binned(earlier.rules_, new),
        binned(defaults.CUTS, new),
    )
    for column in earlier.candidates_.binning.columns:
        assert by_model[column.name].cuts == column.cuts
    used = earlier.rules_.binning.names
    for name in new:
        expected = earlier.rules_.binning[name] if name in used else usual[name]
        assert by_rules[name].cuts == expected.cuts
    assert by_model["height"] == usual["height"]
    assert binned(earlier.candidates_.binning, new) == binned(earlier.candidates_, new) == by_model


def test_rule_sets_of_several_classes_are_an_analysis():
    """All classes are cut at the same points."""
    y = np.array(["low", "mid", "high"])[np.digitize(TARGET, [1, 4])]
    model = MossClassifier(3, n_trees=50, random_state=0).fit(PATIENTS, y)
    some = binned(model.rules_)
    for rules in model.rules_.values():
        for column in rules.binning.columns:
            assert some[column.name].cuts == column.cuts
    assert binned(model)["age"].cuts == next(iter(model.candidates_.values())).binning["age"].cuts


def test_cuts_that_separate_no_new_row_are_kept(earlier):
    """They are no mistake: the new data are just others."""
    young = PATIENTS[PATIENTS["age"] < 30]
    assert binned(earlier, young)["age"].cuts == earlier.candidates_.binning["age"].cuts


def of_columns(*columns):
    """Return a binning."""
    return Binning(columns)


def test_levels_keep_their_place_in_another_order_of_categories():
    """A cut after a level stays after that level, whatever levels are new or gone."""
    before = BinnedColumn(
        "stage", Kind.ORDERED, (0.0, 2.0), ("mild", "severe", "worse", "critical")
    )
    column = binned(of_columns(before))["stage"]
    assert [column.levels[int(cut)] for cut in column.cuts] == ["mild", "severe"]
    other = BinnedColumn("stage", Kind.ORDERED, (0.0,), ("severe", "mild"))
    with pytest.raises(InvalidParameter, match="The levels of 'stage' have another order"):
        binned(of_columns(other))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ([BinnedColumn("ward", Kind.NUMERIC, (1.0,))], "Column 'ward' was numeric in the analysis"),
        ([BinnedColumn("age", Kind.ORDERED, (0.0,), ("a", "b"))], "was ordered in the analysis"),
        ([BinnedColumn("weight", Kind.NUMERIC, (1.0,))], "an analysis of other columns"),
        ([BinnedColumn("age", Kind.NUMERIC)], "an analysis without any cut points"),
    ],
)
def test_an_analysis_of_something_else_is_refused(columns, words):
    """Columns of another type, or none in common, are a mistake."""
    with pytest.raises(InvalidParameter) as caught:
        binned(of_columns(*columns))
    assert words in str(caught.value)


def test_truth_values_and_constants_are_cut_as_ever():
    """A column that had one value then has no cuts to pass on, and truth values need none."""
    before = of_columns(
        BinnedColumn("smoker", Kind.NUMERIC, (0.25, 0.5)),
        BinnedColumn("age", Kind.NUMERIC),
        BinnedColumn("bmi", Kind.NUMERIC, (25.0,)),
        BinnedColumn("ward", Kind.CATEGORICAL, levels=("x", "y")),
    )
    found, usual = binned(before), binned(defaults.CUTS)
    assert found["bmi"].cuts == (25.0,)
    for name in ("smoker", "age", "ward"):
        assert found[name] == usual[name]


def test_a_path_is_for_the_functions_that_read_files(tmp_path):
    """`find_candidates` says what to pass instead of a path."""
    with pytest.raises(InvalidParameter, match="an earlier model or rule set"):
        find_candidates(PATIENTS, TARGET, cuts=tmp_path / "model.json")
