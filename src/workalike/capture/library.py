"""Where the capture library is, and whether a program can be captured at all."""

from __future__ import annotations

import os
import shutil
import struct
import sysconfig
from pathlib import Path

from workalike.errors import ErrorKind, WorkalikeError

LIBRARY = "libworkalike-capture.so"

_PT_INTERP = 3


def find_library() -> Path:
    """The library that was installed with this package; `WORKALIKE_CAPTURE_LIBRARY` beats it.

    Raises:
        WorkalikeError: MISSING with the way to build it.
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
    raise WorkalikeError(ErrorKind.MISSING, f"{LIBRARY} is not installed", mend="run `make build`")


def link_flags() -> list[str]:
    """What to add when a program is linked, so that it captures itself without a preload.

    Raises:
        WorkalikeError: MISSING.
    """
    folder = find_library().parent
    archive, options = (folder / f"libworkalike-capture.{kind}" for kind in ("a", "options"))
    if not (archive.is_file() and options.is_file()):
        raise WorkalikeError(ErrorKind.MISSING, f"{archive.name} is not installed", mend="run `make build`")
    return [f"-Wl,@{options}", "-Wl,--whole-archive", str(archive), "-Wl,--no-whole-archive"]


def is_static(program: str) -> bool:
    """Whether a program is a 64-bit ELF file that starts without the dynamic loader: a preload never reaches it."""
    found = shutil.which(program)
    if found is None:
        return False
    try:
        with Path(found).open("rb") as file:
            head = file.read(64)
            if head[:5] != b"\x7fELF\x02" or len(head) < 64:
                return False
            (table,) = struct.unpack_from("<Q", head, 32)
            size, count = struct.unpack_from("<HH", head, 54)
            file.seek(table)
            headers = file.read(size * count)
    except OSError:
        return False
    kinds = [struct.unpack_from("<I", headers, at)[0] for at in range(0, len(headers) - 3, size or 1)]
    return _PT_INTERP not in kinds
