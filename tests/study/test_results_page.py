"""The page that a study's trials become: which factors it tells apart."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from studies import WORKLOAD, workalike, write_study


@pytest.mark.mpi
def test_workloads_are_a_factor_of_the_page(tmp_path: Path) -> None:
    """Two workloads have a line each in the figure of scaling; they are not pooled."""
    (tmp_path / "other.yaml").write_text(WORKLOAD.replace("64 KiB", "128 KiB"))
    study = write_study(
        tmp_path,
        workload=None,
        workloads={"small": "w.yaml", "large": "other.yaml"},
        fixed={"time_scale": 0},
        factors={"ranks": [1, 2]},
        blocks=2,
        a_a=False,
    )
    done = workalike("study", study, "-o", tmp_path / "out", "--no-ceiling", "-q")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "out" / "figures" / "scaling.csv").open() as file:
        rows = list(csv.DictReader(file))
    lines = {(row["workload"], row["ranks"]): row["trials"] for row in rows}
    assert lines == {(name, ranks): "2" for name in ("small", "large") for ranks in ("1", "2")}
