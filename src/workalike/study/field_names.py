"""The names of fields that a study can set, for editors: closed words, words of groups, and patterns of the others.

`targets` decides what a name means; a test compares both.
"""

from __future__ import annotations

from typing import Any

from workalike.study.targets import ALLOWED_VARIABLES, HINT_NAME, LAYOUT_FIELDS
from workalike.study.workload_path import PATH
from workalike.workload.tunable import Tunable

WORDS = {
    "ranks": "Ranks of the run",
    "scaling": "strong (the same bytes in all) or weak (the same bytes per rank)",
    "bytes_scale": "Factor on all bytes, such as 1/64",
    "scale_by": "What a factor on bytes changes: count or size",
    "time_scale": "Factor on all waiting",
    "clock": "What the moments of dumps count from",
    "gap_fill": "What ranks do between their operations",
    "compressibility": "Share of the data that compresses, 0 to 1",
    "seed": "Of data and of random order",
    "workload": "One of the study's workloads, by name",
    "backend": "Performs every family",
    "nodes": "Nodes of the run",
    "ranks_per_node": "Ranks on each node",
    "dumps": "The first dumps of each family, this many",
    "directory": "Where the data goes: the file system",
    "capture": "Whether the trial runs under capture",
    "transfer": "Size of single operations of streams",
    "sharing": "shared, per-rank, root or groups:M in every family",
}
HINTS = (
    *("cb_nodes", "cb_buffer_size", "cb_config_list", "romio_cb_write", "romio_cb_read", "romio_ds_write"),
    *("romio_ds_read", "romio_no_indep_rw", "ind_rd_buffer_size", "ind_wr_buffer_size"),
    *("striping_factor", "striping_unit"),
)
"""Hints that ROMIO documents; any other may be set, too."""
VARIABLES = ("OMPI_MCA_io", "OMPI_MCA_fcoll", "OMPI_MCA_fs", "HDF5_USE_FILE_LOCKING", "OMP_NUM_THREADS")
"""Variables that are set most often, of those that may be set."""
PATTERNS = (
    rf"^hint\.{HINT_NAME.pattern}$",
    rf"^environment\.(?:{ALLOWED_VARIABLES.pattern})$",
    r"^what_if\..+$",
    rf"^(?:{PATH.pattern})$",
)
"""Fields that no list has: any hint, variables, changes of a workload, and fields of it by their path."""


def field_names() -> list[str]:
    """The names that an editor offers, in the order of docs/study.md."""
    return [
        *WORDS,
        *(f"tunable.{name}" for name in Tunable.model_fields),
        *(f"layout.{name}" for name in LAYOUT_FIELDS),
        *(f"hint.{name}" for name in HINTS),
        *(f"environment.{name}" for name in VARIABLES),
    ]


def field_schema() -> dict[str, Any]:
    """JSON schema of a field's name."""
    return {
        "description": "A field that a study can set (docs/study.md).",
        "anyOf": [{"enum": field_names()}, *({"type": "string", "pattern": text} for text in PATTERNS)],
    }


def fields_schema() -> dict[str, Any]:
    """JSON schema of fields with their values."""
    return {
        "properties": {name: {"description": WORDS[name]} if name in WORDS else {} for name in field_names()},
        "patternProperties": {text: {} for text in PATTERNS},
        "additionalProperties": False,
    }
