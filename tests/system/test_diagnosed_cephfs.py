"""Captured runs on a CephFS with a planted fault, diagnosed: the finding names what was planted, and what it cost."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .support import workalike
from .testbed import CephBed, needs_testbed

pytestmark = pytest.mark.system

RANKS = 8
SLOW = 3
ATTEMPTS = 6
A_FILE_EACH = f"""\
workalike: 2
ranks: {RANKS}
families:
- role: checkpoint
  interface: posix
  sharing: per-rank
  schedule: {{count: 1, first: 0 s}}
  content:
    fsyncs: {RANKS}
    streams: [{{direction: write, sizes: [2/rank x 1 MiB]}}]
"""
WRITES, DELAY_S = 60, 0.02
SYNC_EACH = f"""\
workalike: 2
ranks: 2
families:
- role: checkpoint
  interface: posix
  sharing: per-rank
  schedule: {{count: 1, first: 0 s}}
  content:
    sync: each
    streams: [{{direction: write, sizes: [{WRITES}/rank x 64 KiB]}}]
"""


@pytest.fixture(scope="module")
def bed() -> Iterator[CephBed]:
    needs_testbed()
    with CephBed() as started:
        yield started


def captured(workload: str, data: Path, folder: Path) -> Path:
    """The log of a captured run; its files are kept."""
    folder.mkdir()
    (folder / "w.yaml").write_text(workload)
    done = workalike("run", "w.yaml", "--dir", data, "--capture", "--keep", "-o", "out", "-q", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "out/replica.darshan"


def diagnosed(log: Path) -> list[dict[str, Any]]:
    site = log.parent / "site.toml"
    site.write_text(
        "[job]\nminimum_run_time_s = 0.0\n"
    )  # prompt daemons end a run within 0.1 s on an idle machine
    done = workalike("diagnose", log, "--json", "--site", site, cwd=log.parent)
    assert done.returncode in (0, 3), done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return found


def test_ranks_of_a_slow_daemon(bed: CephBed, tmp_path: Path) -> None:
    """Each file lies on one daemon. The slow one serves one rank or two, of which one is named."""
    bed.limit("100mbit")
    bed.limit("5mbit", SLOW)
    try:
        for attempt in range(ATTEMPTS):  # a hash of the inode decides where a file lies
            data = bed.mount / f"slow-{attempt}"
            log = captured(A_FILE_EACH, data, tmp_path / str(attempt))
            files = sorted(data.iterdir())
            placed = bed("where", *files)
            shutil.rmtree(data)
            assert len(files) == RANKS
            slow = [rank for rank, daemons in enumerate(placed) if daemons[0] == SLOW]
            if len(slow) in (1, 2):
                break
        else:
            pytest.fail("no run has one or two of its files on the slow daemon")
    finally:
        bed.limit("none")
    first = diagnosed(log)[0]
    assert (first["rule"], first["severity"]) == ("slow-rank", "HIGH"), first
    assert first["evidence"]["rank"] in slow


def test_syncs_of_late_daemons(bed: CephBed, tmp_path: Path) -> None:
    """Daemons that wait before each operation make each sync as much longer: the finding's cost has it."""
    costs = {}
    for name, delay in (("prompt", 0.0), ("late", DELAY_S)):
        bed("delay", "all", delay)
        try:
            log = captured(SYNC_EACH, bed.mount / name, tmp_path / name)
        finally:
            bed("delay", "all", 0)
        found = {finding["rule"]: finding for finding in diagnosed(log)}
        costs[name] = found["sync-each-write"]["cost"]["rank_seconds"]
        assert found["sync-each-write"]["evidence"]["syncs"] == 2 * WRITES
        if delay:
            assert next(iter(found)) == "sync-each-write"
            assert found["sync-each-write"]["severity"] == "HIGH"
    planted = 2 * WRITES * DELAY_S
    assert costs["late"] - costs["prompt"] > 0.8 * planted, (costs, planted)
