"""Runs commands in sessions of their own, so that all that they started can be ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",  # Open MPI 4
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI 5
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_pml": "ob1",
    "HWLOC_COMPONENTS": "-pci,-linuxio",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
WORKALIKE = str(Path(sys.executable).with_name("workalike"))

running: dict[int, subprocess.Popen[str]] = {}
changing = threading.Lock()
ending = threading.Event()


@dataclass(frozen=True)
class Done:
    """How a command ended. A negative code is a signal's number; `timed_out` if it was ended here."""

    code: int
    stdout: str
    stderr: str
    timed_out: bool = False

    @property
    def last_words(self) -> str:
        """The end of what it said, for people."""
        return (self.stderr.strip() or self.stdout.strip())[-600:]


def perform(command: Sequence[str], folder: Path, timeout: float) -> Done:
    """Run a command in a folder; after `timeout` seconds its whole group is ended."""
    with changing:
        if ending.is_set():
            raise KeyboardInterrupt
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **ENVIRONMENT, "PWD": str(folder)},  # which shells ask for the state of
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        running[process.pid] = process
    timed_out = False
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        timed_out = True
        end_group(process)
        stdout, stderr = process.communicate()
    finally:
        with changing:
            running.pop(process.pid, None)
    return Done(process.returncode, stdout, stderr, timed_out)


def end_group(process: subprocess.Popen[str]) -> None:
    """End a command and what it started. mpiexec ends its ranks, which have groups of their own, if it is asked to."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        for _ in range(50):
            if process.poll() is not None:
                break
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGKILL)


def end_all() -> None:
    """End everything that runs, and start nothing more."""
    ending.set()
    with changing:
        left = list(running.values())
    for process in left:
        end_group(process)
