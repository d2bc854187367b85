"""Facts to Parquet and back: one folder for many jobs, with one file each for jobs, files, calls and every module.

A `job` column, the job's index in the sequence, connects the rows. A question over many jobs is thus a scan of columns.
File names are left out unless they are asked for. What is derived from names (`file_table`, `signature_of`) must be
computed before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workalike.errors import ErrorKind, WorkalikeError
from workalike.extras import arrow
from workalike.facts.columns import CallColumns, Facts, RecordColumns
from workalike.files import make_folder, writing

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = b"workalike-facts"
VERSION = b"2"
JOBS, FILES, CALLS = "jobs.parquet", "files.parquet", "calls.parquet"
_RECORD_ARRAYS = ("file", "ids", "ranks", "first_rank", "members", "doubted", "partial")
_COUNTER, _FCOUNTER = "c:", "f:"


def write_facts(facts: Sequence[Facts], folder: Path, *, names: bool = False) -> None:
    """Write the facts of jobs into a folder, which is made; with `names`, file names too.

    Raises:
        WorkalikeError: MISSING without pyarrow, CANNOT_WRITE where a file cannot be written.
    """
    pa, parquet = arrow("a table of facts", "parquet")
    make_folder(folder)
    tables = {
        JOBS: pa.table(
            {
                "nprocs": pa.array([f.nprocs for f in facts], pa.int64()),
                "run_time": pa.array([f.run_time for f in facts], pa.float64()),
                "logs": pa.array([f.logs for f in facts], pa.int64()),
                "cpu_share": pa.array([f.cpu_share for f in facts], pa.float64()),
                "partial_modules": pa.array([list(f.partial_modules) for f in facts], pa.list_(pa.string())),
                "skipped_modules": pa.array([list(f.skipped_modules) for f in facts], pa.list_(pa.string())),
                "unreadable_modules": pa.array(
                    [list(f.unreadable_modules) for f in facts], pa.list_(pa.string())
                ),
                "modules": pa.array([list(f.modules) for f in facts], pa.list_(pa.string())),
            }
        ),
        FILES: _stacked(pa, [_file_columns(pa, job, f, names) for job, f in enumerate(facts)]),
        CALLS: _stacked(pa, [_call_columns(job, f) for job, f in enumerate(facts)]),
    }
    for module in dict.fromkeys(module for f in facts for module in f.modules):
        chunks = [
            _record_columns(job, f.modules[module]) for job, f in enumerate(facts) if module in f.modules
        ]
        tables[f"{module}.parquet"] = _stacked(pa, chunks)
    for name, table in tables.items():
        table = table.replace_schema_metadata({b"format": FORMAT, b"version": VERSION})
        with writing(folder / name, "check folder and space"):
            parquet.write_table(table, folder / name)


def read_facts(folder: Path) -> list[Facts]:
    """The facts that `write_facts` wrote, in their order. Without stored names, all names are empty.

    Raises:
        WorkalikeError: MISSING without pyarrow or without such a folder, BAD_FILE where it is damaged.
    """
    pa, parquet = arrow("a table of facts", "parquet")
    try:
        jobs = _read(parquet, folder / JOBS).to_pylist()
        files, calls = (_by_job(_read(parquet, folder / name), len(jobs)) for name in (FILES, CALLS))
        modules = {
            module: _by_job(_read(parquet, folder / f"{module}.parquet"), len(jobs))
            for module in dict.fromkeys(module for job in jobs for module in job["modules"])
        }
        return [
            _facts(jobs[j], files[j], calls[j], {m: modules[m][j] for m in jobs[j]["modules"]})
            for j in range(len(jobs))
        ]
    except FileNotFoundError as error:
        raise WorkalikeError(
            ErrorKind.MISSING, "has no facts in it", file=folder, hint="name a folder of facts"
        ) from error
    except (pa.ArrowException, KeyError, ValueError, TypeError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise WorkalikeError(
            ErrorKind.BAD_FILE, f"is not a folder of facts: {reason}", file=folder, hint="write it again"
        ) from error


def _stacked(pa: Any, chunks: Sequence[dict[str, Any]]) -> pa.Table:
    """One table of chunks with the same columns, row after row."""
    columns: dict[str, list[Any]] = {}
    for chunk in chunks:
        for name, values in chunk.items():
            columns.setdefault(name, []).append(values)
    return pa.table({name: pa.chunked_array([pa.array(v) for v in parts]) for name, parts in columns.items()})


def _file_columns(pa: Any, job: int, facts: Facts, names: bool) -> dict[str, Any]:
    columns = {
        "job": np.full(len(facts), job, dtype=np.int64),
        "record_id": facts.record_ids,
        "stripe_size": facts.stripe_size,
        "stripe_count": facts.stripe_count,
        "truncations": facts.truncations,
        "removals": facts.removals,
    }
    return {**columns, "name": pa.array(facts.names, pa.string())} if names else columns


def _call_columns(job: int, facts: Facts) -> dict[str, Any]:
    columns = {field.name: getattr(facts.calls, field.name) for field in dataclasses.fields(CallColumns)}
    return {"job": np.full(len(facts.calls.file), job, dtype=np.int64), **columns}


def _record_columns(job: int, records: RecordColumns) -> dict[str, Any]:
    out = {"job": np.full(len(records), job, dtype=np.int64)}
    out |= {name: getattr(records, name) for name in _RECORD_ARRAYS}
    out |= {_COUNTER + n: records.counters[:, i] for i, n in enumerate(records.counter_names)}
    return out | {_FCOUNTER + n: records.fcounters[:, i] for i, n in enumerate(records.fcounter_names)}


def _read(parquet: Any, path: Path) -> pa.Table:
    table = parquet.read_table(path)
    metadata = table.schema.metadata or {}
    if (metadata.get(b"format"), metadata.get(b"version")) != (FORMAT, VERSION):
        raise ValueError(f"{path.name} is not of this format")
    return table


def _by_job(table: pa.Table, jobs: int) -> list[dict[str, Any]]:
    """For each job the columns of its rows, as NumPy arrays; text is a list."""
    job = table["job"].to_numpy()
    if len(job) and (job[0] < 0 or job[-1] >= jobs or (np.diff(job) < 0).any()):
        raise ValueError("rows are not sorted by job")
    columns = {
        name: table[name].to_pylist() if name == "name" else table[name].to_numpy()
        for name in table.column_names
        if name != "job"
    }
    edges = np.searchsorted(job, np.arange(jobs + 1)).tolist()
    return [{name: values[a:b] for name, values in columns.items()} for a, b in pairwise(edges)]


def _facts(
    job: dict[str, Any], files: dict[str, Any], calls: dict[str, Any], modules: dict[str, dict[str, Any]]
) -> Facts:
    number = len(files["record_id"])
    return Facts(
        nprocs=job["nprocs"],
        run_time=job["run_time"],
        logs=job["logs"],
        record_ids=files["record_id"],
        names=tuple(files["name"]) if "name" in files else ("",) * number,
        stripe_size=files["stripe_size"],
        stripe_count=files["stripe_count"],
        truncations=files["truncations"],
        removals=files["removals"] if "removals" in files else np.full(number, -1, dtype=np.int64),
        modules={module: _records(module, columns, number) for module, columns in modules.items()},
        calls=CallColumns(**calls),
        partial_modules=tuple(job["partial_modules"]),
        skipped_modules=tuple(job["skipped_modules"]),
        unreadable_modules=tuple(job.get("unreadable_modules") or ()),
        cpu_share=job["cpu_share"],
    )


def _records(module: str, columns: dict[str, Any], files: int) -> RecordColumns:
    file = columns["file"]
    if len(file) and (file.min() < 0 or file.max() >= files or (np.diff(file) < 0).any()):
        raise ValueError(f"records of {module} are not sorted by file")
    names = tuple(n.removeprefix(_COUNTER) for n in columns if n.startswith(_COUNTER))
    fnames = tuple(n.removeprefix(_FCOUNTER) for n in columns if n.startswith(_FCOUNTER))
    empty = np.zeros((len(file), 0))
    return RecordColumns(
        module=module,
        counter_names=names,
        fcounter_names=fnames,
        counters=np.stack([columns[_COUNTER + n] for n in names], axis=1)
        if names
        else empty.astype(np.int64),
        fcounters=np.stack([columns[_FCOUNTER + n] for n in fnames], axis=1) if fnames else empty,
        **{name: columns[name] for name in _RECORD_ARRAYS},
    )
