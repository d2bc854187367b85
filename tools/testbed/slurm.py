"""A Slurm of several nodes on one machine: each has its own host name, shared memory and file-system client."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from bed import Bed
from ceph import FILE_SYSTEM
from shell import TestbedError, end, environment, tried, wait_until, words_of

PROCESSORS = 4
START_SECONDS = 60
UPTIME = 1000
"""Seconds between the clocks of two nodes that count from their start: nodes of a cluster differ in them, too."""
CONTROLLER_PORT, FIRST_PORT = 6817, 17001
DAEMONS = ("slurmstepd", "slurmd", "slurmctld", "munged")

# Nothing here needs cgroups, accounting or a mail program, so that it starts in a container as well.
CONFIGURATION = """\
ClusterName=testbed
SlurmctldHost=control(127.0.0.1)
SlurmctldPort={controller}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
TmpFS={folder}/tmp.%n
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
MinJobAge=600
SchedulerParameters=batch_sched_delay=0
KillWait=2
MpiDefault=pmix
PartitionName=test Nodes=ALL Default=YES MaxTime=60 State=UP OverSubscribe=NO
"""
NODE = "NodeName={name} NodeHostname={name} NodeAddr=127.0.0.1 Port={port} CPUs={processors} State=UNKNOWN\n"

# Without /dev/shm of its own, MPI on two nodes finds the other node's segments. What it inherits of the mount of
# everybody goes first: it would keep that client alive.
NODE_SCRIPT = """\
set -e
hostname {name}
mount -t tmpfs -o size=1g tmpfs /dev/shm
mount --bind {hosts} /etc/hosts
umount {mount}
ceph-fuse {mount} --client_fs {file_system} -c {configuration}
exec slurmd -D -N {name}
"""


class Slurm:
    """The Slurm of a testbed. Its commands run in the testbed's network: `testbed run -- sbatch ...`."""

    def __init__(self, bed: Bed) -> None:
        self._bed = bed
        self.folder = bed.folder / "slurm"

    @property
    def configuration(self) -> Path:
        return self.folder / "slurm.conf"

    @property
    def hosts(self) -> Path:
        return self.folder / "hosts"

    def start(self, nodes: int) -> None:
        """Start it, or nothing.

        Raises:
            TestbedError: something is not installed, or does not start, or runs already.
        """
        if self.folder.exists():
            raise TestbedError(f"testbed {self._bed.name} has a Slurm already")
        try:
            self._configure(nodes)
            self._start(nodes)
        except BaseException:
            self.stop()
            raise

    def _configure(self, nodes: int) -> None:
        names = [f"n{number + 1}" for number in range(nodes)]
        for name in ("", "state", "munge", *(f"{kind}.{n}" for kind in ("spool", "tmp") for n in names)):
            (self.folder / name).mkdir(mode=0o755)
        text = CONFIGURATION.format(folder=self.folder, controller=CONTROLLER_PORT)
        for number, name in enumerate(names):
            text += NODE.format(name=name, port=FIRST_PORT + number, processors=PROCESSORS)
        self.configuration.write_text(text)
        known = "".join(f"127.0.0.1 {name}\n" for name in ["localhost", "control", *names])
        self.hosts.write_text(Path("/etc/hosts").read_text(errors="replace") + known)
        self._bed.save(slurm=names)

    def _start(self, nodes: int) -> None:
        place = self.folder / "munge"
        (place / "key").write_bytes(os.urandom(1024))
        (place / "key").chmod(0o400)
        self._daemon(
            "munged",
            *("munged", "--foreground", "--force", f"--key-file={place}/key", f"--socket={place}/socket"),
            *(f"--pid-file={place}/pid", f"--log-file={place}/log", f"--seed-file={place}/seed"),
        )
        wait_until((place / "socket").exists, START_SECONDS, "munged")
        # It runs under the host name of its configuration, so that it does not depend on the machine's.
        self._daemon("slurmctld", "unshare", "--uts", "sh", "-c", "hostname control; exec slurmctld -D")
        for number in range(nodes):
            name = f"n{number + 1}"
            script = NODE_SCRIPT.format(
                name=name,
                hosts=self.hosts,
                mount=self._bed.mount,
                file_system=FILE_SYSTEM,
                configuration=self._bed.folder / "ceph.conf",
            )
            uptime = str(UPTIME * (number + 1))
            clock = ("--time", "--monotonic", uptime, "--boottime", uptime, "--fork")
            private = ("unshare", "--mount", "--uts", "--propagation", "private")
            self._daemon(name, *private, *clock, "sh", "-c", script)
        try:
            wait_until(lambda: self._idle() == nodes, START_SECONDS, f"{nodes} idle nodes")
        except TestbedError as error:
            raise TestbedError(f"{error}{self._last_words()}") from error

    def _daemon(self, name: str, *command: str) -> None:
        """A daemon in a session of its own, which outlives this command."""
        with (self.folder / f"{name}.out").open("wb") as output:
            subprocess.Popen(
                self._bed.inside(*command),
                env=environment(SLURM_CONF=str(self.configuration)),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                cwd="/",
            )

    def _idle(self) -> int:
        found = subprocess.run(
            self._bed.inside("sinfo", "--noheader", "--Node", "--format=%T"),
            env=environment(SLURM_CONF=str(self.configuration)),
            capture_output=True,
            text=True,
            check=False,
        )
        return found.stdout.split().count("idle")

    def _last_words(self) -> str:
        """The last line of each daemon that said something."""
        lines = [path.read_text(errors="replace").strip().splitlines() for path in self.folder.glob("*.out")]
        return "".join(f"; {fields[-1]}" for fields in lines if fields)

    def stop(self) -> None:
        """End jobs and daemons; the clients of the nodes end with them."""
        self._end("slurmctld")
        self._end("slurmd")
        self._end("slurmstepd", signal.SIGKILL)
        end(self._of_nodes())
        self._end("munged")
        if self.folder.exists():
            tried(["rm", "-r", str(self.folder)])
        self._bed.save(slurm=[])

    def _end(self, program: str, number: int = signal.SIGTERM) -> None:
        """End a daemon; job steps call themselves `slurmstepd: [1.0]`."""
        found = [
            p for p in self._bed.processes() if Path((words_of(p) or [""])[0]).name.split(":")[0] == program
        ]
        end(found, number)

    def _of_nodes(self) -> list[int]:
        """What runs in the mount namespaces of nodes: tasks of jobs, and the clients."""
        own = Path("/proc/self/ns/uts").stat().st_ino
        found = []
        for process in self._bed.processes():
            try:
                foreign = Path(f"/proc/{process}/ns/uts").stat().st_ino != own
            except OSError:
                continue
            if foreign:
                found.append(process)
        return found
