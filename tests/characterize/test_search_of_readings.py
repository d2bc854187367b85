"""Logs made of predicted counters: the workload that they came from, or one with the same counters, is found again."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from candidates_truth import found_of, one_family
from counted_logs import RANKS, log_of
from truths import both, found_again, workload

from workalike.characterize import CharacterizeOptions, characterize
from workalike.characterize.result import Characterization
from workalike.compare.lines import model_against_log
from workalike.compare.pairing import pair_up
from workalike.darshan import LogBuilder, open_log
from workalike.plan.resolve import Options, resolve
from workalike.workload import units
from workalike.workload.content import entry_texts
from workalike.workload.model import Lifetime, Pattern
from workalike.workload.words import AT_RANDOM


# Not as many passes as ranks: four ranks that each read all of it have the counters of four passes.
@pytest.mark.parametrize("passes", [2, 5, 7])
@pytest.mark.parametrize("directions", [("write", "read"), ("write",), ("read",)])
def test_passes_over_the_same_bytes(tmp_path: Path, passes: int, directions: tuple[str, ...]) -> None:
    truth = workload(both(dict.fromkeys(directions, "64 x 64 KiB"), passes=passes))
    found = found_again(truth, tmp_path)
    content = found.workload.families[0].content
    assert content is not None
    assert content.passes == passes
    assert all(facts.fitted for facts in found.families)


def test_written_in_one_pass_stays_one(tmp_path: Path) -> None:
    found = found_again(workload(both({"write": "64 x 64 KiB", "read": "64 x 64 KiB"})), tmp_path)
    assert all(c.passes == 1 for f in found.workload.families for c in f.all_contents())
    assert not any("fit better" in sentence for f in found.families for sentence in f.sentences())
    assert not any(facts.fitted for facts in found.families)


def test_a_file_that_each_open_begins_anew(tmp_path: Path) -> None:
    schedule = {"count": 6, "first": "1 s", "every": "1 s"}
    truth = workload(
        both({"write": "1 x 1000 B"}, opens=1),
        sharing={"mode": "root", "ranks": 0},
        lifetime="reused",
        schedule=schedule,
    )
    (family,) = found_again(truth, tmp_path).workload.families
    assert family.lifetime is Lifetime.REUSED
    assert family.schedule.dumps == 6


@pytest.mark.parametrize("dumps", [40, 1500])
def test_a_file_of_unequal_dumps_that_each_open_begins_anew(tmp_path: Path, dumps: int) -> None:
    """One dump is larger than the others, which tells how far the file reaches; no seek tells that it was rewritten."""
    small, large = ({"streams": [{"direction": "write", "sizes": [f"{n} x 16 B"]}]} for n in (71, 173))
    truth = workload(
        {},
        interface="stdio",
        sharing={"mode": "root", "ranks": 0},
        lifetime="reused",
        contents=[small, large],
        use=[int(dump == 5) for dump in range(dumps)],
        schedule={"count": dumps, "first": "1 s", "every": "10 ms"},
    )
    (family,) = found_again(truth, tmp_path).workload.families
    assert family.lifetime is Lifetime.REUSED
    assert family.schedule.dumps == dumps


def test_reads_and_writes_in_turn_at_each_place(tmp_path: Path) -> None:
    """Wave functions that are read, changed and written back band by band, and between these only read."""

    def streams(*directions: str) -> list[dict[str, object]]:
        return [
            {"direction": d, "sizes": ["1/rank x 10000 B"], "base": 10_000 * place}
            for place in range(5)
            for d in directions
        ]

    truth = workload(
        {},
        sharing="per-rank",
        lifetime="overwritten",
        contents=[
            {"streams": streams(*directions)} for directions in (["write"], ["read", "write"], ["read"])
        ],
        use=[0, *([1, 2, 2, 1, 2] * 4)],
        schedule={"count": 21, "first": "1 s", "every": "0.5 s"},
    )
    (family,) = found_again(truth, tmp_path).workload.families
    assert family.lifetime is Lifetime.OVERWRITTEN
    in_turn = [[stream.direction.value for stream in content.streams] for content in family.all_contents()]
    assert ["read", "write"] * 5 in in_turn


def test_runs_of_unequal_length_with_gaps(tmp_path: Path) -> None:
    """A history that grows and leaves records out, read back from its beginning at each open."""

    def dump(*runs: tuple[str, int, int]) -> dict[str, object]:
        return {
            "streams": [
                {"direction": d, "sizes": [f"{n}/rank x 10000 B"], "base": 10_000 * start}
                for d, start, n in runs
            ]
        }

    truth = workload(
        {},
        sharing="per-rank",
        lifetime="reused",
        contents=[
            dump(("write", 0, 3)),
            dump(("read", 0, 3), ("write", 0, 2), ("write", 4, 2), ("write", 0, 3)),
            dump(("read", 0, 6), ("write", 0, 2), ("write", 6, 2)),
        ],
        schedule={"count": 3, "first": "1 s", "every": "1 s"},
    )
    (family,) = found_again(truth, tmp_path).workload.families
    assert family.lifetime is Lifetime.REUSED
    assert family.schedule.dumps == 3


@pytest.mark.parametrize("pattern", ["interleaved", "contiguous"])
def test_patterns(tmp_path: Path, pattern: str) -> None:
    stream = {"direction": "write", "sizes": ["64 x 64 KiB"], "pattern": pattern}
    content = found_again(workload({"streams": [stream]}), tmp_path).workload.families[0].content
    assert content is not None
    assert content.streams[0].pattern == pattern


@pytest.mark.parametrize("pattern", ["random", "shuffled"])
@pytest.mark.parametrize("operations", [6, 24, 100])
@pytest.mark.parametrize("directions", [("write", "read"), ("write",)])
def test_random_order(tmp_path: Path, pattern: str, operations: int, directions: tuple[str, ...]) -> None:
    """In a region of its own, chance lets a rank come to the next place once, on average; over the whole file less."""
    streams = [
        {"direction": direction, "sizes": [f"{operations * RANKS} x 64 KiB"], "pattern": pattern}
        for direction in directions
    ]
    truth = workload({"streams": streams}, schedule={"count": 8, "first": "1 s", "every": "2 s"})
    (family,) = found_again(truth, tmp_path).workload.families
    found = {stream.pattern for content in family.all_contents() for stream in content.streams}
    assert found == {Pattern(pattern)}


def test_random_order_of_few_operations_stays_in_regions(tmp_path: Path) -> None:
    """Chance explains either reading."""
    streams = [{"direction": "write", "sizes": [f"{24 * RANKS} x 64 KiB"], "pattern": "shuffled"}]
    content = found_again(workload({"streams": streams}), tmp_path).workload.families[0].content
    assert content is not None
    assert [stream.pattern for stream in content.streams] == [Pattern.RANDOM]


def test_operations_that_all_go_forward_are_in_no_random_order(tmp_path: Path) -> None:
    """No reading has the gaps that headers leave between datasets, and one at random needs none; but it goes back, too."""
    header, gap = 2048, 2048
    streams: list[dict[str, object]] = [
        {"direction": "write", "sizes": ["2 x 96 B"], "ranks": "0", "base": 0},
        {"direction": "write", "sizes": ["2 x 544 B"], "ranks": "1-2", "base": 200},
    ]
    end = header
    for dataset in range(24):
        size = 65_536 if dataset < 16 else 32_768
        data = {"direction": "write", "sizes": [f"{RANKS} x {size} B"], "pattern": "interleaved"}
        streams.append({**data, "base": end})
        end += RANKS * size + (gap if dataset % 4 == 3 else 0)
    log = log_of(workload({"streams": streams}), tmp_path / "app.darshan")
    (family,) = characterize([open_log(log)]).workload.families
    (content,) = family.all_contents()
    assert content.streams[-1].pattern is Pattern.INTERLEAVED
    assert not {stream.pattern for stream in content.streams} & set(AT_RANDOM)


@pytest.mark.parametrize("directions", [("write", "read"), ("write",)])
@pytest.mark.parametrize("opens", [RANKS, 2 * RANKS + 3])
def test_several_pieces_in_each_call(tmp_path: Path, directions: tuple[str, ...], opens: int) -> None:
    """Through a strided view, each call of MPI-IO is several calls of POSIX; opens beyond those of all are one rank's."""
    streams = [
        {"direction": d, "sizes": ["8 x 128 KiB"], "pattern": "interleaved", "pieces": 32, "base": 0}
        for d in directions
    ]
    truth = workload({"streams": streams, "opens": opens}, interface="mpiio")
    found = found_again(truth, tmp_path)
    contents = [content for family in found.workload.families for content in family.all_contents()]
    assert {s.pieces for content in contents for s in content.streams} == {32}


