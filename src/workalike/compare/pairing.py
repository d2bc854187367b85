"""Both sides of a comparison with their families matched, and what the scaling laws need for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from workalike.characterize.result import Characterization
from workalike.compare.expect import Scaled
from workalike.compare.from_log import side_of_log
from workalike.compare.from_plan import side_of_plan, with_durations
from workalike.compare.from_record import side_of_record
from workalike.compare.from_witness import side_of_witness
from workalike.compare.side import Side, SideDump, SideFamily, joined
from workalike.errors import ErrorKind, WorkalikeError
from workalike.plan.core import core_plan
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.predict.prediction import Key
from workalike.record.run_record import Record
from workalike.workload.model import Direction, Lifetime, Workload


@dataclass(frozen=True)
class Factors:
    """The replica's scale. `bytes` is F, weak scaling included; `time` 0 means no waiting."""

    ranks: float
    bytes: float
    time: float


@dataclass
class Pair:
    """A family on both sides. `replica` has no dumps where the replica lacks the family.

    `as_one`: the replica is a log that does not distinguish the dumps of a file, which are compared as a whole.
    """

    original: SideFamily
    replica: SideFamily
    scaled: Scaled
    as_one: bool = False

    @property
    def key(self) -> Key:
        """The family's role and number."""
        return self.original.role, self.original.number

    def dumps(self) -> Iterable[tuple[SideDump | None, SideDump | None]]:
        """(original's dump, replica's dump) by index; None where one side has fewer."""
        a, b = self.original.dumps, self.replica.dumps
        if self.as_one:
            a, b = [joined(a)], [joined(b)]
        for i in range(max(len(a), len(b))):
            yield (a[i] if i < len(a) else None, b[i] if i < len(b) else None)


@dataclass
class Pairing:
    """Both sides with their families matched. It is made once; fidelity, table and report are made from it.

    `log` is the original where it is a log, else None. `record` and `replica_log` are what is known of the replica's
    run, both None in a report on a workload alone.
    """

    workload: Workload
    log: Characterization | None
    record: Record | None
    replica_log: Characterization | None
    original: Side
    replica: Side
    pairs: list[Pair]
    extra: list[SideFamily]  # families of the replica that the original does not have
    factors: Factors
    plan: Plan  # the replica's
    full_plan: Plan  # of the workload at full scale
    presumed: bool  # the plan was not given but made from the record's factors

    @cached_property
    def fitted(self) -> set[Key]:
        """The families that were chosen among others by their counters."""
        families = self.log.families if self.log else []
        return {(facts.family.role, facts.family.number) for facts in families if facts.fitted}

    @property
    def performed(self) -> bool:
        """Whether there is a replica."""
        return self.record is not None or self.replica_log is not None


def pair_up(
    original: Characterization | Workload,
    replica: Record | Characterization | None,
    *,
    plan: Plan | None = None,
    witness: Characterization | None = None,
) -> Pairing:
    """Match the families of both sides, and find what the scaling laws need for each.

    Args:
        original: the characterized log, or a workload where there is no log.
        replica: the engine's record, or the log of the replica's run; None where nothing has been run.
        plan: the replica's plan; without it the rules of `--scale-by count` are assumed.
        witness: a log of the same run, where the replica is a record; bytes and counters are then the log's.

    Raises:
        WorkalikeError: BAD_PLAN for a plan of another workload, and as `resolve`.
    """
    workload = original if isinstance(original, Workload) else original.workload
    record = replica if isinstance(replica, Record) else None
    replica_log = witness if record is not None else replica
    assert not isinstance(replica_log, Record)
    replica = Record(plan_ranks=workload.ranks, processes=1, backend="null") if replica is None else replica
    factors = _factors(workload, replica, plan)
    presumed = plan is None and (factors.bytes, factors.ranks) != (1, 1)
    plan, full = _plans(workload, replica, plan, factors)
    whole = side_of_plan(full)
    part = whole if plan is full else side_of_plan(plan)
    if isinstance(original, Characterization):
        side = side_of_log(original)
    else:
        _refuse_plan_of_another(workload, full)
        side = with_durations(deepcopy(whole), workload)
    levels = {key: family.level for key, family in side.families.items()}
    per_dump = {(f.role, f.number) for f in plan.families if f.lifetime is Lifetime.PER_DUMP}
    if isinstance(replica, Record) and witness is not None:
        other = side_of_witness(witness, replica, levels, per_dump)
    elif isinstance(replica, Record):
        other = side_of_record(replica, levels)
    else:
        other = side_of_log(replica, by_name=True, levels=levels, new_files=per_dump)
    before = _files(full)
    after = before if plan is full else _files(plan)
    pairs = []
    for key, family in side.families.items():
        match = other.families.get(key, SideFamily(family.role, family.number, family.level))
        scaled = Scaled(
            factors.bytes,
            whole.families.get(key, family),
            part.families.get(key, family),
            (before.get(key, 1), after.get(key, 1)),
        )
        # A log sums up what is done with a file; traces and flushes alone show its dumps.
        summed = not isinstance(replica, Record) and key not in per_dump
        as_one = summed and bool(match.dumps) and len(match.dumps) != len(family.dumps)
        pairs.append(Pair(family, match, scaled, as_one))
    extra = [family for key, family in other.families.items() if key not in side.families]
    log = original if isinstance(original, Characterization) else None
    return Pairing(
        workload, log, record, replica_log, side, other, pairs, extra, factors, plan, full, presumed
    )


