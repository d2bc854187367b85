"""Reads of bytes that no dump wrote, within the file: holes of a sparse file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workalike import _core
from workalike.characterize import characterize
from workalike.characterize.contents.sparse_reads import with_holes
from workalike.characterize.result import FamilyFacts
from workalike.darshan import LogBuilder, open_log
from workalike.file_kind import side_file_of
from workalike.plan.plan_file import plan_text
from workalike.plan.resolve import Options, families_that_read_holes, resolve
from workalike.workload.model import Assumption, Workload


def workload(**more: Any) -> Workload:
    """Two families of one rank each; the second writes every second block of its file, and reads so many of all."""
    plain = {"direction": "write", "sizes": ["8 x 1 kB"]}
    strided = plain | {"pattern": "strided", "stride": "2 kB"}
    reads = {"direction": "read", "sizes": [f"{more.pop('blocks', 8)} x 1 kB"]}
    common = {"interface": "posix", "sharing": "per-rank", "lifetime": "reused"}
    families = [
        {
            "role": role,
            "schedule": {"count": 2, "every": "1 s"},
            "contents": [{"streams": [s]} for s in streams],
        }
        | common
        | keys
        for role, streams, keys in (("output", (plain, reads), {}), ("scratch", (strided, reads), more))
    ]
    return Workload.model_validate({"workalike": 2, "ranks": 1, "families": families})


def test_the_family_that_reads_holes_is_found() -> None:
    text = workload()
    assert families_that_read_holes(text) == {1}
    facts = with_holes([FamilyFacts(family, []) for family in text.families], text)
    assert [f.family.sparse for f in facts] == [False, True]
    assert facts[1].sentences() == [
        "reads: also of bytes between those that dumps wrote, which are taken as holes of the file"
    ]


def updated_in_place(folder: Path, written: int, removals: int = 0, emptied: int = 0) -> Path:
    """One rank writes the last blocks of 4 KiB of a file of 64, and then reads all of it."""
    builder = LogBuilder(nprocs=1, run_time=60.0, metadata={"lib_ver": "workalike-0.1.0"})
    builder.posix(
        "/run/db.dat", 0, OPENS=2, WRITES=written, BYTES_WRITTEN=written * 4096, MAX_BYTE_WRITTEN=64 * 4096 - 1,
        SEQ_WRITES=written - 1, CONSEC_WRITES=written - 1, SIZE_WRITE_1K_10K=written, READS=64, BYTES_READ=64 * 4096,
        MAX_BYTE_READ=64 * 4096 - 1, SEQ_READS=63, CONSEC_READS=63, SIZE_READ_1K_10K=64, RW_SWITCHES=1,
        ACCESS1_ACCESS=4096, ACCESS1_COUNT=64 + written, FILE_ALIGNMENT=4096, F_OPEN_START_TIMESTAMP=1.0,
        F_WRITE_START_TIMESTAMP=1.1, F_WRITE_END_TIMESTAMP=2.0, F_READ_START_TIMESTAMP=20.0,
        F_READ_END_TIMESTAMP=24.0, F_CLOSE_START_TIMESTAMP=2.1, F_OPEN_END_TIMESTAMP=19.0,
        F_CLOSE_END_TIMESTAMP=25.0, F_WRITE_TIME=0.5, F_READ_TIME=0.5,
    )  # fmt: skip
    first = 64 - written
    builder.dxt_posix(
        "/run/db.dat",
        rank=0,
        writes=[((first + k) * 4096, 4096, 1.1 + 0.01 * k, 1.105 + 0.01 * k) for k in range(written)],
        reads=[(k * 4096, 4096, 20.0 + 0.05 * k, 20.02 + 0.05 * k) for k in range(64)],
    )
    log = folder / "app.darshan"
    builder.write(log)
    row = {"file": "/run/db.dat", "rank": 0, "removals": removals, "truncations": emptied}
    side_file_of(log).write_text(json.dumps({"version": 1, "files": [row]}))
    return log


@pytest.mark.parametrize(
    ("written", "emptied", "sparse"),
    [(1, 0, False), (31, 0, False), (33, 0, True), (1, 1, True)],
    ids=["existing", "less-than-half", "more-than-half", "emptied-by-the-run"],
)
def test_a_file_of_which_little_was_written_was_there_before(
    written: int, emptied: int, sparse: bool, tmp_path: Path
) -> None:
    found = characterize([open_log(updated_in_place(tmp_path, written, emptied=emptied))])
    (family,) = found.workload.families
    assert (family.sparse, Assumption.HOLES in family.assumed) == (sparse, True)
    assert any(dump.prepare for dump in resolve(found.workload, Options()).dumps) == (not sparse)
    sentence = "holes of the file" if sparse else "data from before the run"
    assert any(sentence in s for s in found.families[0].sentences())


def test_reads_beyond_the_end_are_of_a_file_that_was_there_before() -> None:
    text = workload(blocks=16)
    assert families_that_read_holes(text) == set()
    assert [d.prepare for d in resolve(text, Options()).dumps] == [False, False, True, True]


def test_a_sparse_family_keeps_its_holes_and_another_has_its_file_made() -> None:
    assert [d.prepare for d in resolve(workload(), Options()).dumps] == [False, False, False, True]
    plan = resolve(workload(sparse=True), Options())
    assert [d.prepare for d in plan.dumps] == [False] * 4
    assert [f.sparse for f in plan.families] == [None, True]
    _core.Plan(plan_text(plan))
