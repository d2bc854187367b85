"""Families and their dumps: numbers of ranks, dumps and groups, padded widths, long-lived files, anonymised names."""

from __future__ import annotations

import pytest
from simulated_job import READ, WRITE, Op, TrueFile, add_file, builder_of, log_of, simple_file

from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.darshan import LogBuilder
from workalike.facts import naming
from workalike.workload.model import Level, Lifetime, Role, SharingMode, Turns

KIB, MIB = 2**10, 2**20
ALL = CharacterizeOptions(include_program_start=True)


def found_in(builder: LogBuilder) -> Characterization:
    return characterize([log_of(builder)], ALL)


def names(found: Characterization) -> list[list[list[str]]]:
    """Base names of the files of each dump of each family, ordered by first file."""
    families = [
        [sorted(f.name.rsplit("/", 1)[-1] for f in d.files) for d in family.dumps]
        for family in found.families
    ]
    return sorted(families)


def add(builder: LogBuilder, *files: TrueFile) -> None:
    for file in files:
        add_file(builder, file)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("chk.1.restart", "chk.12.restart", True),
        ("run1/chk", "run2/chk", True),
        ("out.h5", "out.h4", True),
        ("a_3f2504e04f89.dat", "a_9c0511ef01ab.dat", True),
        ("run/processor0/0.02/U", "run/processor0/0.1/U", True),
        ("run/processor0/0.02/U", "run/processor0/1/U", True),
        ("0.5/p", "1e-05/p", True),
        ("chk.1.restart", "vis.1.restart", False),
        ("run/v0.2/U", "run/v1/U", False),
        ("chk.0.2", "chk.1", False),
        ("deadbeef", "feedface", False),
    ],
)
def test_patterns_of_names(first: str, second: str, same: bool) -> None:
    assert (naming.pattern_of(first) == naming.pattern_of(second)) is same


def test_padded_numbers_of_different_width_are_of_different_series() -> None:
    keys = naming.width_keys(["d_000.h5", "d_026.h5", "d_10000.h5"])
    assert keys[0] == keys[1] != keys[2]
    keys = naming.width_keys(["chk.9", "chk.10"])
    assert keys[0] == keys[1]
    # The rank is not padded, the dump is: only the dump's width counts.
    keys = naming.width_keys(["chk_0001.7", "chk_0001.12"])
    assert keys[0] == keys[1]


@pytest.mark.parametrize("times", ["0.02 0.04 0.06 0.08 0.1 0.12", "0.5 1 1.5 2", "1e-05 2e-05 0.0001"])
def test_folders_named_by_times_are_one_family(times: str) -> None:
    """OpenFOAM writes a folder a time, of as many digits as the time needs."""
    builder = builder_of(2)
    for number, time in enumerate(times.split()):
        for rank in range(2):
            name = f"/case/processor{rank}/{time}/U"
            add(builder, simple_file(name, "POSIX", [rank], at=10.0 * number + 1, size=MIB))
    found = found_in(builder)
    assert len(found.families) == 1
    (family,) = found.families
    assert (family.family.sharing.mode, len(family.dumps)) == (SharingMode.PER_RANK, len(times.split()))


def test_numbers_of_absurd_length() -> None:
    assert naming.numbering(["x" + "9" * 5000, "x1"])[1] == [1]


def test_growing_checkpoints_are_one_family() -> None:
    builder = builder_of(1)
    for i in range(1, 13):
        add(builder, simple_file(f"/run/chk.{i}.restart", "STDIO", [0], size=i * MIB, at=5.0 * i))
    found = found_in(builder)
    (only,) = found.families
    assert only.family.role is Role.CHECKPOINT
    assert [d.bytes_written for d in only.dumps] == [4 * i * MIB for i in range(1, 13)]


@pytest.mark.parametrize("pattern", ["chk_{d:04}.r{r:04}", "r{r}/chk.{d}", "chk.{d}.{r}"])
def test_one_file_per_rank_and_dump(pattern: str) -> None:
    """N-N with several dumps: the ranks that wrote the files show which number is the rank's."""
    builder = builder_of(4)
    for d in range(3):
        for r in range(4):
            add(
                builder,
                simple_file("/run/" + pattern.format(d=d, r=r), "POSIX", [r], at=10.0 * d + 1 + r / 100),
            )
    (only,) = found_in(builder).families
    assert (only.family.sharing.mode, only.family.schedule.dumps) == (SharingMode.PER_RANK, 3)
    for d, dump in enumerate(only.dumps):
        assert {f.name for f in dump.files} == {"/run/" + pattern.format(d=d, r=r) for r in range(4)}
    assert only.family.schedule.starts() == pytest.approx([0.9, 10.9, 20.9])


