"""The files for which the capture library had no memory: one record per module has the totals of all of them.

Calls and bytes of these records are exact, but order, offsets and times are of many files together. No model of a
file can be made of them (docs/capture.md#memory).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workalike.darshan import record_id
from workalike.facts.amounts import moved_bytes
from workalike.facts.records import FileFacts, Loss
from workalike.workload.words import Reason

OTHER_FILES = "<OTHER FILES>"
"""Their name in a log (capture/core/records.h)."""
# Anonymised logs have other names, but keep the record ids of the original ones.
OTHER_FILES_ID = record_id(OTHER_FILES)


@dataclass(frozen=True, slots=True)
class CountedTogether:
    """The modules that have a record of other files, and the bytes that these moved."""

    modules: tuple[str, ...] = ()
    bytes: int = 0

    @property
    def losses(self) -> list[Loss]:
        return [Loss(Reason.PARTIAL_MODULE, self.bytes, 1, self.modules[0])] if self.modules else []


def is_other_files(file: FileFacts) -> bool:
    """Whether it is the record of all files that have no record of their own."""
    return file.name == OTHER_FILES or file.record_id == OTHER_FILES_ID


def without_other_files(files: Sequence[FileFacts]) -> tuple[list[FileFacts], CountedTogether]:
    """The files that have records of their own, and what was counted of the others together."""
    others = [file for file in files if is_other_files(file)]
    if not others:
        return list(files), CountedTogether()
    modules = tuple(sorted({module for file in others for module in file.modules}))
    moved = sum(moved_bytes(file) for file in others)
    return [file for file in files if not is_other_files(file)], CountedTogether(modules, moved)
