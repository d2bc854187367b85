"""The anonymous workload of a job, for download: made by a process of its own, which may fail or be ended."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.fleet.originals import anonymous_workload, original, paths_of
from workalike.fleet.serve.queries import Row
from workalike.fleet.store import Store

LIMIT_S = 60.0
MEMORY = 4 << 30
MOST_LOGS = 200
"""Logs of a job, of which a workload is made."""
AT_ONCE = 2


class Workloads:
    """Makes workloads, a few at once; `archives` is where logs are that were archived."""

    def __init__(self, archives: Path | None) -> None:
        self._archives = archives.absolute() if archives else None
        self._turns = threading.BoundedSemaphore(AT_ONCE)

    def text(self, store: Store, connection: Any, logs: list[Row]) -> str:
        """The workload of a job's logs, as text.

        Raises:
            WorkalikeError: MISSING where a log cannot be had, RUN_FAILED where it takes too long, and as `characterize`.
        """
        if len(logs) > MOST_LOGS:
            raise WorkalikeError(ErrorKind.USAGE, f"the job has more than {MOST_LOGS} logs")
        wanted = [
            {
                "sha256": r["sha256"],
                "paths": [str(p) for p in paths_of(store, connection, r["log_id"], self._archives)],
            }
            for r in logs
        ]
        asked = json.dumps({"logs": wanted, "archives": str(self._archives) if self._archives else None})
        if not self._turns.acquire(timeout=LIMIT_S):
            raise WorkalikeError(ErrorKind.RUN_FAILED, "too many workloads are being made; try again")
        try:
            done = subprocess.run(
                [sys.executable, "-m", "workalike.fleet.serve.workloads"],
                input=asked.encode(),
                capture_output=True,
                timeout=LIMIT_S,
                check=False,
                env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            )
            said = json.loads(done.stdout)
        except subprocess.TimeoutExpired as error:
            raise WorkalikeError(ErrorKind.RUN_FAILED, f"it takes more than {LIMIT_S:.0f} s") from error
        except ValueError as error:
            raise WorkalikeError(ErrorKind.RUN_FAILED, "the log cannot be characterized") from error
        finally:
            self._turns.release()
        if "workload" not in said:
            raise WorkalikeError(ErrorKind.MISSING, said["problem"])
        return str(said["workload"])


def main() -> None:
    """Read what is asked on stdin; the workload, or why there is none, goes to stdout."""
    asked = json.load(sys.stdin)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    archives = Path(asked["archives"]) if asked["archives"] else None
    try:
        with ExitStack() as stack:
            logs = [
                stack.enter_context(original([Path(p) for p in log["paths"]], log["sha256"], archives))
                for log in asked["logs"]
            ]
            said = {"workload": anonymous_workload(logs)}
    except WorkalikeError as error:
        said = {"problem": error.message}  # without the file: a path of another user may be in it
    print(json.dumps(said))


if __name__ == "__main__":
    main()
