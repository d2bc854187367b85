"""Which files are the logs of one job."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from workalike.darshan import LogBuilder, open_logs
from workalike.darshan import log as module
from workalike.errors import ErrorKind, WorkalikeError
from workalike.facts.jobs import job_of
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


@pytest.mark.parametrize("tree", ["2026/11/27", "ada/app/77/node1"])
def test_a_folder_has_the_logs_of_folders_below_it(tmp_path: Path, tree: str) -> None:
    """Darshan sorts logs by year, month and day, or by user, program, job and host."""
    (tmp_path / tree).mkdir(parents=True)
    (tmp_path / "none").mkdir()
    first, second = log_of(tmp_path / "a.darshan", 1), log_of(tmp_path / tree / "b.darshan", 2)
    assert [log.path for log in open_logs([tmp_path])] == sorted([first, second])
    assert [log.path for log in open_logs([tmp_path / tree.partition("/")[0]])] == [second]


def test_links_do_not_lead_round_in_circles(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    log = log_of(tmp_path / "a" / "b" / "x.darshan")
    (tmp_path / "a" / "b" / "up").symlink_to(tmp_path)
    (tmp_path / "a" / "again").symlink_to(tmp_path / "a" / "b")
    (tmp_path / "gone.darshan").symlink_to(tmp_path / "none")
    (tmp_path / "loop.darshan").symlink_to(tmp_path / "loop.darshan")
    assert [found.path for found in open_logs([tmp_path])] == [log]
    linked = tmp_path / "a" / "linked.darshan"
    linked.symlink_to(log_of(tmp_path / "elsewhere", 2))
    assert [found.path for found in open_logs([tmp_path / "a"])] == [log, linked]


def test_a_tree_that_is_no_jobs_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path
    for _ in range(400):
        deep = deep / "d"
        deep.mkdir()
    with pytest.raises(WorkalikeError, match="more than 16 levels of folders") as refused:
        open_logs([tmp_path])
    assert refused.value.kind is ErrorKind.USAGE
    monkeypatch.setattr(module, "MOST_NAMES", 5)
    many = tmp_path / "many"
    many.mkdir()
    for number in range(6):
        (many / str(number)).touch()
    with pytest.raises(WorkalikeError, match="more than 5 names"):
        open_logs([many])


def test_a_folder_that_cannot_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log_of(tmp_path / "x.darshan")
    (tmp_path / "closed").mkdir()
    look = os.scandir

    def refuse(folder: Path) -> Any:
        if folder.name == "closed":
            raise PermissionError(13, "Permission denied")
        return look(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(WorkalikeError, match=r"closed: Permission denied"):
        open_logs([tmp_path])


def test_logs_of_several_users_are_doubted(tmp_path: Path) -> None:
    for uid in (1, 2):
        LogBuilder(uid=uid, job_id=uid).posix("/d/f", 0, OPENS=uid).write(tmp_path / f"{uid}.darshan")
    assert (
        "2 logs are of 2 users: are they of one job? They are taken as one"
        in job_of(open_logs([tmp_path])).warnings
    )


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
