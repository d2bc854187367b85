"""Citations of docs/reference, and links between pages of the documentation, have existing targets."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

CITATION = re.compile(r"docs/reference/([\w.-]+\.md)(#[\w-]+)?((?:(?: to | and |, )#[\w-]+)*)")
LINK = re.compile(r"\]\(([^()\s]*\.md)?(#[\w-]+)?\)")
OLD_STYLE = re.compile(
    r'[Ff]act sheet|\b[Ff]acts [A-F]\d?\b|\((?:facts|verified) [\w-]*\d|design, "', re.MULTILINE
)
"""Citations of documents that are not in the repository."""


def tracked(*kinds: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("the tree is not a git checkout")
    return [
        path
        for name in listed.stdout.splitlines()
        if (path := ROOT / name).suffix in kinds and path.is_file() and path != Path(__file__)
    ]


@cache
def anchors(page: Path) -> frozenset[str]:
    """Anchors of a page: of its headings, as code hosts make them from the text, and of rows that have one."""
    outside_code = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", outside_code, flags=re.MULTILINE)
    words = (re.sub(r"[^\w\- ]", "", heading.strip().lower()) for heading in headings)
    rows = re.findall(r'<a id="([\w-]+)"></a>', outside_code)
    return frozenset([*(word.replace(" ", "-") for word in words), *rows])


def is_there(page: Path, anchor: str) -> bool:
    return page.is_file() and (not anchor or anchor.removeprefix("#") in anchors(page))


def dangling(text: str) -> list[str]:
    """Citations of docs/reference in a text whose page or anchor does not exist."""
    found = []
    for page, anchor, further in CITATION.findall(text):
        target = ROOT / "docs" / "reference" / page
        for wanted in [anchor, *re.findall(r"#[\w-]+", further)]:
            if not is_there(target, wanted):
                found.append(page + wanted)
    return found


SOURCES = (".py", ".hpp", ".cpp", ".h", ".c", ".md", ".json", ".yaml", ".txt", "")


def test_citations_of_the_reference_exist() -> None:
    cited = 0
    wrong = {}
    for path in tracked(*SOURCES):
        text = path.read_text(errors="replace")
        cited += len(CITATION.findall(text))
        if bad := dangling(text):
            wrong[str(path.relative_to(ROOT))] = bad
    assert wrong == {}
    assert cited > 60


def test_no_citation_of_what_is_not_in_the_repository() -> None:
    wrong = []
    for path in tracked(".py", ".hpp", ".cpp", ".h", ".c", ".md", ".json"):
        name = str(path.relative_to(ROOT))
        lines = path.read_text(errors="replace").splitlines()
        wrong += [f"{name}:{n}: {line.strip()}" for n, line in enumerate(lines, 1) if OLD_STYLE.search(line)]
    assert wrong == []


def test_links_between_pages_exist() -> None:
    wrong = []
    for path in tracked(".md"):
        for page, anchor in LINK.findall(path.read_text()):
            if (page or anchor) and not is_there((path.parent / page).resolve() if page else path, anchor):
                wrong.append(f"{path.relative_to(ROOT)}: {page}{anchor}")
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see docs/reference/terms.md#level", []),
        ("see docs/reference/terms.md#level and #clock", []),
        ("see docs/reference/terms.md#levels", ["terms.md#levels"]),
        ("see docs/reference/terms.md#level to #nowhere", ["terms.md#nowhere"]),
        ("see docs/reference/absent.md", ["absent.md"]),
    ],
)
def test_dangling_citation_is_found(text: str, found: list[str]) -> None:
    assert dangling(text) == found


@pytest.mark.parametrize(
    "text", ["(facts A7)", 'facts B, "Strides"', "fact sheet C.4", "(verified 4.10)", 'design, "Scaling"']
)
def test_old_style_is_found(text: str) -> None:
    assert OLD_STYLE.search(text)


@pytest.mark.parametrize(
    "text", ["merged facts of a file", "FileFacts", "verified 3 files", "moved_by(facts, direction)"]
)
def test_other_uses_of_the_words_are_not(text: str) -> None:
    assert not OLD_STYLE.search(text)
