"""A header that is written again after each block of data is found from counters; a file without one is left alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from truths import found_again, workload

from workalike.characterize.readings.alternatives import same_operations

HEADER, BLOCK = 512, 65_536


def streams(blocks: int, each: int, *, first: bool, last: bool) -> list[dict[str, Any]]:
    def stream(count: int, size: int, base: int) -> dict[str, Any]:
        return {"direction": "write", "sizes": [f"{count} x {size} B"], "base": f"{base} B"}

    out = [stream(1, HEADER, 0)] if first else []
    for number in range(blocks):
        out.append(stream(each, BLOCK, HEADER + number * each * BLOCK))
        if last or number + 1 < blocks:
            out.append(stream(1, HEADER, 0))
    return out


@pytest.mark.parametrize(("first", "last"), [(True, True), (True, False), (False, True)])
def test_a_header_is_found(tmp_path: Path, first: bool, last: bool) -> None:
    content = {"streams": streams(7, 2, first=first, last=last)}
    truth = workload(content, sharing={"mode": "root", "ranks": 0})
    found = found_again(truth, tmp_path)
    (family,) = found.workload.families
    assert same_operations(truth.families[0], family, truth.ranks)
    assert any("header" in sentence for sentence in found.families[0].sentences())


def test_files_of_each_rank(tmp_path: Path) -> None:
    content = {"streams": streams(3, 4, first=True, last=True)}
    for part in content["streams"]:
        part["sizes"] = [part["sizes"][0].replace(" x", "/rank x")]
    truth = workload(content, sharing="per-rank")
    (family,) = found_again(truth, tmp_path).workload.families
    assert same_operations(truth.families[0], family, truth.ranks)


def test_a_file_without_a_header_is_left_alone(tmp_path: Path) -> None:
    plain = {"direction": "write", "sizes": ["1 x 512 B", "14 x 65536 B"]}
    truth = workload({"streams": [plain]}, sharing={"mode": "root", "ranks": 0})
    assert not any("header" in s for f in found_again(truth, tmp_path).families for s in f.sentences())
