"""Results as Parquet: a row for each trial, and a row for each dump."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.extras import arrow
from workalike.leftovers import new_name
from workalike.study.journal import Finished, Row

TRIALS, DUMPS = "trials.parquet", "dumps.parquet"


def require_arrow() -> None:
    """Refuse early to run where results could not be written.

    Raises:
        WorkalikeError: MISSING.
    """
    arrow("a study", "study")


def write_tables(finished: Sequence[Finished], folder: Path) -> None:
    """Write both tables from the finished trials, in the order of blocks.

    Raises:
        WorkalikeError: MISSING without pyarrow; CANNOT_WRITE.
    """
    ordered = sorted(finished, key=lambda row: (row.trial["block"], row.trial.get("position", 0)))
    _write([row.trial for row in ordered], folder / TRIALS)
    _write((dump for row in ordered for dump in row.dumps), folder / DUMPS)


def _write(rows: Iterable[Row], path: Path) -> None:
    pa, parquet = arrow("a study", "study")
    every = list(rows)
    names = list(dict.fromkeys(name for row in every for name in row))
    columns = {name: pa.array(_column([row.get(name) for row in every])) for name in names}
    partial = path.with_name(new_name(".workalike-part"))
    try:
        parquet.write_table(pa.table(columns), partial)
        partial.replace(path)
    except OSError as error:
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE,
            error.strerror or "cannot be written",
            file=path,
            hint="free space, then give the same command again: the trials are kept",
        ) from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


def _column(values: list[Any]) -> list[Any]:
    """Values of one type: lists and objects as JSON, mixed levels as text, whole numbers among floats as floats."""
    values = [json.dumps(value) if isinstance(value, list | dict) else value for value in values]
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    if len(kinds) > 1 or any(isinstance(value, int) and abs(value) >= 2**63 for value in values):
        return [None if value is None else str(value) for value in values]
    return values
