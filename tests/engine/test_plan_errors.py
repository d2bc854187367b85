"""A plan is untrusted input: each of these ends with exit code 2 and one line that names the place."""

from __future__ import annotations

import copy
import json
import os
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Engine, content, dump, family, make_plan, sharing, stream


def good() -> dict[str, Any]:
    arrays = [
        {
            "datasets": 2, "element": 8, "dims": [8, 8], "chunk": None, "extendible": False,
            "access": [{"ranks": "all", "direction": "write", "collective": False, "entries": [[4, [4, 8], [1, 1]]]}],
        }
    ]  # fmt: skip
    return make_plan(
        4,
        [family("posix"), family("mpiio", id=7, number=2, sharing=sharing("groups", files=2))],
        [
            content(stream([[4, 100]])),
            content(arrays=arrays),
            content(fit={"bytes": 100, "datasets": 2, "element": 1, "collective": False, "ops": None}),
        ],
        [dump(0), dump(0, family=7, content=1), dump(1, family=7, content=2)],
    )


Change = Callable[[dict[str, Any]], None]


def put(*path: Any) -> Change:
    """Sets plan[path[0]][path[1]]… = path[-1]."""

    def change(plan: dict[str, Any]) -> None:
        *steps, last, value = path
        target: Any = plan
        for step in steps:
            target = target[step]
        target[last] = value

    return change


