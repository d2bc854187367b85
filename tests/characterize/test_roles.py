"""What a family is for, where its name does not say: by what the run does with its files."""

from __future__ import annotations

import pytest
from simulated_job import READ, WRITE, Op, TrueFile, add_file, builder_of, log_of, simple_file

from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.darshan import LogBuilder
from workalike.workload.model import Assumption, Lifetime, Role

KIB, MIB = 2**10, 2**20


def characterized(builder: LogBuilder) -> Characterization:
    return characterize([log_of(builder)], CharacterizeOptions(include_program_start=True))


def beside_checkpoints(size: int, name: str = "/run/steps") -> LogBuilder:
    """A file that rank 0 appends operations of `size` bytes to, in three bursts; and three large checkpoints."""
    builder = builder_of(4, run_time=100)
    ops = [
        Op(WRITE, (500 * burst + k) * size, size, 10.0 + 30 * burst, 12.0 + 30 * burst)
        for burst in range(3)
        for k in range(500)
    ]
    add_file(builder, TrueFile(name, "POSIX", {0: ops}, opened=1.0, closed=99.0))
    bins = [0] * 100
    for burst in range(3):
        for second in (10, 11):
            bins[second + 30 * burst] = 250 * size
    for rank in range(4):
        builder.heatmap("POSIX", rank, 1.0, bins if rank == 0 else [0] * 100)
    for i in range(3):
        add_file(builder, simple_file(f"/run/state.{i}", "MPI-IO", range(4), size=16 * MIB, at=20.0 + 20 * i))
    return builder


@pytest.mark.parametrize(("size", "role"), [(80, Role.LOG), (300, Role.LOG), (4 * KIB, Role.VISUALIZATION)])
def test_lines_of_text_are_no_visualisation(size: int, role: Role) -> None:
    """A text log has bursts in time, too; what tells it is that its writes are lines."""
    found = characterized(beside_checkpoints(size))
    (family,) = [f for f in found.families if f.family.lifetime is Lifetime.APPENDED]
    assert (family.family.role, len(family.dumps)) == (role, 3)


def test_a_name_says_more_than_lines() -> None:
    found = characterized(beside_checkpoints(80, "/run/water-pos.xyz"))
    assert {f.family.role for f in found.families} == {Role.VISUALIZATION, Role.CHECKPOINT}
    by_name = {f.family.role: Assumption.ROLE not in f.family.assumed for f in found.families}
    assert by_name == {Role.VISUALIZATION: True, Role.CHECKPOINT: False}, "state.N says nothing"


def test_most_of_the_bytes_are_no_log() -> None:
    """A file of a particle's coordinates, line by line, may be all that a run is for."""
    builder = builder_of(1, run_time=100)
    ops = [Op(WRITE, 80 * k, 80, 1.0 + k // 10, 1.5 + k // 10) for k in range(900)]
    add_file(builder, TrueFile("/run/steps", "POSIX", {0: ops}, opened=1.0, closed=99.0))
    builder.heatmap("POSIX", 0, 1.0, [800, 0] * 50)
    (family,) = characterized(builder).families
    assert (family.family.lifetime, family.family.role) == (Lifetime.APPENDED, Role.VISUALIZATION)


@pytest.mark.parametrize(
    ("first", "role"),
    [(WRITE, Role.OUTPUT), (READ, Role.CHECKPOINT)],
    ids=["read back", "read, then written"],
)
def test_written_once_and_read_back_is_one_dump(first: object, role: Role) -> None:
    """A benchmark checks what it wrote. A file that is read and then written anew is a restart and a checkpoint."""
    builder = builder_of(4)
    ops = {
        rank: [
            Op(direction, (4 * rank + k) * MIB, MIB, at + 0.1 * k, at + 0.1 * k + 0.1)
            for direction in (WRITE, READ)
            for at in [10.0 if direction is first else 50.0]
            for k in range(4)
        ]
        for rank in range(4)
    }
    add_file(builder, TrueFile("/run/data", "POSIX", ops, opened=9.0, closed=60.0))
    (family,) = characterized(builder).families
    assert (len(family.dumps), family.family.role) == (2, role)
    assert [(d.bytes_written > 0, d.bytes_read > 0) for d in family.dumps] == [
        (first is WRITE, first is READ),
        (first is READ, first is WRITE),
    ]
