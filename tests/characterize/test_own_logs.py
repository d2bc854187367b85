"""Facts of the logs in tests/data: the workloads must be what the sources of their programs say."""

from __future__ import annotations

import importlib.util
import itertools
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from known_logs import DATA, OWN_LOGS, by_rules, characterized, own

from workalike.characterize import Characterization, FamilyFacts, characterize
from workalike.darshan import open_log
from workalike.workload.model import Direction, Interface, Level, Lifetime, Pattern, Role, SharingMode

KIB = 1024
RUN = "/tmp/workalike-data/"
MOST_BYTES = 300_000


def found_in(name: str) -> Characterization:
    return characterized(own(name))


def only_family(name: str) -> FamilyFacts:
    (family,) = [f for f in found_in(name).families if any(d.bytes_written + d.bytes_read for d in f.dumps)]
    return family


def family_of(name: str, role: Role) -> FamilyFacts:
    return next(f for f in found_in(name).families if f.family.role is role)


def sizes(
    family: FamilyFacts, direction: Direction = Direction.WRITE, dump: int = 0
) -> list[tuple[int, int]]:
    content = family.family.content_of(dump)
    return [(e.count, e.size) for s in content.streams if s.direction is direction for e in s.sizes]


def test_all_logs_are_there() -> None:
    names = {made.name for made in maker().LOGS}
    assert {log.stem for log in OWN_LOGS} == names
    assert sum(path.stat().st_size for path in DATA.glob("*.darshan*")) <= MOST_BYTES


@pytest.mark.parametrize("log", OWN_LOGS, ids=lambda log: log.stem)
def test_logs_have_no_name_of_the_machine(log: Path) -> None:
    opened = open_log(log)
    paths = [name for name in opened.names.values() if name.startswith("/")]
    assert paths
    assert [path for path in paths if not path.startswith(RUN) and path != "/tmp"] == []
    assert opened.job.exe.startswith("./")
    assert {kind for kind, _ in opened.job.mounts} <= {"ext4", "xfs", "overlay"}
    assert [mount for _, mount in opened.job.mounts] == ["/"]


def test_checkpoints() -> None:
    checkpoint = only_family("checkpoints-4")
    family = checkpoint.family
    assert found_in("checkpoints-4").workload.ranks == 4
    assert (family.role, family.interface, family.level) == (Role.CHECKPOINT, Interface.MPIIO, Level.MPIIO)
    assert (family.sharing.mode, family.lifetime, family.schedule.dumps) == (
        SharingMode.SHARED,
        Lifetime.PER_DUMP,
        3,
    )
    (stream,) = family.content_of(0).streams
    assert (stream.collective, stream.pattern, sizes(checkpoint)) == (
        True,
        Pattern.INTERLEAVED,
        [(32, 64 * KIB)],
    )
    assert [dump.bytes_written for dump in checkpoint.dumps] == [2 * KIB * KIB] * 3
    starts = family.schedule.starts()
    assert all(later - sooner >= 0.2 for sooner, later in itertools.pairwise(starts))


def test_file_per_rank_and_its_restart() -> None:
    assert [f.family.role for f in found_in("per-rank-4").families] == [Role.CHECKPOINT, Role.RESTART]
    checkpoint = family_of("per-rank-4", Role.CHECKPOINT)
    restart = family_of("per-rank-4", Role.RESTART)
    for family in (checkpoint.family, restart.family):
        assert (family.interface, family.sharing.mode) == (Interface.POSIX, SharingMode.PER_RANK)
        assert family.content_of(0).opens == 4
    assert (checkpoint.family.schedule.dumps, restart.family.schedule.dumps) == (2, 1)
    assert sizes(checkpoint) == sizes(checkpoint, dump=1) == [(48, 20_000)]
    assert sizes(restart, Direction.READ) == [(48, 20_000)]
    assert checkpoint.family.content_of(0).fsyncs == 4
    assert restart.family.content_of(0).fsyncs == 0


def test_standard_io_and_its_log_file() -> None:
    output = family_of("stdio-output-1", Role.OUTPUT)
    assert [f.family.role for f in found_in("stdio-output-1").families] == [Role.OUTPUT, Role.LOG]
    assert (output.family.role, output.family.interface) == (Role.OUTPUT, Interface.STDIO)
    assert [Path(file.name).name for file in output.files()] == ["output.bin"]
    assert sizes(output) == [(16, 50_000)]


def test_shared_input_and_one_writer() -> None:
    read, written = family_of("root-writes-4", Role.INPUT), family_of("root-writes-4", Role.OUTPUT)
    assert (read.family.sharing.mode, sizes(read, Direction.READ)) == (SharingMode.SHARED, [(8, 128 * KIB)])
    assert (written.family.sharing.mode, sizes(written)) == (SharingMode.ROOT, [(4, 100_000)])
    assert written.family.content_of(0).streams[0].pattern is Pattern.STRIDED


