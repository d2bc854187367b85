"""Comments and names of C and C++ sources have the words of the field, as pages have."""

from __future__ import annotations

import re
from pathlib import Path

from test_english import forbidden

ROOT = Path(__file__).parents[2]

NAMES = re.compile(r"[\w>*&,(] ?\b(of|one|some|mine|came|told)\b *(=[^=]|[;,){:.]|->)")
"""Variables with names that say nothing of what they hold; functions may have such names."""

COMMENT = re.compile(r"//[^\n]*(?:\n *//[^\n]*)*|/\*.*?\*/", re.DOTALL)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'')


def sources() -> dict[str, str]:
    """Texts of all C and C++ sources."""
    found = {}
    for folder in ("engine", "capture", "counting"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".c", ".h", ".cpp", ".hpp"):
                found[str(path.relative_to(ROOT))] = path.read_text(encoding="utf-8")
    return found


def comments(source: str) -> list[str]:
    """Comments of C or C++, without their marks; lines that follow each other are one."""
    found = COMMENT.findall(STRING.sub('""', source))
    return [re.sub(r"^ *(//+|/?\*+/?)|\*/$", "", text, flags=re.MULTILINE) for text in found]


def forbidden_in_comments(source: str) -> list[str]:
    return [
        word for text in comments(source) for word in forbidden(re.sub(r"^ +", "", text, flags=re.MULTILINE))
    ]


def unclear_names(source: str) -> list[str]:
    code = COMMENT.sub("", STRING.sub('""', source))
    return [found.group(1) for found in NAMES.finditer(code)]


def test_comments_of_sources_use_the_words_of_the_field() -> None:
    found = sources()
    assert len(found) > 300 and sum(len(comments(source)) for source in found.values()) > 2000
    wrong = {name: forbidden_in_comments(source) for name, source in found.items()}
    assert {name: words for name, words in wrong.items() if words} == {}


def test_variables_of_sources_say_what_they_hold() -> None:
    wrong = {name: unclear_names(source) for name, source in sources().items()}
    assert {name: names for name, names in wrong.items() if names} == {}


def test_comments_and_names_of_sources_are_found() -> None:
    source = """\
// All ranks
// meet here.
const Family& of = family(told); /* once behind
   it */
const char* text = "// told"; int x = turns.of(d) + of(e);
for (const Call& one : calls) one.make();
"""
    assert forbidden_in_comments(source) == ["ranks meet", "behind"]
    assert unclear_names(source) == ["of", "told", "one"]
