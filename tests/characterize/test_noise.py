"""Data files and noise: every rule that sets a file aside, and files that must not be set aside."""

from __future__ import annotations

import pytest
from simulated_job import builder_of, log_of

from workalike.characterize import CharacterizeOptions, characterize
from workalike.darshan import LogBuilder
from workalike.facts.gather import facts_of
from workalike.facts.noise import set_noise_aside

MIB = 2**20


def sorted_out(builder: LogBuilder) -> tuple[set[str], dict[str, int]]:
    data, noise = set_noise_aside(facts_of([log_of(builder)]).files())
    return {f.name for f in data}, {rule: files for rule, files, _ in noise}


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


def test_an_anonymised_stream_is_known_by_its_id() -> None:
    """`darshan-convert --obfuscate` replaces names but keeps the record ids of the original names."""
    builder = with_data_file()
    builder.stdio("<STDOUT>", WRITES=9, BYTES_WRITTEN=50 * MIB)
    builder.names = {number: f"//{i}5006356" for i, number in enumerate(builder.names)}
    data, noise = sorted_out(builder)
    assert len(data) == 1
    assert noise == {"stream": 1}


def test_untouched_files_are_counted() -> None:
    builder = with_data_file()
    for i in range(1000):
        builder.posix(f"/proj/run/probe{i}", 0, STATS=1)
    assert sorted_out(builder) == ({"/proj/run/data.bin"}, {"untouched": 1000})


def test_text_logs_are_noise_only_where_there_is_data() -> None:
    builder = with_data_file()
    builder.stdio("/proj/run/run.log", 0, WRITES=100, BYTES_WRITTEN=MIB)
    assert sorted_out(builder)[1] == {"text-log": 1}
    only_log = builder_of(1).stdio("/proj/run/run.log", WRITES=100, BYTES_WRITTEN=MIB)
    assert sorted_out(only_log) == ({"/proj/run/run.log"}, {})
    much = with_data_file()
    much.stdio("/proj/run/run.log", 0, WRITES=100, BYTES_WRITTEN=50 * MIB)
    assert "/proj/run/run.log" in sorted_out(much)[0]


@pytest.mark.parametrize(("share", "noise"), [(0.03, True), (0.045, True), (0.055, False), (0.08, False)])
def test_text_logs_of_few_bytes_are_noise(share: float, noise: bool) -> None:
    """Though they are no negligible files."""
    builder = with_data_file(**{"/proj/run/run.log": round(share / (1 - share) * 100 * MIB)})
    assert ("text-log" in sorted_out(builder)[1]) is noise


def test_small_files_are_negligible_together() -> None:
    builder = with_data_file(**{f"/proj/run/{letter}.txt": 1000 for letter in "abcdef"})
    assert sorted_out(builder)[1] == {"negligible": 6}


def test_the_only_output_is_not_negligible() -> None:
    """A film of a gigabyte becomes a file of 91 kB; a second small file that is only read stays negligible."""
    builder = builder_of(1).posix("/proj/film.avi", READS=1000, BYTES_READ=2**30)
    builder.posix("/proj/clip.mp4", WRITES=10, BYTES_WRITTEN=91_000)
    builder.posix("/proj/codec.conf", READS=1, BYTES_READ=500)
    builder.stdio("/proj/film.log", 0, WRITES=100, BYTES_WRITTEN=9_000)
    data, noise = sorted_out(builder)
    assert data == {"/proj/film.avi", "/proj/clip.mp4"}
    assert noise == {"negligible": 1, "text-log": 1}


def test_a_small_file_beside_another_output_is_negligible() -> None:
    builder = with_data_file()
    builder.posix("/proj/run/clip.mp4", WRITES=10, BYTES_WRITTEN=91_000)
    assert sorted_out(builder)[1] == {"negligible": 1}


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
    found = characterize([log], CharacterizeOptions(include_noise=True))
    assert [d.bytes_written for f in found.families for d in f.dumps] == [100]
