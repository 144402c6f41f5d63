"""Properties that are computed once."""

from __future__ import annotations

import functools
from typing import Any, Self, TypeVar, overload

__all__ = ["cached_property"]

Value = TypeVar("Value")


class cached_property(functools.cached_property[Value]):  # noqa: N801  as the one it stands for
    """The one of functools without its lock, which a process forked meanwhile would wait for.

    Python 3.12 has none either. Threads that ask at the same time may each compute the value; all
    of them get the same one.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Value: ...

    def __get__(self, instance: object, owner: type[Any] | None = None) -> Self | Value:
        """Return the value, and keep it where Python looks before it asks here."""
        if instance is None:
            return self
        name = str(self.attrname)  # None only outside of classes
        # Not by setattr, which frozen dataclasses refuse.
        found: Value = vars(instance).setdefault(name, self.func(instance))
        return found
