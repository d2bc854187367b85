"""Logs of the writer: workalike's reader and PyDarshan read the same values from them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import darshan_everything
import darshan_oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_logs import EVERY_LOG

from workalike.darshan import JobToWrite, LogBuilder, layouts, open_log, record_id, write_log
from workalike.darshan.dxt import SEGMENT, THREAD_SEGMENT
from workalike.errors import ErrorKind, WorkalikeError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "written.darshan"


def test_pydarshan_reads_what_was_written(path: Path, tmp_path: Path) -> None:
    """Every module of the writer, value by value."""
    log = open_log(darshan_everything.builder().write(path))
    oracle = darshan_oracle.ask([path], tmp_path)[path]
    assert oracle is not None
    assert set(oracle["modules"]) == set(log.modules) == {*layouts.FIXED, *layouts.VARIABLE}
    assert oracle["names"] == log.names
    assert oracle["exe"] == log.job.exe == "./app in"
    assert oracle["job"]["run_time"] == log.job.run_time == 100.25
    assert sorted(oracle["mounts"]) == [("/", "ext4"), ("/lus", "lustre")]
    for module in darshan_oracle.FIXED:
        table, theirs = log.records(module), oracle[module]
        assert table is not None
        assert len(table) == len(theirs["ids"]) > 0
        np.testing.assert_array_equal(table.counters, theirs["counters"])
        np.testing.assert_array_equal(table.fcounters, theirs["fcounters"])
        np.testing.assert_array_equal(table.ids, theirs["ids"])
        if table.file_ids is not None:
            np.testing.assert_array_equal(table.file_ids, theirs["file_ids"])
            assert {log.names[number] for number in table.file_ids.tolist()} <= {
                "/lus/shared.h5",
                "/lus/out.nc",
            }
    for module in darshan_oracle.TRACES:
        trace = log.dxt(module)
        assert trace is not None and len(trace) == len(oracle[module]) == 4
        for row, theirs in enumerate(oracle[module]):
            assert [segments.tolist() for segments in trace.segments(row)] == [
                theirs["write_segments"],
                theirs["read_segments"],
            ]
    maps = log.heatmaps()
    for theirs in oracle["HEATMAP"]:
        heatmap = maps[log.names[theirs["id"]].removeprefix("heatmap:")]
        assert heatmap.write[theirs["rank"]].tolist() == theirs["write_bins"].tolist()
        assert heatmap.read[theirs["rank"]].tolist() == theirs["read_bins"].tolist()
    assert [[part["ost_ids"].tolist() for part in record["components"]] for record in oracle["LUSTRE"]] == [
        [part.osts.tolist() for part in record.components] for record in log.lustre()
    ]
    assert log.warnings == []


def test_pydarshans_report_reads_it_too(path: Path) -> None:
    """The high-level interface drops records without names, so it must find all of these."""
    darshan_everything.builder().partial("POSIX", "DXT_POSIX").write(path)
    program = (
        "import sys, darshan\n"
        "report = darshan.DarshanReport(sys.argv[1], read_all=True)\n"
        "print({name: len(records) for name, records in report.records.items()})\n"
        "print(sorted(report.heatmaps), [name for name, m in report.modules.items() if m['partial_flag']])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True, timeout=120
    )
    counts, rest = done.stdout.splitlines()
    expected = {"POSIX": 5, "MPI-IO": 1, "H5F": 1, "H5D": 3, "STDIO": 4, "LUSTRE": 2, "DXT_POSIX": 4}
    for module, number in expected.items():
        assert f"'{module}': {number}" in counts
    assert rest == "['MPIIO', 'POSIX'] ['POSIX', 'DXT_POSIX']"


def test_values_come_out_as_they_went_in(path: Path) -> None:
    log = LogBuilder(nprocs=2, run_time=0.123456789, start_time=1_600_000_000.5, uid=7, job_id=9, exe="x y")
    log.posix("/a", 1, OPENS=-1, BYTES_WRITTEN=(1 << 63) - 1, F_META_TIME=0.1)
    log.dxt_mpiio("/a", 1, reads=[(-1, 5, 0.5, 0.75)], hostname="h" * 100)
    log.partial("POSIX").write(path)
    read = open_log(path)
    assert read.job.run_time == 0.123456789
    assert read.job.start_time == 1_600_000_000.5
    assert (read.job.uid, read.job.job_id, read.job.exe) == (7, 9, "x y")
    assert read.job.metadata == {"lib_ver": "3.5.0"}
    table, trace = read.records("POSIX"), read.dxt("DXT_MPIIO")
    assert table is not None and trace is not None
    assert table.ids.tolist() == [record_id("/a")]
    assert table["OPENS"].tolist() == [-1]
    assert table["BYTES_WRITTEN"].tolist() == [(1 << 63) - 1]
    assert table["F_META_TIME"].tolist() == [0.1]
    assert table["READS"].tolist() == [0]
    assert trace.hostnames.tolist() == [b"h" * 63]
    assert trace.segments(0)[1].tolist() == [(-1, 5, 0.5, 0.75)]
    assert read.modules["POSIX"].partial and not read.modules["DXT_MPIIO"].partial


@settings(max_examples=50, deadline=None)
@given(
    module=st.sampled_from(sorted(layouts.FIXED)),
    data=st.data(),
    rank=st.integers(-1, 3),
    name=st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1),
)
def test_any_record(
    module: str, data: st.DataObject, rank: int, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    layout = layouts.FIXED[module].current
    values: dict[str, float] = {
        **data.draw(
            st.dictionaries(st.sampled_from(layout.counters), st.integers(-(1 << 63), (1 << 63) - 1))
        ),
        **data.draw(
            st.dictionaries(
                st.sampled_from(layout.fcounters), st.floats(allow_nan=False, allow_infinity=False)
            )
        ),
    }
    path = tmp_path_factory.getbasetemp() / "any.darshan"
    LogBuilder(nprocs=4).record(module, name, rank, **values).write(path)
    log = open_log(path)
    table = log.records(module)
    assert table is not None
    assert table.ranks.tolist() == [rank]
    assert [log.names[number] for number in table.ids.tolist()] == [name]
    for counter in table:
        assert table[counter].tolist() == [values.get(counter, 0)]


@pytest.mark.parametrize("source", EVERY_LOG, ids=lambda log: log.name[:60])
def test_real_records_written_again(source: Path, path: Path, tmp_path: Path) -> None:
    """All fixed records of a real log, converted to the current layout, can be written and read again."""
    log = open_log(source)
    tables = {module: log.records(module) for module in layouts.FIXED if module in log.modules}
    regions = {module: table for module, table in tables.items() if table is not None}
    write_log(path, job=JobToWrite(nprocs=log.job.nprocs), names=log.names, regions=regions)
    again = open_log(path)
    for module, table in regions.items():
        copy = again.records(module)
        assert copy is not None
        for field in ("ids", "ranks", "counters", "fcounters"):
            np.testing.assert_array_equal(getattr(copy, field), getattr(table, field))
    assert again.names == log.names


def test_segments_may_be_arrays(path: Path) -> None:
    rows = [(10 * index, 10, float(index), index + 0.5) for index in range(1000)]
    threaded = np.zeros(1000, dtype=THREAD_SEGMENT)
    plain = np.array(rows, dtype=SEGMENT)
    for name in SEGMENT.names or ():
        threaded[name] = plain[name]
    for segments in (rows, plain, threaded):
        trace = open_log(LogBuilder().dxt_posix("/a", 0, segments).write(path)).dxt("DXT_POSIX")
        assert trace is not None
        assert trace.segments(0)[0].tolist() == rows


def test_empty_log(path: Path, tmp_path: Path) -> None:
    log = open_log(LogBuilder(nprocs=3).write(path))
    assert (log.modules, log.names, log.warnings) == ({}, {}, [])
    oracle = darshan_oracle.ask([path], tmp_path)[path]
    assert oracle is not None and oracle["job"]["nprocs"] == 3


def test_what_cannot_be_written(path: Path) -> None:
    with pytest.raises(ValueError, match="no counter NONE_SUCH"):
        LogBuilder().posix("/a", NONE_SUCH=1)
    with pytest.raises(ValueError, match="no counter COLL_OPENS"):
        LogBuilder().posix("/a", COLL_OPENS=1)
    with pytest.raises(ValueError, match="different numbers of bins"):
        LogBuilder().heatmap("POSIX", 0, 0.1, [1, 2], [1])
    with pytest.raises(ValueError, match="NUL"):
        LogBuilder().posix("/a\0b").image()
    with pytest.raises(ValueError, match="too long"):
        LogBuilder(exe="x" * 4000).image()
    with pytest.raises(ValueError, match="processes"):
        LogBuilder(nprocs=0).image()
    with pytest.raises(WorkalikeError) as caught:
        LogBuilder().write(path.parent / "no" / "such" / "folder")
    assert caught.value.kind == ErrorKind.CANNOT_WRITE
