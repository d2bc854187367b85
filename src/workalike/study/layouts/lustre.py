"""Lustre: layouts through `lfs setstripe` and `lfs getstripe`."""

from __future__ import annotations

import re
from pathlib import Path

from workalike.study.layouts.base import CannotSet, Layout, Run, refuse_fields, run_command

ALL_TARGETS = -1


class Lustre:
    """Lustre. A folder's layout is that of its new files."""

    name = "lustre"
    tested_on = "texts of the documented form only, never a Lustre"

    def __init__(self, run: Run = run_command) -> None:
        self._run = run

    def is_on(self, file_system: str, folder: Path) -> bool:
        return file_system == "lustre"

    def apply(self, folder: Path, layout: Layout) -> None:
        refuse_fields(layout, "Lustre", "object_size")
        if layout == Layout():
            return
        command = ["lfs", "setstripe"]
        command += ["-c", str(layout.stripe_count)] if layout.stripe_count is not None else []
        command += ["-S", str(layout.stripe_size)] if layout.stripe_size is not None else []
        command += ["-p", layout.pool] if layout.pool is not None else []
        code, output = self._run([*command, str(folder)])
        if code:
            raise CannotSet(f"lfs setstripe: {_last_line(output)}")

    def read(self, path: Path) -> Layout | None:
        command = ["lfs", "getstripe", *(["-d"] if path.is_dir() else []), str(path)]
        try:
            code, output = self._run(command)
        except CannotSet:
            return None
        return None if code else parsed(output)

    def targets(self, folder: Path) -> int | None:
        try:
            code, output = self._run(["lfs", "df", str(folder)])
        except CannotSet:
            return None
        found = re.findall(r"\[OST:\d+\]", output)
        return len(found) if not code and found else None


def parsed(output: str) -> Layout | None:
    """The layout in an output of `lfs getstripe`; of a progressive layout, that of its last component."""
    values: dict[str, str] = {}
    for name, value in re.findall(r"(?:lmm_)?(stripe_count|stripe_size|pool):[ \t]*(\S+)", output):
        values[name] = value
    try:
        return Layout(
            stripe_count=int(values["stripe_count"]),
            stripe_size=int(values["stripe_size"]),
            pool=values.get("pool"),
        )
    except (KeyError, ValueError):
        return None


def _last_line(output: str) -> str:
    return (output.strip().splitlines() or ["no reason given"])[-1][:200]
