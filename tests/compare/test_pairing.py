"""Families matched, the scale of the replica, and errors of bytes."""

from __future__ import annotations

from fractions import Fraction

import pytest
from compare_builders import MIB, family, original, posix_file, record, record_dump

from workalike.characterize.result import Characterization, DumpFacts, FamilyFacts
from workalike.compare.fidelity import fidelity_of
from workalike.compare.pairing import Factors, Pair, dump_error_pct, error_pct, pair_up, rounding
from workalike.compare.side import SideDump
from workalike.errors import ErrorKind, WorkalikeError
from workalike.plan.resolve import Options, resolve
from workalike.record.run_record import RecordScale
from workalike.workload.model import Direction, Lifetime, Role, SharingMode, Workload

HALF = Options(bytes_scale=Fraction(1, 2))


def test_factors_are_the_record_s() -> None:
    scale = RecordScale(ranks=0.5, bytes=0.25)
    pairing = pair_up(original(), record(record_dump(0), scale=scale, plan_ranks=2, time_scale=0.5))
    assert pairing.factors == Factors(0.5, 0.25, 0.5)
    assert pairing.presumed
    assert pairing.performed
    assert pairing.pairs[0].scaled.factor == 0.25
    assert pairing.pairs[0].scaled.part.accessors == 2 * 3  # of the presumed plan: two ranks, three files
    assert pairing.pairs[0].scaled.whole.accessors == 4 * 3


def test_factors_of_a_log_are_the_plan_s_or_the_ranks() -> None:
    log = original()
    plan = resolve(log.workload, HALF)
    assert pair_up(log, original(), plan=plan).factors == Factors(1.0, 0.5, plan.time_scale)
    assert not pair_up(log, original(), plan=plan).presumed
    twice = pair_up(log, original(ranks=8))
    assert twice.factors == Factors(2.0, 1.0, 1.0)
    assert twice.presumed
    assert twice.pairs[0].scaled.part.accessors == 8 * 3
    same = pair_up(log, original())
    assert (same.factors, same.presumed) == (Factors(1.0, 1.0, 1.0), False)
    assert same.pairs[0].scaled.full


def test_a_workload_alone_has_nothing_performed() -> None:
    pairing = pair_up(original().workload, None)
    assert not pairing.performed
    assert pairing.log is None
    assert pairing.replica.ranks == 4
    assert pair_up(original(), original()).performed


def test_a_plan_at_full_scale_is_both() -> None:
    log = original()
    plan = resolve(log.workload, Options())
    pairing = pair_up(log, record(record_dump(0)), plan=plan)
    assert pairing.pairs[0].scaled.full
    scaled = pair_up(log, record(record_dump(0)), plan=resolve(log.workload, HALF))
    assert scaled.pairs[0].scaled.whole.modules["POSIX"]["WRITES"] == 96
    assert scaled.pairs[0].scaled.part.modules["POSIX"]["WRITES"] == 48


def test_files_of_a_dump_at_either_scale() -> None:
    workload = Workload(ranks=4, families=[family(1, mode=SharingMode.PER_RANK)])
    plan = resolve(workload, Options(ranks=2))
    scaled = record(record_dump(0), plan_ranks=2, scale=RecordScale(ranks=0.5))
    assert pair_up(workload, scaled, plan=plan).pairs[0].scaled.files == (4, 2)


def test_families_that_only_one_side_has() -> None:
    pairing = pair_up(original(), record(record_dump(0, role=Role.RESTART, number=2)))
    assert [f.name for f in pairing.extra] == ["restart 2"]
    (pair,) = pairing.pairs
    assert (pair.replica.name, pair.replica.level, pair.replica.dumps) == (
        "checkpoint 1",
        pair.original.level,
        [],
    )


def test_dumps_are_matched_by_index() -> None:
    (pair,) = pair_up(original(dumps=1), record(record_dump(0))).pairs
    first, second = SideDump(1, 0, 0, 1), SideDump(2, 0, 1, 2)
    pair.original.dumps, pair.replica.dumps = [first, second], [second]
    assert list(pair.dumps()) == [(first, second), (second, None)]
    pair.original.dumps, pair.replica.dumps = [first], [second, first]
    assert list(pair.dumps()) == [(first, second), (None, first)]


