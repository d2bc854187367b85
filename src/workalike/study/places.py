"""The folders of a study's data: one in each directory that its settings name, prepared before the first trial."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

from workalike.files import free_bytes, make_folder
from workalike.launch.directories import Directories
from workalike.leftovers import scratch_folder
from workalike.study import system
from workalike.study.ceiling import measure, write_machine
from workalike.study.layouts.base import CannotSet
from workalike.study.layouts.registry import kind_of, layout_of
from workalike.study.prepare import Prepared
from workalike.study.study_file import StudyFile, bad
from workalike.study.workplace import Workplace

DATA = "data"
CEILING_BYTES, CEILING_REPEATS = 64 * 2**20, 3
LEAST_FREE = 3 * CEILING_BYTES
"""Bytes: two files at a time, and small ones."""


class Places:
    """The workplaces of a study.

    Args:
        file: the study.
        study_id: of its results: the folders have it in their names.
        out: the results' folder, which holds the data of a study that names no directory.
        directories: `plain` replaces the study's, None: its own; `named` are those of families that name one.
    """

    def __init__(self, file: StudyFile, study_id: str, out: Path, directories: Directories) -> None:
        self._file = file
        self._id = study_id
        self._out = out
        self._directory = directories.plain
        self._places: dict[Path, Workplace] = {}
        self._named = {name: Workplace(path.absolute(), study_id) for name, path in directories.named.items()}

    def prepare(self, settings: Sequence[Prepared]) -> None:
        """Make the study's folder in each directory, and refuse layouts that a file system does not take.

        Raises:
            WorkalikeError: USAGE or CANNOT_WRITE for a directory, or where a family's is not given; BAD_STUDY naming
                the setting.
        """
        performing = [prepared for prepared in settings if not prepared.counts_only]
        used = {name for prepared in performing for name in self.named_of(prepared)}
        for name in sorted(used):
            self._named[name].prepare()
        for prepared in performing:
            place = self.of_setting(prepared)
            if place is not None:
                place.prepare()
        self._refuse_layouts(performing)

    def of_setting(self, prepared: Prepared) -> Workplace | None:
        """The study's folder for a setting; None for a backend that only counts."""
        if prepared.counts_only:
            return None
        directory = self._directory_of(prepared)
        if directory not in self._places:
            self._places[directory] = Workplace(directory, self._id)
        return self._places[directory]

    def named_of(self, prepared: Prepared) -> dict[str, Workplace]:
        """The study's folder for each directory that families of a setting name.

        Raises:
            WorkalikeError: USAGE where one is not given.
        """
        if prepared.counts_only:
            return {}
        given = Directories(self._out, {name: place.directory for name, place in self._named.items()})
        return {
            name: self._named[name] for name in given.of_plan(prepared.plan, prepared.wanted.backend) if name
        }

    def directories(self) -> dict[str, Path]:
        """All directories, by their paths as text."""
        used = [*self._places, *(place.directory for place in self._named.values())]
        return {str(directory): directory for directory in used}

    def measure_ceilings(self, report: Callable[[str], None], beside_tasks: int) -> None:
        """Measure each directory with room once, unless an earlier driver has; `beside_tasks` may use it at the same time."""
        for number, place in enumerate(self._places.values()):
            path = self._out / (f"MACHINE-{number + 1}.json" if number else "MACHINE.json")
            if path.exists():
                continue
            free = free_bytes(place.folder)
            if free is not None and free < LEAST_FREE:
                report(
                    f"{place.directory} has no room to measure what one process gets there, so that is not known"
                )
            else:
                report(f"measuring {place.directory}")
                found = measure(place.folder, CEILING_BYTES, CEILING_REPEATS)
                write_machine(found | {"beside_tasks": beside_tasks}, path)

    def leave(self, report: Callable[[str], None]) -> None:
        """Remove what is empty of the folders, and name what is left."""
        for place in (*self._places.values(), *self._named.values()):
            if not place.leave():
                report(f"{place.folder} is left: it is not empty")
        with contextlib.suppress(OSError):
            (self._out / DATA).rmdir()  # made for a study that names no directory

    def _directory_of(self, prepared: Prepared) -> Path:
        named = prepared.wanted.directory
        if named is None and self._directory is None and self._file.study.directory is None:
            make_folder(self._out / DATA)
            return (self._out / DATA).absolute()
        if named is None and self._directory is not None:
            return self._directory.absolute()
        return Path(self._file.path.parent, named or self._file.study.directory or "").absolute()

    def _refuse_layouts(self, performing: Sequence[Prepared]) -> None:
        """Try each layout on an empty folder, once."""
        tried = set()
        for prepared in performing:
            asked, place = prepared.wanted.layout, self.of_setting(prepared)
            mark = repr((sorted(asked.items()), place and place.folder, prepared.plan.ranks))
            if not asked or place is None or mark in tried:
                continue
            tried.add(mark)
            self._try_layout(prepared, place)

    def _try_layout(self, prepared: Prepared, place: Workplace) -> None:
        kind = kind_of(place.folder, system.file_system_of(place.folder)["type"])
        with scratch_folder(place.folder) as folder:
            try:
                asked, ranks = prepared.wanted.layout, prepared.plan.ranks
                kind.apply(folder, layout_of(asked, kind, folder, ranks=ranks, nodes=prepared.nodes))
            except CannotSet as error:
                raise bad(
                    self._file.path,
                    f"{place.directory} ({kind.name}): {error}",
                    f"setting {prepared.setting.id}",
                    "leave it out with a constraint `skip`, or choose another directory",
                ) from error
