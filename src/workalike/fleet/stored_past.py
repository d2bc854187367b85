"""The findings of logs against their past, kept in a file: they are computed when parts change, not when they are read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from workalike.fleet import views
from workalike.fleet.extras import arrow, duck
from workalike.fleet.findings import RULES_VERSION
from workalike.fleet.past import PastLimits, add_words, past_findings
from workalike.fleet.schema import VERSION

PAST = "past_finding.parquet"
MARK = "workalike_past"
"""The key in the metadata of the file: what it was computed from."""
MEMORY = "2GB"
"""That DuckDB may take for it; what needs more goes to a scratch folder of the database."""


def mark_of(what: Any) -> str:
    """A short text that changes with what a file is made from."""
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:32]


def update(
    folder: Path,
    scratch: Path,
    tables: Mapping[str, Sequence[Path]],
    names: list[str],
    limits: PastLimits,
    reading: AbstractContextManager[None],
) -> None:
    """Write the file of a database anew, unless it is of these parts and limits.

    Args:
        scratch: an empty folder of the same file system.
        names: of the parts that have logs or findings.
        reading: is entered while the tables are read; it names damaged files.

    Raises:
        duckdb.Error, OSError: it cannot be written.
    """
    mark = mark_of([VERSION, RULES_VERSION, limits.as_about(), sorted(names)])
    if _mark_in(folder / PAST) == mark:
        return
    options = {"memory_limit": MEMORY, "temp_directory": str(scratch / "spilled")}
    with duck().connect(":memory:", config=options | {"autoinstall_known_extensions": False}) as connection:
        with reading:
            for statement in views.create(tables, None):
                connection.execute(statement)
            add_words(connection)
            connection.execute(f"CREATE TABLE found AS {past_findings(limits)}")
        connection.execute(
            f"COPY found TO {views.quoted(str(scratch / PAST))} "
            f"(FORMAT parquet, KV_METADATA {{{MARK}: {views.quoted(mark)}}})"
        )
    (scratch / PAST).replace(folder / PAST)


def _mark_in(file: Path) -> str | None:
    """What a file was computed from; None without one that can be read."""
    pa, parquet = arrow()
    try:
        return str((parquet.read_metadata(file).metadata or {}).get(MARK.encode(), b"").decode())
    except (OSError, pa.ArrowException, UnicodeDecodeError):
        return None
