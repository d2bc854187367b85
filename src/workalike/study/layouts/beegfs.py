"""BeeGFS: layouts through `beegfs-ctl`."""

from __future__ import annotations

import re
from pathlib import Path

from workalike.study.layouts.base import CannotSet, Layout, Run, refuse_fields, run_command
from workalike.workload.units import parse_size


class BeeGfs:
    """BeeGFS. A folder's pattern is that of its new files; users may set it where the administrators allow it."""

    name = "beegfs"
    tested_on = "texts of the documented form only, never a BeeGFS"

    def __init__(self, run: Run = run_command) -> None:
        self._run = run

    def is_on(self, file_system: str, folder: Path) -> bool:
        return file_system == "beegfs"

    def apply(self, folder: Path, layout: Layout) -> None:
        refuse_fields(layout, "BeeGFS", "object_size", "components")
        if layout == Layout():
            return
        command = ["beegfs-ctl", "--setpattern"]
        command += [f"--numtargets={layout.stripe_count}"] if layout.stripe_count is not None else []
        command += [f"--chunksize={layout.stripe_size}"] if layout.stripe_size is not None else []
        command += [f"--storagepoolid={layout.pool}"] if layout.pool is not None else []
        code, output = self._run([*command, str(folder)])
        if code:
            lines = output.strip().splitlines() or ["no reason given"]
            raise CannotSet(f"beegfs-ctl --setpattern: {lines[-1][:200]}")

    def read(self, path: Path) -> Layout | None:
        try:
            code, output = self._run(["beegfs-ctl", "--getentryinfo", str(path)])
        except CannotSet:
            return None
        return None if code else parsed(output)

    def targets(self, folder: Path) -> int | None:
        try:
            code, output = self._run(["beegfs-ctl", "--listtargets", "--nodetype=storage"])
        except CannotSet:
            return None
        found = [line for line in output.splitlines() if re.match(r"\s*\d+\s+\d+\s*$", line)]
        return len(found) if not code and found else None


def parsed(output: str) -> Layout | None:
    """The pattern in an output of `beegfs-ctl --getentryinfo`."""
    size = re.search(r"Chunksize:[ \t]*([0-9.]+)[ \t]*([KMGT]?)", output)
    count = re.search(r"Number of storage targets:.*?(?:actual|desired):[ \t]*([0-9]+)", output)
    pool = re.search(r"Storage Pool:[ \t]*([0-9]+)", output)
    if size is None or count is None:
        return None
    try:
        unit = f"{size[2]}iB" if size[2] else "B"
        return Layout(
            stripe_count=int(count[1]),
            stripe_size=parse_size(f"{size[1]} {unit}"),
            pool=pool[1] if pool else None,
        )
    except ValueError:
        return None
