"""The page of quality: what parts found is kept, shown, and no less than that."""

from dataclasses import replace
from importlib import import_module

import pytest

from research.quality import __main__ as program
from research.quality import _record, network
from research.quality.__main__ import PARTS, main
from research.quality._page import PAGE, page
from research.quality._record import Record, made_by, read_records
from research.quality._site import read_site

RECORD = Record(
    title="Trials, of a kind",
    asked="Nothing breaks.",
    seen="1,234 trials, 0 failures",
    passed=True,
    command="python -m research.quality trials",
    seconds=90.0,
    table=[{"Kind": "a|b", "trials": 1234}, {"Kind": "c", "trials": 0}],
    notes=["One sentence."],
)


def test_the_page_is_written_from_the_records():
    """After a change of a record, `python -m research.quality page` has been run."""
    kept = read_records()
    assert set(kept) <= set(PARTS)
    assert PAGE.read_text("utf-8") == page({part: kept[part] for part in PARTS if part in kept})


def test_every_part_has_a_record_and_a_section():
    """None is left to be run one day."""
    records, text = read_records(), PAGE.read_text("utf-8")
    assert set(PARTS) - set(records) == set()
    missing = [part for part in PARTS if f"\n## {records[part].title}\n" not in text]
    assert missing == []


def test_a_record_survives_its_file(tmp_path):
    """All of it, and a second one takes the place of the first."""
    RECORD.save("trials", tmp_path)
    changed = replace(RECORD, passed=False)
    changed.save("trials", tmp_path)
    (found,) = read_records(tmp_path).values()
    assert replace(found, table=list(found.table)) == changed


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """Return where `main` keeps records, away from docs/, with a commit that is never the same."""
    commits = map(str, range(100))
    monkeypatch.setattr(_record, "commit_of", lambda *_: next(commits))
    monkeypatch.setattr(program, "write_page", lambda _: None)
    monkeypatch.setattr(Record.save, "__defaults__", (tmp_path,))
    made_by.cache_clear()
    yield tmp_path
    made_by.cache_clear()


def test_a_record_names_the_commit_at_which_it_was_begun(kept, monkeypatch):
    """Not one that was made while the part ran."""

    def run():
        begun.append(made_by.cache_info().currsize)
        return replace(RECORD, made_by=made_by())

    begun = []
    monkeypatch.setattr(network, "run", run)
    assert main(["network"]) == 0
    assert begun == [1]  # it was asked for before
    assert read_records(kept)["network"].made_by["commit"] == "0"


@pytest.mark.parametrize(
    ("part", "words"),
    [("minimum", ["tests/test_lock.py"]), ("fuzz", ["1", "--only", "CSV"])],
)
def test_some_of_a_part_leaves_its_record_alone(part, words, kept, monkeypatch, capsys):
    """What was seen is printed; whether it passed is in the status."""
    module = import_module(f"research.quality.{part}")
    monkeypatch.setattr(module, "run", lambda **_: replace(RECORD, passed=False))
    assert main([part, *words]) == 1
    assert RECORD.seen in capsys.readouterr().out
    assert not list(kept.iterdir())
    main([part, *words[:1]] if part == "fuzz" else [part])
    assert list(read_records(kept)) == [part]


def test_a_part_is_in_the_table_and_has_a_section():
    """With what was seen, how to see it again, and what failed in bold."""
    text = page({"trials": RECORD, "more": replace(RECORD, title="More", passed=False)})
    assert "| [Trials, of a kind](#trials-of-a-kind) | 1,234 trials, 0 failures | yes |" in text
    assert "| [More](#more) | 1,234 trials, 0 failures | **no** |" in text
    assert "| Kind | trials |\n|---|---:|\n| a\\|b | 1,234 |" in text
    assert "`python -m research.quality trials`, 1.5 minutes, on " in text


def test_an_unknown_part_is_named(capsys):
    """The message lists what there is."""
    with pytest.raises(SystemExit) as stop:
        main(["nonsense"])
    assert stop.value.code == 2
    assert "'nonsense'" in capsys.readouterr().err


def test_a_site_with_faults_is_found_out(tmp_path):
    """Files and places that are not there, addresses of bad form, and what others would send."""
    (tmp_path / "other.html").write_text('<h1 id="there">Other</h1><a href="page.html">back</a>')
    (tmp_path / "site.css").write_text('@import "https://elsewhere.org/fonts.css";')
    (tmp_path / "page.html").write_text("""
        <link rel="next" href="other.html"><script src="https://elsewhere.org/a.js"></script>
        <a href="other.html#there">good</a> <a href="#nowhere">no place</a>
        <a href="gone.html">no file</a> <img src="gone.png"> <a href="mailto:a@b.org">mail</a>
        <a href="http://example.org">plain</a> <a href="https://doi.org/11/x">no DOI</a>
        <a href="https://doi.org/10.1145/3711896.3737055">a DOI</a>""")
    site = read_site(tmp_path)
    assert (site.pages, site.links, site.outside.total()) == (2, 6, 4)
    assert [each.split()[1] for each in site.broken] == ["#nowhere", "gone.html", "gone.png"]
    assert [each.split(maxsplit=2)[1:] for each in site.malformed] == [
        ["http://example.org", "is not https"],
        ["https://doi.org/11/x", "is no DOI"],
    ]
    assert len(site.loaded) == 2
