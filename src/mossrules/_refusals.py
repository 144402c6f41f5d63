"""What a system refuses, in one sentence that names the input: memory, room, permission.

Public functions that read tables, learn or write are marked with `names_input`. Where one fails
because of an argument of another type than its annotation says, the sentence names that argument:
types are looked at only then. All other mistakes in a program pass through as they are: their
traceback is what one needs.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import wraps
from numbers import Integral, Real
from types import SimpleNamespace, UnionType
from typing import (
    Any,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

from mossrules.exceptions import InvalidFile, MossError, NotEnoughMemory, UnsupportedType

__all__ = ["described", "first_line", "is_from_files", "is_memory", "names_input"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

NO_THREAD = "can't start new thread"  # as Python says where there is no memory for one


def names_input(
    parameter: str,
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Mark a function whose input is a parameter of that name."""

    def marked(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        @wraps(function)
        def called(*given: Arguments.args, **named: Arguments.kwargs) -> Result:
            try:
                return function(*given, **named)
            except NotEnoughMemory as inner:  # what the caller has passed says more than a part
                reason: BaseException = inner.__cause__ or inner
            except MossError:
                raise
            except OSError as error:
                what = _input(function, parameter, given, named)
                raise InvalidFile(_unusable(error, what)) from error
            except Exception as error:
                if not is_memory(error):
                    _refuse_argument(error, function, given, named)
                    raise
                reason = error
            raise NotEnoughMemory(
                f"There is not enough memory for {_input(function, parameter, given, named)} "
                f"({first_line(reason)}); pass fewer rows or columns, or free some."
            ) from reason

        return called

    return marked


def is_memory(error: BaseException) -> bool:
    """Tell whether an error says that there is no memory left."""
    return isinstance(error, MemoryError) or str(error) == NO_THREAD


def is_from_files(error: BaseException) -> bool:
    """Tell whether an error of ours is one of the system that has to do with files."""
    return isinstance(error, InvalidFile) and isinstance(error.__cause__, OSError)


def first_line(error: BaseException) -> str:
    """Return what is said of an error, on one line."""
    return " ".join(str(error).split()).rstrip(".") or "an allocation failed"


def _unusable(error: OSError, what: str) -> str:
    name = what if error.filename is None else os.fsdecode(error.filename)
    return (
        f"{name} cannot be read or written ({error.strerror or first_line(error)}); check that it "
        "is permitted and that there is room."
    )


def _input(
    function: Callable[..., Any],
    parameter: str,
    given: tuple[Any, ...],
    named: Mapping[str, Any],
) -> str:
    arguments = inspect.signature(function).bind_partial(*given, **named).arguments
    value = arguments.get(parameter)
    return described(next(iter(arguments.values())) if value is None else value)


def described(value: Any) -> str:
    """Return an input in words that its owner knows it by: a path, or how large a table is."""
    if isinstance(value, str | os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, Sequence) and value and isinstance(value[0], str | os.PathLike):
        return f"{os.fsdecode(value[0])} and {len(value) - 1:,} more files"
    rows, columns = _size(value)
    if rows is not None and columns is not None:
        return f"the table of {rows:,} rows and {columns:,} columns"
    return f"this {type(value).__name__}"


def _size(value: Any) -> tuple[int | None, int | None]:
    if isinstance(value, Mapping) and value:
        first = next(iter(value.values()))
        return (len(first) if hasattr(first, "__len__") else None), len(value)
    if hasattr(value, "n_rows") and hasattr(value, "columns"):
        return value.n_rows, len(value.columns)
    shape: tuple[Any, ...] = getattr(value, "shape", ())
    if len(shape) == 2 and all(isinstance(size, int) for size in shape):  # not so of Dask
        return int(shape[0]), int(shape[1])
    return None, None


# --- arguments of another type --------------------------------------------------------------------

PLAIN: Mapping[Any, Any] = {int: Integral, float: Real}  # of NumPy too


def _refuse_argument(
    error: Exception,
    function: Callable[..., Any],
    given: tuple[Any, ...],
    named: Mapping[str, Any],
) -> None:
    """Say which argument has another type than it may have, or names no file, if one does."""
    plain = inspect.unwrap(function)
    try:
        arguments = inspect.signature(plain).bind(*given, **named).arguments
    except TypeError:  # other arguments than there are
        return
    hints = {name: _hint(plain, name) for name in arguments}
    for name, hint in list(hints.items()):
        if get_origin(hint) is Unpack:  # of more arguments by their names
            arguments |= arguments.pop(name)
            hints |= get_type_hints(get_args(hint)[0])
    for name, value in arguments.items():
        if isinstance(error, ValueError) and isinstance(value, str | os.PathLike):
            _refuse_name(name, os.fsdecode(value), error)
        hint = hints.get(name, Any)
        if not _fits(value, hint):
            said = plain.__annotations__.get(name, str(hint))
            wanted = str(said).replace(" | None", ", or None")
            kind = type(value).__name__
            raise UnsupportedType(f"{name} is of type {kind}; pass {wanted}.") from error


def _refuse_name(name: str, path: str, error: Exception) -> None:
    """Refuse text that no file can be called, which Python says in words of its own."""
    sentence = f"{name} is {path!r}, which no file can be called."
    if "\0" in path:
        raise InvalidFile(sentence) from error
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise InvalidFile(sentence) from error


def _hint(function: Callable[..., Any], name: str) -> Any:
    """Return the type of a parameter; any, where it is known to type checkers only."""
    one = SimpleNamespace(__annotations__={name: function.__annotations__.get(name, Any)})
    try:
        return get_type_hints(one, function.__globals__)[name]
    except NameError:
        return Any


def _fits(value: Any, hint: Any) -> bool:
    """Tell whether a value is of a type, as far as that can be told from outside.

    What is converted is not told apart: a list stands for an array, and text for a path.
    """
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return any(type(value) is type(part) and value == part for part in parts)
    kind = PLAIN.get(hint, type(None) if hint is None else origin or hint)
    opaque = hint is Any or not isinstance(kind, type) or hasattr(kind, "_is_protocol")
    if opaque or kind.__module__ == "numpy":
        return True
    if issubclass(kind, Sequence | Collection) and not issubclass(kind, str | bytes | Mapping):
        return isinstance(value, Iterable) and all(
            _fits(each, part) for part in parts[:1] for each in _listed(value)
        )
    if isinstance(value, Mapping) and len(parts) == 2:
        return all(_fits(each, parts[0]) and _fits(value[each], parts[1]) for each in value)
    is_truth = isinstance(value, bool) and kind is not bool
    return isinstance(value, kind) and not (is_truth and kind in PLAIN.values())


def _listed(value: Any) -> Iterable[Any]:
    """Return what is in a list or an array; of what is used up by looking, nothing."""
    if isinstance(value, list | tuple | set | frozenset):
        return value
    return list(value.tolist()) if getattr(value, "ndim", 0) > 0 else ()
