"""The report in a real browser: complete, self-contained, visible, printable."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from .real_logs import FROM_PACKAGE, package_log
from .support import INSTALL, workalike

pytestmark = pytest.mark.system

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SECTIONS = {
    "does": "What the application does",
    "words": "The workload in words",
    "beside": "Replica and original",
    "times": "Times",
    "bandwidth": "Bandwidth of each dump",
    "uncovered": "What is not covered, and why",
    "how": "How it was measured",
    "versions": "Versions",
}
# Elements and attributes by which a page fetches something.
FETCHING = {"src", "srcset", "data", "poster", "background", "action", "formaction", "ping", "xlink:href"}
LINKING = {"link", "image", "use", "base", "feImage".lower()}


class Page(HTMLParser):
    """What a page shows and what it would fetch."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.headings: dict[str, str] = {}
        self.figures: dict[str, int] = {}
        self.fetched: list[str] = []
        self.scripts = 0
        self._section = ""
        self._in_heading = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "section":
            self._section = values.get("id", "")
        elif tag == "svg":
            self.figures[self._section] = self.figures.get(self._section, 0) + 1
        self._in_heading = tag == "h2"
        self.scripts += tag == "script"
        for name, value in values.items():
            if name in FETCHING or (name == "href" and tag in LINKING):
                self.fetched.append(value)
            elif name == "style":
                self._look_for_urls(value)

    def handle_data(self, data: str) -> None:
        if self._in_heading:
            self.headings[self._section] = data.strip()
            self._in_heading = False
        self._look_for_urls(data)

    def _look_for_urls(self, text: str) -> None:
        self.fetched += re.findall(r"url\(\s*['\"]?([^'\")]+)", text)
        self.fetched += re.findall(r"@import\s+['\"]?([^'\";]+)", text)

    def outside(self) -> list[str]:
        """References that are neither within the page nor data in it."""
        return [value for value in self.fetched if not value.startswith(("#", "data:"))]


@pytest.fixture(scope="module")
def browser() -> str:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no Chromium ({INSTALL})")
    return found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a small replica of a log of 2,048 ranks."""
    log = package_log(FROM_PACKAGE[0])
    if log is None:
        pytest.skip("the package darshan is not installed with its logs")
    folder = tmp_path_factory.mktemp("report")
    done = workalike(
        *("replicate", log, "-o", "replica", "--time-scale", "0", "--bytes-scale", "1/100000", "--quiet"),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return folder / "replica/report.html"


def browse(browser: str, page: Path, profile: Path, *options: str) -> str:
    """Headless, with a new profile, asking nobody on the network; what it prints."""
    done = subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={profile}",
            *options,
            page.as_uri(),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_all_sections_are_rendered_from_the_page_alone(browser: str, report: Path, tmp_path: Path) -> None:
    shown = Page(browse(browser, report, tmp_path / "profile", "--dump-dom"))
    assert {name: shown.headings.get(name) for name in SECTIONS} == SECTIONS
    assert shown.figures.get("does", 0) >= 3
    assert shown.outside() == []
    assert shown.scripts == 0
    assert Page(report.read_text(encoding="utf-8")).outside() == []


def test_something_is_to_be_seen(browser: str, report: Path, tmp_path: Path) -> None:
    picture = tmp_path / "report.png"
    browse(browser, report, tmp_path / "profile", f"--screenshot={picture}", "--window-size=1200,3000")
    pixels = np.asarray(Image.open(picture).convert("RGB"))
    assert pixels.shape[:2] == (3000, 1200)
    paper = pixels[5, 5]
    inked = (np.abs(pixels.astype(int) - paper).max(axis=2) > 32).mean(axis=1)
    # Text and figures all over, not a heading over an empty page: most of ten strips have something in them.
    strips = [strip.mean() > 0.002 for strip in np.array_split(inked, 10)]
    assert sum(strips) >= 8, strips
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 100


def test_it_prints(browser: str, report: Path, tmp_path: Path) -> None:
    paper = tmp_path / "report.pdf"
    browse(browser, report, tmp_path / "profile", f"--print-to-pdf={paper}", "--no-pdf-header-footer")
    data = paper.read_bytes()
    assert data.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", data)) >= 2
