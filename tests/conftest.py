"""Property tests run the same examples every time, so that a failure is caused by a change.

`make test-long` sets WORKALIKE_EXPLORE, with which they look for new ones. A slow machine is not a failure.
"""

from __future__ import annotations

import os

from hypothesis import settings

EXPLORE = "WORKALIKE_EXPLORE" in os.environ

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("exploring", deadline=None, max_examples=500)
settings.load_profile("exploring" if EXPLORE else "steady")
