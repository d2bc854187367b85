"""All pages have one palette: the report's, those of studies and mixes, the diagnosis, and the portal."""

from __future__ import annotations

import re
from pathlib import Path

import workalike
from workalike.report.page import environment

PACKAGE = Path(workalike.__file__).parent
SHARED = PACKAGE / "report" / "templates" / "shared.css"


def test_colours_and_type_are_in_a_single_file() -> None:
    """Other style sheets and templates name them; none defines its own."""
    others = [path for path in PACKAGE.rglob("*") if path.suffix in (".css", ".html") and path != SHARED]
    assert len(others) > 10
    for path in others:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"--(ink|soft|line|paper|ground|accent|type):", text), path
        assert "prefers-color-scheme" not in text, path


def test_names_of_colours_are_defined() -> None:
    known = set(re.findall(r"(--[a-z]+):", SHARED.read_text(encoding="utf-8")))
    for path in [*PACKAGE.rglob("*.css"), *PACKAGE.rglob("*.html")]:
        assert set(re.findall(r"var\((--[a-z]+)\)", path.read_text(encoding="utf-8"))) <= known, path


def test_pages_that_are_files_are_dark_light_and_printed() -> None:
    page = environment().from_string(
        '{% extends "base.html" %}{% block title %}t{% endblock %}{% block brand %}b{% endblock %}'
        "{% block heading %}h{% endblock %}{% block main %}m{% endblock %}"
    )
    text = page.render()
    for word in ("prefers-color-scheme: dark", "@media print", "@media (max-width: 40rem)", "--ink: #1f2933"):
        assert word in text


def test_the_portal_has_the_same_palette_and_marks_its_page(tmp_path: Path) -> None:
    from fleets import plain_log, stored
    from portals import TestClient

    from workalike.fleet.serve.access import Access
    from workalike.fleet.serve.app import portal
    from workalike.fleet.site import Site

    plain_log(tmp_path / "logs", 1)
    store, _ = stored(tmp_path / "db", tmp_path / "logs")
    site = TestClient(portal(store, Access(Site())))
    style = site.get("/style.css").text
    assert style.startswith(SHARED.read_text(encoding="utf-8")) and style.count("@media print") == 2
    for address, name in (("/", "Jobs"), ("/days", "Days")):
        text = site.get(address).text
        assert re.findall(r'<a href="([^"]*)" aria-current="page">([^<]*)</a>', text) == [(address, name)]
