"""`tools/testbed` as its users call it: a CephFS whose servers can be limited."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .support import REPOSITORY, needs, needs_root

COMMAND = [sys.executable, str(REPOSITORY / "tools/testbed")]


def tools_testbed(*arguments: object, check: bool = True, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command; a failure ends the test with its line."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        **options,
    )
    assert not check or done.returncode == 0, done.stderr
    return done


def needs_testbed() -> None:
    """Skip where the machine has no CephFS, or allows no namespaces."""
    needs("ceph-mon", "ceph-osd", "ceph-mds", "ceph-fuse", "ceph", "ip", "nsenter", "tc")
    needs_root("a testbed")
    if not Path("/dev/fuse").exists():
        pytest.skip("no /dev/fuse: file systems in user space are not allowed here")
    name = f"workalike-allowed-{os.getpid()}"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode:
        pytest.skip("this machine allows no network namespaces")
    subprocess.run(["ip", "netns", "delete", name], capture_output=True)


class CephBed:
    """A started testbed, with a pool on each storage daemon unless other options are given, as a context manager."""

    def __init__(self, *options: str) -> None:
        self._options = options or ("--pin",)
        self.about: dict[str, Any] = {}

    def __enter__(self) -> CephBed:
        self.about = json.loads(tools_testbed("start", *self._options).stdout)
        return self

    def __exit__(self, *exception: object) -> None:
        tools_testbed("stop", "--name", self.name)

    @property
    def name(self) -> str:
        return str(self.about["name"])

    @property
    def mount(self) -> Path:
        return Path(self.about["mount"])

    def __call__(self, command: str, *arguments: object) -> Any:
        """A command of this testbed; returns what it printed, if that is something."""
        answer = tools_testbed(command, "--name", self.name, *arguments).stdout
        return json.loads(answer) if answer.strip() else None

    def inside(self, *command: str) -> list[str]:
        """A command in the testbed's network, where its Slurm is reached."""
        return [*COMMAND, "run", "--name", self.name, "--", *command]

    def start_slurm(self) -> list[str]:
        """Start three nodes; returns their names."""
        needs("slurmctld", "slurmd", "munged", "srun")
        return list(self("slurm", "start")["slurm"])

    def limit(self, rate: str, daemon: int | str = "all") -> None:
        self("limit", daemon, rate)


@contextlib.contextmanager
def slurm_bed() -> Iterator[CephBed]:
    """A started testbed with a Slurm of three nodes; skips where there can be none."""
    needs_testbed()
    with CephBed() as started:
        assert started.start_slurm() == ["n1", "n2", "n3"]
        yield started


def write_through(path: Path, size: int) -> None:
    """Write so many bytes into a file; they are on the servers afterwards."""
    block = bytes(2**20)
    with path.open("r+b", buffering=0) as file:
        for _ in range(size // len(block)):
            file.write(block)
        os.fsync(file.fileno())


@dataclass(frozen=True)
class Traffic:
    """What a limit has let pass towards a storage daemon, and how often it has held something back."""

    sent: int
    held_back: int


TRAFFIC = re.compile(
    r"^class htb 1:1([0-9a-f]) .*?Sent (\d+) bytes .*?overlimits (\d+)", re.MULTILINE | re.DOTALL
)


def traffic_in(listed: str) -> dict[int, Traffic]:
    """By storage daemon, from what `tc -s class show` lists: class 1:12 is what daemon 2 receives."""
    return {int(n, 16): Traffic(int(sent), int(held)) for n, sent, held in TRAFFIC.findall(listed)}


def limited_traffic(bed: CephBed) -> dict[int, Traffic]:
    """Of the daemons that have a limit."""
    command = bed.inside("tc", "-s", "class", "show", "dev", "lo")
    return traffic_in(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
