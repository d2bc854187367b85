"""The site in a real browser: its search finds what people look for, and its pages fit phones and screens, light and dark."""

from __future__ import annotations

import functools
import http.server
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from known_logs import REPOSITORY

pytestmark = pytest.mark.system

TASKS = {
    "replicate slurm 512 ranks": {"slurm"},
    "acceptance": {"acceptance"},
    "compare two file systems": {"study", "statistics"},
    "read a verdict": {"verdict"},
    "training workload samples epoch": {"workload-format", "workload-contents"},
    "export ior": {"exchange"},
    "static fortran": {"capture"},
    "confidentiality names": {"confidentiality"},
    "notebook": {"notebooks", "python-api"},
}
"""What a person types -> pages that answer it; one must be among the first three results."""
FIRST = 3
PATIENCE_S = 60
PAGES = (
    "index",
    "tutorial/log-to-verdict",
    "verdict",
    "install",
    "workload-format",
    "commands",
    "glossary",
    "findings/index",
)
WIDTHS = (390, 768, 1440)


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("material")
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(out)]
    subprocess.run(command, cwd=REPOSITORY, check=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=str(out)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.parametrize("typed", TASKS)
def test_search(browser: Any, address: str, typed: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/index.html")
    page.locator("input.md-search__input").focus()
    # Words that are typed before the index is read may get lost; results follow each key.
    ready = "!document.querySelector('.md-search-result__meta').textContent.includes('Initializing')"
    page.wait_for_function(ready, timeout=PATIENCE_S * 1000)
    page.keyboard.type(typed)
    end, first = time.monotonic() + PATIENCE_S, []
    while not TASKS[typed] & set(first) and time.monotonic() < end:
        page.wait_for_timeout(200)
        first = first_results(page, address)
    page.close()
    assert TASKS[typed] & set(first), first


def first_results(page: Any, address: str) -> list[str]:
    """The pages that the search shows first."""
    links = page.locator(".md-search-result__item > .md-search-result__link")
    found = links.evaluate_all("links => links.map(link => link.href.split(/[#?]/)[0])")
    return [str(Path(link.removeprefix(f"{address}/")).with_suffix("")) for link in dict.fromkeys(found)][
        :FIRST
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_fit_and_keep_the_rules_of_axe(browser: Any, address: str, width: int, scheme: str) -> None:
    assert not problems_on(browser, [f"{address}/{name}.html" for name in PAGES], width, scheme)


def problems_on(browser: Any, links: list[str], width: int, scheme: str) -> list[str]:
    """What axe finds on pages, and which are wider than the window.

    A page is loaded at its width: where a window is resized, tabs fade in, and axe sees them half faded.
    """
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    page = context.new_page()
    problems = []
    for link in links:
        page.goto(link)
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            problems.append(f"{link}: wider than the window")
        found = axe.run(page).response["violations"]
        problems += [f"{link}: {v['id']}: {v['nodes'][0]['html'][:160]}" for v in found]
    context.close()
    return problems


CUT = """() => [...document.querySelectorAll("main *")].filter(e => {
  const style = getComputedStyle(e);
  return style.overflowX !== "visible" && e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1
    && e.textContent.trim() && style.visibility !== "hidden" && !e.closest("svg");
}).map(e => e.tagName + " " + e.textContent.trim().slice(0, 60))"""
"""What is cut on paper: blocks that a screen scrolls."""


def every_page(address: str, browser: Any) -> list[str]:
    page = browser.new_page()
    page.goto(f"{address}/index.html")
    found = page.evaluate(
        "fetch('search/search_index.json').then(r => r.json()).then(i => i.docs.map(d => d.location.split('#')[0]))"
    )
    linked = page.evaluate("[...document.querySelectorAll('nav a[href]')].map(a => a.href.split('#')[0])")
    page.close()
    names = {f"{address}/{name}" for name in found} | {link for link in linked if link.startswith(address)}
    return sorted(names)


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_on_screens(browser: Any, address: str, width: int, scheme: str) -> None:
    pages = every_page(address, browser)
    assert len(pages) > 80
    assert not problems_on(browser, pages, width, scheme)


@pytest.mark.long
def test_every_page_on_paper(browser: Any, address: str) -> None:
    context = browser.new_context(viewport={"width": 720, "height": 1000})
    page = context.new_page()
    page.emulate_media(media="print")
    problems = []
    for link in every_page(address, browser):
        page.goto(link)
        problems += [f"{link}: {text}" for text in page.evaluate(CUT)]
    context.close()
    assert not problems
