"""The portal in a real browser: every kind of page, without scripts, for keyboards and screen readers, light and dark.

The browser is Debian's chromium, driven by Playwright. The rules of axe-core, which the package axe-playwright-python
carries, look at each page.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest

from workalike.fleet.generate.logs import write_fleet
from workalike.fleet.ingest import ingest
from workalike.fleet.site import read_site
from workalike.fleet.store import open_or_make
from workalike.workload.workload_file import parse_workload

pytestmark = pytest.mark.system
PICTURES = "WORKALIKE_PORTAL_PICTURES"
"""A folder for pictures of the pages, if they are wanted."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("centre")
    write_fleet(folder, 80)
    site = folder / "site.yaml"
    store = open_or_make(folder / "db", "")
    ingest(store, [folder / "logs"], read_site(site), site, jobs=2)
    accounting = folder / "jobs.csv"
    accounting.write_text(
        "job_id,user,start,end,nodes\n"
        + "".join(
            f"{n},ada,2026-01-{1 + n % 28:02d}T00:00,2026-01-{1 + n % 28:02d}T02:00,4\n"
            for n in range(1, 100)
        )
    )
    from workalike.fleet.tables_in import read_accounting

    read_accounting(store, accounting, read_site(site))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "workalike", "fleet", "serve", "--db", str(folder / "db"), "--site", str(site), "--open", "--port",
        str(port),
    ]  # fmt: skip
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/"
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(address, timeout=5).close()
                break
            except OSError:
                assert server.poll() is None
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait()


def pages_of(browser: Any, url: str) -> dict[str, str]:
    """One address of each kind of page, found by following links."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(url)
    found = {"jobs": url}
    for kind in ("days", "fs", "users", "applications", "coverage", "metrics"):
        found[kind] = urljoin(url, page.locator(f'nav a[href="/{kind}"]').get_attribute("href"))
    page.goto(urljoin(url, "/?user=ed"))
    found["job"] = urljoin(url, page.locator('td a[href^="/job/"]').first.get_attribute("href"))
    page.goto(found["job"])
    for kind in ("user", "application", "day", "fs", "finding"):
        link = page.locator(f'main a[href^="/{kind}/"]')
        if link.count():
            found[f"one {kind}"] = urljoin(url, link.first.get_attribute("href"))
    context.close()
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_and_the_rules_of_axe(browser: Any, url: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    pages = pages_of(browser, url)
    assert {"job", "one user", "one application", "one day", "one fs", "one finding"} <= set(pages)
    context = browser.new_context(
        color_scheme=scheme, bypass_csp=True, viewport={"width": 1200, "height": 900}
    )
    page = context.new_page()
    problems = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    for name, address in pages.items():
        answer = page.goto(address)
        assert answer.status == 200, name
        found = axe.run(page).response["violations"]
        problems += [f"{name}: {v['id']}: {v['nodes'][0]['html'][:200]}" for v in found]
        folder = os.environ.get(PICTURES)
        if folder:
            page.screenshot(path=Path(folder) / f"{name.replace(' ', '-')}-{scheme}.png", full_page=True)
    context.close()
    assert not problems


def test_axe_finds_what_is_wrong(browser: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = browser.new_page()
    page.set_content('<html><title>t</title><input><p style="color:#eee;background:#fff">pale</p></html>')
    rules = {v["id"] for v in axe.run(page).response["violations"]}
    page.close()
    assert {"html-has-lang", "label", "color-contrast"} <= rules


def test_keyboard_alone_searches(browser: Any, url: str) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(url)
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to content"
    page.locator("input[name=user]").focus()
    page.keyboard.type("cy")
    page.keyboard.press("Enter")
    page.wait_for_url("**user=cy**")
    users = set(page.locator("tbody td:nth-child(2)").all_inner_texts())
    page.close()
    assert users == {"cy"}


def test_the_button_downloads_an_anonymous_workload(browser: Any, url: str, tmp_path: Path) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(urljoin(url, "/?user=ada"))
    page.locator('td a[href^="/job/"]').first.click()
    with page.expect_download() as waiting:
        page.get_by_text("Download the workload").click()
    waiting.value.save_as(tmp_path / "job.yaml")
    page.close()
    text = (tmp_path / "job.yaml").read_text()
    assert parse_workload(text).ranks == 64 and "climate" not in text and "/scratch" not in text


def test_narrow_screens_do_not_scroll_sideways(browser: Any, url: str) -> None:
    page = browser.new_page(viewport={"width": 400, "height": 800})
    for name, address in pages_of(browser, url).items():
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, name
    page.close()
