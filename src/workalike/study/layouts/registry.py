"""The kinds of file systems; a new one is a class and a line here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workalike.study.layouts.base import CannotSet, Layout, LayoutKind, components_of
from workalike.study.layouts.beegfs import BeeGfs
from workalike.study.layouts.cephfs import CephFs
from workalike.study.layouts.lustre import Lustre
from workalike.study.layouts.plain import Gpfs, Plain

KINDS: tuple[LayoutKind, ...] = (CephFs(), Lustre(), BeeGfs(), Gpfs(), Plain())
"""In the order in which they are asked; the last takes any."""


def kind_of(folder: Path, file_system: str) -> LayoutKind:
    """The kind of a folder's file system, of which the type is given as mounted."""
    return next(kind for kind in KINDS if kind.is_on(file_system, folder))


def layout_of(asked: dict[str, Any], kind: LayoutKind, folder: Path, *, ranks: int, nodes: int) -> Layout:
    """The layout asked for as numbers: a stripe count may be `default`, `nodes`, `ranks` or `all`, components a text.

    Raises:
        CannotSet: `all`, where the number of storage targets is unknown.
    """
    values = dict(asked)
    count = values.get("stripe_count")
    if count == "all":
        count = kind.targets(folder)
        if count is None:
            raise CannotSet(
                "the number of storage targets, which `all` stands for, is unknown here: give a number"
            )
    values["stripe_count"] = (
        {"default": None, "nodes": nodes, "ranks": ranks}.get(count, count)
        if isinstance(count, str)
        else count
    )
    if "components" in values:
        values["components"] = components_of(values["components"])
    return Layout(**values)
