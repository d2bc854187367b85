"""One rehearsal: families of a library performed on scratch files, and what reached storage beside the log."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from workalike.characterize.result import Characterization, FamilyFacts
from workalike.compare.families import files_by_family, groups_of
from workalike.compare.inputs import characterized_replica
from workalike.compare.lines import model_against_log, replica_against_model
from workalike.compare.pairing import pair_up
from workalike.compare.storage import storage_line
from workalike.compare.weights import weights_of
from workalike.darshan import open_log
from workalike.darshan.bins import SIZE_BINS
from workalike.facts.storage import EXTENT, measures_of
from workalike.facts.thresholds import THRESHOLDS
from workalike.launch.run import REPLICA_LOG, RunOptions, run_plan
from workalike.leftovers import scratch_folder
from workalike.plan.resolve import Options, resolve
from workalike.predict.agreement import DeterminedRow, rows_of
from workalike.predict.determined import determined_of_log
from workalike.predict.prediction import Key
from workalike.workload.model import Content, Direction
from workalike.workload.phrases import dump_bytes

VERSION = re.compile(r"[0-9]{1,4}(\.[0-9]{1,4}){2,3}")
"""The numbers of a version, without what may follow them."""
DATA_AT_MPIIO = {
    *("BYTES_READ", "BYTES_WRITTEN"),
    *(f"SIZE_{kind}_AGG_{name}" for kind in ("READ", "WRITE") for name in SIZE_BINS[2:]),
}
"""Calls of less than 1 KiB are a library's own, as a rule."""


@dataclass(frozen=True)
class Performed:
    """What a rehearsal has shown.

    Attributes:
        errors: the largest error of a counter below the library, of each family.
        factors: how many times as many calls of POSIX one side has as the other; 1 is equal.
        versions: of the libraries that performed.
        same: whether they are those of the log, and those below them, too.
    """

    errors: dict[Key, float]
    factors: dict[Key, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    same: bool = False


def key_of(facts: FamilyFacts) -> Key:
    """The name of a family in comparisons."""
    return (facts.family.role, facts.family.number)


def can_be_performed(found: Characterization, families: Collection[FamilyFacts]) -> bool:
    """Whether a rehearsal of these families is small enough for any machine: in what it moves, and in its files."""
    ranks = found.workload.ranks
    moved = sum(sum(dump_bytes(facts.family, ranks, d)) for facts in families for d in Direction)
    files = {file.key: file for facts in families for file in facts.files()}
    reached = measures_of(list(files.values())).get(EXTENT, 0)
    datasets = sum(_dataset_bytes(content) for facts in families for content in facts.family.all_contents())
    most = max(moved, reached, datasets)
    return ranks <= THRESHOLDS.rehearsal_ranks and most <= THRESHOLDS.rehearsal_bytes


def _dataset_bytes(content: Content) -> int:
    """Bytes of the datasets of a content, also of those that are hardly written: a library may fill them."""
    return sum(arrays.datasets * arrays.element * math.prod(arrays.dims) for arrays in content.arrays)


def perform(found: Characterization, families: Collection[FamilyFacts], limit_s: float) -> Performed:
    """Perform families, and compare what is below their library with the log.

    Families that share files differ as one. Orders that chance explains count as equal, as in a verdict.

    Args:
        found: the characterized log.
        families: those of it to perform, at full scale and without waiting, with those that share their files.
        limit_s: how long the run may take.

    Raises:
        WorkalikeError: as `resolve` and `run_plan`.
        TimeoutError: it took longer.
    """
    part = _only(found, families)
    plan = resolve(part.workload, Options())
    with scratch_folder(Path(tempfile.gettempdir())) as folder:
        run = RunOptions(
            data=folder / "data", out=folder / "out", capture=True, quiet=True, silent=True, limit_s=limit_s
        )
        record = run_plan(plan, run)
        witness = characterized_replica([open_log(folder / "out" / REPLICA_LOG)])
    pairing = pair_up(part, record, plan=plan, witness=witness)
    line = storage_line(
        pairing, weights_of(pairing), model_against_log(pairing), replica_against_model(pairing)
    )
    by_mpiio = {} if line.library == "same" else _at_mpiio(part, witness)
    errors = dict.fromkeys(map(key_of, part.families), 0.0)
    factors = dict.fromkeys(map(key_of, part.families), 1.0)
    for row in [*line.rows, *(row for rows in by_mpiio.values() for row in rows)]:
        for key in row.group:
            if row.module == "POSIX" and row.counter in ("READS", "WRITES"):
                fewer, more = sorted((row.expected, row.found))
                factors[key] = max(factors[key], more / max(1, fewer))
            if (row.module == "MPI-IO") == (key in by_mpiio):
                errors[key] = max(errors[key], row.error)
    numbers = {name: VERSION.match(text) for name, text in witness.libraries.items()}
    versions = {name: match[0] for name, match in numbers.items() if match is not None}
    return Performed(errors, factors, versions, line.library == "same")


def _at_mpiio(found: Characterization, replica: Characterization) -> dict[Key, list[DeterminedRow]]:
    """The counters of MPI-IO of the families whose files it saw: bytes, and calls with more than a library's headers.

    What an MPI-IO library does below its calls depends on its version, and on ranks and nodes, so that POSIX tells
    nothing about the library above it. Nor do headers and indices, which versions of that library write otherwise.
    """
    by_key = {key_of(facts): facts.files() for facts in found.families}
    replicas = files_by_family(replica.files)
    out: dict[Key, list[DeterminedRow]] = {}
    for group in groups_of(found, by=lambda file: file.record_id):
        before = [file for key in group for file in by_key[key]]
        after = [file for key in group for file in replicas.get(key, [])]
        if not any("MPI-IO" in file.modules for file in before):
            continue
        pair = (determined_of_log(before, "MPI-IO"), determined_of_log(after, "MPI-IO"))
        rows = [row for row in rows_of(group, "MPI-IO", *pair) if row.counter in DATA_AT_MPIIO]
        out |= dict.fromkeys(group, rows)
    return out


def _files_of(families: Collection[FamilyFacts]) -> set[int]:
    return {file.record_id for facts in families for file in facts.names()}


def _only(found: Characterization, families: Collection[FamilyFacts]) -> Characterization:
    """The log as if it had these families only, and those that share files with them."""
    wanted = _files_of(families)
    kept = [facts for facts in found.families if _files_of([facts]) & wanted]
    files = _files_of(kept)
    workload = found.workload.model_copy(update={"families": [facts.family for facts in kept]})
    return replace(
        found,
        workload=workload,
        families=kept,
        files=[file for file in found.files if file.record_id in files],
    )
