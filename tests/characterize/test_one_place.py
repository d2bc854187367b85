"""Operations that are all at a file's beginning are found from counters."""

from __future__ import annotations

from pathlib import Path

import pytest
from truths import found_again, workload

from workalike.characterize.readings.alternatives import same_operations


@pytest.mark.parametrize("direction", ["read", "write"])
@pytest.mark.parametrize("sharing", ["per-rank", {"mode": "root", "ranks": 0}])
@pytest.mark.parametrize("count", [50, 20_000])
def test_one_place(tmp_path: Path, direction: str, sharing: object, count: int) -> None:
    each = "/rank" if sharing == "per-rank" else ""
    stream = {"direction": direction, "sizes": [f"{count}{each} x 4096 B"], "pattern": "same"}
    truth = workload({"streams": [stream]}, sharing=sharing)
    (family,) = found_again(truth, tmp_path).workload.families
    assert same_operations(truth.families[0], family, truth.ranks)
