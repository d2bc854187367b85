"""Two lines of a verdict: *model against log* and *replica against model* (docs/architecture.md, "Verdict")."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from workalike.characterize.result import Characterization, FamilyFacts
from workalike.compare.families import files_by_family, groups_of
from workalike.compare.merged_counts import sizes_of, with_lost_counts
from workalike.compare.near_sizes import with_near_sizes
from workalike.compare.pairing import Pairing
from workalike.compare.rare_sizes import with_rare_sizes
from workalike.compare.segments import segment_rows
from workalike.compare.side import direction_of
from workalike.facts.counters import bytes_name
from workalike.facts.levels import level_without_data
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts
from workalike.plan.core import core_plan
from workalike.plan.plan_schema import Plan
from workalike.predict.agreement import DeterminedRow, Group, rows_of, total_of
from workalike.predict.chance import (
    FORWARD,
    NEXT,
    SEEDS,
    Draws,
    families_at_random,
    is_stride_at_random,
    sequences_of,
    without_chance,
)
from workalike.predict.determined import RULES, Determined, alignment_of, determined_of_log, is_apart
from workalike.predict.prediction import Key, has_more_calls, predicted
from workalike.workload.model import Direction

MOST_DRAWN = 50_000
"""Calls of a plan whose order is drawn several times: chance is under 5 % of the counts in larger ones."""


def model_against_log(pairing: Pairing) -> list[DeterminedRow]:
    """Whether the workload says what its log says, at full scale; nothing where the original is a workload."""
    found = pairing.log
    if found is None:
        return []
    plan = pairing.full_plan
    model = predicted(plan, alignments_of(found, plan), apart=apart_in(found, plan))
    families = {(f.family.role, f.family.number): f for f in found.families}
    pairs = {(pair.original.role, pair.original.number): pair for pair in pairing.pairs}
    rows: list[DeterminedRow] = []
    for group in groups_of(found):
        members = [families[key] for key in group]
        own = {MODULE_OF_LEVEL[family.family.counted_at] for family in members}
        files = list({file.key: file for family in members for file in family.names()}.values())
        for module in modules_of(members):
            ours = [model[key][module] for key in group if module in model.get(key, {})]
            if own == {"STDIO"} and module == "POSIX":
                rows += rows_of(
                    group, module, determined_of_log(files, module).of_streams(), total_of(ours).of_streams()
                )
            elif ours:
                log = determined_of_log(files, module)
                counted = total_of(ours)
                made = list(rows_of(group, module, log, counted, below=module not in own))
                if own == {module}:
                    workload = found.workload
                    sizes = sizes_of([m.family for m in members], workload.ranks, workload.operations)
                    made = with_lost_counts(made, log, sizes)
                    made = with_rare_sizes(made, log, counted, sizes)
                rows += with_near_sizes(made, counted)
            elif module in own:
                of_group = [pairs[key] for key in group if key in pairs]
                log, counted = (
                    total_of(Determined(dict(side.modules.get(module, {})), complete=False) for side in sides)
                    for sides in ([p.original for p in of_group], [p.scaled.whole for p in of_group])
                )
                rows += rows_of(group, module, log, counted)
    at_random = families_at_random(plan) - families_with_traces(found)
    if not any(key in at_random for row in rows if row.error for key in row.group):
        return rows
    draws = _draws(plan, found, groups_of(found), at_random)
    return without_chance(rows, at_random, draws, _sequences(found, families))


def _sequences(found: Characterization, families: Mapping[Key, FamilyFacts]) -> dict[Group, int]:
    """How many orders of accesses the files of each group have."""
    nprocs = sum(log.job.nprocs for log in found.logs)
    return {
        group: sum(sequences_of(file, nprocs) for key in group for file in families[key].names())
        for group in groups_of(found)
    }


def families_with_traces(found: Characterization) -> set[Key]:
    """The families of which a trace has the order of operations: there, nothing of it is left to chance."""
    if not found.uses_traces:
        return set()
    tables = [table for log in found.logs if (table := log.dxt("DXT_POSIX")) is not None]
    traced = {number for table in tables for number in table.ids.tolist()}
    return {
        (facts.family.role, facts.family.number)
        for facts in found.families
        if any(file.record_id in traced for file in facts.files())
    }


def _draws(
    plan: Plan, found: Characterization, groups: Iterable[Group], at_random: Collection[Key]
) -> Draws | None:
    """SEQ and CONSEC of groups in random order under other seeds; None where a plan has too many calls to be worth it."""
    if has_more_calls(core_plan(plan), MOST_DRAWN):
        return None
    alignments, apart = alignments_of(found, plan), apart_in(found, plan)
    values: dict[tuple[Group, str, str], list[int]] = defaultdict(list)
    chosen = [group for group in groups if any(key in at_random for key in group)]
    for seed in SEEDS:
        model = predicted(plan.model_copy(update={"seed": seed}), alignments, apart=apart)
        for group in chosen:
            counters = total_of(
                parts for key in group for parts in [model.get(key, {}).get("POSIX")] if parts
            ).counters
            for name, value in counters.items():
                if name.startswith((FORWARD, NEXT)):
                    values[group, "POSIX", name].append(value)
    return Draws(dict(values))


def replica_against_model(pairing: Pairing) -> list[DeterminedRow]:
    """Whether a replica did what its plan says: a log of the run tells every counter, a record some of them."""
    replica = pairing.replica_log
    if not pairing.performed:
        return []
    by_key: dict[Key, dict[str, Determined]] = {}
    model: dict[Key, dict[str, Determined]] = {}
    if replica is not None:
        by_key = determined_by_name(replica)
        model = predicted(pairing.plan, alignments_by_name(replica, pairing.plan))
    in_pieces = _families_in_pieces(pairing.plan)
    rows: list[DeterminedRow] = []
    for pair in pairing.pairs:
        key, module = (pair.original.role, pair.original.number), pair.scaled.part.module
        for name in RULES:
            if (module, name) == ("STDIO", "POSIX") and replica is not None:
                found = by_key.get(key, {}).get(name, Determined())
                expected = model.get(key, {}).get(name, Determined())
                rows += rows_of((key,), name, expected.of_streams(), found.of_streams())
            elif name in model.get(key, {}):
                found = by_key.get(key, {}).get(name, Determined())
                made = rows_of((key,), name, model[key][name], found, below=name != module)
                if name != module and key in in_pieces:
                    made = _not_sieved(made, found, model[key][name])
                rows += made
        if module in RULES and module not in model.get(key, {}):
            expected = Determined(dict(pair.scaled.part.modules.get(module, {})), complete=False)
            rows += rows_of(
                (key,),
                module,
                expected,
                Determined(dict(pair.replica.modules.get(module, {})), complete=False),
            )
    rows += _of_other_families(pairing)
    at_random = families_at_random(pairing.plan)
    return [*(row for row in rows if not is_stride_at_random(row, at_random)), *segment_rows(pairing)]


def _of_other_families(pairing: Pairing) -> Iterator[DeterminedRow]:
    """What the replica moved in files that the plan does not have."""
    for family in pairing.extra:
        for direction in Direction:
            moved = sum(dump.bytes_of(direction) for dump in family.dumps)
            if moved:
                group = ((family.role, family.number),)
                yield DeterminedRow(group, family.module, bytes_name(direction), 0, moved)


def _families_in_pieces(plan: Plan) -> set[Key]:
    """The families with calls that move several pieces of a file."""
    contents = {
        place
        for place, content in enumerate(plan.contents)
        if any(stream.pieces > 1 for stream in content.streams)
    }
    by_id = {family.id: (family.role, family.number) for family in plan.families}
    return {by_id[dump.family] for dump in plan.dumps if dump.content in contents}


def _not_sieved(
    rows: Iterable[DeterminedRow], found: Determined, expected: Determined
) -> Iterator[DeterminedRow]:
    """The rows without those that a library decides that moves more bytes than it was asked for."""
    sieved = {
        direction
        for direction in Direction
        if found.counters.get(bytes_name(direction), 0) > expected.counters.get(bytes_name(direction), 0)
    }
    ends = [expected.counters.get(f"MAX_BYTE_{past}", 0) for past in ("READ", "WRITTEN")]
    for row in rows:
        direction = direction_of(row.counter)
        if direction not in sieved if direction is not None else not sieved:
            yield row
        elif row.counter.startswith("MAX_BYTE") and not row.expected <= row.found <= max(ends):
            yield row  # a library that sieves reaches no further than the pieces do


def modules_of(families: Iterable[FamilyFacts]) -> list[str]:
    """The modules that are compared for these families: those of their levels, and POSIX below MPI-IO and STDIO."""
    modules = dict.fromkeys(MODULE_OF_LEVEL[family.family.counted_at] for family in families)
    if "MPI-IO" in modules or "STDIO" in modules:
        modules["POSIX"] = None
    return [module for module in modules if module in RULES]


def alignments_of(found: Characterization, plan: Plan) -> list[int]:
    """FILE_ALIGNMENT in bytes of each family's files; 0 where they differ or the log does not tell."""
    by_key = {(f.family.role, f.family.number): alignment_of(f.files()) for f in found.families}
    return [by_key.get((family.role, family.number), 0) for family in plan.families]


def apart_in(found: Characterization, plan: Plan) -> list[bool]:
    """Whether the log has no reduced record of each family's files at its level."""
    by_key = {
        (f.family.role, f.family.number): is_apart(f.files(), MODULE_OF_LEVEL[f.family.counted_at])
        for f in found.families
    }
    return [by_key.get((family.role, family.number), False) for family in plan.families]


def files_in(log: Characterization) -> list[FileFacts]:
    """The files of all families of a log, each once, and the names that only renames have made."""
    found = {file.key: file for family in log.families for file in family.files()}
    known = {file.record_id for file in found.values()}
    on_the_way = (f for f in log.files if f.record_id not in known and level_without_data(f) is None)
    return [*found.values(), *on_the_way]


def determined_by_name(log: Characterization) -> dict[Key, dict[str, Determined]]:
    """The determined counters of a log of our engine, by family and module."""
    return {
        key: {module: determined_of_log(files, module) for module in RULES}
        for key, files in files_by_family(files_in(log)).items()
    }


def alignments_by_name(log: Characterization, plan: Plan) -> list[int]:
    """As `alignments_of`, for a log of our engine."""
    files = files_by_family(files_in(log))
    return [alignment_of(files.get((family.role, family.number), [])) for family in plan.families]
