"""What a test needs of the machine and of the build; without it the test is skipped, and says why."""

from __future__ import annotations

import shutil

import pytest

from workalike.launch.engines import engine_if_built

needs_engine = pytest.mark.skipif(engine_if_built() is None, reason="the engine is not built (make build)")
needs_mpiexec = pytest.mark.skipif(shutil.which("mpiexec") is None, reason="no mpiexec")
