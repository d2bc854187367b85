"""The process that reads the file: `python -P -m workalike.typhonio.child FILE`, one JSON object on stdout.

HDF5 may crash on a maliciously damaged file, or never end; here, it does so in a process of its own, within limits.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

MEMORY = 4 * 2**30
ONE_CORE = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


def limit() -> None:
    """Bound memory; switch off core files, plugins and HDF5's file locks (the file is only read)."""
    for which, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(which)
        resource.setrlimit(which, (most if hard < 0 else min(most, hard), hard))
    os.environ.update(
        {"HDF5_PLUGIN_PRELOAD": "::", "HDF5_USE_FILE_LOCKING": "FALSE", **dict.fromkeys(ONE_CORE, "1")}
    )


def answer(path: str) -> dict[str, Any]:
    """The contents of a file: `kind` (typhonio, hdf5, old or unreadable) with `tree` and `findings`, or with `why`."""
    from workalike.typhonio import plain, walk
    from workalike.typhonio.fields import Context
    from workalike.typhonio.findings import Level
    from workalike.typhonio.hdf5 import Unreadable, open_root

    context = Context(Path(path).stat().st_size)
    try:
        root = open_root(path)
        if walk.is_old(root):
            return {"kind": "old"}
        kind = "typhonio" if walk.is_typhonio(root) else "hdf5"
        tree = walk.walk(root, context) if kind == "typhonio" else plain.tree(root, context)
    except Unreadable as error:
        return {"kind": "unreadable", "why": str(error)}
    return {
        "kind": kind,
        "tree": tree.as_dict(),
        "findings": [finding.as_dict() for finding in context.findings.all],
        "counts": {level.value: context.findings.counts[level] for level in Level},
    }


def main() -> None:
    limit()
    try:
        text = json.dumps(answer(sys.argv[1]))
    except MemoryError:
        text = json.dumps({"kind": "unreadable", "why": "needs more memory than is allowed"})
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.write(text)
        sys.stdout.flush()
    os._exit(0)  # HDF5's cleanup at exit may crash on a damaged file


if __name__ == "__main__":
    main()