def _refuse_plan_of_another(workload: Workload, plan: Plan) -> None:
    """Refuse a plan that does not have the workload's families and dumps.

    Raises:
        WorkalikeError: BAD_PLAN.
    """
    dumps = Counter(dump.family for dump in plan.dumps)
    planned = {(f.role, f.number): dumps[f.id] for f in plan.families}
    for family in workload.families:
        found = planned.get((family.role, family.number))
        if found != family.schedule.dumps:
            raise WorkalikeError(
                ErrorKind.BAD_PLAN,
                f"of {family.role.value} {family.number} the workload has {family.schedule.dumps} dumps, the plan "
                f"{found or 'none'}: it is the plan of another workload",
                hint="give --plan the plan that the replica was run with",
            )


def _files(plan: Plan) -> dict[Key, int]:
    """The number of files of a dump, for each family."""
    files = core_plan(plan).files
    return {(f.role, f.number): count for f, count in zip(plan.families, files, strict=True)}


def _plans(
    workload: Workload, replica: Record | Characterization, plan: Plan | None, factors: Factors
) -> tuple[Plan, Plan]:
    """The replica's plan, and the plan at full scale."""
    if not workload.families:
        nothing = Plan(ranks=workload.ranks, families=[], contents=[], dumps=[])
        return nothing, nothing
    if plan is not None and (plan.scale.ranks, plan.scale.bytes) == (1, 1):
        return plan, plan
    full = resolve(workload, Options())
    if plan is None and (factors.ranks, factors.bytes) != (1, 1):
        plan = resolve(workload, _presumed(workload, replica, factors))
    return plan or full, full


def _factors(workload: Workload, replica: Record | Characterization, plan: Plan | None) -> Factors:
    if isinstance(replica, Record):
        return Factors(replica.scale.ranks, replica.scale.bytes, replica.time_scale)
    if plan is not None:
        return Factors(plan.scale.ranks, plan.scale.bytes, plan.time_scale)
    return Factors(replica.workload.ranks / workload.ranks, 1.0, 1.0)


def _presumed(workload: Workload, replica: Record | Characterization, factors: Factors) -> Options:
    """Options that give the record's factors, whose bytes include weak scaling."""
    ranks = replica.plan_ranks if isinstance(replica, Record) else replica.workload.ranks
    return Options(ranks=ranks, bytes_scale=Fraction(factors.bytes).limit_denominator(10**12) or Fraction(1))


def error_pct(expected_value: float, replica: float, slack: float = 0.0) -> float:
    """|replica - expected| in per cent of the expected value: 0 within `slack`, 100 where nothing was expected."""
    if abs(expected_value - replica) <= slack:
        return 0.0
    return 100.0 * abs(replica - expected_value) / expected_value if expected_value else 100.0


def rounding(pairs: list[Pair], factor: float) -> float:
    """Bytes by which rounding may differ from the law: one per dump, none at full scale."""
    return 0.0 if factor == 1 else float(sum(len(pair.original.dumps) for pair in pairs))


def dump_error_pct(
    original: SideDump | None,
    replica: SideDump | None,
    factor: float,
    directions: Sequence[Direction] = tuple(Direction),
) -> float:
    """Error of a dump's bytes in the directions of its family; 100 % where one side lacks the dump.

    Reads of a library on its own account, in a family that only writes, are an error of counters but not of the dump.
    """
    if original is None or replica is None:
        return 100.0
    want = original.moved * factor
    off = sum(abs(replica.bytes_of(d) - original.bytes_of(d) * factor) for d in directions)
    # Bytes are whole numbers: at another scale rounding takes up to half a byte in each direction.
    if off <= (0.0 if factor == 1 else 1.0):
        return 0.0
    return 100.0 * off / want if want else 100.0
