"""The database as the portal sees it: jobs and logs in memory, the rest in its Parquet files, nothing written."""

from __future__ import annotations

import threading
import time
from typing import Any

from workalike.fleet.store import Store
from workalike.fleet.views import JOB

LOOK_EVERY_S = 10.0
"""Seconds after which the manifest is looked at again."""


class Snapshot:
    """Queries over the parts that count; new parts appear some seconds after their commit."""

    def __init__(self, store: Store, memory: str = "1GB") -> None:
        self.store = store
        self._memory = memory
        self._lock = threading.Lock()
        self._looked = time.monotonic()
        self._connection = self._load()

    def rows(self, sql: str, values: list[Any] | None = None) -> list[dict[str, Any]]:
        """The rows of a query, whose values are parameters."""
        cursor = self._current().cursor()
        try:
            result = cursor.execute(sql, values or [])
            names = [column[0] for column in result.description]
            return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
        finally:
            cursor.close()

    def connection(self) -> Any:
        """A cursor of the connection, for the queries of `report`."""
        return self._current().cursor()

    def _current(self) -> Any:
        with self._lock:
            if time.monotonic() - self._looked > LOOK_EVERY_S:
                self._looked = time.monotonic()
                if self.store.refresh() or self._past != self._past_state():
                    self._connection = self._load()
            return self._connection

    def _past_state(self) -> tuple[int, int] | None:
        """Changes with the findings of logs against their past, which are written after the parts."""
        try:
            status = self.store.past_file.stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns

    def _load(self) -> Any:
        self._past = self._past_state()
        connection = self.store.connect(self._memory)
        connection.execute(
            "CREATE TABLE kept_log AS SELECT * FROM log ORDER BY start; "
            "CREATE TABLE kept_past AS SELECT * FROM past_finding; "
            "DROP VIEW job; DROP VIEW past_finding; DROP VIEW log"
        )
        connection.execute("ALTER TABLE kept_past RENAME TO past_finding")
        connection.execute("ALTER TABLE kept_log RENAME TO log")
        connection.execute(f"CREATE TABLE job AS SELECT * FROM ({JOB}) ORDER BY start DESC")
        folder = str(self.store.folder).replace("'", "''")
        connection.execute(f"SET allowed_directories = ['{folder}/']")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        return connection
