"""Workers of a Dask cluster for `ingest`: each task reads a chunk with the usual worker process beside it.

The database, the logs and the site file must have the same paths on all nodes, on a file system that they share. Only
the process that ingests commits. A Dask worker that dies costs nothing: its chunk is read by another one.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.extras import extra
from workalike.files import make_folder
from workalike.fleet.workers import Done, Lost, Workers

CONNECT_S = 30
_local = threading.local()


def cluster_run(
    address: str, chunks: Iterable[list[str]], arguments: list[Any], staging: Path, mark: str
) -> Iterator[Done | Lost]:
    """Read all chunks on the cluster whose scheduler is at `address`; yields what is finished, in any order.

    Raises:
        WorkalikeError: MISSING without the package distributed, RUN_FAILED where the cluster cannot be reached, has no
            workers, or its workers die again and again; CANNOT_WRITE where one cannot write.
    """
    distributed = extra("distributed", "a Dask cluster", "fleet-dask")
    try:
        client = distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise WorkalikeError(
            ErrorKind.RUN_FAILED,
            f"--scheduler {address[:100]}: {str(error).splitlines()[0] if str(error) else 'no answer'}",
            hint="start one with dask scheduler, and workers with dask worker ADDRESS",
        ) from error
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise WorkalikeError(
                ErrorKind.RUN_FAILED,
                f"--scheduler {address[:100]}: has no workers",
                hint="start dask worker ADDRESS",
            )
        queue = iter(chunks)
        tasks = [
            client.submit(read_chunk, chunk, arguments, str(staging), mark, pure=False)
            for chunk in islice(queue, 2 * threads)
        ]
        waiting = distributed.as_completed(tasks, loop=client.loop)
        for task in waiting:
            try:
                found = task.result()
            except (
                Exception
            ) as error:  # Dask's own: a worker that died too often, or cannot import this package
                raise WorkalikeError(
                    ErrorKind.RUN_FAILED,
                    f"a Dask worker failed: {type(error).__name__}: {str(error)[:200]}",
                    hint="ingest again: nothing is lost",
                ) from error
            if isinstance(found, Failed):
                raise WorkalikeError(ErrorKind[found.kind], found.message, file=found.file, hint=found.hint)
            yield from found
            task.release()
            for chunk in islice(queue, 1):
                waiting.add(client.submit(read_chunk, chunk, arguments, str(staging), mark, pure=False))


@dataclass(frozen=True)
class Failed:
    """An error on a Dask worker, in a form that travels."""

    kind: str
    message: str
    file: str | None
    hint: str | None


def read_chunk(paths: list[str], arguments: list[Any], staging: str, mark: str) -> list[Done | Lost] | Failed:
    """The task: read a chunk by a worker process that this thread keeps for the next chunks."""
    key = (repr(arguments), staging, mark)
    if getattr(_local, "key", None) != key:
        if getattr(_local, "workers", None) is not None:
            _local.workers.stop()
        _local.key, _local.workers = key, None
    try:
        if _local.workers is None:
            folder = Path(staging) / f"{socket.gethostname()}-{os.getpid()}-{threading.get_ident()}"
            make_folder(folder)
            _local.workers = Workers(1, arguments, folder, mark)
        return list(_local.workers.read([paths]))
    except WorkalikeError as error:
        _local.key = None
        return Failed(error.kind.name, error.message, error.file, error.hint)
    except BaseException:
        _local.key = None
        raise
