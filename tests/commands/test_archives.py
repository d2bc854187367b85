"""`workalike FILE` knows the archives of a tender, whatever they are called."""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path

import pytest
from command_line import workalike
from known_logs import own

from workalike.bundle.archive_kind import ArchiveKind, archive_kind_of

WORKLOAD = """\
workalike: 2
ranks: 2
families:
- role: checkpoint
  interface: posix
  schedule: {count: 1}
  content: {streams: [{direction: write, sizes: [1/rank x 4 KiB]}]}
"""


def archive(path: Path, *names: str) -> Path:
    """An archive of empty files."""
    with tarfile.open(path, "w:gz") as packed:
        for name in names:
            packed.addfile(tarfile.TarInfo(name), io.BytesIO())
    return path


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "app.yaml").write_text(WORKLOAD)
    done = workalike("bundle", "app.yaml", "-o", "tender.tar.gz", "--memory-factor", "0", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "tender.tar.gz"


def test_a_bundle_is_recognised(bundle: Path, tmp_path: Path) -> None:
    shutil.copy(bundle, tmp_path / "renamed")
    done = workalike("renamed", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("renamed: a bundle for a tender\n")
    assert "workalike bundle renamed --collect results.tar.gz" in done.stdout


def test_results_are_recognised(tmp_path: Path) -> None:
    archive(tmp_path / "back.tar.gz", "results/app/1/run.jsonl", "results/checksums")
    done = workalike("back.tar.gz", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "an archive of a bundle's results" in done.stdout
    assert "--collect back.tar.gz" in done.stdout


def test_other_archives_and_damaged_ones_are_neither(bundle: Path, tmp_path: Path) -> None:
    other = archive(tmp_path / "logs.tar.gz", "logs/a.darshan", "logs/CHECKSUMS")
    cut = tmp_path / "cut"
    cut.write_bytes(bundle.read_bytes()[:300])
    empty = archive(tmp_path / "empty.tar.gz")
    assert [archive_kind_of(path) for path in (other, cut, empty, own("checkpoints-4"))] == [None] * 4
    assert archive_kind_of(bundle) is ArchiveKind.BUNDLE
