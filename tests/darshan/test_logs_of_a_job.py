"""Which files are the logs of one job."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from workalike.darshan import LogBuilder, open_logs
from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import write_text


def log_of(path: Path, job: int = 1) -> Path:
    return LogBuilder(job_id=job).posix("/d/f", 0, OPENS=job).write(path)


def test_a_folder_has_the_numbered_logs_of_a_command(tmp_path: Path) -> None:
    """`profile -o x.darshan` of several processes writes x.darshan, x.darshan.2, and side files."""
    names = ["x.darshan", "x.darshan.10", "x.darshan.2"]
    for number, name in enumerate(names, start=1):
        log_of(tmp_path / name, number)
    for other in ("x.darshan.extra.json", "x.darshan.txt", "notes"):
        (tmp_path / other).write_text("{}")
    assert [log.path.name for log in open_logs([tmp_path])] == names


def test_a_log_counts_once(tmp_path: Path) -> None:
    log = log_of(tmp_path / "a.darshan")
    copy = Path(shutil.copy(log, tmp_path / "b.darshan"))
    for paths in ([log, log], [log, copy], [tmp_path]):
        with pytest.raises(WorkalikeError, match=r"is the same log as a\.darshan") as refused:
            open_logs(paths)
        assert refused.value.kind is ErrorKind.USAGE


def test_a_log_is_never_replaced_by_a_text(tmp_path: Path) -> None:
    log = log_of(tmp_path / "a.darshan")
    before = log.read_bytes()
    with pytest.raises(WorkalikeError, match="is a Darshan log, and would be lost") as refused:
        write_text(log, "{}")
    assert refused.value.kind is ErrorKind.CANNOT_WRITE
    assert log.read_bytes() == before
    write_text(tmp_path / "new.darshan", "{}")
    write_text(tmp_path / "new.darshan", "[]")
    assert (tmp_path / "new.darshan").read_text() == "[]"
