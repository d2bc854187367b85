"""The STDIO module against a program whose operations are known."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workalike.characterize import CharacterizeOptions, characterize
from workalike.darshan import open_log

from .conftest import Profile, Run

EXACT: dict[str, dict[str, int]] = {
    "written": {
        "OPENS": 3, "FDOPENS": 0, "READS": 4, "WRITES": 7, "SEEKS": 3, "FLUSHES": 1,
        "BYTES_READ": 1000 + 6 + 1 + 5001, "BYTES_WRITTEN": 3000 + 6 + 5 + 2 + 1 + 99,
        "MAX_BYTE_READ": 5000, "MAX_BYTE_WRITTEN": 5099,
    },
    "numbers": {"OPENS": 1, "READS": 1, "WRITES": 1, "SEEKS": 1, "BYTES_READ": 4, "BYTES_WRITTEN": 9},
    "through": {"OPENS": 1, "FDOPENS": 1, "WRITES": 1, "BYTES_WRITTEN": 10},
    "below": {"OPENS": 1, "WRITES": 0},
    "<STDOUT>": {"OPENS": 0, "WRITES": 2, "BYTES_WRITTEN": 11},
    "<STDERR>": {"WRITES": 1, "BYTES_WRITTEN": 4},
    "<STDIN>": {"READS": 1, "BYTES_READ": 3},
}  # fmt: skip


@pytest.fixture(scope="module")
def run(library: Path, compiled: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Profile(tmp_path_factory.mktemp("stdio"))(compiled("stdio_known.c"), stdin="ab\ncd\n")


@pytest.mark.parametrize("name", EXACT)
def test_counters_are_exact(run: Run, name: str) -> None:
    record = run.record("STDIO", name)
    assert {key: record[key] for key in EXACT[name]} == EXACT[name]


def test_what_goes_past_the_stream_is_posix(run: Run) -> None:
    below = run.record("POSIX", "below")
    assert (below["OPENS"], below["FILENOS"], below["WRITES"], below["BYTES_WRITTEN"]) == (1, 1, 1, 20)
    through = run.record("POSIX", "through")
    assert (through["OPENS"], through["WRITES"]) == (1, 0)


def test_log_is_read_by_pydarshan(run: Run, same_for_pydarshan: Callable[[Path], dict[str, Any]]) -> None:
    same_for_pydarshan(run.logs[0])


def test_output_is_the_programs_own(run: Run) -> None:
    assert run.stdout == "out 1\nline\n"
    assert run.stderr.splitlines()[0] == "err"


def test_fortified_program_counts_the_same(profile: Profile, compiled: Callable[..., Path]) -> None:
    run = profile(
        compiled("stdio_known.c", "-O2", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-fbuiltin"),
        stdin="ab\n",
    )
    written = run.record("STDIO", "written")
    assert {key: written[key] for key in EXACT["written"]} == EXACT["written"]


SIZED = """
with open("data", "wb", buffering=0) as f:
    pass
import ctypes
c = ctypes.CDLL(None)
c.fopen.restype = ctypes.c_void_p
stream = ctypes.c_void_p(c.fopen(b"sized", b"w+"))
buffer = ctypes.create_string_buffer(3_000_000)
for size in [8] * 5 + [100] * 2 + [3_000_000]:
    c.fwrite(buffer, 1, size, stream)
c.rewind(stream)
c.fread(buffer, 1, 8, stream)
c.fread(buffer, 1, 8, stream)
c.fclose(stream)
import os, sys
if sys.argv[1:]:
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("kill", [[], ["kill"]])
def test_sizes_are_recorded_on_request(profile: Profile, kill: list[str]) -> None:
    run = profile(sys.executable, "-c", SIZED, *kill, options=("--stdio-sizes",), check=False)
    side = json.loads(run.logs[0].with_name("app.darshan.extra.json").read_text())
    (sized,) = [row for row in side["stdio_sizes"] if row["file"] == f"{run.folder}/sized"]
    assert sized["rank"] == 0
    assert sorted(sized["writes"]) == [[8, 5], [100, 2], [3_000_000, 1]]
    assert sized["reads"] == [[8, 2]]
    record = run.record("STDIO", "sized")
    assert sum(size * count for size, count in sized["writes"]) == record["BYTES_WRITTEN"]
    found = characterize([open_log(run.logs[0])], CharacterizeOptions(include_program_start=True))
    streams = [s for f in found.families for c in f.family.all_contents() for s in c.streams]
    assert [(5, 8), (2, 100), (1, 3_000_000)] in [[(e.total(1), e.size) for e in s.sizes] for s in streams]


def test_sizes_are_not_recorded_otherwise(profile: Profile) -> None:
    run = profile(sys.executable, "-c", SIZED)
    side = json.loads(run.logs[0].with_name("app.darshan.extra.json").read_text())
    assert "stdio_sizes" not in side
