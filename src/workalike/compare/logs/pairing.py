"""Which file of a log is which file of another.

Logs of one program are paired by name, then by what of a name stays from run to run. Where that fails for more than half
of the files (another program, other names), files are paired by what was done with them, in the order of their opens.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from workalike.compare.logs.counters import FILE
from workalike.compare.logs.names import (
    LOOKS_RANDOM,
    MAY_BE_RANDOM,
    common_folder,
    random_keys,
    within,
)
from workalike.compare.logs.side import DIRECTION_BITS, SHARING_BITS, LogSide
from workalike.facts.columns import IdArray
from workalike.facts.naming import is_obfuscated, pattern_of
from workalike.facts.records import BoolArray, FloatArray, IntArray

NAMES_EQUAL = 0.5
"""Share of the files whose names must agree, of the log with fewer files, for a pairing by name."""
NOT_PAIRED = -1


@dataclass(frozen=True)
class Files:
    """What files are paired by, of N files: as `LogSide` has it. `digest` uint64[N] is equal for equal counters."""

    program: str
    ids: IdArray
    names: tuple[str, ...]
    start: BoolArray
    shape: IntArray
    opened: FloatArray
    digest: IdArray

    def __len__(self) -> int:
        return len(self.names)

    def rows(self, which: IntArray) -> Files:
        """Some of the files."""
        return Files(
            self.program,
            self.ids[which],
            tuple(self.names[row] for row in which.tolist()),
            self.start[which],
            self.shape[which],
            self.opened[which],
            self.digest[which],
        )

    def joined(self, other: Files) -> Files:
        """These files, and then those of another run of the program."""
        return Files(
            self.program,
            np.concatenate([self.ids, other.ids]),
            self.names + other.names,
            np.concatenate([self.start, other.start]),
            np.concatenate([self.shape, other.shape]),
            np.concatenate([self.opened, other.opened]),
            np.concatenate([self.digest, other.digest]),
        )


@dataclass(frozen=True)
class Paired:
    """`rows` int64[M]: the row among the first files of each of the others, -1 where it has no partner.

    `ways` counts the application's files by how they were paired: "name", "folder", "pattern", "random", "use".
    """

    rows: IntArray
    ways: Counter[str]


def files_of(side: LogSide) -> Files:
    """The files of a side."""
    return Files(
        side.program,
        side.facts.record_ids,
        side.facts.names,
        side.start,
        side.shape,
        side.opened,
        _digest(side),
    )


def _digest(side: LogSide) -> IdArray:
    """uint64[N], a sum over all counters of a file, each with a factor of its own."""
    out = np.zeros(len(side), dtype=np.uint64)
    for module, values in side.modules.items():
        if module != FILE:
            seed = np.random.default_rng([len(values.names), *module.encode()])
            factors = seed.integers(1, 2**63, size=len(values.names), dtype=np.uint64)
            out[values.file] += (values.values.astype(np.uint64) * factors).sum(axis=1, dtype=np.uint64)
    return out


def pair(first: Files, second: Files) -> Paired:
    """The partner of each file of `second` among those of `first`."""
    rows = np.full(len(second), NOT_PAIRED, dtype=np.int64)
    ways: Counter[str] = Counter()
    _pair_equal_names(first, second, rows)
    ways["name"] = int((rows[~second.start] >= 0).sum())
    exact = _agree(first, second, ways["name"])
    if exact or first.program == second.program:
        before = rows.copy()
        _pair_by_parts_of_names(first, second, rows, ways)
        if exact or _agree(first, second, int((rows[~second.start] >= 0).sum())):
            return Paired(rows, +ways)
        rows = before
        ways = Counter()
    rows[~second.start] = NOT_PAIRED
    _match(first, second, rows, _pattern_keys(first.start), _pattern_keys(second.start))
    _pair_by_use(first, second, rows, ways)
    return Paired(rows, +ways)


def _agree(first: Files, second: Files, paired: int) -> bool:
    """Whether names of enough of the application's files agree."""
    fewer = min(int((~first.start).sum()), int((~second.start).sum()))
    return paired >= NAMES_EQUAL * fewer


def _pair_equal_names(first: Files, second: Files, rows: IntArray) -> None:
    """Ids follow from names; anonymous logs keep only the ids. Files without a name have their own."""
    if not len(first) or not len(second):
        return
    order = np.argsort(first.ids, kind="stable")
    place = np.minimum(np.searchsorted(first.ids, second.ids, sorter=order), len(first) - 1)
    found = order[place]
    same = first.ids[found] == second.ids
    rows[same] = found[same]
    names = _by_key((name or None for name in first.names), _left(rows, len(first)))
    for row in np.flatnonzero(rows < 0).tolist():
        partners = names.get(second.names[row])
        if partners:
            rows[row] = partners.pop(0)


def _left(rows: IntArray, files: int) -> BoolArray:
    """bool[files], which of the first files have no partner yet."""
    free = np.ones(files, dtype=bool)
    free[rows[rows >= 0]] = False
    return free


def _by_key(keys: Iterable[Hashable], free: BoolArray) -> dict[Hashable, list[int]]:
    """Key -> rows of those files that are free; a key of None is none."""
    out: dict[Hashable, list[int]] = defaultdict(list)
    for row, key in enumerate(keys):
        if free[row] and key is not None:
            out[key].append(row)
    return out