@pytest.mark.parametrize("dumps", [3, 12])
def test_a_rank_that_leaves_a_dump_out(dumps: int) -> None:
    """Rank 2 writes nothing in the second dump: its second file belongs to the third dump.

    One open of 48 is not a matter. Of a few, the dump is a family of its own ranks.
    """
    builder = builder_of(4)
    for d in range(dumps):
        for r in range(4):
            if (d, r) != (1, 2):
                add(builder, simple_file(f"/run/chk_{d}.{r}", "POSIX", [r], at=10.0 * d + 1))
    families = found_in(builder).families
    files = [[len(d.files) for d in facts.dumps] for facts in families]
    assert all(facts.family.sharing.mode is SharingMode.PER_RANK for facts in families)
    assert files == ([[4, 4], [3]] if dumps == 3 else [[4, 3, *[4] * 10]])


def test_groups_with_a_small_last_one() -> None:
    """Five ranks in groups of two (N-M): the last file has one rank."""
    builder = builder_of(5)
    for d in range(2):
        for g, ranks in enumerate(([0, 1], [2, 3], [4])):
            add(builder, simple_file(f"/run/vis_{d:03}.{g}.silo", "POSIX", ranks, at=10.0 * d + 1))
    (only,) = found_in(builder).families
    sharing = only.family.sharing
    assert (sharing.mode, sharing.files, sharing.ranks) == (SharingMode.GROUPS, 3, None)
    assert [len(d.files) for d in only.dumps] == [3, 3]
    assert only.family.role is Role.VISUALIZATION


def test_one_file_of_several_ranks_among_files_per_rank() -> None:
    builder = builder_of(8)
    for r in range(8):
        add(builder, simple_file(f"/run/img_{r}", "POSIX", [r]))
    add(builder, simple_file("/run/img_99", "POSIX", [0, 1, 2]))
    assert {f.family.sharing.mode for f in found_in(builder).families} == {
        SharingMode.PER_RANK,
        SharingMode.SUBSET,
    }


@pytest.mark.parametrize("in_turn", [True, False])
def test_baton(in_turn: bool) -> None:
    """MACSio's MIF: the ranks of a group open, write and close one after the other."""
    builder = builder_of(4)
    for g, ranks in enumerate(([0, 1], [2, 3])):
        for place, rank in enumerate(ranks):
            at = 1.0 + (2.0 * place if in_turn else 0.0)
            file = simple_file(f"/run/dump.{g}", "POSIX", [rank], at=at)
            add_file(builder, file)
    (only,) = found_in(builder).families
    assert only.family.sharing.mode is SharingMode.GROUPS
    assert only.family.sharing.turns is (Turns.BATON if in_turn else Turns.CONCURRENT)


def test_another_single_rank_each_dump() -> None:
    """Dumps by different single ranks are one family, whose streams name the ranks."""
    builder = builder_of(8, run_time=1000)
    for d, rank in enumerate([0, 3, 1, 6]):
        add(builder, simple_file(f"/run/chk.{d}", "POSIX", [rank], at=100.0 * d + 1))
    (only,) = found_in(builder).families
    assert only.family.schedule.dumps == 4
    assert only.family.sharing.mode is SharingMode.SUBSET
    streams = [only.family.content_of(d).streams[0].ranks for d in range(4)]
    assert streams == [[(r, r, 1)] for r in (0, 3, 1, 6)]


def test_staggered_files_per_rank_are_one_dump() -> None:
    """All ranks write one after the other: this is one dump."""
    builder = builder_of(4, run_time=1000)
    for r in range(4):
        add(builder, simple_file(f"/run/out.{r}", "POSIX", [r], at=100.0 * r + 1))
    (only,) = found_in(builder).families
    assert (only.family.schedule.dumps, only.family.sharing.mode) == (1, SharingMode.PER_RANK)


