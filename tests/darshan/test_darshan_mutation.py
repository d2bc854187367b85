"""No damage may crash the reader, hang it, or change a counter unnoticed."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import darshan_everything
import darshan_mutate
import pytest
from darshan_mutate import Spoilt, spoil_file, spoil_region, torture
from known_logs import EVERY_LOG

from workalike.darshan import LogBuilder

Spoil = Callable[[bytes, random.Random], Spoilt]
LARGEST = 40_000
"""Logs above this size in bytes are left out, to spoil many rather than few."""


def images() -> dict[str, bytes]:
    logs = {log.name: log.read_bytes() for log in EVERY_LOG if log.stat().st_size <= LARGEST}
    return {**logs, "built": darshan_everything.builder().image()}


@pytest.mark.parametrize(("spoil", "seed"), [(spoil_file, 1), (spoil_region, 2)])
def test_spoilt_logs(spoil: Spoil, seed: int, tmp_path: Path) -> None:
    ends = torture(images(), spoil, tmp_path, seed, 400)
    assert sum(ends[end] for end in ("damaged log", "unsupported log", "other data, with a warning")) > 50
    assert ends["same data"] or ends["other data"]
    assert ends["checksum collision"] == 0


@pytest.mark.long
@pytest.mark.parametrize(("spoil", "seed"), [(spoil_file, 3), (spoil_region, 4)])
def test_many_spoilt_logs(spoil: Spoil, seed: int, tmp_path: Path) -> None:
    ends = torture(images(), spoil, tmp_path, seed, 10_000)
    assert ends["checksum collision"] <= 1


def test_every_bit_of_a_header(tmp_path: Path) -> None:
    """Each bit of the header; of unused module numbers, only a few."""
    image = LogBuilder(nprocs=2).posix("/a", 0, OPENS=1).stdio("/b", 1, WRITES=7).lustre("/a", 0).image()
    header, _ = darshan_mutate.split(image)
    used = {*range(48), *(at for slot in (1, 8, 9) for at in range(48 + 16 * slot, 64 + 16 * slot))}
    used |= {*range(1072, 1072 + 4 * 18)}
    bits = [bit for bit in range(8 * len(header)) if bit // 8 in used or bit % 29 == 0]
    left = iter(bits)

    def flip_next(image: bytes, _dice: random.Random) -> Spoilt:
        at, bit = divmod(next(left), 8)
        return Spoilt(image[:at] + bytes([image[at] ^ 1 << bit]) + image[at + 1 :], range(at, at + 1))

    ends = torture({"built": image}, flip_next, tmp_path, 0, len(bits))
    assert ends["other data"] == 0


def test_taking_apart_and_putting_together() -> None:
    """The tool itself: an undamaged log is reassembled unchanged."""
    for name, image in images().items():
        header, regions = darshan_mutate.split(image)
        again = darshan_mutate.join(header, regions)
        assert again[len(header) :] == image[len(header) :], name
