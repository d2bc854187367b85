"""Drafts -> families of the workload, each with the facts it was made from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from workalike.characterize.contents.arrays.dataspace import KnownExtents
from workalike.characterize.contents.contents import content_of_event, contents_of_states
from workalike.characterize.contents.streams.sizes_of_dumps import series_of
from workalike.characterize.contents.sync_policy import place_calls
from workalike.characterize.contents.tunables import tunable_of
from workalike.characterize.grouping.drafts import Draft
from workalike.characterize.grouping.events import opens_of
from workalike.characterize.grouping.families import is_renamed
from workalike.characterize.grouping.rank_shift import read_by_neighbour
from workalike.characterize.grouping.renames import renames_to_one_name
from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.characterize.rules import RoleRule
from workalike.characterize.times.barrier import begins_with_barrier
from workalike.characterize.times.compute_time import compute_times
from workalike.facts.jobs import JobFacts
from workalike.facts.lives import lives_of
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.times import Interval, open_interval
from workalike.facts.traces import Traces
from workalike.workload import units
from workalike.workload.model import (
    Assumption,
    Content,
    Direction,
    Family,
    Lifetime,
    Role,
    Schedule,
    Sharing,
    SharingMode,
    Turns,
)
from workalike.workload.per_dump import of_dumps


def families_of(
    drafts: Sequence[Draft], job: JobFacts, known: KnownExtents, traces: Traces, renames: Mapping[int, int]
) -> list[FamilyFacts]:
    """The families in the order of their roles, the largest first, with numbers within each role.

    `renames`: see `renames_of`.
    """
    numbers: dict[Role, int] = defaultdict(int)
    order = {role: i for i, role in enumerate(Role)}
    families = []
    for draft in sorted(drafts, key=lambda d: (order[d.role], -(d.written + d.read))):
        numbers[draft.role] += 1
        facts = family_of(draft, numbers[draft.role], job, known, traces, renames)
        families.append(read_by_neighbour(facts, draft.shift) if draft.shift else facts)
    return families


def opened_once(draft: Draft, contents: Sequence[Content], nprocs: int) -> bool:
    """Whether each rank opens its file once for all dumps and loads, so that the file stays open between them."""
    if draft.sharing.mode is SharingMode.GROUPS or any(c.arrays or c.fit or c.mesh for c in contents):
        return False
    ranks = nprocs if draft.sharing.ranks is None else units.count_ranks(draft.sharing.ranks)
    each = 1 if draft.sharing.mode is SharingMode.PER_RANK else ranks
    return all(0 < opens_of(data.file, data.level) <= each for data in draft.files)


def family_of(
    draft: Draft,
    number: int,
    job: JobFacts,
    known: KnownExtents,
    traces: Traces,
    renames: Mapping[int, int],
) -> FamilyFacts:
    """One family: its schedule and contents, what was assumed, and which rules decided."""
    assumed: list[Assumption] = []
    if draft.states is not None:
        lifetime = Lifetime.APPENDED
        contents, assumed = contents_of_states(draft.events[0], draft.states, job.nprocs, known, traces)
        intervals = draft.states.intervals
        assumed += draft.states.assumed
        draft.rules.append(draft.states.rule)
    else:
        lifetime = Lifetime.REUSED if len(draft.layers) < len(draft.events) else Lifetime.PER_DUMP
        if draft.shift:  # a trace has the ranks that read, a stream those whose files they read
            traces = Traces(job, use=False)
        built = [content_of_event(event, job.nprocs, known, traces) for event in draft.events]
        contents = [content for content, _ in built]
        if lifetime is Lifetime.REUSED and opened_once(draft, contents, job.nprocs):
            lifetime = Lifetime.OVERWRITTEN
            opens = sum(content.opens for content in contents)
            contents = [c.model_copy(update={"opens": 0 if k else opens}) for k, c in enumerate(contents)]
        assumed = [a for _, reasons in built for a in reasons]
        intervals = [event.interval for event in draft.events]
    if not any(decision.rule is RoleRule.NAME for decision in draft.rules):
        assumed.append(Assumption.ROLE)
    members = job.nprocs if draft.sharing.ranks is None else units.count_ranks(draft.sharing.ranks)
    placed = [a for c in contents for a in place_calls(c, draft.level, draft.sharing.mode, members)]
    if draft.states is None:  # a state ends with its flush
        assumed = [*placed, *assumed]
    interface = draft.layers[0][0].interface
    tunable, rules = tunable_of(
        [d.file for d in draft.files], draft.level, interface, ranks_share=ranks_share(draft, members)
    )
    rename = lifetime is Lifetime.PER_DUMP and bool(draft.written) and all(map(is_renamed, draft.files))
    same_name = renames_to_one_name(draft.files, renames)
    if rename and len(draft.layers) == len(draft.files) == same_name > 1:
        lifetime = Lifetime.REUSED  # several temporary names, and one name that each of them takes
    fields = of_dumps(contents)
    own_files = draft.sharing.mode is SharingMode.PER_RANK
    series = None
    if fields["content"] is None:
        series = series_of(contents, draft.level, members, own_files=own_files)
    if series is not None:
        fields = of_dumps([series[0]])
    family = Family(
        role=draft.role,
        number=number,
        interface=interface,
        level=draft.level,
        sharing=sharing_for(draft.sharing, contents, job.nprocs),
        lifetime=lifetime,
        rename=rename,
        schedule=Schedule(
            start=[round(i.start, 6) for i in intervals],
            duration=durations_of(intervals if draft.states is None else until_close(intervals, draft, job)),
            compute_time=compute_times(draft.events, job.nprocs, lives_of(job))
            if draft.states is None
            else 0.0,
            barrier=draft.states is None and begins_with_barrier(draft.events, draft.sharing, job.run_time),
        ),
        sizes=series[1] if series is not None else None,
        **fields,
        assumed=list(dict.fromkeys(assumed)),
        tunable=tunable,
    )
    file_rules = [rule for data in draft.files[: THRESHOLDS.rules_files] for rule in data.rules]
    return FamilyFacts(
        family,
        dump_facts(draft, contents, job),
        list(dict.fromkeys(file_rules + draft.rules + rules)),
        same_name,
    )


def ranks_share(draft: Draft, members: int) -> bool:
    """Whether several ranks write to one file, and not one after the other."""
    sharing = draft.sharing
    alone = (
        sharing.mode is SharingMode.PER_RANK
        or sharing.turns is Turns.BATON
        or members == (sharing.files or 1)
    )
    return bool(draft.written) and not alone


def sharing_for(sharing: Sharing, contents: Sequence[Content], nprocs: int) -> Sharing:
    """The sharing, extended by every rank that a stream names: contradictory records may name further ranks."""
    if sharing.ranks is None:
        return sharing
    named = {tuple(ranks) for content in contents for ranks in content.rank_sets() if ranks is not None}
    ranks = {r for ranges in named for first, last, step in ranges for r in range(first, last + 1, step)}
    known = {r for first, last, step in sharing.ranks for r in range(first, last + 1, step)}
    if ranks <= known:
        return sharing
    mode = SharingMode.SUBSET if sharing.mode is SharingMode.ROOT else sharing.mode
    return sharing.model_copy(update={"mode": mode, "ranks": units.ranges_of(sorted(ranks | known))})


def dump_facts(draft: Draft, contents: Sequence[Content], job: JobFacts) -> list[DumpFacts]:
    """What the log says of each dump, for comparison with replicas."""
    if draft.states is not None:
        files = [d.file for d in draft.files]
        exact = bool(draft.states.cut)
        return [
            DumpFacts(
                bytes_written=content.moved(job.nprocs, Direction.WRITE),
                bytes_read=content.moved(job.nprocs, Direction.READ),
                start_s=interval.start,
                end_s=open_until.end,
                io_time_s=interval.end - interval.start if exact else None,
                files=files,
                bin_s=draft.states.bin_s,
            )
            for content, interval, open_until in zip(
                contents, draft.states.intervals, until_close(draft.states.intervals, draft, job), strict=True
            )
        ]
    facts = []
    for event in draft.events:
        spans = (
            [open_interval(d.file, d.level, job.run_time) for d in event.files] if event.parts == 1 else []
        )
        known = [s for s in spans if s is not None] or [event.interval]
        facts.append(
            DumpFacts(
                event.written,
                event.read,
                event.interval.start,
                event.interval.end,
                max(s.end for s in known) - min(s.start for s in known),
                [d.file for d in event.files],
            )
        )
    return facts


def until_close(intervals: Sequence[Interval], draft: Draft, job: JobFacts) -> list[Interval]:
    """The dumps of a file that stays open: the last one lasts until the file is closed."""
    found = [open_interval(data.file, draft.level, job.run_time) for data in draft.files]
    closes = [interval.end for interval in found if interval is not None]
    last = intervals[-1]
    return [*intervals[:-1], Interval(last.start, max(last.end, *closes, last.end))]


def durations_of(intervals: Sequence[Interval]) -> float | list[float]:
    """Seconds of each dump; one number where all are the same."""
    lengths = [round(max(0.0, i.end - i.start), 6) for i in intervals]
    return lengths[0] if len(set(lengths)) == 1 else list(lengths)