def test_contiguous_calls_of_mpiio_stay_whole(tmp_path: Path) -> None:
    truth = workload({"streams": [{"direction": "write", "sizes": ["8 x 128 KiB"]}]}, interface="mpiio")
    content = found_again(truth, tmp_path).workload.families[0].content
    assert content is not None
    assert content.streams[0].pieces == 1


@pytest.mark.parametrize("gap", [100, 4096, 10_000])
@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("directions", [("write", "read"), ("write",)])
def test_operations_at_equal_distances(
    tmp_path: Path, gap: int, passes: int, directions: tuple[str, ...]
) -> None:
    size = 4096
    streams = [
        {
            "direction": d,
            "sizes": [f"16/rank x {size} B"],
            "pattern": "strided",
            "stride": size + gap,
            "base": 0,
        }
        for d in directions
    ]
    content = (
        found_again(workload({"streams": streams, "passes": passes}), tmp_path).workload.families[0].content
    )
    assert content is not None
    assert content.passes == passes
    assert {(s.pattern, s.stride) for s in content.streams} == {("strided", size + gap)}


def test_random_workloads_are_found_again(tmp_path: Path) -> None:
    """A sample of benchmarks/candidates_truth.py: whatever the truth is, its counters are found again."""
    off = {
        seed: found.misses
        for seed in range(60)
        if (found := found_of(one_family(random.Random(seed)), tmp_path)).misses
        or not (found.won or found.named)
    }
    assert not off


