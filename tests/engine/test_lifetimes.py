"""Lifetimes and names of files, turns of ranks, and files that must exist before."""

from __future__ import annotations

import csv
import re
import shutil
from itertools import pairwise
from typing import Any

import pytest

from .conftest import Engine, content, dump, family, make_plan, sharing, stream, without_id

BACKENDS = ["posix", "stdio", "mpiio"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_appended_file_stays_open(engine: Engine, ranks: int, backend: str) -> None:
    family_spec = family(backend, lifetime="appended")
    size = ranks * 1000
    contents = [
        content(stream([[ranks, 1000]]), opens=ranks, flushes=ranks),
        content(stream([[ranks, 1000]])),
    ]
    dumps = [dump(i, file=0, base=i * size, content=min(i, 1)) for i in range(5)]
    result = engine(make_plan(ranks, [family_spec], contents, dumps), "--keep", "--verify")
    assert result.files() == {"checkpoint-1.0000.dat": 5 * size}
    assert [d["counters"]["OPENS"] for d in result.dumps] == [ranks, 0, 0, 0, 0]
    assert [d["kinds"]["close"]["count"] for d in result.dumps] == [0, 0, 0, 0, ranks]
    assert [d["counters"]["FLUSHES"] for d in result.dumps] == [ranks, 0, 0, 0, 0]
    # The position is kept between dumps: from the second dump on, each rank's first write is sequential.
    assert [d["counters"]["SEQ_WRITES"] for d in result.dumps] == [ranks - 1, *[ranks] * 4]
    assert result.end["verified"].items() >= {"bytes": 5 * size, "errors": 0}.items()
    (one_file,) = result.end["files"]
    assert one_file["size"] == 5 * size


@pytest.mark.parametrize("backend", BACKENDS)
def test_reused_file_is_opened_at_each_dump(engine: Engine, ranks: int, backend: str) -> None:
    family_spec = family(backend, lifetime="reused")
    contents = [content(stream([[3 * ranks, 1000]])), content(stream([[ranks, 10]]))]
    dumps = [dump(i, file=0, content=i % 2) for i in range(4)]
    result = engine(make_plan(ranks, [family_spec], contents, dumps), "--keep", "--verify")
    assert result.files() == {"checkpoint-1.0000.dat": 3 * ranks * 1000}
    assert [d["counters"]["OPENS"] for d in result.dumps] == [ranks] * 4
    assert result.end["verified"]["errors"] == 0


def test_gathered_dumps_that_overlap_keep_as_many_files(engine: Engine) -> None:
    """Such a dump is over at its start. Its file was deleted before it was made, and stayed."""
    item = family("posix", keep=1, sharing=sharing("root", [[1, 1, 1]], gather=True))
    dumps = [dump(0, end_s=2.0), dump(1, end_s=0.0)]
    result = engine(make_plan(2, [item], [content(stream([[4, 1000]]))], dumps), "--keep", "--verify")
    assert list(result.files()) == ["checkpoint-1.0001.dat"]


@pytest.mark.parametrize("backend", [*BACKENDS, "hdf5"])
@pytest.mark.parametrize("mode", ["shared", "per-rank", "groups"])
def test_rolling_files(engine: Engine, ranks: int, backend: str, mode: str) -> None:
    family_spec = family(
        backend, keep=2, rename=True, sharing=sharing(mode, files=min(2, ranks) if mode == "groups" else 1)
    )
    plan = make_plan(ranks, [family_spec], [content(stream([[ranks, 1000]]))], [dump(i) for i in range(5)])
    result = engine(plan, "--keep", "--verify")
    assert {name.split(".")[1] for name in result.files()} == {"0003", "0004"}
    assert not [name for name in result.files() if name.endswith(".tmp")]
    assert result.end["verified"]["errors"] == 0
    assert {f["index"] for f in result.end["files"]} == {3, 4}


@pytest.mark.parametrize("backend", [*BACKENDS, "hdf5"])
@pytest.mark.parametrize("mode", ["shared", "per-rank"])
def test_removed_files(engine: Engine, ranks: int, backend: str, mode: str) -> None:
    """Each of two files is written by one dump and read by another, and is gone at the end."""
    item = family(backend, removed=True, sharing=sharing(mode))
    contents = [content(stream([[ranks, 1000]])), content(stream([[ranks, 1000]], "read"))]
    dumps = [dump(i, file=i // 2, content=i % 2) for i in range(4)]
    result = engine(make_plan(ranks, [item], contents, dumps), "--keep", "--verify")
    assert (result.files(), result.end["files"]) == ({}, [])
    assert result.end["verified"]["errors"] == 0
    assert [d["bytes_read"] for d in result.dumps] == [0, 1000 * ranks] * 2


@pytest.mark.parametrize("more", [{"keep": 1}, {"rename": True}, {"backup": True}])
def test_files_that_are_kept_are_not_removed(engine: Engine, more: dict[str, Any]) -> None:
    plan = make_plan(1, [family("posix", removed=True, **more)], [content(stream([[1, 1000]]))])
    result = engine(plan, processes=1, check=False)
    assert (result.code, "families[0].removed: no file is left" in result.refusal) == (2, True)


@pytest.mark.parametrize("mode", ["shared", "per-rank"])
def test_backups(engine: Engine, ranks: int, mode: str) -> None:
    family_spec = family("posix", keep=3, backup=True, sharing=sharing(mode))
    plan = make_plan(ranks, [family_spec], [content(stream([[ranks, 1000]]))], [dump(i) for i in range(5)])
    result = engine(plan, "--keep", "--verify")
    assert {name.split(".")[1] for name in result.files()} == {"0002", "0003", "0004"}
    assert not [name for name in result.files() if name.endswith(".tmp")]
    assert result.end["verified"]["errors"] == 0


def test_backups_are_renamed_and_the_last_file_is_not(engine: Engine) -> None:
    if shutil.which("strace") is None:
        pytest.skip("no strace")
    out = engine.tmp / "trace"
    family_spec = family("posix", keep=3, backup=True)
    plan = make_plan(1, [family_spec], [content(stream([[2, 1000]]))], [dump(i) for i in range(5)])
    engine(plan, prefix=["strace", "-f", "-o", str(out), "-e", "trace=rename,renameat,renameat2"])
    renamed = [line for line in out.read_text().splitlines() if "checkpoint-1." in line]
    assert len(renamed) == 4
    assert not any(".0004." in line for line in renamed)


@pytest.mark.parametrize("mode", ["shared", "per-rank"])
def test_backups_of_one_name(engine: Engine, ranks: int, mode: str) -> None:
    """Five files of one name: the last keeps it, and two others are left, under each other's names in turn."""
    family_spec = family("posix", keep=3, backup=True, lifetime="reused", sharing=sharing(mode))
    sizes = [1000, 3000, 2000, 5000, 4000]
    contents = [content(stream([[ranks, size]])) for size in sizes]
    dumps = [dump(i, file=0, content=i) for i in range(5)]
    result = engine(make_plan(ranks, [family_spec], contents, dumps), "--keep", "--verify")
    files = result.files()
    each = 1 if mode == "per-rank" else ranks
    names = {name.rpartition(".dat")[0] for name in files}
    assert len(names) == (ranks if mode == "per-rank" else 1)
    for name in names:
        own = {suffix: files[f"{name}.dat{suffix}"] for suffix in ("", ".tmp1", ".tmp2")}
        assert own == {"": 4000 * each, ".tmp1": 2000 * each, ".tmp2": 5000 * each}
    assert len(files) == 3 * len(names)
    assert result.end["verified"]["errors"] == 0


@pytest.mark.parametrize("keep", [0, 3])
def test_backups_of_one_name_are_removed_after_the_run(engine: Engine, ranks: int, keep: int) -> None:
    family_spec = family("posix", keep=keep, backup=True, lifetime="reused")
    contents = [content(stream([[ranks, 1000]]))]
    result = engine(make_plan(ranks, [family_spec], contents, [dump(i, file=0) for i in range(5)]))
    assert result.files() == {}


def test_a_file_is_read_before_the_next_takes_its_name(engine: Engine) -> None:
    """Written, read back, renamed twice; then the next one is written. What the last dumps read is that one."""
    if shutil.which("strace") is None:
        pytest.skip("no strace")
    out = engine.tmp / "trace"
    family_spec = family("posix", backup=True, lifetime="reused")
    contents = [
        content(stream([[1, 3000]])),
        content(stream([[1, 3000]], "read"), renames=1),
        content(stream([[1, 1000]])),
        content(stream([[1, 1000]], "read")),
    ]
    plan = make_plan(1, [family_spec], contents[:1], [dump(0)])
    plan["contents"] = contents
    plan["dumps"] = [dump(i, file=0, content=i) for i in range(4)]
    refused = engine(plan, check=False)
    assert (refused.code, "contents[1].renames" in refused.refusal) == (2, True)
    contents[1] = content(stream([[1, 3000]], "read"))
    contents[0] = content(stream([[1, 3000]]), renames=1)
    calls = "trace=openat,rename,renameat,renameat2"
    result = engine(plan, prefix=["strace", "-f", "-o", str(out), "-e", calls])
    lines = [line for line in out.read_text().splitlines() if "checkpoint-1." in line]
    made = ["rename" if "rename" in line else "open" for line in lines]
    assert made == ["open", "rename", "open", "rename", "open", "open"]
    assert [d["bytes_read"] for d in result.dumps] == [0, 3000, 0, 1000]


@pytest.mark.parametrize(
    "more", [{"keep": 1}, {"truncate": True}, {"rename": True}, {"lifetime": "appended"}]
)
def test_what_goes_with_no_backups(engine: Engine, more: dict[str, Any]) -> None:
    item = family("posix", **{"lifetime": "reused", "backup": True} | more)
    result = engine(make_plan(1, [item], [content(stream([[1, 1000]]))]), processes=1, check=False)
    assert (result.code, "families[0]." in result.refusal) == (2, True)


def test_what_the_file_before_had_is_not_read(engine: Engine) -> None:
    contents = [
        content(stream([[1, size]], way)) for size, way in ((3000, "write"), (1000, "write"), (3000, "read"))
    ]
    dumps = [dump(i, file=0, content=i) for i in range(3)]
    plan = make_plan(1, [family("posix", backup=True, lifetime="reused")], contents, dumps)
    result = engine(plan, processes=1, check=False)
    assert (result.code, "dumps[2]" in result.refusal) == (2, True)


def test_written_under_another_name_first(engine: Engine) -> None:
    if shutil.which("strace") is None:
        pytest.skip("no strace")
    out = engine.tmp / "trace"
    plan = make_plan(1, [family("posix", rename=True)], [content(stream([[2, 1000]]))])
    engine(plan, prefix=["strace", "-f", "-o", str(out), "-e", "trace=openat,rename,renameat,renameat2"])
    lines = [line for line in out.read_text().splitlines() if "checkpoint-1.0000" in line]
    assert ".dat.tmp" in lines[0]
    assert "rename" in lines[1]
    assert len(lines) == 2


@pytest.mark.parametrize("rename", [False, True])
@pytest.mark.parametrize("direction", ["write", "read"])
def test_renamed_from_name_to_name(engine: Engine, rename: bool, direction: str) -> None:
    """Five renames of the files of three ranks: two, two and one, each in a row that ends at the file's name."""
    if shutil.which("strace") is None:
        pytest.skip("no strace")
    out = engine.tmp / "trace"
    item = family("posix", rename=rename, sharing=sharing("per-rank"))
    made = content(stream([[3, 1000]], direction), renames=5)
    result = engine(
        make_plan(3, [item], [made]),
        "--keep",
        "--verify",
        prefix=["strace", "-f", "-o", str(out), "-e", "trace=rename"],
    )
    names = re.findall(r'rename\("[^"]*/([^"/]*)", "[^"]*/([^"/]*)"', out.read_text())
    for rank, times in enumerate((2, 2, 1)):
        times += rename and direction == "write"
        own = [pair for pair in names if f".r{rank:06d}." in pair[0]]
        name = own[0][0].removesuffix(".tmp")
        steps = [f"{name}.tmp", *(f"{name}.tmp{k}" for k in range(1, times)), name]
        assert own == list(pairwise(steps))
    assert not [name for name in result.files() if ".tmp" in name]
    assert result.end["verified"]["errors"] == 0


@pytest.mark.parametrize(
    ("more", "read"), [({"backup": True}, False), ({"lifetime": "reused"}, False), ({"removed": True}, False),
                       ({"lifetime": "reused", "rename": True}, True)]
)  # fmt: skip
def test_who_renames_no_further(engine: Engine, more: dict[str, Any], read: bool) -> None:
    made = content(stream([[1, 1000]], "read" if read else "write"), renames=1)
    result = engine(make_plan(1, [family("posix", **more)], [made]), processes=1, check=False)
    assert (result.code, "contents[0].renames: are of files that one dump" in result.refusal) == (2, True)


@pytest.mark.parametrize("backend", [*BACKENDS, "hdf5"])
@pytest.mark.parametrize("mode", ["shared", "per-rank", "groups"])
def test_each_dump_is_a_new_file_of_one_name(engine: Engine, ranks: int, backend: str, mode: str) -> None:
    """A checkpoint that is replaced as a whole: what a longer one before has left is gone."""
    how = sharing(mode, files=min(2, ranks) if mode == "groups" else 1)
    item = family(backend, lifetime="reused", rename=True, sharing=how)
    contents = [content(stream([[n * ranks, 1000]])) for n in (3, 1)]
    contents.append(content(stream([[ranks, 1000]], "read")))
    dumps = [dump(i, file=0, content=number) for i, number in enumerate((0, 1, 2, 0, 1))]
    result = engine(make_plan(ranks, [item], contents, dumps), "--keep", "--verify")
    files = result.files()
    assert not [name for name in files if name.endswith(".tmp")]
    assert {name.split(".")[1] for name in files} == {"0000"}
    if backend != "hdf5":
        assert sum(files.values()) == 1000 * ranks
    assert result.end["verified"]["errors"] == 0
    assert [d["bytes_read"] for d in result.dumps] == [0, 0, 1000 * ranks, 0, 0]


def test_one_name_is_replaced_by_each_dump_that_writes(engine: Engine) -> None:
    if shutil.which("strace") is None:
        pytest.skip("no strace")
    out = engine.tmp / "trace"
    item = family("posix", lifetime="reused", rename=True)
    contents = [content(stream([[2, 1000]])), content(stream([[2, 1000]], "read"))]
    dumps = [dump(i, file=0, content=number) for i, number in enumerate((0, 1, 0))]
    engine(
        make_plan(1, [item], contents, dumps),
        prefix=["strace", "-f", "-o", str(out), "-e", "trace=openat,rename"],
    )
    lines = [line for line in out.read_text().splitlines() if "checkpoint-1.0000" in line]
    assert ["rename" in line for line in lines] == [False, True, False, False, True]
    assert [".dat.tmp" in line for line in lines] == [True, True, False, True, True]


@pytest.mark.parametrize("streams", [("read", "write"), ("read", "write", "read")])
def test_a_file_renamed_into_place_is_written_first(engine: Engine, streams: tuple[str, ...]) -> None:
    item = family("posix", lifetime="reused", rename=True)
    plan = make_plan(1, [item], [content(*(stream([[1, 1000]], d) for d in streams))], [dump(0, file=0)])
    result = engine(plan, processes=1, check=False)
    assert (result.code, "is written first" in result.refusal) == (2, True)


@pytest.mark.parametrize("backend", [*BACKENDS, "hdf5"])
@pytest.mark.parametrize("turns", ["concurrent", "baton"])
def test_groups(engine: Engine, backend: str, turns: str) -> None:
    family_spec = family(backend, sharing=sharing("groups", files=3, turns=turns))
    plan = make_plan(4, [family_spec], [content(stream([[8, 1000]]), opens=4)], [dump(0), dump(1)])
    result = engine(plan, "--keep", "--verify", "--per-rank", str(engine.tmp / "ranks.csv"))
    suffix = "h5" if backend == "hdf5" else "dat"
    assert list(result.files()) == [
        f"checkpoint-1.{i:04d}.g{g:04d}.{suffix}" for i in range(2) for g in range(3)
    ]
    if backend != "hdf5":
        assert list(result.files().values()) == [4000, 2000, 2000] * 2
    assert result.end["verified"].items() >= {"bytes": 16000, "errors": 0}.items()
    assert [d["ranks"] for d in result.dumps] == [4, 4]
    if turns == "baton":
        rows = list(csv.DictReader((engine.tmp / "ranks.csv").open()))
        spans = {(int(r["index"]), int(r["rank"])): (float(r["start_s"]), float(r["end_s"])) for r in rows}
        for index in range(2):
            assert spans[index, 1][0] >= spans[index, 0][1] - 1e-4  # clocks of one host differ by no more


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("gather", [False, True])
def test_root(engine: Engine, ranks: int, backend: str, gather: bool) -> None:
    root = ranks - 1
    family_spec = family(backend, sharing=sharing("root", [[root, root, 1]], gather=gather))
    contents = [content(stream([[7, 300001], [3, 11]])), content(stream([[5, 400000]], "read"))]
    plan = make_plan(ranks, [family_spec], contents, [dump(0), dump(1), dump(2, file=0, content=1)])
    result = engine(plan, "--keep", "--verify")
    assert list(result.files().values()) == [7 * 300001 + 33] * 2
    assert [d["ranks"] for d in result.dumps] == [1, 1, 1]
    assert result.dumps[2]["bytes_read"] == 2000000
    assert result.dumps[0]["kinds"]["write"]["slowest_rank"] == root
    assert result.end["verified"]["errors"] == 0


@pytest.mark.parametrize("backend", [*BACKENDS, "hdf5"])
def test_subset(engine: Engine, backend: str) -> None:
    family_spec = family(backend, sharing=sharing("subset", [[1, 3, 2]]))
    plan = make_plan(4, [family_spec], [content(stream([[5, 1000]]))], [dump(0), dump(1)])
    result = engine(plan, "--keep", "--verify")
    assert [d["ranks"] for d in result.dumps] == [2, 2]
    assert [d["counters"]["OPENS"] for d in result.dumps] == [2, 2]
    assert result.end["verified"].items() >= {"bytes": 10000, "errors": 0}.items()
    assert len(result.files()) == 2


@pytest.mark.parametrize("backend", [*BACKENDS, "hdf5"])
@pytest.mark.parametrize("mode", ["shared", "per-rank", "groups"])
@pytest.mark.parametrize("reader", ["writer", "neighbour"])
def test_inputs_are_made_first(engine: Engine, ranks: int, backend: str, mode: str, reader: str) -> None:
    shared = sharing(mode, files=min(2, ranks) if mode == "groups" else 1)
    family_spec = family(backend, role="input", sharing=shared, reader=reader, drop_caches=True)
    streams = [
        stream([[4 * ranks, 1000]], "read", "interleaved"),
        stream([[ranks, 5000]], "read", "replicated"),
    ]
    plan = make_plan(ranks, [family_spec], [content(*streams)], [dump(0, prepare=True)])
    result = engine(plan, "--keep")
    (d,) = result.dumps
    assert d["bytes_read"] == 4 * ranks * 1000 + ranks * 5000
    assert d["bytes_written"] == 0
    assert all(size >= 5000 for size in result.files().values())
    assert len(result.end["files"]) == len(result.files())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("reader", ["writer", "neighbour"])
def test_restart_reads_what_the_run_wrote(engine: Engine, ranks: int, backend: str, reader: str) -> None:
    family_spec = family(backend, reader=reader, sharing=sharing("per-rank"))
    contents = [content(stream([[4 * ranks, 1000]])), content(stream([[4 * ranks, 1000]], "read"))]
    plan = make_plan(ranks, [family_spec], contents, [dump(0), dump(1, file=0, content=1)])
    result = engine(plan)
    assert result.dumps[1]["bytes_read"] == 4 * ranks * 1000


def test_dumps_without_data(engine: Engine, ranks: int) -> None:
    """A family with only opens and stats."""
    contents = [content(opens=ranks, stats=2 * ranks), content(stats=1), content()]
    plan = make_plan(
        ranks, [family(lifetime="reused")], contents, [dump(i, file=0, content=i) for i in range(3)]
    )
    result = engine(plan)
    assert [d["ranks"] for d in result.dumps] == [ranks, 1, 0]
    assert [d["counters"]["STATS"] for d in result.dumps] == [2 * ranks, 1, 0]
    assert result.dumps[0]["counters"]["OPENS"] == ranks


def test_record_against_the_disk(engine: Engine, ranks: int) -> None:
    """Several families interleaved: every file in the record is on disk with that size, and no other."""
    families = [
        family("posix"),
        family("mpiio", id=1, role="visualization", lifetime="appended"),
        family("stdio", id=2, role="log", sharing=sharing("root", [[0, 0, 1]]), lifetime="appended"),
        family("posix", id=3, role="scratch", sharing=sharing("per-rank")),
    ]
    contents: list[dict[str, Any]] = [
        content(stream([[3 * ranks, 777]])),
        content(stream([[5, 80]], ranks=[[0, 0, 1]])),
    ]
    dumps = []
    for i in range(3):
        dumps += [
            dump(i, family=0),
            dump(i, family=1, file=0, base=i * 3 * ranks * 777),
            dump(i, family=2, file=0, base=400 * i, content=1),
            dump(i, family=3),
        ]
    result = engine(make_plan(ranks, families, contents, dumps), "--keep", "--verify")
    assert {without_id(f["name"]): f["size"] for f in result.end["files"]} == result.files()
    assert len(result.dumps) == 12
    assert result.end["verified"]["errors"] == 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_file_that_stays_open_and_is_overwritten(engine: Engine, ranks: int, backend: str) -> None:
    """All dumps of the plan begin at the start of the file; the last one is longer than the first."""
    contents = [content(stream([[2 * ranks, 1000]])), content(stream([[3 * ranks, 1000]]))]
    dumps = [dump(0), dump(1, file=0, content=0), dump(2, file=0, content=1)]
    plan = make_plan(ranks, [family(backend, lifetime="appended")], contents, dumps)
    result = engine(plan, "--keep", "--verify")
    assert list(result.files().values()) == [3 * ranks * 1000]
    assert result.total("OPENS") == ranks
    assert result.end["verified"]["errors"] == 0
