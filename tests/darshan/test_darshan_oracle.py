"""Every counter of every real log equals PyDarshan's, or the bytes where PyDarshan is known to be wrong."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import darshan_oracle
import numpy as np
import pytest
from known_logs import EVERY_LOG, needs_shared, package, shared

from workalike.darshan import Log, layouts, open_log
from workalike.facts.gather import facts_of
from workalike.facts.slowest_call import slowest_call
from workalike.facts.thresholds import THRESHOLDS

UNREAD = {
    "F_META_TIME",  # PyDarshan does not swap these three in big-endian logs
    "F_MAX_READ_TIME",
    "F_MAX_WRITE_TIME",
    "F_FASTEST_RANK_TIME",  # and does not carry these over from old records of any byte order
    "F_SLOWEST_RANK_TIME",
    "F_VARIANCE_RANK_TIME",
    "F_VARIANCE_RANK_BYTES",
}
"""Real counters of POSIX records of version 1 to 3 that PyDarshan 3.5.0 gets wrong."""

OLD_POSIX = [log for log in EVERY_LOG if log.name.startswith(("sample", "noposixopens", "mpi-io-test-"))]
OLD_POSIX = [log for log in OLD_POSIX if log.read_bytes()[:4] in (b"3.00", b"3.10")]
"""Logs with such records."""


@pytest.fixture(scope="session")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, dict[str, Any] | None]:
    return darshan_oracle.ask(EVERY_LOG, tmp_path_factory.mktemp("oracle"))


@pytest.fixture(params=EVERY_LOG, ids=lambda log: log.name[:60])
def pair(
    request: pytest.FixtureRequest, answers: dict[Path, dict[str, Any] | None]
) -> tuple[Log, dict[str, Any]]:
    answer = answers[request.param]
    if answer is None:
        pytest.skip("PyDarshan dies on this log")
    return open_log(request.param), answer


def test_job(pair: tuple[Log, dict[str, Any]]) -> None:
    log, oracle = pair
    job = oracle["job"]
    assert log.format_version == job["log_ver"]
    assert (log.job.uid, log.job.nprocs, log.job.job_id) == (job["uid"], job["nprocs"], job["jobid"])
    assert log.job.metadata == job["metadata"]
    assert int(log.job.start_time) == job["start_time_sec"]
    assert int(log.job.end_time) == job["end_time_sec"]
    assert log.job.run_time == pytest.approx(job["run_time"], abs=1e-6)
    if oracle["mounts"]:
        assert log.job.exe == oracle["exe"]
    assert sorted(log.job.mounts) == sorted((kind, path) for path, kind in oracle["mounts"])


def test_modules_and_names(pair: tuple[Log, dict[str, Any]]) -> None:
    log, oracle = pair
    assert list(log.modules) == list(oracle["modules"])
    for name, module in log.modules.items():
        theirs = oracle["modules"][name]
        assert (module.id, module.version, module.length) == (theirs["idx"], theirs["ver"], theirs["len"])
        if log.byte_order == "little":  # PyDarshan does not swap the flags
            assert module.partial == theirs["partial_flag"]
    assert log.names == oracle["names"]


def test_counters(pair: tuple[Log, dict[str, Any]]) -> None:
    log, oracle = pair
    for module in darshan_oracle.FIXED:
        table = log.records(module)
        assert (table is None) == (module not in oracle)
        if table is None:
            continue
        theirs = oracle[module]
        assert table.counter_names == tuple(theirs["counter_names"])
        assert table.fcounter_names == tuple(theirs["fcounter_names"])
        np.testing.assert_array_equal(table.ids, theirs["ids"])
        np.testing.assert_array_equal(table.ranks, theirs["ranks"])
        np.testing.assert_array_equal(table.counters, theirs["counters"])
        if table.file_ids is not None:
            np.testing.assert_array_equal(table.file_ids, theirs["file_ids"])
        doubtful = module == "POSIX" and log.modules[module].version < 4
        for name, column in zip(theirs["fcounter_names"], theirs["fcounters"].T, strict=True):
            if not (doubtful and name in UNREAD):
                np.testing.assert_array_equal(table[name], column, err_msg=f"{module} {name}")


@pytest.mark.parametrize("path", OLD_POSIX, ids=lambda log: log.name)
def test_old_posix_times_are_those_in_the_file(path: Path) -> None:
    """Where PyDarshan is wrong, read the doubles straight from the region."""
    log = open_log(path)
    table = log.records("POSIX")
    assert table is not None
    info = log.modules["POSIX"]
    ints, reals = {1: (68, 15), 2: (64, 15), 3: (64, 17)}[info.version]
    data = path.read_bytes()[info.offset : info.offset + info.length]
    inflated = b""
    while data:
        stream = zlib.decompressobj()
        inflated += stream.decompress(data)
        data = stream.unused_data
    size = 16 + 8 * (ints + reals)
    assert len(inflated) == size * len(table)
    code = "<" if log.byte_order == "little" else ">"
    for row in range(len(table)):
        stored = list(struct.unpack_from(f"{code}{reals}d", inflated, row * size + 16 + 8 * ints))
        if reals == 15:
            stored[3:3] = [-1.0, -1.0]  # CLOSE_START and OPEN_END came with version 3
        assert table.fcounters[row].tolist() == stored


def test_lustre(pair: tuple[Log, dict[str, Any]]) -> None:
    log, oracle = pair
    records = log.lustre()
    assert len(records) == len(oracle.get("LUSTRE", []))
    for record, expected in zip(records, oracle.get("LUSTRE", []), strict=True):
        assert (record.id, record.rank) == (expected["id"], expected["rank"])
        assert len(record.components) == len(expected["components"])
        for part, other in zip(record.components, expected["components"], strict=True):
            assert part.osts.tolist() == other["ost_ids"].tolist()
            assert part.pool == other["pool_name"]
            assert [part.stripe_size, part.stripe_count] == other["counters"][:2].tolist()
            if log.modules["LUSTRE"].version == 2:
                extent = [part.pattern, part.flags, part.extent_start, part.extent_end, part.mirror_id]
                assert extent == other["counters"][2:].tolist()


def test_heatmaps(pair: tuple[Log, dict[str, Any]]) -> None:
    log, oracle = pair
    maps = log.heatmaps()
    rows = {(record["id"], record["rank"]): record for record in oracle.get("HEATMAP", [])}
    seen = 0
    for heatmap in maps.values():
        number = next(number for number, name in oracle["names"].items() if name == f"heatmap:{heatmap.api}")
        for row, rank in enumerate(heatmap.ranks.tolist()):
            theirs = rows[number, rank]
            assert heatmap.bin_width == theirs["bin_width_seconds"]
            np.testing.assert_array_equal(heatmap.write[row], theirs["write_bins"])
            np.testing.assert_array_equal(heatmap.read[row], theirs["read_bins"])
            seen += 1
    assert seen == len(rows)


def test_traces(pair: tuple[Log, dict[str, Any]]) -> None:
    log, oracle = pair
    for module in darshan_oracle.TRACES:
        table = log.dxt(module)
        if table is None:
            assert module not in oracle
            continue
        if layouts.DXT_SEGMENT_BYTES[module, table.version] == 40:
            assert oracle[module] == []  # PyDarshan refuses these
            continue
        assert len(table) == len(oracle[module])
        for index, theirs in enumerate(oracle[module]):
            assert int(table.ids[index]) == theirs["id"]
            assert int(table.ranks[index]) == theirs["rank"]
            assert table.hostnames[index].decode() == theirs["hostname"]
            for segments, expected in zip(
                table.segments(index), (theirs["write_segments"], theirs["read_segments"]), strict=True
            ):
                assert segments.tolist() == expected


def test_every_log_is_read_whole(pair: tuple[Log, dict[str, Any]]) -> None:
    """Only warnings that are true of real logs; PyDarshan's record counts include all of ours."""
    log, _ = pair
    _ = log.names, log.lustre(), log.heatmaps()
    for module in darshan_oracle.FIXED:
        log.records(module)
    for module in darshan_oracle.TRACES:
        log.dxt(module)
    expected = ("ran out of memory", "does not say which file", "no valid offsets")
    assert [text for text in log.warnings if not any(part in text for part in expected)] == []


