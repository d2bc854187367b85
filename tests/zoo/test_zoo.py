"""The verdict against programs that were not written for it, and tests of the zoo itself."""

from __future__ import annotations

import itertools
import math
import random
import secrets
import time
from pathlib import Path

import pytest

from .case import GREEN, Outcome, Replica, missing
from .kinds import KINDS
from .measures import BINS, Comparison, Measures, Order, Record, compare, measure, off
from .preludes import full_source
from .program import Program
from .run import chosen, run_all, summary, upper_bound
from .system_calls import counted

FOLDER = Path("/data")
ABOUT_S = 220
"""How long the cases of the system test go on, in seconds; a slow machine has fewer."""


def posix(name: str, **counters: int) -> Record:
    """A record of POSIX in the folder."""
    return Record(f"{FOLDER}/{name}", "POSIX", counters)


def stdio(name: str, **counters: int) -> Record:
    """A record of STDIO in the folder."""
    return Record(f"{FOLDER}/{name}", "STDIO", counters)


def values(*records: Record) -> dict[str, float]:
    """The measures of some records, those that are not 0."""
    return {name: value for name, value in measure(records, FOLDER).values.items() if value}


def test_opens_are_those_that_reach_the_file_system() -> None:
    """A load by NumPy opens once, duplicates the descriptor, and makes a stream of it."""
    found = values(
        posix("a", OPENS=2, DUPS=1, READS=1, BYTES_READ=4096, MAX_BYTE_READ=4095, STATS=1),
        stdio("a", OPENS=1, FDOPENS=1, READS=1, BYTES_READ=8000, MAX_BYTE_READ=8127),
    )
    assert found["opens"] == 1
    assert found["reads"] == 2
    assert found["bytes read"] == 12096
    assert found["stats"] == found["files"] == 1
    assert found["extents"] == 8128


def test_unknown_counters_are_no_numbers() -> None:
    found = values(posix("a", OPENS=1, FSYNCS=-1, FDSYNCS=2, WRITES=3, BYTES_WRITTEN=-1, MAX_BYTE_WRITTEN=99))
    assert found == {"opens": 1, "writes": 3, "syncs": 2, "files": 1}


def test_files_outside_of_the_folder_are_not_counted() -> None:
    records = [Record(name, "POSIX", {"OPENS": 1}) for name in ("/database/a", "<STDOUT>", "/usr/lib/a")]
    assert values(*records) == {}


def test_folders_above_are_asked_for_their_state(tmp_path: Path) -> None:
    """As by `realpath`: a replica asks as often, of names of its own."""
    records = [
        Record(name, "POSIX", {"STATS": 1}) for name in ("/", str(tmp_path.parent), f"{tmp_path}-other")
    ]
    assert measure(records, tmp_path).values["stats"] == 2


def test_what_is_only_asked_for_its_state_is_no_file(tmp_path: Path) -> None:
    records = [Record(f"{tmp_path}/{name}", "POSIX", {"STATS": 2}) for name in ("folder", "gone")]
    found = measure(records, tmp_path).values
    assert (found["stats"], found["files"]) == (4, 0)


def test_files_that_were_renamed_are_counted_by_their_renames() -> None:
    """Eight states that were written to one temporary name are eight files, as in a replica with eight names."""
    ours = measure(
        [posix("new", OPENS=8, WRITES=8, RENAME_SOURCES=8, BYTES_WRITTEN=80, MAX_BYTE_WRITTEN=9)], FOLDER
    )
    eight = [
        posix(f"new{i}", OPENS=1, WRITES=1, RENAME_SOURCES=1, BYTES_WRITTEN=10, MAX_BYTE_WRITTEN=9)
        for i in range(8)
    ]
    assert ours.values["files"] == 8
    assert not off(compare(ours, measure(eight, FOLDER)))


def test_records_of_several_ranks_and_processes_are_one_file() -> None:
    found = values(
        *[posix("a", OPENS=1, WRITES=1, BYTES_WRITTEN=5, MAX_BYTE_WRITTEN=10 * i + 4) for i in range(4)]
    )
    assert found == {"opens": 4, "writes": 4, "bytes written": 20, "files": 1, "extents": 35}


