"""A name that several files had, one after the other: each but the last is renamed before the next is made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from needed import needs_engine

from workalike.characterize import CharacterizeOptions, characterize
from workalike.characterize.readings.dumps_of_one_file import shares
from workalike.characterize.readings.renamed_in_turn import numbers_of_files, opened
from workalike.characterize.readings.replaced_in_trace import calls_of_all
from workalike.darshan import LogBuilder, open_log
from workalike.facts.gather import gather
from workalike.facts.jobs import job_of
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.content import CALLS
from workalike.workload.model import Content, Direction, Family, Lifetime

ROTATED = """
import os
sizes = [37, 51, 12, 99, 64, 5, 80, 23]
out, size, full = open("run.log", "ab", 0), 0, 400
for k in range(97):
    if size + sizes[k % 8] > full:
        out.close()
        for older in (2, 1):
            if os.path.exists(f"run.log.{older}"):
                os.rename(f"run.log.{older}", f"run.log.{older + 1}")
        os.rename("run.log", "run.log.1")
        out, size = open("run.log", "ab", 0), 0
    size += out.write(bytes(sizes[k % 8]))
"""
"""13 files of at most 400 bytes; each of the first ten is renamed three times in all."""

INDEX = """
import os
def add(line):
    with open("index", "ab") as out:
        out.write(line)
def commit(lines):
    if os.path.exists("index"):
        os.replace("index", "index.old")
    with open("index", "wb") as out:
        out.write(b"".join(lines))
lines = []
for k in range(40):
    lines.append(bytes(20 + k % 5))
    add(lines[-1])
    if k % 10 == 9:
        commit(lines)
open("index", "rb").read()
"""
"""Five files: lines are added to the first four, and each but the first begins with all lines before."""


def captured(folder: Path, program: str, *options: str) -> Path:
    """The log of a Python program that ran in a folder of its own."""
    (folder / "data").mkdir()
    command = [sys.executable, "-m", "workalike", "profile", *options, "-o", "../x.darshan", "--"]
    subprocess.run(
        [*command, "/usr/bin/python3", "-c", program], cwd=folder / "data", check=True, capture_output=True
    )
    return folder / "x.darshan"


def family_of(log: Path, role: str, trace: bool) -> Family:
    found = characterize([open_log(log)], CharacterizeOptions(use_trace=trace))
    (facts,) = [
        facts
        for facts in found.families
        if any(content.moved(1, Direction.WRITE) for content in facts.family.all_contents())
    ]
    off = [row.counter for row in facts.misfit or () if not row.counter.startswith("ACCESS")]
    assert off == [], role
    return facts.family


@pytest.mark.parametrize("trace", [True, False])
def test_a_log_that_is_rotated(tmp_path: Path, trace: bool) -> None:
    log = captured(tmp_path, ROTATED, *(["--dxt"] if trace else []))
    posix = {Path(name).name: name for name in open_log(log).names.values() if "run.log" in name}
    assert {"run.log", "run.log.1"} <= set(posix)
    family = family_of(log, "log", trace)
    dumps = [family.content_of(k) for k in range(family.schedule.dumps)]
    assert (family.lifetime, family.backup, family.rename) == (Lifetime.REUSED, True, False)
    assert [content.opens for content in dumps] == [1] * len(dumps)
    assert sum(content.moved(1, Direction.WRITE) for content in dumps) == sum(
        (37, 51, 12, 99, 64, 5, 80, 23)[k % 8] for k in range(97)
    )
    assert max(content.moved(1, Direction.WRITE) for content in dumps) <= 400


@pytest.mark.parametrize("trace", [True, False])
def test_an_index_that_is_added_to_and_written_anew(tmp_path: Path, trace: bool) -> None:
    family = family_of(captured(tmp_path, INDEX, *(["--dxt"] if trace else [])), "scratch", trace)
    dumps = [family.content_of(k) for k in range(family.schedule.dumps)]
    writes = [content for content in dumps if content.moved(1, Direction.WRITE)]
    assert (family.lifetime, family.backup, family.keep, len(writes)) == (Lifetime.REUSED, True, 2, 5)
    assert sum(content.opens for content in dumps) == 40 + 4 + 1
    assert len(dumps) == len(writes) + 1  # the last file is read
    if trace:
        assert [content.opens for content in dumps] == [10, 11, 11, 11, 1, 1]
        assert [content.reopen for content in dumps] == [True] * 4 + [False] * 2


REWRITTEN = """
import os
for k in range(6):
    with open("state", "wb", 0) as out:
        for _ in range(3):
            out.write(bytes(1000))
