"""Data files and noise: every rule that sets a file aside, and files that must not be set aside."""

from __future__ import annotations

import pytest
from simulated_job import builder_of, log_of

from workalike.characterize import CharacterizeOptions, characterize
from workalike.darshan import LogBuilder
from workalike.facts.amounts import amounts_by_file
from workalike.facts.gather import facts_of
from workalike.facts.noise import noise_of, set_aside
from workalike.facts.thresholds import THRESHOLDS

MIB = 2**20
PATTERNS = THRESHOLDS.noise_patterns
"""Name patterns up to which nothing is negligible."""


def sorted_out(builder: LogBuilder) -> tuple[set[str], dict[str, int]]:
    facts = facts_of([log_of(builder)])
    amounts = amounts_by_file(facts)
    labels = noise_of(facts.record_ids.tolist(), facts.names, amounts)
    kept = {name for name, label in zip(facts.names, labels, strict=True) if label is None}
    return kept, {rule: files for rule, files, _ in set_aside(labels, amounts)}


def with_many_patterns(builder: LogBuilder, calls: int = 1) -> set[str]:
    """Large files under as many patterns of names as a log must have before anything in it is negligible."""
    names = {f"/proj/run/part{'x' * k}.bin" for k in range(PATTERNS)}
    for name in names:
        builder.posix(name, OPENS=calls, WRITES=1000, BYTES_WRITTEN=100 * MIB, F_WRITE_TIME=1.0)
    return names


def with_data_file(**files: int) -> LogBuilder:
    builder = builder_of(4).posix("/proj/run/data.bin", WRITES=4, BYTES_WRITTEN=100 * MIB)
    for name, size in files.items():
        builder.posix(name, READS=1, BYTES_READ=size)
    return builder


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("<STDOUT>", "stream"),
        ("/proj/app/libsolver.so.3", "library"),
        ("/home/x/venv/lib/python3/numpy/core.pyc", "library"),
        ("/home/x/pkg/__pycache__/a.cpython-311", "library"),
        ("/etc/hosts", "system"),
        ("/opt/app/share/table", "system"),
        ("/home/x/venv/site-packages/data/table.csv", "system"),
        ("/tmp/out.h5_cid-3-77.sm", "mpi"),
        ("/scratch/out.h5-3271557121-4242.lock", "mpi"),
        ("/tmp/ompi.node3.1000/jf.0/1/shared", "mpi"),
        ("/tmp/prterun.node3.4711.1000/hwloc.sm", "mpi"),
        ("/tmp/prte.node3.1000/dvm.77/1/shared", "mpi"),
        ("/proj/run/romio-hints", "mpi"),
    ],
)
def test_names_of_noise(name: str, rule: str) -> None:
    data, noise = sorted_out(with_data_file(**{name: 50 * MIB}))
    assert data == {"/proj/run/data.bin"}
    assert noise == {rule: 1}


@pytest.mark.parametrize(
    "name", ["/proj/run/solution.so2", "/proj/optical/x.dat", "/proj/usr/restart", "//2446001947"]
)
def test_names_of_data(name: str) -> None:
    data, _ = sorted_out(with_data_file(**{name: 50 * MIB}))
    assert name in data


@pytest.mark.parametrize(
    "name",
    [
        "/home/x/checkpoints/model_10.pth",
        "/home/x/build/libsolver.so",
        "/home/x/venv/site-packages/data/out.bin",
        "/opt/data/result.h5",
        "/home/x/generated/module.py",
        "/home/x/run/field.mod",
        "/dev/shm/exchange.dat",
    ],
)
def test_what_a_job_writes_is_its_own_whatever_its_name_is(name: str) -> None:
    builder = with_data_file()
    builder.posix(name, OPENS=1, WRITES=10, BYTES_WRITTEN=50 * MIB)
    assert sorted_out(builder)[0] == {"/proj/run/data.bin", name}


@pytest.mark.parametrize(
    "name", ["/home/x/pkg/__pycache__/a.cpython-311.pyc", "/dev/null", "/proc/self/oom_adj"]
)
def test_byte_code_and_what_the_kernel_has_is_program_start_also_where_it_is_written(name: str) -> None:
    builder = with_data_file()
    builder.posix(name, OPENS=1, WRITES=10, BYTES_WRITTEN=50 * MIB)
    assert sorted_out(builder)[0] == {"/proj/run/data.bin"}


def test_checkpoints_of_pytorch_that_are_read_are_data() -> None:
    data, _ = sorted_out(with_data_file(**{"/home/x/model.pth": 50 * MIB}))
    assert data == {"/proj/run/data.bin", "/home/x/model.pth"}


STATS = THRESHOLDS.noise_folder_stats