Keys = Callable[[Files, int], Hashable]
"""The key of a file by its row; None where it has none."""


def _match(first: Files, second: Files, rows: IntArray, key: Keys, other: Keys | None = None) -> int:
    """Pair files without a partner by a key: those with equal counters first, then in the order of their opens.

    Returns how many of the application's files that were.
    """
    ours = np.flatnonzero(_left(rows, len(first)))
    theirs = np.flatnonzero(rows < 0)
    if not len(ours) or not len(theirs):
        return 0
    groups: dict[Hashable, tuple[list[int], list[int]]] = {}
    for row in ours.tolist():
        if (found := key(first, row)) is not None:
            groups.setdefault(found, ([], []))[0].append(row)
    for row in theirs.tolist():
        found = (other or key)(second, row)
        if found is not None and found in groups:
            groups[found][1].append(row)
    paired = 0
    for before, after in groups.values():
        for left, right in _in_turn(first, second, before, after):
            rows[right] = left
            paired += not second.start[right]
    return paired


def _in_turn(first: Files, second: Files, before: list[int], after: list[int]) -> list[tuple[int, int]]:
    """Pairs of two groups of files."""
    if not after:
        return []
    before = sorted(before, key=lambda row: float(first.opened[row]))
    after = sorted(after, key=lambda row: float(second.opened[row]))
    equal: dict[int, list[int]] = defaultdict(list)
    for row in before:
        equal[int(first.digest[row])].append(row)
    pairs = []
    rest = []
    for row in after:
        partners = equal[int(second.digest[row])]
        if partners:
            pairs.append((partners.pop(0), row))
        else:
            rest.append(row)
    used = {left for left, _ in pairs}
    return pairs + list(zip((row for row in before if row not in used), rest, strict=False))


def _pattern_keys(start: BoolArray) -> Keys:
    """Files of the program's start, by the pattern of their names."""
    return lambda files, row: pattern_of(files.names[row]) if start[row] and files.names[row] else None


def _pair_by_parts_of_names(first: Files, second: Files, rows: IntArray, ways: Counter[str]) -> None:
    """By names without the folder of all files, by patterns, by names without a random part, by names without folders."""
    folders = {
        "first": _folder(first, _left(rows, len(first))),
        "second": _folder(second, rows < 0),
    }

    def keys(which: str, shorten: Callable[[str], str]) -> Keys:
        def key(files: Files, row: int) -> Hashable:
            name = files.names[row]
            if is_obfuscated(name):
                return None
            return bool(files.start[row]), shorten(within(name, folders[which]))

        return key

    def match(shorten: Callable[[str], str]) -> int:
        return _match(first, second, rows, keys("first", shorten), keys("second", shorten))

    ways["folder"] += match(lambda name: name)
    ways["random"] += _pair_by_random(first, second, rows, folders, LOOKS_RANDOM)
    ways["pattern"] += match(pattern_of)
    ways["random"] += _pair_by_random(first, second, rows, folders, MAY_BE_RANDOM)
    ways["folder"] += match(lambda name: name.rpartition("/")[2])


def _folder(files: Files, waiting: BoolArray) -> str:
    """The folder of the application's files that wait for a partner."""
    return common_folder([files.names[row] for row in np.flatnonzero(waiting & ~files.start).tolist()])


def _pair_by_random(first: Files, second: Files, rows: IntArray, folders: dict[str, str], least: int) -> int:
    """Pair names that differ in a part only that looks random, for any of the names at least as much as `least`."""
    ours = np.flatnonzero(_left(rows, len(first)) & ~first.start)
    theirs = np.flatnonzero((rows < 0) & ~second.start)
    if not len(ours) or not len(theirs):
        return 0
    before: dict[str, list[int]] = defaultdict(list)
    looks: Counter[str] = Counter()
    for row in ours.tolist():
        for text, look in random_keys(within(first.names[row], folders["first"])):
            before[text].append(row)
            looks[text] = max(looks[text], look)
    after: dict[str, list[int]] = defaultdict(list)
    for row in theirs.tolist():
        for text, look in random_keys(within(second.names[row], folders["second"])):
            if text in before:
                after[text].append(row)
                looks[text] = max(looks[text], look)
    free = set(ours.tolist())
    paired = 0
    for text, waiting in after.items():
        if looks[text] < least:
            continue
        left = [row for row in waiting if rows[row] < 0]
        for old, new in _in_turn(first, second, [row for row in before[text] if row in free], left):
            rows[new] = old
            free.discard(old)
            paired += 1
    return paired


def _pair_by_use(first: Files, second: Files, rows: IntArray, ways: Counter[str]) -> None:
    """By modules, directions and sharing, with the pattern of the name where that agrees; then without modules."""
    low = (1 << (SHARING_BITS + DIRECTION_BITS)) - 1

    def named(files: Files, row: int) -> Hashable:
        name = files.names[row]
        if files.start[row] or is_obfuscated(name):
            return None
        return pattern_of(name.rpartition("/")[2]), int(files.shape[row])

    def used(files: Files, row: int) -> Hashable:
        return None if files.start[row] else int(files.shape[row])

    def moved(files: Files, row: int) -> Hashable:
        return None if files.start[row] else int(files.shape[row]) & low

    for key in (named, used, moved):
        ways["use"] += _match(first, second, rows, key)
