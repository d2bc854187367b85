"""Opens a log and gives its parts; each part is inflated at its first use."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from workalike.darshan import layouts
from workalike.darshan.dxt import DxtTable, decode_dxt
from workalike.darshan.header import ByteOrder, Header, ModuleInfo, read_header
from workalike.darshan.heatmap import Heatmap, decode_heatmaps
from workalike.darshan.job import Job, read_job, read_names
from workalike.darshan.lustre import LustreTable, decode_lustre
from workalike.darshan.records import (
    HEAD_BYTES,
    Int64s,
    RecordTable,
    UInt64s,
    decode_records,
    native_words,
    other_size,
)
from workalike.darshan.source import BULK, OBJECTS, SMALL, Region, Source
from workalike.errors import ErrorKind, WorkalikeError
from workalike.file_kind import SIDE_FILE_SUFFIX
from workalike.notebook import html_table
from workalike.text import plural, seconds_text, size_text

__all__ = ["Log", "logs_in", "open_log", "open_logs"]

NEEDED = frozenset({"POSIX", "STDIO", "MPI-IO"})
"""Modules without which a log says nothing: where they cannot be read, the log cannot."""
DEEPEST = 16
MOST_NAMES = 100_000
"""Levels of folders, and names of files and folders in all, that are looked through for the logs of a job."""
_LOG_NAME = re.compile(r"\.darshan(?:\.[0-9]+)?$")


def open_log(path: str | os.PathLike[str], *, max_region_bytes: int | None = None) -> Log:
    """Open a Darshan log: formats 3.00 to 3.41, either byte order.

    Only the header and the job region are read here.

    Args:
        path: the log file.
        max_region_bytes: limit on the inflated size of each region. The default is the environment's
            WORKALIKE_MAX_REGION_BYTES, or else 2 GiB and a limit on the compression ratio.

    Raises:
        WorkalikeError: MISSING, DAMAGED_LOG or UNSUPPORTED_LOG, with file, place and a hint.
    """
    return Log(Source(path, max_region_bytes))


def open_logs(paths: Sequence[Path]) -> list[Log]:
    """Open the logs of one job; a folder stands for the logs below it (`*.darshan`, and the further ones of a command
    that capture numbers, `*.darshan.2`), since Darshan sorts logs into folders. Side files of capture are skipped.

    Raises:
        WorkalikeError: MISSING if there is no log, and the errors of `logs_in` and `open_log`.
    """
    found: list[Path] = []
    for path in paths:
        if path.name.endswith(SIDE_FILE_SUFFIX):
            continue  # `x.darshan*` names them too; who wants one reads it beside its log
        found += logs_in(path) if path.is_dir() else [path]
    if not found:
        raise WorkalikeError(
            ErrorKind.MISSING,
            "no log (*.darshan) in it",
            file=paths[0],
            hint="name a Darshan log or a folder of logs",
        )
    _refuse_twice(found)
    return [open_log(path) for path in found]


def logs_in(folder: Path) -> list[Path]:
    """The logs below a folder, by their paths. Links to folders are not followed, so that none is looked at twice.

    Raises:
        WorkalikeError: MISSING where a folder cannot be read, USAGE where there are more folders below each other, or
            more names in all, than a job has.
    """
    found: list[Path] = []
    seen = 0
    todo = [(folder, 0)]
    while todo:
        here, depth = todo.pop()
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    seen += 1
                    if entry.is_dir(follow_symlinks=False):
                        todo.append((Path(entry.path), depth + 1))
                    elif _LOG_NAME.search(entry.name) and Path(entry.path).is_file():
                        found.append(Path(entry.path))
                    if seen > MOST_NAMES:
                        break
        except OSError as error:
            raise WorkalikeError(
                ErrorKind.MISSING, error.strerror or "cannot be read", file=here, hint="check its rights"
            ) from error
        if seen > MOST_NAMES or depth > DEEPEST:
            what = (
                f"more than {MOST_NAMES:,} names"
                if seen > MOST_NAMES
                else f"more than {DEEPEST} levels of folders"
            )
            raise WorkalikeError(
                ErrorKind.USAGE,
                f"has {what} below it",
                file=folder,
                hint="name the folder of one job, or use workalike fleet ingest",
            )
    return sorted(found)


def _refuse_twice(paths: Sequence[Path]) -> None:
    """Refuse a file that is named twice, or that is the same byte for byte: it would count as two processes."""
    by_size: dict[int, list[Path]] = {}
    for path in paths:
        if path.is_file():
            by_size.setdefault(path.stat().st_size, []).append(path)
    for alike in by_size.values():
        known: dict[bytes, Path] = {}
        for path in alike if len(alike) > 1 else ():
            digest = _digest(path)
            if digest in known:
                raise WorkalikeError(
                    ErrorKind.USAGE,
                    f"is the same log as {known[digest].name}, and would count as another process",
                    file=path,
                    hint="name each log of a job once",
                )
            known[digest] = path


def _digest(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return os.fsencode(path)  # opening it as a log says what is wrong


class Log:
    """One Darshan log.

    Attributes:
        path: the file.
        job: the job region.
        modules: the log's modules by name.
        unreadable: optional modules that cannot be read, with the reason; it grows as regions are read.
        warnings: oddities that did not stop the reading; the list grows as regions are read.

    Header, job, names and the records of POSIX, STDIO and MPI-IO are needed: what is wrong with them is an error. Every
    other module that cannot be read is left out, as if the log did not have it, and a warning says so.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self.path: Path = source.path
        self.warnings: list[str] = []
        self._header = read_header(source, self._warn)
        self.job: Job = read_job(source, self._header, self._warn)
        self.modules: dict[str, ModuleInfo] = self._header.modules
        self.unreadable: dict[str, str] = {}
        self._undecoded = [name for name in self.modules if not self._is_decoded(name)]
        self._names: dict[int, str] | None = None
        self._unchecked_ids: list[tuple[str, UInt64s]] = []
        self._tables: dict[str, RecordTable] = {}
        self._dxt: dict[str, DxtTable] = {}
        self._heatmaps: dict[str, Heatmap] | None = None
        self._lustre: LustreTable | None = None

    def _repr_html_(self) -> str:
        """For notebooks: the job and its modules; no name of the log."""
        took = seconds_text(self.job.run_time)
        rows = [
            (name, size_text(module.length), "yes" if module.partial else "")
            for name, module in self.modules.items()
        ]
        title = f"Log: {plural(self.job.nprocs, 'rank')}, {took}"
        return html_table(title, ("module", "compressed", "partial"), rows)

    @property
    def format_version(self) -> str:
        return self._header.format_version

    @property
    def byte_order(self) -> ByteOrder:
        return self._header.byte_order

    @property
    def skipped(self) -> list[str]:
        """Names of the modules that are left out: nobody here decodes them, or they cannot be read (all are tried).

        Raises:
            WorkalikeError: the name region is damaged.
        """
        for module in self.modules:
            if module in layouts.FIXED and module not in NEEDED:
                self.records(module)
            elif module in ("DXT_POSIX", "DXT_MPIIO"):
                self.dxt(module)
        self.lustre()
        self.heatmaps()
        return [name for name in self.modules if name in self._undecoded or name in self.unreadable]

    @property
    def names(self) -> dict[int, str]:
        """Names by record id; reading them adds warnings about records without a name."""
        if self._names is None:
            with self._source.within_memory(self._header.names):
                self._names = read_names(self._source, self._header, self._warn)
            for module, ids in self._unchecked_ids:
                self._note_nameless(module, ids)
            self._unchecked_ids.clear()
        return self._names

    def records(self, module: str) -> RecordTable | None:
        """The records of a module with records of fixed size (``layouts.FIXED``).

        Returns:
            None if the log does not have the module, or leaves it out.

        Raises:
            WorkalikeError: DAMAGED_LOG or UNSUPPORTED_LOG, for a module that is needed (`NEEDED`).
            KeyError: there is no such module with fixed records.
        """
        if module not in layouts.FIXED:
            raise KeyError(module)
        if module in NEEDED and module in self._undecoded:
            raise self._source.unsupported(
                f"record version {self.modules[module].version} is not known",
                place=f"module {module}",
                hint="use a newer workalike, or profile the application anew with workalike profile",
            )
        if self._has(module) and module not in self._tables:
            with self._left_out(module):
                self._tables[module] = self._read_records(module)
        return self._tables.get(module)

    def _read_records(self, module: str) -> RecordTable:
        info = self.modules[module]
        with self._source.within_memory(info.region):
            data = self._inflate(info)
            table = decode_records(module, info.version, data, self._header.code, self._warn)
        self._refuse_other_size(info, data, table)
        self._check_ranks(module, table.ranks, lowest=-1)
        self._note_nameless(module, table.ids)
        return table

    def lustre(self) -> LustreTable:
        """The Lustre records, a table that serves as a list; empty if there are none, or they are left out."""
        if self._lustre is None and self._has("LUSTRE"):
            with self._left_out("LUSTRE"):
                self._lustre = self._read_lustre()
        if self._lustre is None:
            self._lustre = LustreTable.empty()
        return self._lustre

    def _read_lustre(self) -> LustreTable:
        info = self.modules["LUSTRE"]
        with self._source.within_memory(info.region):
            data = self._inflate(info)
            table = decode_lustre(info.version, data, self._header.code, self._source, self._warn)
        self._check_ranks("LUSTRE", table.ranks, lowest=-1)
        self._note_nameless("LUSTRE", table.ids)
        return table

    def heatmaps(self) -> dict[str, Heatmap]:
        """The heatmaps by interface ("POSIX", "MPIIO", "STDIO"); empty if there are none, or they are left out."""
        if self._heatmaps is None and self._has("HEATMAP"):
            with self._left_out("HEATMAP"):
                self._heatmaps = self._read_heatmaps()
        if self._heatmaps is None:
            self._heatmaps = {}
        return self._heatmaps

    def _read_heatmaps(self) -> dict[str, Heatmap]:
        info = self.modules["HEATMAP"]
        with self._source.within_memory(info.region):
            data = self._inflate(info)
            maps = decode_heatmaps(data, self._header.code, self._name, self._source, self._warn)
        for heatmap in maps.values():
            self._check_ranks("HEATMAP", heatmap.ranks, lowest=0)
        return maps

    def dxt(self, module: str) -> DxtTable | None:
        """The trace of "DXT_POSIX" or "DXT_MPIIO"; None if the log does not have it, or leaves it out.

        Raises:
            KeyError: there is no such trace module.
        """
        if module not in ("DXT_POSIX", "DXT_MPIIO"):
            raise KeyError(module)
        if self._has(module) and module not in self._dxt:
            with self._left_out(module):
                self._dxt[module] = self._read_dxt(module)
        return self._dxt.get(module)

    def _read_dxt(self, module: str) -> DxtTable:
        info = self.modules[module]
        with self._source.within_memory(info.region):
            data = self._inflate(info)
            table = decode_dxt(module, info.version, data, self._header.code, self._source, self._warn)
        self._check_ranks(module, table.ranks, lowest=0)
        self._note_nameless(module, table.ids)
        if not table.offsets_valid:
            self._warn(f"module {module}: version {info.version} has no valid offsets")
        return table

    @property
    def header(self) -> Header:
        """The checked header, for those who rewrite a log."""
        return self._header

    def inflated(self, region: Region) -> bytes:
        """The bytes of a region of the header, decompressed and otherwise unchecked.

        Raises:
            WorkalikeError: DAMAGED_LOG.
        """
        ratio = {self._header.job: SMALL, self._header.names: OBJECTS}.get(region, BULK)
        with self._source.within_memory(region):
            return self._source.inflate(region, self._header.compression, ratio)

    def _name(self, number: int) -> str:
        return self.names.get(number, "")

    def _has(self, module: str) -> bool:
        return module in self.modules and module not in self._undecoded and module not in self.unreadable

    @contextmanager
    def _left_out(self, module: str) -> Iterator[None]:
        """Leave a module out that cannot be read, unless it is needed. Errors that name no place are of the whole file."""
        try:
            yield
        except WorkalikeError as error:
            damaged = error.kind in (ErrorKind.DAMAGED_LOG, ErrorKind.UNSUPPORTED_LOG)
            if module in NEEDED or not damaged or not error.place:
                raise
            _ = self.names  # where the fault is there, it is an error
            at = error.place.removeprefix(f"module {module}").removeprefix(", ")
            self.unreadable[module] = f"{at}: {error.message}" if at else error.message
            self._warn(f"module {module} cannot be read and is left out: {self.unreadable[module]}")

    def _inflate(self, info: ModuleInfo) -> bytes:
        return self._source.inflate(info.region, self._header.compression)

    def _is_decoded(self, name: str) -> bool:
        """Whether a module can be decoded; warns about an unsupported version or an unknown module."""
        known = layouts.FIXED[name].versions if name in layouts.FIXED else layouts.VARIABLE.get(name, ())
        version = self.modules[name].version
        if version in known:
            return True
        if known:
            self._warn(f"module {name}: record version {version} is not known, skipped")
        elif name not in layouts.MODULE_IDS:
            self._warn(f"module number {self.modules[name].id} is not known, skipped")
        return False

    def _refuse_other_size(self, info: ModuleInfo, data: bytes, table: RecordTable) -> None:
        """Records of another size than their version has are a modified module's: nobody knows their counters.

        Compressed bytes have a checksum, so what does not fill its records was written so.
        """
        usual = layouts.FIXED[info.name].versions[info.version].words
        nprocs = self.job.nprocs
        wrong = bool(((table.ranks < -1) | (table.ranks >= nprocs)).any())
        left = len(data) % (8 * usual)
        if not (left or wrong):
            return
        found = None
        if len(data) % 8 == 0:
            words = native_words(data, self._header.code)
            found = other_size(words, usual, self.names, nprocs)
            if found is None and wrong:
                found = other_size(words, usual, None, nprocs)
        named = sum(map(self.names.__contains__, table.ids.tolist()))
        known = 2 * named > len(table) and not wrong
        checked = self._header.compression != layouts.UNCOMPRESSED and len(data) >= HEAD_BYTES
        if found is None and (not left or known or not checked):
            return
        size = "another size" if found is None else f"{8 * found} bytes"
        raise self._source.unsupported(
            f"its records have {size}, not the {8 * usual} bytes of version {info.version}: "
            "they are of a modified Darshan",
            place=f"module {info.name}",
            hint="their counters are not known; profile the application anew, with Darshan or workalike profile",
        )

    def _check_ranks(self, module: str, ranks: Int64s, lowest: int) -> None:
        """Refuse records with ranks outside the job: they are not what the header says."""
        # As an unsigned number, a rank below the lowest is huge.
        if len(ranks) and int((ranks - lowest).view(np.uint64).max()) >= self.job.nprocs - lowest:
            first = int(np.flatnonzero((ranks < lowest) | (ranks >= self.job.nprocs))[0])
            raise self._source.damaged(
                f"rank {int(ranks[first])} in a job of {self.job.nprocs} processes",
                place=f"module {module}, record {first}",
            )

    def _note_nameless(self, module: str, ids: UInt64s) -> None:
        """Warn of records without a name as soon as names are read; the records are kept."""
        if self._names is None:
            self._unchecked_ids.append((module, ids))
            return
        known = self._names.__contains__
        if not all(map(known, ids.tolist())):
            nameless = len(ids) - sum(map(known, ids.tolist()))
            self._warn(f"module {module}: {nameless} of {len(ids)} records have no name")

    def _warn(self, message: str) -> None:
        if message not in self.warnings:
            self.warnings.append(message)
