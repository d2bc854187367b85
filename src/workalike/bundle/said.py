"""What run.sh wrote about the system of a bidder, as the description of a system in a study has it."""

from __future__ import annotations

import re
from typing import Any

_KERNEL = re.compile(r"^\S+ (\S+) \S+$")
# As uniq -c prints the names of all cores.
_CPU = re.compile(r"^\s*(\d{1,9}) (\S.*)$")
_MEMORY = re.compile(r"^MemTotal:\s*(\d{1,15}) kB$")
_HOST = re.compile(r"^host: (\S+)$")
# As df -PT prints it: device, type, blocks of 1 KiB, used, free, share, place.
_FILE_SYSTEM = re.compile(r"^\S+\s+(\S+)\s+(\d{1,15})\s+\d+\s+\d+\s+\d+%\s")
KIB = 1024


def described(said: str) -> dict[str, Any]:
    """Host, processor, cores, memory, kernel and file system, as far as a text tells them. It is not trusted: people read it."""
    out: dict[str, Any] = {}
    lines = said.splitlines()
    if lines and (found := _KERNEL.match(lines[0])):
        out["kernel"] = found[1]
    for line in lines[1:]:
        if found := _MEMORY.match(line):
            out["memory_bytes"] = KIB * int(found[1])
        elif found := _HOST.match(line):
            out["host"] = found[1]
        elif found := _FILE_SYSTEM.match(line):
            out["file_systems"] = {"data": {"type": found[1], "bytes": KIB * int(found[2])}}
        elif (found := _CPU.match(line)) and "cpu" not in out:
            out |= {"cores": int(found[1]), "cpu": found[2]}
    return out
