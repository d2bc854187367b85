"""Who writes into which file: names, sizes and bytes on disk."""

from __future__ import annotations

import pytest

from .conftest import Engine, content, dump, family, make_plan, sharing, stream, without_id

BACKENDS = ["posix", "stdio", "mpiio"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_shared_file_holds_all_ranks(engine: Engine, ranks: int, backend: str) -> None:
    plan = make_plan(ranks, [family(backend)], [content(stream([[4 * ranks, 5000]]))], [dump(0), dump(1)])
    result = engine(plan, "--keep", "--verify")
    size = 4 * ranks * 5000
    assert result.files() == {"checkpoint-1.0000.dat": size, "checkpoint-1.0001.dat": size}
    for d in result.dumps:
        assert d["bytes_written"] == d["payload_bytes"] == size
        assert d["ranks"] == ranks
        assert d["counters"]["WRITES"] == 4 * ranks
        assert d["counters"]["OPENS"] == ranks
        assert d["counters"]["MAX_BYTE_WRITTEN"] == size - 1
        assert d["levels"][backend]["bytes_written"] == size
    assert [(without_id(f["name"]), f["size"]) for f in result.end["files"]] == list(result.files().items())
    assert result.end["verified"].items() >= {"bytes": 2 * size, "errors": 0}.items()


@pytest.mark.parametrize("backend", BACKENDS)
def test_file_per_rank(engine: Engine, ranks: int, backend: str) -> None:
    plan = make_plan(
        ranks, [family(backend, sharing=sharing("per-rank"))], [content(stream([[2 * ranks + 1, 1000]]))]
    )
    result = engine(plan, "--keep", "--verify")
    expected = {f"checkpoint-1.0000.r{r:06d}.dat": 3000 if r == 0 else 2000 for r in range(ranks)}
    assert result.files() == expected
    assert result.end["verified"]["errors"] == 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_files_go_unless_kept(engine: Engine, ranks: int, backend: str) -> None:
    plan = make_plan(ranks, [family(backend)], [content(stream([[ranks, 100]]))])
    result = engine(plan)
    assert result.files() == {}
    assert result.end["files"][0]["size"] == ranks * 100


@pytest.mark.parametrize("backend", ["null", "record"])
def test_counting_backends_touch_nothing(engine: Engine, backend: str) -> None:
    plan = make_plan(2048, [family("mpiio")], [content(stream([[2048 * 8, 1 << 27]]), opens=2048)])
    arguments = ["--backend", backend]
    if backend == "record":
        arguments += ["--operations", str(engine.tmp / "operations.txt")]
    result = engine(plan, *arguments, processes=0)
    assert result.files() == {}
    (d,) = result.dumps
    assert d["ranks"] == 2048
    assert d["bytes_written"] == 2048 * 8 << 27
    assert d["counters"]["OPENS"] == 2048
    assert d["counters"]["CONSEC_WRITES"] == 2048 * 7  # each rank starts anew
    assert d["counters"]["SEQ_WRITES"] == 2048 * 8 - 1
    if backend == "record":
        lines = (engine.tmp / "operations.txt").read_text().splitlines()
        writes = [line.split("\t") for line in lines if "\twrite\t" in line]
        assert len(writes) == 2048 * 8
        assert len({w[4] for w in writes}) == 2048 * 8


def test_ranks_that_do_not_open_a_file_make_no_other_calls(engine: Engine) -> None:
    """Seeks, flushes and syncs of a few ranks were shared out over all, each of which then opened the file."""
    calls = {"opens": 1, "stats": 3, "seeks": 3, "flushes": 3, "fsyncs": 3}
    item = content(stream([[1, 100]], ranks=[[0, 0, 1]]), **calls)
    (done,) = engine(make_plan(3, [family("posix")], [item], [dump(0)])).dumps
    assert {name: done["counters"][name.upper()] for name in calls} == calls
