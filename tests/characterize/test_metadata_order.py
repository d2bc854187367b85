"""HDF5's metadata is read before the data and written after it, where its records or the ranks' ends show which it is."""

from __future__ import annotations

import pytest
from facts_by_hand import file_facts, module_facts
from known_logs import find

from workalike.characterize import CharacterizeOptions, characterize
from workalike.characterize.readings.metadata_order import metadata_ordered
from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.characterize.times.rank_times import of_last_streams
from workalike.darshan import open_log
from workalike.facts.jobs import JobFacts
from workalike.plan.resolve import Options, resolve
from workalike.plan.timeline import timeline
from workalike.workload.model import (
    Content,
    Direction,
    Entry,
    Family,
    Interface,
    Level,
    Role,
    Schedule,
    Sharing,
    Stream,
    Workload,
)

WRITE, READ = Direction.WRITE, Direction.READ
RANKS = 4


def stream(
    size: int, direction: Direction = WRITE, *, rank: int | None = None, collective: bool = False
) -> Stream:
    """An operation of one rank, or one of each."""
    ranks = None if rank is None else [(rank, rank, 1)]
    entry = Entry(count=1 if ranks else RANKS, size=size)
    return Stream(direction=direction, sizes=[entry], ranks=ranks, collective=collective)


def family_of(
    streams: list[Stream],
    mpiio: dict[int, dict[str, float]],
    h5d: dict[int, dict[str, float]] | None = None,
) -> FamilyFacts:
    """A family at MPI-IO of one dump; the records are by rank."""
    modules = [module_facts("MPI-IO", mpiio)] + ([module_facts("H5D", h5d)] if h5d else [])
    family = Family(
        role=Role.OUTPUT,
        interface=Interface.HDF5 if h5d else Interface.MPIIO,
        level=Level.MPIIO,
        sharing=Sharing(),
        schedule=Schedule(start=[1.0], duration=10.0),
        content=Content(opens=RANKS, streams=streams),
    )
    return FamilyFacts(family, [DumpFacts(0, 0, 1.0, 11.0, files=[file_facts("a", *modules)])])


def ordered(facts: FamilyFacts) -> Family:
    return metadata_ordered(facts, JobFacts([], RANKS, 20.0)).family


def streams_of(family: Family) -> list[tuple[int, Direction, int | None]]:
    """(size, direction, base) of each stream."""
    assert family.content is not None
    return [(s.sizes[0].size, s.direction, s.base) for s in family.content.streams]


def bases(family: Family) -> dict[tuple[int, Direction], int]:
    """Where the operations of a size begin in a plan."""
    plan = resolve(Workload(ranks=RANKS, runtime=20.0, families=[family]), Options())
    (content,) = plan.contents
    return {(s.entries[0][1], s.direction): s.base for s in content.streams}


MIXED = [stream(100, rank=0), stream(50, rank=1), stream(4096, collective=True)]


def ends(independent: float, others: float) -> dict[int, dict[str, float]]:
    """Records of four ranks, of which the first two also write alone."""
    end = "F_WRITE_END_TIMESTAMP"
    own = {"COLL_WRITES": 1, "INDEP_WRITES": 1, end: independent}
    return {rank: own if rank < 2 else {"COLL_WRITES": 1, end: others} for rank in range(RANKS)}


def test_ranks_that_write_alone_and_end_last_do_so_after_the_data() -> None:
    facts = family_of(MIXED, ends(9.0, 8.0))
    found = ordered(facts)
    assert [size for size, _, _ in streams_of(found)] == [4096, 100, 50]
    assert bases(found) == bases(facts.family) == {(100, WRITE): 0, (50, WRITE): 100, (4096, WRITE): 150}


@pytest.mark.parametrize(("alone", "others"), [(8.0, 8.0), (7.0, 9.0), (0.0, 0.0)])
def test_ranks_that_do_not_end_last_show_nothing(alone: float, others: float) -> None:
    facts = family_of(MIXED, ends(alone, others))
    assert ordered(facts) == facts.family


def test_a_reduced_record_does_not_show_who_ends_last() -> None:
    facts = family_of(MIXED, {-1: {"COLL_WRITES": 4, "INDEP_WRITES": 2, "F_WRITE_END_TIMESTAMP": 9.0}})
    assert ordered(facts) == facts.family


def hdf5(metadata: int = 100, smallest: str = "1K_10K") -> FamilyFacts:
    """A file with an operation of metadata each way, and datasets with operations in that bin of sizes."""
    streams = [
        stream(metadata, rank=0),
        stream(4096),
        stream(4096, READ),
        stream(metadata, READ, rank=1),
    ]
    data = {f"SIZE_{kind}_AGG_{smallest}": 4 for kind in ("READ", "WRITE")}
    return family_of(streams, {-1: {"INDEP_OPENS": 4}}, {-1: data})


def test_hdf5_reads_metadata_first_and_writes_it_last() -> None:
    facts = hdf5()
    found = ordered(facts)
    assert [(size, d) for size, d, _ in streams_of(found)] == [
        (4096, WRITE),
        (100, WRITE),
        (100, READ),
        (4096, READ),
    ]
    assert bases(found) == bases(facts.family)


@pytest.mark.parametrize(
    "facts",
    [
        hdf5(smallest="0_100"),  # datasets have operations as small
        hdf5(metadata=1000),  # more than five in a hundred bytes
        hdf5(smallest="1M_4M"),  # all are smaller than the datasets'
    ],
)
def test_what_datasets_may_have_moved_is_no_metadata(facts: FamilyFacts) -> None:
    assert ordered(facts) == facts.family


def test_ends_of_ranks_in_the_last_streams() -> None:
    known = dict.fromkeys(range(RANKS), 1.0)
    last = Content(streams=[MIXED[2], MIXED[0], MIXED[1]])
    assert sorted(of_last_streams(known, last, WRITE)) == [0, 1]
    assert of_last_streams(known, Content(streams=MIXED), WRITE) == known
    assert of_last_streams({3: 1.0}, last, WRITE) == {3: 1.0}  # whose ends are not known


@pytest.mark.parametrize("name", ["ior_hdf5_example", "vpic-fields-particles-hdf5-192-dxt"])
def test_last_writes_are_where_the_trace_has_them(name: str) -> None:
    """Judged by the trace, which was not used: to one per cent of the run."""
    log = open_log(find(name))
    found = characterize([log], CharacterizeOptions(use_trace=False))
    trace = log.dxt("DXT_MPIIO")
    assert trace is not None
    ranks = range(min(4, found.workload.ranks))
    true = max(
        float(trace.segments(row)[0]["start"].max())
        for row, rank in enumerate(trace.ranks.tolist())
        if rank in ranks and len(trace.segments(row)[0])
    )
    plan = resolve(found.workload, Options())
    made = max(call.start_s for rank in ranks for call in timeline(plan, rank) if call.call == "write")
    assert made == pytest.approx(true, abs=0.01 * found.workload.runtime)
