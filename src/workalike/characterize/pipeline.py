"""log(s) -> workload: the rules in their order, each in a module of its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from workalike.characterize.arrays import KnownExtents, known_extents
from workalike.characterize.contents import content_of_event, contents_of_states
from workalike.characterize.events import BOTH, Event, events_of_layer
from workalike.characterize.facts import Characterization, DumpFacts, FamilyFacts, FileFacts, Loss
from workalike.characterize.families import DataFile, group_into_families, make_data_file, split_into_dumps
from workalike.characterize.gather import gather_files
from workalike.characterize.growth import state_sizes
from workalike.characterize.jobs import job_of
from workalike.characterize.levels import choose_level
from workalike.characterize.noise import set_noise_aside
from workalike.characterize.roles import Behaviour, decide_role
from workalike.characterize.sharing import root_of, sharing_of
from workalike.characterize.states import (
    API_OF_LEVEL,
    MAX_STATES,
    States,
    bursts_in_timeline,
    counted_by_library,
    equal_states,
    from_trace,
    place_states,
    residual_timeline,
)
from workalike.characterize.times import Interval, access_interval, open_interval
from workalike.darshan import Log
from workalike.errors import ErrorKind, WorkalikeError
from workalike.workload.model import (
    Assumption,
    Content,
    Direction,
    Family,
    Level,
    Lifetime,
    Reason,
    Role,
    Schedule,
    Sharing,
    SharingMode,
    Uncovered,
    Workload,
)

STATES_LEAST_SPAN = 0.1  # of the run: a file written over a shorter time is one dump
UNDECODED_DATA = {"DFS", "DAOS"}


@dataclass(frozen=True)
class CharacterizeOptions:
    """`states` fixes the number of dumps in each long-lived file; `include_noise` keeps every file.

    `level` is taken where a file has it; `use_trace` off ignores DXT, as if the log had none.
    """

    states: int | None = None
    include_noise: bool = False
    level: Level | None = None
    use_trace: bool = True


def characterize(logs: Sequence[Log], options: CharacterizeOptions | None = None) -> Characterization:
    """The workload of the logs of one job, and how it came about.

    Raises:
        WorkalikeError: NOTHING_TO_REPLICATE with the reason, when the logs hold no data I/O that can be replicated.
    """
    return _Characterizer(logs, options or CharacterizeOptions()).run()


class _Characterizer:
    def __init__(self, logs: Sequence[Log], options: CharacterizeOptions) -> None:
        self.logs = list(logs)
        self.options = options
        self.job = job_of(logs)
        self.nprocs = self.job.nprocs
        self.run_time = self.job.run_time
        self.warnings = list(self.job.warnings)
        self.known: KnownExtents = {}
        self.losses: list[Loss] = []
        self.rules: list[str] = []

    def run(self) -> Characterization:
        files = [part for file in gather_files(self.job, self.warnings) for part in split_stdio(file)]
        data, noise = (files, []) if self.options.include_noise else set_noise_aside(files)
        data_files = [d for d in map(self._with_level, data) if d is not None]
        if not data_files:
            raise self._nothing()
        self.known = known_extents([d.file for d in data_files])
        groups = group_into_families(data_files)
        written = sum(d.written for d in data_files) or 1
        drafts = [
            _Draft(part, sharing)
            for group in groups
            for part, sharing in self._by_sharing(split_into_dumps(group, self.nprocs))
        ]
        for draft in drafts:
            self._find_events(draft, drafts)
        for draft in drafts:
            draft.role, rule = decide_role(
                Behaviour(
                    draft.files,
                    len(draft.events) if draft.states is None else len(draft.states.intervals),
                    draft.states is not None,
                    draft.written / written,
                    self.run_time,
                )
            )
            draft.rules.append(rule)
        for draft in drafts:
            if draft.states is not None:
                self._size_states(draft, drafts, data_files)
        families = self._families(drafts)
        return Characterization(
            workload=Workload(
                ranks=self.nprocs,
                runtime=round(self.run_time, 6),
                families=[f.family for f in families],
                uncovered=self._uncovered(noise),
            ),
            families=families,
            logs=self.logs,
            losses=self.losses,
            noise=noise,
            partial_modules=sorted(
                {name for log in self.logs for name, m in log.modules.items() if m.partial}
            ),
            skipped_modules=sorted({name for log in self.logs for name in log.skipped}),
            warnings=[*(warning for log in self.logs for warning in log.warnings), *self.warnings],
            rules=self.rules,
        )

    def _nothing(self) -> WorkalikeError:
        file = self.logs[0].path
        undecoded = sorted({name for log in self.logs for name in log.skipped} & UNDECODED_DATA)
        if undecoded:
            return WorkalikeError(
                ErrorKind.NOTHING_TO_REPLICATE,
                f"its data I/O went through {' and '.join(undecoded)}, which has no backend here",
                file=file,
                place=f"module {undecoded[0]}",
                mend="capture a run on a POSIX or MPI-IO file system",
            )
        present = ", ".join(sorted({name for log in self.logs for name in log.modules})) or "no module"
        return WorkalikeError(
            ErrorKind.NOTHING_TO_REPLICATE,
            "the job moved no data to or from files",
            file=file,
            place=f"modules: {present}",
            mend="--include-noise replicates standard streams, libraries and the like",
        )

    def _with_level(self, file: FileFacts) -> DataFile | None:
        choices = {d: choose_level(file, d) for d in BOTH}
        found = {d: c for d, c in choices.items() if c is not None}
        if not found:
            return None
        moved = {d: file.bytes_at(c.level, d) for d, c in found.items()}
        main = max(found, key=lambda d: moved[d])
        level = found[main].level
        if self.options.level is not None and self.options.level.value in _levels_present(file):
            level = self.options.level
        for choice in found.values():
            self.losses += choice.losses
        written, read = (file.bytes_at(level, d) for d in BOTH)
        if not written and not read:
            return None
        data = make_data_file(file, level, written, read, self.run_time)
        data.rules.append(f"level {level.value}: {found[main].rule}")
        return data

    def _by_sharing(self, layers: list[list[DataFile]]) -> list[tuple[list[list[DataFile]], Sharing]]:
        """Layers of one family, apart where their sharing differs."""
        apart: dict[str, tuple[list[list[DataFile]], Sharing]] = {}
        for layer in layers:
            sharing = self._sharing(layer)
            apart.setdefault(sharing.model_dump_json(), ([], sharing))[0].append(layer)
        return list(apart.values())

    def _sharing(self, layer: list[DataFile]) -> Sharing:
        sharing = sharing_of([d.ranks for d in layer], self.nprocs)
        if sharing.mode is SharingMode.SHARED and len(layer) == 1 and self.nprocs > 1:
            facts = layer[0].file.modules.get("STDIO") if layer[0].level is Level.STDIO else None
            if facts is not None and layer[0].level is Level.STDIO:
                root = root_of(facts, self.nprocs, layer[0].written + layer[0].read)
                if root is not None:
                    return Sharing(mode=SharingMode.ROOT, ranks=[(root, root, 1)])
        return sharing

    def _find_events(self, draft: _Draft, drafts: list[_Draft]) -> None:
        alone = len(draft.layers) == 1
        for layer in draft.layers:
            draft.events += events_of_layer(layer, alone, self.run_time)
        if alone and len(draft.layers[0]) == 1 and len(draft.events) == 1 and draft.written:
            draft.states = self._states(draft, drafts)

    def _states(self, draft: _Draft, drafts: list[_Draft]) -> States | None:
        data = draft.layers[0][0]
        direction = Direction.WRITE
        within = access_interval(data.file, data.level, direction, self.run_time) or data.interval
        if self.options.states:
            count, rule = self.options.states, "states: given with --states"
            return self._placed(draft, drafts, count, rule, within)
        traced = from_trace(self.logs, data.file, data.level, direction) if self.options.use_trace else None
        if traced is not None:
            return traced if len(traced.intervals) > 1 else None
        if within.end - within.start < STATES_LEAST_SPAN * self.run_time:
            return None
        counted = counted_by_library(data.file, data.level)
        if counted is not None and 2 <= counted[0] <= MAX_STATES:
            return self._placed(draft, drafts, counted[0], f"states: {counted[1]}", within)
        timeline = self._timeline(draft, drafts)
        if timeline is not None and not draft.read:
            runs = [r for r in bursts_in_timeline(timeline, within) if r.overlaps(within)]
            if len(runs) > 1:
                return States(
                    runs, None, "states: bursts in the heatmap", [Assumption.STATES, Assumption.STATE_SIZES]
                )
        return None

    def _placed(
        self, draft: _Draft, drafts: list[_Draft], count: int, rule: str, within: Interval
    ) -> States:
        intervals = place_states(
            count, equal_states(count, draft.written), within, self._timeline(draft, drafts)
        )
        return States(intervals, None, rule, [Assumption.STATE_SIZES, Assumption.SCHEDULE])

    def _timeline(self, draft: _Draft, drafts: list[_Draft]):  # type: ignore[no-untyped-def]
        if len(self.logs) != 1:
            return None
        level = draft.layers[0][0].level
        heatmap = self.logs[0].heatmaps().get(API_OF_LEVEL[level])
        if heatmap is None:
            return None
        others = []
        for other in drafts:
            if other is draft:
                continue
            for data in other.files:
                if API_OF_LEVEL[data.level] == API_OF_LEVEL[level] and data.written:
                    span = (
                        access_interval(data.file, data.level, Direction.WRITE, self.run_time)
                        or data.interval
                    )
                    others.append((span, data.written))
        return residual_timeline(heatmap, Direction.WRITE, others)

    def _size_states(self, draft: _Draft, drafts: list[_Draft], data_files: list[DataFile]) -> None:
        """Eq. 2 to 4: the states grow as the checkpoints do."""
        assert draft.states is not None
        if draft.states.sizes is not None:
            return
        checkpoints = [d for d in drafts if d.role is Role.CHECKPOINT and d.states is None and d.written]
        times = [i.start for i in draft.states.intervals]
        if checkpoints:
            model = max(checkpoints, key=lambda d: d.written)
            starts = [e.interval.start for e in model.events]
            sizes = [sum(f.written for f in e.files) for e in model.events]
            draft.states.sizes = state_sizes(draft.written, times, starts, sizes)
            draft.rules.append("state sizes: the growth of the checkpoints (Eq. 2 to 4)")
        else:
            draft.states.sizes = equal_states(len(times), draft.written)
            draft.rules.append("state sizes: equal, for want of checkpoints to follow")
        within = access_interval(
            draft.layers[0][0].file, draft.layers[0][0].level, Direction.WRITE, self.run_time
        )
        timeline = self._timeline(draft, drafts)
        if within is not None and timeline is not None and "heatmap" not in draft.states.rule:
            draft.states.intervals = place_states(len(times), draft.states.sizes, within, timeline)

    def _families(self, drafts: list[_Draft]) -> list[FamilyFacts]:
        numbers: dict[Role, int] = defaultdict(int)
        order = {role: i for i, role in enumerate(Role)}
        families = []
        for draft in sorted(drafts, key=lambda d: (order[d.role], -(d.written + d.read))):
            numbers[draft.role] += 1
            families.append(self._family(draft, numbers[draft.role]))
        return families

    def _family(self, draft: _Draft, number: int) -> FamilyFacts:
        level = draft.layers[0][0].level
        lifetime = Lifetime.PER_DUMP
        if draft.states is not None:
            lifetime = Lifetime.APPENDED
            sizes = draft.states.sizes or []
            contents, assumed = contents_of_states(draft.events[0], sizes, self.nprocs, self.known)
            intervals = draft.states.intervals
            assumed += draft.states.assumed
            draft.rules.append(draft.states.rule)
        else:
            if len(draft.events) == 2 and len(draft.layers) == 1:
                lifetime = Lifetime.REUSED
            built = [content_of_event(event, self.nprocs, self.known) for event in draft.events]
            contents = [content for content, _ in built]
            assumed = [a for _, why in built for a in why]
            intervals = [event.interval for event in draft.events]
        if "a word of the name" not in " ".join(draft.rules):
            assumed.append(Assumption.ROLE)
        distinct, use = _distinct(contents)
        family = Family(
            role=draft.role,
            number=number,
            interface=draft.layers[0][0].interface,
            level=level,
            sharing=draft.sharing,
            lifetime=lifetime,
            schedule=Schedule(
                start=[round(i.start, 6) for i in intervals],
                duration=_durations(intervals),
            ),
            content=distinct[0] if len(distinct) == 1 else None,
            contents=distinct if len(distinct) > 1 else [],
            use=use if 1 < len(distinct) < len(contents) else None,
            assumed=list(dict.fromkeys(assumed)),
        )
        rules = list(dict.fromkeys([r for d in draft.files[:100] for r in d.rules] + draft.rules))
        return FamilyFacts(family, self._dump_facts(draft, contents, intervals), rules)

    def _dump_facts(
        self, draft: _Draft, contents: list[Content], intervals: list[Interval]
    ) -> list[DumpFacts]:
        facts = []
        for k, interval in enumerate(intervals):
            event = draft.events[0] if draft.states is not None else draft.events[k]
            files = [d.file for d in event.files]
            if draft.states is not None:
                members = self.nprocs
                written, read = (contents[k].moved(members, d) for d in BOTH)
                io_time = interval.end - interval.start if "trace" in draft.states.rule else None
            else:
                written = sum(d.written for d in event.files) if Direction.WRITE in event.directions else 0
                read = sum(d.read for d in event.files) if Direction.READ in event.directions else 0
                spans = [open_interval(d.file, d.level, self.run_time) for d in event.files]
                known = [s for s in spans if s is not None]
                io_time = (
                    max(s.end for s in known) - min(s.start for s in known)
                    if known and event.parts == 1
                    else interval.end - interval.start
                )
            facts.append(DumpFacts(written, read, interval.start, interval.end, io_time, files))
        return facts

    def _uncovered(self, noise: list[tuple[str, int, int]]) -> list[Uncovered]:
        found: dict[Reason, tuple[int, int]] = {}
        for loss in self.losses:
            size, files = found.get(loss.reason, (0, 0))
            found[loss.reason] = (size + loss.bytes, files + loss.files)
        if noise:
            found[Reason.NOISE] = (sum(size for _, _, size in noise), sum(files for _, files, _ in noise))
        return [Uncovered(reason=reason, bytes=size, files=files) for reason, (size, files) in found.items()]


class _Draft:
    """A family in the making."""

    def __init__(self, layers: list[list[DataFile]], sharing: Sharing) -> None:
        self.layers = layers
        self.sharing = sharing
        self.files = [d for layer in layers for d in layer]
        self.events: list[Event] = []
        self.states: States | None = None
        self.role = Role.OTHER
        self.rules: list[str] = []
        self.written = sum(d.written for d in self.files)
        self.read = sum(d.read for d in self.files)


def split_stdio(file: FileFacts) -> list[FileFacts]:
    """A file that both STDIO and another module moved data of counts twice: the two do not overlap (facts A7)."""
    stdio = file.modules.get("STDIO")
    others = {name: facts for name, facts in file.modules.items() if name != "STDIO"}
    if stdio is None or not others:
        return [file]
    moved = sum(facts.total("BYTES_READ") + facts.total("BYTES_WRITTEN") for facts in others.values())
    if not moved or not stdio.total("BYTES_READ") + stdio.total("BYTES_WRITTEN"):
        return [file]
    return [
        FileFacts(file.record_id, file.name, file.nprocs, {"STDIO": stdio}),
        FileFacts(file.record_id, file.name, file.nprocs, others),
    ]


def _levels_present(file: FileFacts) -> set[str]:
    words = {"POSIX": "posix", "STDIO": "stdio", "MPI-IO": "mpiio", "H5D": "h5d", "PNETCDF_VAR": "pnetcdf"}
    return {words[name] for name in file.modules if name in words}


def _distinct(contents: list[Content]) -> tuple[list[Content], list[int]]:
    seen: dict[str, int] = {}
    distinct: list[Content] = []
    use = []
    for content in contents:
        key = content.model_dump_json()
        if key not in seen:
            seen[key] = len(distinct)
            distinct.append(content)
        use.append(seen[key])
    return distinct, use


def _durations(intervals: list[Interval]) -> float | list[float]:
    lengths = [round(max(0.0, i.end - i.start), 6) for i in intervals]
    return lengths[0] if len(set(lengths)) == 1 else lengths
