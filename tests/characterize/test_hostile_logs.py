"""No log crashes characterization: whatever its numbers, the result is a workload or a WorkalikeError."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from known_logs import ALL_LOGS, find
from simulated_job import log_of

from workalike.characterize import CharacterizeOptions, characterize
from workalike.darshan import JobToWrite, Log, LogBuilder, layouts, open_log
from workalike.darshan.write import encode_dxt, write_log
from workalike.errors import WorkalikeError
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Level, Workload
from workalike.workload.workload_file import workload_text

COUNTERS = [0, 1, -1, -2, 3, 100, 2**20, 2**31, 2**40, 2**50, 2**56, 2**62, 2**63 - 1, -(2**63)]
REALS = [0.0, -1.0, float("nan"), float("inf"), -float("inf"), 1e-300, 0.5, 1e9, 1e18, 1e308]
OPTIONS = [
    CharacterizeOptions(),
    CharacterizeOptions(include_program_start=True),
    CharacterizeOptions(states=7),
    CharacterizeOptions(level=Level.POSIX),
    CharacterizeOptions(level=Level.H5D, include_program_start=True, use_trace=False),
]


def survives(log: Log, options: CharacterizeOptions) -> None:
    """Assert that the result is a valid workload that can be planned and written, or an error with a hint."""
    try:
        workload = characterize([log], options).workload
    except WorkalikeError as error:
        assert error.hint
        return
    Workload.model_validate(workload.model_dump(mode="json"))
    workload_text(workload)
    try:
        resolve(workload, Options())
    except WorkalikeError as error:
        assert error.hint


def mutated(log: Log, rng: np.random.Generator, rate: float, path: Path) -> Log:
    """The log with some values replaced by hostile ones, some records doubled and some ranks exchanged."""
    regions = {}
    for module in layouts.FIXED:
        table = log.records(module)
        if table is None:
            continue
        records = []
        for row in range(min(len(table), 50)):
            counters = table.counters[row].copy()
            reals = table.fcounters[row].copy()
            hit = rng.random(len(counters)) < rate
            counters[hit] = rng.choice(COUNTERS, hit.sum())
            hit = rng.random(len(reals)) < rate
            reals[hit] = rng.choice(REALS, hit.sum())
            rank = int(table.ranks[row]) if rng.random() > rate else int(rng.integers(-1, log.job.nprocs))
            head = struct.pack("<Qq", int(table.ids[row]), rank)
            if layouts.FIXED[module].current.file_id:
                head += struct.pack("<Q", int(table.file_ids[row]) if table.file_ids is not None else 0)
            records += [head + counters.tobytes() + reals.tobytes()] * (1 + (rng.random() < rate))
        regions[module] = b"".join(records)
    for module in ("DXT_POSIX", "DXT_MPIIO"):
        trace = log.dxt(module)
        if trace is None:
            continue
        records = []
        for row in range(min(len(trace), 30)):
            writes_and_reads = [segments[:100].copy() for segments in trace.segments(row)]
            for segments in writes_and_reads:
                for name, values in (("offset", COUNTERS), ("length", COUNTERS), ("start", REALS)):
                    hit = rng.random(len(segments)) < rate
                    segments[name][hit] = rng.choice(values, hit.sum())
            records.append(encode_dxt(int(trace.ids[row]), int(trace.ranks[row]), "host", *writes_and_reads))
        regions[module] = b"".join(records)
    run_time = log.job.run_time if rng.random() > 0.1 else float(rng.choice([0.0, 9e9, 1e-6]))
    partial = [module for module in regions if rng.random() < 0.1]
    job = JobToWrite(nprocs=log.job.nprocs, run_time=run_time)
    return open_log(write_log(path, job=job, names=log.names, regions=regions, partial=partial))


@pytest.mark.parametrize("path", ALL_LOGS, ids=lambda path: path.name[:40])
def test_mutated_real_logs(path: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(zlib.crc32(path.name.encode()))
    log = open_log(path)
    for turn in range(5):
        rate = (0.002, 0.02, 0.3)[turn % 3]
        survives(mutated(log, rng, rate, tmp_path / "mutated.darshan"), OPTIONS[turn % len(OPTIONS)])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_many_mutations(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    logs = [open_log(path) for path in ALL_LOGS]
    for turn in range(200):
        log = logs[int(rng.integers(len(logs)))]
        rate = float(rng.choice([0.001, 0.01, 0.05, 0.3]))
        survives(mutated(log, rng, rate, tmp_path / "mutated.darshan"), OPTIONS[turn % len(OPTIONS)])


NAMES = st.sampled_from(
    ["/run/a", "/run/a1", "/run/a2", "/run/b.h5", "<STDOUT>", "", "//12345678", "/run/\x01\udcff".encode("utf-8", "replace").decode(), "/run/" + "9" * 300]
)  # fmt: skip


@st.composite
def hostile_logs(draw: st.DrawFn) -> Log:
    """A log with records of any module, with any numbers in any counter."""
    nprocs = draw(st.sampled_from([1, 2, 5, 2**24]))
    builder = LogBuilder(nprocs=nprocs, run_time=draw(st.sampled_from([0.0, 1e-9, 100.0, 1e9])))
    for _ in range(draw(st.integers(1, 8))):
        module = draw(st.sampled_from(sorted(layouts.FIXED)))
        layout = layouts.FIXED[module].current
        values: dict[str, float] = draw(
            st.dictionaries(st.sampled_from(layout.counters), st.sampled_from(COUNTERS) | st.integers(0, 10**9), max_size=20)
        )  # fmt: skip
        values |= draw(st.dictionaries(st.sampled_from(layout.fcounters), st.sampled_from(REALS), max_size=6))
        name = draw(NAMES)
        file = name if layout.file_id else None
        rank = draw(st.integers(-1, min(nprocs, 3) - 1))
        builder.record(module, f"{name}:/x" if layout.file_id else name, rank, file=file, **values)
    if draw(st.booleans()):
        width = draw(st.sampled_from([1e-9, 0.1, 1e9]))
        bins = draw(st.lists(st.sampled_from(COUNTERS), min_size=1, max_size=20))
        builder.heatmap(draw(st.sampled_from(["POSIX", "MPIIO", "STDIO"])), 0, width, bins)
    return log_of(builder)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_logs(), st.sampled_from(OPTIONS))
def test_hostile_records(log: Log, options: CharacterizeOptions) -> None:
    survives(log, options)


@pytest.mark.parametrize("options", OPTIONS)
def test_all_counters_at_their_limit(options: CharacterizeOptions) -> None:
    builder = LogBuilder(nprocs=2)
    for module, versions in layouts.FIXED.items():
        layout = versions.current
        values = dict.fromkeys(layout.counters, 2**63 - 1) | dict.fromkeys(layout.fcounters, 1e308)
        file = "/run/f" if layout.file_id else None
        builder.record(module, "/run/f:/x" if layout.file_id else "/run/f", -1, file=file, **values)
    survives(log_of(builder), options)


def test_the_error_names_the_log_and_a_fix(tmp_path: Path) -> None:
    """Each counter is plausible, but together they are more than a workload can hold."""
    builder = LogBuilder(nprocs=1)
    for rank_file in range(2000):
        builder.posix(f"/run/f{rank_file:05}", 0, WRITES=1, BYTES_WRITTEN=2**50, SIZE_WRITE_1G_PLUS=1)
    with pytest.raises(WorkalikeError, match="exceed what a workload can state") as caught:
        characterize([open_log(builder.write(tmp_path / "huge.darshan"))])
    assert caught.value.file is not None and caught.value.file.endswith("huge.darshan")
    assert caught.value.hint


def test_level_on_request() -> None:
    """`--level` applies where the file has that level."""
    log = open_log(find("shane_macsio"))
    found = characterize([log], CharacterizeOptions(level=Level.POSIX))
    assert {f.family.counted_at for f in found.families} == {Level.POSIX}
    text_logs = 145_664 + 12_460
    assert sum(d.bytes_written for f in found.families for d in f.dumps) == 54_579_416 + text_logs


@pytest.mark.parametrize("named", [0, 1, 3])
def test_records_without_a_name_are_data(named: int) -> None:
    """A log may have lost names: the bytes of those files are as true as those of others."""
    builder = LogBuilder(nprocs=4, run_time=100.0)
    for number in range(4):
        builder.posix(
            f"/p/chk.{number}",
            OPENS=4,
            WRITES=8,
            BYTES_WRITTEN=8 * 2**20,
            SIZE_WRITE_100K_1M=8,
            MAX_BYTE_WRITTEN=8 * 2**20 - 1,
            F_OPEN_START_TIMESTAMP=20.0 * number + 1,
            F_CLOSE_END_TIMESTAMP=20.0 * number + 2,
        )
    builder.names = dict(list(builder.names.items())[:named])
    found = characterize([log_of(builder)])
    dumps = [dump for family in found.families for dump in family.dumps]
    assert [dump.bytes_written for dump in dumps] == [8 * 2**20] * 4
    assert found.noise == []
    assert f"module POSIX: {4 - named} of 4 records have no name" in found.warnings
