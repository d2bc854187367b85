"""The engine's own unit tests, if they were built (cmake --preset dev)."""

from __future__ import annotations

import os
import subprocess

import pytest

from .conftest import MPI_ENVIRONMENT, REPOSITORY, SINGLETON_ENVIRONMENT, find_engine


def test_unit_tests_of_the_engine() -> None:
    engine = find_engine()
    places = [engine.with_name("workalike-unit-tests")] if engine else []
    places += sorted(REPOSITORY.glob("build/cp*/workalike-unit-tests"))
    places += sorted(REPOSITORY.glob("build/dev/workalike-unit-tests"))
    binary = next((p for p in places if p.exists()), None)
    if binary is None:
        pytest.skip("the unit tests are not built (cmake --preset dev && cmake --build --preset dev)")
    environment = {**os.environ, **MPI_ENVIRONMENT, **SINGLETON_ENVIRONMENT}
    done = subprocess.run(
        [str(binary)], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout
