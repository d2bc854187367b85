"""Families of one long-lived file: how many states it holds, when each was written, and how large each is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from workalike.characterize.grouping.drafts import Draft
from workalike.characterize.grouping.growth import state_sizes
from workalike.characterize.grouping.states import (
    API_OF_LEVEL,
    States,
    Timeline,
    appended_records,
    bursts_in_timeline,
    counted_by_library,
    equal_states,
    evenly_spaced,
    place_states,
    residual_timeline,
    states_in_trace,
)
from workalike.characterize.options import CharacterizeOptions
from workalike.characterize.rules import StateSizesRule, StatesRule
from workalike.errors import ErrorKind, WorkalikeError
from workalike.facts.jobs import JobFacts
from workalike.facts.plausible import latest_stamp
from workalike.facts.rules import Decision, by
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.times import Interval, access_interval, accesses_of
from workalike.facts.traces import Traces
from workalike.workload import units
from workalike.workload.model import MAX_ALL_DUMPS, MAX_DUMPS, Assumption, Direction, Level, Role


@dataclass
class StateFinder:
    """Finds the states of drafts. The residual heatmap of each draft is computed once."""

    job: JobFacts
    options: CharacterizeOptions
    traces: Traces
    drafts: Sequence[Draft]
    _timelines: dict[int, Timeline | None] = field(default_factory=dict)  # by number of the draft
    _given: int = 0

    def find(self, draft: Draft) -> States | None:
        """The states of a family that is one file with one event; None where it is one dump.

        `--states` decides first, then the trace, then the libraries' counters, then the heatmap.
        """
        if len(draft.layers) > 1 or len(draft.layers[0]) > 1 or len(draft.events) > 1 or not draft.written:
            return None
        data = draft.layers[0][0]
        within = self._written_within(draft)
        if self.options.states:
            self._refuse_too_many(self.options.states)
            return self._placed(draft, self.options.states, by(StatesRule.GIVEN))
        records = appended_records(data.file) if data.level is Level.PNETCDF else None
        if records is not None and records <= THRESHOLDS.states_most:
            return self._placed(draft, records, by(StatesRule.PNETCDF_RECORDS))
        traced = states_in_trace(self.traces.of_file(data.file, data.level, Direction.WRITE))
        if traced is not None:
            return traced if len(traced.intervals) > 1 else None
        if within.end - within.start < THRESHOLDS.state_span * self.job.run_time:
            return None
        counted = counted_by_library(data.file, data.level, data.written)
        if counted is not None and 2 <= counted[0] <= THRESHOLDS.states_most:
            return self._placed(draft, counted[0], by(counted[1]))
        timeline = self.timeline(draft)
        if timeline is not None and not draft.read:
            runs = [r for r in bursts_in_timeline(timeline, within) if r.overlaps(within)]
            if len(runs) > 1:
                return States(
                    runs,
                    None,
                    by(StatesRule.HEATMAP),
                    [Assumption.STATES, Assumption.STATE_SIZES],
                    bin_s=timeline.width,
                )
        return None

    def _refuse_too_many(self, states: int) -> None:
        """Refuse `--states` N where N dumps of every long-lived file exceed the limits of a workload."""
        self._given += states
        if states > MAX_DUMPS or self._given > MAX_ALL_DUMPS:
            raise WorkalikeError(
                ErrorKind.USAGE,
                f"--states {states} is too many: a workload holds {MAX_DUMPS} dumps of a family, "
                f"{MAX_ALL_DUMPS} in all",
                hint="give fewer states",
            )

    def size(self, draft: Draft) -> None:
        """Set the sizes of the states: they grow as the checkpoints do (Eq. 2 to 4), or are equal without any."""
        states = draft.states
        if states is None or states.sizes is not None:
            return
        checkpoints = [d for d in self.drafts if d.role is Role.CHECKPOINT and d.states is None and d.written]
        times = [i.start for i in states.intervals]
        if checkpoints:
            checkpoint = max(checkpoints, key=lambda d: d.written)
            writes = [e for e in checkpoint.events if e.written]
            states.sizes = state_sizes(
                draft.written, times, [e.interval.start for e in writes], [e.written for e in writes]
            )
            draft.rules.append(by(StateSizesRule.CHECKPOINTS))
        else:
            states.sizes = equal_states(len(times), draft.written)
            draft.rules.append(by(StateSizesRule.EQUAL))
        timeline = self.timeline(draft)
        if timeline is None:
            return
        within = self._written_within(draft)
        if states.rule.rule is not StatesRule.HEATMAP:
            states.intervals = place_states(len(times), states.sizes, within, timeline)
        seconds = self._seconds_of_a_state(draft)
        even = evenly_spaced(states.intervals, within, timeline.width, seconds)
        if even is not None:
            states.intervals, states.bin_s = even, 0.0

    def timeline(self, draft: Draft) -> Timeline | None:
        """The heatmap less the bytes of other families' files; None without a heatmap, or with several logs."""
        if draft.number not in self._timelines:
            self._timelines[draft.number] = self._residual(draft)
        return self._timelines[draft.number]

    def _residual(self, draft: Draft) -> Timeline | None:
        if len(self.job.members) != 1:
            return None
        api = API_OF_LEVEL[draft.level]
        heatmap = self.job.members[0].log.heatmaps().get(api)
        if heatmap is None or heatmap.bin_width <= 0:
            return None
        others = []
        for other in self.drafts:
            if other.number != draft.number and API_OF_LEVEL[other.level] == api:
                for data in other.files:
                    if data.written:
                        span = access_interval(data.file, data.level, Direction.WRITE, self.job.run_time)
                        others.append((span or data.interval, data.written))
        return residual_timeline(heatmap, Direction.WRITE, others, latest_stamp(self.job.run_time))

    def _placed(self, draft: Draft, count: int, rule: Decision) -> States:
        intervals = place_states(
            count, equal_states(count, draft.written), self._written_within(draft), self.timeline(draft)
        )
        return States(intervals, None, rule, [Assumption.STATE_SIZES, Assumption.SCHEDULE])

    def _seconds_of_a_state(self, draft: Draft) -> float:
        """How long a rank is inside the calls of a state, on average."""
        assert draft.states is not None
        data = draft.layers[0][0]
        found = accesses_of(data.file, data.level, Direction.WRITE, self.job.run_time)
        members = self.job.nprocs if draft.sharing.ranks is None else units.count_ranks(draft.sharing.ranks)
        return found.seconds / members / len(draft.states.intervals) if found else 0.0

    def _written_within(self, draft: Draft) -> Interval:
        data = draft.layers[0][0]
        return access_interval(data.file, data.level, Direction.WRITE, self.job.run_time) or data.interval
