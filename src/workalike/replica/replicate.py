"""All steps from a characterized log to a report: plan, run, compare, count at full scale."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workalike.characterize import CharacterizeOptions, characterize
from workalike.characterize.result import Characterization
from workalike.compare.fidelity import Fidelity, fidelity_of, write_fidelity
from workalike.compare.pairing import Pairing, pair_up
from workalike.darshan import open_log
from workalike.errors import ErrorKind, WorkalikeError
from workalike.launch.run import REPLICA_LOG, RunOptions, run_plan
from workalike.plan.plan_file import write_plan
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.record.run_record import Record
from workalike.replica.full_scale import count_at_full_scale
from workalike.report import write_report


@dataclass(frozen=True)
class Replica:
    """The results of one replication. `fidelity` is that of `pairing`, `full_scale` that of the plan at full scale."""

    characterization: Characterization
    plan: Plan
    record: Record
    pairing: Pairing
    fidelity: Fidelity
    full_scale: Fidelity


def replicate(found: Characterization, chosen: Options, run: RunOptions) -> Replica:
    """Perform a replica and compare it with the original.

    `run.out` gets `plan.json`, `run.json`, `fidelity.json`, `full-scale/` and, with `run.capture`, `replica.darshan`.

    Args:
        found: the characterized original.
        chosen: ranks, scale and clock of the replica.
        run: where it runs and how.

    Raises:
        WorkalikeError: as `resolve` and `run_plan`.
    """
    plan = resolve(found.workload, chosen)
    write_plan(plan, run.out / "plan.json")
    record = run_plan(plan, run)
    pairing = pair_up(found, record, plan=plan, witness=witness_of(run))
    fidelity = fidelity_of(pairing)
    write_fidelity(fidelity, run.out / "fidelity.json")
    return Replica(found, plan, record, pairing, fidelity, count_at_full_scale(found, run.out / "full-scale"))


def witness_of(run: RunOptions) -> Characterization | None:
    """The replica's log that `run.capture` asked for, a witness besides the engine's own record; None without one."""
    log = run.out / REPLICA_LOG
    if not run.capture or not log.exists():
        return None
    try:
        return characterize([open_log(log)], CharacterizeOptions(include_noise=True))
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
