"""Folders of a family's files, by the names in the log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from workalike.characterize import characterize
from workalike.characterize.grouping.folders import folders_of
from workalike.darshan import LogBuilder, open_log
from workalike.facts.records import FileFacts
from workalike.workload.family import Family, Folders

RANKS, DUMPS = 4, 8


def written(path: Path, name: str, dumps: int = DUMPS) -> Family:
    """The family of a log in which each rank writes a file in each dump."""
    log = LogBuilder(nprocs=RANKS, run_time=100.0)
    for dump in range(dumps):
        for rank in range(RANKS):
            at = 1.0 + dump
            log.posix(
                name.format(rank=rank, dump=dump, half=dump // 2),
                rank,
                OPENS=1,
                WRITES=4,
                BYTES_WRITTEN=4000,
                MAX_BYTE_WRITTEN=3999,
                SEQ_WRITES=3,
                CONSEC_WRITES=3,
                SIZE_WRITE_100_1K=4,
                ACCESS1_ACCESS=1000,
                ACCESS1_COUNT=4,
                F_OPEN_START_TIMESTAMP=at,
                F_WRITE_START_TIMESTAMP=at + 0.1,
                F_WRITE_END_TIMESTAMP=at + 0.4,
                F_CLOSE_END_TIMESTAMP=at + 0.5,
            )
    (family,) = characterize([open_log(log.write(path / "app.darshan"))]).workload.families
    return family


@pytest.mark.parametrize(
    ("name", "folders"),
    [
        ("/run/field.{dump:04}.{rank:04}", None),
        ("/run/{rank:04}/field.{dump:04}", Folders(per_rank=True)),
        ("/run/{dump:04}/field.{rank:04}", Folders(files=1)),
        ("/run/{half:04}/field.{dump:04}.{rank:04}", Folders(files=2)),
        ("/run/{rank:04}/{dump:04}/field.{dump:04}.{rank:04}", Folders(files=1, per_rank=True)),
    ],
)
def test_folders_of_files_of_each_rank(name: str, folders: Folders | None, tmp_path: Path) -> None:
    family = written(tmp_path, name)
    assert family.schedule.dumps == DUMPS
    assert family.folders == folders


def test_few_files_say_nothing(tmp_path: Path) -> None:
    assert written(tmp_path, "/run/{rank:04}/field.{dump:04}", 1).folders is None


@pytest.mark.parametrize(
    ("place", "folders"),
    [
        (lambda k: "/run", None),
        (lambda k: f"/run/{k // 5}", Folders(files=5)),
        (lambda k: f"/r{k}", Folders(files=1)),
    ],
)
def test_folders_of_shared_files(
    place: Callable[[int], str], folders: Folders | None, tmp_path: Path
) -> None:
    log = LogBuilder(nprocs=RANKS, run_time=100.0)
    for dump in range(20):
        log.posix(
            f"{place(dump)}/state.{dump:04}",
            -1,
            OPENS=RANKS,
            WRITES=RANKS,
            BYTES_WRITTEN=RANKS * 1000,
            MAX_BYTE_WRITTEN=RANKS * 1000 - 1,
            SIZE_WRITE_100_1K=RANKS,
            F_OPEN_START_TIMESTAMP=1.0 + dump,
            F_WRITE_START_TIMESTAMP=1.1 + dump,
            F_WRITE_END_TIMESTAMP=1.4 + dump,
            F_CLOSE_END_TIMESTAMP=1.5 + dump,
        )
    (family,) = characterize([open_log(log.write(tmp_path / "app.darshan"))]).workload.families
    assert family.folders == folders


def test_a_folder_that_has_most_of_the_files_is_one() -> None:
    files = [FileFacts(k, f"/run/{'most' if k else 'other'}/{k:04}", 1) for k in range(50)]
    assert folders_of(files, own=False) is None
