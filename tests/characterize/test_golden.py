"""Facts of real logs, from what is known of their applications."""

from __future__ import annotations

import pytest
from known_logs import WORKFLOW, by_rules, characterized_workflow, find, golden, needs_shared

from workalike.characterize import Characterization, FamilyFacts, characterize
from workalike.darshan import open_log
from workalike.errors import ErrorKind, WorkalikeError
from workalike.workload.model import (
    Assumption,
    Direction,
    Interface,
    Level,
    Lifetime,
    Pattern,
    Reason,
    Role,
    SharingMode,
)

MIB = 2**20
GIB = 2**30


def family(found: Characterization, role: Role, number: int = 1) -> FamilyFacts:
    return next(f for f in found.families if (f.family.role, f.family.number) == (role, number))


LEAST = 0.0001
"""Share of the bytes of a family that a test on the data of an application looks at: not its text logs."""


def large(found: Characterization) -> list[FamilyFacts]:
    moved = [sum(d.bytes_written + d.bytes_read for d in f.dumps) for f in found.families]
    return [f for f, size in zip(found.families, moved, strict=True) if size >= LEAST * sum(moved)]


def roles(found: Characterization) -> list[str]:
    return [f"{f.family.role.value} {f.family.number}" for f in large(found)]


def uncovered(found: Characterization) -> dict[Reason, int]:
    return {u.reason: u.bytes for u in found.workload.uncovered}


# The package's logs


def test_vpic_of_the_package_has_eight_pieces_per_rank() -> None:
    found = golden("example.darshan")
    assert found.workload.ranks == 2048
    assert roles(found) == ["output 1"]
    output = family(found, Role.OUTPUT).family
    assert (output.level, output.sharing.mode, output.schedule.dumps) == (Level.MPIIO, SharingMode.SHARED, 1)
    large = [s for s in output.content_of(0).streams if s.collective]
    assert [(e.count, e.size) for s in large for e in s.sizes] == [(8 * 2048, 128 * MIB)]
    assert large[0].ranks is None
    assert family(found, Role.OUTPUT).dumps[0].bytes_written == 2_199_023_259_968
    assert output.schedule.starts() == [pytest.approx(3.91, abs=0.01)]
    assert (output.tunable.stripe_size, output.tunable.stripe_count) == (MIB, 24)


def test_macsio_writes_a_shared_hdf5_file_and_text_logs() -> None:
    found = golden("shane_macsio")
    assert roles(found) == ["output 1", "log 1", "log 2"]
    output = family(found, Role.OUTPUT)
    assert [f.name.rsplit("/", 1)[-1] for f in output.files()] == ["macsio_hdf5_000.h5"]
    assert (output.family.interface, output.family.level) == (Interface.HDF5, Level.H5D)
    (arrays,) = output.family.content_of(0).arrays
    assert (arrays.dims, arrays.element) == ([124, 124, 108], 8)
    (access,) = arrays.access
    assert access.collective
    assert [(s.count, s.shape) for s in access.slabs] == [(72, [31, 31, 24])]


def test_badost_writes_one_file_per_rank() -> None:
    found = golden("sample-badost")
    output = family(found, Role.OUTPUT)
    assert roles(found) == ["output 1"]
    assert (output.family.sharing.mode, output.family.schedule.dumps) == (SharingMode.PER_RANK, 1)
    assert len(output.files()) == 2048
    (stream,) = output.family.content_of(0).streams
    assert [(e.count, e.size) for e in stream.sizes] == [(2048 * 64, 4 * MIB)]  # 256 MiB per file
    content = output.family.content_of(0)
    assert (content.opens, content.stats, content.fsyncs, content.seeks) == (2048, 2048, 2048, "each")


def test_ior_hdf5_of_the_package_is_written_then_read() -> None:
    found = golden("ior_hdf5_example")
    (only,) = found.families
    assert only.family.lifetime is Lifetime.REUSED
    assert [(d.bytes_written > 0, d.bytes_read > 0) for d in only.dumps] == [(True, False), (False, True)]


def test_noposix_reads_by_stdio() -> None:
    """An anonymised log without the POSIX module."""
    found = golden("noposix.darshan")
    (only,) = found.families
    assert (only.family.role, only.family.level) == (Role.INPUT, Level.STDIO)
    assert only.dumps[0].bytes_read == 1_812_408_359


