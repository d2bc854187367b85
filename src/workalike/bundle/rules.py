"""RULES.json: what a bundle fixes, and what those who run it may tune."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, ValidationError

from workalike.bundle.storage_rules import EXCLUDED, MOST_MEMORY_FACTOR, StorageRule
from workalike.errors import ErrorKind, WorkalikeError
from workalike.workload.quantities import Strict
from workalike.workload.workload_file import first_error

FORMAT: Literal["workalike-bundle"] = "workalike-bundle"
VERSION: Literal[3] = 3
TUNABLE: tuple[str, ...] = ("hints", "hdf5")
"""What a bidder may change unless the tender says otherwise: all MPI-IO hints, and all settings of HDF5."""
FIELDS: dict[str, tuple[str, ...]] = {
    "cb_nodes": ("hints.cb_nodes",),
    "cb_buffer_size": ("hints.cb_buffer_size",),
    "collective_buffering": ("hints.romio_cb_write", "hints.romio_cb_read"),
    "data_sieving": ("hints.romio_ds_write", "hints.romio_ds_read"),
    "stripe_size": ("hints.striping_unit",),
    "stripe_count": ("hints.striping_factor",),
    "alignment": ("hdf5.alignment",),
    "threshold": ("hdf5.threshold",),
    "metadata_block": ("hdf5.metadata_block",),
    "sieve_buffer": ("hdf5.sieve_buffer",),
    "collective_metadata": ("hdf5.collective_metadata",),
    "individual_io": ("hdf5.individual_io",),
    "file_space": ("hdf5.file_space",),
    "page_size": ("hdf5.page_bytes",),
    "libver": ("hdf5.libver",),
    "layout": ("hdf5.layout",),
    "chunk_bytes": ("hdf5.chunk_bytes",),
    "deflate": ("hdf5.deflate",),
    "shuffle": ("hdf5.shuffle",),
    "subfiling": ("hdf5.subfiling",),
    "driver": ("hdf5.driver",),
    "aggregators": ("aggregators",),
    "buffer_alignment": ("buffer_alignment",),
    "typhonio": ("typhonio",),
}
"""Tunable field of a workload -> its fields in a plan's families. `Tunable` has the same names; a test compares them."""
GROUPS = {"hints": "hints", "hdf5": "hdf5"}
"""Words for all fields of a group."""
FREE = (
    "launcher and its options",
    "number of nodes",
    "settings of DIR, such as stripes",
    "build.sh and run.sh",
)
"""What no rule is about: it is disclosed by `system` and the checksums of what comes back, and never left out."""
NEVER_FIXED = (
    "nodes",
    "ranks_per_node",
    "launcher",
    "directory",
    "layout.stripe_count",
    "layout.stripe_size",
)
"""Fields of studies that are among these."""
ONE_HINT = re.compile(r"hints\.[A-Za-z0-9_-]{1,80}")
MOST_REPEATS = 1000
IN_FAMILY = re.compile(r"families\[\d+\]\.(.+)", re.DOTALL)
NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$"

FileSystem = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_.+-]{1,40}$")]
Name = Annotated[str, StringConstraints(pattern=NAME)]
Sum = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class PlanRule(Strict):
    """One workload: its plan lies in `plans/NAME/plan.json`. `bytes` are written and read by one run.

    `storage` is stated from version 3 on; without it the default of the plan holds.
    """

    name: Name
    sha256: Sum
    ranks: Annotated[int, Field(ge=1)]
    bytes: Annotated[int, Field(ge=0)]
    storage: StorageRule | None = None


def _known(word: str) -> str:
    if word not in FIELDS and word not in GROUPS and not ONE_HINT.fullmatch(word):
        raise ValueError(f"{word[:60]!r} is not a field that can be tunable")
    return word


class Rules(Strict):
    """The rules of a bundle: each field is either `tunable` or `fixed`.

    Version 1 knew `hints` and `hdf5` alone; version 3 added the rules about storage.
    """

    format: Literal["workalike-bundle"] = FORMAT
    version: Literal[1, 2, 3] = VERSION
    workalike: Annotated[str, StringConstraints(max_length=40)]
    repeats: Annotated[int, Field(ge=1, le=MOST_REPEATS)]
    tunable: Annotated[list[Annotated[str, AfterValidator(_known)]], Field(max_length=200)]
    fixed: Annotated[
        list[Annotated[str, AfterValidator(_known)]], Field(max_length=200, default_factory=list)
    ]
    free: Annotated[
        list[Annotated[str, StringConstraints(max_length=200)]], Field(max_length=20, default_factory=list)
    ]
    excluded_file_systems: Annotated[list[FileSystem], Field(max_length=100, default=list(EXCLUDED))]
    plans: Annotated[list[PlanRule], Field(min_length=1, max_length=1000)]


