"""The cases: workloads that a reader must accept, with their operations, and workloads that it must refuse."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable

from workalike.terminal import printable

Operation = tuple[str, ...]
"""File, operation, offset, size, and for operations of several pieces `pieces x stride`."""
Operations = Mapping[int, tuple[Operation, ...]]
"""Rank -> its operations in order."""
COLUMNS = 5
"""rank, file, operation, offset, size; then pieces."""
WORDS = ("open", "close", "stat", "seek", "read", "write", "flush", "fsync", "map")


RANK = re.compile("[0-9]{1,9}")
LONGEST_TEXT = 200


class NotOperations(ValueError):
    """A text is no list of operations; the message names the line."""


@dataclass(frozen=True)
class Case:
    """A workload. `operations` is None where a reader must refuse it; `about` says what it shows."""

    name: str
    about: str
    text: str
    operations: Operations | None


def all_cases() -> list[Case]:
    """The cases in the order of their names, the valid ones first."""
    folder = resources.files("workalike.conformance").joinpath("cases")
    valid = [_case(path, folder.joinpath("valid")) for path in _workloads(folder.joinpath("valid"))]
    return valid + [_case(path, None) for path in _workloads(folder.joinpath("invalid"))]


def _workloads(folder: Traversable) -> list[Traversable]:
    return sorted((p for p in folder.iterdir() if p.name.endswith(".yaml")), key=lambda p: p.name)


def _case(path: Traversable, valid: Traversable | None) -> Case:
    name, text = path.name.removesuffix(".yaml"), path.read_text()
    expected = None
    if valid is not None:
        expected = operations_of(valid.joinpath(f"{name}.operations").read_text().splitlines())
    return Case(name, text.partition("\n")[0].removeprefix("# "), text, expected)


def operations_of(lines: Iterable[str]) -> Operations:
    """The operations of a text: a line for each, with columns separated by tabs (docs/conformance.md).

    Names of files are replaced by numbers in the order in which they occur, since each reader has names of its own.

    Raises:
        NotOperations: a line has other columns.
    """
    found: dict[int, list[Operation]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        rank, *columns = line.rstrip("\n").split("\t")
        if not RANK.fullmatch(rank) or len(columns) not in (COLUMNS - 1, COLUMNS) or columns[1] not in WORDS:
            raise NotOperations(f"line {number} is not RANK, FILE, OPERATION, OFFSET, SIZE: {line[:80]!r}")
        found.setdefault(int(rank), []).append(tuple(columns))
    return _with_numbered_files(found)


def _with_numbered_files(found: Mapping[int, list[Operation]]) -> Operations:
    numbers: dict[str, str] = {}
    return {
        rank: tuple((numbers.setdefault(file, str(len(numbers))), *rest) for file, *rest in found[rank])
        for rank in sorted(found)
    }


def first_difference(expected: Operations, found: Operations) -> str | None:
    """Where two lists of operations differ first, in words; None where they do not."""
    if expected.keys() != found.keys():
        return f"ranks {_listed(expected)} have operations, found {_listed(found)}"
    for rank in expected:
        for number, (asked, made) in enumerate(zip(expected[rank], found[rank], strict=False), start=1):
            if asked != made:
                return f"rank {rank}, operation {number}: {_text(asked)} expected, found {_text(made)}"
        if len(expected[rank]) != len(found[rank]):
            return f"rank {rank}: {len(expected[rank])} operations expected, found {len(found[rank])}"
    return None


def _listed(ranks: Iterable[int]) -> str:
    return ",".join(map(str, ranks)) or "none"


def _text(operation: Operation) -> str:
    file, word, offset, size, *pieces = operation
    return printable(" ".join((word, f"file {file}", f"at {offset}", f"of {size} bytes", *pieces)))[
        :LONGEST_TEXT
    ]
