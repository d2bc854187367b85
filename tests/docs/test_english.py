"""The pages' prose: lines of at most 120 characters, and the field's words instead of those that were once coined."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_CHARACTERS = 120

FORBIDDEN = re.compile(
    r"\bmend(s|ed|ing)?\b"  # hint, fix
    r"|\bbeliev(e|es|ed|able)\b"  # plausible
    r"|\bthink(s|ing)?\b|\bthought\b"  # compute time between operations
    r"|\btold\b"  # reported
    r"|\bbehind\b"  # after
    r"|\branks? (that )?meets?\b"  # barrier
    r"|\b(an?|one) (?!(as|by|for|in|is|of|on|than|to|with|without)\b)\w+ (?-i:an?) "
    r"(piece|rank|dump|step|cell|part|file|process|component|segment|variable|chunk|second(?! time)"
    r"|call|column|job|line|log|measure|node|operation|page|row|rule|run|setting|test|trial)\b",
    re.IGNORECASE,
)
"""The last lines: "one call per piece", not "a call a piece" nor "one call a piece"."""

OLD_FIELDS = re.compile(r"`(think|think_s|together|filled|WorkalikeError\.mend)`")
"""Names of earlier versions, which the pages must give to say what became of them."""


def pages() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("the tree is not a git checkout")
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def prose(page: str) -> list[tuple[int, str]]:
    """Lines with their numbers, without blocks of code and without tables."""
    lines = []
    in_block = False
    for number, line in enumerate(page.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_block = not in_block
        elif not in_block and not line.startswith(("    ", "|")):
            lines.append((number, line))
    return lines


def too_long(page: str) -> list[int]:
    """Numbers of the lines of prose that could be broken and are not: a link has no place for that."""
    return [
        number
        for number, line in prose(page)
        if len(line) > MOST_CHARACTERS and not line.startswith(("![", "{{")) and " " in line.strip()[1:]
    ]


def forbidden(page: str) -> list[str]:
    """What the pages do not say; words of tables count, code does not."""
    outside = re.sub(r"^ *```.*?^ *```", "", page, flags=re.MULTILINE | re.DOTALL)
    outside = re.sub(r"^    .*$", "", outside, flags=re.MULTILINE)
    text = " ".join(OLD_FIELDS.sub("", outside).split())
    return [found.group() for found in FORBIDDEN.finditer(text)]


def test_lines_of_prose_are_short() -> None:
    wrong = {str(page.relative_to(ROOT)): too_long(page.read_text(encoding="utf-8")) for page in pages()}
    assert {name: lines for name, lines in wrong.items() if lines} == {}
    assert len(wrong) > 30


def test_pages_use_the_words_of_the_field() -> None:
    wrong = {str(page.relative_to(ROOT)): forbidden(page.read_text(encoding="utf-8")) for page in pages()}
    assert {name: words for name, words in wrong.items() if words} == {}


@pytest.mark.parametrize(
    "text",
    [
        "the mended plan",
        "a believable size",
        "its thinking\ntime",
        "what was told",
        "one behind the other",
        "a call\na piece",
        "| x | a call a piece |",
        "a file a rank",
        "one line a trial",
    ],
)
def test_forbidden_words_are_found(text: str) -> None:
    assert len(forbidden(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "one call per piece",
        "one for a file",
        "the recommended way",
        "`think` is now `compute_time`",
        "```\ntold\n```",
    ],
)
def test_other_words_are_not(text: str) -> None:
    assert forbidden(text) == []


def test_long_lines_are_found_in_prose_alone() -> None:
    long = "word " * 30
    assert too_long(f"{long}\n\n```\n{long}\n```\n\n    {long}\n| {long} |\n* {long}\n") == [1, 9]
    assert too_long("x" * 130) == []