def test_a_long_lived_file_among_dumps() -> None:
    """A visualisation file that is open over the run has the name pattern of the checkpoints."""
    builder = builder_of(4)
    for d in range(4):
        add(builder, simple_file(f"/run/macsio_{d:03}.h5", "MPI-IO", range(4), at=10.0 * d + 2))
    long = simple_file("/run/macsio_100.h5", "MPI-IO", range(4), at=1.0, lasts=40.0)
    add(builder, long)
    found = found_in(builder)
    assert sorted(len(f.files()) for f in found.families) == [1, 4]
    single = next(f for f in found.families if len(f.files()) == 1)
    assert single.files()[0].name == long.name


def test_a_long_lived_file_of_a_serial_program() -> None:
    builder = builder_of(1)
    for d in range(4):
        add(builder, simple_file(f"/run/x{d}", "POSIX", [0], at=10.0 * d + 2))
    add(builder, simple_file("/run/x9", "POSIX", [0], at=1.0, lasts=40.0))
    assert sorted(len(f.files()) for f in found_in(builder).families) == [1, 4]


def test_anonymised_names_group_by_size() -> None:
    """Files whose sizes grow step by step are one family; a power of two between them does not split it."""
    builder = builder_of(1)
    for i, size in enumerate([1020, 1030, 1500, 2900, 100 * KIB, 110 * KIB]):
        add(builder, simple_file(f"//{i}446001947", "POSIX", [0], size=size, at=2.0 * i + 1))
    assert sorted(len(f.files()) for f in found_in(builder).families) == [2, 4]


def test_names_without_any_pattern() -> None:
    """Hundreds of random names are not hundreds of families."""
    builder = builder_of(1)
    for i in range(600):
        word = "".join(chr(97 + (i * k) % 26) for k in (1, 3, 7, 11, 17))
        add(
            builder,
            simple_file(f"/run/{word}{'x' * (i // 26)}", "POSIX", [0], size=4096, at=0.1 * i + 1, lasts=0.05),
        )
    found = found_in(builder)
    assert len(found.families) < 10
    assert sum(len(f.files()) for f in found.families) == 600


def test_written_and_read_at_separate_times() -> None:
    builder = builder_of(4)
    ops = {r: [Op(WRITE, r * MIB, MIB, 1.0, 2.0), Op(READ, r * MIB, MIB, 50.0, 51.0)] for r in range(4)}
    add(builder, TrueFile("/run/check", "MPI-IO", ops, 0.9, 52.0))
    (only,) = found_in(builder).families
    assert only.family.lifetime is Lifetime.OVERWRITTEN  # it has one open of each rank
    assert [(d.bytes_written, d.bytes_read) for d in only.dumps] == [(4 * MIB, 0), (0, 4 * MIB)]
    assert only.family.schedule.starts() == [0.9, 50.0]
    assert only.family.schedule.ends() == [2.0, 52.0]
    assert sum(c.opens for c in only.family.contents) == 4  # shared out, not counted twice


def test_syncs_belong_to_the_writes() -> None:
    builder = builder_of(1)
    ops = {0: [Op(READ, 0, MIB, 1.0, 2.0), Op(WRITE, 0, MIB, 50.0, 51.0)]}
    file = TrueFile("/run/state", "POSIX", ops, 0.9, 52.0, {"FSYNCS": 3.0, "FDSYNCS": 2.0})
    add(builder, file)
    (only,) = found_in(builder).families
    assert [c.fsyncs for c in only.family.contents] == [0, 5]


def test_root_of_a_reduced_record() -> None:
    """All ranks open the file and one writes it: the variance shows this, at POSIX and at STDIO."""
    for module in ("POSIX", "STDIO"):
        builder = builder_of(8)
        ops: dict[int, list[Op]] = {r: [] for r in range(8)}
        ops[5] = [Op(WRITE, k * MIB, MIB) for k in range(10)]
        add(builder, TrueFile("/run/out.dat", module, ops))
        (only,) = found_in(builder).families
        assert (only.family.sharing.mode, only.family.sharing.ranks) == (SharingMode.ROOT, [(5, 5, 1)])
        assert only.family.content_of(0).opens == 8


def test_one_writer_of_a_collectively_opened_file_stays_shared() -> None:
    builder = builder_of(8)
    ops: dict[int, list[Op]] = {r: [] for r in range(8)}
    ops[5] = [Op(WRITE, k * MIB, MIB) for k in range(10)]
    add(builder, TrueFile("/run/out.dat", "MPI-IO", ops))
    (only,) = found_in(builder).families
    assert (only.family.sharing.mode, only.family.level) == (SharingMode.SHARED, Level.MPIIO)
    assert only.family.content_of(0).streams[0].ranks == [(5, 5, 1)]
