"""A log as a side of the comparison: whose files, at which level, and which counters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compare_builders import MIB, family, file_facts, module_facts, posix_file

from workalike.characterize import characterize
from workalike.characterize.grouping.events import opens_of
from workalike.characterize.result import Characterization, DumpFacts, FamilyFacts
from workalike.compare.families import key_of_name
from workalike.compare.from_log import counters_of, instrument_of, side_of_log
from workalike.compare.side import Side
from workalike.darshan import LogBuilder, open_log
from workalike.facts.records import FileFacts
from workalike.workload.model import Family, Level, Role, Workload

CHECKPOINT, RESTART = (Role.CHECKPOINT, 1), (Role.RESTART, 1)
OURS = "/data/{}.0badcafe.dat"


def log_of(*families: tuple[Family, list[DumpFacts]]) -> Characterization:
    workload = Workload(ranks=4, runtime=60.0, families=[f for f, _ in families])
    return Characterization(workload, [FamilyFacts(f, dumps) for f, dumps in families], [])


def timed(file: FileFacts, opened: float, closed: float) -> FileFacts:
    """The file with the times of its POSIX record."""
    facts = file.modules["POSIX"]
    facts.fcounters[:, facts.fcounter_names.index("F_OPEN_START_TIMESTAMP")] = opened
    facts.fcounters[:, facts.fcounter_names.index("F_CLOSE_END_TIMESTAMP")] = closed
    return file


def dumps_of(side: Side, key: tuple[Role, int] = CHECKPOINT) -> list[tuple[int, int, float, float]]:
    return [(d.bytes_written, d.bytes_read, d.start_s, d.end_s) for d in side.families[key].dumps]


def test_files_of_two_families_in_one_dump_are_told_apart() -> None:
    """Read or written at one time, a log alone takes them for one dump; ours bear their family's number."""
    files = [
        timed(posix_file(OURS.format("checkpoint-1.0000"), writes=8, size=MIB), 10.5, 11.0),
        posix_file(OURS.format("checkpoint-2.0000"), writes=4, size=MIB),
    ]
    log = log_of((family(1), [DumpFacts(12 * MIB, 0, 10.0, 12.0, 2.0, files)]))
    side = side_of_log(log, by_name=True)
    assert dumps_of(side) == [(8 * MIB, 0, 10.5, 11.0)]
    assert dumps_of(side, (Role.CHECKPOINT, 2)) == [(4 * MIB, 0, 10.0, 12.0)]  # without times: the dump's
    assert [side.families[Role.CHECKPOINT, n].dumps[0].open_s for n in (1, 2)] == [0.5, 2.0]
    counters = {key: found.modules["POSIX"]["WRITES"] for key, found in side.families.items()}
    assert counters == {(Role.CHECKPOINT, 1): 8, (Role.CHECKPOINT, 2): 4}
    (whole,) = side_of_log(log).families.values()  # the original's names say nothing
    assert dumps_of(side_of_log(log)) == [(12 * MIB, 0, 10.0, 12.0)]
    assert whole.modules["POSIX"]["WRITES"] == 12


def test_a_share_of_a_dump_moves_in_the_dump_s_direction() -> None:
    """What a library reads while it writes belongs to no dump."""
    files = [
        posix_file(OURS.format(f"checkpoint-{n}.0000"), writes=8, size=MIB, BYTES_READ=77) for n in (1, 2)
    ]
    written = log_of((family(1), [DumpFacts(16 * MIB, 0, 10.0, 12.0, 2.0, files)]))
    assert dumps_of(side_of_log(written, by_name=True)) == [(8 * MIB, 0, 10.0, 12.0)]
    read = log_of((family(1), [DumpFacts(0, 2 * 77, 10.0, 12.0, 2.0, files)]))
    assert dumps_of(side_of_log(read, by_name=True)) == [(0, 77, 10.0, 12.0)]


def test_our_dumps_are_in_the_order_of_time() -> None:
    files = [posix_file(OURS.format(f"checkpoint-1.{i:04d}"), writes=i + 1, size=MIB) for i in range(2)]
    late = DumpFacts(MIB, 0, 30.0, 31.0, 1.0, files[:1])
    early = DumpFacts(2 * MIB, 0, 20.0, 21.0, 1.0, files[1:])
    log = log_of((family(2), [late, early]))
    assert [d.start_s for d in side_of_log(log, by_name=True).families[CHECKPOINT].dumps] == [20.0, 30.0]
    assert [d.start_s for d in side_of_log(log).families[CHECKPOINT].dumps] == [30.0, 20.0]


def test_names_of_our_files() -> None:
    assert key_of_name(OURS.format("checkpoint-12.0000")) == (Role.CHECKPOINT, 12)
    assert key_of_name("/data/checkpoint.dat") is None


