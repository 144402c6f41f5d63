"""Sixty small files, each messy in one way: what check says of them, and what fit does.

A file is the table of `clean.csv` with one thing wrong: one column more, or one changed. All have
two useful features, `age` and `dose`, and a target `y`, or `status` where classes matter.
"""

from pathlib import Path

import pytest

from mossrules.data import check, scan_files
from mossrules.exceptions import InvalidFile
from support.commands import run

FOLDER = Path(__file__).parent / "messy"
STOPS, WARNS, FITS = "stops", "warns", "fits"

# Of each file the column, what was found, and what fit does. All other columns are in order.
FILES = {
    "below_limit": ("lead", "unit", STOPS),
    "comments": ("remark", "identifier", STOPS),
    "constant": ("country", "constant", FITS),
    "constant_target": ("y", "constant", WARNS),
    "copied": ("age_copy", "duplicate", WARNS),
    "counter": ("step", "identifier", WARNS),
    "currency": ("price", "unit", STOPS),
    "date_times": ("arrived", "date", STOPS),
    "dates_iso": ("visit", "date", STOPS),
    "dates_numbers": ("visit", "date", WARNS),
    "dates_points": ("visit", "date", STOPS),
    "dates_short": ("visit", "date", STOPS),
    "dates_slashes": ("visit", "date", STOPS),
    "dates_words": ("visit", "date", STOPS),
    "decimal_comma": ("weight", "decimal comma", STOPS),
    "decimal_comma_semicolon": ("weight", "decimal comma", STOPS),
    "empty": ("later", "empty", FITS),
    "index_of_pandas": ("Unnamed: 0", "identifier", STOPS),
    "infinite": ("ratio", "infinite", STOPS),
    "leak": ("bill", "leak", STOPS),
    "leak_class": ("letter", "leak", STOPS),
    "leak_missing": ("treated_on_day", "leak", STOPS),
    "many_levels": ("diagnosis", "many levels", WARNS),
    "missing_dash": ("bmi", "missing word", STOPS),
    "missing_n_a": ("bmi", "missing word", STOPS),
    "missing_point": ("bmi", "missing word", STOPS),
    "missing_sign": ("job", "missing word", WARNS),
    "missing_target": ("y", "missing target", STOPS),
    "mixed": ("bmi", "mixed", STOPS),
    "mixed_half": ("lab", "mixed", WARNS),
    "other_units": ("dose_mg", "duplicate", FITS),
    "patient_id": ("patient_id", "identifier", STOPS),
    "percent": ("share", "unit", STOPS),
    "phone": ("phone", "identifier", STOPS),
    "rare_levels": ("site", "rare levels", FITS),
    "repeated": (None, "repeated rows", WARNS),
    "row_number": ("id", "identifier", STOPS),
    "sentinel_99": ("score", "sentinel", WARNS),
    "sentinel_9999": ("steps", "sentinel", WARNS),
    "sentinel_minus_999": ("bmi", "sentinel", WARNS),
    "spelling": ("sex", "spelling", WARNS),
    "students": ("student", "groups", STOPS),
    "thousands": ("income", "thousands separator", STOPS),
    "thousands_or_decimals": ("reading", "thousands separator", STOPS),
    "thousands_points": ("income", "thousands separator", STOPS),
    "thousands_spaces": ("income", "thousands separator", STOPS),
    "three_dates": ("wave", "date", WARNS),
    "times": ("arrived", "date", STOPS),
    "token": ("token", "identifier", STOPS),
    "two_units": ("weight", "unit", STOPS),
    "units": ("pressure", "unit", STOPS),
    "visits": ("patient_id", "groups", STOPS),
    "zip": ("zip", "codes", WARNS),
}
# Files with more than one thing wrong, and those that cannot be read.
SEVERAL = {
    "few_events": {("status", "few events")},  # of which fit warns by the rules that it found
    "dates_gaps": {("visit", "date"), ("visit", "missing word")},
    "decimal_comma_target": {("y", "decimal comma"), ("y", "many classes")},
    "rare_class": {("status", "rare class"), ("status", "few events")},
}
UNREADABLE = {
    "ragged": "line 8: 4 fields where the header has 3",
    "same_name": "more than one column 'age'",
}
STATUS = ("leak_class", "leak_missing", "rare_class", "few_events")
SEVERITY = {STOPS: "wrong", WARNS: "suspect", FITS: "note"}


