"""Logs -> database: which files are new, their parts, and the commits."""

from __future__ import annotations

import os
import shutil
import stat
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import read_text
from workalike.fleet.cluster import cluster_run
from workalike.fleet.compact import remove_uncounted
from workalike.fleet.extras import arrow, duck
from workalike.fleet.log_paths import keep_paths
from workalike.fleet.part_writer import Gathered, write_tables
from workalike.fleet.past import PastLimits
from workalike.fleet.schema import DUPLICATE, FILTERED, INGESTED, OF_LOGS, QUARANTINED
from workalike.fleet.site import TOO_EARLY, Site
from workalike.fleet.store import Ids, Part, Store, damage_named, staging_folder
from workalike.fleet.views import quoted
from workalike.fleet.workers import Done, Lost, Workers

CHUNK = 200
"""Logs of a part: enough that Parquet's files are not tiny, few enough that a killed ingestion loses seconds."""
LOG_SUFFIX = ".darshan"
MOST_PROBLEMS = 1000
"""Problems that are kept for the summary; all of them are in `source`."""


UNREADABLE = "unreadable"
"""What became of a file that could not be read: it has no row, and the next ingestion tries it again."""
COUNTED = (INGESTED, QUARANTINED, FILTERED, DUPLICATE, UNREADABLE)


@dataclass
class Outcome:
    """What an ingestion did. `problems` are (path, reason)."""

    found: int = 0
    known: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[tuple[str, str]] = field(default_factory=list)
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "found": self.found,
            "known": self.known,
            **{name: self.counts[name] for name in COUNTED},
            "problems": [{"log": path, "reason": reason} for path, reason in self.problems],
            "seconds": round(self.seconds, 3),
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Outcome:
        """The inverse of `to_json`.

        Raises:
            KeyError, TypeError, ValueError: where it is something else.
        """
        return cls(
            found=int(document["found"]),
            known=int(document["known"]),
            counts=Counter({name: int(document[name]) for name in COUNTED}),
            problems=[(str(each["log"]), str(each["reason"])) for each in document["problems"]],
            seconds=float(document["seconds"]),
        )


@dataclass(frozen=True)
class Found:
    """A file that may be a log."""

    path: str
    size: int
    changed_ns: int


def ingest(
    store: Store,
    sources: Sequence[Path],
    site: Site,
    site_file: Path | None = None,
    *,
    since: float | None = None,
    jobs: int | None = None,
    share: tuple[int, int] = (0, 1),
    scheduler: str | None = None,
    progress: Callable[[int, int], None] = lambda _, __: None,
) -> Outcome:
    """Read all new logs of folders, lists and files into the database.

    Args:
        sources: folders (searched wholly), logs, or text files with a path in each line.
        site_file: where `site` was read from; the workers read it too.
        since: leave out jobs that began before, seconds since 1970.
        jobs: worker processes; by default one for each core.
        share: (i, n) takes the i-th of n shares of the files, for n ingestions at the same time.
        scheduler: the address of a Dask cluster's scheduler, whose workers read instead of processes of this node.
        progress: is called with the number of new files that are done, and of all new files.

    Raises:
        WorkalikeError: MISSING where a source does not exist, CANNOT_WRITE, RUN_FAILED.
    """
    began = time.monotonic()
    outcome = Outcome()
    remove_uncounted(store)
    store.keep_limits(PastLimits.of_site(site.rules))
    found = [f for f in files_of(sources, outcome) if share_of(f.path, share[1]) == share[0]]
    keep_paths(store, site, [f.path for f in found])
    outcome.found = len(found)
    mark = mark_of(site)
    new = _unknown(store, found, site, since)
    outcome.known = len(found) - len(new)
    size = _chunk_size(len(new), jobs)
    chunks = ([f.path for f in new[i : i + size]] for i in range(0, len(new), size))
    if new:
        with staging_folder(store) as staging:
            arguments = [str(site_file.absolute()) if site_file else None, since]
            if scheduler is not None:
                found_logs = cluster_run(scheduler, chunks, arguments, staging, mark)
            else:
                workers = Workers(min(jobs or os.cpu_count() or 1, len(new)), arguments, staging, mark)
                found_logs = workers.run(chunks)
            committer = _Committer(store, staging, site)
            for what in found_logs:
                committer.take(what, outcome)
                progress(sum(outcome.counts.values()), len(new))
    if new or store.views_are_old():
        store.update_views()
    outcome.seconds = time.monotonic() - began
    return outcome


