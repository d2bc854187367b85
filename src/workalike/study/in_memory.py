"""Whether the page cache may have held the data of a study's trials, so that their times are not those of the storage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workalike.record.run_record import MEMORY_FACTOR
from workalike.study.journal import Finished
from workalike.study.share_of_ceiling import READ, READ_CACHED, WRITE_CACHED, moved_by_kind
from workalike.text import plural, size_text

HEAD = "not a result of the storage"
CACHED = {WRITE_CACHED, READ_CACHED}


def in_memory_text(finished: Sequence[Finished], about: Mapping[str, Any]) -> str:
    """How many trials may have been served by the page cache, in a sentence; empty where none, or the memory is unknown.

    Args:
        finished: trials of one system.
        about: the study's manifest, or its part in the manifest of joined studies.
    """
    study, system = about.get("study"), about.get("system")
    drops = isinstance(study, dict) and study.get("caches") == "drop"
    memory = system.get("memory_bytes") if isinstance(system, dict) else None
    if not isinstance(memory, int) or memory <= 0:
        return ""
    sizes = list(_cached_sizes(finished, MEMORY_FACTOR * memory, READ if drops else READ_CACHED))
    if not sizes:
        return ""
    most = f"at most {size_text(max(sizes))}"
    return (
        f"The page cache may have held the data of {plural(len(sizes), 'trial')}: {most}, below {MEMORY_FACTOR:g} times "
        f"the memory ({size_text(memory)}), not synced by the dumps or not read from the storage."
    )


def _cached_sizes(finished: Iterable[Finished], limit: float, read: str) -> Iterable[int]:
    """Bytes of each trial that counts, and whose data the page cache may have held."""
    for trial in finished:
        moved = moved_by_kind(trial.dumps, read)
        size = sum(moved.values())
        if trial.trial.get("counted") and CACHED & moved.keys() and size < limit:
            yield size
