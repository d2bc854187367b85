"""What the ECP I/O study found in four applications and in HACC-IO is the first finding in programs that do the same.

The applications' programs are in examples/ecp. No threshold is lowered; the tests' file system stands for a shared one.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from known_logs import REPOSITORY

from workalike.characterize import characterize
from workalike.diagnose.diagnosis import diagnosis_of
from workalike.diagnose.finding import Diagnosis, Severity
from workalike.diagnose.job import read_job
from workalike.diagnose.site import Site
from workalike.workload.words import Interface, SharingMode

from .conftest import Profile
from .test_hdf5 import hdf5_flags
from .test_lustre import is_on_a_mount

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(shutil.which("mpiexec") is None or shutil.which("mpicc") is None, reason="no MPI"),
]
HERE = ("btrfs", "ext4", "overlay", "tmpfs", "xfs", "zfs")
"""Types of file systems that tests run on: they stand for the storage that the nodes of a machine share."""
Diagnosed = Callable[..., Diagnosis]


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A folder that is said to be on the node."""
    folder = tmp_path / "node"
    folder.mkdir()
    return folder


@pytest.fixture
def diagnosed(profile: Profile, node: Path) -> Diagnosed:
    storage = {"local": [], "memory": [], "shared": HERE, "folders_of_a_node": [str(node)]}

    def run(program: Path, argument: str, environment: dict[str, str] | None = None) -> Diagnosis:
        done = profile(
            *("mpiexec", "-n", "4", program, argument),
            options=("--dxt", "--events"),
            environment={"TMPDIR": str(node), **(environment or {})},
        )
        return diagnosis_of(read_job([done.log]), Site({"storage": storage}))

    return run


@pytest.fixture
def application(compiled: Callable[..., Path], diagnosed: Diagnosed) -> Diagnosed:
    """The diagnosis of a program of examples/ecp, which does its I/O as the study found it, or as it advises."""

    def run(name: str, how: str = "as-found") -> Diagnosis:
        source = REPOSITORY / "examples" / "ecp" / f"{name}_io.c"
        return diagnosed(compiled(str(source), *hdf5_flags("openmpi"), compiler="mpicc"), how)

    return run


def test_flash_writes_attributes_at_each_step(application: Diagnosed) -> None:
    first = application("flash").findings[0]
    assert (first.rule, first.severity) == ("library-metadata", Severity.HIGH)
    # On each of 4 ranks and in each of 12 steps 2 attributes of 24 datasets are created, opened and written.
    assert first.evidence["attribute_calls"] == 4 * 12 * 2 * 24 * 3
    assert "6,912 calls on attributes" in first.summary


def test_nwchem_has_scratch_files_of_each_process_and_conflicts(application: Diagnosed) -> None:
    found = application("nwchem")
    first = found.findings[0]
    assert (first.rule, first.severity) == ("scratch-files", Severity.HIGH) and first.evidence["files"] == 4
    (conflict,) = [finding for finding in found.findings if finding.rule == "conflict"]
    assert found.consistency is not None and found.consistency.weakest == "POSIX"
    # Rank 0 writes 16 settings and three of them again; the three others read each of these.
    broken = found.consistency.broken
    assert broken["POSIX"] == 0 and broken["commit"] == broken["session"] >= 3 * (16 + 3)
    assert conflict.sure == "certain"


def test_chombo_writes_a_shared_file_independently(application: Diagnosed) -> None:
    found = application("chombo")
    first = found.findings[0]
    assert (first.rule, first.severity) == ("independent-access", Severity.HIGH)
    assert "small-writes" in first.also and first.evidence["writes"] >= 4 * 3 * 400
    assert found.consistency is not None and found.consistency.pairs == 0


def test_chombo_has_a_log_file_of_each_rank(compiled: Callable[..., Path], profile: Profile) -> None:
    """The study: the file-per-process pattern of NWChem's scratch files is Chombo's, too."""
    source = REPOSITORY / "examples" / "ecp" / "chombo_io.c"
    program = compiled(str(source), *hdf5_flags("openmpi"), compiler="mpicc")
    done = profile("mpiexec", "-n", "4", program, "as-found")
    families = [facts.family for facts in characterize([done.log]).families]
    own = [family for family in families if family.sharing.mode is SharingMode.PER_RANK]
    assert [(family.interface, family.members(4)) for family in own] == [(Interface.STDIO, 4)]


def test_qmcpack_overwrites_its_checkpoint(application: Diagnosed) -> None:
    first = application("qmcpack").findings[0]
    assert first.rule == "overwritten-in-place" and first.evidence["times"] == 6
    assert first.gain_at_most_s == 0


@pytest.mark.parametrize("name", ["flash", "nwchem", "chombo", "qmcpack"])
def test_as_advised_nothing_of_it_is_found(application: Diagnosed, name: str) -> None:
    found = application(name, "advised").findings
    assert not [f for f in found if f.severity is not Severity.NOTE]
    blamed = {rule for finding in found for rule in (finding.rule, *finding.also)}
    main = {"library-metadata", "scratch-files", "conflict", "independent-access", "overwritten-in-place"}
    assert not blamed & main


@pytest.fixture
def kernel(compiled: Callable[..., Path]) -> Path:
    return compiled("hacc_like.c", *hdf5_flags("openmpi"), compiler="mpicc")


@pytest.fixture
def on_lustre(compiled: Callable[..., Path], tmp_path: Path) -> dict[str, str]:
    """The environment in which files have three stripes of 1 MiB: a stub stands in for a client of Lustre."""
    if not is_on_a_mount(tmp_path):
        pytest.skip("the mount table does not tell where the test's folder lies")
    return {"LD_PRELOAD": str(compiled("lustre_stub.c", "-shared", "-fPIC")), "STUB_BLOCK": str(2**20)}


def test_hacc_io_is_not_aligned_with_the_stripes(
    kernel: Path, diagnosed: Diagnosed, on_lustre: dict[str, str]
) -> None:
    """The study: the default metadata header slows the writes down, and alignment makes them as fast as MPI-IO's."""
    first = diagnosed(kernel, "default", on_lustre).findings[0]
    assert first.rule == "unaligned"
    assert first.evidence["share"] > 0.9 and "H5Pset_alignment" in first.snippet


def test_hacc_io_with_the_advice_of_the_study_is_aligned(
    kernel: Path, diagnosed: Diagnosed, on_lustre: dict[str, str]
) -> None:
    """Its headers are as many operations as are off: counters do not say that no larger one is."""
    found = diagnosed(kernel, "aligned", on_lustre)
    assert "unaligned" not in {name for finding in found.findings for name in (finding.rule, *finding.also)}
    reasons = {unknown.rule: unknown.reason for unknown in found.cannot_tell}
    assert "as many operations are up to 10 KiB as are not aligned" in reasons["unaligned"]


def test_hacc_io_needs_the_stripes_to_be_judged(kernel: Path, diagnosed: Diagnosed) -> None:
    """The header moves 1 MiB blocks off their boundary: only stripes, which no local file has, make that a problem."""
    found = diagnosed(kernel, "default")
    blamed = {finding.rule for finding in found.findings}
    assert not blamed & {"small-writes", "independent-access", "library-metadata", "unaligned", "conflict"}
    reasons = {unknown.rule: unknown.reason for unknown in found.cannot_tell}
    assert "LUSTRE" in reasons["unaligned"] and "LUSTRE" in reasons["too-few-stripes"]
