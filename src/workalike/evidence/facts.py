"""Facts of the system that identify nobody: every text is cut down to a version or a word of a closed list."""

from __future__ import annotations

import datetime
import os
import platform
import re
from pathlib import Path
from typing import Any, TypeVar

from workalike.evidence.document import System
from workalike.evidence.words import FileSystem, Mpi, MpiIo
from workalike.record.run_record import Record
from workalike.study.system import file_system_of
from workalike.version import VERSION

GIB = 2**30
NUMBERS = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6}){1,3}")
MPI_WORDS = {
    "intel": Mpi.INTEL,
    "cray": Mpi.CRAY,
    "mvapich": Mpi.MVAPICH,
    "mpich": Mpi.MPICH,
    "open mpi": Mpi.OPEN_MPI,
}
"""A word of the text by which an MPI names itself; of several the first decides, since others are made of MPICH."""
MPI_IO_WORDS = {"ompio": MpiIo.OMPIO, "romio": MpiIo.ROMIO}
Word = TypeVar("Word")


def today() -> str:
    """The day, UTC."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")


def file_system_word(folder: Path) -> FileSystem:
    """The type of a folder's file system."""
    name = file_system_of(folder)["type"]
    known = {word.value: word for word in FileSystem}
    return known.get(name, FileSystem.OTHER)


def version_in(text: Any, most: int = 4) -> str | None:
    """The first version in a text, its first `most` numbers; None where there is none."""
    found = NUMBERS.search(text) if isinstance(text, str) else None
    return ".".join(found[0].split(".")[:most]) if found else None


def system_of(record: Record, folder: Path) -> System:
    """The system that a run was on.

    Args:
        record: of any run.
        folder: in the file system under test.
    """
    environment = record.environment
    memory, hosts = environment.get("memory_bytes"), environment.get("host_count")
    return System(
        file_system=file_system_word(folder),
        kernel=version_in(platform.release(), 2),
        mpi=_word_in(environment.get("mpi"), MPI_WORDS, Mpi.OTHER, Mpi.UNKNOWN),
        mpi_version=version_in(environment.get("mpi")),
        mpi_io=_word_in(environment.get("mpi_io"), MPI_IO_WORDS, MpiIo.OTHER, MpiIo.UNKNOWN),
        hdf5_version=version_in(environment.get("hdf5")),
        workalike_version=version_in(VERSION),
        engine_version=version_in(environment.get("engine")),
        ranks=record.processes,
        nodes=hosts if isinstance(hosts, int) and hosts > 0 else None,
        cores_of_a_node=os.cpu_count(),
        memory_gib=round(memory / GIB) if isinstance(memory, int) and memory > 0 else None,
    )


def _word_in(text: Any, words: dict[str, Word], other: Word, unknown: Word) -> Word:
    if not isinstance(text, str) or not text.strip():
        return unknown
    return next((word for name, word in words.items() if name in text.lower()), other)