@pytest.mark.parametrize(
    ("counters", "own"),
    [
        ({"STATS": STATS}, False),
        ({"STATS": STATS + 1}, True),
        ({"OPENS": 1}, True),
        ({"FSYNCS": 1}, True),
        ({"RENAME_SOURCES": 1}, True),
    ],
)
def test_a_folder_is_program_start_up_to_what_a_loader_asks(counters: dict[str, float], own: bool) -> None:
    builder = with_data_file(**{"/home/x/code/main.py": 1000})
    builder.posix("/home/x/code", 0, **counters)
    assert ("/home/x/code" in sorted_out(builder)[0]) == own


def test_an_anonymised_stream_is_known_by_its_id() -> None:
    """`darshan-convert --obfuscate` replaces names but keeps the record ids of the original names."""
    builder = with_data_file()
    builder.stdio("<STDOUT>", WRITES=9, BYTES_WRITTEN=50 * MIB)
    builder.names = {number: f"//{i}5006356" for i, number in enumerate(builder.names)}
    data, noise = sorted_out(builder)
    assert len(data) == 1
    assert noise == {"stream": 1}


def test_files_without_data_are_not_set_aside() -> None:
    builder = with_data_file()
    for i in range(1000):
        builder.posix(f"/proj/run/probe{i}", 0, STATS=1)
    data, noise = sorted_out(builder)
    assert (len(data), noise) == (1001, {})


def test_few_files_are_never_negligible() -> None:
    builder = builder_of(4)
    names = with_many_patterns(builder)
    builder.posix(min(names), READS=1)  # no pattern more
    assert sorted_out(builder) == (names, {})
    builder.posix("/proj/run/small.txt", READS=1, BYTES_READ=100)
    assert sorted_out(builder) == (names, {"negligible": 1})


@pytest.mark.parametrize(
    "counters",
    [
        {"READS": 1, "BYTES_READ": 20 * MIB},
        {"OPENS": 200},
        {"FSYNCS": 200},
        {"STATS": 1, "F_META_TIME": 0.5},
    ],
    ids=["bytes", "opens", "syncs", "seconds"],
)
def test_what_is_small_in_one_share_alone_is_kept(counters: dict[str, float]) -> None:
    """Each is more than 0.5 % of the bytes, the calls or the time of a log in which everything else is larger."""
    builder = builder_of(4)
    with_many_patterns(builder)
    builder.posix("/proj/run/small.txt", **counters)
    data, noise = sorted_out(builder)
    assert "/proj/run/small.txt" in data
    assert noise == {}


def test_negligible_groups_are_limited_together() -> None:
    """Each pattern has 0.3 % of the bytes: three of them together are less than 1 %, four are more."""
    builder = builder_of(4)
    with_many_patterns(builder)
    each = round(0.003 * PATTERNS * 100 * MIB)
    for k in range(9):
        builder.posix(f"/proj/run/{'y' * (k + 1)}.dat", READS=1, BYTES_READ=each + k)
    assert sorted_out(builder)[1] == {"negligible": 3}


def test_the_only_output_is_not_negligible() -> None:
    """A film of a gigabyte becomes a file of 91 kB; a second small file that is only read stays negligible."""
    builder = builder_of(1)
    for k in range(PATTERNS):
        builder.posix(f"/proj/film{'x' * k}.avi", READS=1000, BYTES_READ=2**30)
    builder.posix("/proj/clip.mp4", WRITES=10, BYTES_WRITTEN=91_000)
    builder.posix("/proj/codec.conf", READS=1, BYTES_READ=500)
    data, noise = sorted_out(builder)
    assert "/proj/clip.mp4" in data
    assert noise == {"negligible": 1}


def test_the_first_of_growing_checkpoints_is_not_negligible() -> None:
    builder = builder_of(1)
    for i in range(10):
        builder.posix(f"/proj/run/chk.{i}", WRITES=1, BYTES_WRITTEN=4**i * 1000)
    assert len(sorted_out(builder)[0]) == 10


def test_a_partial_module_does_not_hide_data() -> None:
    """Rank 0 lost its POSIX record of the file; MPI-IO has all its bytes."""
    builder = builder_of(4).partial("POSIX")
    builder.mpiio("/proj/run/big", COLL_WRITES=4, BYTES_WRITTEN=100 * MIB)
    builder.posix("/proj/run/big", 1, WRITES=1, BYTES_WRITTEN=10)
    builder.posix("/proj/run/other", 0, WRITES=1, BYTES_WRITTEN=100 * MIB)
    assert sorted_out(builder)[0] == {"/proj/run/big", "/proj/run/other"}


def test_noise_on_request() -> None:
    log = log_of(builder_of(1).stdio("<STDOUT>", WRITES=1, BYTES_WRITTEN=100))
    found = characterize([log], CharacterizeOptions(include_program_start=True))
    assert [d.bytes_written for f in found.families for d in f.dumps] == [100]