@pytest.mark.parametrize(("written", "error"), [(96 * MIB, 0.0), (64 * MIB, pytest.approx(100 / 3))])
def test_dumps_of_one_file_are_compared_as_a_whole_with_a_log(written: int, error: float) -> None:
    again = family(3).model_copy(update={"lifetime": Lifetime.REUSED})
    workload = Workload(ranks=4, families=[again])
    file = posix_file("/data/checkpoint-1.0000.0badcafe.dat", writes=written // MIB, size=MIB)
    known = family(1)
    log = Characterization(
        Workload(ranks=4, families=[known]),
        [FamilyFacts(known, [DumpFacts(written, 0, 10.0, 32.0, 2.0, [file])])],
        [],
    )
    pairing = pair_up(workload, log)
    (pair,) = pairing.pairs
    assert pair.as_one
    assert [(a.moved, b.moved) for a, b in pair.dumps() if a and b] == [(96 * MIB, written)]
    (found,) = fidelity_of(pairing).families
    assert (found.bytes_error_max_pct, found.dumps_original, found.dumps_replica) == (error, 3, 1)
    assert any("as a whole" in note for note in fidelity_of(pairing).notes)
    assert len(pair.original.dumps) == 3


@pytest.mark.parametrize("dumps", [1, 3])
def test_a_plan_of_another_workload_is_refused(dumps: int) -> None:
    plan = resolve(Workload(ranks=4, families=[family(dumps)]), Options())
    other = Workload(ranks=4, families=[family(2)])
    with pytest.raises(
        WorkalikeError, match=f"has 2 dumps, the plan {dumps}: it is the plan of another"
    ) as caught:
        pair_up(other, record(record_dump(0)), plan=plan)
    assert caught.value.kind is ErrorKind.BAD_PLAN


def test_a_plan_without_the_family_is_refused() -> None:
    plan = resolve(Workload(ranks=4, families=[family(2)]), Options())
    other = Workload(ranks=4, families=[family(2, number=1), family(2, role=Role.RESTART)])
    with pytest.raises(WorkalikeError, match="of restart 1 the workload has 2 dumps, the plan none"):
        pair_up(other, record(record_dump(0)), plan=plan)


@pytest.mark.parametrize(
    ("expected", "found", "slack", "error"),
    [
        (200, 200, 0, 0),
        (200, 150, 0, 25),
        (200, 250, 0, 25),
        (200, 250, 50, 0),
        (200, 251, 50, 25.5),
        (0, 1, 0, 100),
        (0, 0, 0, 0),
        (0, 1, 1, 0),
    ],
)
def test_error_in_per_cent(expected: float, found: float, slack: float, error: float) -> None:
    assert error_pct(expected, found, slack) == error


def test_rounding_is_a_byte_a_dump_at_another_scale() -> None:
    pairs: list[Pair] = pair_up(original(dumps=3), record(record_dump(0))).pairs
    assert rounding(pairs, 1) == 0
    assert rounding(pairs, 0.5) == 3
    assert rounding(pairs * 2, 0.5) == 6


@pytest.mark.parametrize(
    ("written", "read", "factor", "error"),
    [
        (100, 40, 1.0, 0),
        (101, 40, 1.0, 100 / 140),
        (100, 41, 1.0, 100 / 140),
        (99, 41, 1.0, 200 / 140),  # one direction's surplus does not make up for the other's lack
        (50, 20, 0.5, 0),
        (51, 20, 0.5, 0),  # rounding
        (52, 20, 0.5, 200 / 70),
        (51, 21, 0.5, 200 / 70),
    ],
)
def test_error_of_a_dump(written: int, read: int, factor: float, error: float) -> None:
    found = dump_error_pct(SideDump(100, 40, 0, 1), SideDump(written, read, 0, 1), factor)
    assert found == pytest.approx(error)


def test_error_of_a_dump_in_the_family_s_direction() -> None:
    writes = SideDump(MIB, 0, 0, 1)
    assert dump_error_pct(writes, SideDump(MIB, 77, 0, 1), 1.0, [Direction.WRITE]) == 0
    assert dump_error_pct(writes, SideDump(MIB, 77, 0, 1), 1.0) > 0
    assert dump_error_pct(None, writes, 1.0) == 100
    assert dump_error_pct(writes, None, 1.0) == 100
    nothing = SideDump(0, 0, 0, 1)
    assert dump_error_pct(nothing, nothing, 1.0) == 0
    assert dump_error_pct(nothing, SideDump(5, 0, 0, 1), 1.0) == 100
