"""A replica by two witnesses: the log of its run, and the engine's record."""

from __future__ import annotations

from collections.abc import Sequence

from compare_builders import MIB, family, file_facts, module_facts, record, record_dump

from workalike.characterize.result import Characterization, DumpFacts, FamilyFacts
from workalike.compare.from_witness import _to_clock_of, side_of_witness
from workalike.compare.side import Side, SideDump, SideFamily
from workalike.facts.times import Interval
from workalike.workload.model import Level, Role, Workload

KEY = (Role.CHECKPOINT, 1)


def witness(
    dumps: list[tuple[int, int]],
    *,
    level: Level = Level.POSIX,
    posix: tuple[int, int] = (0, 0),
    recorded: tuple[tuple[int, int], ...] = ((32 * MIB, 0), (32 * MIB, 0)),
    counted: Level = Level.POSIX,
    bins: Sequence[float] | None = None,
) -> SideFamily:
    """The family of a log with these dumps (bytes written and read) beside a record's two dumps of 32 MiB.

    `bins` are seconds of a heatmap, all that the log has of their times.
    """
    modules = [module_facts("POSIX", {-1: {"BYTES_WRITTEN": posix[0], "BYTES_READ": posix[1]}})]
    if level is Level.MPIIO:
        modules.append(module_facts("MPI-IO", {-1: {"BYTES_WRITTEN": sum(w for w, _ in dumps)}}))
    file = file_facts("/data/checkpoint-1.0000.0badcafe.dat", *modules)
    known = family(len(dumps), level=level)
    facts = [
        DumpFacts(written, read, float(i), i + 0.5, 0.5, [file])
        if bins is None
        else DumpFacts(written, read, bins[i], bins[i] + 1, None, [file], bin_s=1.0)
        for i, (written, read) in enumerate(dumps)
    ]
    log = Characterization(Workload(ranks=4, runtime=60.0, families=[known]), [FamilyFacts(known, facts)], [])
    run = record(*(record_dump(i, written=w, read=r, counters={}) for i, (w, r) in enumerate(recorded)))
    return side_of_witness(log, run, {KEY: counted}).families[KEY]


def bytes_of(found: SideFamily) -> list[tuple[int, int]]:
    return [(d.bytes_written, d.bytes_read) for d in found.dumps]


def test_dumps_that_are_one_in_the_log_are_the_record_s() -> None:
    found = witness([(64 * MIB, 0)])
    assert bytes_of(found) == [(32 * MIB, 0)] * 2
    assert found.timed_by_record
    assert found.dumps[0].start_s == 10.0


def test_equal_dumps_are_the_log_s() -> None:
    found = witness([(32 * MIB, 0)] * 2)
    assert [d.start_s for d in found.dumps] == [0.0, 1.0]
    assert not found.timed_by_record


def test_a_bin_of_a_heatmap_does_not_say_when_in_it_a_dump_began() -> None:
    """The record does, within the bin; where the two disagree, the log is right."""
    found = witness([(32 * MIB, 0)] * 2, bins=(9.5, 19.0))
    assert [(d.start_s, d.end_s) for d in found.dumps] == [(10.0, 11.0), (20.0, 21.0)]
    late = witness([(32 * MIB, 0)] * 2, bins=(9.5, 24.5))
    assert [(d.start_s, d.end_s) for d in late.dumps] == [(10.0, 11.0), (24.5, 25.5)]
    assert not late.timed_by_record


def test_bytes_that_the_record_does_not_have_are_the_log_s() -> None:
    found = witness([(65 * MIB, 0)])
    assert bytes_of(found) == [(65 * MIB, 0)]
    assert not found.timed_by_record


def test_what_was_written_to_be_read_is_no_dump() -> None:
    found = witness([(64 * MIB, 0), (0, 64 * MIB)], recorded=((0, 32 * MIB), (0, 32 * MIB)))
    assert bytes_of(found) == [(0, 32 * MIB)] * 2
    assert not witness([(64 * MIB, 0), (0, 63 * MIB)], recorded=((0, 64 * MIB),)).timed_by_record


def test_a_family_at_another_level_is_counted_where_the_record_counts_it() -> None:
    """The log has it at MPI-IO, in one dump; the bytes at POSIX are the record's."""
    found = witness([(60 * MIB, 0)], level=Level.MPIIO, posix=(64 * MIB, 0))
    # the log's side counts at the level asked for, POSIX, since its file has it
    assert (found.level, bytes_of(found)) == (Level.POSIX, [(32 * MIB, 0)] * 2)
    several = witness([(30 * MIB, 0), (30 * MIB, 0)], level=Level.MPIIO, posix=(64 * MIB, 0))
    assert (several.level, several.timed_by_record) == (Level.POSIX, True)
    assert bytes_of(several) == [(32 * MIB, 0)] * 2


def test_a_family_at_another_level_stays_where_its_bytes_are_others() -> None:
    several = witness([(30 * MIB, 0), (30 * MIB, 0)], level=Level.MPIIO, posix=(63 * MIB, 0))
    assert (several.level, several.timed_by_record) == (Level.MPIIO, False)
    nothing = witness([(30 * MIB, 0)] * 2, level=Level.MPIIO, posix=(5, 5), recorded=((0, 0),))
    assert nothing.level is Level.MPIIO


def test_a_direction_that_was_not_recorded_does_not_matter() -> None:
    several = witness([(30 * MIB, 0)] * 2, level=Level.MPIIO, posix=(64 * MIB, 17))
    assert several.level is Level.POSIX
    assert witness([(30 * MIB, 0)] * 2, level=Level.MPIIO, posix=(1, 64 * MIB)).level is Level.MPIIO


def test_a_family_without_a_record_is_the_log_s() -> None:
    assert bytes_of(witness([(5, 0)], recorded=())) == [(5, 0)]


def test_the_clocks_meet_at_the_first_call_of_a_family_with_data() -> None:
    """A family that is only asked for its state has no time in a log, and in the record it may be long before."""
    probe = (Role.OTHER, 1)

    def side(moved_at: float, probed_at: float, calls: Interval) -> Side:
        dumps = {
            KEY: SideDump(32 * MIB, 0, moved_at, moved_at + 1),
            probe: SideDump(0, 0, probed_at, probed_at),
        }
        families = {key: SideFamily(*key, Level.POSIX, dumps=[dump]) for key, dump in dumps.items()}
        return Side(4, families, "darshan", calls=calls, run_s=60.0)

    recorded, log = side(10.0, 1.0, Interval(1.0, 11.0)), side(17.0, 0.0, Interval(17.0, 18.0))
    _to_clock_of(recorded, log)
    assert log.moved_s == 7.0
    assert log.families[KEY].dumps[0].start_s == 10.0
    assert log.calls == Interval(10.0, 11.0)
