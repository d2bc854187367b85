"""Replicas through PnetCDF: a real log, and logs of our own capture against logs of their replicas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workalike.darshan import open_logs
from workalike.launch.engines import engine_if_built

from .support import SHARED, read_json, workalike

pytestmark = pytest.mark.system

WORKLOAD = """workalike: 2
ranks: 4
families:
- role: output
  interface: pnetcdf
  level: pnetcdf
  lifetime: appended
  schedule: {count: 3, first: 1 s, every: 2 s}
  content:
    fsyncs: 4
    arrays:
    - datasets: 2
      element: 4
      dims: [2, 64, 96]
      extendible: true
      access:
      - direction: write
        collective: true
        slabs: [{count: 8, shape: [1, 32, 96]}]
- role: checkpoint
  interface: pnetcdf
  level: pnetcdf
  schedule: {count: 2, first: 2 s, every: 2 s}
  content:
    arrays:
    - datasets: 3
      dims: [64, 128]
      access:
      - {direction: write, collective: true, nonblocking: true, slabs: [{count: 12, shape: [16, 128]}]}
    - dims: [4096]
      access:
      - {direction: write, slabs: [{count: 8, shape: [512]}]}
"""


@pytest.fixture(autouse=True)
def _built_in() -> None:
    import subprocess

    engine = engine_if_built()
    listed = (
        subprocess.run([str(engine), "--list-backends"], capture_output=True, text=True).stdout
        if engine
        else ""
    )
    if "pnetcdf" not in listed:
        pytest.skip("the engine has no pnetcdf backend (libpnetcdf-dev)")


def sums(log: Path, module: str) -> dict[str, int]:
    """Counters of operations and bytes, summed over a log's variables."""
    (opened,) = open_logs([log])
    table = opened.records(module)
    assert table is not None
    names = [n for n in table.counter_names if n.startswith(("BYTES", "SIZE", "COLL", "INDEP", "NB_"))]
    return {name: int(table[name].sum()) for name in names}


def counters(folder: Path, module: str) -> dict[str, dict[str, Any]]:
    found = read_json(folder / "fidelity.json")["counters"]
    return {c["counter"]: c for c in found if c["module"] == module}


def test_ior_is_replicated_exactly(tmp_path: Path) -> None:
    log = SHARED / "logs/ior-pnetcdf-4.darshan"
    if not log.exists():
        pytest.skip(f"no {SHARED.name}/logs beside the checkout")
    done = workalike(
        "replicate", log, "-o", "replica", "--full", "--time-scale", "0", "--quiet", cwd=tmp_path
    )
    assert done.returncode in (0, 3), done.stderr
    fidelity = read_json(tmp_path / "replica/fidelity.json")
    (family,) = fidelity["families"]
    assert (family["level"], family["bytes_error_max_pct"]) == ("pnetcdf", 0)
    at_level = counters(tmp_path / "replica", "PNETCDF_VAR")
    for name in ("INDEP_READS", "INDEP_WRITES", "COLL_READS", "COLL_WRITES", "BYTES_READ", "BYTES_WRITTEN"):
        assert at_level[name]["replica"] == at_level[name]["original"], name
    below = counters(tmp_path / "replica", "MPI-IO")
    # Beside the data a header of a few hundred bytes; each open reads it in one piece of 256 KiB.
    assert below["BYTES_WRITTEN"]["replica"] == pytest.approx(below["BYTES_WRITTEN"]["original"], abs=512)
    assert below["BYTES_READ"]["replica"] == below["BYTES_READ"]["original"]
    assert below["INDEP_WRITES"]["replica"] == pytest.approx(below["INDEP_WRITES"]["original"], abs=1)
    assert (tmp_path / "replica/replica.darshan").exists()


def test_e3sm_through_pnetcdf_is_an_assumed_layout(tmp_path: Path) -> None:
    log = SHARED / "logs/e3sm-pnetcdf-512.darshan"
    if not log.exists():
        pytest.skip(f"no {SHARED.name}/logs beside the checkout")
    done = workalike(
        "replicate", log, "-o", "replica", "--backend", "pnetcdf", "--bytes-scale", "1/1200",
        "--time-scale", "0", "--verify", "--quiet", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode in (0, 3), done.stderr
    record = read_json(tmp_path / "replica/run.json")
    assert record["verified"]["errors"] == 0
    assert record["verified"]["bytes"] > 60_000_000
    assert {Path(f["name"]).suffix for f in record["files"]} == {".nc"}
    written = {
        f["name"]: f["bytes_error_max_pct"] for f in read_json(tmp_path / "replica/fidelity.json")["families"]
    }
    assert written["checkpoint 1"] < 0.1


def test_a_captured_run_and_the_replica_of_its_log(tmp_path: Path) -> None:
    """Workload -> run under capture -> log -> replica under capture -> log: the same calls at PNETCDF_VAR."""
    (tmp_path / "job.yaml").write_text(WORKLOAD)
    done = workalike(
        "run", "job.yaml", "--dir", "data", "--time-scale", "0.1", "--capture", "--quiet", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    first = sums(tmp_path / "replica.darshan", "PNETCDF_VAR")
    assert first["BYTES_WRITTEN"] == 3 * 2 * 2 * 64 * 96 * 4 + 2 * (3 * 64 * 128 + 4096) * 8
    assert first["COLL_WRITES"] == 3 * 8
    assert (first["NB_WRITES"], first["INDEP_WRITES"]) == (2 * 12, 2 * 8)
    (tmp_path / "app.darshan").write_bytes((tmp_path / "replica.darshan").read_bytes())

    compared = workalike(
        *("replicate", "app.darshan", "-o", "again", "--full", "--time-scale", "0", "--json"),
        *("--require", "bytes=0%,ops=0%"),
        cwd=tmp_path,
    )
    assert compared.returncode == 0, compared.stderr
    families = json.loads(compared.stdout)["families"]
    assert [f["bytes_error_max_pct"] for f in families] == [0] * len(families) != []
    assert sums(tmp_path / "again/replica.darshan", "PNETCDF_VAR") == first