def two_levels(name: str = "a") -> FileFacts:
    mpiio = module_facts("MPI-IO", {-1: {"COLL_WRITES": 8, "BYTES_WRITTEN": 8 * MIB, "BYTES_READ": 3}})
    posix = module_facts("POSIX", {0: {"WRITES": 9, "BYTES_WRITTEN": 9 * MIB, "BYTES_READ": 5}})
    return file_facts(name, mpiio, posix)


@pytest.mark.parametrize(
    ("levels", "level", "written", "read"),
    [
        ({}, Level.MPIIO, 8 * MIB, 0),
        ({CHECKPOINT: Level.MPIIO}, Level.MPIIO, 8 * MIB, 0),
        ({CHECKPOINT: Level.POSIX}, Level.POSIX, 9 * MIB, 5),
        ({CHECKPOINT: Level.H5D}, Level.MPIIO, 8 * MIB, 0),  # the files have no such records
        ({RESTART: Level.POSIX}, Level.MPIIO, 8 * MIB, 0),
    ],
)
def test_level_is_as_asked_where_files_have_it(
    levels: dict[tuple[Role, int], Level], level: Level, written: int, read: int
) -> None:
    log = log_of((family(1, level=Level.MPIIO), [DumpFacts(8 * MIB, 0, 10.0, 12.0, 2.0, [two_levels()])]))
    side = side_of_log(log, levels=levels)
    assert side.families[CHECKPOINT].level is level
    assert dumps_of(side) == [(written, read, 10.0, 12.0)]
    assert side.families[CHECKPOINT].dumps[0].open_s == 2.0


def test_level_is_the_log_s_where_a_file_holds_several_dumps_or_lacks_it() -> None:
    file = two_levels()
    dumps = [DumpFacts(4 * MIB, 0, 10.0 * i, 10.0 * i + 1, 1.0, [file]) for i in (1, 2)]
    wanted = {CHECKPOINT: Level.POSIX}
    several = side_of_log(log_of((family(2, level=Level.MPIIO), dumps)), levels=wanted)
    assert several.families[CHECKPOINT].level is Level.MPIIO
    lacking = file_facts("b", module_facts("MPI-IO", {-1: {"BYTES_WRITTEN": 1}}))
    dump = DumpFacts(8 * MIB, 0, 10.0, 12.0, 2.0, [file, lacking])
    mixed = side_of_log(log_of((family(1, level=Level.MPIIO), [dump])), levels=wanted)
    assert mixed.families[CHECKPOINT].level is Level.MPIIO


def test_counters_of_a_file_in_two_families_go_to_the_one_that_moves() -> None:
    file = posix_file("a", writes=32, size=MIB, READS=8, BYTES_READ=8 * MIB, STATS=3)
    log = log_of(
        (family(1, role=Role.RESTART), [DumpFacts(0, 8 * MIB, 20, 22, None, [file])]),
        (family(1), [DumpFacts(32 * MIB, 0, 10, 12, None, [file])]),
    )
    side = side_of_log(log)
    read, written = (side.families[key].modules["POSIX"] for key in (RESTART, CHECKPOINT))
    assert (read["READS"], read["STATS"], "WRITES" in read) == (8, 3, False)
    assert (written["WRITES"], "READS" in written, "STATS" in written) == (32, False, False)


def test_a_direction_that_no_family_moves_goes_to_the_first() -> None:
    file = posix_file("a", writes=32, size=MIB, READS=8)
    log = log_of(
        (family(1), [DumpFacts(32 * MIB, 0, 10, 12, None, [file])]),
        (family(1, role=Role.RESTART), [DumpFacts(32 * MIB, 0, 20, 22, None, [file])]),
    )
    side = side_of_log(log)
    assert side.families[CHECKPOINT].modules["POSIX"]["READS"] == 8
    assert "READS" not in side.families[RESTART].modules["POSIX"]


def test_a_file_of_several_dumps_is_counted_once_and_several_files_are_added() -> None:
    first, second = (posix_file(name, writes=n, size=MIB) for name, n in (("a", 8), ("b", 4)))
    dumps = [DumpFacts(MIB, 0, 10, 12, None, [first]), DumpFacts(MIB, 0, 20, 22, None, [first, second])]
    counters = side_of_log(log_of((family(2), dumps))).families[CHECKPOINT].modules["POSIX"]
    assert counters["WRITES"] == 12
    assert counters["MAX_BYTE_WRITTEN"] == 8 * MIB - 1
    sums = side_of_log(
        log_of((family(1, level=Level.MPIIO), [DumpFacts(MIB, 0, 1, 2, None, [two_levels()])]))
    )
    assert sums.families[CHECKPOINT].modules["MPI-IO"]["INDEP_WRITES+COLL_WRITES+SPLIT_WRITES+NB_WRITES"] == 8


