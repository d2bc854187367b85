"""The engine's own unit tests, where they were built (cmake --preset dev)."""

from __future__ import annotations

import subprocess

import pytest

from .conftest import REPOSITORY, find_engine


def test_unit_tests_of_the_engine() -> None:
    engine = find_engine()
    places = [engine.with_name("workalike-unit-tests")] if engine else []
    places += sorted(REPOSITORY.glob("build/*/workalike-unit-tests"))
    binary = next((p for p in places if p.exists()), None)
    if binary is None:
        pytest.skip("the unit tests are not built (cmake --preset dev && cmake --build --preset dev)")
    done = subprocess.run([str(binary)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
