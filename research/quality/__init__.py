"""Checks that the suite has no time for, and the page of what they found: docs/quality.md.

Each part is a module with `run`, which does the work and returns a `Record`, and, where anything
may be asked of it, `arguments`. Records are kept in docs/quality, and the page is written from
them, so a part can be run again by itself: `python -m research.quality soak --minutes 60`.
"""

import sys

from research.harness.clone import ROOT

# Problems, tables, readers and the browser are those of the tests. At the end, as tests/ has
# folders with the names of packages, research among them.
sys.path.append(str(ROOT / "tests"))
