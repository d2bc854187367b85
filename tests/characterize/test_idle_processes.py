"""Processes that open no file: what they ask of storage is asked by others, and they rename files, too."""

from __future__ import annotations

import pytest
from simulated_job import log_of

from workalike.characterize import characterize
from workalike.darshan import Log, LogBuilder

DATA = "/run/out/part.bin"


def logs_of(*idle: str) -> list[Log]:
    """A process that writes a file, and one for each name that asks for its state."""
    writer = LogBuilder(nprocs=1, run_time=10.0)
    writer.posix(DATA, 0, OPENS=1, STATS=1, WRITES=4, BYTES_WRITTEN=4096, MAX_BYTE_WRITTEN=4095)
    logs = [log_of(writer)]
    for name in idle:
        asks = LogBuilder(nprocs=1, run_time=1.0)
        asks.posix(name, 0, STATS=2)
        logs.append(log_of(asks))
    return logs


@pytest.mark.parametrize(("idle", "stats"), [((), 1), ((DATA,), 3), ((DATA, DATA), 5)])
def test_stats_of_a_file_that_another_process_writes(idle: tuple[str, ...], stats: int) -> None:
    found = characterize(logs_of(*idle))
    (family,) = found.workload.families
    assert found.workload.ranks == 1
    assert family.all_contents()[0].stats == stats


def test_stats_of_a_file_that_no_other_process_names() -> None:
    found = characterize(logs_of("/run/out/done"))
    assert found.workload.ranks == 1
    assert sorted(family.all_contents()[0].stats for family in found.workload.families) == [1, 2]


def moves(name: str, times: int = 1) -> Log:
    """A process that renames a file."""
    log = LogBuilder(nprocs=1, run_time=1.0)
    log.posix(name, 0, STATS=1, RENAME_SOURCES=times)
    return log_of(log)


@pytest.mark.parametrize("module", ["POSIX", "STDIO"])
def test_a_file_that_another_process_renames(module: str) -> None:
    writer = LogBuilder(nprocs=1, run_time=10.0)
    add = writer.posix if module == "POSIX" else writer.stdio
    add(DATA, 0, OPENS=1, WRITES=4, BYTES_WRITTEN=4096, MAX_BYTE_WRITTEN=4095)
    asks = LogBuilder(nprocs=1, run_time=1.0)
    asks.posix(DATA, 0, STATS=1)
    for logs in ([log_of(writer), log_of(asks), moves(DATA)], [log_of(writer), moves(DATA), log_of(asks)]):
        (family,) = characterize(logs).workload.families
        assert (family.rename, family.all_contents()[0].stats) == (True, 2)


def test_renames_that_cannot_be_true() -> None:
    found = characterize([*logs_of(), moves(DATA, 2**62), moves(DATA, 2**62)])
    assert found.workload.ranks == 1
