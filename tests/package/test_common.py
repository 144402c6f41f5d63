import inspect
import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

import mossrules
from mossrules._common import Clock, cached_property, check_listener
from mossrules.exceptions import InvalidParameter


@dataclass(frozen=True)
class Circle:
    """A record that cannot be changed."""

    radius: float

    @cached_property
    def box(self):
        """The box around it."""
        return [2 * self.radius] * 2


def test_a_value_is_computed_once():
    """Of frozen dataclasses too, where it goes along with copies and counts for nothing else."""
    circle = Circle(1.5)
    assert circle.box == [3.0, 3.0]
    assert circle.box is circle.box
    assert circle == Circle(1.5)
    assert pickle.loads(pickle.dumps(circle)).box == [3.0, 3.0]  # noqa: S301  our own
    with pytest.raises(AttributeError):
        circle.box = None


def test_it_is_an_attribute_to_those_who_document_it():
    """As the one of functools is."""
    sphinx = pytest.importorskip("sphinx.util.inspect", reason="it is in the dependency group docs")
    assert sphinx.isproperty(Circle.box)
    assert inspect.getdoc(Circle.box) == "The box around it."


def test_threads_that_ask_at_once_wait_for_none_and_get_the_same():
    """Both are in the midst of it before either is let go on; with a lock, neither ever would."""
    both = threading.Barrier(2, timeout=60)

    class Slow:
        @cached_property
        def value(self):
            both.wait()
            return object()

    slow = Slow()
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: slow.value, range(2))
    assert first is second is slow.value


def test_no_other_is_used():
    """The one of functools has a lock in Python 3.11, which a fork may find taken for ever."""
    for path in Path(mossrules.__file__).parent.rglob("*.py"):
        taken = re.search(r"functools.*\bcached_property", path.read_text("utf-8"))
        assert path.name == "_common.py" or not taken, path


def test_a_clock_knows_the_time_left():
    """It is never negative, and infinite without a limit."""
    assert Clock(None).left() == float("inf")
    assert 0.0 < Clock(10.0).left() <= 10.0
    late = Clock(10.0, started=Clock(None).started - 20.0)
    assert late.left() == 0.0
    assert late.elapsed() >= 20.0


def test_what_cannot_be_called_is_no_listener():
    """None is nobody; anything else says what it would be called with."""
    check_listener(None, "Step")
    check_listener(print, "Step")
    with pytest.raises(InvalidParameter, match="a function of one Step, or None"):
        check_listener(3, "Step")
