"""Finds the capture library, and says whether a program can be captured."""

from __future__ import annotations

import os
import shutil
import struct
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from workalike.errors import ErrorKind, WorkalikeError

LIBRARY = "libworkalike-capture.so"

_PT_INTERP = 3


def find_library() -> Path:
    """The library that was installed with this package, or that `WORKALIKE_CAPTURE_LIBRARY` names.

    Raises:
        WorkalikeError: MISSING, with how to build it.
    """
    named = os.environ.get("WORKALIKE_CAPTURE_LIBRARY")
    places = [Path(named)] if named else []
    places += [
        Path(__file__).parent / LIBRARY,
        Path(sysconfig.get_path("platlib")) / "workalike" / "capture" / LIBRARY,
    ]
    for place in places:
        if place.is_file():
            return place.resolve()
    raise WorkalikeError(ErrorKind.MISSING, f"{LIBRARY} is not installed", hint="run `make build`")


@dataclass(frozen=True, slots=True)
class LinkedIn:
    """The files with which a program is linked to capture itself without a preload.

    Attributes:
        options: a file of linker options, by which calls reach workalike's functions before the libraries'.
        whole: the archive of which every object is linked.
        libraries: the archive for MPI, HDF5 and PnetCDF, of which only needed objects are linked; the libraries
            themselves come after it.
    """

    options: Path
    whole: Path
    libraries: Path

    def flags(self) -> list[str]:
        """Arguments for the compiler; libraries come after them, or are shared."""
        whole = ["-Wl,--whole-archive", str(self.whole), "-Wl,--no-whole-archive"]
        return [f"-Wl,@{self.options}", *whole, str(self.libraries)]


def linked_in() -> LinkedIn:
    """The files that were installed beside the library.

    Raises:
        WorkalikeError: MISSING.
    """
    folder = find_library().parent
    stem = "libworkalike-capture"
    files = [folder / name for name in (f"{stem}.options", f"{stem}.a", f"{stem}-libraries.a")]
    for file in files:
        if not file.is_file():
            raise WorkalikeError(ErrorKind.MISSING, f"{file.name} is not installed", hint="run `make build`")
    return LinkedIn(*files)


def loader_of(program: str) -> str | None:
    """The dynamic loader of a program: its path, "" without one, or None for what is no 64-bit ELF file.

    Without a loader (a static program) no preload reaches the program.
    """
    found = shutil.which(program)
    if found is None:
        return None
    try:
        with Path(found).open("rb") as file:
            head = file.read(64)
            if head[:5] != b"\x7fELF\x02" or len(head) < 64:
                return None
            (table,) = struct.unpack_from("<Q", head, 32)
            size, count = struct.unpack_from("<HH", head, 54)
            file.seek(table)
            headers = file.read(size * count)
            for at in range(0, len(headers) - 55, size or 1):
                if struct.unpack_from("<I", headers, at)[0] == _PT_INTERP:
                    place, length = struct.unpack_from("<8xQ16xQ", headers, at)
                    file.seek(place)
                    return file.read(min(length, 4096)).rstrip(b"\0").decode(errors="replace")
    except (OSError, OverflowError):
        return None
    return ""


def has_other_c_library(loader: str) -> bool:
    """Whether a loader is that of musl, which starts no program with a library of glibc preloaded."""
    return Path(loader).name.startswith("ld-musl")