os.rename("state", "result")
"""


@pytest.mark.parametrize("trace", [True, False])
def test_a_file_that_is_renamed_at_the_end(tmp_path: Path, trace: bool) -> None:
    """One rename of six contents: no more than two files had the name."""
    family = family_of(captured(tmp_path, REWRITTEN, *(["--dxt"] if trace else [])), "checkpoint", trace)
    assert family.backup is False


@needs_engine
@pytest.mark.parametrize("trace", [True, False])
def test_the_replica_renames_as_often(tmp_path: Path, trace: bool) -> None:
    log = captured(tmp_path, ROTATED, *(["--dxt"] if trace else []))
    command = [
        sys.executable,
        "-m",
        "workalike",
        "replicate",
        "x.darshan",
        "-o",
        "out",
        "--capture",
        "--time-scale",
        "0",
    ]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    (replica,) = tmp_path.rglob("replica.darshan")
    original, replayed = (_renames(path) for path in (log, replica))
    assert original == replayed
    assert original > 20


def _renames(log: Path) -> int:
    files = gather(job_of([open_log(log)])).files()
    return sum(file.modules["POSIX"].total("RENAME_SOURCES") for file in files if "POSIX" in file.modules)


def test_numbers_of_files() -> None:
    assert numbers_of_files(3, 10) == [4, 3]
    assert numbers_of_files(3, 3) == [3]
    assert numbers_of_files(1, 10) == [2]
    assert numbers_of_files(0, 10) == numbers_of_files(-5, 10) == numbers_of_files(2**62, 2**62) == []


def test_opens_are_shared_out_as_operations_are() -> None:
    def moving(direction: str, count: int) -> Content:
        return Content.model_validate({"streams": [{"direction": direction, "sizes": [f"{count} x 10 B"]}]})

    contents = [moving("write", 1), moving("write", 9), moving("read", 2)]
    found = [[(c.opens, c.reopen) for c in made] for made in opened(contents, 11)]
    assert [(1, False), (9, True), (1, False)] in found
    assert all(sum(opens for opens, _ in made) == 11 for made in found)
    assert [[c.opens for c in made] for made in opened(contents, 3)] == [[1, 1, 1]]


def test_operations_are_dealt_by_bytes() -> None:
    """A file of one large operation has no others beside it where these fit into the other file."""
    content = Content.model_validate(
        {"streams": [{"direction": "write", "sizes": ["1 x 1000 B", "100 x 10 B", "4 x 0 B"]}]}
    )
    parts = shares([content], 2, 1, even=False, by_bytes=True)
    assert parts is not None
    assert [part.moved(1, Direction.WRITE) for part in parts] == [1000, 1000]


def test_damaged_counters(tmp_path: Path) -> None:
    """Renames and opens that no job makes: they are no files, and cost no time."""
    for number, renames in enumerate((2**62, -1, THRESHOLDS.files_of_one_name)):
        log = LogBuilder(nprocs=1, run_time=20.0)
        log.posix(
            "/data/state", 0, OPENS=2**40, WRITES=50, BYTES_WRITTEN=5000, MAX_BYTE_WRITTEN=99, SIZE_WRITE_100_1K=50,
            ACCESS1_ACCESS=100, ACCESS1_COUNT=50, CONSEC_WRITES=0, SEQ_WRITES=0, RENAME_SOURCES=renames,
            F_OPEN_START_TIMESTAMP=1.0, F_WRITE_START_TIMESTAMP=1.0, F_WRITE_END_TIMESTAMP=2.0,
            F_CLOSE_END_TIMESTAMP=2.0,
        )  # fmt: skip
        path = tmp_path / f"{number}.darshan"
        log.write(path)
        families = [facts.family for facts in characterize([open_log(path)]).families]
        assert max(family.schedule.dumps for family in families) <= THRESHOLDS.files_of_one_name + 1


@pytest.mark.parametrize("renames", [1, 2, 3])
def test_a_file_that_is_opened_again_and_read_before_it_is_added_to(tmp_path: Path, renames: int) -> None:
    """Its second open begins with a read: as a dump of its own, it would be of a new file, which has nothing to read."""
    log = LogBuilder(nprocs=1, run_time=20.0)
    log.posix(
        "/run/out/state", 0, OPENS=2, READS=1, BYTES_READ=100, MAX_BYTE_READ=99, SIZE_READ_0_100=1, WRITES=2,
        BYTES_WRITTEN=200, MAX_BYTE_WRITTEN=199, SIZE_WRITE_0_100=2, CONSEC_WRITES=1, SEQ_WRITES=1, RW_SWITCHES=2,
        RENAME_SOURCES=renames, F_OPEN_START_TIMESTAMP=0.9, F_WRITE_START_TIMESTAMP=1.0, F_WRITE_END_TIMESTAMP=5.3,
        F_READ_START_TIMESTAMP=5.0, F_READ_END_TIMESTAMP=5.1, F_CLOSE_END_TIMESTAMP=6.0,
    )  # fmt: skip
    written = [(0, 100, 1.0, 1.1), (100, 100, 5.2, 5.3)]
    log.dxt_posix("/run/out/state", 0, writes=written, reads=[(0, 100, 5.0, 5.1)])
    log.write(tmp_path / "app.darshan")
    (facts,) = characterize([open_log(tmp_path / "app.darshan")]).families
    contents = [facts.family.content_of(dump) for dump in range(facts.family.schedule.dumps)]
    assert sum(content.moved(1, Direction.READ) for content in contents) == 100
    assert sum(content.moved(1, Direction.WRITE) for content in contents) == 200


def test_calls_of_all_dumps_are_kept() -> None:
    """Opens are those of the log, and `renames` are none of a name that was renamed."""
    counted = [name for name in CALLS if name not in ("opens", "renames")]
    stream = {"direction": "write", "sizes": ["4 x 100 B"]}
    contents = [dict.fromkeys(counted, number) | {"streams": [stream]} for number in (1, 2, 4)]
    family = Family.model_validate(
        {"role": "log", "interface": "posix", "sharing": "root", "lifetime": "reused"}
        | {"schedule": {"count": 3, "every": 1.0}, "contents": contents}
    )
    calls = calls_of_all(family)
    assert calls is not None
    assert [getattr(calls, name) for name in counted] == [7] * len(counted)
