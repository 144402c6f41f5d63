"""Damaged files: what is wrong with one is a `MossError` of one sentence, and nothing else.

`python -m research.quality fuzz` does the same for as long as one likes.
"""

import subprocess
import sys
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support import environment, hostile
from support.readers import READERS, read_damaged

EXAMPLES = {"rule sets": 6, "evaluation": 12, "experiment": 12}  # where one takes longer


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """Return sound files of each kind, made when they are first asked for."""
    made = {}

    def of(name):
        if name not in made:
            made[name] = READERS[name].samples(tmp_path_factory.mktemp("sound"))
        return made[name]

    return of


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_refused_in_one_sentence(name, samples, tmp_path):
    """Or read, where the damage does no harm, and then all that is done with them works."""
    sound, seen = samples(name), set()

    @settings(
        max_examples=EXAMPLES.get(name, 25), suppress_health_check=list(HealthCheck), database=None
    )
    @given(st.integers(0, 2**32))
    def read(seed):
        rng = Random(seed)  # noqa: S311  no secrets
        seen.add(read_damaged(READERS[name], sound, rng, tmp_path))

    read()
    assert "refused" in seen


@pytest.mark.parametrize("name", READERS)
def test_sound_files_are_read(name, samples, tmp_path):
    """So that it is the damage for which others are refused."""
    reader = READERS[name]
    for number, sample in enumerate(samples(name)):
        path = tmp_path / f"{number}{reader.suffix}"
        path.write_bytes(sample)
        reader.use(path)


@pytest.mark.parametrize(
    "key",
    [
        "rule set 0 1534",  # weights of a calibration whose sum is infinite
        "rule set 2 943",  # weights of a calibration whose square is 0
        "rule set 6 46",  # the name of a column that fills pages
        "evaluation 0 1379",  # half of a surrogate pair in a name
        "Parquet 0 372",  # names of columns that are not UTF-8
        "Parquet, scanned 0 1075",
        "Parquet, scanned 1 610",  # texts that are not UTF-8
        "Parquet, scanned 1 1360",  # labels that are not in the dictionary
        "frontier 1 1211",  # a count of more than 63 bits
        "frontier 4 1251",  # a loss that is no number
    ],
)
def test_what_once_went_wrong_is_read_or_refused(key, samples, tmp_path):
    """Damage that `python -m research.quality fuzz` has found to raise something else."""
    name = key.rsplit(" ", 2)[0]
    rng = Random(key)  # noqa: S311  no secrets
    assert read_damaged(READERS[name], samples(name), rng, tmp_path) in ("read", "refused")


def test_programs_in_files_are_not_executed(tmp_path):
    """Pickles, tags of YAML and calls in any place of any file are text that is read or refused."""
    done = subprocess.run(
        [sys.executable, hostile.__file__, str(tmp_path)],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    heard = [line for line in done.stdout.splitlines() if line != hostile.SAID]
    assert [line for line in heard if not line.startswith(hostile.HOOK)] == []
    assert any(line.startswith(f"{hostile.HOOK}: os.system") for line in heard)
