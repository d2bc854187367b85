"""A header that is written last is found from counters; one that is written first is left as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from truths import found_again, workload

from workalike.characterize.readings.alternatives import same_operations


@pytest.mark.parametrize("sharing", ["per-rank", {"mode": "root", "ranks": 0}])
@pytest.mark.parametrize("last", [True, False])
def test_a_header_that_is_written_last(tmp_path: Path, sharing: object, last: bool) -> None:
    each = "/rank" if sharing == "per-rank" else ""
    header = {"direction": "write", "sizes": [f"1{each} x 44 B"], "base": "0 B"}
    data = {"direction": "write", "sizes": [f"20{each} x 4096 B"], "base": "44 B"}
    truth = workload({"streams": [data, header] if last else [header, data]}, sharing=sharing)
    found = found_again(truth, tmp_path)
    (family,) = found.workload.families
    assert same_operations(truth.families[0], family, truth.ranks)
    assert any("written last" in sentence for sentence in found.families[0].sentences()) == last