def path_of(name):
    """Return the path of a file of the folder."""
    return FOLDER / f"{name}.csv"


def target_of(name):
    """Return the name of the target of a file."""
    return "status" if name in STATUS else "y"


def delimiter_of(name):
    """Return what separates the fields of a file."""
    return ";" if "semicolon" in name else ","


def look_at(name):
    """Return what check says of a file; that it has few rows for 15 rules is said of most."""
    table = scan_files(path_of(name), delimiter=delimiter_of(name))
    found = check(table, target_of(name), max_rules=2 if name not in STATUS else 15)
    return {(each.column, each.kind): each for each in found.findings}


def fit(name, *more):
    """Fit a small model to a file, by the command line."""
    few = ("--trees", "20", "--refits", "0", "-k", "2" if name not in STATUS else "15")
    where = (path_of(name), "-t", target_of(name), "--delimiter", delimiter_of(name))
    return run("fit", *where, *few, *more)


def test_every_file_is_in_a_table():
    """No file of the folder is without an expectation, and none is missing."""
    known = {*FILES, *SEVERAL, *UNREADABLE, "clean"}
    assert {path.stem for path in FOLDER.glob("*.csv")} == known


@pytest.mark.filterwarnings("ignore::mossrules.exceptions.MixedColumnWarning")
@pytest.mark.parametrize("name", FILES)
def test_check_finds_the_one_thing_that_is_wrong(name):
    """It names the column and the kind, is as sure as it should be, and finds nothing else."""
    column, kind, does = FILES[name]
    found = look_at(name)
    beside = {("status", "few events")} if name.startswith("leak") else set()
    assert found.keys() - beside == {(column, kind)}
    finding = found[column, kind]
    assert finding.severity == SEVERITY[does]
    assert finding.what
    assert finding.remedy


@pytest.mark.filterwarnings("ignore::mossrules.exceptions.MixedColumnWarning")
@pytest.mark.parametrize("name", SEVERAL)
def test_check_finds_several_things(name):
    """What is wrong beside something else is told too."""
    assert look_at(name).keys() == SEVERAL[name]


@pytest.mark.filterwarnings("ignore::mossrules.exceptions.MixedColumnWarning")
def test_nothing_looks_wrong_with_a_clean_file():
    """The table that all others are made of gives no alarm."""
    assert look_at("clean") == {}


@pytest.mark.parametrize(("name", "words"), UNREADABLE.items())
def test_a_file_that_cannot_be_read_says_so(name, words):
    """Check and fit say the same sentence."""
    with pytest.raises(InvalidFile, match=words):
        check(path_of(name), "y")
    assert words in fit(name).stderr
    assert words in run("check", path_of(name)).stderr


@pytest.mark.filterwarnings("ignore::mossrules.exceptions.MixedColumnWarning")
@pytest.mark.parametrize("name", FILES)
def test_fit_stops_warns_or_goes_on(name):
    """It stops on what is surely wrong, with the remedy and the way to go on; and warns else."""
    column, kind, does = FILES[name]
    result = fit(name)
    remedy = look_at(name)[column, kind].remedy
    assert result.exit_code == (1 if does == STOPS else 0)
    if does == FITS:
        assert repr(column) not in result.stderr
        return
    assert remedy in result.stderr
    said = "wrong: " if does == STOPS else "warning: "
    assert any(line.startswith(said) and remedy in line for line in result.stderr.splitlines())
    assert ("add --anyway" in result.stderr) == (does == STOPS)


MENDED = {
    "patient_id": ["--drop", "patient_id"],
    "visits": ["--groups", "patient_id"],
    "leak": ["--drop", "bill"],
    "zip": ["--categorical", "zip"],
    "dates_iso": ["--drop", "visit"],
}


@pytest.mark.parametrize(("name", "how"), MENDED.items())
def test_the_remedy_mends_it(name, how):
    """With what the remedy says, fit has nothing to say any more."""
    result = fit(name, *how)
    assert result.exit_code == 0
    assert result.stderr == ""


def test_one_can_go_on_regardless():
    """--anyway makes a warning of what would have stopped."""
    result = fit("patient_id", "--anyway")
    assert result.exit_code == 0
    assert "warning: Column 'patient_id': an identifier" in result.stderr