def test_record_without_opens() -> None:
    """One of 32 ranks has STDIO files; a POSIX record without an open is noise."""
    found = golden("noposixopens")
    assert roles(found) == ["input 1", "output 1"]
    assert {f.family.sharing.mode for f in found.families} == {SharingMode.ROOT}
    assert family(found, Role.INPUT).dumps[0].bytes_read == 576 * MIB


def test_two_ranks_of_four_read_each_input() -> None:
    found = golden("pq_app_readAB_writeC")
    sets = [f.family.sharing.model_dump(mode="json")["ranks"] for f in found.families]
    assert sorted(sets) == ["0-2:2", "1-3:2", "all"] or sorted(sets) == ["0,2", "1,3", "all"]


# Logs of ../shared/logs


@needs_shared
def test_lammps_growth() -> None:
    found = golden("lammps-growth-4")
    assert roles(found) == ["checkpoint 1", "visualization 1"]
    checkpoints = family(found, Role.CHECKPOINT)
    sizes = [d.bytes_written for d in checkpoints.dumps]
    assert (len(sizes), sizes[0], sizes[-1]) == (12, 10_772_137, 94_407_337)
    assert sizes == sorted(sizes)
    assert checkpoints.family.sharing.mode is SharingMode.ROOT
    assert (checkpoints.family.interface, checkpoints.family.lifetime) == (Interface.STDIO, Lifetime.PER_DUMP)
    vis = family(found, Role.VISUALIZATION)
    assert (vis.family.schedule.dumps, vis.family.lifetime) == (13, Lifetime.APPENDED)
    states = [d.bytes_written for d in vis.dumps]
    assert sum(states) == 478_524_017
    # Eq. 2 to 4: the states grow by the same factor as the checkpoints.
    assert states[-1] / states[0] == pytest.approx(94_407_337 / 10_772_137, rel=0.15)
    assert Assumption.STATE_SIZES in vis.family.assumed


@needs_shared
def test_mphys_c_small() -> None:
    found = golden("mphys-c-small")
    assert roles(found) == ["checkpoint 1", "visualization 1"]
    checkpoints = family(found, Role.CHECKPOINT)
    assert len(checkpoints.dumps) == len(checkpoints.files()) == 27
    assert checkpoints.family.level is Level.MPIIO  # the H5D module is partial
    assert checkpoints.family.sharing.mode is SharingMode.SHARED
    sizes = [d.bytes_written for d in checkpoints.dumps]
    assert (sizes[0], sizes[-1]) == (877_100, 6_190_316)
    assert max(sizes) == 6_353_900
    vis = family(found, Role.VISUALIZATION)
    assert vis.family.schedule.dumps == 28
    assert sum(d.bytes_written for d in vis.dumps) == 63_552_677
    assert "states: H5F flushes" in vis.sentences()
    states = [d.bytes_written for d in vis.dumps]
    assert states[-1] / states[0] == pytest.approx(sizes[-1] / sizes[0], rel=0.15)
    assert uncovered(found)[Reason.SIEVING] == 664_510_664
    assert found.partial_modules == ["H5D"]
    assert not found.complete


@needs_shared
def test_meep() -> None:
    found = golden("meep-hdf5-4")
    appended = family(found, Role.VISUALIZATION)
    assert {f.family.level for f in found.families} == {Level.H5D}
    assert (appended.family.lifetime, appended.family.schedule.dumps) == (Lifetime.APPENDED, 20)
    (arrays,) = appended.family.content_of(0).arrays
    assert (arrays.dims, arrays.chunk) == ([128, 128, 48, 1], [128, 128, 48, 1])
    assert (arrays.extendible, arrays.unlimited) == (True, 3)  # time is the last dimension
    assert arrays.fill_values
    shapes = {tuple(s.shape): s.count for s in arrays.access[0].slabs}
    assert {shapes[x, y, 9, 1] for x in (9, 55) for y in (9, 55)} == {8}
    assert (
        uncovered(found)[Reason.FILL_VALUES] == 125_829_120
    )  # every byte of the appended file is written once more
    fields = family(found, Role.VISUALIZATION, 2)
    assert [d.bytes_written for d in fields.dumps] == [3 * 128 * 128 * 48 * 8] * 4
    (arrays,) = fields.family.content_of(0).arrays
    assert (arrays.datasets, arrays.dims, arrays.chunk) == (3, [128, 128, 48], None)
    # The rows of the hyperslabs have 9 and 30 elements, as the pieces at the levels below.
    assert {s.shape[-1] for s in arrays.access[0].slabs} == {9, 30}
    assert {rule: files for rule, files, _ in found.noise} == {"mpi": 90}


