"""Which files belong to the start of a program: libraries, system files, standard streams, and the folders of these."""

from __future__ import annotations

import re

import numpy as np

from workalike.facts.columns import Facts
from workalike.facts.noise import STREAM_IDS, is_noise_by_name
from workalike.facts.records import BoolArray, IntArray

_SETTINGS = re.compile(r"/pyvenv\.cfg$|(?:^|/)tmp$|^/dev/shm$")
"""What Python looks at as it starts, and folders of temporary files, at which MPI libraries look from changing ranks."""


def program_start(facts: Facts, moved: IntArray) -> BoolArray:
    """bool[N], whether each file is of the program's start; `moved` int64[N] are the bytes of each."""
    start = np.array(
        [
            number in STREAM_IDS or is_noise_by_name(name) or _SETTINGS.search(name) is not None
            for number, name in zip(facts.record_ids.tolist(), facts.names, strict=True)
        ],
        dtype=bool,
    )
    folders = _folders([facts.names[row] for row in np.flatnonzero(start).tolist()])
    for row in np.flatnonzero(~start & (moved == 0)).tolist() if folders else ():
        start[row] = facts.names[row] in folders
    return start


def _folders(names: list[str]) -> set[str]:
    """All folders that the files lie in, at any depth."""
    out: set[str] = set()
    for name in names:
        folder = name.rpartition("/")[0]
        while folder and folder not in out:
            out.add(folder)
            folder = folder.rpartition("/")[0]
    return out
