"""The POSIX module against a program whose operations are known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Profile, Run

EXACT: dict[str, dict[str, int]] = {
    "sequential": {
        "OPENS": 2, "READS": 6, "WRITES": 10, "SEEKS": 1, "FSYNCS": 1, "FDSYNCS": 1, "MODE": 0o640,
        "BYTES_READ": 500 + 10000 + 5000, "BYTES_WRITTEN": 10000, "MAX_BYTE_READ": 9999, "MAX_BYTE_WRITTEN": 9999,
        "CONSEC_WRITES": 9, "SEQ_WRITES": 9, "RW_SWITCHES": 1, "MEM_ALIGNMENT": 8,
        "SIZE_READ_0_100": 1, "SIZE_READ_100_1K": 1, "SIZE_READ_1K_10K": 4, "SIZE_WRITE_100_1K": 10,
        "ACCESS1_ACCESS": 1000, "ACCESS1_COUNT": 10, "ACCESS2_ACCESS": 5904, "ACCESS2_COUNT": 1,
    },
    "strided": {
        "OPENS": 2, "READS": 1, "WRITES": 10, "MODE": 0o600, "BYTES_READ": 300, "BYTES_WRITTEN": 8 * 512 + 600,
        "MAX_BYTE_READ": 299, "MAX_BYTE_WRITTEN": 40299, "SEQ_WRITES": 8, "CONSEC_WRITES": 0,
        "STRIDE1_STRIDE": 4096 - 512, "STRIDE1_COUNT": 7, "STRIDE2_STRIDE": 40000 - (7 * 4096 + 512),
        "STRIDE2_COUNT": 1, "ACCESS1_ACCESS": 512, "ACCESS1_COUNT": 8, "ACCESS2_ACCESS": 300, "ACCESS2_COUNT": 3,
        "RW_SWITCHES": 1,
    },
    "failing": {"OPENS": 1, "READS": 0, "WRITES": 0, "SEEKS": 0, "STATS": 0},
    "appending": {
        "OPENS": 2, "WRITES": 4, "BYTES_WRITTEN": 350, "MAX_BYTE_WRITTEN": 349, "SEQ_WRITES": 3, "CONSEC_WRITES": 3,
    },
    "duplicated": {
        "OPENS": 4, "DUPS": 3, "WRITES": 3, "BYTES_WRITTEN": 300, "MAX_BYTE_WRITTEN": 299, "CONSEC_WRITES": 2,
    },
    "about": {"OPENS": 1, "STATS": 6, "MMAPS": 1, "RENAME_SOURCES": 1},
    "renamed": {"OPENS": 0, "RENAME_TARGETS": 1},
    "copied": {
        "OPENS": 1, "WRITES": 2, "BYTES_WRITTEN": 5000, "MAX_BYTE_WRITTEN": 4999, "CONSEC_WRITES": 1,
    },
    "temporary": {"OPENS": 1, "READS": 1, "BYTES_READ": 7, "MAX_BYTE_READ": 6, "RENAME_TARGETS": 1},
}  # fmt: skip


@pytest.fixture(scope="module")
def run(library: Path, compiled: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Profile(tmp_path_factory.mktemp("posix"))(compiled("posix_known.c"))


@pytest.mark.parametrize("name", EXACT)
def test_counters_are_exact(run: Run, name: str) -> None:
    record = run.record("POSIX", name)
    assert {key: record[key] for key in EXACT[name]} == EXACT[name]
    assert record["rank"] == 0


def test_times_are_in_order(run: Run) -> None:
    record = run.record("POSIX", "sequential")
    assert 0 < record["F_OPEN_START_TIMESTAMP"] < record["F_WRITE_START_TIMESTAMP"]
    assert record["F_WRITE_START_TIMESTAMP"] < record["F_WRITE_END_TIMESTAMP"]
    assert record["F_READ_END_TIMESTAMP"] < record["F_CLOSE_END_TIMESTAMP"] <= run.log.job.run_time
    assert 0 < record["F_MAX_WRITE_TIME"] <= record["F_WRITE_TIME"]
    assert record["F_META_TIME"] > 0


def test_log_is_read_by_pydarshan(run: Run, same_for_pydarshan: Callable[[Path], dict[str, Any]]) -> None:
    answer = same_for_pydarshan(run.logs[0])
    assert answer["job"]["metadata"]["lib_ver"].startswith("workalike-")
    assert answer["mounts"]
    assert run.logs[0].stat().st_mode & 0o777 == 0o400


def test_without_the_system_and_with_patterns(profile: Profile, compiled: Callable[..., Path]) -> None:
    program = compiled("posix_known.c")
    assert all(name.startswith(str(profile.folder)) for name in profile(program).paths)
    others = profile(program, options=("--exclude", "/s[et]"))
    assert not others.records("POSIX", "sequential")
    assert others.records("POSIX", "copied")
    more = profile("cat", "/etc/passwd", options=("--include", "^/etc/pass"))
    assert more.paths == ["/etc/passwd"]


def test_the_shared_memory_of_mpi_is_not_of_the_program(profile: Profile) -> None:
    """Open MPI 4 keeps it in `ompi.HOST.USER`, Open MPI 5 in `prterun.HOST.PROCESS.USER`, in the folder TMPDIR."""
    folders = ("ompi.node.0", "prte.node.0", "prterun.node.1.0", "prtesis.0")
    script = "".join(f"mkdir {folder}; echo text > {folder}/file; " for folder in folders)
    temporary = {"TMPDIR": str(profile.folder)}
    run = profile("sh", "-c", script + "true", environment=temporary)
    assert [path for path in run.paths if path.endswith("/file")] == [f"{profile.folder}/prtesis.0/file"]
