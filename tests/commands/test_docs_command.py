"""`workalike docs`: pages of an archive, served to this machine; tests/install has those of a wheel."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from workalike.commands import docs
from workalike.errors import WorkalikeError


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    site = tmp_path / "made"
    (site / "tutorial").mkdir(parents=True)
    for name in ("index", "verdict", "tutorial/first-week"):
        (site / f"{name}.html").write_text(f"<h1>{name}</h1>")
    with tarfile.open(tmp_path / "site.tar.xz", "w:xz") as packed:
        packed.add(site, ".")
    monkeypatch.setattr(docs, "ARCHIVE", tmp_path / "site.tar.xz")
    monkeypatch.setattr(docs, "CHECKOUT", tmp_path / "none")
    return tmp_path / "site.tar.xz"


def test_pages_are_served_from_the_archive(archive: Path) -> None:
    with docs._Site() as site, docs._server(site, 0) as server:
        port = server.server_address[1]
        try:
            docs._server(site, port)
        except WorkalikeError as error:
            assert "choose another port" in error.one_line()
        else:
            pytest.fail("two servers have one port")
