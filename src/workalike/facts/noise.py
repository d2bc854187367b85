"""Which files are noise. Each rule has a name; the report counts what each of them set aside."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache

from workalike.darshan import record_id
from workalike.facts import naming
from workalike.facts.records import FileFacts
from workalike.facts.rules import NoiseRule
from workalike.facts.thresholds import THRESHOLDS

STREAM_NAMES = ("<STDIN>", "<STDOUT>", "<STDERR>")
# Anonymised logs have other names, but keep the record ids of the original ones.
STREAM_IDS = frozenset(record_id(name) for name in STREAM_NAMES)

_LIBRARY = re.compile(r"\.(?:so(?:\.[0-9.]+)?|pyc?|pyd|pth|jar|class|egg|dist-info|la|mod)$|/__pycache__/")
_SYSTEM = re.compile(
    r"^/(?:etc|dev|usr|bin|boot|lib|lib64|opt|sbin|sys|proc)/|/site-packages/|/(?:jre|jdk)[^/]*/lib/"
)
_MPI = re.compile(
    r"_cid-[^/]*\.sm$|\.locktest\.\d+$|/ompi\.[^/]+/|/\.?shfp\.|romio-hints$|/mca_[^/]+$|/vader_segment|/openmpi-sessions"
    r"|\.shfp\.\d+$|/prte(?:run)?\.[^/]+/"
)
_TEXT_LOG = re.compile(r"\.(?:log|err|stderr|stdout)$|(?:^|/)log\.[a-z]+$|[-_.]log\.[a-z]+$|timings\.log$")


LEVELS = ("POSIX", "MPI-IO", "H5D", "PNETCDF_VAR")


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


@lru_cache(maxsize=1 << 16)
def is_noise_by_name(name: str) -> bool:
    """Whether a file is not the application's, by its name alone: streams, libraries, system paths, MPI's own."""
    file = FileFacts(0, name, 1)
    return any(holds(file) for rule, holds in RULES.items() if rule is not NoiseRule.UNTOUCHED)


def is_program_start(file: FileFacts) -> bool:
    """Whether a file belongs to the start of a program and to its runtime, by its name or, where names are tokens, its id."""
    return file.record_id in STREAM_IDS or is_noise_by_name(file.name)


def moved_bytes(file: FileFacts) -> int:
    """Bytes of a file at the level that saw most of them, since a level may be partial; bytes of STDIO are added."""
    return max(_bytes(file, module) for module in LEVELS) + _bytes(file, "STDIO")


def written_bytes(file: FileFacts) -> int:
    """Bytes written at the level that saw most of them, and by STDIO."""
    written = {name: facts.total("BYTES_WRITTEN") for name, facts in file.modules.items()}
    return max(written.get(module, 0) for module in LEVELS) + written.get("STDIO", 0)


def _bytes(file: FileFacts, module: str) -> int:
    facts = file.modules.get(module)
    return facts.total("BYTES_READ") + facts.total("BYTES_WRITTEN") if facts else 0


def is_untouched(file: FileFacts) -> bool:
    """Whether the file was opened or stat-ed, but neither read nor written."""
    return moved_bytes(file) == 0


RULES: dict[NoiseRule, Callable[[FileFacts], bool]] = {
    NoiseRule.STREAM: is_standard_stream,
    NoiseRule.LIBRARY: is_library,
    NoiseRule.SYSTEM: is_system_path,
    NoiseRule.MPI: is_mpi_temporary,
    NoiseRule.UNTOUCHED: is_untouched,
}


def _label(number: int, name: str, moved: int) -> NoiseRule | None:
    if number in STREAM_IDS or is_noise_by_name(name):
        file = FileFacts(number, name, 1)
        return next(rule for rule, holds in RULES.items() if holds(file))
    return None if moved else NoiseRule.UNTOUCHED


Noise = list[tuple[NoiseRule, int, int]]


def noise_of(files: list[FileFacts]) -> list[NoiseRule | None]:
    """The rule by which each file is noise; None for the application's data."""
    return noise_by_bytes(
        [file.record_id for file in files],
        [file.name for file in files],
        [moved_bytes(file) for file in files],
        [written_bytes(file) for file in files],
    )


def noise_by_bytes(
    numbers: Sequence[int], names: Sequence[str], moved: Sequence[int], wrote: Sequence[int]
) -> list[NoiseRule | None]:
    """As `noise_of`, of files that are given by their ids, names, bytes moved and bytes written.

    Two more rules look at all files together. Text logs with a small share of the bytes are noise. So are files that
    are too small to matter for storage, even all of them together; but the only files that a run writes do matter.
    """
    labels = [_label(*file) for file in zip(numbers, names, moved, strict=True)]
    data = [place for place, label in enumerate(labels) if label is None]
    sizes = {place: moved[place] for place in data}
    total = sum(sizes.values())
    text_logs = [place for place in data if _TEXT_LOG.search(names[place])]
    if len(text_logs) < len(data) and sum(sizes[i] for i in text_logs) <= THRESHOLDS.noise_text_logs * total:
        for place in text_logs:
            labels[place] = NoiseRule.TEXT_LOG
    kept = {place: sizes[place] for place in data if labels[place] is None}
    small = _negligible(names, kept, total)
    # However small, what a run writes is what it is for: a file that is converted, say.
    written = {place for place in kept if wrote[place]}
    for place in small - written if written <= small else small:
        labels[place] = NoiseRule.NEGLIGIBLE
    return labels


def set_noise_aside(files: list[FileFacts]) -> tuple[list[FileFacts], Noise]:
    """(data files, [(rule, files, bytes)]); the rules in the order in which they set files aside."""
    labels = noise_of(files)
    counted: dict[NoiseRule, tuple[int, int]] = {}
    last_rules = (NoiseRule.TEXT_LOG, NoiseRule.NEGLIGIBLE)
    for rules in ({*NoiseRule} - {*last_rules}, {last_rules[0]}, {last_rules[1]}):
        for file, label in zip(files, labels, strict=True):
            if label is not None and label in rules:
                count, size = counted.get(label, (0, 0))
                counted[label] = (count + 1, size + moved_bytes(file))
    data = [file for file, label in zip(files, labels, strict=True) if label is None]
    return data, [(rule, count, size) for rule, (count, size) in counted.items()]


def _negligible(names: Sequence[str], sizes: dict[int, int], total: int) -> set[int]:
    """The files of the smallest groups, as long as these groups together stay below both limits.

    Files of one name pattern are one group: the first of many growing checkpoints is small, but not negligible.
    """
    limit = min(int(THRESHOLDS.noise_negligible * total), THRESHOLDS.noise_negligible_bytes)
    groups: dict[str, list[int]] = defaultdict(list)
    for place in sizes:
        name = names[place]
        groups[name if naming.is_obfuscated(name) else naming.pattern_of(name)].append(place)
    small: set[int] = set()
    used = 0
    for places in sorted(groups.values(), key=lambda group: sum(sizes[i] for i in group)):
        used += sum(sizes[i] for i in places)
        if used > limit:
            break
        small.update(places)
    return small
