"""The real library's log and the meshes that stand for it: the same MPI-IO calls, checkpoint by checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from workalike.darshan import open_log

from .support import SHARED, needs, read_json, workalike

pytestmark = pytest.mark.system

LOG = SHARED / "logs/mphys-c-small-typhonio-4.darshan"
WRITTEN_WITH = "1.10.8"  # the HDF5 of the log: others have calls of their own
CALLS = ("COLL_WRITES", "INDEP_WRITES", "COLL_READS", "INDEP_READS", "BYTES_READ")
CHECKPOINTS = 27


def counted(path: Path, counter: str) -> dict[str, int]:
    """An MPI-IO counter of every HDF5 file of a log, summed over the ranks."""
    log = open_log(path)
    table = log.records("MPI-IO")
    assert table is not None
    sums: dict[str, int] = {}
    for number, value in zip(table.ids.tolist(), table[counter].tolist(), strict=True):
        name = Path(log.names[number]).name
        if name.endswith(".h5"):
            sums[name] = sums.get(name, 0) + value
    return dict(sorted(sums.items()))


def test_meshes_make_the_calls_of_the_real_library(tmp_path: Path) -> None:
    needs("mpiexec")
    if not LOG.exists():
        pytest.skip(f"{LOG.name} is not beside the checkout")
    # The part of the calls that the library makes, nothing of which the workload says: groups, attributes, tables.
    workalike("characterize", LOG, "--model", "mesh", "--variables", 43, "-o", "w.yaml", cwd=tmp_path)
    environment = {"OMPI_MCA_io": "romio321"}
    done = workalike(
        *("run", "w.yaml", "--dir", "data", "--time-scale", 0, "--capture", "--keep", "-o", "."),
        cwd=tmp_path,
        environment=environment,
    )
    assert done.returncode == 0, done.stderr
    if WRITTEN_WITH not in read_json(tmp_path / "run.json")["environment"]["hdf5"]:
        pytest.skip(f"the log is of HDF5 {WRITTEN_WITH}")
    for counter in CALLS:
        original = list(counted(LOG, counter).values())
        assert list(counted(tmp_path / "replica.darshan", counter).values()) == original, counter
    original = list(counted(LOG, "BYTES_WRITTEN").values())
    assert len(original) == CHECKPOINTS + 1
    replica = list(counted(tmp_path / "replica.darshan", "BYTES_WRITTEN").values())
    assert replica == pytest.approx(original, rel=1e-3)
    (kept,) = (tmp_path / "data").glob("visualization-1.0000.*.h5")
    inspected = workalike("inspect", kept, cwd=tmp_path)
    assert inspected.returncode == 0, inspected.stdout
    assert "state27" in inspected.stdout


def test_a_log_is_replicated_as_meshes(tmp_path: Path) -> None:
    needs("mpiexec")
    if not LOG.exists():
        pytest.skip(f"{LOG.name} is not beside the checkout")
    done = workalike(
        *("replicate", LOG, "--model", "mesh", "--full", "--time-scale", 0, "--quiet", "-o", "r"),
        cwd=tmp_path,
    )
    assert done.returncode == 3, done.stderr  # its module of datasets is partial
    families = {f["name"]: f for f in read_json(tmp_path / "r/fidelity.json")["families"]}
    assert {f["level"] for f in families.values()} == {"mpiio"}
    # A file's bytes are hit but for a node of the mesh; of a state the log has an estimate.
    assert families["checkpoint 1"]["bytes_error_max_pct"] < 0.1
    assert families["visualization 1"]["total_bytes_error_pct"] < 0.01
