"""What a reader sees of a page: sentences, questions with their answers, tables, and the texts of figures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

HIDDEN = frozenset({"style", "script", "head", "title", "metadata"})
EMPTY = frozenset({"meta", "br", "img", "link", "hr", "input"})
BLOCKS = frozenset(
    {"p", "li", "dt", "dd", "td", "th", "h1", "h2", "h3", "figcaption", "text", "summary", "pre", "a"}
)
END_OF_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\s\d(])|(?<=[.!?])\s+(?=\d)")


@dataclass
class Block:
    """A piece of text that stands alone: a paragraph, a cell, a label of a figure."""

    section: str
    tag: str
    text: str

    def sentences(self) -> list[str]:
        return [part for part in END_OF_SENTENCE.split(self.text) if part]


@dataclass
class Table:
    """Texts of a table by row; heads are lower case."""

    section: str
    heads: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)

    def column(self, *words: str) -> int | None:
        """The first column whose head has all words."""
        return next((n for n, head in enumerate(self.heads) if all(w in head for w in words)), None)


class Page(HTMLParser):
    """The visible text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.blocks: list[Block] = []
        self.tables: list[Table] = []
        self.sections: list[str] = []
        self._open: list[str] = []
        self._section = "lead"
        self._text = ""
        self.feed(html)
        self.close()
        self._end("body")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "br":
            self._text += " "
        if tag in EMPTY:
            return
        if tag in BLOCKS:
            self._end(self._block())
        self._open.append(tag)
        if tag == "section":
            self._section = dict(attrs).get("id") or ""
            self.sections.append(self._section)
        elif tag == "table":
            self.tables.append(Table(self._section))
        elif tag == "tr" and self.tables and "tbody" in self._open:
            self.tables[-1].rows.append([])

    def handle_endtag(self, tag: str) -> None:
        if tag in EMPTY or tag not in self._open:
            return
        if tag in BLOCKS or tag in ("div", "section", "svg"):
            self._end(tag)
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not HIDDEN & set(self._open):
            self._text += data

    def _block(self) -> str:
        return next((tag for tag in reversed(self._open) if tag in BLOCKS), "div")

    def _end(self, tag: str) -> None:
        text = " ".join(self._text.replace("\N{ZERO WIDTH SPACE}", "").split())
        self._text = ""
        if tag == "th" and self.tables and "thead" in self._open:
            self.tables[-1].heads.append(text.lower())
        elif tag in ("td", "th") and self.tables and self.tables[-1].rows:
            self.tables[-1].rows[-1].append(text)
        if text:
            self.blocks.append(Block(self._section, tag, text))

    def answers(self) -> Iterator[tuple[str, str]]:
        """(question, answer)."""
        question = ""
        for block in self.blocks:
            if block.tag == "dt":
                question = block.text
            elif block.tag == "dd":
                yield question, block.text

    def sentences(self) -> Iterator[tuple[str, str]]:
        """(section, sentence) of all prose: not of cells, and not of labels in figures."""
        for block in self.blocks:
            if block.tag not in ("td", "th", "text", "pre"):
                for sentence in block.sentences():
                    yield block.section, sentence

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.blocks)

    @property
    def prose(self) -> str:
        return " ".join(sentence for _, sentence in self.sentences())

    def tables_in(self, section: str) -> list[Table]:
        return [table for table in self.tables if table.section == section]
