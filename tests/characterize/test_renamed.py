"""Files that are written under another name: the workload has `rename`, and one file where they replace each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from workalike.characterize import characterize
from workalike.darshan import LogBuilder, open_log
from workalike.darshan.hash import record_id
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Family, Lifetime

SIZE = 40_000


def written(number: int, rounds: int = 1, **more: int) -> dict[str, float]:
    """A file that is opened `rounds` times and gets so many writes of one size each time."""
    start = 2.0 + 2 * number
    return {
        "OPENS": rounds, "WRITES": 4 * rounds, "BYTES_WRITTEN": 4 * SIZE * rounds, "MAX_BYTE_WRITTEN": 4 * SIZE - 1,
        "SEQ_WRITES": 3 * rounds, "CONSEC_WRITES": 3 * rounds, "SIZE_WRITE_10K_100K": 4 * rounds,
        "ACCESS1_ACCESS": SIZE, "ACCESS1_COUNT": 4 * rounds, "FILE_ALIGNMENT": 4096,
        "FILE_NOT_ALIGNED": 3 * rounds, "F_OPEN_START_TIMESTAMP": start,
        "F_WRITE_START_TIMESTAMP": start + 0.1, "F_WRITE_END_TIMESTAMP": start + 2 * rounds - 1.2,
        "F_CLOSE_END_TIMESTAMP": start + 2 * rounds - 1, "F_WRITE_TIME": 0.05, **more,
    }  # fmt: skip


def family_of(log: LogBuilder, tmp_path: Path) -> Family:
    log.write(tmp_path / "app.darshan")
    (facts,) = characterize([open_log(tmp_path / "app.darshan")]).families
    return facts.family


def signed(number: int) -> int:
    """A record id as a counter has it."""
    return number - 2**64 if number >= 2**63 else number


@pytest.mark.parametrize("taken", [0, 5], ids=["own names", "one name"])
def test_files_that_are_renamed(tmp_path: Path, taken: int) -> None:
    log = LogBuilder(nprocs=4, run_time=20.0)
    names = [f"/data/state_step{100 * (k + 1)}.cpt" for k in range(5)]
    for k, name in enumerate(names):
        log.posix(name, 0, **written(k, RENAME_SOURCES=1))
        if not taken:
            log.posix(f"/data/final{k}", 0, RENAME_TARGETS=1, RENAMED_FROM=signed(record_id(name)))
    if taken:
        log.posix("/data/state.cpt", 0, RENAME_TARGETS=5, RENAMED_FROM=signed(record_id(names[-1])))
    family = family_of(log, tmp_path)
    assert (family.schedule.dumps, family.lifetime) == (5, Lifetime.REUSED if taken else Lifetime.PER_DUMP)
    assert (family.rename, family.keep) == (True, 0)


def test_a_file_that_keeps_its_name(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=4, run_time=20.0)
    for k in range(5):
        log.posix(f"/data/state{k}", 0, **written(k, RENAME_SOURCES=int(k < 4)))
    assert family_of(log, tmp_path).rename is False


def test_one_temporary_name_for_all(tmp_path: Path) -> None:
    """A record of the temporary name alone: opened, written and renamed six times."""
    log = LogBuilder(nprocs=4, run_time=20.0)
    log.posix("/data/model.tmp", 0, **written(0, 6, RENAME_SOURCES=6))
    log.posix("/data/model", 0, RENAME_TARGETS=6, RENAMED_FROM=signed(record_id("/data/model.tmp")))
    family = family_of(log, tmp_path)
    assert (family.schedule.dumps, family.lifetime) == (6, Lifetime.REUSED)
    assert (family.rename, family.keep) == (True, 0)
    plan = resolve(characterize([open_log(tmp_path / "app.darshan")]).workload, Options())
    assert [dump.file for dump in plan.dumps] == [0] * 6


@pytest.mark.parametrize("name", ["/data/state", "/data/state-c"])
@pytest.mark.parametrize("kept", [1, 3])
def test_backups_by_rename(tmp_path: Path, kept: int, name: str) -> None:
    """Before each write but the first, older files go one name further: state to state.1, that to state.2, …

    The second name has a record id that does not fit into a signed number.
    """
    log = LogBuilder(nprocs=4, run_time=20.0)
    log.posix(name, 0, **written(0, 6, RENAME_SOURCES=5))
    names = [name, *(f"{name}.{k + 1}" for k in range(kept))]
    for k, older in enumerate(names[1:]):
        last = {} if k == kept - 1 else {"RENAME_SOURCES": 4 - k}
        log.posix(older, 0, RENAME_TARGETS=5 - k, RENAMED_FROM=signed(record_id(names[k])), **last)
    family = family_of(log, tmp_path)
    assert (family.schedule.dumps, family.lifetime) == (6, Lifetime.REUSED)
    assert (family.backup, family.rename, family.keep) == (True, False, kept + 1)


def test_backups_of_a_file_of_each_rank(tmp_path: Path) -> None:
    """Each of three ranks renames its restart file away and writes it anew: that is all of the three renames."""
    log = LogBuilder(nprocs=3, run_time=20.0)
    for rank in range(3):
        name = f"/data/restart.{rank}"
        log.posix(name, rank, **written(0, 2, RENAME_SOURCES=1))
        log.posix(f"{name}.bak", rank, RENAME_TARGETS=1, RENAMED_FROM=signed(record_id(name)))
    family = family_of(log, tmp_path)
    assert (family.backup, family.schedule.dumps) == (True, 2)
    assert [content.renames for content in family.all_contents()] == [0]


def test_names_that_go_in_a_circle(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=4, run_time=20.0)
    log.posix(
        "/data/a",
        0,
        RENAME_TARGETS=5,
        RENAMED_FROM=signed(record_id("/data/b")),
        **written(0, 6, RENAME_SOURCES=5),
    )
    log.posix("/data/b", 0, RENAME_TARGETS=5, RENAMED_FROM=signed(record_id("/data/a")))
    assert family_of(log, tmp_path).backup is False


def test_a_chain_of_renames(tmp_path: Path) -> None:
    """tmp -> new -> cur: the second rename counts for the file that had the name before."""
    log = LogBuilder(nprocs=4, run_time=20.0)
    for k in range(5):
        names = [f"/data/{folder}/{k}" for folder in ("tmp", "new", "cur")]
        log.posix(names[0], 0, **written(k, RENAME_SOURCES=1))
        log.posix(
            names[1],
            0,
            RENAME_TARGETS=1,
            RENAME_SOURCES=int(k != 2),
            RENAMED_FROM=signed(record_id(names[0])),
        )
        log.posix(names[2], 0, RENAME_TARGETS=1, RENAMED_FROM=signed(record_id(names[1])))
    family = family_of(log, tmp_path)
    assert (family.rename, family.schedule.dumps, family.lifetime) == (True, 5, Lifetime.PER_DUMP)
    assert [family.content_of(k).renames for k in range(5)] == [1, 1, 0, 1, 1]


def test_one_name_that_all_but_the_last_file_leave(tmp_path: Path) -> None:
    """Each new state becomes state.cpt, which becomes state_prev.cpt first."""
    log = LogBuilder(nprocs=4, run_time=20.0)
    names = [f"/data/state_step{100 * (k + 1)}.cpt" for k in range(5)]
    for k, name in enumerate(names):
        log.posix(name, 0, **written(k, RENAME_SOURCES=1))
    log.posix(
        "/data/state.cpt", 0, RENAME_TARGETS=5, RENAME_SOURCES=4, RENAMED_FROM=signed(record_id(names[-1]))
    )
    log.posix("/data/state_prev.cpt", 0, RENAME_TARGETS=4, RENAMED_FROM=signed(record_id("/data/state.cpt")))
    family = family_of(log, tmp_path)
    assert (family.rename, family.lifetime) == (True, Lifetime.REUSED)
    assert [family.content_of(k).renames for k in range(5)] == [1, 1, 1, 1, 0]


def test_files_that_are_read_and_renamed(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=4, run_time=20.0)
    for k in range(5):
        read = {name.replace("WRITTEN", "READ").replace("WRITE", "READ"): n for name, n in written(k).items()}
        log.posix(f"/data/seen{k}", 0, **read, RENAME_SOURCES=1)
    family = family_of(log, tmp_path)
    assert (family.rename, family.schedule.dumps) == (False, 5)
    assert {family.content_of(k).renames for k in range(5)} == {1}


def test_a_folder_that_is_renamed(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=4, run_time=20.0)
    for k in range(3):
        log.posix(f"/data/plot{k}.temp/cells", 0, **written(k))
        log.posix(f"/data/plot{k}.temp", 0, RENAME_SOURCES=1)
        log.posix(
            f"/data/plot{k}", 0, RENAME_TARGETS=1, RENAMED_FROM=signed(record_id(f"/data/plot{k}.temp"))
        )
    family = family_of(log, tmp_path)
    assert [family.content_of(k).renames for k in range(3)] == [1, 1, 1]


def test_files_that_are_claimed(tmp_path: Path) -> None:
    """A task is renamed before it is opened: nobody has opened the name that it had."""
    log = LogBuilder(nprocs=4, run_time=20.0)
    for k in range(4):
        log.posix(f"/data/todo/{k}", 0, RENAME_SOURCES=1)
        log.posix(
            f"/data/running/{k}",
            0,
            **written(k),
            RENAME_TARGETS=1,
            RENAMED_FROM=signed(record_id(f"/data/todo/{k}")),
        )
    family = family_of(log, tmp_path)
    assert (family.rename, [family.content_of(k).renames for k in range(4)]) == (False, [1, 1, 1, 1])


def test_several_files_of_one_name_go_no_further(tmp_path: Path) -> None:
    """Two of four names were opened and renamed twice: what a chain of renames would say is another number of files."""
    log = LogBuilder(nprocs=4, run_time=20.0)
    for k in range(4):
        log.posix(f"/data/part{k}", 0, **written(3 * k, 1 + k // 2, RENAME_SOURCES=1 + k // 2))
    log.write(tmp_path / "app.darshan")
    families = [facts.family for facts in characterize([open_log(tmp_path / "app.darshan")]).families]
    assert not any(content.renames for family in families for content in family.all_contents())


def test_several_files_of_each_name(tmp_path: Path) -> None:
    """Each of three names was opened, written and renamed twice, one once: seven files."""
    log = LogBuilder(nprocs=1, run_time=40.0)
    for k, times in enumerate((2, 2, 1, 2)):
        log.posix(f"/data/part{k}.new", 0, **written(4 * k, times, RENAME_SOURCES=times))
    log.write(tmp_path / "app.darshan")
    found = characterize([open_log(tmp_path / "app.darshan")])
    assert [(f.family.rename, f.family.lifetime) for f in found.families] == [(True, Lifetime.PER_DUMP)]
    (facts,) = found.families
    assert (facts.family.schedule.dumps, len(facts.dumps)) == (7, 7)
    assert [dump.bytes_written for dump in facts.dumps] == [4 * SIZE] * 7
    assert not any(content.renames for content in facts.family.all_contents())
    assert {content.opens for content in facts.family.all_contents()} == {1}
    starts = facts.family.schedule.starts()
    assert starts == sorted(starts)
