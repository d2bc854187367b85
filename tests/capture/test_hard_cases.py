"""Programs that capture must neither miss nor harm: long jumps out of counted calls, filters of system calls, odd names."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workalike.darshan.hash import record_id

from .conftest import WORKALIKE, Profile


@pytest.mark.parametrize("how", ["stream", "busy", "threads"])
def test_a_long_jump_out_of_a_call_does_not_end_counting(
    how: str, profile: Profile, compiled: Callable[..., Path]
) -> None:
    run = profile(compiled("jumps.c", "-pthread"), how)
    record = run.record("POSIX", "after")
    assert (record["WRITES"], record["BYTES_WRITTEN"]) == (3, 30)
    if how == "threads":  # the other thread's calls are all counted
        assert run.record("POSIX", "busy")["WRITES"] > 200000


def test_a_long_jump_within_a_handler_changes_no_count(
    profile: Profile, compiled: Callable[..., Path]
) -> None:
    run = profile(compiled("jumps.c", "-pthread"), "inner")
    assert run.record("POSIX", "busy")["WRITES"] == 1000000
    assert run.record("POSIX", "after")["WRITES"] == 3


@pytest.mark.parametrize("how", ["prctl", "syscall", "strict"])
def test_a_filter_of_system_calls_does_not_kill_the_captured_program(
    how: str, profile: Profile, compiled: Callable[..., Path]
) -> None:
    program = compiled("sandboxed.c")
    bare = subprocess.run([str(program), how], cwd=profile.folder, check=False).returncode
    assert bare == 0, "this kernel has no such filters"
    (profile.folder / "data").unlink()
    run = profile(program, how)
    assert run.code == 0
    record = run.record("POSIX", "data")
    assert (record["OPENS"], record["WRITES"], record["BYTES_WRITTEN"]) == (1, 11, 66)
    assert ("incomplete" in run.log.job.metadata) == (how == "strict")  # which ends by a raw system call


def test_names_that_are_no_utf8_are_escaped(
    profile: Profile, compiled: Callable[..., Path], same_for_pydarshan: Callable[[Path], dict[str, Any]]
) -> None:
    run = profile(compiled("bytes_names.c"), os.fsdecode(b"argument \xff"))
    answer = same_for_pydarshan(run.logs[0])
    names = {Path(name).name: number for number, name in answer["names"].items()}
    assert {"caf%E9", "café", "cut %E2%82"} <= set(names)
    assert answer["exe"].endswith("argument %FF")
    for name in ("caf%E9", "café", "cut %E2%82"):
        assert names[name] == record_id(f"{run.folder}/{name}")
    assert run.record("POSIX", "caf%E9")["BYTES_WRITTEN"] == 10
    assert run.record("STDIO", "cut %E2%82")["BYTES_WRITTEN"] == 3


def test_the_last_word_fits_the_first(
    profile: Profile, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    """After a warning that a program cannot be captured, no message says that it did nothing."""
    run = profile(compiled("posix_known.c", "-static"))
    assert "linked statically" in run.stderr
    assert "no I/O that is counted" not in run.stderr
    assert "was not captured" in run.stderr
    quiet = subprocess.run(
        [*WORKALIKE, "profile", "-o", str(tmp_path / "log"), "--", "true"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "no I/O that is counted" in quiet.stderr


def test_a_process_without_memory_for_counters_is_not_said_to_be_idle(
    profile: Profile, compiled: Callable[..., Path]
) -> None:
    """Room for the program, but not for 4 GiB of counters."""
    program = compiled("posix_known.c")
    run = profile("prlimit", "--as=1000000000", program, options=("--max-memory", "4096"))
    assert run.logs == []
    assert "no memory for counters" in run.stderr
    assert "no I/O that is counted" not in run.stderr
    assert "was not captured" in run.stderr