def test_stride_of_one_writer() -> None:
    (stream,) = family_of("root-writes-4", Role.OUTPUT).family.content_of(0).streams
    assert stream.stride == 200_000


def test_states_in_one_hdf5_file() -> None:
    states = only_family("hdf5-states-4")
    assert (states.family.interface, states.family.level) == (Interface.HDF5, Level.H5D)
    assert (states.family.lifetime, states.family.schedule.dumps) == (Lifetime.APPENDED, 4)
    values = 2 * 4 * 16 * 4096 * 8
    assert sum(dump.bytes_written for dump in states.dumps) == 4 * values
    for index in range(4):
        content = states.family.content_of(index)
        assert all(stream.collective for stream in content.streams)
        assert sizes(states, dump=index) == [(8, 512 * KIB)]
        assert content.flushes == 4


def test_series_of_h5py() -> None:
    series = only_family("h5py-series-1")
    assert (series.family.interface, series.family.level, series.family.schedule.dumps) == (
        Interface.HDF5,
        Level.H5D,
        3,
    )
    density, material = series.family.content_of(0).arrays
    assert (density.dims, density.element, density.chunk) == ([100, 200], 8, None)
    assert (material.dims, material.element, material.chunk) == ([5000], 4, [1000])
    assert {access.direction for access in density.access} == {Direction.READ, Direction.WRITE}
    assert {access.direction for access in material.access} == {Direction.WRITE}
    assert [dump.bytes_written for dump in series.dumps] == [100 * 200 * 8 + 5000 * 4] * 3
    assert [dump.bytes_read for dump in series.dumps] == [100 * 200 * 8] * 3


def test_random_reads_and_their_trace() -> None:
    found = characterize([open_log(own("random-reads-1-dxt"))])
    (table,) = by_rules(found).families
    (stream,) = table.family.content_of(0).streams
    assert (table.family.role, stream.direction, stream.pattern) == (
        Role.INPUT,
        Direction.READ,
        Pattern.RANDOM,
    )
    assert sizes(table, Direction.READ) == [(64, 4 * KIB)]
    trace = open_log(own("random-reads-1-dxt")).dxt("DXT_POSIX")
    assert trace is not None
    writes, reads = trace.segments(0)
    assert (len(writes), reads["offset"].tolist()) == (0, [i * 421 % 1024 * 4096 for i in range(64)])
    assert found.workload.operations is not None
    rows = found.workload.operations.table
    assert rows is not None
    assert rows.offsets.tolist() == reads["offset"].tolist()
    assert trace.hostnames.tolist() == [b"node"]


NOT_ASKED_FOR = ("_TIME", "RANK", "TIMESTAMP", "MAX_READ_TIME_SIZE", "MAX_WRITE_TIME_SIZE", "ALIGN", "MODE")
"""Parts of names of counters that depend on the machine instead of the program."""


def counters_of(log: Path) -> dict[tuple[str, str, int], dict[str, int]]:
    """Counters of the program's files, by module, name and rank."""
    opened = open_log(log)
    found = {}
    for module in set(opened.modules) & {"MPI-IO", "STDIO", "H5F", "H5D"}:
        table = opened.records(module)
        names = [n for n in table.counter_names if not any(part in n for part in NOT_ASKED_FOR)]
        for row, (number, rank) in enumerate(zip(table.ids.tolist(), table.ranks.tolist(), strict=True)):
            name = opened.names[number]
            if name.startswith("/"):
                found[module, name.partition(f"/{log.stem}/")[2], rank] = {
                    key: int(table[key][row]) for key in names
                }
    return found


@pytest.mark.parametrize("name", ["checkpoints-4", "hdf5-states-4", "stdio-output-1"])
def test_programs_still_make_the_logs(name: str, tmp_path: Path) -> None:
    made = next(made for made in maker().LOGS if made.name == name)
    if made.ranks > 1 and shutil.which("mpicc") is None:
        pytest.skip("no MPI compiler")
    allowed = subprocess.run(["unshare", "--map-root-user", "--uts", "true"], capture_output=True)
    if allowed.returncode != 0:
        pytest.skip("no namespaces for users here")
    command = [
        sys.executable,
        str(DATA / "make_logs.py"),
        "--to",
        str(tmp_path),
        "--run",
        str(tmp_path / "run"),
        name,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert counters_of(tmp_path / f"{name}.darshan") == counters_of(own(name))


def maker() -> ModuleType:
    """The script tests/data/make_logs.py as a module."""
    if "make_logs" not in sys.modules:
        spec = importlib.util.spec_from_file_location("make_logs", DATA / "make_logs.py")
        assert spec and spec.loader
        sys.modules["make_logs"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["make_logs"])
    return sys.modules["make_logs"]
