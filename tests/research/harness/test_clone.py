import shutil
import subprocess

import pytest

from research.harness.clone import commit_of
from research.quality._record import WRITTEN


@pytest.fixture
def clone(tmp_path):
    """Return a clone with a module and a page, both committed."""
    if shutil.which("git") is None:
        pytest.skip("there is no git")
    (tmp_path / "docs" / "quality").mkdir(parents=True)
    for name in ("module.py", "docs/quality.md", "docs/other.md"):
        (tmp_path / name).write_text("first", "utf-8")
    person = ("-c", "user.name=a", "-c", "user.email=a@b.org")
    for words in (["init", "--quiet"], ["add", "."], [*person, "commit", "--quiet", "-m", "First"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)  # noqa: S607  the user's
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "is_dirt"),
    [
        ("docs/quality.md", False),
        ("docs/quality/new.json", False),
        ("docs/soak.md", False),
        ("module.py", True),
        ("docs/other.md", True),
        ("new_module.py", True),
        ("docs/quality_of_another_kind.md", True),
    ],
)
def test_a_commit_is_marked_where_more_than_records_differs(changed, is_dirt, clone):
    """Files that git does not know count as well; where there is no clone there is no commit."""
    clean = commit_of(clone, WRITTEN)
    assert len(clean) == 12
    (clone / changed).write_text("second", "utf-8")
    assert commit_of(clone, WRITTEN) == clean + "-dirty" * is_dirt
    assert commit_of(clone / "docs") == ""
    (clone / ".git" / "HEAD").unlink()
    assert commit_of(clone, WRITTEN) == ""
