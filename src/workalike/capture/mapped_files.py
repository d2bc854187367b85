"""The mappings of processes, as files: which there are, and who still counts in them."""

from __future__ import annotations

import stat
import tempfile
from pathlib import Path

PATTERN = "workalike-*.map"


def find_mappings(folder: Path) -> list[Path]:
    """The mappings in a folder, in the order of their names."""
    return sorted(folder.glob(PATTERN))


def mappings_elsewhere(session: str) -> list[Path]:
    """Mappings of a session's processes in the folders that are for all users, of processes that changed their user.

    Only plain files of the user in their names are taken.
    """
    folders = dict.fromkeys([Path("/dev/shm"), Path(tempfile.gettempdir()), Path("/tmp")])
    found = [path for folder in folders for path in sorted(folder.glob(f"workalike-*-{session}.map"))]
    return [path for path in found if _is_of_its_user(path)]


def _is_of_its_user(path: Path) -> bool:
    try:
        status = path.lstat()
        return stat.S_ISREG(status.st_mode) and status.st_uid == int(path.stem.split("-")[1])
    except (OSError, ValueError, IndexError):
        return False


def still_used(path: Path) -> bool:
    """Whether a process on this node still counts in a mapping."""
    try:
        pid = int(path.stem.split("-")[2])
        return str(path.resolve()) in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError, IndexError):
        return False