S = ("contents", 0, "streams", 0)
HUGE = 2**63 - 1
CASES: dict[str, tuple[Change, str]] = {
    "format": (put("format", "other"), "format"),
    "version": (put("version", 3), "version"),
    "no ranks": (put("ranks", 0), "ranks"),
    "too many ranks": (put("ranks", 2**40), "ranks"),
    "ranks as text": (put("ranks", "4"), "ranks"),
    "ranks as fraction": (put("ranks", 1.5), "ranks"),
    "beyond 64 bits": (put("seed", 2**70), "seed"),
    "a level of computing that is none": (put("compute", {"level": 4, "units": 1}), "compute.level"),
    "computing of nothing": (put("compute", {"level": 1, "units": 0}), "compute.units"),
    "endless computing": (put("compute", {"level": 1, "units": 65537}), "compute.units"),
    "computing by length": (put("compute", {"level": 1, "length": 1}), "compute"),
    "computing without units": (put("compute", {"level": 1}), "compute"),
    "unknown field": (put("families", 0, "surprise", 1), "families[0]"),
    "unknown word": (put("families", 0, "backend", "ftp"), "families[0].backend"),
    "unknown role": (put("families", 0, "role", "../../etc/passwd"), "families[0].role"),
    "negative number": (put("families", 0, "number", -1), "families[0].number"),
    "number 0, which a record does not have": (put("families", 0, "number", 0), "families[0].number"),
    "same names": (put("families", 1, "number", 1), "families[1].number"),
    "same ids": (put("families", 1, "id", 0), "families[1].id"),
    "too many files": (put("families", 1, "sharing", "files", 5), "families[1].sharing.files"),
    "no files": (put("families", 1, "sharing", "files", 0), "families[1].sharing.files"),
    "root of all": (put("families", 0, "sharing", sharing("root")), "families[0].sharing.ranks"),
    "gather from nobody": (put("families", 0, "sharing", sharing(gather=True)), "families[0].sharing.gather"),
    "baton alone": (put("families", 0, "sharing", sharing(turns="baton")), "families[0].sharing.turns"),
    "rank beyond": (put("families", 0, "sharing", sharing("subset", [[0, 4, 1]])), "families[0].sharing.ranks[0][1]"),
    "ranks not ascending": (
        put("families", 0, "sharing", sharing("subset", [[2, 3, 1], [0, 1, 1]])), "families[0].sharing.ranks[1]"),
    "step zero": (put("families", 0, "sharing", sharing("subset", [[0, 3, 0]])), "families[0].sharing.ranks[0][2]"),
    "empty ranks": (put("families", 0, "sharing", sharing("subset", [])), "families[0].sharing.ranks"),
    "hint with a path": (put("families", 0, "hints", {"key": "/etc/passwd"}), "families[0].hints"),
    "hint with a line break": (put("families", 0, "hints", {"a\nb": "1"}), "families[0].hints"),
    "unknown family": (put("dumps", 0, "family", 3), "dumps[0].family"),
    "unknown content": (put("dumps", 0, "content", 3), "dumps[0].content"),
    "negative content": (put("dumps", 0, "content", -1), "dumps[0].content"),
    "not a number": (put("dumps", 0, "compute_s", float("nan")), ""),
    "endless wait": (put("dumps", 0, "compute_s", 1e300), "dumps[0].compute_s"),
    "negative wait": (put("dumps", 0, "start_s", -1), "dumps[0].start_s"),
    "negative base": (put("dumps", 0, "base", -1), "dumps[0].base"),
    "huge base": (put("dumps", 0, "base", HUGE), "dumps[0].base"),
    "negative size": (put(*S, "entries", [[4, -1]]), "contents[0].streams[0].entries[0][1]"),
    "negative count": (put(*S, "entries", [[-4, 1]]), "contents[0].streams[0].entries[0][0]"),
    "huge size": (put(*S, "entries", [[4, HUGE]]), "contents[0].streams[0].entries[0][1]"),
    "too many bytes": (put(*S, "entries", [[2**39, 2**49]]), "contents[0].streams[0]"),
    "too many operations": (put(*S, "entries", [[2**40, 1], [2**40, 1]]), "contents[0].streams[0]"),
    "triple entry": (put(*S, "entries", [[4, 1, 1]]), "contents[0].streams[0].entries[0]"),
    "stride below size": (put(*S, "pattern", "strided"), "contents[0].streams[0].stride"),
    "uneven pieces": (put(*S, "pieces", 3), "contents[0].streams[0].entries[0]"),
    "no pieces": (put(*S, "pieces", 0), "contents[0].streams[0].pieces"),
    "table without name": (put(*S, "pattern", "table"), "contents[0].streams[0].table"),
    "table elsewhere": (put(*S, "table", "../table"), "contents[0].streams[0].table"),
    "table of dots": (put(*S, "table", ".."), "contents[0].streams[0].table"),
    "stream of strangers": (
        lambda p: (put("families", 0, "sharing", sharing("subset", [[0, 1, 1]]))(p), put(*S, "ranks", [[0, 3, 1]])(p))[0],
        "contents[0].streams[0].ranks"),
    "too many opens": (put("contents", 0, "opens", 2**41), "contents[0].opens"),
    "no datasets": (put("contents", 1, "arrays", 0, "datasets", 0), "contents[1].arrays[0].datasets"),
    "no element": (put("contents", 1, "arrays", 0, "element", 0), "contents[1].arrays[0].element"),
    "no dimension": (put("contents", 1, "arrays", 0, "dims", []), "contents[1].arrays[0].dims"),
    "zero dimension": (put("contents", 1, "arrays", 0, "dims", [0, 8]), "contents[1].arrays[0].dims[0]"),
    "huge dataset": (put("contents", 1, "arrays", 0, "dims", [2**40, 2**40]), "contents[1].arrays[0].dims"),
    "slab too large": (
        put("contents", 1, "arrays", 0, "access", 0, "entries", [[4, [9, 8], [1, 1]]]),
        "contents[1].arrays[0].access[0].entries[0]"),
    "slab of another rank": (
        put("contents", 1, "arrays", 0, "access", 0, "entries", [[4, [4], [1]]]),
        "contents[1].arrays[0].access[0].entries[0][1]"),
    "slab stride too large": (
        put("contents", 1, "arrays", 0, "access", 0, "entries", [[4, [4, 8], [HUGE, 1]]]),
        "contents[1].arrays[0].access[0].entries[0][2][0]"),
    "chunk too large": (put("contents", 1, "arrays", 0, "chunk", [2**20, 2**20]), "contents[1].arrays[0].chunk"),
    "fit beside streams": (
        put("contents", 0, "fit", {"bytes": 1, "datasets": 1}), "contents[0].fit"),
    "fit with too few operations": (put("contents", 2, "fit", "ops", 1), "contents[2].fit.ops"),
    "compressibility": (put("payload", {"compressibility": 1.5}), "payload.compressibility"),
    "emptied but not reused": (put("families", 0, "truncate", True), "families[0].truncate"),
    "emptied under other ranks": (
        lambda p: (put("families", 0, "lifetime", "reused")(p), put("families", 0, "truncate", True)(p))[0],
        "families[0].truncate"),
    "families is a number": (put("families", 3), "families"),
    "dumps missing": (lambda p: p.pop("dumps"), ""),
}  # fmt: skip


def refused(engine: Engine, plan: dict[str, Any] | str, processes: int = 0) -> str:
    result = engine(plan, "--backend", "null", processes=processes, check=False, timeout=30)
    assert result.code == 2, result.stderr
    lines = [line for line in result.stderr.splitlines() if "workalike-engine" in line]
    assert len(lines) == 1, result.stderr
    assert result.lines == []
    return lines[0]


def test_the_unchanged_plan_is_fine(engine: Engine) -> None:
    engine(good(), "--backend", "null", processes=0)


