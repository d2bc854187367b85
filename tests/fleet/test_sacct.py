"""Accounting as Slurm's `sacct` prints it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fleets import query

from workalike.errors import WorkalikeError
from workalike.fleet.site import Site
from workalike.fleet.store import Store, open_or_make
from workalike.fleet.tables_in import RUNNING, STEPS, TASKS, WAITING, Added, read_accounting

PLAIN = """JobID|User|Start|End|NNodes
7|ada|2026-01-01T10:00:00|2026-01-01T12:00:00|4
7.batch||2026-01-01T10:00:00|2026-01-01T12:00:00|1
7.extern||2026-01-01T10:00:00|2026-01-01T12:00:00|4
7.0||2026-01-01T10:00:05|2026-01-01T11:59:00|4
123_4|eve|2026-01-01T10:00:00|2026-01-01T11:00:00|1
123_4.batch||2026-01-01T10:00:00|2026-01-01T11:00:00|1
123_[5-9%2]|eve|Unknown|Unknown|1
130+1|eve|2026-01-01T10:00:00|2026-01-01T11:00:00|1
131|bob|2026-01-01T10:00:00|Unknown|2
132|bob|None|2026-01-01T11:00:00|2
133|bob|Unknown|Unknown|2
"""
RAW = """JobID|JobIDRaw|User|Start|End|NNodes|
123_4|127|eve|2026-01-01T10:00:00|2026-01-01T11:00:00|1|
123_4.batch|127.batch||2026-01-01T10:00:00|2026-01-01T11:00:00|1|
123_[5-9%2]|123|eve|Unknown|Unknown|1|
"""


def read(folder: Path, text: str) -> tuple[Store, Added]:
    store = open_or_make(folder / "db", "")
    (folder / "jobs.txt").write_text(text)
    return store, read_accounting(store, folder / "jobs.txt", Site())


@pytest.mark.parametrize("separator", ["|", ","])
def test_ended_jobs_are_read_and_the_others_counted(tmp_path: Path, separator: str) -> None:
    store, added = read(tmp_path, PLAIN.replace("|", separator))
    assert query(store, 'SELECT job_id, "user", nodes, node_hours FROM accounting') == [(7, "ada", 4, 8.0)]
    assert dict(added.left_out) == {STEPS: 4, TASKS: 3, RUNNING: 1, WAITING: 2}
    assert added.text().startswith("1 row; left out: 4 steps of jobs, 3 tasks of arrays")


def test_the_raw_number_is_that_of_the_log(tmp_path: Path) -> None:
    store, added = read(tmp_path, RAW)
    assert query(store, "SELECT job_id FROM accounting") == [(127,)]
    assert dict(added.left_out) == {STEPS: 1, WAITING: 1}


@pytest.mark.parametrize("job_id", ["1e3", "x", "-5", "", "٣"])
def test_what_is_no_number_of_a_job_is_refused(tmp_path: Path, job_id: str) -> None:
    with pytest.raises(WorkalikeError, match="line 2"):
        read(tmp_path, f"JobID|User|Start|End|NNodes\n{job_id}|ada|0|9|1\n")
