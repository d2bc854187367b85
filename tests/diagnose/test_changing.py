"""Changes of families whose HDF5 files are opened without MPI-IO."""

from __future__ import annotations

from typing import Any

from workalike.diagnose import changing


def serial() -> dict[str, Any]:
    access = {"direction": "write", "slabs": [{"count": 8, "shape": [10]}]}
    content = {"flush": "each", "arrays": [{"dims": [20], "access": [access]}]}
    tunable = {"driver": "serial", "deflate": 1}
    return {"interface": "hdf5", "sharing": {"mode": "per-rank"}, "content": content, "tunable": tunable}


def test_ranks_that_share_their_files_open_them_with_mpi() -> None:
    family = serial()
    assert changing.merged(family, changing.Scale(4, 4, 4))
    assert family["tunable"] == {"deflate": 1}
    assert "flush" not in family["content"]


def test_settings_of_mpi_change_nothing_without_it() -> None:
    family = serial()
    assert not changing.tuned(collective_metadata=True)(family, changing.Scale(4, 4, 4))
    assert family == serial()
    assert changing.tuned(alignment=4096)(family, changing.Scale(4, 4, 4))
    assert family["tunable"]["driver"] == "serial"
