"""`python -m mossrules` is the command line."""

from mossrules.cli import main

main()
