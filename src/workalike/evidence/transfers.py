"""Transfers: a program is captured, its log becomes a workload, and program and replica run in turn in the same place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from workalike.capture.library import find_library
from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.compare.fidelity import fidelity_of
from workalike.compare.fidelity_schema import Fidelity, GradeReason
from workalike.compare.inputs import characterized_replica
from workalike.compare.pairing import pair_up
from workalike.darshan import open_log, open_logs
from workalike.errors import WorkalikeError
from workalike.evidence.bench import Bench, NotMeasured, Ran, reported
from workalike.evidence.document import (
    MOST_DIFFERENCES,
    Difference,
    LeftOut,
    Pair,
    Side,
    Spread,
    Transfer,
    Verdict,
    spread_of,
)
from workalike.evidence.programs import bytes_of, plan_of
from workalike.evidence.words import Part, Program, Reason
from workalike.facts.amounts import amounts_by_file
from workalike.facts.gather import gather
from workalike.facts.jobs import job_of
from workalike.launch.engines import find_engine
from workalike.launch.possible import refuse_impossible
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.rehearse.rehearsal import rehearsed

LEAST_RUNS = 3
"""One to make the log, and a pair."""
ORIGINAL, PROGRAM, REPLICA = "original", "program", "replica"


@dataclass(frozen=True)
class Original:
    """A captured program: what its log says, the plan of its replica, and how long a run took."""

    found: Characterization
    plan: Plan
    took_s: float


def measure_transfers(
    bench: Bench, programs: Sequence[Program], pairs: int
) -> tuple[list[Transfer], list[LeftOut]]:
    """A transfer of each program, as far as there is time; each gets its share of what is left."""
    transfers: list[Transfer] = []
    left_out: list[LeftOut] = []
    for number, program in enumerate(programs):
        before = bench.done
        share_s = bench.left_s / (len(programs) - number)
        transfer, reason = _transferred(bench, program, pairs, share_s)
        missing = pairs - len(transfer.pairs)
        if missing:
            left_out.append(
                LeftOut(part=Part.TRANSFER, program=program, missing=missing, reason=reason or Reason.NO_TIME)
            )
        transfers.append(transfer)
        bench.skip(before + 1 + 2 * pairs - bench.done)
    return transfers, left_out


def _transferred(
    bench: Bench, program: Program, pairs: int, share_s: float
) -> tuple[Transfer, Reason | None]:
    """A transfer, and why pairs are missing."""
    plan = plan_of(program, bench.placement.ranks)
    made: list[Pair] = []
    verdict: Verdict | None = None
    reason: Reason | None = None
    try:
        with reported(bench, program.value):
            original = _captured(bench, program, plan)
            fitting = min(pairs, max(1, int((share_s - original.took_s) / (2 * original.took_s))))
            for number in range(fitting):
                pair, replica = _pair(bench, plan, original, number)
                made.append(pair)
                verdict = verdict or verdict_of(_judged(original, replica))
    except NotMeasured as error:
        reason = error.reason
    return Transfer(
        program=program,
        bytes=bytes_of(plan),
        pairs=made,
        in_calls_ratio=_ratio([(p.program.in_calls_s, p.replica.in_calls_s) for p in made]),
        verdict=verdict,
        not_measured=None if made else reason,
    ), reason


def _captured(bench: Bench, program: Program, plan: Plan) -> Original:
    """Run a program, and make a workload of its log.

    Raises:
        NotMeasured: it cannot run here, the time is up, or its log cannot be used.
        WorkalikeError: the run failed.
    """
    try:
        refuse_impossible(find_engine(), plan, program.value)
    except WorkalikeError as error:
        raise NotMeasured(Reason.NO_LIBRARY) from error
    try:
        find_library()
    except WorkalikeError as error:
        raise NotMeasured(Reason.NO_CAPTURE) from error
    if bench.left_s < LEAST_RUNS * bench.seconds_of(plan):
        raise NotMeasured(Reason.NO_TIME)
    ran = bench.run(plan, ORIGINAL, capture=True, silent=False)
    try:
        options = CharacterizeOptions()
        found = rehearsed(characterize(open_logs([ran.log]), options), options)
        replica = resolve(found.workload, Options(time_scale=1.0))
    except WorkalikeError as error:
        bench.report(f"{program.value}: {error.one_line()}")
        raise NotMeasured(Reason.NOT_CHARACTERIZED) from error
    return Original(found, replica, ran.took_s)


def _pair(bench: Bench, plan: Plan, original: Original, number: int) -> tuple[Pair, Ran]:
    """A pair of runs. Program and replica begin in turn.

    Raises:
        NotMeasured: the time is up, or a log has no seconds in calls.
        WorkalikeError: a run failed.
    """
    if bench.left_s < 2 * original.took_s:
        raise NotMeasured(Reason.NO_TIME)
    plans = {PROGRAM: plan, REPLICA: original.plan}
    first: Literal["program", "replica"] = "program" if number % 2 == 0 else "replica"
    order = (PROGRAM, REPLICA) if first == PROGRAM else (REPLICA, PROGRAM)
    ran = {name: bench.run(plans[name], name, capture=True) for name in order}
    return Pair(first=first, program=side_of(ran[PROGRAM]), replica=side_of(ran[REPLICA])), ran[REPLICA]


def side_of(ran: Ran) -> Side:
    """The times of a run by its log.

    Raises:
        NotMeasured: there are none.
        WorkalikeError: the log cannot be read.
    """
    if not ran.log.exists():
        raise NotMeasured(Reason.NO_TIME_IN_CALLS)
    job = job_of(open_logs([ran.log]))
    seconds = float(amounts_by_file(gather(job, [])).seconds.sum())
    if seconds <= 0:
        raise NotMeasured(Reason.NO_TIME_IN_CALLS)
    return Side(in_calls_s=seconds, run_s=job.run_time * max(1, job.nprocs))


def _judged(original: Original, replica: Ran) -> Fidelity:
    """The first replica beside its original."""
    witness = characterized_replica([open_log(replica.log)])
    return fidelity_of(pair_up(original.found, replica.record, plan=original.plan, witness=witness))


def verdict_of(fidelity: Fidelity) -> Verdict:
    """The words and numbers of a verdict."""
    lines = fidelity.verdict.lines
    return Verdict(
        grade=fidelity.verdict.grade,
        model=lines.model.grade if lines.model.judged else None,
        replica=lines.replica.grade if lines.replica.judged else None,
        storage=lines.storage.grade if lines.storage.judged else None,
        agreement_model=fidelity.agreement.model,
        agreement_replica=fidelity.agreement.replica,
        differences=[each for each in map(_difference, fidelity.verdict.reasons) if each][:MOST_DIFFERENCES],
    )


def _difference(reason: GradeReason) -> Difference | None:
    """A difference in the words of the file; None for what it has no words for."""
    fields = ("line", "module", "counter", "expected", "found")
    try:
        return Difference.model_validate({name: getattr(reason, name) for name in fields})
    except ValidationError:
        return None


def _ratio(sides: Sequence[tuple[float, float]]) -> Spread | None:
    """Replica ÷ program of each pair; None without one."""
    values = [replica / program for program, replica in sides]
    return spread_of(values) if values else None