def _chunk_size(files: int, jobs: int | None) -> int:
    """Logs of a chunk: all workers get some, and the last chunks are not much longer than the others."""
    return max(1, min(CHUNK, -(-files // (2 * (jobs or os.cpu_count() or 1)))))


def share_of(path: str, shares: int) -> int:
    """Which of so many shares a file belongs to; the same on every machine."""
    return zlib.crc32(path.encode(errors="surrogateescape")) % shares


def mark_of(site: Site) -> str:
    """Changes with the filters, so that files that they left out are looked at again."""
    applications = [each.model_dump() for each in site.applications]
    return f"{zlib.crc32(f'{site.filters.model_dump_json()} {applications}'.encode()):08x}"


def files_of(sources: Sequence[Path], outcome: Outcome) -> Iterator[Found]:
    """The files that may be logs, each once."""
    seen: set[str] = set()
    for source in sources:
        for path in _paths_of(source, outcome):
            name = os.path.abspath(path)  # noqa: PTH100
            if name in seen:
                continue
            seen.add(name)
            try:
                status = os.stat(name)  # noqa: PTH116
            except OSError as error:
                outcome.counts[UNREADABLE] += 1
                outcome.problems.append((name, error.strerror or "cannot be read"))
                continue
            if stat.S_ISREG(status.st_mode):
                yield Found(name, status.st_size, status.st_mtime_ns)


def _paths_of(source: Path, outcome: Outcome) -> Iterator[str]:
    if source.is_dir():
        for folder, folders, names in os.walk(source):
            folders.sort()
            yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(LOG_SUFFIX))  # noqa: PTH118
    elif source.name.endswith(LOG_SUFFIX):
        yield str(source)
    elif source.is_file():
        lines = read_text(source, ErrorKind.BAD_FILE).splitlines()
        yield from (str(source.parent / line.strip()) for line in lines if line.strip() and line[0] != "#")
    else:
        raise WorkalikeError(
            ErrorKind.MISSING,
            "does not exist",
            file=source,
            hint="name folders of logs, logs, or a list of them",
        )


def _unknown(store: Store, found: list[Found], site: Site, since: float | None) -> list[Found]:
    """The files that were not read yet, or have changed, or were left out by other filters or a later `since`.

    The start of a job that was too early is in its reason: `since` may be another moment at each ingestion (`7d`).
    """
    files = store.files("source")
    if not files or not found:
        return found
    pa, _ = arrow()
    listed = pa.table(
        {
            "path": pa.array([site.shown_path(f.path) for f in found], pa.string()),
            "size": pa.array([f.size for f in found], pa.int64()),
            "changed_ns": pa.array([f.changed_ns for f in found], pa.int64()),
            "number": pa.array(range(len(found)), pa.int64()),
        }
    )
    with damage_named(store.folder), duck().connect(":memory:") as connection:
        connection.register("listed", listed)
        names = ", ".join(quoted(str(f)) for f in files)
        began = f"TRY_CAST(split_part(reason, {quoted(TOO_EARLY)}, 2) AS DOUBLE)"
        rows = connection.execute(
            f"""SELECT number FROM listed ANTI JOIN (
                SELECT path, size, changed_ns FROM read_parquet([{names}])
                WHERE outcome <> {quoted(FILTERED)}
                    OR CASE WHEN contains(reason, {quoted(TOO_EARLY)}) THEN coalesce({began} < ?, false)
                        ELSE starts_with(reason, {quoted(mark_of(site))}) END
            ) USING (path, size, changed_ns) ORDER BY number""",
            [since],
        ).fetchall()
    return [found[number] for (number,) in rows]


class _Committer:
    """Makes parts count, without logs that another part has already."""

    def __init__(self, store: Store, staging: Path, site: Site) -> None:
        self._store = store
        self._site = site
        self._staging = staging
        with damage_named(store.folder):
            self._known: Ids = store.known_logs()
        self._seen = {part.part for part in store.parts}

    def take(self, what: Done | Lost, outcome: Outcome) -> None:
        if isinstance(what, Lost):
            self._quarantine(what, outcome)
            return
        outcome.counts.update(what.counts)
        room = MOST_PROBLEMS - len(outcome.problems)
        outcome.problems += what.problems[: max(0, room)]
        if what.part is not None:
            self._commit(Part(**what.part), what.folder, outcome)

    def _quarantine(self, lost: Lost, outcome: Outcome) -> None:
        try:
            status = os.stat(lost.path)  # noqa: PTH116
        except OSError as error:  # it has gone since, so there is nothing to set aside
            outcome.counts[UNREADABLE] += 1
            outcome.problems.append((lost.path, f"{lost.reason}, then: {error.strerror}"))
            return
        gathered = Gathered()
        gathered.add_source(
            {
                "path": self._site.shown_path(lost.path),
                "size": status.st_size,
                "changed_ns": status.st_mtime_ns,
                "log_id": None,
                "outcome": QUARANTINED,
                "reason": lost.reason,
            }
        )
        folder = self._staging / "lost"
        part = gathered.write(folder)
        outcome.counts[QUARANTINED] += 1
        outcome.problems.append((lost.path, lost.reason))
        with self._store.locked():
            self._store.commit(part, folder)

    def _commit(self, part: Part, folder: Path, outcome: Outcome) -> None:
        _, parquet = arrow()
        with self._store.locked():
            self._learn()
            if part.tables.get("log"):
                ids = parquet.read_table(folder / "log.parquet", columns=["log_id"])["log_id"].to_numpy()
                again = ids[np.isin(ids, self._known)]
                if len(again):
                    part = without(part, folder, again)
                    outcome.counts[INGESTED] -= len(again)
                    outcome.counts[DUPLICATE] += len(again)
            if part.part not in self._seen:
                self._store.commit(part, folder)
            self._learn()

    def _learn(self) -> None:
        """Add the logs of parts that have been committed since, by this process or another."""
        new = [part for part in self._store.parts if part.part not in self._seen]
        if new:
            self._known = np.union1d(self._known, self._store.known_logs(new))
            self._seen.update(part.part for part in new)


def without(part: Part, folder: Path, ids: Ids) -> Part:
    """A staged part without some of its logs, which are marked as duplicates in `source`."""
    pa, parquet = arrow()
    unwanted = pa.array(ids, pa.int64())
    tables = {}
    for name in OF_LOGS:
        if not part.tables.get(name):
            continue
        table = parquet.read_table(folder / f"{name}.parquet")
        which = pa.compute.is_in(table["log_id"], value_set=unwanted)
        if name == "source":
            ingested = pa.compute.and_(which, pa.compute.equal(table["outcome"], INGESTED))
            marked = pa.compute.if_else(ingested, DUPLICATE, table["outcome"])
            place = table.schema.get_field_index("outcome")
            tables[name] = table.set_column(place, "outcome", marked)
        else:
            tables[name] = table.filter(pa.compute.invert(which))
    shutil.rmtree(folder)
    kept = {name: table for name, table in tables.items() if table.num_rows}
    write_tables(folder, kept)
    return replace(part, tables={name: table.num_rows for name, table in kept.items()})
