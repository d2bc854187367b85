"""`workalike check FILE --audit LOG`: proves that none of a log's names are in a workload's text.

The whole text with its comments is searched, without regard to case, for

* names of at least 4 characters, anywhere in the text: executables, hosts, users, words of the command line, path
  components, mount paths, metadata, and the words within these names. Executables, hosts and users of 2 and 3
  characters are searched as whole words. A match inside a word of the schema (`data` in `datasets`) does not count.
* whole numbers of at least 5 digits: job, user and process ids, absolute times, record ids, and names without letters.
  A number that matches by chance is reported, for a person to decide.
* record ids in hexadecimal, and dates.

Long lists in a file beside the workload are searched as its text is. An operation table has only numbers: the ranks, directions, offsets and lengths that its format has columns for. They
are searched for the same numbers, of at least 8 digits: among many offsets, shorter ones match by chance.

Shorter names, and names that are words of the schema, cannot be searched and are therefore listed. So are round numbers
of the command line: they are quantities (`1000000`) rather than names.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workalike.darshan import Log
from workalike.text import plural
from workalike.workload.long_lists import hash_of
from workalike.workload.model import TableReference
from workalike.workload.operation_table import OperationTable
from workalike.workload.secrets import LEAST_DIGITS, LEAST_NAME, SHORT_TOO, Kind, Secrets, secrets_of
from workalike.workload.vocabulary import WORD, schema_words

if TYPE_CHECKING:
    pass

MAX_HITS = 1000
_NUMBER = re.compile(rf"(?<!\d)(?<!\d\.)\d{{{LEAST_DIGITS},}}(?!\d)")
_SHOWN = 20
LEAST_DIGITS_IN_TABLE = 8


LIMIT = (
    "the text is searched as it is: a name that was encoded by hand, in numbers or in another spelling, is not found; "
    "characterize encodes no names"
)
"""What an audit cannot prove; it is part of every report."""


@dataclass(frozen=True)
class Hit:
    """A name of the log in the workload's text, with the line from 1; it is printed, for the officer must see it.

    Line 0 is the operation table. With `listed` it is a line of the file with the long lists.
    """

    line: int
    kind: Kind
    token: str
    listed: bool = False

    def where(self) -> str:
        if not self.line:
            return "operation table"
        return f"line {self.line}" + (" of the long lists" if self.listed else "")


@dataclass(frozen=True)
class AuditReport:
    """The names that were searched, found, and not searchable.

    Attributes:
        lines_read: number of lines of the text.
        searched: number of names by kind.
        hits: names that were found.
        too_short: (kind, name) of names that are too short to search.
        schema_words: (kind, name) of names that are words of the schema.
        quantities: (kind, digits) of round numbers of the command line.
        rows: rows of the operation table.
    """

    lines_read: int
    searched: dict[Kind, int]
    hits: list[Hit]
    too_short: list[tuple[Kind, str]]
    schema_words: list[tuple[Kind, str]]
    quantities: list[tuple[Kind, str]]
    rows: int = 0

    @property
    def clean(self) -> bool:
        return not self.hits

    def as_dict(self) -> dict[str, Any]:
        """The report for --json."""
        return {
            "clean": self.clean,
            "limit": LIMIT,
            "lines_read": self.lines_read,
            "rows_read": self.rows,
            "searched": {kind.value: count for kind, count in self.searched.items()},
            "hits": [
                {"line": h.line, "kind": h.kind.value, "token": h.token, "listed": h.listed}
                for h in self.hits
            ],
            "too_short": [{"kind": kind.value, "name": name} for kind, name in self.too_short],
            "schema_words": [{"kind": kind.value, "name": name} for kind, name in self.schema_words],
            "quantities": [{"kind": kind.value, "name": name} for kind, name in self.quantities],
        }

    def lines(self) -> list[str]:
        """The report for a person to read and sign."""
        counts = ", ".join(f"{kind.value} {count}" for kind, count in self.searched.items())
        out = [
            f"audit: {sum(self.searched.values())} names of the log searched in {self.lines_read} lines",
            f"  by kind: {counts}",
        ]
        if self.rows:
            out.append(
                f"  the operation table has {plural(self.rows, 'row')} of four numbers, and nothing else"
            )
        for hit in self.hits:
            out.append(f"  {hit.where()}: {hit.kind.value} {_printable(hit.token)!r}")
        if len(self.hits) >= MAX_HITS:
            out.append(f"  and more: only the first {MAX_HITS} are listed")
        out += _listed("too short to search", self.too_short)
        out += _listed("not searched, because they are words of the schema", self.schema_words)
        out += _listed(
            "not searched, because round numbers of the command line are quantities", self.quantities
        )
        out.append(f"  {LIMIT}")
        out.append(
            "audit: no name of the log is in the workload"
            if self.clean
            else f"audit: {len(self.hits)} FOUND: remove them, or check that they match by chance"
        )
        return out


def _listed(title: str, names: list[tuple[Kind, str]]) -> Iterator[str]:
    if names:
        shown = ", ".join(f"{_printable(name)} ({kind.value})" for kind, name in names[:_SHOWN])
        more = f", and {len(names) - _SHOWN} more (see --json)" if len(names) > _SHOWN else ""
        yield f"  {title}: {shown}{more}"


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def audit(
    workload_text: str, logs: Sequence[Log], operations: TableReference | None = None, lists_text: str = ""
) -> AuditReport:
    """Search a workload's text, its long lists and its operation table for every name of the logs.

    The hashes of these files in the text are not searched: they follow from the files.

    Raises:
        WorkalikeError: DAMAGED_LOG if a log's names or traces cannot be read.
    """
    secrets = secrets_of(logs)
    vocabulary = schema_words()
    words = [(kind, name) for name, kind in secrets.names.items() if name in vocabulary]
    for _, name in words:
        del secrets.names[name]
    hashes = [operations.sha256] if operations is not None else []
    for sha256 in [*hashes, *([hash_of(lists_text)] if lists_text else [])]:
        workload_text = workload_text.replace(sha256, " " * len(sha256))
    table = operations.table if operations is not None else None
    hits = set(_Text(workload_text).hits(secrets))
    if lists_text:
        hits |= {replace(hit, listed=True) for hit in _Text(lists_text).hits(secrets)}
    if table is not None:
        hits |= set(_in_table(table, secrets.numbers))
    kinds = Counter((*secrets.names.values(), *secrets.numbers.values()))
    return AuditReport(
        lines_read=sum(_lines(text) for text in (workload_text, lists_text) if text),
        searched={kind: kinds[kind] for kind in Kind if kinds[kind]},
        hits=_in_order(hits),
        too_short=_by_kind((kind, name) for name, kind in secrets.too_short.items()),
        schema_words=_by_kind(words),
        quantities=_by_kind((kind, digits) for digits, kind in secrets.quantities.items()),
        rows=len(table) if table is not None else 0,
    )


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


def _in_table(table: OperationTable, numbers: dict[str, Kind]) -> Iterator[Hit]:
    """Long numbers of the log that are offsets or lengths of the table."""
    import numpy as np

    long = {
        int(digits): kind
        for digits, kind in numbers.items()
        if len(digits) >= LEAST_DIGITS_IN_TABLE and int(digits) < 2**63
    }
    wanted = np.array(list(long), dtype=np.int64)
    for column in (table.offsets, table.lengths):
        for value in np.intersect1d(column, wanted).tolist():
            yield Hit(0, long[value], str(value))


def _by_kind(names: Iterable[tuple[Kind, str]]) -> list[tuple[Kind, str]]:
    """Names in the order of their kinds, the most sensitive first: executables, hosts, users, ids."""
    first = (*SHORT_TOO, Kind.ID)
    order = {kind: i for i, kind in enumerate((*first, *(k for k in Kind if k not in first)))}
    return sorted(names, key=lambda n: (order[n[0]], n[1].isdigit(), n[1]))


class _Text:
    """A text, prepared for the search of many names."""

    def __init__(self, text: str) -> None:
        self.text = text.lower()
        self.line_starts = [0, *(m.end() for m in re.finditer("\n", self.text))]
        vocabulary = schema_words()
        self.known = [m.span() for m in WORD.finditer(self.text) if m.group() in vocabulary]
        self.known_starts = [start for start, _ in self.known]
        # A name can only be in the text if all its runs of four characters are.
        self.grams = {self.text[i : i + LEAST_NAME] for i in range(len(self.text) - LEAST_NAME + 1)}

    def hits(self, secrets: Secrets) -> list[Hit]:
        found = set(self._numbers(secrets.numbers))
        for name, kind in secrets.names.items():
            for position in self._places(name):
                found.add(Hit(self._line(position), kind, name))
                if len(found) >= MAX_HITS:
                    return _in_order(found)
        return _in_order(found)

    def _numbers(self, numbers: dict[str, Kind]) -> Iterator[Hit]:
        for match in _NUMBER.finditer(self.text):
            if match.group() in numbers:
                yield Hit(self._line(match.start()), numbers[match.group()], match.group())

    def _places(self, name: str) -> Iterator[int]:
        """The positions of a name outside of the words of the schema; a short name must be a whole word."""
        whole = len(name) < LEAST_NAME
        if not whole and not all(name[i : i + LEAST_NAME] in self.grams for i in range(len(name) - 3)):
            return
        at = self.text.find(name)
        while at >= 0:
            end = at + len(name)
            if not self._in_schema_word(at, end) and not (whole and self._touches_word(at, end)):
                yield at
            at = self.text.find(name, at + 1)

    def _in_schema_word(self, start: int, end: int) -> bool:
        i = bisect_right(self.known_starts, start) - 1
        return i >= 0 and end <= self.known[i][1]

    def _touches_word(self, start: int, end: int) -> bool:
        around = self.text[start - 1 : start] + self.text[end : end + 1]
        return any(c.isalnum() for c in around)

    def _line(self, position: int) -> int:
        return bisect_right(self.line_starts, position)


def _in_order(found: set[Hit]) -> list[Hit]:
    return sorted(found, key=lambda h: (h.listed, h.line, h.kind, h.token))[:MAX_HITS]
