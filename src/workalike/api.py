"""The public Python interface: what `import workalike` offers (docs/python-api.md).

Sizes are bytes, times are seconds. Every error is a `WorkalikeError` whose `kind` says what went wrong.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from workalike import _core
from workalike.characterize import Characterization, CharacterizeOptions
from workalike.characterize import characterize as characterize_logs
from workalike.characterize.options import Model
from workalike.compare import fidelity as fidelities
from workalike.compare.fidelity import Fidelity
from workalike.compare.inputs import read_original, read_replica
from workalike.darshan import Log, open_log, open_logs
from workalike.errors import ErrorKind, WorkalikeError
from workalike.extras import require
from workalike.files import make_folder
from workalike.launch.run import RunOptions
from workalike.notebook import html_table
from workalike.plan import resolve as resolving
from workalike.plan.choices import BACKENDS
from workalike.plan.core import core_plan, refusal
from workalike.plan.plan_file import read_plan
from workalike.plan.plan_schema import Clock, Plan
from workalike.plan.resolve import Options
from workalike.record.run_record import Record
from workalike.rehearse.rehearsal import rehearsed
from workalike.replica.replicate import Replica, Sizing, replicate_into
from workalike.text import plural, seconds_text, size_text
from workalike.workload.model import Workload
from workalike.workload.words import Level
from workalike.workload.workload_file import read_workload

__all__ = [
    "Characterization",
    "Counts",
    "ErrorKind",
    "Fidelity",
    "Log",
    "Plan",
    "Record",
    "Replica",
    "WorkalikeError",
    "Workload",
    "characterize",
    "compare",
    "count",
    "open_log",
    "plan",
    "replicate",
]

MAX_TIME_SCALE = 1e6  # the limit that the engine enforces

AnyPath = str | os.PathLike[str]
Factor = int | float | str | Fraction
"""A positive factor; text and fractions are exact: "1/64", "0.01"."""


@dataclass(frozen=True)
class Counts:
    """What each dump of a plan does, summed over its ranks; one row per dump, in the plan's order.

    Attributes:
        family: int64, shape (dumps,): the `id` of the dump's family in `plan.families`.
        index: int64, shape (dumps,): the dump's number within its family, from 0.
        start_s: float64, shape (dumps,): when the dump starts, seconds since the run's start.
        columns: int64 arrays by name: Darshan's counters at the family's level (`OPENS`, `READS`, `BYTES_WRITTEN`, ...)
            and `ranks` (how many take part), shape (dumps,); `SIZE_READ` and `SIZE_WRITE`, shape (dumps, 10):
            operations by size bin. Bytes and numbers of calls.
    """

    family: NDArray[np.int64]
    index: NDArray[np.int64]
    start_s: NDArray[np.float64]
    columns: Mapping[str, NDArray[np.int64]]

    def __len__(self) -> int:
        return len(self.family)

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        return self.columns[name]

    def _repr_html_(self) -> str:
        """For notebooks: a row for each dump."""
        written, read = self.columns["BYTES_WRITTEN"], self.columns["BYTES_READ"]
        rows = (
            (family, index, seconds_text(start), size_text(out), size_text(back))
            for family, index, start, out, back in zip(
                *(column.tolist() for column in (self.family, self.index, self.start_s, written, read)),
                strict=True,
            )
        )
        heads = ("family", "dump", "start", "written", "read")
        return html_table(f"Counts of {plural(len(self), 'dump')}", heads, rows)

    def total(self, name: str) -> int:
        """The sum of a column over all dumps."""
        return int(self.columns[name].sum())


def characterize(
    log: Log | AnyPath | Sequence[Log | AnyPath],
    *,
    level: str | None = None,
    states: int | None = None,
    model: str | None = None,
    variables: int | None = None,
    include_program_start: bool = False,
    rehearsal: bool = False,
) -> Characterization:
    """What the logs of one job do to storage: a `workload` without names, and how each part of it was found.

    Args:
        log: a log, its path, a folder of logs, or several of these.
        level: `posix`, `mpiio` or `h5d`: taken where a file has it; None: as the log shows.
        states: number of dumps in each long-lived file.
        model: `mesh`, `arrays` or `extents`: how a dump is modelled where the log leaves a choice.
        variables: number of variables of a mesh.
        include_program_start: whether standard streams, libraries and the like are replicated too.
        rehearsal: perform families of a library once, as the command does: families of which the library does otherwise
            here than in the log are modelled by the calls below it. Needs the engine and MPI.

    Raises:
        WorkalikeError: MISSING, DAMAGED_LOG, UNSUPPORTED_LOG; NOTHING_TO_REPLICATE; USAGE for an unknown word.
    """
    given = [log] if isinstance(log, Log | str | os.PathLike) else list(log)
    logs: list[Log] = []
    for entry in given:
        logs += [entry] if isinstance(entry, Log) else open_logs([Path(entry)])
    options = CharacterizeOptions(
        states=states,
        include_program_start=include_program_start,
        level=None if level is None else Level(_word(level, [word.value for word in Level], "level")),
        model=None if model is None else Model(_word(model, [word.value for word in Model], "model")),
        variables=variables,
    )
    found = characterize_logs(logs, options)
    return rehearsed(found, options) if rehearsal else found


def plan(
    workload: Workload | Characterization | AnyPath,
    ranks: int | None = None,
    nodes: int | None = None,
    bytes_scale: Factor = 1,
    *,
    ranks_per_node: int | None = None,
    scaling: Literal["strong", "weak"] = "strong",
    scale_by: Literal["count", "size"] = "count",
    time_scale: float = 1.0,
    clock: Clock = "gap",
    backend: str | None = None,
    seed: int = 1,
) -> Plan:
    """The plan of a workload: the rules by which every rank acts, at the chosen ranks and scale.

    Args:
        workload: a workload, a characterization, or the path of a workload file.
        ranks: number of ranks of the replica; None: `nodes` times `ranks_per_node`, or the original's.
        nodes: number of nodes, each with `ranks_per_node` ranks.
        bytes_scale: factor on all bytes, above 0.
        ranks_per_node: ranks on each node.
        scaling: strong: total bytes stay; weak: bytes per rank stay.
        scale_by: whether `bytes_scale` lowers operation counts first, or sizes.
        time_scale: factor on all waiting; 0 does not wait.
        clock: gap keeps the time between dumps, deadline their start times.
        backend: performs every family; None: each family has its own.
        seed: seed of payload and random orders.

    Raises:
        WorkalikeError: NOTHING_TO_REPLICATE for a workload without families; USAGE for options that are impossible or
            contradict each other; MISSING or BAD_WORKLOAD where a file is read.
    """
    if isinstance(workload, Characterization):
        workload = workload.workload
    elif not isinstance(workload, Workload):
        workload = read_workload(Path(workload))
    options = Options(
        ranks=_ranks(ranks, nodes, ranks_per_node),
        scaling=scaling,
        bytes_scale=_factor(bytes_scale),
        scale_by=scale_by,
        time_scale=_time_factor(time_scale),
        clock=clock,
        backend=_backend(backend),
        seed=seed,
    )
    return resolving.resolve(workload, options)


def count(plan: Plan | AnyPath, backend: str | None = None) -> Counts:
    """What each dump of a plan does, counted in this process: nothing is performed, and no MPI is needed.

    Bytes that a library adds (such as HDF5's metadata) are not included: only a run can measure them.

    Args:
        plan: a plan, or the path of a plan file.
        backend: whose calls are counted; None: each family's own.

    Raises:
        WorkalikeError: MISSING, BAD_PLAN; USAGE with the core's reason for a plan that the backend cannot perform.
    """
    path = None if isinstance(plan, Plan) else Path(plan)
    found = plan if isinstance(plan, Plan) else read_plan(Path(plan))
    core = core_plan(found, _backend(backend), path)
    try:
        core.refuse(backend)
        columns = core.count()
    except _core.PlanError as error:
        raise refusal(error, path) from error
    return Counts(
        family=np.array([dump.family for dump in found.dumps], np.int64),
        index=np.array([dump.index for dump in found.dumps], np.int64),
        start_s=np.array([dump.start_s for dump in found.dumps], np.float64),
        columns=columns,
    )


def replicate(
    log: Log | AnyPath | Characterization | Sequence[Log | AnyPath],
    out: AnyPath,
    *,
    data: AnyPath | None = None,
    ranks: int | None = None,
    bytes_scale: Factor | None = None,
    time_scale: float | None = None,
    scaling: Literal["strong", "weak"] = "strong",
    full: bool = False,
    backend: str | None = None,
    launcher: str | None = None,
    capture: bool = True,
    verify: bool = False,
    keep: bool = False,
    rehearsal: bool = False,
    report: bool = True,
) -> Replica:
    """Characterize, plan, perform and compare, as the command `workalike replicate` does. Needs the engine and MPI.

    `out` gets `workload.yaml`, `plan.json`, `run.json`, `fidelity.json`, `full-scale/` and, with `report`,
    `report.html`.

    Args:
        log: as in `characterize`, or its result.
        out: folder of the results, created if it does not exist.
        data: folder on the file system under test [default: `out`/data, removed afterwards].
        ranks: number of ranks of the replica [default: the original's, at most twice as many as cores].
        bytes_scale: factor on all bytes [default: at most 1 GiB are moved].
        time_scale: factor on all waiting [default: about 50 seconds of it].
        scaling: as in `plan`.
        full: the original's ranks, bytes and times wherever no other value is given.
        backend: performs every family; None: each family has its own.
        launcher: mpiexec, srun, flux or serial [default: the one that is available].
        capture: measure the replica by a Darshan log of it, not by the engine's own record.
        verify: read everything back and compare it with what was written.
        keep: do not delete the data files.
        rehearsal: as in `characterize`, where `log` is a log.
        report: write the page with pictures, which needs matplotlib.

    Raises:
        WorkalikeError: as `characterize` and `plan`; CANNOT_WRITE; MISSING without the engine; RUN_FAILED;
            NOT_INSTALLED where `report` lacks matplotlib.
    """
    if report:
        require("matplotlib", "the report")
    given = Options(
        ranks=ranks,
        scaling=scaling,
        bytes_scale=Fraction(1) if bytes_scale is None else _factor(bytes_scale),
        time_scale=0.0 if time_scale is None else _time_factor(time_scale),
    )
    results = Path(out)
    run = RunOptions(
        data=results / "data" if data is None else Path(data),
        out=results,
        backend=_backend(backend),
        launcher=launcher,
        capture=capture,
        verify=verify,
        keep=keep,
        quiet=True,
    )
    make_folder(results)
    found = log if isinstance(log, Characterization) else characterize(log, rehearsal=rehearsal)
    sizing = Sizing(full=full, bytes=bytes_scale is None, time=time_scale is None)
    return replicate_into(found, given, run, sizing=sizing, scratch=data is None, with_report=report)


def compare(
    original: Characterization | Workload | AnyPath,
    replica: Record | Characterization | AnyPath,
    plan: Plan | AnyPath | None = None,
) -> Fidelity:
    """How close a replica came to its original, counter by counter.

    Args:
        original: a characterization or a workload; or the path of a workload, of a log, or of a folder of one job's
            logs.
        replica: a record, or the characterized log of the replica's run; or the path of `run.json` or of such a log.
        plan: the replica's plan or its path, for its scaling rule; without it that of `scale_by="count"` is taken.

    Raises:
        WorkalikeError: MISSING, DAMAGED_LOG, UNSUPPORTED_LOG, BAD_WORKLOAD, BAD_RECORD or BAD_PLAN.
    """
    if not isinstance(original, Characterization | Workload):
        original = read_original(Path(original))
    if not isinstance(replica, Record | Characterization):
        replica = read_replica(Path(replica))
    if plan is not None and not isinstance(plan, Plan):
        plan = read_plan(Path(plan))
    return fidelities.compare(original, replica, plan=plan)


def _usage(message: str, fix: str) -> WorkalikeError:
    return WorkalikeError(ErrorKind.USAGE, message, hint=fix)


def _word(word: str, known: Sequence[str], name: str) -> str:
    if word not in known:
        raise _usage(f"{name} {word!r} is unknown", f"use one of {', '.join(known)}")
    return word


def _backend(name: str | None) -> str | None:
    return None if name is None else _word(name, BACKENDS, "backend")


def _factor(value: Factor) -> Fraction:
    """A number as it is printed: 0.1 is a tenth, not the nearest binary fraction."""
    try:
        factor = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        factor = Fraction(0)
    if factor <= 0:
        raise _usage(
            f"bytes_scale {value!r} is not a positive number", 'give a number, or text such as "1/64"'
        )
    return factor


def _time_factor(value: float) -> float:
    if not 0 <= value <= MAX_TIME_SCALE:
        raise _usage(f"time_scale {value!r} is not between 0 and {MAX_TIME_SCALE:g}", "0 does not wait")
    return value


def _ranks(ranks: int | None, nodes: int | None, ranks_per_node: int | None) -> int | None:
    if nodes is None and ranks_per_node is None:
        return ranks
    if nodes is None or ranks_per_node is None:
        raise _usage("nodes and ranks_per_node are given together or not at all", "give both, or ranks alone")
    if ranks is not None and -(-ranks // max(1, ranks_per_node)) != nodes:
        raise _usage(
            f"{ranks} ranks do not fill {nodes} nodes with {ranks_per_node} each",
            "leave one of the three out",
        )
    return nodes * ranks_per_node if ranks is None else ranks