def words_of(text: str) -> tuple[str, ...]:
    """The fields that `--tunable` names, separated by commas; each once, in the order of the names.

    Raises:
        WorkalikeError: USAGE for a field that there is not, or that cannot be tunable.
    """
    words = sorted({word.strip() for word in text.split(",") if word.strip()})
    for word in words:
        if word == "ranks":
            raise WorkalikeError(
                ErrorKind.USAGE,
                "--tunable: ranks are fixed, since a plan is for one number of ranks",
                hint="add a plan for each: workalike plan app.yaml --ranks 64 -o app-64.json",
            )
        if word in NEVER_FIXED:
            raise WorkalikeError(
                ErrorKind.USAGE,
                f"--tunable: {word} needs no rule, since every bidder may choose it",
                hint="leave it out: it is disclosed with what comes back",
            )
        if word not in FIELDS and word not in GROUPS and not ONE_HINT.fullmatch(word):
            raise WorkalikeError(
                ErrorKind.USAGE,
                f"--tunable: there is no field {word[:60]!r}",
                hint=f"use {', '.join([*GROUPS, *FIELDS])}, or hints.NAME",
            )
    return tuple(words)


def file_systems_of(text: str) -> tuple[str, ...]:
    """The types of file system that `--exclude` names, separated by commas.

    Raises:
        WorkalikeError: USAGE for what is not a name of a type.
    """
    types = tuple(dict.fromkeys(word.strip().lower() for word in text.split(",") if word.strip()))
    for word in types:
        if not re.fullmatch(r"[a-z0-9_.+-]{1,40}", word):
            raise WorkalikeError(
                ErrorKind.USAGE,
                f"--exclude: {word[:60]!r} is not a type of file system",
                hint="such as tmpfs,nfs",
            )
    return types


def memory_factors_of(words: Sequence[str], names: Collection[str]) -> tuple[float | None, dict[str, float]]:
    """(factor of all workloads or None, factors of single ones) from words such as `1.5` and `small-files=0`.

    Raises:
        WorkalikeError: USAGE.
    """
    of_all: float | None = None
    of_one: dict[str, float] = {}
    for word in words:
        name, equals, number = word.rpartition("=")
        if equals and name not in names:
            raise WorkalikeError(
                ErrorKind.USAGE,
                f"--memory-factor: no workload of the bundle is called {name[:60]!r}",
                hint=f"one of {', '.join(sorted(names))[:200]}",
            )
        try:
            factor = float(number)
        except ValueError:
            factor = math.nan
        if not 0 <= factor <= MOST_MEMORY_FACTOR:
            raise WorkalikeError(
                ErrorKind.USAGE,
                f"--memory-factor: {number[:60]!r} is not a factor from 0 to {MOST_MEMORY_FACTOR:g}",
                hint="such as 1.5, or WORKLOAD=0",
            )
        if equals:
            of_one[name] = factor
        else:
            of_all = factor
    return of_all, of_one


def fixed_fields(tunable: Sequence[str]) -> list[str]:
    """The fields that these words leave fixed, as words."""
    return [
        word
        for word, places in FIELDS.items()
        if word not in tunable and any(not covers(tunable, f"families[0].{place}") for place in places)
    ]


def covers(tunable: Sequence[str], path: str) -> bool:
    """Whether the rules let a bidder change this field of a plan, such as `families[0].hints.cb_nodes`."""
    found = IN_FAMILY.fullmatch(path)
    if found is None:
        return False
    inside = found[1]
    for word in tunable:
        if word in GROUPS and (inside == word or inside.startswith(f"{word}.")):
            return True
        if inside in FIELDS.get(word, (word,)):
            return True
    return False


def rules_of(text: str, file: str) -> Rules:
    """Read RULES.json.

    Raises:
        WorkalikeError: BAD_STUDY naming the place.
    """
    try:
        return Rules.model_validate_json(text)
    except ValidationError as error:
        place, message = first_error(error)
        if any(found["loc"] == ("version",) for found in error.errors(include_url=False)):
            place, message = "version", f"is a bundle of another version: this workalike reads 1 to {VERSION}"
        raise WorkalikeError(
            ErrorKind.BAD_STUDY, message, file=file, place=f"RULES.json, {place}", hint="is it a bundle?"
        ) from error


def name_of(stem: str) -> str:
    """The name of a workload in a bundle, which shells and archives take as it is."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-_")[:60]
    return name or "workload"
