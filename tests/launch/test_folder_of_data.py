"""Folders for data: an unmounted file system must not be replaced by folders on the disk of the root."""

from __future__ import annotations

from pathlib import Path

import pytest

from workalike.cli import app
from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import make_data_folder

WORKLOAD = """\
workalike: 2
ranks: 1
families:
- role: output
  interface: posix
  schedule: {count: 1}
  content:
    streams: [{direction: write, sizes: [1 x 1 KiB]}]
"""


def test_only_the_last_folder_is_made(tmp_path: Path) -> None:
    make_data_folder(tmp_path / "data")
    make_data_folder(tmp_path / "data")
    assert (tmp_path / "data").is_dir()
    with pytest.raises(WorkalikeError, match="is the file system mounted") as caught:
        make_data_folder(tmp_path / "lustre" / "me")
    assert caught.value.kind is ErrorKind.MISSING
    assert not (tmp_path / "lustre").exists()


def test_a_relative_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_data_folder(Path("data"))
    assert (tmp_path / "data").is_dir()


@pytest.mark.mpi
@pytest.mark.parametrize(
    "command", ["run", "mix", "replicate", "study", "ceiling", "calibrate", "diagnose", "evidence"]
)
def test_every_command_refuses_it(tmp_path: Path, command: str) -> None:
    (tmp_path / "app.yaml").write_text(WORKLOAD)
    (tmp_path / "study.yaml").write_text("study: 1\nworkload: app.yaml\nfactors: {ranks: [1]}\n")
    (tmp_path / "mix.yaml").write_text(
        "mix: 1\nworkloads:\n- {name: a, file: app.yaml}\n- {name: b, file: app.yaml}\n"
    )
    gone = tmp_path / "lustre" / "me"
    log = Path(__file__).parents[1] / "data" / "checkpoints-4.darshan"
    arguments: dict[str, tuple[object, ...]] = {
        "run": ("run", tmp_path / "app.yaml"),
        "mix": ("mix", tmp_path / "mix.yaml"),
        "replicate": ("replicate", log),
        "study": ("study", tmp_path / "study.yaml"),
        "ceiling": ("study", "ceiling"),
        "calibrate": ("calibrate",),
        "evidence": ("evidence",),
        "diagnose": ("diagnose", log, "--try", tmp_path / "tried"),
    }
    with pytest.raises(WorkalikeError, match=f"{gone}.*(exist|directory)"):
        app([*map(str, (*arguments[command], "--dir", gone, "-o", tmp_path / "out"))], standalone_mode=False)
    assert not gone.parent.exists()
