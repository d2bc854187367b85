"""The self-test of striping: layouts are asked for, the engine writes a file, and the file system says what it gave."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from workalike.evidence.bench import Bench, NotMeasured, reported
from workalike.evidence.document import Component, LayoutNumbers, LayoutTest, Striping
from workalike.evidence.programs import REPEATED, plan_of
from workalike.evidence.words import Reason
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import at_time_scale, first_dumps
from workalike.study.layouts.base import CannotSet, Layout, LayoutKind
from workalike.study.layouts.base import Component as LayoutComponent
from workalike.study.layouts.registry import kind_of
from workalike.study.system import file_system_of

MIB = 2**20
DEFAULT = Layout()
"""Nothing is asked for: what new files get."""
ASKED: dict[str, tuple[Layout, ...]] = {
    "lustre": (
        DEFAULT,
        Layout(stripe_count=1),
        Layout(stripe_count=2, stripe_size=4 * MIB),
        Layout(
            components=(LayoutComponent(16 * MIB, 1, MIB), LayoutComponent(None, 2, MIB)),
        ),
    ),
    "beegfs": (
        DEFAULT,
        Layout(stripe_count=1),
        Layout(stripe_count=2, stripe_size=MIB),
        Layout(stripe_count=4, stripe_size=MIB),
    ),
    "cephfs": (
        DEFAULT,
        Layout(stripe_count=1, stripe_size=MIB, object_size=4 * MIB),
        Layout(stripe_count=2, stripe_size=MIB, object_size=16 * MIB),
        Layout(stripe_count=4, stripe_size=MIB, object_size=16 * MIB),
    ),
}
"""Kind of file system -> the layouts that are asked for; kinds that are not here have none."""


def kind_on(folder: Path) -> LayoutKind:
    """The kind of a folder's file system."""
    return kind_of(folder, file_system_of(folder)["type"])


def layouts_of(kind: LayoutKind) -> tuple[Layout, ...]:
    """The layouts to ask for."""
    return ASKED.get(kind.name, ())


def self_test(bench: Bench, kind: LayoutKind) -> Striping:
    """Ask for each layout, and read back that of a file which the engine wrote."""
    layouts = layouts_of(kind)
    if not layouts:
        all_disks = kind.name == "gpfs"
        return Striping(tests=[], not_measured=Reason.ALL_DISKS if all_disks else Reason.NO_LAYOUT)
    plan = _short_plan(bench.placement.ranks)
    targets = kind.targets(bench.data)
    everywhere = (Layout(stripe_count=targets),) if targets and kind.name != "cephfs" else ()
    return Striping(
        tests=[
            _tested(bench, kind, asked, plan, number) for number, asked in enumerate([*layouts, *everywhere])
        ]
    )


def _short_plan(ranks: int) -> Plan:
    """One dump of the repeated workload, without waiting."""
    return at_time_scale(first_dumps(plan_of(REPEATED, ranks), 1), 0.0)


def _tested(bench: Bench, kind: LayoutKind, asked: Layout, plan: Plan, number: int) -> LayoutTest:
    folder = bench.data / f"layout-{number}"
    folder.mkdir()
    try:
        with reported(bench, f"layout {number + 1}"):
            found = _layout_given(bench, kind, asked, plan, folder)
    except NotMeasured as error:
        return LayoutTest(asked=numbers_of(asked), found=None, as_asked=None, not_measured=error.reason)
    finally:
        _remove_empty(folder)
    judged = None if asked == DEFAULT else not asked.differs_from(found)
    return LayoutTest(asked=numbers_of(asked), found=numbers_of(found), as_asked=judged)


def _layout_given(bench: Bench, kind: LayoutKind, asked: Layout, plan: Plan, folder: Path) -> Layout:
    """The layout of a file that the engine wrote into a folder with a layout.

    Raises:
        NotMeasured: it cannot be set, or cannot be read back.
        WorkalikeError: the run failed.
    """
    if bench.left_s < bench.seconds_of(plan):
        raise NotMeasured(Reason.NO_TIME)
    try:
        kind.apply(folder, asked)
    except CannotSet as error:
        missing = isinstance(error.__cause__, FileNotFoundError)
        raise NotMeasured(Reason.NO_TOOL if missing else Reason.REFUSED) from error
    layouts: list[Layout | None] = []

    def examine(files: list[Path]) -> None:
        layouts.extend(kind.read(file) for file in files[:1])

    bench.run(plan, "layout", silent=False, data=folder, examine=examine)
    if not layouts or layouts[0] is None:
        raise NotMeasured(Reason.NOT_SHOWN)
    return layouts[0]


def numbers_of(layout: Layout) -> LayoutNumbers:
    """The numbers of a layout. The name of its pool is left out: it may say whose it is."""
    parts: list[Component] | None = None
    if layout.components is not None:
        parts = [
            Component(end=part.end, stripe_count=part.stripe_count, stripe_size=part.stripe_size)
            for part in layout.components
        ]
    values: dict[str, Any] = {
        name: getattr(layout, name) for name in ("stripe_count", "stripe_size", "object_size")
    }
    return LayoutNumbers(**values, components=parts)


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()
