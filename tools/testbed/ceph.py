"""A CephFS whose storage daemons keep data in memory, or erasure-coded in files, each at an address of its own."""

from __future__ import annotations

import json
import os
import signal
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bed import Bed, words
from shell import TestbedError, end, mounts_in, run, tried, wait_until, words_of

FILE_SYSTEM = "fs"
DATA, METADATA = "data", "meta"
START_SECONDS = 60
CEPHS_PYTHON = "/usr/bin/python3"

CONFIGURATION = """\
[global]
fsid = {fsid}
mon host = [v2:127.0.0.1:3300,v1:127.0.0.1:6789]
auth cluster required = none
auth service required = none
auth client required = none
run dir = {folder}/run
admin socket = {folder}/run/$name.$pid.asok
pid file =
log file = {folder}/log/$name.log
crash dir = {folder}/crash
mon data = {folder}/mon
osd data = {folder}/osd.$id
mds data = {folder}/mds
{store}
osd pool default size = 1
osd pool default min size = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
osd pool default read lease ratio = 1000
mon allow pool size one = true
paxos propose interval = 0.05
paxos min wait = 0.01
"""
IN_MEMORY = """\
osd objectstore = memstore
memstore device bytes = {bytes}"""
IN_FILES = """\
osd objectstore = bluestore
bluestore block create = true
bluestore block size = {bytes}
bluestore cache autotune = false
bluestore cache size = 67108864"""
"""memstore refuses to overwrite a part of an object of an erasure-coded pool."""
DAEMON = """\
[osd.{number}]
public addr = {address}
cluster addr = {address}
"""


@dataclass(frozen=True)
class Erasure:
    """Data in `parts` pieces on as many daemons, and `more` of parity on others; `width` bytes are coded at once.

    A write of less than that reads the rest, codes both, and writes all of it again.
    """

    parts: int
    more: int
    width: int

    @property
    def profile(self) -> tuple[str, ...]:
        unit = self.width // self.parts
        return (f"k={self.parts}", f"m={self.more}", "crush-failure-domain=osd", f"stripe_unit={unit}")


def address(number: int) -> str:
    """Of a storage daemon, so that each can be limited alone."""
    return f"127.0.1.{number + 1}"


def pinned_pool(number: int) -> str:
    """The pool whose objects are all on one storage daemon."""
    return f"only{number}"


