"""Which files are set aside. Each rule has a name; the report says what each of them set aside.

*Program start*: files of the loader, the interpreter, the C library and MPI, and standard streams, by their names. They
are in no denominator. *Negligible*: files whose bytes, calls and time are all small, so that all of them together are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from workalike.darshan import record_id
from workalike.facts import naming
from workalike.facts.amounts import Amounts, FileAmounts
from workalike.facts.records import FileFacts
from workalike.facts.rules import NoiseRule
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.words import Reason

STREAM_NAMES = ("<STDIN>", "<STDOUT>", "<STDERR>")
# Anonymised logs have other names, but keep the record ids of the original ones.
STREAM_IDS = frozenset(record_id(name) for name in STREAM_NAMES)

_LIBRARY = re.compile(
    r"\.(?:so(?:\.[0-9.]+)?|pyc?|pyd|jar|class|egg|dist-info|la|mod)$|/__pycache__/|/pyvenv\.cfg$"
)
_SYSTEM = re.compile(
    r"^/(?:etc|dev|usr|bin|boot|lib|lib64|opt|sbin|sys|proc)/|^/tmp$|/site-packages/|/(?:jre|jdk)[^/]*/lib/"
)
_MPI = re.compile(
    r"_cid-[^/]*\.sm$|\.locktest\.\d+$|/ompi\.[^/]+/|/\.?shfp\.|romio-hints$|/mca_[^/]+$|/vader_segment|/openmpi-sessions"
    r"|\.shfp\.\d+$|/prte(?:run)?\.[^/]+/|-\d+-\d+\.lock$"
)
_BYTE_CODE = re.compile(r"\.pyc$|/__pycache__/")
_KERNEL = re.compile(r"^/(?:dev|proc|sys)/")
_MEMORY = "/dev/shm/"
"""Where a library has its shared memory, and an application may have files."""


Shares = tuple[float, float, float]


class SetAside(NamedTuple):
    """What a rule set aside: how many files, and what they amount to."""

    rule: NoiseRule
    files: int
    amounts: Amounts


Noise = list[SetAside]

REASONS = dict.fromkeys(NoiseRule, Reason.PROGRAM_START) | {NoiseRule.NEGLIGIBLE: Reason.NEGLIGIBLE}
"""How a workload says why files of a rule are not in it."""


def is_standard_stream(file: FileFacts) -> bool:
    return file.name in STREAM_NAMES or file.record_id in STREAM_IDS


def is_library(file: FileFacts) -> bool:
    """Whether it is a shared library, Python module or the like, which the loader reads and not the application."""
    return _LIBRARY.search(file.name) is not None


def is_system_path(file: FileFacts) -> bool:
    return _SYSTEM.search(file.name) is not None


def is_mpi_temporary(file: FileFacts) -> bool:
    """Whether it is a temporary file of an MPI library (docs/reference/reading-counters.md#noise)."""
    return _MPI.search(file.name) is not None


def file_that_mpi_tried(name: str) -> str | None:
    """The data file beside which an MPI library made a temporary file, such as FILE.locktest.0; None for other names."""
    found = _MPI.search(name)
    return name[: found.start()] if found is not None else None


RULES: dict[NoiseRule, Callable[[FileFacts], bool]] = {
    NoiseRule.STREAM: is_standard_stream,
    NoiseRule.LIBRARY: is_library,
    NoiseRule.SYSTEM: is_system_path,
    NoiseRule.MPI: is_mpi_temporary,
}
"""The rules of program start, each of which needs a name only."""


@lru_cache(maxsize=1 << 16)
def is_noise_by_name(name: str) -> bool:
    """Whether a file is not the application's, by its name alone: streams, libraries, system paths, MPI's own."""
    file = FileFacts(0, name, 1)
    return any(holds(file) for holds in RULES.values())


def is_program_start(number: int, name: str) -> bool:
    """Whether a file belongs to the start of a program, by its name or, where names are tokens, its record id."""
    return number in STREAM_IDS or is_noise_by_name(name)


def noise_of(numbers: Sequence[int], names: Sequence[str], amounts: FileAmounts) -> list[NoiseRule | None]:
    """The rule by which each file is set aside; None for those of the workload.

    Args:
        numbers: the files' record ids.
        names: their names.
        amounts: what they amount to.
    """
    labels = start_labels(numbers, names, amounts)
    left = [place for place, label in enumerate(labels) if label is None]
    small = _negligible(names, left, amounts)
    # However small, what a run writes is what it is for: a file that is converted, say.
    written = {place for place in left if amounts.written[place] > 0}
    for place in small - written if written <= small else small:
        labels[place] = NoiseRule.NEGLIGIBLE
    return labels


def start_labels(
    numbers: Sequence[int], names: Sequence[str], amounts: FileAmounts
) -> list[NoiseRule | None]:
    """The rule by which each file belongs to program start, by its name; None for the others.

    What an application writes is its own whatever its name is: a library that it builds, a checkpoint below `/opt`. A
    folder of files of program start is one of them if nothing was done but to ask for its state, a few times for each
    of these files.
    """
    labels = [_of_start(*file) for file in zip(numbers, names, strict=True)]
    for place, name in enumerate(names):
        if labels[place] in (NoiseRule.LIBRARY, NoiseRule.SYSTEM) and _is_data(name, place, amounts):
            labels[place] = None
    folders = _folders([name for name, label in zip(names, labels, strict=True) if label is not None])
    # An interpreter asks each folder of its path for its state when it looks for a module.
    most = THRESHOLDS.noise_folder_stats * sum(label is not None for label in labels)
    for place, name in enumerate(names) if folders else ():
        stats = amounts.stats[place]
        if labels[place] is None and name in folders and amounts.calls[place] == stats <= most:
            labels[place] = NoiseRule.LIBRARY
    return labels


def _is_data(name: str, place: int, amounts: FileAmounts) -> bool:
    """Whether a file of such a name is the application's all the same, by what was done with it."""
    if name.startswith(_MEMORY):
        return bool(amounts.bytes[place] > 0)
    cached = _BYTE_CODE.search(name) or _KERNEL.search(name)
    return cached is None and bool(amounts.written[place] > 0)


def _folders(names: Sequence[str]) -> set[str]:
    """All folders that the files lie in, at any depth."""
    out: set[str] = set()
    for name in names:
        folder = name.rpartition("/")[0]
        while folder and folder not in out:
            out.add(folder)
            folder = folder.rpartition("/")[0]
    return out


def set_aside(labels: Sequence[NoiseRule | None], amounts: FileAmounts) -> Noise:
    """What each rule has set aside, by the labels of `noise_of`."""
    places: dict[NoiseRule, list[int]] = defaultdict(list)
    for place, label in enumerate(labels):
        if label is not None:
            places[label].append(place)
    return [
        SetAside(rule, len(places[rule]), amounts.total(places[rule])) for rule in NoiseRule if rule in places
    ]


def _of_start(number: int, name: str) -> NoiseRule | None:
    if not is_program_start(number, name):
        return None
    file = FileFacts(number, name, 1)
    return next(rule for rule, holds in RULES.items() if holds(file))


def _negligible(names: Sequence[str], left: Sequence[int], amounts: FileAmounts) -> set[int]:
    """The files of the smallest groups, as long as these groups together stay below the limit in all three shares.

    Files of one name pattern are one group: the first of many growing checkpoints is small, but not negligible. The size of
    a group is the largest of its shares of bytes, calls and seconds. A few groups more make no workload harder to read:
    there, nothing is negligible.
    """
    whole = amounts.total(left)
    groups: dict[str, list[int]] = defaultdict(list)
    for place in left:
        name = names[place]
        groups[name if naming.is_obfuscated(name) else naming.pattern_of(name)].append(place)
    if len(groups) <= THRESHOLDS.noise_patterns:
        return set()
    by_size: dict[float, list[tuple[Shares, list[int]]]] = defaultdict(list)
    for places in groups.values():
        shares = amounts.total(places).shares(whole)
        by_size[max(shares)].append((shares, places))
    small: set[int] = set()
    used = np.zeros(3)
    for size in sorted(by_size):  # groups of one size stay together, whatever their names are
        used += np.sum([shares for shares, _ in by_size[size]], axis=0)
        if size > THRESHOLDS.noise_negligible or used.max() > THRESHOLDS.noise_negligible_all:
            break
        small.update(place for _, places in by_size[size] for place in places)
    return small
