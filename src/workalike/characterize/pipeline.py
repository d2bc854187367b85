"""Logs -> workload: the order of the rules, each of which is in a module of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pydantic import ValidationError

from workalike.characterize.assemble import families_of
from workalike.characterize.contents.arrays.dataset_misfit import misfit_of_datasets
from workalike.characterize.contents.arrays.dataspace import known_extents
from workalike.characterize.contents.arrays.filters import compressibility_in
from workalike.characterize.contents.arrays.meshes import as_mesh
from workalike.characterize.contents.data_sets import data_sets_in, numbered
from workalike.characterize.contents.sparse_reads import with_holes
from workalike.characterize.contents.streams.nonblocking import posted
from workalike.characterize.coverage import coverage_of
from workalike.characterize.grouping.drafts import Draft, drafts_of
from workalike.characterize.grouping.events import events_of, events_of_shifted
from workalike.characterize.grouping.families import (
    DataFile,
    group_into_families,
    make_data_file,
    split_into_dumps,
)
from workalike.characterize.grouping.folders import with_folders
from workalike.characterize.grouping.idle_processes import with_calls_of_idle
from workalike.characterize.grouping.rank_shift import shift_of
from workalike.characterize.grouping.removals import emptied, with_removals
from workalike.characterize.grouping.rename_chains import with_further_renames
from workalike.characterize.grouping.renames import backups_of, renames_of, with_backups
from workalike.characterize.grouping.roles import Behaviour, decide_role
from workalike.characterize.grouping.state_sizes import StateFinder
from workalike.characterize.options import CharacterizeOptions, Model
from workalike.characterize.orders.made import with_order
from workalike.characterize.readings.alternatives import judged
from workalike.characterize.readings.buffered import with_buffered
from workalike.characterize.readings.evidence import evidence_of, families_of_own_files
from workalike.characterize.readings.files_of_one_name import with_files_of_one_name
from workalike.characterize.readings.metadata_order import metadata_ordered
from workalike.characterize.readings.reopened_in_trace import opened_amid_operations, opened_for_each_part
from workalike.characterize.readings.replaced_in_trace import replaced_in_turn
from workalike.characterize.readings.search import best_readings
from workalike.characterize.result import Characterization, FamilyFacts
from workalike.characterize.rules import ModelRule
from workalike.characterize.times.alternating import in_turn
from workalike.characterize.times.windows import with_windows
from workalike.characterize.traces.dump_per_file import in_files
from workalike.characterize.traces.exact import TableBuilder, exact, is_exact
from workalike.characterize.traces.traced_rows import TracedFamily, traced_family
from workalike.darshan import Log
from workalike.errors import ErrorKind, WorkalikeError, fault_of_ours
from workalike.facts.amounts import Amounts, FileAmounts, amounts_by_file
from workalike.facts.columns import Facts
from workalike.facts.gather import gather
from workalike.facts.jobs import job_of, without_idle
from workalike.facts.levels import (
    LevelChoice,
    choose_levels,
    force_level,
    level_without_data,
    levels_of,
    lowered_to,
    split_stdio,
)
from workalike.facts.lives import processes_of
from workalike.facts.noise import REASONS, Noise, file_that_mpi_tried, noise_of, set_aside
from workalike.facts.other_files import CountedTogether, is_other_files, without_other_files
from workalike.facts.plausible import latest_stamp
from workalike.facts.rank_sets import active_ranks
from workalike.facts.records import FileFacts, Loss
from workalike.facts.rules import Decision, LevelRule, NoiseRule, by
from workalike.facts.trace_totals import trace_differences
from workalike.facts.traces import Traces
from workalike.text import size_text
from workalike.workload.model import Direction, Level, Reader, Reason, TableReference, Uncovered, Workload
from workalike.workload.quantities import MAX_RANKS

__all__ = ["CharacterizeOptions", "characterize"]

UNDECODED_DATA = frozenset({"DFS", "DAOS"})
FILE_MODULES = frozenset({"POSIX", "STDIO", "MPI-IO", "H5D", "PNETCDF_VAR"})


def characterize(logs: Sequence[Log], options: CharacterizeOptions | None = None) -> Characterization:
    """The workload of the logs of one job, and how it was derived.

    Raises:
        WorkalikeError: NOTHING_TO_REPLICATE, with the reason, when the logs have no data I/O that can be replicated;
            UNSUPPORTED_LOG when their numbers exceed the limits of a workload; FAULT for another workload that the
            schema refuses.
    """
    try:
        return _Characterizer(logs, options or CharacterizeOptions()).run()
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or None
        if first["type"] not in TOO_LARGE and not first.get("ctx", {}).get("limit"):
            raise fault_of_ours(str(first["msg"]), logs[0].path, place) from error
        raise WorkalikeError(
            ErrorKind.UNSUPPORTED_LOG,
            f"its numbers exceed what a workload can state: {first['msg']}",
            file=logs[0].path,
            place=place,
            hint="counters that no job can reach mean a damaged log: copy it again from where it was written",
        ) from error


TOO_LARGE = frozenset(
    {"limit", "less_than", "less_than_equal", "too_long", "int_parsing_size", "finite_number"}
)
"""Types of errors for numbers and lists beyond a limit: Pydantic's, and `beyond_limit`'s."""
_RECOVERED = re.compile(r"([0-9]{1,9}) of ([0-9]{1,9})")
"""As `capture/recover` says it."""


class _Characterizer:
    def __init__(self, logs: Sequence[Log], options: CharacterizeOptions) -> None:
        self.logs = list(logs)
        self.options = options
        self.job = job_of(logs)
        self.warnings = list(self.job.warnings)
        self.losses: list[Loss] = []
        self.cpu_share: float | None = None

    def run(self) -> Characterization:
        facts = gather(self.job, self.warnings)
        self.cpu_share = facts.cpu_share
        files, together = without_other_files([part for file in facts.files() for part in split_stdio(file)])
        self.losses += together.losses
        amounts = amounts_by_file(facts)
        labels = self._labels(facts, amounts)
        kept = {
            number for number, label in zip(facts.record_ids.tolist(), labels, strict=True) if label is None
        }
        noise = set_aside(labels, amounts)
        data = [file for file in files if file.record_id in kept]
        if len(self.job.members) > 1:
            data = self._without_idle(data, list(facts.files()))
        of_application = [
            (row, file)
            for row, (file, label) in enumerate(zip(facts.files(), labels, strict=True))
            if label in (None, NoiseRule.NEGLIGIBLE) and not is_other_files(file)
        ]
        application = [file for _, file in of_application]
        amounts_of_application = {file.record_id: amounts[row] for row, file in of_application}
        others = {f.record_id: amounts[row] for row, f in enumerate(facts.files()) if is_other_files(f)}
        data_files = [d for file in data for d in self._data_files(file)]
        self.losses += unsupported_modules(self.logs)
        self.losses += missing_ranks(self.logs)
        self.losses += [Loss(Reason.UNKNOWN_COUNTERS, 0, n, module) for module, n in facts.unknown.items()]
        if not data_files:
            raise self._nothing(together)
        traces = Traces(self.job, self.options.use_trace)
        if self.options.use_trace:
            self.warnings += trace_differences(self.logs)
        data_sets: list[FamilyFacts] = []
        if self.options.refine:
            data_sets, data_files = data_sets_in(data_files, self.job)
        drafts = self._drafts(data_files)
        finder = StateFinder(self.job, self.options, traces, drafts)
        for draft in drafts:
            draft.states = None if draft.shift else finder.find(draft)
        self._decide_roles(drafts)
        for draft in drafts:
            finder.size(draft)
        known = known_extents([d.file for d in data_files])
        families = families_of(drafts, self.job, known, traces, renames_of(facts.files()))
        operations = None
        if self.options.refine:
            families, operations = self._exactly(families, traces, facts.files(), application)
            if (kept_families := with_buffered(families, self.job)) != families:
                families = numbered(kept_families)
            families = [with_removals(emptied(facts, self.job.nprocs)) for facts in families]
        families = [posted(facts) for facts in families]
        if data_sets:
            families = numbered([*data_sets, *families])
        if self.options.refine:
            families = [with_folders(facts) for facts in families]
        families = [in_turn(facts, self.job) for facts in families]
        families, contradictions = with_windows(families, self.job, traces)
        self.warnings += contradictions
        if self.options.model is Model.MESH:
            families = [self._as_mesh(facts) for facts in families]
        workload = Workload(
            ranks=self.job.nprocs,
            nodes=traces.nodes(),
            runtime=round(self.job.run_time, 6),
            cpu_share=self.cpu_share,
            compressibility=compressibility_in(families),
            processes=processes_of(self.job),
            operations=operations,
            families=[f.family for f in families],
            uncovered=uncovered_of(self.losses, noise),
            coverage=coverage_of(
                families,
                amounts_of_application | others,
                [loss for loss in self.losses if loss not in together.losses],
            ),
        )
        families = with_holes(families, workload)
        return Characterization(
            workload=workload.model_copy(update={"families": [f.family for f in families]}),
            families=families,
            logs=self.logs,
            losses=self.losses,
            noise=noise,
            files=application,
            amounts=amounts_of_application | others,
            partial_modules=list(facts.partial_modules),
            counted_together=together,
            skipped_modules=list(facts.skipped_modules),
            uses_traces=self.options.use_trace,
            libraries=facts.libraries,
            warnings=[*(warning for log in self.logs for warning in log.warnings), *self.warnings],
        )

    def _exactly(
        self,
        families: Sequence[FamilyFacts],
        traces: Traces,
        files: Sequence[FileFacts],
        application: Sequence[FileFacts],
    ) -> tuple[list[FamilyFacts], TableReference | None]:
        """The families as complete traces have them; the others as the candidate that is nearest to the counters."""
        table = TableBuilder() if self.options.tables else None
        out: list[FamilyFacts] = []
        by_trace: list[bool] = []
        refined = best_readings(families, self.job, self.options.leave_out)
        own_files = families_of_own_files(refined)
        for before, after in zip(families, refined, strict=True):
            by_neighbour = before.family.reader is Reader.NEIGHBOUR
            readings = [before] if after is before else [before, after]
            if not by_neighbour and traced_family(before, self.job.nprocs, traces) is None:
                readings = [*filter(None, [in_files(before, traces)]), *readings]
            known = [(facts, traced_family(facts, self.job.nprocs, traces)) for facts in readings]
            facts, traced = next(
                (
                    (facts, traced)
                    for facts, traced in known
                    if traced and is_exact(facts.family, traced, self.job)
                ),
                next((pair for pair in known if pair[1] is not None), known[0]),
            )
            found = None
            if traced is not None:
                found = self._as_traced(facts, traced, None if by_neighbour else traces, table)
            by_trace.append(found is not None)
            out.append(found or metadata_ordered(after, self.job))
        backups = backups_of(files)
        out = [with_files_of_one_name(with_backups(facts, backups), self.job) for facts in out]
        out = with_further_renames(out, application)
        if table is not None:
            ordered = (own and not traced for own, traced in zip(own_files, by_trace, strict=True))
            out = [
                with_order(facts, self.job, table, self.options.leave_out) if wanted else facts
                for facts, wanted in zip(out, ordered, strict=True)
            ]
        return judged(out, self.job), table.operations() if table is not None else None

    def _as_traced(
        self, facts: FamilyFacts, traced: TracedFamily, traces: Traces | None, table: TableBuilder | None
    ) -> FamilyFacts | None:
        """The family as its trace has it; with `traces` also in a dump for each open of its file, if that fits better."""
        by_rules = exact(facts, traced, self.job, None)
        if traces is not None:
            before = by_rules or facts
            after = opened_for_each_part(before, traced, self.job, traces)
            if after is not before:
                return after
            replaced = replaced_in_turn(before, traced, self.job, traces, table)
            if replaced is not None:
                return replaced
        found = by_rules or exact(facts, traced, self.job, table)
        if found is None:
            return None
        return opened_amid_operations(found, evidence_of(facts, self.job), table)

    def _without_idle(self, data: list[FileFacts], of_all: Sequence[FileFacts]) -> list[FileFacts]:
        """The data files of the processes that use any of them: the others are no ranks of the workload."""
        job = without_idle(self.job, active_ranks(data))
        idle = len(self.job.members) - len(job.members)
        if not idle:
            return data
        verb = (
            "process opens no file: its calls are" if idle == 1 else "processes open no file: their calls are"
        )
        self.warnings.append(f"{idle} {verb} those of other ranks")
        self.job = job
        kept = {file.record_id for file in data}
        facts = gather(job)
        self.cpu_share = facts.cpu_share  # of the processes that are ranks
        used = [file for file in facts.files() if file.record_id in kept]
        return [
            part
            for file in with_calls_of_idle(used, [file for file in of_all if file.record_id in kept])
            for part in split_stdio(file)
        ]

    def _labels(self, facts: Facts, amounts: FileAmounts) -> list[NoiseRule | None]:
        """Why each file is set aside; None for those of the workload."""
        if self.options.include_program_start:
            return [None] * len(facts)
        numbers = facts.record_ids.tolist()
        labels = noise_of(numbers, facts.names, amounts)
        below = {
            name
            for number, name in zip(numbers, facts.names, strict=True)
            if self.options.lowered.get(number) is Level.POSIX
        }
        # Calls of POSIX instead of MPI-IO: what MPI did beside the file is a part of them.
        return [
            None if label is NoiseRule.MPI and file_that_mpi_tried(name) in below else label
            for label, name in zip(labels, facts.names, strict=True)
        ]

    def _as_mesh(self, facts: FamilyFacts) -> FamilyFacts:
        family = as_mesh(facts.family, self.job.nprocs, variables=self.options.variables)
        if family is facts.family:
            return facts
        made = replace(facts, family=family, rules=[*facts.rules, by(ModelRule.MESH)])
        return replace(made, misfit=misfit_of_datasets(made, self.job))

    def _data_files(self, file: FileFacts) -> list[DataFile]:
        """The file at the level of each direction: one data file where both directions have the same level."""
        found = choose_levels(file, without_datasets=self.options.model is Model.EXTENTS)
        if found and not any(choice.moved for choice in found.values()):
            # All traffic was a library's own: it is all that the application does with the file.
            found = choose_levels(file, without_datasets=True)
        wanted = self.options.wanted_level(levels_of(file))
        lowered = self.options.lowered.get(file.record_id)
        out = []
        for direction, choice in found.items():
            if lowered is not None and choice.level is not Level.STDIO:
                found[direction] = choice = lowered_to(file, direction, lowered)
            elif wanted is not None and choice.level is not Level.STDIO:
                found[direction] = choice = force_level(file, direction, choice, wanted)
            self.losses += choice.losses
        if file.modules.get("POSIX") is not None and file.modules["POSIX"].total("MMAPS"):
            self.losses.append(Loss(Reason.MMAP, 0, 1, "POSIX"))
        if not any(choice.moved for choice in found.values()):
            level = level_without_data(file)
            if level is None:
                return []
            data = make_data_file(file, level, 0, 0, self.job.run_time)
            data.rules.append(by(LevelRule.LOWEST, level=level.value))
            return [data]
        for level in dict.fromkeys(choice.level for choice in found.values()):
            moved = {d: file.bytes_at(level, d) for d, choice in found.items() if choice.level is level}
            written, read = (moved.get(d, 0) for d in (Direction.WRITE, Direction.READ))
            if written or read:
                data = make_data_file(file, level, written, read, self.job.run_time)
                data.rules.append(_main_rule(found, moved))
                out.append(data)
        return out

    def _drafts(self, data_files: Sequence[DataFile]) -> list[Draft]:
        latest = latest_stamp(self.job.run_time)
        drafts: list[Draft] = []
        for family in group_into_families(data_files):
            shift = shift_of(family)
            if shift is None:
                drafts += drafts_of(split_into_dumps(family, self.job.nprocs), self.job.nprocs, latest)
                continue
            for layer in split_into_dumps(shift.files, self.job.nprocs):  # each is read back by itself
                drafts += drafts_of([layer], self.job.nprocs, latest)
                drafts[-1].shift = shift.places
        for number, draft in enumerate(drafts):
            draft.number = number
            draft.events = (
                events_of_shifted(draft.layers[0], self.job.run_time)
                if draft.shift
                else events_of(draft.layers, self.job.run_time)
            )
        return drafts

    def _decide_roles(self, drafts: Sequence[Draft]) -> None:
        written = sum(draft.written for draft in drafts) or 1
        for draft in drafts:
            draft.role, rule = decide_role(
                Behaviour(draft.files, draft.dumps, draft.states is not None, draft.written / written)
            )
            draft.rules.append(by(rule))

    def _nothing(self, together: CountedTogether) -> WorkalikeError:
        file = self.logs[0].path
        if together.bytes:
            return WorkalikeError(
                ErrorKind.NOTHING_TO_REPLICATE,
                f"no file that moved data has a record of its own: {size_text(together.bytes)} of them are counted "
                "together",
                file=file,
                place=f"modules: {', '.join(together.modules)}",
                hint="profile the application with more --max-memory",
            )
        undecoded = sorted({name for log in self.logs for name in log.skipped} & UNDECODED_DATA)
        if undecoded:
            return WorkalikeError(
                ErrorKind.NOTHING_TO_REPLICATE,
                f"its data I/O went through {' and '.join(undecoded)}, for which there is no backend",
                file=file,
                place=f"module {undecoded[0]}",
                hint="capture a run on a POSIX or MPI-IO file system",
            )
        present = ", ".join(sorted({name for log in self.logs for name in log.modules})) or "no module"
        return WorkalikeError(
            ErrorKind.NOTHING_TO_REPLICATE,
            "the job moved no data to or from files",
            file=file,
            place=f"modules: {present}",
            hint="--include-program-start replicates standard streams, libraries and the like",
        )


def _main_rule(found: dict[Direction, LevelChoice], moved: dict[Direction, int]) -> Decision:
    return found[max(moved, key=lambda d: moved[d])].rule


def unsupported_modules(logs: Iterable[Log]) -> list[Loss]:
    """Modules whose data cannot be read: of an unsupported file system, or with records of an unknown version."""
    skipped = {name for log in logs for name in log.skipped} & (UNDECODED_DATA | FILE_MODULES)
    return [Loss(Reason.UNSUPPORTED_MODULE, 0, 0, name) for name in sorted(skipped)]


def missing_ranks(logs: Iterable[Log]) -> list[Loss]:
    """Ranks of killed jobs that recovery did not find; capture writes their number into the metadata."""
    found = []
    for log in logs:
        match = _RECOVERED.fullmatch(log.job.metadata.get("recovered_ranks", ""))
        lacking = int(match[2]) - int(match[1]) if match else 0
        if lacking > 0:
            found.append(Loss(Reason.MISSING_RANKS, 0, min(lacking, MAX_RANKS), "job"))
    return found


def uncovered_of(losses: Iterable[Loss], noise: Noise) -> list[Uncovered]:
    """What the workload leaves out, by reason."""
    found: dict[Reason, tuple[int, Amounts]] = {}
    parts = [(loss.reason, loss.files, Amounts(loss.bytes)) for loss in losses]
    for reason, number, amounts in [*parts, *((REASONS[rule], n, of_rule) for rule, n, of_rule in noise)]:
        files, known = found.get(reason, (0, Amounts()))
        found[reason] = (files + number, known + amounts)
    return [
        Uncovered(
            reason=reason,
            bytes=amounts.bytes,
            files=files,
            calls=amounts.calls,
            seconds=round(amounts.seconds, 6),
        )
        for reason, (files, amounts) in found.items()
    ]