class Ceph:
    """The CephFS of a testbed."""

    def __init__(self, bed: Bed) -> None:
        self._bed = bed
        self._configuration = bed.folder / "ceph.conf"

    def start(self, daemons: int, size: int, erasure: Erasure | None = None) -> None:
        """Start the file system and mount it.

        Args:
            daemons: number of storage daemons.
            size: bytes that each of them keeps.
            erasure: how the data are coded; None: one copy.

        Raises:
            TestbedError: something is not installed, or does not start.
        """
        for name in ("run", "log", "crash", "mon", "mds", "mnt", *(f"osd.{n}" for n in range(daemons))):
            (self._bed.folder / name).mkdir()
        store = (IN_FILES if erasure else IN_MEMORY).format(bytes=size)
        text = CONFIGURATION.format(fsid=uuid.uuid4(), folder=self._bed.folder, store=store)
        text += "".join(DAEMON.format(number=n, address=address(n)) for n in range(daemons))
        self._configuration.write_text(text)
        self._bed.save(daemons=daemons)
        self._start_monitor()
        self._start_storage(daemons)
        self._make_pools(erasure)
        self._start_metadata()
        self.mount(self._bed.mount)

    def _start_monitor(self) -> None:
        map_file = self._bed.folder / "monmap"
        fsid = self._configuration.read_text().split("fsid = ")[1].split()[0]
        addresses = "[v2:127.0.0.1:3300,v1:127.0.0.1:6789]"
        run(["monmaptool", "--create", "--fsid", fsid, "--addv", "a", addresses, str(map_file)])
        self._daemon("ceph-mon", "-i", "a", "--mkfs", "--monmap", str(map_file))
        self._daemon("ceph-mon", "-i", "a")

    def _start_storage(self, daemons: int) -> None:
        """Start the storage daemons, all of them before there is a pool.

        A placement group that moves to a daemon which starts later, in a pool of one copy, may keep an expired lease
        for ever ("laggy"), and with it every write.
        """
        marks = [str(uuid.uuid4()) for _ in range(daemons)]
        self.ceph(*(("osd", "new", mark, number) for number, mark in enumerate(marks)))

        def storage(number: int) -> None:
            self._daemon("ceph-osd", "-i", str(number), "--mkfs", "--osd-uuid", marks[number])
            self._daemon("ceph-osd", "-i", str(number))

        with ThreadPoolExecutor(daemons) as pool:
            for started in [pool.submit(storage, number) for number in range(daemons)]:
                started.result()
        up = f'"num_up_osds":{daemons},'
        wait_until(lambda: up in self.ceph(("osd", "stat")), START_SECONDS, f"{daemons} storage daemons")

    def _make_pools(self, erasure: Erasure | None) -> None:
        coded: tuple[tuple[object, ...], ...] = (("osd", "pool", "create", DATA, 64, 64),)
        if erasure is not None:
            coded = (
                ("osd", "erasure-code-profile", "set", DATA, *erasure.profile),
                ("osd", "pool", "create", DATA, 32, 32, "erasure", DATA),
                ("osd", "pool", "set", DATA, "allow_ec_overwrites", "true"),
            )
        self.ceph(("osd", "pool", "create", METADATA, 8, 8), *coded)

    def _start_metadata(self) -> None:
        self.ceph(("fs", "new", FILE_SYSTEM, METADATA, DATA, "--force"))
        self._daemon("ceph-mds", "-i", "a")
        wait_until(lambda: "up:active" in self.ceph(("mds", "stat")), START_SECONDS, "the metadata server")

    def _daemon(self, *command: str) -> None:
        self._bed.run(*command, "-c", str(self._configuration))

    def ceph(self, *commands: tuple[object, ...]) -> str:
        """Commands for the monitor, all in one process: starting that takes longer than they do.

        Raises:
            TestbedError: one of them failed.
        """
        answer = self._bed.run(*self._ceph, "--format", "json", given=words(*commands))
        if failed := [line for line in answer.splitlines() if line.startswith("Error ")]:
            raise TestbedError(f"ceph: {failed[0]}")
        return answer

    def tell(self, number: int, *words: str) -> str:
        """A command for a storage daemon, which takes a process of its own."""
        return self._bed.run(*self._ceph, "tell", f"osd.{self._known(number)}", *words)

    @property
    def _ceph(self) -> list[str]:
        return ["ceph", "-c", str(self._configuration)]

    def mount(self, folder: Path) -> None:
        """One more client; each is a process with a cache of its own.

        Raises:
            TestbedError: the folder is none, or not empty, or a mount already.
        """
        if not folder.is_dir() or any(folder.iterdir()):
            raise TestbedError(f"{folder} is not an empty folder")
        if os.path.ismount(folder):
            raise TestbedError(f"{folder} is a mount already")
        # Noted before it is mounted, so that `stop` finds it however this ends.
        clients = [*self._bed.read().get("clients", []), str(folder)]
        self._bed.save(clients=clients)
        options = ["--client_fs", FILE_SYSTEM, "-c", str(self._configuration)]
        options += [] if self._bed.read()["cache"] else ["--client_oc=false"]
        run(self._bed.inside("ceph-fuse", str(folder), *options), seconds=START_SECONDS)

    def unmount(self, folder: Path) -> None:
        """Take a client away.

        Raises:
            TestbedError: it is none of this testbed, or in use.
        """
        clients = self._bed.read().get("clients", [])
        if str(folder) not in clients:
            raise TestbedError(f"{folder} is not a client of testbed {self._bed.name}")
        run(["umount", str(folder)])
        self._bed.save(clients=[client for client in clients if client != str(folder)])

    def pin(self) -> list[str]:
        """Make a pool for each storage daemon, all of whose objects it holds; returns their names."""
        numbers = range(self._bed.read()["daemons"])
        self.ceph(
            *(
                command
                for number in numbers
                for pool in [pinned_pool(number)]
                for command in (
                    ("osd", "crush", "rm-device-class", f"osd.{number}"),
                    ("osd", "crush", "set-device-class", pool, f"osd.{number}"),
                    ("osd", "crush", "rule", "create-replicated", pool, "default", "osd", pool),
                    ("osd", "pool", "create", pool, 8, 8, "replicated", pool),
                    ("fs", "add_data_pool", FILE_SYSTEM, pool),
                )
            )
        )
        return [pinned_pool(number) for number in numbers]

    def delay(self, number: int, seconds: float) -> None:
        """Let a storage daemon wait before each operation; 0 ends that."""
        option = "osd_debug_inject_dispatch_delay"
        self.tell(number, "config", "set", f"{option}_duration", f"{seconds:g}")
        self.tell(number, "config", "set", f"{option}_probability", "1" if seconds else "0")

    def where(self, files: list[Path], objects: int) -> list[list[int]]:
        """Of each file, the storage daemons of its first objects.

        Raises:
            TestbedError: a file is not on CephFS.
        """
        questions = []
        for file in files:
            try:
                pool = os.getxattr(file, "ceph.file.layout.pool").decode()
            except OSError as error:
                raise TestbedError(f"{file}: {error.strerror}") from error
            inode = file.stat().st_ino
            questions += [(pool, f"{inode:x}.{number:08x}") for number in range(objects)]
        found = [int(line) for line in self._objects("where", *questions)]
        return [found[first : first + objects] for first in range(0, len(found), objects)]

    def objects(self, pool: str) -> dict[int, dict[int, int]]:
        """Inode -> number of the object -> its size, of every file with data in a pool."""
        found: dict[int, dict[int, int]] = {}
        for line in self._objects("sizes", (pool,)):
            name, size = line.split()
            inode, _, number = name.partition(".")
            found.setdefault(int(inode, 16), {})[int(number, 16)] = int(size)
        return found

    def _objects(self, what: str, *questions: tuple[str, ...]) -> list[str]:
        script = [CEPHS_PYTHON, str(Path(__file__).with_name("objects.py")), str(self._configuration), what]
        return self._bed.run(*script, given=words(*questions)).splitlines()

    def counters(self) -> dict[int, dict[str, int]]:
        """Operations and bytes of each storage daemon since its start; `stored_reads` are those of its own store.

        A daemon reads its store for clients, and to complete what it writes in part. In memory it counts none.
        """
        names = {"writes": "op_w", "written": "op_in_bytes", "reads": "op_r", "read": "op_out_bytes"}
        found = {}
        for number in range(self._bed.read()["daemons"]):
            values = json.loads(self.tell(number, "perf", "dump"))
            found[number] = {name: int(values["osd"][osd_name]) for name, osd_name in names.items()}
            stored = values.get("bluestore", {}).get("read_lat", {})
            found[number]["stored_reads"] = int(stored.get("avgcount", 0))
        return found

    def _known(self, number: int) -> int:
        daemons = self._bed.read()["daemons"]
        if not 0 <= number < daemons:
            raise TestbedError(f"there is no storage daemon {number}: they are 0 to {daemons - 1}")
        return number

    def stop(self) -> None:
        """End clients first, then what they need: a client that waits for a daemon does not end by itself."""
        for point in [*self._bed.read().get("clients", []), *mounts_in(self._bed.folder)]:
            tried(["umount", point]) or tried(["umount", "--lazy", point])
        end(self._running("ceph-fuse"))
        end(self._running("ceph-mds"), signal.SIGKILL)
        end(self._running("ceph-osd"))
        end(self._running("ceph-mon"))

    def _running(self, program: str) -> list[int]:
        return [p for p in self._bed.processes() if Path((words_of(p) or [""])[0]).name == program]
