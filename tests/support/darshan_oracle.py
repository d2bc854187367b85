"""PyDarshan as an oracle, in a child process, because some logs crash its interpreter.

As a module, :func:`ask` returns what PyDarshan's low-level interface reads. As a script, it is the
child, ``oracle.py LOG OUTPUT [LOG OUTPUT ...]``, which pickles one dict per log.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

FIXED = ("POSIX", "MPI-IO", "STDIO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR")
TRACES = ("DXT_POSIX", "DXT_MPIIO")


def ask(logs: list[Path], scratch: Path) -> dict[Path, dict[str, Any] | None]:
    """Read logs with PyDarshan; None for a log that crashed the child."""
    outputs = {log: scratch / f"{number}.pickle" for number, log in enumerate(logs)}
    left = list(logs)
    while left:
        pairs = [str(part) for log in left for part in (log, outputs[log])]
        # Darshan's messages about a log do not matter here.
        command = [sys.executable, __file__, *pairs]
        subprocess.run(command, stderr=subprocess.DEVNULL, check=False, timeout=600)
        done = 0
        while done < len(left) and outputs[left[done]].exists():
            done += 1
        left = left[done + 1 :]  # the first log without output crashed the child
    return {
        log: pickle.loads(output.read_bytes()) if output.exists() else None for log, output in outputs.items()
    }


def read(path: str) -> dict[str, Any]:
    """Read one log, all modules, a fresh handle for each (its stream state is shared otherwise)."""
    import darshan.backend.cffi_backend as backend
    import numpy as np

    log = backend.log_open(path)
    if not bool(log["handle"]):
        return {"error": "cannot be opened"}
    answer: dict[str, Any] = {
        "job": backend.log_get_job(log),
        "exe": backend.log_get_exe(log),
        "mounts": backend.log_get_mounts(log),
        "modules": dict(backend.log_get_modules(log)),
        "names": dict(backend.log_get_name_records(log)),
    }
    backend.log_close(log)

    def all_records(module: str) -> list[dict[str, Any]]:
        handle = backend.log_open(path)
        records = []
        while (record := backend.log_get_record(handle, module)) is not None:
            records.append(record)
        backend.log_close(handle)
        return records

    for module in answer["modules"]:
        if module in FIXED:
            records = all_records(module)
            prefix = module.replace("-", "") + "_"
            answer[module] = {
                "ids": np.array([record["id"] for record in records], dtype=np.uint64),
                "ranks": np.array([record["rank"] for record in records], dtype=np.int64),
                "counters": np.array([record["counters"] for record in records]),
                "fcounters": np.array([record["fcounters"] for record in records]),
                "file_ids": np.array([record.get("file_rec_id", 0) for record in records], dtype=np.uint64),
                "counter_names": [name.removeprefix(prefix) for name in backend.counter_names(module)],
                "fcounter_names": [name.removeprefix(prefix) for name in backend.fcounter_names(module)],
            }
        elif module in TRACES:
            answer[module] = [_trace(record) for record in all_records(module)]
        elif module in ("LUSTRE", "HEATMAP"):
            answer[module] = all_records(module)
    return answer


def _trace(record: dict[str, Any]) -> dict[str, Any]:
    """One trace record with its segments as float rows (offset, length, start, end)."""
    fields = ("offset", "length", "start_time", "end_time")
    for kind in ("write_segments", "read_segments"):
        record[kind] = [tuple(segment[field] for field in fields) for segment in record[kind]]
    return record


if __name__ == "__main__":
    for log, output in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        answer = read(log)
        partly = Path(output).with_suffix(".partly")
        partly.write_bytes(pickle.dumps(answer))
        partly.rename(output)
