"""One captured run of each planted error: the verdict names a counter, and does not speak against the right plan."""

from __future__ import annotations

from pathlib import Path

import pytest
from needed import needs_engine, needs_mpiexec
from planted import ERRORS
from planted_errors import GOOD, judged

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.system,  # two captured runs each
    needs_engine,
    needs_mpiexec,
]


@pytest.mark.parametrize("seed", [13, 20])
def test_a_right_replica_is_exact(seed: int, tmp_path: Path) -> None:
    """An input of a few bytes is no noise in a replica's log; what is read back belongs to the dump that wrote it."""
    assert judged(list(ERRORS)[seed % len(ERRORS)], seed, tmp_path).right == "exact"


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_is_found(kind: str, tmp_path: Path) -> None:
    found = judged(kind, 1000, tmp_path)
    assert found.right in GOOD
    assert found.wrong not in GOOD
    assert found.reason or found.wrong == "refused"


def test_a_library_that_sieves_reads_does_not_hide_where_writes_are(tmp_path: Path) -> None:
    found = judged("offset", 198, tmp_path)
    assert found.right in GOOD
    assert found.wrong not in GOOD
