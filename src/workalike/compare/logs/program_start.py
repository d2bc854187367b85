"""Which files belong to the start of a program: libraries, system files, standard streams, and the folders of these."""

from __future__ import annotations

import re

import numpy as np

from workalike.facts.amounts import amounts_by_file
from workalike.facts.columns import Facts
from workalike.facts.noise import start_labels
from workalike.facts.records import BoolArray

_TEMPORARY = re.compile(r"(?:^|/)tmp$")
"""Folders of temporary files, which MPI libraries ask for their state from changing ranks."""


def program_start(facts: Facts) -> BoolArray:
    """bool[N], whether each file is of the program's start."""
    amounts = amounts_by_file(facts)
    labels = start_labels(facts.record_ids.tolist(), facts.names, amounts)
    by_label = np.array([label is not None for label in labels], dtype=bool)
    temporary = np.array([_TEMPORARY.search(name) is not None for name in facts.names], dtype=bool)
    only_stats: BoolArray = amounts.calls == amounts.stats
    out: BoolArray = by_label | (temporary & only_stats)
    return out