@pytest.mark.parametrize("rounds", [3, 5])
def test_a_file_written_and_read_back_in_rounds(tmp_path: Path, rounds: int) -> None:
    """Each dump and each load opens the file: neither is the other's second open."""
    contents = [{"streams": [{"direction": d, "sizes": ["64 x 64 KiB"]}]} for d in ("write", "read")]
    schedule = {"count": 2 * rounds, "every": "1 s", "duration": "1 s"}
    truth = workload({}, lifetime="reused", contents=contents, use=[0, 1] * rounds, schedule=schedule)
    found = found_again(truth, tmp_path)
    (facts,) = found.families
    assert (facts.family.lifetime, facts.family.schedule.dumps) == (Lifetime.REUSED, 2 * rounds)
    moved = [(dump.bytes_written, dump.bytes_read) for dump in facts.dumps]
    assert moved == [(64 * 65536, 0), (0, 64 * 65536)] * rounds


@pytest.mark.parametrize("directions", [("write",), ("write", "read")])
def test_files_that_their_ranks_open_for_each_dump(tmp_path: Path, directions: tuple[str, ...]) -> None:
    """A file for each rank, opened for each dump and each load, over the same bytes: no passes of one dump."""
    contents = [{"streams": [{"direction": d, "sizes": ["16/rank x 64 KiB"]}]} for d in directions]
    count = 3 * len(directions)
    schedule = {"count": count, "every": "1 s", "duration": "1 s"}
    use = [dump % len(directions) for dump in range(count)]
    many = {"contents": contents, "use": use} if len(contents) > 1 else {}
    truth = workload(
        {} if many else contents[0],
        interface="posix",
        sharing="per-rank",
        lifetime="reused",
        schedule=schedule,
        **many,
    )
    (facts,) = found_again(truth, tmp_path).families
    family = facts.family
    assert (family.sharing.mode, family.lifetime, family.schedule.dumps) == (
        "per-rank",
        Lifetime.REUSED,
        count,
    )
    assert all(content.passes == 1 for content in family.all_contents())


