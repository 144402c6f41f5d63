"""`python -m mossrules` is the command line, and so is the command `mossrules`."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; an interrupt is a sentence, also while the program still loads."""
    try:
        from mossrules.cli import main as run  # noqa: PLC0415  it takes a while

        run()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)  # as shells have it


if __name__ == "__main__":
    main()
