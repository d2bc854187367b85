"""A database on disk: parts, the manifest that makes them count, and the views.

FLEET/fleet.json       the version, and which key users are hidden by
FLEET/manifest.jsonl   one line for each part; what no line names does not count
FLEET/parts/MONTH/PART/TABLE.parquet
FLEET/past_finding.parquet  the findings of logs against their past
FLEET/fleet.duckdb     views over the parts, for any DuckDB client
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import is_decoded, make_folder, read_text, write_text, writing
from workalike.fleet import stored_past, views
from workalike.fleet.extras import arrow, duck, require_all
from workalike.fleet.findings import RULES_VERSION
from workalike.fleet.past import KEY, PastLimits
from workalike.fleet.schema import OLDER, TABLES, VERSION
from workalike.leftovers import scratch_folder

ABOUT, MANIFEST, PARTS, STAGING, VIEWS, LOCK = (
    "fleet.json",
    "manifest.jsonl",
    "parts",
    "staging",
    "fleet.duckdb",
    "lock",
)
LARGEST_MANIFEST = 1 << 30
LONGEST_REASON = 300
"""Characters of what a library says of a damaged file."""
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """One line of the manifest. `part` is its folder below `parts`; `tables` has the rows of each table.

    `first` and `last` are the starts of its logs, seconds since 1970, or None without logs. `replaces` names parts that
    no longer count: those that were merged into this one.
    """

    part: str
    tables: dict[str, int]
    first: float | None = None
    last: float | None = None
    replaces: tuple[str, ...] = ()


class Store:
    """An opened database. Several processes may have it open, and write to it."""

    def __init__(self, folder: Path, about: dict[str, Any]) -> None:
        self.folder = folder.absolute()
        self.about = about
        self._parts: dict[str, Part] = {}
        self._read_to = 0
        self.replaced: dict[str, str] = {}

    @property
    def hides(self) -> bool:
        """Whether the database has a key, and so holds no names."""
        return bool(self.about.get("key"))

    @property
    def parts(self) -> list[Part]:
        """The parts that count, as of the last `refresh`."""
        return list(self._parts.values())

    def files(self, table: str, parts: Sequence[Part] | None = None) -> list[Path]:
        """The Parquet files of a table."""
        chosen = self.parts if parts is None else parts
        return [self.file(part, table) for part in chosen if part.tables.get(table)]

    def file(self, part: Part, table: str) -> Path:
        return self.folder / PARTS / part.part / f"{table}.parquet"

    def refresh(self) -> bool:
        """Read what has been added to the manifest; whether anything was.

        Raises:
            WorkalikeError: BAD_FILE where a line is damaged.
        """
        path = self.folder / MANIFEST
        try:
            with path.open("rb") as file:
                file.seek(self._read_to)
                data = file.read(LARGEST_MANIFEST)
        except FileNotFoundError:
            return False
        whole = data[: data.rfind(b"\n") + 1]  # a line that a killed process left unfinished does not count
        for number, line in enumerate(whole.splitlines()):
            if line.strip():
                self._add(line, self._read_to, number)
        self._read_to += len(whole)
        return bool(whole)

    def _add(self, line: bytes, at: int, number: int) -> None:
        try:
            part = Part(**json.loads(line))
            if part.part.startswith("/") or ".." in part.part or not isinstance(part.tables, dict):
                raise ValueError("is not a part of this database")
        except (ValueError, TypeError, AttributeError) as error:
            # What an interrupted write left, with the next line after it: the part never counted.
            if not line.startswith(b"{") or not line.endswith(b"}") or line.count(b'{"part"') > 1:
                return
            raise WorkalikeError(
                ErrorKind.BAD_FILE,
                "is damaged",
                file=self.folder / MANIFEST,
                place=f"line {number + 1} after byte {at}",
                hint="restore it, or ingest the logs into a new database",
            ) from error
        for old in part.replaces:
            self._parts.pop(old, None)
            self.replaced[old] = part.part
        self._parts[part.part] = part

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of all writers; the manifest is read anew.

        Raises:
            WorkalikeError: CANNOT_WRITE where there is no lock and none can be made.
        """
        descriptor = lock_file(self.folder / LOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            self.refresh()
            yield
        finally:
            os.close(descriptor)

    def commit(self, part: Part, staged: Path | None) -> None:
        """Make a part count, with the lock held. `staged` is its folder, which is moved.

        Raises:
            WorkalikeError: CANNOT_WRITE; the part then does not count.
        """
        target = self.folder / PARTS / part.part
        with writing(target, "check space and rights, and ingest again: nothing is lost"):
            if staged is not None:
                make_folder(target.parent)
                if target.exists():  # of an ingestion that was killed before its line
                    shutil.rmtree(target)
                _sync_all(staged)
                staged.rename(target)
                _sync(target.parent)
            self._append(json.dumps(asdict(part)))
        self.refresh()

    def _append(self, line: str) -> None:
        with (self.folder / MANIFEST).open("ab") as file:
            torn = file.tell() > self._read_to
            file.write(b"\n" * torn + line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def keep_version(self) -> None:
        """Keep that all parts are of this program's version.

        Raises:
            WorkalikeError: CANNOT_WRITE.
        """
        with self.locked():
            self.about["workalike_fleet"] = VERSION
            write_text(self.folder / ABOUT, json.dumps(self.about) + "\n")

    def keep_limits(self, limits: PastLimits) -> None:
        """Keep the limits by which logs are compared with their past.

        Raises:
            WorkalikeError: CANNOT_WRITE.
        """
        if limits == PastLimits.of_about(self.about):
            return
        with self.locked():
            self.about[KEY] = limits.as_about()
            write_text(self.folder / ABOUT, json.dumps(self.about) + "\n")

    def update_views(self) -> None:
        """Write anew what is made from all parts: the findings against their past, and `fleet.duckdb`, whose views name
        the files of the parts that count. The lock must not be held.

        Raises:
            WorkalikeError: CANNOT_WRITE.
        """
        with self.locked():
            self._write_views()

    def views_are_old(self) -> bool:
        """Whether `fleet.duckdb` is not of the parts that count, this folder and these limits, or cannot be read."""
        duckdb = duck()
        if not self.past_file.exists():
            return True
        try:
            with duckdb.connect(str(self.folder / VIEWS), read_only=True) as connection:
                found = connection.execute("SELECT comment FROM duckdb_views() WHERE view_name = 'finding'")
                return bool(found.fetchall() != [(self._views_mark(),)])
        except duckdb.Error:
            return True

    def _views_mark(self) -> str:
        limits = PastLimits.of_about(self.about).as_about()
        return stored_past.mark_of([str(self.folder), VERSION, RULES_VERSION, limits, sorted(self._parts)])

    @property
    def past_file(self) -> Path:
        """Where the findings of logs against their past are; none in a database without an ingestion since version 2."""
        return self.folder / stored_past.PAST

    def _write_views(self) -> None:
        duckdb = duck()
        names = [part.part for part in self.parts if part.tables.keys() & {"log", "finding"}]
        tables = self._files_by_table()
        try:
            # DuckDB has a file of its own beside the one that it writes.
            with scratch_folder(self.folder) as scratch:
                limits = PastLimits.of_about(self.about)
                reading = damage_named(self.folder)
                stored_past.update(self.folder, scratch, tables, names, limits, reading)
                with duckdb.connect(str(scratch / VIEWS)) as connection, damage_named(self.folder):
                    below = self.folder if self.hides else None  # its path may have a name
                    if below is not None:
                        connection.execute(f"SET file_search_path = {views.quoted(str(below))}")
                    for statement in views.create(tables, self.past_file, below):
                        connection.execute(statement)
                    mark = views.quoted(self._views_mark())
                    connection.execute(f"COMMENT ON VIEW finding IS {mark}")
                (scratch / VIEWS).replace(self.folder / VIEWS)
        except (duckdb.Error, OSError) as error:
            raise WorkalikeError(
                ErrorKind.CANNOT_WRITE,
                str(error).splitlines()[0],
                file=self.folder / VIEWS,
                hint="check space and rights",
            ) from error

    def connect(self, memory: str = "2GB", threads: int | None = None) -> Any:
        """A DuckDB connection in memory with the views of the parts that count; it writes nothing to the database."""
        options: dict[str, Any] = {"memory_limit": memory, "autoinstall_known_extensions": False}
        if threads is not None:
            options["threads"] = threads
        connection = duck().connect(":memory:", config=options)
        past = self.past_file if self.past_file.exists() else None
        for statement in views.create(self._files_by_table(), past):
            connection.execute(statement)
        return connection

    def _files_by_table(self) -> dict[str, list[Path]]:
        return {table: self.files(table) for table in TABLES}

    def known_logs(self, parts: Sequence[Part] | None = None) -> Ids:
        """int64, sorted: the ids of all logs that were ingested, or of those in some parts."""
        _, parquet = arrow()
        ids = [
            parquet.read_table(f, columns=["log_id"])["log_id"].to_numpy() for f in self.files("log", parts)
        ]
        return np.sort(np.concatenate(ids)) if ids else np.zeros(0, dtype=np.int64)


def lock_file(path: Path) -> int:
    """A descriptor of a file that is locked by `flock`; it is made where it is missing.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    with writing(path, "check space and rights"):
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)


@contextlib.contextmanager
def damage_named(folder: Path) -> Iterator[None]:
    """What the libraries of Parquet and SQL say of damaged files of a database, as an error that names the database.

    Raises:
        WorkalikeError: BAD_FILE.
    """
    pa, _ = arrow()
    try:
        yield
    except duck().OutOfMemoryException:  # no damage
        raise
    except (duck().Error, pa.ArrowException) as error:
        reason = (str(error).splitlines() or [""])[0].strip()[:LONGEST_REASON]
        raise WorkalikeError(
            ErrorKind.BAD_FILE,
            f"a file of this database is damaged: {reason or type(error).__name__}",
            file=folder,
            hint="restore it from a copy, or ingest the logs into a new database",
        ) from error


@contextlib.contextmanager
def staging_folder(store: Store) -> Iterator[Path]:
    """A folder for parts that do not count yet; what killed processes left is removed.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    parent = store.folder / STAGING
    with writing(parent, "check space and rights"):
        parent.mkdir(exist_ok=True)
        with scratch_folder(parent) as folder:
            yield folder


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_all(folder: Path) -> None:
    for path in folder.iterdir():
        _sync(path)
    _sync(folder)


def open_store(folder: Path, *, older: bool = False) -> Store:
    """Open a database that exists; an `older` one only for who brings it to this version.

    Raises:
        WorkalikeError: NOT_INSTALLED without the libraries of a fleet; MISSING without a database, BAD_FILE where it is
            damaged or of another version.
    """
    require_all()
    about_file = folder / ABOUT
    if not about_file.is_file():
        raise WorkalikeError(
            ErrorKind.MISSING,
            "holds no database of logs",
            file=folder,
            hint="make one with workalike fleet ingest DIR --db FLEET/",
        )
    try:
        about = json.loads(read_text(about_file, ErrorKind.BAD_FILE, 1 << 16))
        version = about["workalike_fleet"]
    except (ValueError, KeyError, TypeError) as error:
        raise WorkalikeError(ErrorKind.BAD_FILE, "is not a database of logs", file=about_file) from error
    if version != VERSION and not (older and version in OLDER):
        age = "an older" if isinstance(version, int) and version < VERSION else "another"
        hint = "use the program that made it, or ingest the logs into a new database"
        if version in OLDER:
            hint = "its next ingestion brings it to this version: workalike fleet ingest DIR --db FLEET"
        raise WorkalikeError(
            ErrorKind.BAD_FILE,
            f"is of version {str(version)[:20]}, {age} one than this program's {VERSION}",
            file=about_file,
            hint=hint,
        )
    if not is_decoded(folder.absolute()):
        raise WorkalikeError(
            ErrorKind.USAGE,
            "has a name that is not UTF-8, or not in this locale",
            file=folder,
            hint="use a locale of UTF-8, such as LC_ALL=C.UTF-8, or rename it",
        )
    store = Store(folder, about)
    store.refresh()
    return store


def open_or_make(folder: Path, key_mark: str, *, older: bool = False) -> Store:
    """Open a database, or make an empty one whose names are hidden by the key of this mark (empty: not at all).

    Raises:
        WorkalikeError: as `open_store`; USAGE where its names were hidden by another key, CANNOT_WRITE.
    """
    require_all()
    if not (folder / ABOUT).exists():
        if key_mark and "," in str(folder.absolute()):
            raise WorkalikeError(
                ErrorKind.USAGE,
                "has a comma in its path, which DuckDB cannot search for a database with a key",
                file=folder,
                hint="choose another folder",
            )
        make_folder(folder)
        write_text(folder / ABOUT, json.dumps({"workalike_fleet": VERSION, "key": key_mark}) + "\n")
    store = open_store(folder, older=older)
    if store.about.get("key", "") != key_mark:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "was made with another key for pseudonyms, or without one",
            file=folder,
            hint="name the site file with the same key, or make a new database",
        )
    return store
