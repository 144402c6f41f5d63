"""`python -m mossrules` is the command line, and so is the command `mossrules`."""

import io
import os
import sys
from typing import Any

from mossrules import _late as late
from mossrules._signals import ignore_signals, install_handlers, stopped_status

__all__ = ["main"]


def main() -> None:
    """Run the command line; an interrupt is a sentence, also while the program still loads."""
    install_handlers()
    try:
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # closed by the caller, who wants to see nothing
                setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115  to the end
            else:
                setattr(sys, name, _complete(getattr(sys, name)))
        try:
            late.cli.main()  # loaded only now: that takes a while, in which Ctrl-C may come
        finally:
            ignore_signals()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(stopped_status())


def _complete(stream: Any) -> Any:
    """Return a stream that writes all that it is given, or fails.

    Where PYTHONUNBUFFERED is set, Python's own drops without a word what the system does not take
    at once, as on a disc that fills up.
    """
    if not isinstance(getattr(stream, "buffer", None), io.RawIOBase):
        return stream
    encoding, errors = stream.encoding, stream.errors
    buffer = io.BufferedWriter(stream.detach())
    return io.TextIOWrapper(buffer, encoding, errors, line_buffering=True)


if __name__ == "__main__":
    main()
