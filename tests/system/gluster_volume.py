"""A striped parallel file system on one machine: GlusterFS, one file sharded over several bricks.

Each brick is an XFS image. GlusterFS refuses loopback addresses, so it runs in a network namespace of its own, where an
invented address cannot collide. All of its state is in one folder. GlusterFS calls sharding a single-writer feature: while
ranks write, no process may list or stat the folder, or wrong file sizes may be reported (the data are right).
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import warnings
from pathlib import Path

from .daemons import Daemon, InFolder
from .support import processes_naming, wait_until

ADDRESS = "10.77.0.1"
VOLUME = "striped"
BRICK_SIZE = "2G"

CONFIGURATION = """\
volume management
    type mgmt/glusterd
    option working-directory {folder}/state
    option run-directory {folder}/run
    option glusterd-sockfile {folder}/glusterd.socket
    option transport-type socket
    option transport.address-family inet
    option transport.socket.listen-port 24007
    option ping-timeout 0
    option event-threads 1
end-volume
"""


class CannotSetUp(Exception):
    """The machine forbids it: no namespaces, no loop devices, no FUSE."""


class GlusterVolume(InFolder):
    """A mounted volume. Stripe count is the number of bricks, stripe size the shard's."""

    def __init__(self, bricks: int = 2, shard: str = "4MB") -> None:
        super().__init__("workalike-gluster-")
        self.mount = self.folder / "mount"
        self.bricks = [self.folder / f"brick{i}" for i in range(bricks)]
        self._shard = shard
        self._namespace = f"workalike-{os.getpid()}"

    def shards(self) -> list[dict[str, int]]:
        """Of each brick: the shards on it with their sizes. Only after a run."""
        return [
            {path.name: path.stat().st_size for path in (brick / "b/.shard").glob("*.*")}
            for brick in self.bricks
        ]

    def stored_bytes(self) -> int:
        """Bytes of all files and shards on all bricks, without GlusterFS' own books."""
        return sum(
            path.stat().st_size
            for brick in self.bricks
            for path in (brick / "b").rglob("*")
            if path.is_file() and ".glusterfs" not in path.parts
        )

    def set_up(self) -> None:
        for name in ("state", "run", "log", "mount"):
            (self.folder / name).mkdir()
        for brick in self.bricks:
            self._make_brick(brick)
        self._make_network()
        self._start_daemon()
        self._make_volume()
        self._mount_volume()

    def _make_brick(self, brick: Path) -> None:
        brick.mkdir()
        image = str(brick.with_suffix(".img"))
        _run("truncate", "--size", BRICK_SIZE, image)
        _run("mkfs.xfs", "-q", image)
        _allowed("mount", "-o", "loop", image, str(brick))
        self._undo("umount", str(brick))
        (brick / "b").mkdir()

    def _make_network(self) -> None:
        _allowed("ip", "netns", "add", self._namespace)
        self._undo("ip", "netns", "delete", self._namespace)
        ours, theirs = f"wa{os.getpid()}a", f"wa{os.getpid()}b"
        _allowed("ip", "link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", self._namespace)
        _run("ip", "link", "set", ours, "up")
        for words in ("link set lo up", f"address add {ADDRESS}/24 dev {theirs}", f"link set {theirs} up"):
            _run(*self._inside("ip", *words.split()))

    def _start_daemon(self) -> None:
        settings = self.folder / "glusterd.vol"
        settings.write_text(CONFIGURATION.format(folder=self.folder))
        command = [
            "glusterd",
            "--no-daemon",
            f"--volfile={settings}",
            f"--pid-file={self.folder}/glusterd.pid",
        ]
        command += [
            f"--log-file={self.folder}/log/glusterd",
            f"--socket-file={self.folder}/management.socket",
        ]
        daemon = Daemon(self._inside(*command), self.folder / "glusterd.out")
        self._stack.callback(daemon.stop)

        def answers() -> bool:
            done = subprocess.run(self._gluster("pool", "list"), capture_output=True, timeout=60)
            return done.returncode == 0

        wait_until(answers, 60, "glusterd")

    def _make_volume(self) -> None:
        places = [f"{ADDRESS}:{brick}/b" for brick in self.bricks]
        _run(*self._gluster("volume", "create", VOLUME, "transport", "tcp", *places, "force"))
        _run(*self._gluster("volume", "set", VOLUME, "features.shard", "on"))
        _run(*self._gluster("volume", "set", VOLUME, "features.shard-block-size", self._shard))
        _run(*self._gluster("volume", "start", VOLUME))
        self._stack.callback(self._remove_traces, [command for _, command in self._brick_daemons()])
        self._stack.callback(self._end_bricks)
        self._undo(*self._gluster("volume", "stop", VOLUME, "force"))

    def _mount_volume(self) -> None:
        options = f"log-file={self.folder}/log/mount"
        # Only the network namespace is entered, so that everybody sees the mount.
        _allowed(
            *self._inside("mount", "-t", "glusterfs", "-o", options, f"{ADDRESS}:/{VOLUME}", str(self.mount))
        )
        self._undo("umount", str(self.mount))

    def _gluster(self, *words: str) -> list[str]:
        options = ["--mode=script", f"--glusterd-sock={self.folder}/glusterd.socket"]
        return self._inside("gluster", *options, f"--log-file={self.folder}/log/gluster", *words)

    def _inside(self, *command: str) -> list[str]:
        return ["nsenter", f"--net=/var/run/netns/{self._namespace}", *command]

    def _undo(self, *command: str) -> None:
        """Stop something at the end; a failure there must not hide an earlier one."""

        def run() -> None:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=_environment())
            if done.returncode != 0:
                warnings.warn(f"{' '.join(command)}: {done.stderr or done.stdout}", stacklevel=1)

        self._stack.callback(run)

    def _brick_daemons(self) -> list[tuple[int, str]]:
        """Those with our folder on their command line."""
        found = processes_naming(f"{self.folder}/brick")
        return [(process, command) for process, command in found if "glusterfsd" in command]

    def _end_bricks(self) -> None:
        """A brick daemon that still runs keeps its file system busy."""
        for process, _ in self._brick_daemons():
            os.kill(process, signal.SIGTERM)
        wait_until(lambda: not self._brick_daemons(), 30, "brick daemons' end")

    def _remove_traces(self, daemons: list[str]) -> None:
        """Log and socket of a brick daemon are the only files outside our folder."""
        for command in daemons:
            for option in ("-l", "-S"):
                found = re.search(rf" {option} (\S+)", command)
                if found:
                    Path(found[1]).unlink(missing_ok=True)


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"}


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=_environment())
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr or done.stdout}")


def _allowed(*command: str) -> None:
    """A step that a container may forbid."""
    try:
        _run(*command)
    except RuntimeError as error:
        raise CannotSetUp(str(error).strip()) from error
