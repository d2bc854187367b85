"""Where operations land, from the shares that POSIX counters have."""

from __future__ import annotations

import pytest
from facts_by_hand import file_facts, module_facts

from workalike.facts.placement import Placement, modifies, place_of
from workalike.facts.records import FileFacts
from workalike.workload.model import Direction, Level, Pattern

WRITE, READ = Direction.WRITE, Direction.READ


def accessed(
    kind: str = "WRITE",
    ranks: int = 1,
    *,
    each: int = 100,
    size: int = 8,
    seq: int = 100,
    consec: int = 0,
    extent: int = 0,
    nprocs: int = 4,
) -> FileFacts:
    """A file with `each` operations of `size` bytes by each of some ranks; `extent` 0: as long as they are."""
    ends = "READ" if kind == "READ" else "WRITTEN"
    values = {
        f"{kind}S": each,
        f"BYTES_{ends}": each * size,
        f"SEQ_{kind}S": seq,
        f"CONSEC_{kind}S": consec,
        f"MAX_BYTE_{ends}": (extent or ranks * each * size) - 1,
    }
    return file_facts("a", module_facts("POSIX", dict.fromkeys(range(ranks), values)), ranks=nprocs)


@pytest.mark.parametrize(
    ("file", "direction", "placement"),
    [
        (accessed(consec=99), WRITE, Placement(Pattern.CONTIGUOUS)),
        (accessed(consec=0), WRITE, Placement(Pattern.CONTIGUOUS)),  # one rank that covers its file
        (accessed(consec=0, extent=8000), WRITE, Placement(Pattern.STRIDED, stride=80)),
        (accessed(seq=0), WRITE, Placement(Pattern.RANDOM)),
        (accessed(ranks=4), WRITE, Placement(Pattern.INTERLEAVED, pieces_per_rank=100.0)),
        (accessed(ranks=4, consec=96), WRITE, Placement(Pattern.INTERLEAVED, pieces_per_rank=4.0)),
        (accessed(ranks=4, consec=100), WRITE, Placement(Pattern.INTERLEAVED, pieces_per_rank=1.0)),
        (accessed("READ", 4, extent=800), READ, Placement(Pattern.REPLICATED)),
        (accessed("READ", 4), READ, Placement(Pattern.INTERLEAVED, pieces_per_rank=100.0)),
        (accessed("WRITE", 4, extent=800), WRITE, Placement(Pattern.INTERLEAVED, pieces_per_rank=100.0)),
        (accessed(each=2, seq=0), WRITE, Placement(Pattern.CONTIGUOUS)),  # too few to tell
        (accessed(each=3, seq=0), WRITE, Placement(Pattern.RANDOM)),
        (accessed(each=0), WRITE, Placement(Pattern.CONTIGUOUS)),
    ],
)
def test_placement(file: FileFacts, direction: Direction, placement: Placement) -> None:
    assert place_of([file], Level.POSIX, direction) == placement


@pytest.mark.parametrize(
    ("file", "placement"),
    [
        (accessed(seq=-1, consec=-1), Placement(Pattern.CONTIGUOUS)),
        (accessed(seq=-1, consec=-1, extent=8000), Placement(Pattern.STRIDED, stride=80)),
        (accessed(ranks=4, seq=-1, consec=-1), Placement(Pattern.CONTIGUOUS)),
        (
            accessed(ranks=4, seq=-1, consec=-1, extent=32_000),
            Placement(Pattern.INTERLEAVED, pieces_per_rank=100.0),
        ),
    ],
)
def test_an_order_that_was_not_measured_is_not_random(file: FileFacts, placement: Placement) -> None:
    assert place_of([file], Level.POSIX, WRITE) == placement


def test_an_end_that_was_not_measured_is_that_of_the_bytes() -> None:
    file = accessed("READ", 4)
    posix = file.modules["POSIX"]
    posix.counters[:, posix.counter_names.index("MAX_BYTE_READ")] = -1
    assert place_of([file], Level.POSIX, READ).pattern is Pattern.INTERLEAVED  # not all of it by each rank


def test_files_of_a_rank_each_are_placed_as_one() -> None:
    files = [accessed(consec=0, extent=8000), accessed(consec=0, extent=8000)]
    assert place_of(files, Level.POSIX, WRITE) == Placement(Pattern.STRIDED, stride=80)
    assert place_of([accessed(seq=0)], Level.STDIO, WRITE) == Placement(Pattern.CONTIGUOUS)


def test_ranks_without_operations_do_not_access() -> None:
    file = accessed(ranks=2)
    posix = file.modules["POSIX"]
    for row, name in enumerate(posix.counter_names):
        if name != "OPENS":
            posix.counters[1, row] = 0
    assert place_of([file], Level.POSIX, WRITE).pattern is Pattern.STRIDED


def test_a_reduced_record_is_of_all_ranks() -> None:
    values = {
        "WRITES": 400,
        "BYTES_WRITTEN": 3200,
        "SEQ_WRITES": 400,
        "CONSEC_WRITES": 0,
        "MAX_BYTE_WRITTEN": 3199,
    }
    file = file_facts("a", module_facts("POSIX", {-1: values}))
    assert place_of([file], Level.POSIX, WRITE) == Placement(Pattern.INTERLEAVED, pieces_per_rank=100.0)


@pytest.mark.parametrize(
    ("reads", "writes", "switches", "level", "holds"),
    [
        (100, 100, 200, Level.POSIX, True),
        (101, 100, 200, Level.POSIX, False),
        (10, 100, 200, Level.POSIX, False),
        (100, 100, 0, Level.POSIX, False),
        (100, 100, 200, Level.STDIO, False),
    ],
)
def test_reads_and_writes_that_alternate(
    reads: int, writes: int, switches: int, level: Level, holds: bool
) -> None:
    values = {"READS": reads, "WRITES": writes, "RW_SWITCHES": switches}
    assert modifies([file_facts("a", module_facts("POSIX", {-1: values}))], level) is holds
    alone = file_facts("a", module_facts("POSIX", {0: values}))
    assert modifies([alone], level) is False
    two = file_facts("a", module_facts("POSIX", {0: values, 1: values}))
    assert modifies([two], level) is holds