@needs_shared
def test_vpic_phases() -> None:
    found = by_rules(golden("vpic-fields-particles"))
    starts = sorted(f.family.schedule.starts()[0] for f in large(found))
    assert starts == [pytest.approx(at, abs=1) for at in (5, 39, 66, 94, 126)]
    ends = sorted(f.family.schedule.ends()[0] for f in large(found))
    assert ends == [pytest.approx(at, abs=1) for at in (39, 66, 93, 125, 158)]
    fields = family(found, Role.VISUALIZATION).family
    collective = [s for s in fields.content_of(0).streams if s.collective]
    assert [(e.count, e.size) for s in collective for e in s.sizes] == [(16 * 192, 55296), (8 * 192, 27648)]
    assert collective[0].pattern is Pattern.INTERLEAVED
    assert Assumption.PLACEMENT not in fields.assumed  # the trace shows it
    particles = family(found, Role.OUTPUT).family
    (variables,) = [s for s in particles.content_of(0).streams if s.collective]
    assert variables.repeat == 8
    assert sum(e.count for e in variables.sizes) == 192, "each rank has its own number of particles"
    assert sum(e.count * e.size for e in variables.sizes) * 8 == 8_493_465_600
    assert found.workload.nodes == 32


@needs_shared
def test_e3sm_aggregators() -> None:
    found = golden("e3sm-pnetcdf-512")
    output = family(found, Role.CHECKPOINT)
    assert (output.family.level, output.family.sharing.mode) == (Level.MPIIO, SharingMode.SHARED)
    assert output.family.tunable.cb_nodes == 56
    assert output.family.tunable.stripe_count == 56
    assert [d.bytes_written for d in output.dumps] == [77_056_742_332, 386_562_012]
    collective = sum(e.count for s in output.family.content_of(0).streams if s.collective for e in s.sizes)
    assert collective == 200 * 512
    assert uncovered(found)[Reason.SIEVING] == 227_219_968_712
    restart = family(found, Role.INPUT)
    assert restart.dumps[0].bytes_read == 25_722_208


@needs_shared
def test_imbalanced_data_is_not_hidden_by_a_thousand_files() -> None:
    found = golden("imbalanced-496")
    written = sum(d.bytes_written for f in found.families for d in f.dumps)
    read = sum(d.bytes_read for f in found.families for d in f.dumps if f.family.level is Level.MPIIO)
    assert round(written / GIB) == 74
    assert round(read / GIB) == 49
    large = family(found, Role.CHECKPOINT)
    assert [(d.bytes_read, d.bytes_written) for d in large.dumps] == [
        (52_939_424_612, 0),
        (0, 52_938_395_468),
    ]
    assert large.family.level is Level.MPIIO
    assert {rule: files for rule, files, _ in found.noise}["negligible"] > 1000
    assert found.partial_modules == ["POSIX"]


@needs_shared
def test_collective_read() -> None:
    found = golden("collective-read-2048")
    (only,) = large(found)
    assert (only.family.role, only.family.level) == (Role.INPUT, Level.MPIIO)
    (stream,) = only.family.content_of(0).streams
    assert stream.collective and stream.direction is Direction.READ
    assert [(e.count, e.size) for e in stream.sizes] == [(131072, 4 * MIB)]
    assert only.family.tunable.cb_nodes == 56


@needs_shared
def test_h5py_writes_one_byte_per_rank() -> None:
    """64 of its 74 files are libraries and modules of Python."""
    found = golden("h5py-diagonal")
    (only,) = found.families
    assert (only.family.sharing.mode, only.family.level) == (SharingMode.PER_RANK, Level.H5D)
    assert (len(only.files()), only.dumps[0].bytes_written) == (10, 10)
    assert {rule: files for rule, files, _ in found.noise} == {"library": 64}


@needs_shared
def test_nwchem_scratch() -> None:
    found = golden("nwchem-scratch-4")
    assert {f.family.role for f in found.families} == {Role.SCRATCH, Role.OUTPUT}
    files = family(found, Role.SCRATCH, 2)
    assert files.family.sharing.mode is SharingMode.PER_RANK
    assert [(d.bytes_written, d.bytes_read) for d in files.dumps] == [(1_656_608, 0), (0, 1_656_608)]