def test_sizes_are_compared_by_their_bins() -> None:
    ours = measure([posix("a", WRITES=10, SIZE_WRITE_1K_10K=10)], FOLDER)
    theirs = measure([posix("b", WRITES=10, SIZE_WRITE_1K_10K=9, SIZE_WRITE_0_100=1)], FOLDER)
    assert off(compare(ours, theirs)) == [
        Comparison("writes of 0 to 100", 0, 1, math.inf, True),
        Comparison("writes of 1K to 10K", 10, 9, 10.0, True),
    ]
    assert len(BINS) == 10


def test_five_per_cent_are_allowed() -> None:
    ours, exact, far = (measure([posix("a", OPENS=1, STATS=n)], FOLDER) for n in (100, 105, 106))
    assert not off(compare(ours, exact))
    assert [row.measure for row in off(compare(ours, far))] == ["stats"]


def in_order(accesses: int, ahead: int, adjacent: int) -> Measures:
    """Reads of one file, of which some are ahead of the one before or adjacent to it."""
    return measure([posix("a", READS=accesses, SEQ_READS=ahead, CONSEC_READS=adjacent)], FOLDER)


def test_two_random_orders_differ_by_chance() -> None:
    assert not off(compare(in_order(100, 46, 1), in_order(100, 54, 3)))


def test_a_random_order_is_not_replaced_by_a_sequence() -> None:
    names = [row.measure for row in off(compare(in_order(100, 46, 1), in_order(100, 99, 99)))]
    assert names == ["sequential reads", "consecutive reads"]


def test_a_sequence_is_not_excused_by_chance() -> None:
    for accesses in (4, 5, 20):
        far = off(compare(in_order(accesses, accesses - 1, 0), in_order(accesses, accesses - 2, 0)))
        assert [row.measure for row in far] == ["sequential reads"]


def test_chance_is_that_of_permutations() -> None:
    """Of 2,000 random orders, about 99.9 % are taken for random ones."""
    rng = random.Random(5)
    taken = 0
    for _ in range(2000):
        places = rng.sample(range(60), 60)
        ahead = sum(b > a for a, b in itertools.pairwise(places))
        adjacent = sum(b == a + 1 for a, b in itertools.pairwise(places))
        order = Order()
        order.add(60, ahead, adjacent)
        taken += order.may_be_random()
    assert taken >= 1960


def test_a_kind_makes_the_same_program_of_a_seed() -> None:
    for kind in KINDS.values():
        assert kind.program(7) == kind.program(7)
        assert isinstance(kind.program(7), Program)
        assert kind.make.__doc__, kind.name
        drawn = [tuple(kind.program(seed).parameters.items()) for seed in range(5)]
        assert len(set(drawn)) == 5, kind.name


def steps(places: list[int]) -> tuple[int, int]:
    """How many accesses are ahead of the one before, and how many are adjacent to it."""
    pairs = list(itertools.pairwise(places))
    return sum(b > a for a, b in pairs), sum(b == a + 1 for a, b in pairs)


def test_chance_of_a_record_of_several_ranks_is_that_of_each_rank() -> None:
    """Of 2,000 times four ranks in random order, about 99.9 % are taken for random ones; one order of all is not."""
    rng = random.Random(6)
    taken = 0
    for _ in range(2000):
        ahead, adjacent = zip(*(steps(rng.sample(range(30), 30)) for _ in range(4)), strict=True)
        order = Order()
        order.add(120, sum(ahead), sum(adjacent), ranks=4)
        taken += order.may_be_random()
    assert taken >= 1960
    in_order = Order()
    in_order.add(120, 116, 116, ranks=4)
    assert not in_order.may_be_random()


def test_chance_of_places_that_are_drawn_again_and_again_is_that_of_each_draw() -> None:
    """1,000 records out of 250, each at random: about four are adjacent to the one before, not one."""
    rng = random.Random(7)
    taken = 0
    for _ in range(2000):
        order = Order()
        order.add(1000, *steps([rng.randrange(250) for _ in range(1000)]), passes=4.0)
        taken += order.may_be_random()
    assert taken >= 1960
    once = Order()
    once.add(1000, 500, 60, passes=4.0)
    assert not once.may_be_random()


def test_mappings_are_measured() -> None:
    """What moves through a mapping is in no log: a replica without it is not taken for true."""
    assert values(posix("a", OPENS=1, MMAPS=2)) == {"opens": 1, "maps": 2, "files": 1}


