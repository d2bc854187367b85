"""Logs whose times make no sense: compared and drawn all the same, with finite figures."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from workalike.characterize import characterize
from workalike.compare.fidelity import fidelity_of
from workalike.compare.pairing import pair_up
from workalike.darshan import LogBuilder, layouts, open_log
from workalike.report import write_report

MIB = 2**20
ODD = (0.0, -1.0, -1e300, 1e-300, 1e9, 1e300, math.inf, -math.inf, math.nan)
TIMES = [name for name in layouts.FIXED["POSIX"].current.fcounters if "VARIANCE" not in name]


def odd_log(seed: int) -> LogBuilder:
    """Files of three ranks and shared ones, at POSIX and below MPI-IO, each time odd or plausible by chance."""
    chance = random.Random(seed)
    builder = LogBuilder(nprocs=3, run_time=chance.choice((0.0, 0.001, 40.0)))

    def times() -> dict[str, float]:
        return {name: chance.choice(ODD) if chance.random() < 0.4 else 40 * chance.random() for name in TIMES}

    for i in range(4):
        moved = {
            "WRITES": 4,
            "BYTES_WRITTEN": 4 * MIB,
            "MAX_BYTE_WRITTEN": 4 * MIB - 1,
            "SIZE_WRITE_100K_1M": 4,
        }
        builder.posix(f"/scratch/chk.{i}", rank=i - 1, OPENS=1, **moved, **times())
        calls = {"COLL_OPENS": 1, "COLL_WRITES": 1, "BYTES_WRITTEN": MIB, "SIZE_WRITE_AGG_100K_1M": 1}
        builder.mpiio("/scratch/shared", rank=i % 3, **calls, **times()) if i < 3 else None
    builder.posix("/scratch/shared", rank=-1, OPENS=3, WRITES=3, BYTES_WRITTEN=3 * MIB, **times())
    return builder


def numbers(value: object) -> Iterator[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, float):
        yield value


@pytest.mark.parametrize("seed", range(6))
def test_odd_times_are_bounded(tmp_path: Path, seed: int) -> None:
    log = characterize([open_log(odd_log(seed).write(tmp_path / "odd.darshan"))])
    other = characterize([open_log(odd_log(seed + 1000).write(tmp_path / "other.darshan"))])
    pairing = pair_up(log, other)
    found = fidelity_of(pairing)
    figures = list(numbers(found.model_dump()))
    assert all(math.isfinite(figure) for figure in figures)
    longest = 3 * 3 * (10 * 40 + 60)  # ranks x timers x the latest plausible time, for each of six files
    for family in found.families:
        assert 0 <= (family.io_time_original_s or 0) <= 6 * longest
    for shares in (found.times.overlap.original, found.times.overlap.replica):
        assert not shares or sum(shares) == pytest.approx(1)
        assert all(0 <= share <= 1 + 1e-9 for share in shares)
    write_report(tmp_path / "page.html", pairing=pairing, fidelity=found)
    assert "Times" in (tmp_path / "page.html").read_text()
