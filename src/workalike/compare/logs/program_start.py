"""Which files belong to the start of a program: libraries, system files, standard streams, and the folders of these."""

from __future__ import annotations

import re

import numpy as np

from workalike.facts.columns import Facts
from workalike.facts.noise import start_labels
from workalike.facts.records import BoolArray, IntArray

_TEMPORARY = re.compile(r"(?:^|/)tmp$")
"""Folders of temporary files, at which MPI libraries look from changing ranks."""


def program_start(facts: Facts, moved: IntArray) -> BoolArray:
    """bool[N], whether each file is of the program's start; `moved` int64[N] are the bytes of each."""
    labels = start_labels(facts.record_ids.tolist(), facts.names, moved.astype(np.float64))
    return np.array(
        [
            label is not None or _TEMPORARY.search(name) is not None
            for label, name in zip(labels, facts.names, strict=True)
        ],
        dtype=bool,
    )
