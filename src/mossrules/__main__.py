"""`python -m mossrules` is the command line, and so is the command `mossrules`."""

import os
import sys

from mossrules import _late as late
from mossrules._signals import ignore_signals, install_handlers, stopped_status

__all__ = ["main"]


def main() -> None:
    """Run the command line; an interrupt is a sentence, also while the program still loads."""
    install_handlers()
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller, who wants to see nothing
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115  to the end
    try:
        try:
            late.cli.main()  # loaded only now: that takes a while, in which Ctrl-C may come
        finally:
            ignore_signals()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(stopped_status())


if __name__ == "__main__":
    main()
