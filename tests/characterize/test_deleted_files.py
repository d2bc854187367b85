"""Files that a program deletes, as the side file of a captured log counts them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workalike.characterize import Characterization, characterize
from workalike.characterize.grouping.removals import with_removals
from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.compare.lines import model_against_log
from workalike.compare.pairing import pair_up
from workalike.darshan import LogBuilder, open_log
from workalike.facts.records import FileFacts
from workalike.file_kind import side_file_of
from workalike.workload.model import Assumption, Direction, Family, Lifetime

OURS = {"lib_ver": "workalike-0.1.0"}


def log_of(
    folder: Path, removals: dict[str, int], *, dumps: int = 1, reads: int = 0, ours: bool = True
) -> Path:
    """One rank that writes each file `dumps` times: 4 times 64 KiB."""
    builder = LogBuilder(nprocs=1, run_time=60.0, metadata=OURS if ours else None)
    for place, name in enumerate(removals):
        both = {"READS": reads, "BYTES_READ": reads * 65536, "MAX_BYTE_READ": 4 * 65536 - 1} if reads else {}
        at, calls = 1.0 + 10 * place, 4 * dumps
        builder.posix(
            f"/run/{name}", 0, OPENS=dumps, WRITES=calls, BYTES_WRITTEN=calls * 65536, MAX_BYTE_WRITTEN=4 * 65536 - 1,
            SEQ_WRITES=3 * dumps, CONSEC_WRITES=3 * dumps, SIZE_WRITE_10K_100K=calls, ACCESS1_ACCESS=65536,
            ACCESS1_COUNT=calls, FILE_ALIGNMENT=4096, F_OPEN_START_TIMESTAMP=at, F_WRITE_START_TIMESTAMP=at + 0.1,
            F_WRITE_END_TIMESTAMP=at + 4, F_CLOSE_END_TIMESTAMP=at + 5, F_WRITE_TIME=0.5, **both,
        )  # fmt: skip
    log = folder / "app.darshan"
    builder.write(log)
    rows = [{"file": f"/run/{name}", "rank": 0, "removals": count} for name, count in removals.items()]
    side_file_of(log).write_text(json.dumps({"version": 1, "files": rows}))
    return log


def characterized(log: Path) -> Characterization:
    return characterize([open_log(log)])


def test_files_that_are_all_removed(tmp_path: Path) -> None:
    found = characterized(log_of(tmp_path, {f"scratch.{k}": 1 for k in range(4)}))
    (family,) = found.workload.families
    assert (family.removed, family.keep, family.schedule.dumps) == (True, 0, 4)
    assert Assumption.DELETIONS in family.assumed
    assert any("deleted after their last dump" in s for s in found.families[0].sentences())


def test_all_but_the_newest_are_removed(tmp_path: Path) -> None:
    (family,) = characterized(
        log_of(tmp_path, {f"state.{k}": int(k < 3) for k in range(5)})
    ).workload.families
    assert (family.removed, family.keep) == (False, 2)
    assert Assumption.DELETIONS in family.assumed


def test_a_file_in_the_middle_that_is_removed_follows_no_rule(tmp_path: Path) -> None:
    (family,) = characterized(
        log_of(tmp_path, {f"state.{k}": int(k == 2) for k in range(5)})
    ).workload.families
    assert (family.removed, family.keep) == (False, 0)


@pytest.mark.parametrize(
    ("removals", "expected"),
    [
        (1, (Lifetime.REUSED, True, 0)),
        (5, (Lifetime.PER_DUMP, True, 0)),
        (4, (Lifetime.PER_DUMP, False, 1)),
        (3, (Lifetime.REUSED, False, 0)),
    ],
)
def test_one_name_that_is_made_again(
    tmp_path: Path, removals: int, expected: tuple[Lifetime, bool, int]
) -> None:
    (family,) = characterized(log_of(tmp_path, {"state": removals}, dumps=5)).workload.families
    assert (family.lifetime, family.removed, family.keep) == expected
    assert (Assumption.DELETIONS in family.assumed) == (family.removed or family.keep > 0)


def one_file(content: list[Direction], **more: Any) -> Family:
    """A file of three dumps, which move 8 times 1 MiB in each of the directions in turn."""
    streams = [{"direction": d.value, "sizes": ["8 x 1 MiB"]} for d in content]
    fields = {"role": "scratch", "interface": "posix", "sharing": "shared", "lifetime": "reused", "number": 1}
    fields |= {"schedule": {"count": 3, "every": "1 s"}, "content": {"streams": streams}} | more
    return Family.model_validate(fields)


def with_counts(family: Family, removals: int) -> Family:
    file = FileFacts(1, "/run/z.dat", 1, {}, None, removals=removals)
    return with_removals(FamilyFacts(family, [DumpFacts(1, 1, 0.0, 1.0, files=[file])])).family


WRITE, READ = Direction.WRITE, Direction.READ


@pytest.mark.parametrize(
    ("content", "removals", "expected"),
    [
        ([WRITE, READ], 3, (Lifetime.PER_DUMP, True, 0)),
        ([WRITE, READ], 2, (Lifetime.PER_DUMP, False, 1)),
        ([READ, WRITE], 3, (Lifetime.REUSED, False, 0)),  # reads what the dump before wrote
    ],
)
def test_scratch_files_that_each_dump_writes_and_reads_back(
    content: list[Direction], removals: int, expected: tuple[Lifetime, bool, int]
) -> None:
    family = with_counts(one_file(content), removals)
    assert (family.lifetime, family.removed, family.keep) == expected


def test_a_file_that_is_made_anew_is_not_emptied_as_well() -> None:
    family = with_counts(one_file([WRITE], truncate=True), 3)
    assert (family.lifetime, family.removed, family.truncate) == (Lifetime.PER_DUMP, True, False)


def test_a_log_of_darshan_says_nothing_of_removals(tmp_path: Path) -> None:
    found = characterized(log_of(tmp_path, {"state.0": 0}, ours=False))
    assert [file.removals for file in found.families[0].files()] == [None]


@pytest.mark.parametrize(("version", "expected"), [(1, None), (2, 0)])
def test_an_older_capture_says_nothing_of_removals(
    tmp_path: Path, version: int, expected: int | None
) -> None:
    log = log_of(tmp_path, {"state.0": 0})
    side_file_of(log).write_text(
        json.dumps({"version": version, "files": [{"file": "/run/state.0", "rank": 0}]})
    )
    assert [file.removals for file in characterized(log).families[0].files()] == [expected]
    side_file_of(log).unlink()
    assert [file.removals for file in characterized(log).families[0].files()] == [None]


@pytest.mark.parametrize("kind", ["removals", "truncations"])
def test_counts_that_are_too_large_together_are_not_used(tmp_path: Path, kind: str) -> None:
    log = log_of(tmp_path, {"state.0": 1})
    rows = [{"file": "/run/state.0", "rank": rank, kind: 2**53} for rank in range(1024)]
    side_file_of(log).write_text(json.dumps({"version": 2, "files": rows}))
    found = characterized(log)
    assert any("not used: a file has more than" in warning for warning in found.warnings)
    assert not found.workload.families[0].removed


@pytest.mark.parametrize("ours", [True, False])
def test_removals_that_the_workload_lacks_are_a_miss(tmp_path: Path, ours: bool) -> None:
    """A file in the middle, which no rule of the workload says. Darshan would not have counted it."""
    found = characterized(log_of(tmp_path, {f"state.{k}": int(k == 2) for k in range(5)}))
    for file in found.families[0].files():
        file.removals = file.removals if ours else None
    off = [
        (row.counter, row.expected, row.found)
        for row in model_against_log(pair_up(found, None))
        if not row.agrees
    ]
    assert off == ([("REMOVALS", 1, 0)] if ours else [])


def test_deletions_of_files_without_a_record_are_said(tmp_path: Path) -> None:
    """A program that only deletes files that were there; those that MPI deletes are its own matter."""
    log = log_of(tmp_path, {"state.0": 0})
    side = json.loads(side_file_of(log).read_text())
    side["files"] += [{"file": f"/run/old.{k}", "rank": 0, "removals": 2} for k in range(3)]
    side["files"].append({"file": "/run/state.0.locktest.1", "rank": 0, "removals": 1})
    side_file_of(log).write_text(json.dumps(side))
    said = [warning for warning in characterized(log).warnings if "did not open" in warning]
    assert len(said) == 1 and said[0].startswith("6 deletions of files")


def test_a_file_that_another_process_removes(tmp_path: Path) -> None:
    """`rm` opens no file, so it gets no rank of its own; the file is removed all the same."""
    for name in ("writer", "rm"):
        (tmp_path / name).mkdir()
    writer = log_of(tmp_path / "writer", {"scratch": 0})
    builder = LogBuilder(nprocs=1, run_time=1.0, metadata=OURS)
    builder.posix("/run/scratch", 0, STATS=1)
    rm = tmp_path / "rm/app.darshan"
    builder.write(rm)
    rows = [{"file": "/run/scratch", "rank": 0, "removals": 1}]
    side_file_of(rm).write_text(json.dumps({"version": 1, "files": rows}))
    (family,) = characterize([open_log(writer), open_log(rm)]).workload.families
    assert family.removed
    (kept,) = characterize([open_log(writer)]).workload.families
    assert not kept.removed
