"""What a file system's class offers, and the helpers that they share."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from workalike.launch.short_command import output_of
from workalike.workload.units import parse_size

ALL_TARGETS = -1
MOST_COMPONENTS = 32
PLAIN_FIELDS = ("stripe_count", "stripe_size", "object_size", "pool")


@dataclass(frozen=True)
class Component:
    """A part of a progressive layout: the bytes of a file up to `end`, None for all that follow.

    `stripe_count` -1 means all targets; `stripe_size` is in bytes, None where it is left to the file system.
    """

    end: int | None
    stripe_count: int
    stripe_size: int | None = None

    @property
    def text(self) -> str:
        end = -1 if self.end is None else self.end
        size = "" if self.stripe_size is None else f":{self.stripe_size}"
        return f"{end}:{self.stripe_count}{size}"

    def is_met_by(self, found: Component) -> bool:
        """Whether a component that was found is this one; of all targets any number may be found."""
        return (
            self.end == found.end
            and self.stripe_count in (ALL_TARGETS, found.stripe_count)
            and self.stripe_size in (None, found.stripe_size)
        )


def components_of(text: str) -> tuple[Component, ...]:
    """The progressive layout that `64M:1,1G:4,-1:8` states: END:COUNT, or END:COUNT:SIZE; -1 is the rest of a file.

    Raises:
        ValueError: it states none.
    """
    found: list[Component] = []
    for part in text.split(","):
        words = part.strip().split(":")
        if len(words) not in (2, 3):
            raise ValueError(f"{part[:40]!r} is not a part of a layout: use END:COUNT or END:COUNT:SIZE")
        if found and found[-1].end is None:
            raise ValueError("only the last part ends at -1")
        end = None if words[0] == "-1" else _bytes(words[0])
        if found and end is not None and end <= (found[-1].end or 0):
            raise ValueError(f"{part[:40]!r} ends before the part that it follows")
        if not re.fullmatch(r"-1|[1-9][0-9]{0,5}", words[1]):
            raise ValueError(
                f"{words[1][:40]!r} is not a stripe count: use a number above 0, or -1 for all targets"
            )
        found.append(Component(end, int(words[1]), _bytes(words[2]) if len(words) == 3 else None))
    if len(found) > MOST_COMPONENTS:
        raise ValueError(f"a layout has at most {MOST_COMPONENTS} parts")
    return tuple(found)


def _bytes(text: str) -> int:
    """A size as `lfs` writes it (`64M`), or as workloads do (`64 MiB`)."""
    short = re.fullmatch(r"([0-9]{1,18})([KMGT])", text.strip(), re.IGNORECASE)
    size = parse_size(f"{short[1]} {short[2].upper()}iB" if short else text.strip())
    if size < 1:
        raise ValueError(f"{text[:40]!r} must be at least one byte")
    return size


@dataclass(frozen=True)
class Layout:
    """A layout of files: sizes in bytes, the pool by name; None where it is left to the file system.

    Of a progressive layout that was found, count and size are those of its last component.
    """

    stripe_count: int | None = None
    stripe_size: int | None = None
    object_size: int | None = None
    pool: str | None = None
    components: tuple[Component, ...] | None = None

    def differs_from(self, found: Layout) -> list[str]:
        """The fields that were asked for and are not found, such as `stripe_count 4, found 1`."""
        wrong = [
            f"{name} {asked}, found {got if got is not None else 'nothing'}"
            for name, asked, got in ((n, getattr(self, n), getattr(found, n)) for n in PLAIN_FIELDS)
            if asked is not None and asked != got
        ]
        return wrong + self._components_differ(found)

    def _components_differ(self, found: Layout) -> list[str]:
        shown = components_text(found.components) if found.components else "one layout for the whole file"
        if self.components is None:
            is_plain = found.components is None or len(found.components) == 1
            if is_plain or (self.stripe_count is None and self.stripe_size is None):
                return []
            return [f"one layout for the whole file, found components {shown}"]
        others = found.components or ()
        same = len(self.components) == len(others) and all(
            asked.is_met_by(other) for asked, other in zip(self.components, others, strict=True)
        )
        return [] if same else [f"components {components_text(self.components)}, found {shown}"]

    def known(self) -> dict[str, int | str]:
        """The fields that are known, components as text."""
        fields: dict[str, int | str] = {
            name: value for name in PLAIN_FIELDS if (value := getattr(self, name)) is not None
        }
        return fields | ({"components": components_text(self.components)} if self.components else {})


def components_text(components: Sequence[Component]) -> str:
    """As `components_of` reads it, in bytes."""
    return ",".join(component.text for component in components)


class CannotSet(Exception):
    """A layout that the file system does not take; the text says why."""


class LayoutKind(Protocol):
    """The layouts of one kind of file system. `tested_on` says what its code has run against."""

    name: str
    tested_on: str

    def is_on(self, file_system: str, folder: Path) -> bool:
        """Whether a folder, on a file system of this type as mounted, is of this kind."""

    def apply(self, folder: Path, layout: Layout) -> None:
        """Give an empty folder a layout that its new files inherit.

        Raises:
            CannotSet: the file system has no such layout.
        """

    def read(self, path: Path) -> Layout | None:
        """The layout of a folder or a file; None where the file system tells nothing."""

    def targets(self, folder: Path) -> int | None:
        """The number of storage targets, which `stripe_count: all` stands for; None: unknown."""


Run = Callable[[Sequence[str]], tuple[int, str]]
"""Runs a command: (exit code, its output)."""


def run_command(command: Sequence[str]) -> tuple[int, str]:
    """Run a short command without input.

    Raises:
        CannotSet: it is not installed, or does not end.
    """
    try:
        return output_of(command)
    except FileNotFoundError as error:
        raise CannotSet(f"{command[0]} is not installed") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotSet(f"{command[0]} failed: {type(error).__name__}") from error


def refuse_fields(layout: Layout, kind: str, *names: str) -> None:
    """Refuse fields of a layout that a kind of file system does not have.

    Raises:
        CannotSet: one of `names` is set.
    """
    for name in names:
        if getattr(layout, name) is not None:
            raise CannotSet(f"{kind} has no {name}")
