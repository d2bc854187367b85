"""Traces that disagree with the counters are named, apart from those that ended early."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from known_logs import EVERY_LOG

from workalike.characterize import CharacterizeOptions, characterize
from workalike.darshan import Log, LogBuilder, open_log
from workalike.darshan.dxt import SEGMENT
from workalike.facts.thresholds import THRESHOLDS, varied
from workalike.facts.trace_totals import FIRST_ROOM, trace_differences

SIZE = 100


def writes_of(number: int, size: int = SIZE) -> np.ndarray:
    """Contiguous writes, one each second."""
    segments = np.zeros(number, dtype=SEGMENT)
    segments["offset"], segments["length"] = np.arange(number) * SIZE, size
    segments["start"] = np.arange(number) / number
    segments["end"] = segments["start"]
    return segments


def log_of(folder: Path, counted: int, *traced: int, size: int = SIZE, partial: bool = False) -> Log:
    """Two ranks that write a file, by counters and by the trace; then one file more for each further trace."""
    builder = LogBuilder(nprocs=2, run_time=10.0)
    for number, operations in enumerate(traced):
        name = f"/s/secret.{number}"
        builder.posix(
            name,
            OPENS=2,
            WRITES=counted,
            BYTES_WRITTEN=counted * SIZE,
            MAX_BYTE_WRITTEN=counted * SIZE - 1,
            CONSEC_WRITES=counted - 2,
            SEQ_WRITES=counted - 2,
            SIZE_WRITE_0_100=counted,
        )
        builder.dxt_posix(name, 0, writes_of(operations // 2, size))
        builder.dxt_posix(name, 1, writes_of(operations - operations // 2, size))
    if partial:
        builder.partial("DXT_POSIX")
    return open_log(builder.write(folder / "app.darshan"))


@pytest.mark.parametrize("path", EVERY_LOG, ids=lambda path: path.name[:40])
def test_no_good_log_is_accused(path: Path) -> None:
    assert trace_differences([open_log(path)]) == []


@pytest.mark.parametrize(
    ("traced", "said"),
    [
        ((8,), None),
        ((7,), "DXT has 7 writes, POSIX counts 8 (first of 1 file)"),
        ((9,), "DXT has 9 writes, POSIX counts 8 (first of 1 file)"),
        ((8, 1, 8, 9), "DXT has 1 write, POSIX counts 8 (first of 2 files)"),
    ],
)
def test_operations(traced: tuple[int, ...], said: str | None, tmp_path: Path) -> None:
    lines = trace_differences([log_of(tmp_path, 8, *traced)])
    assert lines == ([f"module DXT_POSIX: {said}: such a trace is not used"] if said else [])


def test_bytes(tmp_path: Path) -> None:
    assert trace_differences([log_of(tmp_path, 8, 8, size=90)]) == [
        "module DXT_POSIX: DXT has 720 bytes by writes, POSIX counts 800 (first of 1 file): such a trace is not used"
    ]


def test_lengths_of_a_damaged_trace_exceed_64_bits(tmp_path: Path) -> None:
    (line,) = trace_differences([log_of(tmp_path, 8, 8, size=2**62)])
    assert line.startswith("module DXT_POSIX: DXT has 4,611,686,018,427,387,904 bytes by writes")


def test_a_partial_module_has_fewer_but_never_more(tmp_path: Path) -> None:
    assert trace_differences([log_of(tmp_path, 8, 7, partial=True)]) == []
    assert len(trace_differences([log_of(tmp_path, 8, 9, partial=True)])) == 1


def test_a_full_process_has_ended_early(tmp_path: Path) -> None:
    full = 2 * THRESHOLDS.trace_room
    assert trace_differences([log_of(tmp_path, full + 4, full)]) == [
        "module DXT_POSIX: ended early: DXT has 131,072 writes, POSIX counts 131,076 (first of 1 file): "
        "such a trace is not used"
    ]
    with varied("trace_room", 3):
        assert "ended early" not in trace_differences([log_of(tmp_path, full + 4, full)])[0]


def test_many_small_files_fill_a_process_too(tmp_path: Path) -> None:
    log = log_of(tmp_path, 8, *[8] * 10, 6)
    with varied("trace_room", 11 * FIRST_ROOM / THRESHOLDS.trace_room):
        assert "ended early" in trace_differences([log])[0]
    with varied("trace_room", 12 * FIRST_ROOM / THRESHOLDS.trace_room):
        assert "ended early" not in trace_differences([log])[0]


@pytest.mark.parametrize("counter", ["WRITES", "BYTES_WRITTEN"])
def test_what_was_not_measured_differs_from_nothing(counter: str, tmp_path: Path) -> None:
    builder = LogBuilder(nprocs=1)
    builder.posix("/s/secret", rank=0, **({"OPENS": 1, "WRITES": 3, "BYTES_WRITTEN": 800} | {counter: -1}))  # type: ignore[arg-type]
    builder.dxt_posix("/s/secret", 0, writes_of(8))
    builder.dxt_posix("/s/other", 0, writes_of(8))  # without counters: there was no room for them
    log = open_log(builder.write(tmp_path / "app.darshan"))
    assert trace_differences([log]) == []


def test_a_characterization_warns_where_it_uses_traces(tmp_path: Path) -> None:
    log = log_of(tmp_path, 8, 7)
    assert [line for line in characterize([log]).warnings if "DXT" in line]
    assert not characterize([log], CharacterizeOptions(use_trace=False)).warnings