@pytest.mark.parametrize("name", CASES)
def test_refused(engine: Engine, name: str) -> None:
    change, place = CASES[name]
    plan = copy.deepcopy(good())
    change(plan)
    line = refused(engine, plan)
    assert "plan.json: " + place in line


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '"plan"',
        "[" * 100000,
        '{"format":' * 5000,
        "\x00\xff",
        '{"format":"workalike-plan"}',
    ],
)
def test_no_plan_at_all(engine: Engine, text: str) -> None:
    refused(engine, text)


def test_one_line_from_all_processes(engine: Engine) -> None:
    plan = good()
    plan["ranks"] = -1
    assert "ranks" in refused(engine, plan, processes=4)


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_plan_is_a_regular_file(engine: Engine, tmp_path: Path, kind: str) -> None:
    import subprocess

    path = tmp_path / kind
    os.mkfifo(path) if kind == "pipe" else path.mkdir()
    done = subprocess.run(
        [str(engine.path), "--plan", str(path), "--backend", "null"],
        capture_output=True, text=True, env=engine.environment(), timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert f"{kind}: is not a regular file" in done.stderr


def test_missing_plan(engine: Engine, tmp_path: Path) -> None:
    import subprocess

    done = subprocess.run(
        [str(engine.path), "--plan", str(tmp_path / "none.json"), "--backend", "null"],
        capture_output=True, text=True, env=engine.environment(), timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "none.json" in done.stderr


def table(
    rows: list[tuple[int, int, int, int]], magic: bytes = b"WAOPTAB1", count: int | None = None
) -> bytes:
    """Columns: rank, direction, offset, length."""
    columns = list(zip(*rows, strict=True)) if rows else [(), (), (), ()]
    n = len(rows)
    return (
        magic + struct.pack("<Q", n if count is None else count)
        + struct.pack(f"<{n}I", *columns[0]) + struct.pack(f"<{n}B", *columns[1])
        + struct.pack(f"<{n}q", *columns[2]) + struct.pack(f"<{n}q", *columns[3])
    )  # fmt: skip


def table_plan() -> dict[str, Any]:
    return make_plan(4, [family()], [content(stream([[3, 10]], pattern="table", table="ops.bin"))])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"WAOPTAB1",
        table([(0, 1, 0, 10)], magic=b"WAOPTAB2"),
        table([(0, 1, 0, 10)], count=2),
        table([(0, 1, 0, 10)], count=2**61),
        table([(4, 1, 0, 10)]),
        table([(0, 4, 0, 10)]),
        table([(0, 1, -1, 10)]),
        table([(0, 1, 0, -10)]),
        table([(0, 1, HUGE, 10)]),
        table([(0, 1, 0, 10)]) + b"x",
    ],
)
def test_bad_tables(engine: Engine, data: bytes) -> None:
    (engine.tmp / "ops.bin").write_bytes(data)
    assert "contents[0].streams[0].table" in refused(engine, table_plan())


@pytest.mark.parametrize("rows", [[0, 4], [3, 1], [4, 0]])
def test_rows_beyond_the_table(engine: Engine, rows: list[int]) -> None:
    (engine.tmp / "ops.bin").write_bytes(table([(0, 1, 0, 10), (1, 1, 10, 10), (2, 1, 20, 10)]))
    plan = table_plan()
    plan["contents"][0]["streams"][0]["rows"] = rows
    assert "fewer than are named" in refused(engine, plan)


def test_rows_need_a_table(engine: Engine) -> None:
    plan = good()
    plan["contents"][0]["streams"][0]["rows"] = [0, 1]
    assert "contents[0].streams[0].rows" in refused(engine, plan)


def test_table_must_not_be_a_link(engine: Engine) -> None:
    (engine.tmp / "real.bin").write_bytes(table([(0, 1, 0, 10)]))
    (engine.tmp / "ops.bin").symlink_to(engine.tmp / "real.bin")
    assert "contents[0].streams[0].table" in refused(engine, table_plan())


def test_mutated_plans_never_crash(engine: Engine) -> None:
    """Random damage to a good plan: done, or refused with one line; never a signal."""
    rng = random.Random(7)
    for _ in range(25):
        text = bytearray(json.dumps(good()).encode())
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(text))
            text[at : at + rng.randint(0, 3)] = bytes(
                rng.choice(b'0123456789-{}[]",:aeE.') for _ in range(rng.randint(0, 3))
            )
        result = engine(text.decode("latin-1"), "--backend", "null", processes=0, check=False, timeout=30)
        assert result.code in (0, 2), (result.code, result.stderr, text)
