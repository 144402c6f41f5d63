"""How hypothesis draws: the same examples in every run, or others when asked to search."""

import os

from hypothesis import settings

# A red run must be red again when it is repeated, so that it can be understood. To look for new
# examples: `HYPOTHESIS_PROFILE=search pytest`.
settings.register_profile("repeatable", derandomize=True)
settings.register_profile("search", derandomize=False, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
