"""The parent's side of the workers: hands out chunks, and goes on without a worker that dies or hangs."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError

LIMIT_S = 300.0
"""Seconds that one log may take. The largest logs known take a few."""
MOST_STARTS = 5
"""Deaths of workers in a row, without a log read, after which the ingestion ends."""


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    paths: list[str] = field(default_factory=list)
    to: Path = Path()
    at: int | None = None
    since: float = 0.0
    text: bytes = b""


@dataclass(frozen=True)
class Done:
    """A chunk, or the first logs of it, that a worker has finished; `part` is None where nothing was written."""

    part: dict[str, Any] | None
    folder: Path
    counts: dict[str, int]
    problems: list[tuple[str, str]]


@dataclass(frozen=True)
class Lost:
    """A log at which two workers ended, and how."""

    path: str
    reason: str


class Workers:
    """Processes that read chunks of logs."""

    def __init__(self, count: int, arguments: list[Any], staging: Path, mark: str) -> None:
        self._count = count
        self._arguments = json.dumps(arguments)
        self._staging = staging
        self._mark = mark
        self._workers: list[_Worker] = []
        self._selector = selectors.DefaultSelector()
        self._again: deque[list[str]] = deque()
        self._suspects: set[str] = set()
        self._folders = 0
        self._deaths = 0

    def run(self, chunks: Iterable[list[str]]) -> Iterator[Done | Lost]:
        """Read all chunks; yields what is finished, in any order.

        Raises:
            WorkalikeError: RUN_FAILED where workers cannot be started; CANNOT_WRITE where one cannot write.
        """
        try:
            yield from self.read(chunks)
        finally:
            self.stop()

    def read(self, chunks: Iterable[list[str]]) -> Iterator[Done | Lost]:
        """As `run`, without ending the workers, which are for further chunks."""
        queue = iter(chunks)
        while True:
            self._feed(queue)
            if not any(worker.paths for worker in self._workers):
                return
            for key, _ in self._selector.select(timeout=1.0):
                yield from self._heard(key.data)
            for worker in self._workers:
                if worker.paths and time.monotonic() - worker.since > LIMIT_S:
                    worker.process.kill()

    def stop(self) -> None:
        """End all workers; what they had not finished is lost, and read again by the next ingestion."""
        for worker in self._workers:
            with contextlib.suppress(OSError):
                worker.process.kill()
            worker.process.wait()
            for pipe in (worker.process.stdin, worker.process.stdout):
                with contextlib.suppress(OSError):
                    pipe.close() if pipe else None
        self._workers.clear()
        self._selector.close()

    def _feed(self, queue: Iterator[list[str]]) -> None:
        idle = [worker for worker in self._workers if not worker.paths]
        while idle or len(self._workers) < self._count:
            paths = self._again.popleft() if self._again else next(queue, None)
            if paths is None:
                return
            self._give(idle.pop() if idle else self._start(), paths)

    def _start(self) -> _Worker:
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        process = subprocess.Popen(
            [sys.executable, "-m", "workalike.fleet.worker", self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        worker = _Worker(process)
        self._workers.append(worker)
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        self._selector.register(process.stdout, selectors.EVENT_READ, worker)
        return worker

    def _give(self, worker: _Worker, paths: list[str]) -> None:
        self._folders += 1
        worker.paths, worker.at, worker.since = paths, None, time.monotonic()
        worker.to = self._staging / str(self._folders)
        asked = json.dumps({"paths": paths, "to": str(worker.to), "mark": self._mark}) + "\n"
        assert worker.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has died, which its stdout tells
            worker.process.stdin.write(asked.encode())
            worker.process.stdin.flush()

    def _heard(self, worker: _Worker) -> Iterator[Done | Lost]:
        assert worker.process.stdout is not None
        data = os.read(worker.process.stdout.fileno(), 1 << 16)
        if not data:
            yield from self._died(worker)
            return
        *lines, worker.text = (worker.text + data).split(b"\n")
        for line in lines:
            said = json.loads(line)
            worker.since = time.monotonic()
            if "at" in said:
                worker.at, self._deaths = said["at"], 0 if said["at"] else self._deaths
            elif "failed" in said:
                raise WorkalikeError(
                    ErrorKind.CANNOT_WRITE,
                    said["failed"],
                    file=said["file"],
                    hint="check space, ingest again",
                )
            else:
                rest = worker.paths[said["done"] :]
                if rest:
                    self._again.append(rest)
                problems = [(path, reason) for path, reason in said["problems"]]
                done = Done(said["part"], worker.to, said["counts"], problems)
                worker.paths, self._deaths = [], 0
                yield done

    def _died(self, worker: _Worker) -> Iterator[Lost]:
        """A worker ended: its logs are read again, the one that it was reading alone."""
        slow = time.monotonic() - worker.since > LIMIT_S
        self._selector.unregister(worker.process.stdout)  # type: ignore[arg-type]
        code = worker.process.wait()
        self._workers.remove(worker)
        self._deaths += 1
        if worker.at is None:
            if self._deaths > MOST_STARTS:
                raise WorkalikeError(
                    ErrorKind.RUN_FAILED,
                    f"workers end with code {code} before they read a log",
                    hint="run python -m workalike.fleet.worker to see why",
                )
            self._again.append(worker.paths)
            return
        path = worker.paths[worker.at]
        rest = worker.paths[: worker.at] + worker.paths[worker.at + 1 :]
        if rest:
            self._again.append(rest)
        if path not in self._suspects:
            self._suspects.add(path)
            self._again.append([path])
            return
        how = f"took more than {LIMIT_S:.0f} s" if slow else f"ended its reader twice ({_code_text(code)})"
        yield Lost(path, how)


def _code_text(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