def test_records_are_summed_exactly_and_the_largest_byte_is_kept() -> None:
    facts = module_facts(
        "POSIX", {0: {"WRITES": 2, "MAX_BYTE_READ": 7}, 1: {"WRITES": 3, "MAX_BYTE_READ": 5}}
    )
    counters, missing = counters_of(facts)
    assert (counters["WRITES"], counters["MAX_BYTE_READ"], missing) == (5, 7, [])
    huge = module_facts("POSIX", {r: {"BYTES_WRITTEN": 2**62} for r in range(4)})
    assert counters_of(huge)[0]["BYTES_WRITTEN"] == 2**64


def test_what_no_record_measured_is_named() -> None:
    facts = module_facts(
        "POSIX", {0: {"FSYNCS": -1, "SEEKS": -1, "WRITES": 1}, 1: {"FSYNCS": -1, "SEEKS": 4}}
    )
    counters, missing = counters_of(facts)
    assert (counters["FSYNCS"], counters["SEEKS"], missing) == (0, 4, ["FSYNCS"])
    none = module_facts("POSIX", {})
    assert counters_of(none)[1] == []
    assert not any(counters_of(none)[0].values())
    file = file_facts("a", facts)
    side = side_of_log(log_of((family(1), [DumpFacts(MIB, 0, 1, 2, None, [file])])))
    assert side.unmeasured == {("POSIX", "FSYNCS")}
    assert np.array_equal(facts.ranks, [0, 1])


def test_who_wrote_the_log(tmp_path: Path) -> None:
    for version, name in (("3.4.1", "darshan"), ("workalike 1.2", "workalike")):
        builder = LogBuilder(nprocs=1)
        builder.job.metadata["lib_ver"] = version
        log = log_of((family(1), []))
        log.logs.append(open_log(builder.write(tmp_path / "job.darshan")))
        assert instrument_of(log) == name
    assert instrument_of(log_of((family(1), []))) == "darshan"


@pytest.mark.parametrize(
    ("module", "counters", "opens"),
    [
        ("POSIX", {"OPENS": 12, "FILENOS": 4, "DUPS": 4}, 4),
        ("POSIX", {"OPENS": 12, "FILENOS": -1, "DUPS": -1}, 12),  # a version that does not count them
        ("POSIX", {"OPENS": 40, "FILENOS": 40}, 4),  # of C++ streams: one of each rank
        ("POSIX", {"OPENS": 3, "FILENOS": 4}, 3),
        ("STDIO", {"OPENS": 12, "FDOPENS": 4}, 8),
        ("STDIO", {"OPENS": 4, "FDOPENS": 4}, 4),  # of descriptors that nobody was seen to open
    ],
)
def test_opens_are_those_of_the_workload(module: str, counters: dict[str, int], opens: int) -> None:
    """Darshan adds fileno, dup and fdopen to them; characterize and compare leave them out alike."""
    level = Level(module.lower())
    file = file_facts(
        "/run/x", module_facts(module, {-1: {"WRITES": 8, "BYTES_WRITTEN": 8 * MIB, **counters}})
    )
    assert opens_of(file, level) == opens
    checkpoints = family(1, level=level)
    facts = FamilyFacts(checkpoints, [DumpFacts(8 * MIB, 0, 10.0, 12.0, 2.0, [file])])
    side = side_of_log(Characterization(Workload(ranks=4, runtime=60.0, families=[checkpoints]), [facts], []))
    assert side.families[Role.CHECKPOINT, 1].modules[module]["OPENS"] == opens


@pytest.mark.parametrize(("filenos", "opened", "meta"), [(1, 0.0, 0.33), (0, 0.0, 0.03), (1, 2.0, 0.03)])
def test_a_stream_s_open_counts_where_its_descriptor_moves_the_data(
    tmp_path: Path, filenos: int, opened: float, meta: float
) -> None:
    """`fileno` gives POSIX a descriptor that fopen has opened; a file that POSIX has opened, too, has its own time."""
    log = LogBuilder(nprocs=1, run_time=10.0)
    log.posix(
        "/run/out.vtk", 0, OPENS=1, FILENOS=filenos, WRITES=4, BYTES_WRITTEN=4 * MIB, MAX_BYTE_WRITTEN=4 * MIB - 1,
        CONSEC_WRITES=3, SEQ_WRITES=3, SIZE_WRITE_1M_4M=4, ACCESS1_ACCESS=MIB, ACCESS1_COUNT=4, MODE=0o644,
        F_OPEN_START_TIMESTAMP=opened, F_OPEN_END_TIMESTAMP=opened, F_WRITE_START_TIMESTAMP=3.0,
        F_WRITE_END_TIMESTAMP=4.0, F_CLOSE_START_TIMESTAMP=4.0, F_CLOSE_END_TIMESTAMP=4.1, F_WRITE_TIME=0.5,
        F_META_TIME=0.03,
    )  # fmt: skip
    log.stdio("/run/out.vtk", 0, OPENS=1, F_META_TIME=0.3)
    side = side_of_log(characterize([open_log(log.write(tmp_path / "x.darshan"))]))
    (found,) = side.families.values()
    assert found.timers["POSIX"] == pytest.approx({"READ": 0.0, "WRITE": 0.5, "META": meta})
