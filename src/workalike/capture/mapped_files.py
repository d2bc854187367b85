"""The mappings of processes, as files: which there are, and who still counts in them."""

from __future__ import annotations

from pathlib import Path

PATTERN = "workalike-*.map"


def find_mappings(folder: Path) -> list[Path]:
    """The mappings in a folder, in the order of their names."""
    return sorted(folder.glob(PATTERN))


def still_used(path: Path) -> bool:
    """Whether a process on this node still counts in a mapping."""
    try:
        pid = int(path.stem.split("-")[2])
        return str(path.resolve()) in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError, IndexError):
        return False
