"""A Slurm cluster of one node, on the host's own name, that lives in one folder."""

from __future__ import annotations

import getpass
import os
import socket
import subprocess
from contextlib import ExitStack, closing

from .daemons import Daemon, InFolder
from .support import wait_until

PROCESSORS = 4

# Nothing here needs cgroups, accounting or a mail program, so that it starts in a container as well.
CONFIGURATION = """\
ClusterName=workalike
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={controller_port}
SlurmdPort={node_port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} State=UNKNOWN
PartitionName=test Nodes={host} Default=YES MaxTime=10 State=UP
"""


class SlurmCluster(InFolder):
    """munged, slurmctld and slurmd; `environment` makes the ordinary commands talk to them.

    The MPI default is Slurm's own, none: the hardest one for a launcher.
    """

    def __init__(self) -> None:
        # Not in pytest's folder: socket paths must be short.
        super().__init__("workalike-slurm-")
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def run(self, *command: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """A Slurm command."""
        return subprocess.run(
            command,
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def set_up(self) -> None:
        folder = self.folder
        for name in ("state", "spool", "munge"):
            (folder / name).mkdir(mode=0o755)
        key = folder / "munge/key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        host = socket.gethostname().split(".")[0]
        controller_port, node_port = _free_ports(2)
        (folder / "slurm.conf").write_text(
            CONFIGURATION.format(
                host=host,
                user=getpass.getuser(),
                folder=folder,
                controller_port=controller_port,
                node_port=node_port,
                processors=PROCESSORS,
            )
        )
        munged = ["munged", "--foreground", "--force", f"--key-file={key}"]
        munged += [f"--socket={folder}/munge.socket", f"--pid-file={folder}/munge/pid"]
        munged += [f"--log-file={folder}/munge/log", f"--seed-file={folder}/munge/seed"]
        munge = self._daemon(munged)
        wait_until((folder / "munge.socket").exists, 20, f"munged: {munge.last_output()}")
        controller = self._daemon(["slurmctld", "-D"])
        node = self._daemon(["slurmd", "-D"])

        def idle() -> bool:
            return self.run("sinfo", "--noheader", "--format=%T").stdout.strip() == "idle"

        try:
            wait_until(idle, 60, "slurmctld and slurmd")
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{controller.last_output()}\n{node.last_output()}") from error

    def _daemon(self, command: list[str]) -> Daemon:
        daemon = Daemon(command, self.folder / f"{command[0]}.out", self.environment)
        self._stack.callback(daemon.stop)
        return daemon


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(closing(socket.socket())) for _ in range(count)]
        for opened in sockets:
            opened.bind(("127.0.0.1", 0))
        return [opened.getsockname()[1] for opened in sockets]
