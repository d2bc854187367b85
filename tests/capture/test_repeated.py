"""What a program does, its replica repeats: captured, characterized, performed, captured again, and equal in every counter."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import h5py
import pytest
from behaviour_programs import log_against_log

from workalike.characterize import characterize
from workalike.characterize.result import Characterization
from workalike.compare.inputs import characterized_replica
from workalike.darshan import open_logs
from workalike.launch.run import REPLICA_LOG
from workalike.plan.plan_file import read_plan
from workalike.predict.chance import by_chance, calls_in, families_at_random
from workalike.workload.model import Direction, Family, Lifetime, Pattern

from .conftest import WORKALIKE, Profile, Run

PIECE = 20_000
DUMP = 6 * PIECE

COMPRESSED = """
import h5py, numpy
values = numpy.zeros((400, 1000), "f4")
values[:, :20] = numpy.random.default_rng(1).random((400, 20))
with h5py.File("values.h5", "w") as out:
    out.create_dataset("values", data=values, chunks=(40, 1000), compression="gzip")
"""


@dataclass
class Repeated:
    """An original and its replica, whose data are in `data`."""

    original: Characterization
    data: Path
    truncations: int
    """Opens of the replica that emptied a file."""
    removals: int
    """Files that the replica deleted."""

    def family(self, direction: Direction = Direction.WRITE) -> Family:
        (found,) = (
            family
            for family in self.original.workload.families
            if any(stream.direction is direction for c in family.all_contents() for stream in c.streams)
        )
        return found

    def sizes(self) -> list[int]:
        return sorted(path.stat().st_size for path in self.data.iterdir())


def repeated(run: Run) -> Repeated:
    """The replica of a captured run, if it repeats every determined counter."""
    out, data = run.folder.parent / "out", run.folder.parent / "replica"
    options = ["--full", "--time-scale", "0", "--keep", "--quiet"]
    subprocess.run(
        [*WORKALIKE, "replicate", *map(str, run.logs), "-o", str(out), "--dir", str(data), *options],
        check=True,
        capture_output=True,
    )
    original = characterize(open_logs(run.logs))
    at_random = families_at_random(read_plan(out / "plan.json"))
    replica = characterized_replica(open_logs([out / REPLICA_LOG]))
    rows = log_against_log(original, replica)
    calls = calls_in(rows)
    off = [row for row in rows if row.expected != row.found and not by_chance(row, at_random, calls)]
    assert rows and not off, off
    files = [file for family in replica.families for file in family.files()]
    return Repeated(original, data, sum(f.truncations for f in files), sum(f.removals or 0 for f in files))


@pytest.fixture
def program(compiled: Callable[..., Path]) -> Path:
    return compiled("behaves.c")


def test_a_state_that_is_written_anew_each_time(profile: Profile, program: Path) -> None:
    found = repeated(profile(program, "rewrite"))
    family = found.family()
    assert (family.lifetime, family.schedule.dumps, family.truncate) == (Lifetime.REUSED, 5, True)
    assert found.truncations == 4
    assert family.content is not None
    assert family.content.fsyncs + family.content.sync.total(6) == 1
    assert found.sizes() == [DUMP]


def test_a_stream_that_is_written_anew_each_time(profile: Profile, program: Path) -> None:
    found = repeated(profile(program, "stream"))
    family = found.family()
    assert (family.lifetime, family.schedule.dumps, family.truncate) == (Lifetime.REUSED, 5, True)
    assert (found.truncations, found.sizes()) == (4, [DUMP])


def test_a_state_that_is_overwritten_is_not_emptied(profile: Profile, program: Path) -> None:
    found = repeated(profile(program, "overwrite"))
    assert (found.family().lifetime, found.family().truncate) == (Lifetime.REUSED, False)
    assert found.truncations == 0


def test_a_state_that_takes_the_place_of_the_last(profile: Profile, program: Path) -> None:
    found = repeated(profile(program, "rename"))
    family = found.family()
    assert (family.rename, family.keep, family.schedule.dumps) == (True, 0, 5)
    assert found.sizes() == [DUMP]


def test_scratch_files_that_are_removed(profile: Profile, program: Path) -> None:
    found = repeated(profile(program, "scratch"))
    assert [family.removed for family in found.original.workload.families] == [True]
    assert found.sizes() == []
    assert found.removals == 4


def test_states_of_which_the_newest_are_kept(profile: Profile, program: Path) -> None:
    found = repeated(profile(program, "newest"))
    assert (found.family().keep, found.family().removed, found.family().schedule.dumps) == (2, False, 5)
    assert (found.removals, found.sizes()) == (3, [DUMP] * 2)


def test_removals_are_counted_by_name(profile: Profile, compiled: Callable[..., Path]) -> None:
    run = profile(compiled("removes.c"))
    side = json.loads(run.logs[0].with_name("app.darshan.extra.json").read_text())
    counts = {Path(row["file"]).name: row["removals"] for row in side["files"]}
    assert counts == {"first": 1, "second": 1}


CLEANS = """
#include <stdio.h>
#include <unistd.h>
int main(void) {
    char name[32];
    for (int i = 0; i < 3000; ++i) {
        sprintf(name, "old.%d", i);
        symlink("nowhere", name);
        unlink(name);
    }
    fclose(fopen("mine", "w"));
    return unlink("mine");
}
"""


def test_removals_of_files_that_were_never_opened_have_one_sum(
    profile: Profile, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "cleans.c").write_text(CLEANS)
    run = profile(compiled(str(tmp_path / "cleans.c")))
    side = json.loads(run.logs[0].with_name("app.darshan.extra.json").read_text())
    counts = {Path(row["file"]).name: row["removals"] for row in side["files"]}
    assert (counts["mine"], counts["old.0"], counts["<OTHER FILES>"]) == (1, 1, 2000)
    assert len(counts) == 1002 and side["version"] == 2


def test_a_stream_that_is_made_durable(profile: Profile, program: Path) -> None:
    found = repeated(profile(program, "durable"))
    contents = [found.family().content_of(dump) for dump in range(found.family().schedule.dumps)]
    syncs = [content.fsyncs + content.sync.total(30 // len(contents)) for content in contents]
    flushes = [content.flushes + content.flush.total(30 // len(contents)) for content in contents]
    assert (sum(syncs), sum(flushes)) == (5, 5)


def test_samples_in_shuffled_order(profile: Profile, program: Path) -> None:
    (profile.folder / "samples").write_bytes(bytes(500 * 4000))
    (content,) = repeated(profile(program, "shuffled")).family(Direction.READ).all_contents()
    assert content.streams[0].pattern is Pattern.RANDOM


def test_an_input_that_is_read_at_the_start_and_at_the_end(profile: Profile, program: Path) -> None:
    (profile.folder / "input").write_bytes(bytes(DUMP))
    found = repeated(profile(program, "twice"))
    first, last = found.family(Direction.READ).schedule.starts()
    writes = found.family().schedule.starts()
    assert first < min(writes) <= max(writes) < last
    assert (found.family(Direction.READ).lifetime, len(writes)) == (Lifetime.REUSED, 3)


def test_files_that_are_open_together(profile: Profile, program: Path) -> None:
    found = repeated(profile(program, "together"))
    schedule = found.family().schedule
    assert (schedule.dumps, found.sizes()) == (4, [DUMP] * 4)
    assert max(schedule.starts()) < min(schedule.ends())


def test_a_copy_to_a_descriptor_that_is_inherited(profile: Profile) -> None:
    (profile.folder / "source").write_bytes(bytes(DUMP))
    found = repeated(profile("sh", "-c", "cat source > copy; true"))
    writes = found.family()
    assert sum(e.count * e.size for c in writes.all_contents() for s in c.streams for e in s.sizes) == DUMP
    assert writes.members(found.original.workload.ranks) == 1


def test_data_that_are_compressed(profile: Profile) -> None:
    pytest.importorskip("h5py")
    script = profile.folder.parent / "writes.py"
    script.write_text(COMPRESSED)
    run = profile(Path(WORKALIKE[0]).with_name("python"), script)
    run.logs = run.logs[:1]  # Python asks `uname` for the machine
    found = repeated(run)
    family = found.original.workload.families[0]
    assert family.tunable.deflate and found.original.workload.compressibility > 0.9
    (copy,) = found.data.glob("*.h5")
    with h5py.File(profile.folder / "values.h5") as ours, h5py.File(copy) as theirs:
        (dataset,) = theirs.values()
        assert dataset.id.get_storage_size() == pytest.approx(ours["values"].id.get_storage_size(), rel=0.05)
