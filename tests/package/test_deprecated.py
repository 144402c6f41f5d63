"""Old names: they work, and say what to write instead."""

import subprocess
import sys
from types import ModuleType

import pytest

from mossrules._deprecated import GOES_IN, OLD_MODULES, Renamed, old_names, old_parameters


def test_a_renamed_name_warns_once_and_is_the_new_one(monkeypatch):
    """The warning names the new name, the release, and the line of the reader."""
    module = ModuleType("somewhere")
    module.better = object()
    module.__getattr__ = old_names("somewhere", {"worse": "better"})
    monkeypatch.setitem(sys.modules, "somewhere", module)
    with pytest.warns(DeprecationWarning, match=rf"somewhere\.better.*{GOES_IN}") as caught:
        assert module.worse is module.better
    assert [warning.filename for warning in caught] == [__file__]
    assert module.worse is module.better  # no second warning, which would be an error here


def test_a_renamed_attribute_warns_once_and_is_the_new_one():
    """Of a class and of those below it: one warning, at the line of the reader."""

    class Base:
        worse = Renamed("better")

    class Below(Base):
        better = 3

    with pytest.warns(DeprecationWarning, match=rf"Below\.better.*{GOES_IN}") as caught:
        assert Below().worse == 3
    assert [warning.filename for warning in caught] == [__file__]
    assert Below().worse == 3  # no second warning, which would be an error here
    assert Below.worse.new == "better"


def test_other_names_are_missing_as_ever():
    """What was never there raises what Python raises."""
    with pytest.raises(AttributeError, match="module 'somewhere' has no attribute 'other'"):
        old_names("somewhere", {})("other")


# In a process where nothing of the package was imported before.
IMPORT_OLD = """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter('always')
    import {old} as old
new = importlib.import_module({new!r})
names = getattr(new, '__all__', [name for name in vars(new) if name[0] != '_'])
assert names and all(getattr(old, name) is getattr(new, name) for name in names), {old!r}
found = [(w.category, w.filename, linecache.getline(w.filename, w.lineno)) for w in caught]
assert found == [(DeprecationWarning, __file__, '    import {old} as old\\n')], found
"""


def test_modules_are_found_under_their_old_names(tmp_path):
    """With one warning at the line of the import, and the same public names."""
    blocks = [IMPORT_OLD.format(old=old, new=new) for old, new in OLD_MODULES.items()]
    program = tmp_path / "program.py"
    program.write_text("\n".join(["import importlib, linecache, warnings", *blocks]), "utf-8")
    subprocess.run([sys.executable, program], check=True)
    assert blocks


def test_what_is_not_there_is_not_found():
    """The finder of old names answers for those names alone."""
    with pytest.raises(ModuleNotFoundError):
        __import__("mossrules.nowhere")


def test_a_renamed_parameter_warns_and_is_the_new_one():
    """Both names give the same; others pass through as they are."""

    @old_parameters({"least": "minimum"})
    def add(one, *, minimum=0):
        return one + minimum

    with pytest.warns(DeprecationWarning, match=r"add\(least=\) is now add\(minimum=\)") as caught:
        assert add(1, least=2) == 3
    assert [warning.filename for warning in caught] == [__file__]
    assert add(1, minimum=2) == 3
    with pytest.raises(TypeError, match="other"):
        add(1, other=2)
