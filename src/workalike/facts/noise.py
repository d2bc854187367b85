"""Telling data files from noise. Each rule is named; the report counts what each one set aside."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable

from workalike.darshan import record_id
from workalike.facts import naming
from workalike.facts.records import FileFacts
from workalike.facts.rules import NoiseRule

STREAM_NAMES = ("<STDIN>", "<STDOUT>", "<STDERR>")
# An anonymised log keeps the record ids of the original names.
STREAM_IDS = frozenset(record_id(name) for name in STREAM_NAMES)

_LIBRARY = re.compile(r"\.(?:so(?:\.[0-9.]+)?|pyc?|pyd|pth|jar|class|egg|dist-info|la|mod)$|/__pycache__/")
_SYSTEM = re.compile(
    r"^/(?:etc|dev|usr|bin|boot|lib|lib64|opt|sbin|sys|proc)/|/site-packages/|/(?:jre|jdk)[^/]*/lib/"
)
_MPI = re.compile(
    r"_cid-[^/]*\.sm$|\.locktest\.\d+$|/ompi\.[^/]+/|/\.?shfp\.|romio-hints$|/mca_[^/]+$|/vader_segment|/openmpi-sessions"
    r"|\.shfp\.\d+$|/prte\.[^/]+/"
)
_TEXT_LOG = re.compile(r"\.(?:log|err|stderr|stdout)$|(?:^|/)log\.[a-z]+$|[-_.]log\.[a-z]+$|timings\.log$")


LEVELS = ("POSIX", "MPI-IO", "H5D", "PNETCDF_VAR")


def is_standard_stream(file: FileFacts) -> bool:
    return file.name in STREAM_NAMES or file.record_id in STREAM_IDS


def is_library(file: FileFacts) -> bool:
    """Shared libraries, Python modules and the like: the loader reads them, not the application."""
    return _LIBRARY.search(file.name) is not None


def is_system_path(file: FileFacts) -> bool:
    return _SYSTEM.search(file.name) is not None


def is_mpi_temporary(file: FileFacts) -> bool:
    """Shared-pointer files, lock tests and session folders of MPI libraries (facts E)."""
    return _MPI.search(file.name) is not None


def moved_bytes(file: FileFacts) -> int:
    """Bytes that a file moved at the level that saw most of them (one may be partial); STDIO adds to the others."""
    return max(_bytes(file, module) for module in LEVELS) + _bytes(file, "STDIO")


def _bytes(file: FileFacts, module: str) -> int:
    facts = file.modules.get(module)
    return facts.total("BYTES_READ") + facts.total("BYTES_WRITTEN") if facts else 0


def is_untouched(file: FileFacts) -> bool:
    """Opened or stat-ed, but nothing read or written."""
    return moved_bytes(file) == 0


RULES: dict[NoiseRule, Callable[[FileFacts], bool]] = {
    NoiseRule.STREAM: is_standard_stream,
    NoiseRule.LIBRARY: is_library,
    NoiseRule.SYSTEM: is_system_path,
    NoiseRule.MPI: is_mpi_temporary,
    NoiseRule.UNTOUCHED: is_untouched,
}

TEXT_LOG_SHARE = 0.05
NEGLIGIBLE_SHARE = 0.005
NEGLIGIBLE_BYTES = 4 * 2**20

Noise = list[tuple[NoiseRule, int, int]]


def set_noise_aside(files: list[FileFacts]) -> tuple[list[FileFacts], Noise]:
    """(data files, [(rule, files, bytes)]).

    Beyond the rules of `RULES`: text logs when they are a small share of the bytes, and files so
    small that all of them together do not matter for storage.
    """
    data: list[FileFacts] = []
    counted: dict[NoiseRule, tuple[int, int]] = {}
    for file in files:
        rule = next((name for name, holds in RULES.items() if holds(file)), None)
        if rule is None:
            data.append(file)
        else:
            _count(counted, rule, file)
    total = sum(map(moved_bytes, data))
    logs = [f for f in data if _TEXT_LOG.search(f.name)]
    if len(logs) < len(data) and sum(map(moved_bytes, logs)) <= TEXT_LOG_SHARE * total:
        data = [f for f in data if not _TEXT_LOG.search(f.name)]
        for file in logs:
            _count(counted, NoiseRule.TEXT_LOG, file)
    data, small = _split_negligible(data, total)
    for file in small:
        _count(counted, NoiseRule.NEGLIGIBLE, file)
    return data, [(rule, number, size) for rule, (number, size) in counted.items()]


def _split_negligible(data: list[FileFacts], total: int) -> tuple[list[FileFacts], list[FileFacts]]:
    """The smallest groups of files, as long as together they stay below both limits.

    Files of one pattern of name stay together: the first of many growing checkpoints is small, not negligible.
    """
    limit = min(int(NEGLIGIBLE_SHARE * total), NEGLIGIBLE_BYTES)
    groups: dict[str, list[int]] = defaultdict(list)
    sizes = [moved_bytes(file) for file in data]
    for place, file in enumerate(data):
        groups[file.name if naming.is_obfuscated(file.name) else naming.pattern_of(file.name)].append(place)
    small: set[int] = set()
    used = 0
    for places in sorted(groups.values(), key=lambda group: sum(sizes[i] for i in group)):
        used += sum(sizes[i] for i in places)
        if used > limit:
            break
        small.update(places)
    kept = [file for place, file in enumerate(data) if place not in small]
    return kept, [data[place] for place in sorted(small)]


def _count(counted: dict[NoiseRule, tuple[int, int]], rule: NoiseRule, file: FileFacts) -> None:
    number, size = counted.get(rule, (0, 0))
    counted[rule] = (number + 1, size + moved_bytes(file))
