"""One testbed: a folder and a network namespace of the same name.

Everything that a testbed starts runs in its namespace. So its processes are found there, whatever happened to the
command that started them, and two testbeds share no port.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shell import TestbedError, end, mounts_in, run, runs, tried

PREFIX = "workalike-testbed-"
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,15}")
NAMESPACES = Path("/run/netns")
ADDRESS = "10.77.0.1"
STATE = "testbed.json"
STARTING, RUNNING = "starting", "running"


def parent() -> Path:
    """Where the folders are: not deep, since paths of sockets must be short."""
    return Path(tempfile.gettempdir())


@dataclass(frozen=True)
class Bed:
    """A testbed by its name, whether it runs, is left over, or does not exist yet."""

    name: str

    @property
    def folder(self) -> Path:
        return parent() / f"{PREFIX}{self.name}"

    @property
    def namespace(self) -> Path:
        return NAMESPACES / f"{PREFIX}{self.name}"

    @property
    def mount(self) -> Path:
        return self.folder / "mnt"

    def inside(self, *command: str) -> list[str]:
        """A command as it runs in the network namespace; it shares the mounts of everybody."""
        return ["nsenter", f"--net={self.namespace}", *command]

    def run(self, *command: str, given: str = "") -> str:
        return run(self.inside(*command), given)

    def claim(self) -> None:
        """Make the folder, so that the name is taken.

        Raises:
            TestbedError: a testbed of this name exists.
        """
        if self.namespace.exists():
            raise TestbedError(f"{self.namespace} exists: stop {self.name} first, or choose another name")
        try:
            self.folder.mkdir(mode=0o755)
        except FileExistsError as error:
            raise TestbedError(
                f"{self.folder} exists: stop {self.name} first, or choose another name"
            ) from error
        except OSError as error:
            raise TestbedError(f"{self.folder}: {error.strerror}") from error
        self.save(state=STARTING, starter=os.getpid())

    def make(self) -> None:
        """Make the namespace.

        Raises:
            TestbedError: the machine does not allow it.
        """
        run(["ip", "netns", "add", self.namespace.name])
        self.run("ip", "link", "set", "lo", "up")
        # Slurm and MPI look for an interface beside the loopback. It carries nothing: the kernel delivers to a machine's
        # own addresses over the loopback.
        self.run("ip", "link", "add", "node0", "type", "veth", "peer", "name", "node1")
        self.run("ip", "address", "add", f"{ADDRESS}/24", "dev", "node0")
        for end_of_pair in ("node0", "node1"):
            self.run("ip", "link", "set", end_of_pair, "up")

    def read(self) -> dict[str, Any]:
        """The state as last saved; empty where there is none."""
        with contextlib.suppress(OSError, ValueError):
            found = json.loads((self.folder / STATE).read_text())
            return found if isinstance(found, dict) else {}
        return {}

    def save(self, **changes: Any) -> None:
        """Change fields of the state, if there is a folder; a kill in the middle leaves the old one."""
        if not self.folder.is_dir():
            return
        new = self.folder / f"{STATE}.new"
        new.write_text(json.dumps(self.read() | changes, indent=1) + "\n")
        new.replace(self.folder / STATE)

    def processes(self) -> list[int]:
        """What runs in the namespace, except this command and those that started it."""
        if not self.namespace.exists():
            return []
        try:
            numbers = run(["ip", "netns", "pids", self.namespace.name]).split()
        except TestbedError:  # no namespace is mounted there
            return []
        return [
            int(number) for number in numbers if int(number) not in _this_and_above() and runs(int(number))
        ]

    def remove(self) -> None:
        """End what still runs in the namespace, and remove namespace, mounts and folder.

        Raises:
            TestbedError: something could not be removed.
        """
        end(self.processes())
        end(self.processes())  # started by one that has just ended
        for point in [*self.read().get("clients", []), *mounts_in(self.folder)]:
            tried(["umount", "--lazy", point])
        if self.namespace.exists():
            run(["ip", "netns", "delete", self.namespace.name])
        if left := mounts_in(self.folder):
            raise TestbedError(f"{left[0]} is still mounted, so {self.folder} is left")
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.folder.exists():
            raise TestbedError(f"{self.folder} cannot be removed")


def _this_and_above() -> set[int]:
    """This process and its ancestors: a shell in the namespace may stop the testbed."""
    found, process = set(), os.getpid()
    while process > 1 and process not in found:
        found.add(process)
        try:
            stat = Path(f"/proc/{process}/stat").read_text(errors="replace")
        except OSError:
            break
        process = int(stat.rpartition(")")[2].split()[1])
    return found


def new_bed(name: str | None) -> Bed:
    """A testbed to be started.

    Raises:
        TestbedError: the name is none.
    """
    name = name or secrets.token_hex(3)
    if not NAME.fullmatch(name):
        raise TestbedError(f"{name!r} is not a name: up to 16 small letters, digits and hyphens")
    return Bed(name)


def all_beds() -> list[Bed]:
    """Every testbed of this machine, also what is left of killed ones."""
    found = {path.name for place in (parent(), NAMESPACES) for path in place.glob(f"{PREFIX}*")}
    return [Bed(name.removeprefix(PREFIX)) for name in sorted(found)]


def find_bed(name: str | None) -> Bed:
    """The testbed of a name; without a name, the only one.

    Raises:
        TestbedError: there is none, or there are several to choose from.
    """
    beds = all_beds()
    if name is not None:
        beds = [bed for bed in beds if bed.name == name]
    if not beds:
        raise TestbedError(f"there is no testbed{' ' + name if name else ''}")
    if len(beds) > 1:
        raise TestbedError(
            f"there are several testbeds: choose one of --name {', '.join(b.name for b in beds)}"
        )
    return beds[0]


def running_bed(name: str | None) -> Bed:
    """As `find_bed`.

    Raises:
        TestbedError: also if it does not run.
    """
    bed = find_bed(name)
    if bed.read().get("state") != RUNNING:
        raise TestbedError(f"testbed {bed.name} does not run: stop it, then start another")
    return bed


def words(*commands: Sequence[object]) -> str:
    """Commands as lines for a program that reads them."""
    return "".join(" ".join(map(str, command)) + "\n" for command in commands)
