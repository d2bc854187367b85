"""All steps from a characterized log to a report: plan, run, compare, count at full scale."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from workalike.characterize.result import Characterization
from workalike.compare.fidelity import Fidelity, fidelity_of, write_fidelity
from workalike.compare.inputs import characterized_replica
from workalike.compare.pairing import Pairing, pair_up
from workalike.darshan import open_log
from workalike.errors import ErrorKind, Refusal, WorkalikeError, fault_of_ours
from workalike.facts.traces import DXT_OF_LEVEL
from workalike.files import make_data_folder
from workalike.launch.run import REPLICA_LOG, RunOptions, run_plan
from workalike.notebook import html_table
from workalike.plan.plan_file import write_plan
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.record.run_record import Record
from workalike.replica.full_scale import count_at_full_scale
from workalike.replica.machine import fit_to_machine
from workalike.report import write_report
from workalike.workload.model import Workload
from workalike.workload.workload_file import write_workload

REPORT = "report.html"


@dataclass(frozen=True)
class Replica:
    """The results of one replication. `fidelity` is that of `pairing`, `full_scale` that of the plan at full scale."""

    characterization: Characterization
    plan: Plan
    record: Record
    pairing: Pairing
    fidelity: Fidelity
    full_scale: Fidelity

    def _repr_html_(self) -> str:
        """For notebooks: the fidelity, and the grade at full scale."""
        return self.fidelity._repr_html_() + html_table(
            f"Full scale: {self.full_scale.verdict.grade}", (), ()
        )


@dataclass(frozen=True)
class Sizing:
    """Which factors of a replica are chosen for the user.

    Attributes:
        full: nothing is: ranks, bytes and times are the original's wherever no other value is given.
        bytes: whether the factor on the bytes is chosen.
        time: whether the factor on the waiting is.
    """

    full: bool = False
    bytes: bool = True
    time: bool = True

    def choose(self, workload: Workload, given: Options, data: Path) -> Options:
        """The options of the replica; `data` is an existing folder of the file system that takes its data."""
        if self.full:
            return replace(given, time_scale=1.0) if self.time else given
        return fit_to_machine(workload, given, data, scale_bytes=self.bytes, scale_time=self.time)


def replicate_into(
    found: Characterization,
    given: Options,
    run: RunOptions,
    *,
    sizing: Sizing,
    scratch: bool,
    announce: Callable[[Options], None] = lambda _: None,
    changed: Workload | None = None,
    with_report: bool = True,
) -> Replica:
    """Perform, compare and report a replica, at a scale that is chosen where the user did not give one.

    `run.out`, an existing folder, gets `workload.yaml`, what `replicate` writes, and `report.html`.

    Args:
        found: the characterized original.
        given: the options that the user gave.
        run: where it runs and how.
        sizing: which factors are to be chosen.
        scratch: whether `run.data` is removed afterwards, unless `run.keep`.
        announce: called with the chosen options before the run.
        changed: the workload to perform and to compare with, where it is not the original's (`--what-if`).
        with_report: whether `report.html` is written, which needs matplotlib.

    Raises:
        WorkalikeError: CANNOT_WRITE, and as `replicate`.
    """
    data = run.data
    if data is None:
        raise WorkalikeError(ErrorKind.USAGE, "--dir DIR is missing: where the data goes")
    workload = found.workload if changed is None else changed
    write_workload(workload, run.out / "workload.yaml")
    make_data_folder(data)
    chosen = sizing.choose(workload, given, data)
    announce(chosen)
    try:
        replica = replicate(found, chosen, replace(run, traces=has_traces(found)), changed)
    finally:
        if scratch and not run.keep:
            with suppress(OSError):  # not empty: what lies there is not of this run
                data.rmdir()
    if with_report:
        report_on(replica, run.out / REPORT)
    return replica


def replicate(
    found: Characterization, chosen: Options, run: RunOptions, changed: Workload | None = None
) -> Replica:
    """Perform a replica and compare it with the original.

    `run.out` gets `plan.json`, `run.json`, `fidelity.json`, `full-scale/` and, with `run.capture`, `replica.darshan`.

    Args:
        found: the characterized original.
        chosen: ranks, scale and clock of the replica.
        run: where it runs and how.
        changed: the workload to perform and to compare with, where it is not the original's.

    Raises:
        WorkalikeError: as `resolve` and `run_plan`.
    """
    original = found if changed is None else changed
    try:
        plan = resolve(found.workload if changed is None else changed, chosen)
        write_plan(plan, run.out / "plan.json")
        record = run_plan(plan, run)
    except Refusal as error:
        if changed is not None or chosen.backend is not None:  # what the user asked for may be to blame
            raise
        raise fault_of_ours(error.message, found.logs[0].path, error.place) from error
    pairing = pair_up(original, record, plan=plan, witness=witness_of(run))
    fidelity = fidelity_of(pairing)
    write_fidelity(fidelity, run.out / "fidelity.json")
    return Replica(
        found, plan, record, pairing, fidelity, count_at_full_scale(original, run.out / "full-scale")
    )


def has_traces(found: Characterization) -> bool:
    """Whether a log has every read and write (DXT): then the replica's log has them, too, and they are compared."""
    return any(log.dxt(module) is not None for log in found.logs for module in set(DXT_OF_LEVEL.values()))


def witness_of(run: RunOptions) -> Characterization | None:
    """The replica's log that `run.capture` asked for, a witness besides the engine's own record; None without one."""
    log = run.out / REPLICA_LOG
    if not run.capture or not log.exists():
        return None
    try:
        return characterized_replica([open_log(log)])
    except WorkalikeError as error:
        if error.kind is ErrorKind.NOTHING_TO_REPLICATE:  # the replica moves no data
            return None
        raise


def report_on(replica: Replica, path: Path) -> None:
    """Write the report on a replica.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    write_report(path, pairing=replica.pairing, fidelity=replica.fidelity)
