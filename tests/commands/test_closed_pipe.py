"""A reader of the output that goes away, as `| head -1` does, ends a command without a word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from known_logs import own

CLOSED_PIPE = 141
"""What a shell says of a program that the signal of a closed pipe has ended."""
LOG = str(own("checkpoints-4"))


def into_closed_pipe(*arguments: str, cwd: Path, errors: bool = False) -> tuple[int, str]:
    """Exit code and stderr of a command whose stdout, and stderr with `errors`, nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "workalike", *arguments],
        cwd=cwd,
        stdout=writer,
        stderr=writer if errors else subprocess.PIPE,
        text=True,
    )
    os.close(writer)
    return done.returncode, done.stderr or ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("--version",),
        ("check", "--help"),
        ("thresholds",),
        ("thresholds", "--json"),
        (LOG,),
        ("characterize", LOG),
        ("diagnose", LOG),
        ("compare", LOG, LOG),
        ("compare", LOG, LOG, "--json"),
        ("engine", "list"),
        ("fleet", "ingest", LOG, "--db", "fleet"),
    ],
    ids=lambda words: " ".join(word for word in words if word != LOG) or "a log",
)
def test_a_closed_pipe_is_silent(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert into_closed_pipe(*arguments, cwd=tmp_path) == (CLOSED_PIPE, "")


def test_an_error_that_nobody_reads_ends_silently_too(tmp_path: Path) -> None:
    assert into_closed_pipe("check", "nothing-here", cwd=tmp_path, errors=True)[0] == CLOSED_PIPE


def test_a_full_disk_is_still_an_error(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "workalike", "thresholds"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
    assert done.returncode not in (0, CLOSED_PIPE)
    assert done.stderr.startswith("workalike: ")