def test_command_line_without_mounts() -> None:
    """PyDarshan gives '' for this log, but the command line is in it (docs/reference/darshan-format.md#job-region)."""
    job = open_log(package("dxt.darshan")).job
    assert job.exe.startswith("java -Xms1024m")
    assert job.mounts == []


@needs_shared
def test_big_endian_times() -> None:
    """PyDarshan shows a META_TIME of hundreds of negative seconds here; read by hand it is 0.3 s."""
    for name, seconds in {"mpi-io-test-ppc64-3.0.0": 0.31357, "mpi-io-test-ppc64-3.1.6": 0.14666}.items():
        log = open_log(shared(name))
        table = log.records("POSIX")
        assert log.byte_order == "big"
        assert table is not None
        assert table["F_META_TIME"].tolist() == [pytest.approx(seconds, abs=1e-5)]


def test_variance_of_old_records() -> None:
    """PyDarshan shows 0 for this version 3 record although the file holds the values."""
    table = open_log(package("sample.darshan")).records("POSIX")
    assert table is not None
    assert table["F_VARIANCE_RANK_TIME"].tolist() == [pytest.approx(95.4342, abs=1e-4)]
    assert table["F_VARIANCE_RANK_BYTES"].tolist() == [pytest.approx(701.663, abs=1e-3)]


