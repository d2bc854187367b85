"""What a file system's class offers, and the helpers that they share."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from workalike.launch.short_command import output_of


@dataclass(frozen=True)
class Layout:
    """A layout of files: sizes in bytes, the pool by name; None where it is left to the file system."""

    stripe_count: int | None = None
    stripe_size: int | None = None
    object_size: int | None = None
    pool: str | None = None

    def differs_from(self, found: Layout) -> list[str]:
        """The fields that were asked for and are not found, such as `stripe_count 4, found 1`."""
        pairs = ((name, getattr(self, name), getattr(found, name)) for name in self.__dataclass_fields__)
        return [
            f"{name} {asked}, found {got if got is not None else 'nothing'}"
            for name, asked, got in pairs
            if asked is not None and asked != got
        ]


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
