"""Who is told how far long work is."""

from dataclasses import dataclass

import pytest

from mossrules.progress import telling


@dataclass(frozen=True)
class Step:
    """A step of some work."""

    done: int
    total: int = 3
    seconds: float = 0.5
    seconds_left: float | None = None

    def __str__(self):
        return f"step {self.done}"


@pytest.mark.parametrize("verbose", [False, True])
def test_a_listener_is_told_of_each_step(verbose, capsys):
    """With a line in the terminal or without; nothing of the line is left at the end."""
    steps = []
    with telling(steps.append, verbose=verbose, total=3, title="work") as tell:
        for done in (1, 2, 3):
            tell(Step(done))
    assert steps == [Step(1), Step(2), Step(3)]
    assert "step 3" not in capsys.readouterr().out.rpartition("\n")[2]


def test_nobody_needs_to_listen():
    """Telling does nothing then."""
    with telling(None, verbose=False, total=None, title="work") as tell:
        tell(Step(1))


def test_what_a_listener_raises_ends_the_work():
    """It is passed on as it is, an interrupt too."""

    def stop(_step):
        raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt),
        telling(stop, verbose=True, total=3, title="work") as tell,
    ):
        tell(Step(1))
