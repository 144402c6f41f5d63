"""Old names that keep working for a while: each warns once, and says what to write instead.

Policy: a public name that is renamed keeps working, with a `DeprecationWarning`, for two minor
releases; the warning names the new name and the release in which the old one goes. To rename one,
add a line here, or where it was: `old_names` in a module, `Renamed` in a class, `old_parameters` at
a function. Add a line to the CHANGELOG.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, ParamSpec, TypeVar, cast

from mossrules.exceptions import warn_user

__all__ = ["Renamed", "find_old_modules", "old_names", "old_parameters"]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

GOES_IN = "0.3"
# Where modules were whose names users may have written down.
OLD_MODULES = {
    "mossrules.files": "mossrules.data",
    "mossrules.plots": "mossrules.display",
    "mossrules.report": "mossrules.display.report",
    "mossrules.rules": "mossrules.candidates.rules",
}


def old_names(module: str, renamed: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a `__getattr__` for a module, of names that were renamed there."""

    def __getattr__(name: str) -> Any:  # noqa: N807  what Python looks for in a module
        if name not in renamed:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        _warn(f"{module}.{name}", f"{module}.{renamed[name]}")
        value = getattr(sys.modules[module], renamed[name])
        setattr(sys.modules[module], name, value)  # so that it warns once
        return value

    return __getattr__


class Renamed:
    """The old name of an attribute, in the class that has it: `old = Renamed("new")`."""

    def __init__(self, new: str) -> None:
        self.new = new
        self.has_warned = False
        self.__doc__ = f"The old name of `{new}`."

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.old = name

    def __get__(self, instance: object, owner: type[Any]) -> Any:
        if instance is None:
            return self
        if not self.has_warned:
            _warn(f"{owner.__name__}.{self.old}", f"{owner.__name__}.{self.new}")
            self.has_warned = True
        return getattr(instance, self.new)


def old_parameters(
    renamed: Mapping[str, str],
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Return a decorator of a function, of keyword parameters that were renamed."""

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @wraps(function)
        def call(*args: Parameters.args, **given: Parameters.kwargs) -> Result:
            for old in renamed.keys() & given.keys():
                _warn(f"{function.__name__}({old}=)", f"{function.__name__}({renamed[old]}=)")
                given[renamed[old]] = given.pop(old)
            return function(*args, **given)

        return call

    return decorate


def find_old_modules() -> None:
    """Let modules be imported by their old names too."""
    if not any(isinstance(finder, _OldModules) for finder in sys.meta_path):
        sys.meta_path.append(_OldModules())


class _OldModules:
    """Finds a module under its old name: after all others, so that it costs nothing elsewhere.

    Without the base classes of `importlib.abc`, which take a third of the time of this package to
    load: what Python asks a finder and a loader for is here.
    """

    def find_spec(self, fullname: str, *_: Any) -> ModuleSpec | None:
        return ModuleSpec(fullname, cast("Any", self)) if fullname in OLD_MODULES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        _warn(spec.name, OLD_MODULES[spec.name])
        return ModuleType(spec.name, import_module(OLD_MODULES[spec.name]).__doc__)

    def exec_module(self, module: ModuleType) -> None:
        # Not the new module itself: it has one name and one place only.
        vars(module).update(vars(import_module(OLD_MODULES[module.__name__])) | vars(module))


def _warn(old: str, new: str) -> None:
    warn_user(f"{old} is now {new}, and goes in mossrules {GOES_IN}.", DeprecationWarning)