@needs_shared
def test_new_trace_records() -> None:
    """DXT_POSIX version 2, which PyDarshan refuses: its operations are those that the counters count."""
    log = open_log(shared("nwchem-scratch-4-dxt2"))
    table, counters = log.dxt("DXT_POSIX"), log.records("POSIX")
    assert table is not None and counters is not None
    assert table.version == 2
    rows = {pair: row for row, pair in enumerate(zip(counters.ids, counters.ranks, strict=True))}
    for index in range(len(table)):
        row = rows[table.ids[index], table.ranks[index]]
        writes, reads = table.segments(index)
        assert len(writes) == counters["WRITES"][row]
        assert len(reads) == counters["READS"][row]
        assert writes["length"].sum() == counters["BYTES_WRITTEN"][row]
        assert reads["length"].sum() == counters["BYTES_READ"][row]
        assert (writes["end"] >= writes["start"]).all()
        assert (writes["thread"] > 0).all()


def test_slowest_call(pair: tuple[Log, dict[str, Any]]) -> None:
    """Of all files; big-endian records of old versions, which PyDarshan gets wrong, are left out."""
    log, oracle = pair
    if log.path in OLD_POSIX:
        pytest.skip("PyDarshan reads these times wrong")
    facts = facts_of([log])
    longest = facts.run_time + THRESHOLDS.run_time_rounded
    calls = []
    for module in ("POSIX", "MPI-IO", "H5D", "PNETCDF_VAR"):
        if module not in oracle or not len(oracle[module]["ids"]):
            continue
        table = oracle[module]
        for kind in ("READ", "WRITE"):
            seconds = table["fcounters"][:, table["fcounter_names"].index(f"F_MAX_{kind}_TIME")]
            sizes = table["counters"][:, table["counter_names"].index(f"MAX_{kind}_TIME_SIZE")]
            calls += [
                (s, n) for s, n in zip(seconds.tolist(), sizes.tolist(), strict=True) if 0 < s <= longest
            ]
    found = slowest_call(facts, np.ones(len(facts), dtype=bool))
    if not calls:
        assert found is None
        return
    slowest = max(seconds for seconds, _ in calls)
    assert found is not None and found.seconds == slowest
    assert found.bytes in {max(0, size) for seconds, size in calls if seconds == slowest}
