"""Descriptors that a process has not opened itself: those of its parent, and those that it gets over a socket."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from .conftest import Profile, Run


def rows(run: Run, name: str) -> list[dict[str, float]]:
    """The POSIX records of a file in all logs, those of processes that wrote or read it."""
    found = [row for log in run.logs for row in replace(run, logs=[log]).records("POSIX", name)]
    return [row for row in found if row["WRITES"] or row["READS"]]


@pytest.mark.parametrize(("redirection", "before"), [(">", 0), (">>", 5)], ids=["from the start", "appended"])
def test_a_redirected_output_is_counted_under_its_name(
    profile: Profile, compiled: Callable[..., Path], redirection: str, before: int
) -> None:
    (profile.folder / "out").write_text("x" * 5)
    run = profile("sh", "-c", f"{compiled('inherits.c')} copies {redirection} out 2>&1; true")
    assert (profile.folder / "out").stat().st_size == before + 30
    (found,) = rows(run, "out")
    assert (found["OPENS"], found["WRITES"], found["BYTES_WRITTEN"]) == (0, 3, 30)
    assert found["MAX_BYTE_WRITTEN"] == before + 29
    assert found["CONSEC_WRITES"] == 2
    assert found["ACCESS1_COUNT"] == 3


def test_processes_that_share_a_descriptor_go_on_where_the_other_has_stopped(
    profile: Profile, compiled: Callable[..., Path]
) -> None:
    program = compiled("inherits.c")
    run = profile("sh", "-c", f"(echo 1234; {program} copies; {program} copies) > out 2>&1; true")
    assert (profile.folder / "out").stat().st_size == 65
    ends = sorted(row["MAX_BYTE_WRITTEN"] for row in rows(run, "out"))
    assert ends[-2:] == [34, 64]


def test_a_redirected_input_is_counted(profile: Profile, compiled: Callable[..., Path]) -> None:
    (profile.folder / "in").write_bytes(bytes(70))
    run = profile("sh", "-c", f"{compiled('inherits.c')} read < in; true")
    (found,) = rows(run, "in")
    assert (found["OPENS"], found["READS"], found["BYTES_READ"]) == (0, 11, 70)


def test_a_descriptor_from_a_socket_is_counted(profile: Profile, compiled: Callable[..., Path]) -> None:
    found = profile(compiled("inherits.c"), "socket").record("POSIX", "sent")
    assert (found["OPENS"], found["WRITES"], found["BYTES_WRITTEN"]) == (1, 3, 30)
    assert (found["MAX_BYTE_WRITTEN"], found["FSYNCS"]) == (29, 1)


def test_a_descriptor_that_is_not_used_makes_no_log(profile: Profile) -> None:
    run = profile("sh", "-c", "true > out; true < out 2> error; /bin/true > other 2>&1")
    assert not any(
        row["WRITES"] for log in run.logs for row in replace(run, logs=[log]).records("POSIX", "out")
    )
    assert len(run.logs) == 1  # that of the shell, which has opened the files


def test_pipes_and_sockets_are_no_files(profile: Profile, compiled: Callable[..., Path]) -> None:
    run = profile("sh", "-c", f"{compiled('inherits.c')} copies 2>&1 | cat; true", check=False)
    assert not any("pipe:" in name for log in run.logs for name in replace(run, logs=[log]).paths)


def test_warnings_still_reach_a_redirected_error_output(
    profile: Profile, compiled: Callable[..., Path]
) -> None:
    profile("bash", "-c", f"ulimit -f 16; {compiled('processes.c')} 2> errors", check=False)
    assert "no room for a mapping" in (profile.folder / "errors").read_text()
