"""How property tests run: the same examples every time, so that a change is judged by its own work.

`make test-long` sets WORKALIKE_EXPLORE and lets them look for new ones. They are about values: a slow machine is no failure.
"""

from __future__ import annotations

import os

from hypothesis import settings

EXPLORE = "WORKALIKE_EXPLORE" in os.environ

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("exploring", deadline=None, max_examples=500)
settings.load_profile("exploring" if EXPLORE else "steady")