def test_a_file_that_one_rank_writes_anew_each_time_with_other_sizes(tmp_path: Path) -> None:
    """Nine states of two operations; the second differs by some bytes from state to state."""
    sizes = [4149, 4149, 4148, 4149, 4150, 4149, 4149, 4149, 4149]
    contents = [
        {"opens": 1, "streams": [{"direction": "write", "sizes": [f"1 x {size} B", "1 x 369 B"], "ranks": 0}]}
        for size in sizes
    ]
    schedule = {"count": len(sizes), "every": "1 s", "duration": "0.5 s"}
    sharing = {"mode": "root", "ranks": 0}
    truth = workload({}, lifetime="reused", sharing=sharing, contents=contents, schedule=schedule)
    found = found_again(truth, tmp_path)
    (facts,) = found.families
    assert facts.family.schedule.dumps == len(sizes)
    assert sum(dump.bytes_written for dump in facts.dumps) == sum(sizes) + 9 * 369
    assert all(4510 < dump.bytes_written < 4525 for dump in facts.dumps)


@pytest.mark.parametrize(
    ("first_close", "last_open", "starts", "durations", "computing"),
    [
        (1.5, 18.2, [1.0, 18.2], [0.5, 0.8], [0.3, 0.6]),  # the log has the first close and the last open
        # Not before the last open: neither says when a dump ends or begins.
        (18.2, 18.2, [1.0, 10.0], [9.0, 9.0], [8.8, 8.8]),
        (0.0, 0.0, [1.0, 10.0], [9.0, 9.0], [8.8, 8.8]),
    ],
)
def test_a_file_read_at_the_start_and_at_the_end(
    tmp_path: Path,
    first_close: float,
    last_open: float,
    starts: list[float],
    durations: list[float],
    computing: list[float],
) -> None:
    log = LogBuilder(nprocs=1, run_time=20.0)
    log.posix(
        "/data/run/input", 0, OPENS=2, READS=8, BYTES_READ=8 * 65536, MAX_BYTE_READ=4 * 65536 - 1,
        SEQ_READS=6, CONSEC_READS=6, SIZE_READ_10K_100K=8, ACCESS1_ACCESS=65536, ACCESS1_COUNT=8,
        FILE_ALIGNMENT=4096, F_OPEN_START_TIMESTAMP=1.0, F_OPEN_END_TIMESTAMP=last_open,
        F_READ_START_TIMESTAMP=1.1, F_READ_END_TIMESTAMP=18.9, F_READ_TIME=0.4,
        F_CLOSE_START_TIMESTAMP=first_close, F_CLOSE_END_TIMESTAMP=19.0,
    )  # fmt: skip
    log.write(tmp_path / "app.darshan")
    (family,) = characterize([open_log(tmp_path / "app.darshan")]).workload.families
    assert (family.lifetime, family.schedule.starts()) == (Lifetime.REUSED, starts)
    lengths = [end - start for start, end in zip(starts, family.schedule.ends(), strict=True)]
    assert lengths == pytest.approx(durations)
    assert family.schedule.compute_times() == pytest.approx(computing)


@pytest.mark.parametrize("opened", [1, 5], ids=["held open", "opened anew"])
def test_a_file_that_is_overwritten(tmp_path: Path, opened: int) -> None:
    """Five states of the same bytes; how often the file was opened tells whether it stayed open."""
    log = LogBuilder(nprocs=RANKS, run_time=20.0)
    log.posix(
        "/data/run/state", 0, OPENS=opened, WRITES=20, BYTES_WRITTEN=20 * 65536, MAX_BYTE_WRITTEN=4 * 65536 - 1,
        SEQ_WRITES=15, CONSEC_WRITES=15, SIZE_WRITE_10K_100K=20, ACCESS1_ACCESS=65536, ACCESS1_COUNT=20,
        FILE_ALIGNMENT=4096, F_OPEN_START_TIMESTAMP=1.0, F_WRITE_START_TIMESTAMP=1.1,
        F_WRITE_END_TIMESTAMP=18.0, F_CLOSE_END_TIMESTAMP=19.0, F_WRITE_TIME=0.5,
    )  # fmt: skip
    log.write(tmp_path / "app.darshan")
    found = characterize([open_log(tmp_path / "app.darshan")], CharacterizeOptions(states=5))
    family = found.workload.families[0]
    expected = Lifetime.OVERWRITTEN if opened == 1 else Lifetime.REUSED
    assert (family.lifetime, family.schedule.dumps) == (expected, 5)
    assert all(row.agrees for row in model_against_log(pair_up(found, None)))
    plan = resolve(found.workload, Options())
    assert {(dump.file, dump.base) for dump in plan.dumps} == {(0, 0)}
    assert plan.families[0].lifetime is (Lifetime.APPENDED if opened == 1 else Lifetime.REUSED)


