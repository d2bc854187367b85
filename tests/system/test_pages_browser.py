"""Pages that are files in a real browser: phones and screens, dark and light, by the rules of axe-core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import page_cases
import pytest

pytestmark = pytest.mark.system
NAMES = {
    "study": lambda folder: page_cases.study_page(folder, page_cases.STUDIES["in memory"]),
    "joined": lambda folder: page_cases.systems_page(folder, page_cases.JOINED["two systems"]),
    "mix": lambda folder: page_cases.mix_page(folder, page_cases.MIXES["many copies"]),
    "replica": lambda folder: page_cases.replica_page(folder, page_cases.REPLICAS["two families"]),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for name, make in NAMES.items():
        make(folder / name)
        (found[name],) = list((folder / name).rglob("*.html"))
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1100])
def test_pages_fit_and_keep_the_rules_of_axe(
    browser: Any, pages: dict[str, Path], width: int, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    page = context.new_page()
    problems = []
    for name, path in pages.items():
        page.goto(path.as_uri())
        if page.evaluate("document.documentElement.scrollWidth") > width:
            problems.append(f"{name}: wider than the window")
        found = axe.run(page).response["violations"]
        problems += [f"{name}: {v['id']}: {v['nodes'][0]['html'][:200]}" for v in found]
    context.close()
    assert not problems
