"""MPI-IO: collective calls, file views, hints, large operations, and the count of MPI-IO calls."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from workalike import _core

from .conftest import Engine, content, dump, family, make_plan, sharing, stream


def test_collective_and_independent_are_counted_apart(engine: Engine, ranks: int) -> None:
    streams = [
        stream([[3 * ranks, 1000]], collective=True),
        stream([[5, 100]], ranks=[[0, 0, 1]], base=10**5),
        stream([[2, 64]], collective=True, ranks=[[ranks - 1, ranks - 1, 1]], base=2 * 10**5),
    ]
    plan = make_plan(ranks, [family("mpiio")], [content(*streams)])
    result = engine(plan, "--verify")
    (d,) = result.dumps
    c, level = d["counters"], d["levels"]["mpiio"]
    assert c["COLL_WRITES"] == level["coll_writes"] == 3 * ranks + 2 * ranks
    assert c["INDEP_WRITES"] == level["indep_writes"] == 5
    assert d["bytes_written"] == level["bytes_written"] == 3 * ranks * 1000 + 500 + 128
    assert c["WRITES"] == c["COLL_WRITES"] + c["INDEP_WRITES"]
    assert result.end["verified"]["errors"] == 0


@pytest.mark.parametrize("collective", [False, True])
def test_pieces_through_a_view(engine: Engine, ranks: int, collective: bool) -> None:
    """Each operation is 8 pieces, interleaved over the ranks; ordinary data come after it."""
    streams = [
        stream(
            [[2 * ranks, 8000], [ranks, 800]],
            pattern="interleaved",
            pieces=8,
            collective=collective,
            base=512,
        ),
        stream([[ranks, 100]], base=10**6),
    ]
    plan = make_plan(ranks, [family("mpiio")], [content(*streams)])
    result = engine(plan, "--keep", "--verify")
    assert result.end["verified"].items() >= {"bytes": ranks * 16900, "errors": 0}.items()
    (d,) = result.dumps
    assert d["counters"]["WRITES"] == 4 * ranks
    data = result.path("checkpoint-1.0000.dat").read_bytes()
    assert len(data) == 10**6 + 100 * ranks
    dense = data[512 : 512 + ranks * 16800]
    assert dense.count(0) < len(dense) / 100  # no holes
    assert not any(data[512 + ranks * 16800 : 10**6])
    # The posix backend makes one call per piece, and writes to the same places.
    posix = engine(plan, "--keep", "--verify", "--backend", "posix")
    assert posix.dumps[0]["counters"]["WRITES"] == 3 * 8 * ranks + ranks
    assert posix.end["verified"]["errors"] == 0


def test_backends_write_the_same_bytes(engine: Engine, ranks: int) -> None:
    streams = [
        stream([[4 * ranks, 3000]], pattern="interleaved"),
        stream([[2 * ranks, 500], [ranks, 7]], pattern="random", base=10**5),
        stream([[2 * ranks, 100]], pattern="strided", stride=150, base=2 * 10**5),
    ]
    digests = set()
    for backend in ("posix", "stdio", "mpiio"):
        plan = make_plan(ranks, [family(backend)], [content(*streams)])
        result = engine(plan, "--keep")
        digests.add(hashlib.sha256(result.path("checkpoint-1.0000.dat").read_bytes()).hexdigest())
    assert len(digests) == 1


def test_hints_are_passed(engine: Engine, ranks: int) -> None:
    family_spec = family("mpiio", hints={"cb_nodes": "1", "romio_cb_write": "enable"})
    result = engine(
        make_plan(ranks, [family_spec], [content(stream([[ranks, 1000]], collective=True))]), "--verify"
    )
    assert result.end["verified"]["errors"] == 0
    assert result.head["environment"]["mpi_io"] in ("ompio", "romio")


@pytest.mark.parametrize(("component", "found"), [("romio321", "romio"), ("ompio", "ompio")])
def test_the_component_is_the_one_that_opens_files(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, component: str, found: str
) -> None:
    """Open MPI may have both loaded, and repeats any hint, so neither tells."""
    info = shutil.which("ompi_info")
    if info is None or component not in subprocess.run([info], capture_output=True, text=True).stdout:
        pytest.skip(f"this MPI has no {component}")
    monkeypatch.setenv("OMPI_MCA_io", component)
    plan = make_plan(1, [family("mpiio")], [content(stream([[1, 1000]]))])
    assert engine(plan).head["environment"]["mpi_io"] == found


def test_operation_beyond_two_gibibytes(engine: Engine) -> None:
    folder = Path("/dev/shm")
    if not folder.is_dir():
        pytest.skip("no tmpfs to write 2 GiB to")
    data = folder / f"workalike-test-{engine.tmp.name}"
    size = 2**31 + 2**20 + 12345
    plan = make_plan(1, [family("mpiio")], [content(stream([[1, size]]))])
    try:
        result = engine(plan, "--verify", data=data)
        assert result.dumps[0]["bytes_written"] == size
        assert result.dumps[0]["counters"]["WRITES"] == 1
        assert result.dumps[0]["counters"]["SIZE_WRITE"][9] == 1
        assert result.end["verified"].items() >= {"bytes": size, "errors": 0}.items()
    finally:
        for path in data.iterdir():
            path.unlink()
        data.rmdir()


def test_opens_and_syncs_are_collective(engine: Engine, ranks: int) -> None:
    plan = make_plan(
        ranks,
        [family("mpiio")],
        [content(stream([[ranks, 100]]), opens=2 * ranks - 1, fsyncs=1, flushes=1)],
        [dump(0)],
    )
    (d,) = engine(plan).dumps
    assert d["counters"]["OPENS"] == (1 if ranks == 1 else 2 * ranks - 1)
    assert d["counters"]["FSYNCS"] == d["counters"]["FLUSHES"] == ranks


def test_file_per_rank_is_not_collective(engine: Engine, ranks: int) -> None:
    family_spec = family("mpiio", sharing=sharing("per-rank"))
    plan = make_plan(ranks, [family_spec], [content(stream([[ranks, 100]], collective=True))])
    (d,) = engine(plan, "--verify").dumps
    assert d["counters"]["OPENS"] == ranks
    assert d["counters"]["COLL_WRITES"] == ranks


@pytest.mark.parametrize("calls", [{"fsyncs": 1}, {"flushes": 2}])
def test_a_sync_of_a_file_that_is_only_read_is_refused(calls: dict[str, int]) -> None:
    """MPI_File_sync fails on it with MPI_ERR_ACCESS."""
    reads = content(stream([[4, 100]], direction="read"), **calls)
    plan = make_plan(2, [family("mpiio")], [reads])
    with pytest.raises(_core.PlanError, match="MPI syncs no file that is only read"):
        _core.Plan(json.dumps(plan)).refuse()
    _core.Plan(json.dumps(make_plan(2, [family("posix")], [reads]))).refuse()
    _core.Plan(json.dumps(plan)).refuse("posix")


def test_posted_operations(engine: Engine, ranks: int) -> None:
    """More writes than are posted at a time, and reads; they are where blocking ones are."""
    kinds = ({}, {"nonblocking": True})
    found = []
    for kind in kinds:
        write = stream([[300 * ranks, 100], [ranks, 70_000]], pattern="interleaved", **kind)
        plan = make_plan(ranks, [family("mpiio")], [content(write, write | {"direction": "read"})])
        result = engine(plan, "--keep", "--verify")
        assert result.end["verified"]["errors"] == 0
        (d,) = result.dumps
        assert d["counters"]["READS"] == d["counters"]["WRITES"] == 301 * ranks
        assert d["bytes_read"] == d["bytes_written"] == 100_000 * ranks
        found.append(result.path("checkpoint-1.0000.dat").read_bytes())
    assert found[0] == found[1]


@pytest.mark.parametrize("other", [{"collective": True}, {"pieces": 4}])
def test_posted_operations_are_independent_and_whole(other: dict[str, object]) -> None:
    plan = make_plan(2, [family("mpiio")], [content(stream([[4, 100]], nonblocking=True, **other))])
    with pytest.raises(_core.PlanError, match="independent operations of one piece"):
        _core.Plan(json.dumps(plan))


@pytest.mark.parametrize("pieces", [1, 4])
@pytest.mark.parametrize("beyond", [500, -50])
def test_rounds_at_a_distance(engine: Engine, ranks: int, pieces: int, beyond: int) -> None:
    """Three rounds, with gaps or overlaps between them, as a view of a vector type makes."""
    if beyond < 0 and (ranks == 1 or pieces > 1):
        pytest.skip("operations of a rank do not overlap, nor do pieces")
    whole = 400 * ranks
    write = stream(
        [[3 * ranks, 400]], pattern="interleaved", pieces=pieces, stride=whole + beyond, collective=True
    )
    plan = make_plan(ranks, [family("mpiio")], [content(write, write | {"direction": "read"})])
    result = engine(plan, "--keep", "--verify")
    assert result.end["verified"]["errors"] == 0
    data = result.path("checkpoint-1.0000.dat").read_bytes()
    assert len(data) == 2 * (whole + beyond) + whole
    for gap in range(2):
        first = (gap + 1) * whole + gap * beyond
        assert beyond < 0 or not any(data[first : first + beyond])


@pytest.mark.parametrize(
    ("entries", "stride", "pieces", "words"),
    [
        ([[5, 400]], 2000, 1, "as many operations of one size on each rank"),
        ([[4, 400], [4, 800]], 2000, 1, "as many operations of one size on each rank"),
        ([[8, 400]], 1599, 4, "must be at least 1600"),
    ],
)
def test_rounds_that_are_refused(entries: list[list[int]], stride: int, pieces: int, words: str) -> None:
    rounds = stream(entries, pattern="interleaved", stride=stride, pieces=pieces)
    plan = make_plan(4, [family("mpiio")], [content(rounds)])
    with pytest.raises(_core.PlanError, match=words):
        _core.Plan(json.dumps(plan))