@pytest.mark.parametrize(
    "sizes", [["2 x 1000 B", "1 x 300 B", "7 x 0 B"], ["1 x 8191 B", "1 x 2337 B", "1 x 0 B"]]
)
def test_reads_that_reach_the_end_come_last(tmp_path: Path, sizes: list[str]) -> None:
    truth = workload(
        {"streams": [{"direction": "read", "sizes": sizes}]},
        sharing={"mode": "root", "ranks": 0},
        role="input",
    )
    content = found_again(truth, tmp_path).workload.families[0].content
    assert content is not None
    assert [entry.size for entry in content.streams[0].sizes] == [
        units.parse_entry(text)[2].start for text in sizes
    ]


ROOT_READS = {"sharing": {"mode": "root", "ranks": 0}, "role": "input"}


def test_sizes_in_turn(tmp_path: Path) -> None:
    """Each variable ends with a shorter read, as the alignment of the reads shows."""
    stream = {"direction": "read", "sizes": ["128 x 4 MiB", "16 x 2445568 B"], "mixed": True}
    content = (
        found_again(workload({"streams": [stream]}, **ROOT_READS), tmp_path).workload.families[0].content
    )
    assert content is not None
    assert content.streams[0].mixed


@pytest.mark.parametrize("sizes", [["11 x 64 KiB", "1 x 3255 B"], ["1 x 4 KiB", "1 x 26662 B"]])
def test_sizes_in_the_order_that_their_alignment_shows(sizes: list[str], tmp_path: Path) -> None:
    """Whole blocks and then the rest of the data; a block of header, and then the data."""
    stream = {"direction": "write", "sizes": sizes}
    sharing = {"mode": "root", "ranks": 0}
    content = (
        found_again(workload({"streams": [stream]}, sharing=sharing), tmp_path).workload.families[0].content
    )
    assert content is not None
    assert entry_texts(content.streams[0].sizes) == sizes


def test_a_file_that_is_read_again_in_part(tmp_path: Path) -> None:
    """Two and a half times: the last pass ends where the first one went on."""
    streams = [{"direction": "read", "sizes": [f"{n} x 8 KiB", "1 x 500 B"], "base": 0} for n in (8, 8, 4)]
    found = found_again(workload({"streams": streams}, **ROOT_READS), tmp_path)
    assert max(dump.bytes_read for dump in found.families[0].dumps) == 20 * 8192 + 1500


def test_reads_at_the_end_of_a_file(tmp_path: Path) -> None:
    streams = [
        {"direction": "write", "sizes": ["100 x 4 KiB"]},
        {"direction": "read", "sizes": ["2 x 4 KiB"], "base": 98 * 4096},
    ]
    truth = workload({"streams": streams}, sharing={"mode": "root", "ranks": 0})
    content = found_again(truth, tmp_path).workload.families[0].content
    assert content is not None
    assert [stream.base for stream in content.streams if stream.direction == "read"] == [98 * 4096]


def test_seeks_that_the_operations_need_are_not_stated_again(tmp_path: Path) -> None:
    """Stated seeks are spread over the operations; those at the end are needed for reads elsewhere."""
    numbers = {"write": 100, "read": 10}
    streams = [{"direction": d, "sizes": [f"{n} x 4 KiB"], "base": 0} for d, n in numbers.items()]
    streams.append({"direction": "read", "sizes": ["4 x 4 KiB"], "base": 0})
    sharing = {"mode": "root", "ranks": 0}
    found_again(workload({"streams": streams, "seeks": 3}, interface="stdio", sharing=sharing), tmp_path)


