"""What the ECP I/O study found in five applications is found in small programs that do the same.

The programs are of this project. Thresholds that are counts at scale are lowered to the scale of four ranks.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from workalike.diagnose.diagnosis import diagnosis_of
from workalike.diagnose.finding import Diagnosis, Severity
from workalike.diagnose.job import read_job
from workalike.diagnose.site import Site

from .conftest import Profile
from .test_hdf5 import hdf5_flags
from .test_lustre import is_on_a_mount

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(shutil.which("mpiexec") is None or shutil.which("mpicc") is None, reason="no MPI"),
]
HERE = ("btrfs", "ext4", "overlay", "tmpfs", "xfs", "zfs")
"""Types of file systems that tests run on: they stand for the storage that the nodes of a machine share."""
AT_SMALL_SCALE = Site(
    {
        "file-per-process": {"ranks": 4},
        "job": {"minimum_run_time_s": 0.01},
        "storage": {"local": [], "memory": [], "shared": HERE},
    }
)


@pytest.fixture
def diagnosed(profile: Profile, compiled: Callable[..., Path]) -> Callable[..., Diagnosis]:
    program = compiled("ecp_like.c", *hdf5_flags("openmpi"), compiler="mpicc")

    def run(name: str, environment: dict[str, str] | None = None) -> Diagnosis:
        (profile.folder / "scratch").mkdir()
        command = ("mpiexec", "-n", "4", program, name)
        done = profile(*command, options=("--dxt", "--events"), environment=environment or {})
        return diagnosis_of(read_job([done.log]), AT_SMALL_SCALE)

    return run


def test_flash_writes_attributes_at_each_step(diagnosed: Callable[[str], Diagnosis]) -> None:
    found = diagnosed("flash")
    first = found.findings[0]
    assert (first.rule, first.severity) == ("library-metadata", Severity.HIGH)
    assert (
        first.evidence["metadata_writes"] > 0.9 * first.evidence["writes"]
    )  # the data are 60 collective writes
    # On each of 4 ranks and in each of 15 steps 60 attributes are created, written and opened.
    assert (
        first.evidence["attribute_calls"] == 4 * 15 * 60 * 3 and "10,800 calls on attributes" in first.summary
    )
    assert "small-writes" not in {finding.rule for finding in found.findings}


def test_nwchem_has_scratch_files_of_each_process_and_conflicts(
    diagnosed: Callable[[str], Diagnosis],
) -> None:
    found = diagnosed("nwchem")
    first = found.findings[0]
    assert first.rule == "file-per-process" and first.evidence["files"] == 4 * 20
    (conflict,) = [finding for finding in found.findings if finding.rule == "conflict"]
    assert found.consistency is not None and found.consistency.weakest == "POSIX"
    # Rank 0 writes four records of the database; the three others read each of them.
    assert found.consistency.broken == {"POSIX": 0, "commit": 12, "MPI-IO": 12, "session": 12}
    assert conflict.sure == "certain"


def test_chombo_writes_a_shared_file_independently(diagnosed: Callable[[str], Diagnosis]) -> None:
    found = diagnosed("chombo")
    first = found.findings[0]
    assert first.rule == "independent-access" and first.severity is Severity.HIGH
    assert "small-writes" in first.also and first.evidence["writes"] >= 4 * 1500
    assert "small-writes" not in {finding.rule for finding in found.findings}
    assert found.consistency is not None and found.consistency.pairs == 0


def test_qmcpack_overwrites_its_checkpoint(diagnosed: Callable[[str], Diagnosis]) -> None:
    first = diagnosed("qmcpack").findings[0]
    assert first.rule == "overwritten-in-place" and first.evidence["times"] == 5
    assert first.gain_at_most_s == 0


@pytest.fixture
def on_lustre(compiled: Callable[..., Path], tmp_path: Path) -> dict[str, str]:
    """The environment in which files have three stripes of 1 MiB: a stub stands in for a client of Lustre."""
    if not is_on_a_mount(tmp_path):
        pytest.skip("the mount table does not tell where the test's folder lies")
    return {"LD_PRELOAD": str(compiled("lustre_stub.c", "-shared", "-fPIC")), "STUB_BLOCK": str(2**20)}


def test_hacc_io_is_not_aligned_with_the_stripes(
    diagnosed: Callable[..., Diagnosis], on_lustre: dict[str, str]
) -> None:
    """The study: the default metadata header slows the writes down, and alignment makes them as fast as MPI-IO's."""
    first = diagnosed("hacc", on_lustre).findings[0]
    assert first.rule == "unaligned"
    assert first.evidence["share"] > 0.9 and "H5Pset_alignment" in first.snippet


def test_hacc_io_with_the_advice_of_the_study_is_aligned(
    diagnosed: Callable[..., Diagnosis], on_lustre: dict[str, str]
) -> None:
    """Its headers are as many operations as are off: counters do not say that no larger one is."""
    found = diagnosed("hacc_aligned", on_lustre)
    assert "unaligned" not in {name for finding in found.findings for name in (finding.rule, *finding.also)}
    reasons = {unknown.rule: unknown.reason for unknown in found.cannot_tell}
    assert "as many operations are up to 10 KiB as are not aligned" in reasons["unaligned"]


def test_hacc_io_needs_the_stripes_to_be_judged(diagnosed: Callable[[str], Diagnosis]) -> None:
    """The header moves 1 MiB blocks off their boundary: only stripes, which no local file has, make that a problem."""
    found = diagnosed("hacc")
    blamed = {finding.rule for finding in found.findings}
    assert not blamed & {"small-writes", "independent-access", "library-metadata", "unaligned", "conflict"}
    reasons = {unknown.rule: unknown.reason for unknown in found.cannot_tell}
    assert "LUSTRE" in reasons["unaligned"] and "LUSTRE" in reasons["too-few-stripes"]
