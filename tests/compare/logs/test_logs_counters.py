"""What of two logs is compared: every counter but those of times, ranks and the environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from logs_compared import builder, compared, rows, with_writes

from workalike.compare.logs.counters import ENVIRONMENT, MODULES, REASONS, Use, use_of
from workalike.darshan import LogBuilder, layouts

OUR_CAPTURE = {"lib_ver": "workalike-1.0"}


def test_every_counter_has_a_use() -> None:
    uses = {
        (module, name): use_of(module, name)
        for module in MODULES
        for name in layouts.FIXED[module].current.counters
    }
    left_out = {name for (_, name), use in uses.items() if use is Use.LEFT_OUT}
    assert left_out == set(REASONS)
    assert {name for (_, name), use in uses.items() if use is Use.ENVIRONMENT} == set(ENVIRONMENT)
    assert uses["MPI-IO", "MODE"] is Use.EXACT
    tables = {name for (module, name), use in uses.items() if module == "H5D" and use is Use.TABLE}
    assert len(tables) == 4 * 12


def test_a_log_is_equal_to_itself(tmp_path: Path) -> None:
    log = with_writes(builder(), "/data/out", 10).write(tmp_path / "app.darshan")
    found = compared(tmp_path, log, log)
    assert found.word == "equal"
    # 8 counters and 1 size of the file, that one rank has it; ranks, logs and POSIX of the job.
    assert found.headline == "Equal: all 12 counters of 1 file."
    assert not found.compared.changes and not found.notes


def test_times_ranks_and_slowest_calls_are_not_compared(tmp_path: Path) -> None:
    first = with_writes(builder(), "/data/out", 10)
    second = builder().posix(
        "/data/out",
        3,
        OPENS=1,
        WRITES=10,
        BYTES_WRITTEN=1000,
        MAX_BYTE_WRITTEN=999,
        SEQ_WRITES=9,
        CONSEC_WRITES=9,
        SIZE_WRITE_0_100=10,
        ACCESS1_ACCESS=100,
        ACCESS1_COUNT=10,
        MAX_WRITE_TIME_SIZE=100,
        SLOWEST_RANK=3,
        SLOWEST_RANK_BYTES=1000,
        F_OPEN_START_TIMESTAMP=7.0,
        F_WRITE_TIME=3.0,
    )
    assert compared(tmp_path, first, second).word == "equal"


@pytest.mark.parametrize(("writes", "word"), [(100, "equal"), (105, "alike"), (106, "changed")])
def test_five_per_cent_of_the_larger_value_are_alike(tmp_path: Path, writes: int, word: str) -> None:
    found = compared(
        tmp_path, with_writes(builder(), "/data/out", 100), with_writes(builder(), "/data/out", writes)
    )
    assert found.word == word
    if word == "alike":
        assert found.headline.startswith("Alike: 7 of 12 counters of 1 file differ, by at most 4.8 % (POSIX ")
        assert found.compared.within and not found.compared.changes
    if word == "changed":
        assert ("out", "WRITES", 100, 106) in rows(found.compared.changes)
        assert {total.counter: total.changed for total in found.compared.by_counter}["WRITES"] == 1


def test_records_of_ranks_are_compared_with_a_reduced_one_by_their_sums(tmp_path: Path) -> None:
    each = builder()
    for rank in range(4):
        each.posix("/data/out", rank, OPENS=1, WRITES=5, BYTES_WRITTEN=500, MAX_BYTE_WRITTEN=100 * rank)
    reduced = builder().posix("/data/out", OPENS=4, WRITES=20, BYTES_WRITTEN=2000, MAX_BYTE_WRITTEN=300)
    assert compared(tmp_path, each, reduced).word == "equal"
    fewer = builder().posix("/data/out", 0, OPENS=4, WRITES=20, BYTES_WRITTEN=2000, MAX_BYTE_WRITTEN=300)
    assert rows(compared(tmp_path, reduced, fewer).compared.changes) == {("out", "RANKS", 4, 1)}


def test_common_sizes_are_compared_as_pairs_in_any_order(tmp_path: Path) -> None:
    first = builder().posix(
        "/d/f", 0, WRITES=9, ACCESS1_ACCESS=10, ACCESS1_COUNT=5, ACCESS2_ACCESS=20, ACCESS2_COUNT=4
    )
    second = builder().posix(
        "/d/f", 0, WRITES=9, ACCESS1_ACCESS=20, ACCESS1_COUNT=4, ACCESS2_ACCESS=10, ACCESS2_COUNT=5
    )
    assert compared(tmp_path, first, second).word == "equal"
    other = builder().posix(
        "/d/f", 0, WRITES=9, ACCESS1_ACCESS=30, ACCESS1_COUNT=4, ACCESS2_ACCESS=10, ACCESS2_COUNT=5
    )
    changes = compared(tmp_path, first, other).compared.changes
    assert {(c.counter, tuple(c.value or ()), c.before, c.now) for c in changes} == {
        ("ACCESS", (20,), 4, 0),
        ("ACCESS", (30,), 0, 4),
    }


def test_a_full_table_says_of_other_values_only_that_they_are_rarer(tmp_path: Path) -> None:
    """Each of five sizes occurs as often; which four a record keeps depends on nothing."""

    def log(*sizes: int) -> LogBuilder:
        pairs: dict[str, float] = {}
        for place, size in enumerate(sizes, 1):
            pairs |= {f"ACCESS{place}_ACCESS": size, f"ACCESS{place}_COUNT": 7}
        return builder().posix("/d/f", 0, WRITES=35, **pairs)

    assert compared(tmp_path, log(1, 2, 3, 4), log(5, 3, 2, 1)).word == "equal"
    assert compared(tmp_path, log(1, 2, 3), log(5, 3, 2)).word == "changed"


def test_the_environment_is_a_note(tmp_path: Path) -> None:
    first = builder().posix("/d/f", 0, OPENS=1, MODE=0o644, FILE_ALIGNMENT=4096, FILE_NOT_ALIGNED=7)
    second = builder(mounts=(("lustre", "/"),)).posix(
        "/d/f", 0, OPENS=1, MODE=0o664, FILE_ALIGNMENT=1 << 20, FILE_NOT_ALIGNED=9
    )
    found = compared(tmp_path, first, second)
    assert found.word == "equal"
    notes = "\n".join(found.notes)
    assert (
        "POSIX FILE_ALIGNMENT (the block size of the file system) differs for 1 file: 4,096 and 1,048,576"
        in notes
    )
    assert "FILE_NOT_ALIGNED is not compared there" in notes
    assert "not in all logs are file systems of type ext4, lustre" in notes
    third = builder().posix("/d/f", 0, OPENS=1, FILE_ALIGNMENT=4096, FILE_NOT_ALIGNED=9)
    assert rows(compared(tmp_path, first, third).compared.changes) == {("f", "FILE_NOT_ALIGNED", 7, 9)}


def test_stats_are_compared_where_both_instruments_see_them(tmp_path: Path) -> None:
    darshan = builder().posix("/d/f", 0, OPENS=1, STATS=0)
    ours = builder(metadata=OUR_CAPTURE).posix("/d/f", 0, OPENS=1, STATS=3)
    more = builder(metadata=OUR_CAPTURE).posix("/d/f", 0, OPENS=1, STATS=4)
    found = compared(tmp_path, darshan, ours)
    assert found.word == "equal" and "STATS is not compared" in found.notes[0]
    assert rows(compared(tmp_path, ours, more).compared.changes) == {("f", "STATS", 3, 4)}


def test_what_a_log_did_not_measure_is_not_compared(tmp_path: Path) -> None:
    first = builder().posix("/d/f", 0, OPENS=1, DUPS=-1)
    second = builder().posix("/d/f", 0, OPENS=1, DUPS=5)
    found = compared(tmp_path, first, second)
    assert found.word == "equal"
    assert found.notes == ["not measured in all logs, so not compared: POSIX DUPS"]


@pytest.mark.parametrize("unknown", [-1, -7, 2**63 - 1])
def test_a_counter_that_one_log_alone_knows_of_a_file_is_a_change(tmp_path: Path, unknown: int) -> None:
    """Every instrument counts reads: a log that does not tell them is not the same."""
    first = builder().posix("/d/f", 0, OPENS=1, READS=5).posix("/d/g", 0, OPENS=1, DUPS=1)
    second = builder().posix("/d/f", 0, OPENS=1, READS=unknown).posix("/d/g", 0, OPENS=1, DUPS=1)
    assert rows(compared(tmp_path, first, second).compared.changes) == {("f", "READS", 5, 0)}
    third = builder().posix("/d/f", 0, OPENS=1, READS=5, DUPS=3).posix("/d/g", 0, OPENS=1, DUPS=-1)
    assert ("g", "DUPS", 1, 0) in rows(compared(tmp_path, first, third).compared.changes)


def test_folders_of_a_program_s_modules_are_compared_beyond_what_a_loader_asks(tmp_path: Path) -> None:
    first, second = (builder().posix("/d/code/a.py", 0, OPENS=1, READS=1, BYTES_READ=9) for _ in range(2))
    second.posix("/d/code", 0, STATS=100_000)
    found = compared(tmp_path, first, second)
    assert found.word == "changed" and found.compared.files_more == 1


def test_ranks_modules_and_partial_modules_are_compared(tmp_path: Path) -> None:
    first = builder(4).posix("/d/f", 0, OPENS=1)
    second = builder(3).posix("/d/f", 0, OPENS=1).mpiio("/d/f", 0, INDEP_OPENS=1).partial("POSIX")
    found = compared(tmp_path, first, second)
    job = {
        change.counter: (change.before, change.now)
        for change in found.compared.changes
        if change.kind == "job"
    }
    assert job == {"RANKS": (4, 3), "MPI-IO present": (0, 1), "POSIX partial": (0, 1)}
    assert found.partial_modules == ["POSIX"]
    assert any("POSIX is partial" in note for note in found.notes)


def test_datasets_are_compared_by_file(tmp_path: Path) -> None:
    def log(chunk: int, count: int = 2, ranks: int = 1) -> LogBuilder:
        made = builder().h5f("/d/f.h5", OPENS=4, USE_MPIIO=1)
        for number in range(count):
            for rank in range(ranks):
                made.h5d(f"/d/f.h5:{number}", rank, file="/d/f.h5", WRITES=4 // ranks, CHUNK_SIZE_D1=chunk)
        return made

    assert compared(tmp_path, log(64), log(64)).word == "equal"
    assert rows(compared(tmp_path, log(64), log(128)).compared.changes) == {
        ("f.h5", "CHUNK_SIZE_D1", 128, 256)
    }
    spread = rows(compared(tmp_path, log(64), log(64, ranks=2)).compared.changes)
    assert spread == {("f.h5", "RANKS", 1, 2)}
    assert ("f.h5", "DATASETS", 2, 3) in rows(compared(tmp_path, log(64), log(64, 3)).compared.changes)


def test_layouts_are_compared_where_both_are_known(tmp_path: Path) -> None:
    def log(size: int) -> LogBuilder:
        return builder().posix("/d/f", 0, OPENS=1).lustre("/d/f", stripe_size=size)

    found = compared(tmp_path, log(1 << 20), log(4 << 20))
    assert rows(found.compared.changes) == {("f", "STRIPE_SIZE", 1 << 20, 4 << 20)}
    assert compared(tmp_path, log(1 << 20), builder().posix("/d/f", 0, OPENS=1)).word == "equal"


def test_traces_are_compared_by_numbers_and_bytes(tmp_path: Path) -> None:
    def log(*lengths: int) -> LogBuilder:
        made = with_writes(builder(), "/d/f", 3)
        return made.dxt_posix("/d/f", writes=[(0, length, 1.0, 2.0) for length in lengths])

    found = compared(tmp_path, log(10, 20, 30), log(10, 20, 90))
    assert rows(found.compared.changes) == {("f", "SEGMENT_BYTES", 60, 120)}
    found = compared(tmp_path, log(10, 20, 30), with_writes(builder(), "/d/f", 3))
    assert found.word == "equal"
    assert "not in all logs, so not compared: traces (DXT_POSIX)" in found.notes


def test_program_start_is_compared_apart(tmp_path: Path) -> None:
    def log(reads: int) -> LogBuilder:
        made = with_writes(builder(), "/data/out", 10)
        return made.posix("/etc/fstab", 0, OPENS=1, READS=reads).stdio("<STDOUT>", 0, OPENS=1, WRITES=reads)

    found = compared(tmp_path, log(1), log(9))
    assert found.word == "equal"
    assert found.program_start.word == "changed"
    assert found.notes[0].startswith(
        "program start (libraries, system files, standard streams), no part of the verdict: "
    )
    assert "/etc/fstab: POSIX READS 1 -> 9" in found.notes[0]
    together = compared(tmp_path, log(1), log(9), start=True)
    assert together.word == "changed" and together.compared.files == 3
    assert together.program_start.files == 0


def test_folders_of_libraries_are_of_the_programs_start(tmp_path: Path) -> None:
    def log(stats: int) -> LogBuilder:
        made = builder(metadata=OUR_CAPTURE).posix(
            "/home/me/lib/python3/re.pyc", 0, OPENS=1, READS=1, BYTES_READ=9
        )
        for name in ("/home/me/lib", "/home/me/lib/python3", "/home/me/venv/pyvenv.cfg", "/home/me/data"):
            made.posix(name, 0, STATS=stats)
        return made

    found = compared(tmp_path, log(1), log(3))
    assert rows(found.compared.changes) == {("data", "STATS", 1, 3)}
    assert {change.file for change in found.program_start.changes} == {
        "/home/me/lib",
        "/home/me/lib/python3",
        "/home/me/venv/pyvenv.cfg",
    }