@needs_shared
def test_milc_reads_small_text_inputs() -> None:
    found = golden("milc-apmpi-128")
    assert roles(found) == ["input 1", "input 2"]
    assert {f.family.level for f in found.families} == {Level.STDIO}
    assert {f.family.sharing.mode for f in found.families} == {SharingMode.ROOT}
    assert [f.dumps[0].bytes_read for f in found.families] == [11_674, 1_212]
    assert found.skipped_modules == ["APMPI"]
    assert found.complete  # APMPI has statistics of MPI, not data


@needs_shared
def test_partial_stdio() -> None:
    found = golden("partial-stdio-1")
    files = family(found, Role.CHECKPOINT)
    assert len(files.dumps) == 1021
    assert sum(d.bytes_written for d in files.dumps) == 17_129_537_536
    assert not found.complete


@needs_shared
@pytest.mark.parametrize(
    "version", ["ppc64-3.0.0", "ppc64-3.1.6", "x86_64-3.0.1", "x86_64-3.2.0", "x86_64-3.5.0"]
)
def test_the_same_program_over_log_versions(version: str) -> None:
    found = golden(f"mpi-io-test-{version}")
    (only,) = found.families
    assert only.family.level is Level.MPIIO
    assert [(d.bytes_written, d.bytes_read) for d in only.dumps] == [(4 * 16 * MIB, 0), (0, 4 * 16 * MIB)]
    for content in only.family.contents:
        assert [(e.count, e.size) for s in content.streams for e in s.sizes] == [(4, 16 * MIB)]


@needs_shared
def test_serial_program_with_a_trace() -> None:
    found = golden("nonmpi-dxt-1")
    assert found.workload.ranks == found.workload.nodes == 1
    assert sum(d.bytes_read for d in family(found, Role.INPUT).dumps) == 117_602_188
    assert family(found, Role.OUTPUT).dumps[0].bytes_written == 114_589_762
    posix = [f for f in found.families if f.family.counted_at is Level.POSIX]
    traced = [f for f in posix if not any(c.buffered for c in f.family.all_contents())]
    assert len(traced) >= 5
    assert all(Assumption.PLACEMENT not in f.family.assumed for f in traced)


@pytest.mark.skipif(not WORKFLOW, reason="no logs of a workflow in ../shared")
def test_workflow_of_24_logs() -> None:
    """Sixteen readers of a deep-learning job read 7 to 14 files each; one process writes the checkpoint.

    Seven helpers look at nothing but files of the interpreter. The files are read in epochs, but a tenth of the reads are of headers, which a data set
    does not have.
    """
    found = characterized_workflow()
    assert found.workload.ranks == 17
    assert found.workload.runtime == pytest.approx(159.6, abs=0.1)
    inputs = family(found, Role.INPUT)
    assert inputs.family.sharing.mode is SharingMode.PER_RANK
    assert (len(inputs.files()), inputs.family.schedule.dumps) == (168, 14)
    assert sum(d.bytes_read for d in inputs.dumps) == 129_953_701_195  # all that the logs have
    assert min(inputs.family.schedule.starts()) > 90  # the readers start after the job's first process
    outputs = [f for f in found.families if f.family.role is Role.OUTPUT]
    assert {f.family.sharing.mode for f in outputs} == {SharingMode.ROOT}
    assert sorted(f.dumps[0].bytes_written for f in outputs) == [24_759_000, 499_154_332]


@needs_shared
@pytest.mark.parametrize(
    ("name", "words"),
    [("empty-4", "no module"), ("ior-dfs-16", "DAOS and DFS"), ("ior-dfs-16", "no backend")],
)
def test_nothing_to_replicate_says_why(name: str, words: str) -> None:
    with pytest.raises(WorkalikeError, match=words) as caught:
        characterize([open_log(find(name))])
    assert caught.value.kind is ErrorKind.NOTHING_TO_REPLICATE
    assert caught.value.hint


@needs_shared
def test_no_log_holds_data_as_negligible() -> None:
    """Negligible files have less than one per cent of bytes, calls and time."""
    for name in ("imbalanced-496", "e3sm", "lammps", "vpic", "nonmpi", "collective-read"):
        found = golden(name)
        moved = sum(d.bytes_written + d.bytes_read for f in found.families for d in f.dumps)
        negligible = sum(amounts.bytes for rule, _, amounts in found.noise if rule == "negligible")
        assert negligible <= 0.01 * (moved + negligible)
        coverage = found.workload.coverage
        assert coverage is not None and min(coverage.bytes, coverage.calls, coverage.seconds) >= 99
