"""Pages that are files have one head and one style; only the portal, which serves its pages, has its own."""

from __future__ import annotations

from pathlib import Path

import workalike

PACKAGE = Path(workalike.__file__).parent


def test_one_template_begins_all_pages() -> None:
    kinds = {".html", ".py"}
    begun = [
        str(path.relative_to(PACKAGE))
        for path in sorted(PACKAGE.rglob("*"))
        if path.suffix in kinds and "<!doctype" in path.read_text(encoding="utf-8").lower()
    ]
    assert begun == ["fleet/serve/templates/page.html", "report/templates/base.html"]
