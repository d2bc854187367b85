"""`workalike inspect`: exit codes, one line per error, JSON, ordinary HDF5 files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from typhonio_samples import make_file


def inspect(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from workalike.cli import main; main()", "inspect", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_sound_file(tmp_path: Path) -> None:
    make_file(tmp_path / "a.h5", "unstructured")
    done = inspect("a.h5", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "TyphonIO, sound: 0 errors, 0 warnings, 0 notes"
    assert "    mesh mesh: type unstructured, dimensions 2, " in done.stdout


def test_errors_are_one_line_each(tmp_path: Path) -> None:
    with h5py.File(make_file(tmp_path / "a.h5", "unstructured"), "r+") as file:
        file["state0/mesh/TIO_MESH_NODEIDS"][0] = 0
        del file["state0"].attrs["time"]
    done = inspect("a.h5", cwd=tmp_path)
    assert done.returncode == 1
    errors = [line for line in done.stdout.splitlines() if line.startswith("error: ")]
    assert errors == [
        "error: /state0, attribute time: is missing (write every attribute of the object; a release-built library "
        "reads uninitialised memory instead)",
        "error: /state0/mesh/TIO_MESH_NODEIDS: node IDs begin at 0: whole-mesh reads fail (number nodes from 1; "
        "until then read chunk by chunk)",
    ]
    assert done.stdout.splitlines()[-1] == "TyphonIO, with errors: 2 errors, 0 warnings, 0 notes"


def test_json_is_one_object(tmp_path: Path) -> None:
    with h5py.File(make_file(tmp_path / "a.h5", "colinear"), "r+") as file:
        del file["state0/mesh/TIO_MESH_CHUNKINFO"]
    done = inspect("a.h5", "--json", cwd=tmp_path)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["sound"], answer["counts"]["error"]) == (1, False, 1)
    assert answer["findings"][0]["place"] == "/state0/mesh/TIO_MESH_CHUNKINFO"
    assert answer["tree"]["children"][0]["children"][0]["type"] == "colinear"


def test_an_ordinary_file_is_listed(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset(
            "fields/density", (10, 20), "f4", chunks=(5, 20), compression="gzip", shuffle=True
        )
        file["count"] = np.int64(3)
        file["fields/loop"] = file["fields"]
        file["gone"] = h5py.ExternalLink("other.h5", "/")
    done = inspect("a.h5", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "file /: attributes 0",
        "  dataset count: shape [], type int64, layout contiguous",
        "  group fields: attributes 0",
        "    dataset density: shape [10, 20], type float32, layout chunked, chunk [5, 20], filters shuffle, deflate",
        "    group loop: seen",
        "  external gone",
        "",
        "HDF5, not TyphonIO: listed, not checked",
    ]


@pytest.mark.parametrize("name", ["none.h5", "text.h5"])
def test_no_such_file_and_no_hdf5(name: str, tmp_path: Path) -> None:
    (tmp_path / "text.h5").write_text("hello")
    done = inspect(name, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert name in done.stderr