def test_a_file_that_each_dump_opens_to_append_to_it(tmp_path: Path) -> None:
    schedule = {"count": 6, "first": "1 s", "every": "1 s"}
    content = both({"write": "1 x 265 B"}, opens=1)
    sharing = {"mode": "root", "ranks": 0}
    truth = workload(content, sharing=sharing, lifetime="appended", schedule=schedule, role="output")
    options = CharacterizeOptions(states=3)
    found = characterize([open_log(log_of(truth, tmp_path / "app.darshan"))], options)
    (family,) = found.workload.families
    assert all(row.agrees for row in model_against_log(pair_up(found, None)))
    assert (family.lifetime, family.schedule.dumps) == (Lifetime.APPENDED, 6)
    assert [family.content_of(dump).opens for dump in range(6)] == [1] * 6


def counted_once(tmp_path: Path, rank: int, states: int | None = None, **counters: float) -> Characterization:
    """What is found in a log with one file, which is open from 1 to 19 s; operations have 64 KiB."""
    size, writes, reads = 65536, int(counters["WRITES"]), int(counters.get("READS", 0))
    log = LogBuilder(nprocs=RANKS, run_time=20.0)
    log.posix(
        "/data/run/state", rank, BYTES_WRITTEN=writes * size, SIZE_WRITE_10K_100K=writes, BYTES_READ=reads * size,
        SIZE_READ_10K_100K=reads, ACCESS1_ACCESS=size, ACCESS1_COUNT=writes + reads, FILE_ALIGNMENT=4096,
        F_OPEN_START_TIMESTAMP=1.0, F_WRITE_START_TIMESTAMP=1.1, F_WRITE_END_TIMESTAMP=18.0,
        F_CLOSE_END_TIMESTAMP=19.0, F_WRITE_TIME=0.5, **counters,
    )  # fmt: skip
    log.write(tmp_path / "app.darshan")
    return characterize([open_log(tmp_path / "app.darshan")], CharacterizeOptions(states=states))


def test_a_shared_file_that_is_overwritten(tmp_path: Path) -> None:
    """Each rank opens it once and writes its operations of each of five states between those of the others."""
    found = counted_once(
        tmp_path, -1, states=5, OPENS=RANKS, WRITES=20 * RANKS, MAX_BYTE_WRITTEN=4 * RANKS * 65536 - 1,
        SEQ_WRITES=15 * RANKS, STRIDE1_STRIDE=(RANKS - 1) * 65536, STRIDE1_COUNT=15 * RANKS,
    )  # fmt: skip
    (family,) = found.workload.families
    assert (family.lifetime, family.schedule.dumps) == (Lifetime.OVERWRITTEN, 5)
    assert all(row.agrees for row in model_against_log(pair_up(found, None)))


def test_the_first_of_two_unequal_states_reaches_the_end(tmp_path: Path) -> None:
    """A file is written whole, and at the second open in part."""
    found = counted_once(
        tmp_path, 0, OPENS=2, WRITES=8, MAX_BYTE_WRITTEN=5 * 65536 - 1, SEQ_WRITES=6, CONSEC_WRITES=6,
        READS=5, MAX_BYTE_READ=5 * 65536 - 1, SEQ_READS=4, CONSEC_READS=4, RW_SWITCHES=1,
        F_READ_START_TIMESTAMP=1.05, F_READ_END_TIMESTAMP=5.0, F_READ_TIME=0.1,
    )  # fmt: skip
    (family,) = found.workload.families
    written = [
        sum(
            entry.count
            for stream in family.content_of(k).streams
            if stream.direction.value == "write"
            for entry in stream.sizes
        )
        for k in range(family.schedule.dumps)
    ]
    assert written == [5, 3]
    assert all(row.agrees for row in model_against_log(pair_up(found, None)))
