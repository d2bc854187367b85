"""Messages of launchers: the cause of a failure passes, and what is said of every run that was ended does not."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from workalike.launch.messages import MOST_HELD, Filter
from workalike.launch.processes import run_to_its_end

CAUSE = "workalike-engine: rank 0: output 1, dump 0: write failed: No space left on device\n"
DASHES = "-" * 74 + "\n"
EQUALS = "=" * 83 + "\n"
OPEN_MPI = (
    DASHES
    + """\
MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD
with errorcode 1.

NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.
You may or may not see output from other processes, depending on
exactly when Open MPI kills them.
"""
    + DASHES
)
AFTER = """\
[node7:17970] 1 more process has sent help message help-mpi-api.txt / mpi-abort
[node7:17970] Set MCA parameter "orte_base_help_aggregate" to 0 to see all help / error messages
[warn] Epoll MOD(1) on fd 23 failed. Old events were 6; read change was 0 (none): Bad file descriptor
"""
HYDRA = (
    "application called MPI_Abort(MPI_COMM_WORLD, 1) - process 0\n\n"
    + EQUALS
    + """\
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 123 RUNNING AT node7
=   EXIT CODE: 1
=   CLEANING UP REMAINING PROCESSES
=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES
"""
    + EQUALS
)
KILLED = (
    DASHES
    + "mpiexec noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed).\n"
    + DASHES
)
PMIX = "[node7:1] PMIX ERROR: OUT-OF-RESOURCE in file dstore_base.c at line 664\n"


def passed(text: str, size: int) -> str:
    found: list[bytes] = []
    whole = Filter(found.append)
    data = text.encode()
    for at in range(0, len(data), size):
        whole.feed(data[at : at + size])
    whole.end()
    return b"".join(found).decode()


@pytest.mark.parametrize("size", [1, 7, 74, 1 << 20])
@pytest.mark.parametrize(
    ("text", "left"),
    [
        (CAUSE + OPEN_MPI + AFTER, CAUSE),
        (OPEN_MPI + CAUSE + AFTER, CAUSE),
        (HYDRA + CAUSE, "\n" + CAUSE),
        (OPEN_MPI + KILLED, KILLED),
        (CAUSE + PMIX + KILLED + AFTER + "a\n", CAUSE + PMIX + KILLED + "a\n"),
        ("YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\nThis typically refers to a problem "
         "with your application.\n", "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n"),
        ("no end", "no end"),
        (DASHES + "no end of a block", DASHES + "no end of a block"),
        ("\r10 %\r20 %\r", "\r10 %\r20 %\r"),
        ("Abort, said a program\n-- and so on\n[x] y\n", "Abort, said a program\n-- and so on\n[x] y\n"),
        (DASHES + "x" * 2 * MOST_HELD + "\n" + CAUSE, DASHES + "x" * 2 * MOST_HELD + "\n" + CAUSE),
    ],
)  # fmt: skip
def test_what_passes(text: str, left: str, size: int) -> None:
    assert passed(text, size) == left


def test_a_line_without_an_end_passes_at_once() -> None:
    found: list[bytes] = []
    Filter(found.append).feed(b"\rdump 3 of 10")
    assert b"".join(found) == b"\rdump 3 of 10"


def test_both_streams_of_a_command_become_messages(capfd: pytest.CaptureFixture[str]) -> None:
    code = "import sys; print('out', flush=True); print(sys.argv[1], file=sys.stderr, end=''); sys.exit(3)"
    assert run_to_its_end([sys.executable, "-c", code, CAUSE + OPEN_MPI], dict(os.environ)) == 3
    assert capfd.readouterr() == ("", "out\n" + CAUSE)


def test_messages_pass_where_standard_error_has_no_descriptor(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a notebook, whose standard error may be an object of its own."""
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert run_to_its_end(["sh", "-c", "echo out; echo error >&2"], dict(os.environ)) == 0
    assert "error" in capfd.readouterr().err


def test_a_command_that_is_not_there(capfd: pytest.CaptureFixture[str]) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(FileNotFoundError):
        run_to_its_end(["/no/such/launcher"], dict(os.environ))
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("command", ["characterize", "fleet"])
def test_an_interrupted_command_without_a_run_says_nothing_of_keep(command: str) -> None:
    code = (
        "import os, signal; from workalike import cli; "
        "signal.signal(signal.SIGINT, signal.default_int_handler); "  # a job in the background inherits that it is ignored
        "cli.app = lambda **_: os.kill(os.getpid(), signal.SIGINT); cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code, command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "workalike: interrupted\n")
