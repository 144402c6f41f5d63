"""Ctrl-C and SIGTERM: both end a command in order, and its exit status tells which it was."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = [
    "ToldStatus",
    "check_interrupted",
    "defer_signals",
    "ignore_signals",
    "install_handlers",
    "interrupted_by",
    "stopped_status",
]

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SOON = 0.01  # seconds

_received: list[int] = []
_deferring: list[bool] = []  # not empty while signals wait; blocks may lie in each other


class ToldStatus(int):
    """The exit status of a command that has said why it ended."""


def install_handlers() -> None:
    """Have both raise KeyboardInterrupt, so that what is open is closed, and note which came.

    What the caller has ignored, as `nohup` and shells do in the background, stays ignored.
    """
    _received.clear()
    for number in SIGNALS:
        if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
            signal.signal(number, _note)
    sys.unraisablehook = _show_or_raise_again


def ignore_signals() -> None:
    """Let neither disturb a command that has ended, while the interpreter clears up."""
    for number in SIGNALS:
        if signal.getsignal(number) is _note:
            signal.signal(number, signal.SIG_IGN)


@contextmanager
def defer_signals() -> Iterator[None]:
    """Let signals wait until something is done that must not be left half done."""
    received = len(_received)
    _deferring.append(True)
    try:
        yield
    finally:
        _deferring.pop()
        if len(_received) > received:
            raise KeyboardInterrupt


def interrupted_by() -> int | None:
    """Return the first signal that came, also if the library has made a result of it."""
    return _received[0] if _received else None


def check_interrupted() -> None:
    """Go no further if a signal came, for a part of a result is of no use to what follows."""
    if interrupted_by() is not None:
        raise KeyboardInterrupt


def stopped_status() -> ToldStatus:
    """Return the exit status that shells have for a command that a signal has ended."""
    return ToldStatus(128 + (interrupted_by() or signal.SIGINT))


def _note(number: int, _frame: FrameType | None) -> None:
    _received.append(number)
    if not _deferring:
        raise KeyboardInterrupt


def _show_or_raise_again(unraisable: sys.UnraisableHookArgs) -> None:
    # An interrupt within a destructor or a callback of C would be shown there, and lost.
    if unraisable.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(unraisable)
        return
    # Not from here: it would be lost too.
    number = _received[-1] if _received else signal.SIGINT
    threading.Timer(SOON, _raise_again, [number]).start()


def _raise_again(number: int) -> None:
    if signal.getsignal(number) is not _note:  # ignored, or no longer ours
        return
    main = threading.main_thread().ident
    if sys.platform == "win32" or main is None:
        _thread.interrupt_main(signal.Signals(number))
    else:
        signal.pthread_kill(main, number)  # unlike the other, it ends a wait
