"""Lustre: layouts through `lfs setstripe` and `lfs getstripe`, also progressive ones (PFL, since Lustre 2.10)."""

from __future__ import annotations

import re
from pathlib import Path

from workalike.study.layouts.base import CannotSet, Component, Layout, Run, refuse_fields, run_command


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
        for component in layout.components or ():
            command += ["-E", str(-1 if component.end is None else component.end)]
            command += _stripes(component.stripe_count, component.stripe_size, layout.pool)
        if not layout.components:
            command += _stripes(layout.stripe_count, layout.stripe_size, layout.pool)
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


def _stripes(count: int | None, size: int | None, pool: str | None) -> list[str]:
    """Options of `lfs setstripe` for a file, or for one of its components."""
    options = ["-c", str(count)] if count is not None else []
    options += ["-S", str(size)] if size is not None else []
    return options + (["-p", pool] if pool is not None else [])


FIELD = re.compile(r"(?:lmm_)?(stripe_count|stripe_size|pool):[ \t]*(\S+)")
END = re.compile(r"lcme_extent\.e_end:[ \t]*(\S+)")


def parsed(output: str) -> Layout | None:
    """The layout in an output of `lfs getstripe`; count and size of a progressive one are those of its last component."""
    head, *parts = re.split(r"^[ \t]*-?[ \t]*lcme_id:", output, flags=re.MULTILINE)
    try:
        if not parts:
            values = dict(FIELD.findall(head))
            return Layout(int(values["stripe_count"]), int(values["stripe_size"]), pool=values.get("pool"))
        components = tuple(_component(part) for part in parts)
    except (KeyError, ValueError):
        return None
    pool = next((found for name, found in FIELD.findall(output) if name == "pool"), None)
    last = components[-1]
    return Layout(last.stripe_count, last.stripe_size, pool=pool, components=components)


def _component(text: str) -> Component:
    """One component.

    Raises:
        KeyError: it has no stripes.
        ValueError: a number is none.
    """
    values = dict(FIELD.findall(text))
    found = END.search(text)
    if found is None:
        raise ValueError("a component without an end")
    end = None if found[1] == "EOF" else int(found[1])
    return Component(end, int(values["stripe_count"]), int(values["stripe_size"]))


def _last_line(output: str) -> str:
    return (output.strip().splitlines() or ["no reason given"])[-1][:200]