def test_kinds_are_many_and_different() -> None:
    assert len(KINDS) >= 140
    sources = {
        full_source(program.compiler, program.source) for program in (k.program(1) for k in KINDS.values())
    }
    assert len(sources) == len(KINDS)
    assert all(0 <= kind.program(seed).ranks <= 4 for kind in KINDS.values() for seed in range(20))


def test_cases_follow_from_the_seed() -> None:
    first, second, other = ([(kind.name, seed) for kind, seed in chosen(number, 100)] for number in (1, 1, 2))
    assert first == second != other
    assert len({name for name, _ in first[: len(KINDS)]}) == min(len(KINDS), 100)
    assert next(chosen(9, 3, "journal")) == (KINDS["journal"], 9)


def test_bound_without_a_find_is_the_rule_of_three() -> None:
    assert upper_bound(0, 60) == pytest.approx(3 / 60, rel=0.03)
    assert upper_bound(5, 5) == 1
    assert upper_bound(3, 20) == pytest.approx(0.3437, abs=0.001)


def test_a_good_grade_with_a_measure_off_is_a_false_green() -> None:
    far = Comparison("opens", 10, 20, 100.0, True)
    grades = {grade: Replica(0, grade, off=[far], measured=9) for grade in (*GREEN, "close", "different", "")}
    assert [grade for grade, replica in grades.items() if replica.false_green] == list(GREEN)
    assert not Replica(0, "exact", measured=9).false_green
    assert not Replica(2).true
    text = summary([Outcome("journal", "posix", 3, {}, replicas={"trace": grades["exact"]})])
    assert "--kind journal --seed 3 (trace): exact, off: opens 10→20" in text
    assert "kinds with a false green: 1 of 1" in text


def test_system_calls_are_counted_outside_of_pauses() -> None:
    lines = [
        'openat(AT_FDCWD</data>, "a", O_RDONLY) = 3</data/a>',
        'openat(AT_FDCWD</data>, "missing", O_RDONLY) = -1 ENOENT (No such file or directory)',
        'openat(AT_FDCWD</data>, "sub", O_RDONLY|O_DIRECTORY) = 4</data/sub>',
        'openat(AT_FDCWD</data>, "/etc/passwd", O_RDONLY) = 5</etc/passwd>',
        'newfstatat(3</data/a>, "", {st_mode=S_IFREG|0644, st_size=0, ...}, AT_EMPTY_PATH) = 0',
        "fsync(3</data/a>)                       = 0",
        'rename("a", "/data/b")                  = 0',
        'access("/zoo-marker/pause", F_OK)       = -1 ENOENT (No such file or directory)',
        'openat(AT_FDCWD</data>, "b", O_RDONLY) = 3</data/b>',
        'access("/zoo-marker/resume", F_OK)      = -1 ENOENT (No such file or directory)',
        "fdatasync(3</data/b>(deleted))          = 0",
    ]
    assert counted(lines, FOLDER, FOLDER) == {"opens": 1, "stats": 1, "syncs": 2, "renames": 1}


def judged(cases: int, seed: int, scratch: Path, seconds: float = math.inf) -> None:
    """Run cases: no good grade with a measure off, and each log gives a workload that the engine performs."""
    outcomes = []
    start = time.monotonic()
    for number, (kind, own) in enumerate(chosen(seed, cases)):
        if time.monotonic() - start > seconds:
            break
        if not missing(kind.program(own)):
            outcomes += run_all([(kind, own)], scratch / str(number), every=1 if number % 10 == 9 else 0)
    text = f"seed {seed}\n{summary(outcomes)}"
    print(text)
    replicas = [replica for outcome in outcomes for replica in outcome.replicas.values()]
    broken = [outcome for outcome in outcomes if outcome.broken]
    assert len(broken) <= len(outcomes) / 20, text  # a busy machine may break one
    assert replicas, text
    assert not [replica for replica in replicas if replica.false_green or replica.failed], text
    assert not [replica for replica in replicas if replica.refused], text


@pytest.mark.system
@pytest.mark.mpi
def test_no_false_green_in_some_cases(tmp_path: Path) -> None:
    judged(40, 20, tmp_path, ABOUT_S)


@pytest.mark.system
@pytest.mark.mpi
@pytest.mark.long
def test_no_false_green_in_hundreds_of_cases(tmp_path: Path) -> None:
    judged(400, secrets.randbelow(1_000_000), tmp_path)
