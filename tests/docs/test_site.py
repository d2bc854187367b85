"""The site: every page has a place in it, no link is broken, and nothing in it comes from a network."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from known_logs import REPOSITORY

FETCHED = re.compile(
    r'<(?:script|img|iframe)[^>]+src="(https?:[^"]+)"|<link[^>]+rel="stylesheet"[^>]+href="(https?:[^"]+)"'
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`make docs`: strict, so that a broken link, or a page that the navigation lacks, ends it."""
    pytest.importorskip("material")
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(out)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return out


def test_every_page_is_on_it(site: Path) -> None:
    pages = [page.relative_to(REPOSITORY / "docs") for page in (REPOSITORY / "docs").rglob("*.md")]
    apart = {"results", "claims"}
    shown = [page.with_name("index.md") if page.name == "README.md" else page for page in pages]
    missing = [
        page
        for page in shown
        if page.parts[0] not in apart and not (site / page.with_suffix(".html")).is_file()
    ]
    assert missing == []


def test_nothing_is_fetched(site: Path) -> None:
    fetched = {
        name: found
        for page in site.rglob("*.html")
        if (found := FETCHED.findall(page.read_text(encoding="utf-8")))
        for name in [page.name]
    }
    assert fetched == {}


def test_commands_have_their_help(site: Path) -> None:
    page = (site / "commands.html").read_text(encoding="utf-8")
    assert "Usage: workalike replicate" in page and "Usage: workalike fleet ingest" in page


def test_search_finds_the_notebooks(site: Path) -> None:
    """The page with the word in its title comes first, since its title weighs most."""
    entries = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    titles = [entry["location"] for entry in entries if "notebook" in entry["title"].lower()]
    assert titles[0] == "notebooks.html"


def test_links_out_of_the_site_are_paths(site: Path) -> None:
    links = [
        link
        for page in site.rglob("*.html")
        for link in re.findall(r'href="((?:\.\./)+[^"#]+)', page.read_text(encoding="utf-8"))
        if not (page.parent / link).resolve().is_relative_to(site.resolve())
    ]
    assert links == []
