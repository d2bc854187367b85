"""Runs a study: block after block, each trial safely recorded before the next begins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.extras import require
from workalike.launch.directories import Directories
from workalike.leftovers import scratch_folder
from workalike.study import system
from workalike.study.estimate import Estimate, estimate
from workalike.study.journal import Finished, Journal, now, opened
from workalike.study.known_times import Known, known_of
from workalike.study.order import block_of
from workalike.study.places import Places
from workalike.study.prepare import Prepared, prepare, refuse_what_cannot_run
from workalike.study.reuse import Cache
from workalike.study.settings import a_a_setting, settings_of
from workalike.study.shares import Share, core_hours, refuse_working_tasks, take_shares
from workalike.study.spread import SOON_S, due_at, seconds_until, wait_until, when_text
from workalike.study.stopping import Stopping, stopping_of
from workalike.study.study_file import StudyFile
from workalike.study.tables import write_tables
from workalike.study.trial import FAILED, NOT_SET, TIMED_OUT, Trial, perform

DECIDED = "decided"
WAITING = "waiting"
LEAST_FAILURES = 3
"""The study ends after so many failures in a row, or as many as a block has trials if that is more."""

Tracked = Callable[[Sequence[Any]], Iterable[Any]]
"""Goes through settings, and may show how far it is."""


@dataclass(frozen=True)
class DriverOptions:
    """How to run a study: `out` gets the results, `directory` replaces the study's.

    `named` are the directories of families that name one.
    """

    out: Path
    directory: Path | None = None
    named: Mapping[str, Path] = field(default_factory=dict)
    budget: float | None = None  # core-hours
    reuse: Sequence[Path] = ()
    blocks: int | None = None
    wait: bool = True  # for the time of the next block, where blocks are spread; else end before it
    ceiling: bool = False  # measure each directory's file system first
    share: Share | None = None  # run these blocks only
    finished_before: frozenset[tuple[int, str, str]] = frozenset()  # trials that others have run
    paid_before: frozenset[tuple[int, str, str]] = frozenset()  # own trials that the budget does not count
    report: Callable[[str], None] = lambda _: None
    tracked: Tracked = iter


@dataclass
class Loaded:
    """A study whose settings all have plans."""

    file: StudyFile
    settings: list[Prepared]
    a_a: str | None

    @property
    def stopping(self) -> Stopping | None:
        """How the study ends by its results; None if it runs all blocks."""
        return stopping_of(self.file.study, self.a_a or self.settings[0].setting.id)

    def estimate(self, known: Known | None = None) -> Estimate:
        """What the study will take, by what is known of its times."""
        study = self.file.study
        return estimate(self.settings, self.a_a, study.blocks, study.assume, known)


@dataclass
class Outcome:
    """What came of a study.

    `state` is done, decided (its results ended it), budget (it ended before), waiting (for the time of its next block) or
    failing (too many failures in a row).
    """

    state: str
    finished: list[Finished]
    planned: int
    reused: int = 0
    stopping: Stopping | None = None


def load(file: StudyFile, tracked: Tracked = iter) -> Loaded:
    """Settings and plans of a study.

    Raises:
        WorkalikeError: BAD_STUDY and the like, naming the setting.
    """
    settings = settings_of(file)
    arm = a_a_setting(file, settings)
    return Loaded(file, [prepare(file, setting) for setting in tracked(settings)], arm.id if arm else None)


def run_study(file: StudyFile, options: DriverOptions) -> Outcome:
    """Run a study, or what is left of it. What has finished stays, however this ends.

    Raises:
        WorkalikeError: before the first trial, where the study cannot run; later, where no trial can.
    """
    for module in ("pyarrow", "scipy", "matplotlib"):
        require(module, "a study", "study")
    file = with_blocks(file, options.blocks)
    loaded = load(file, options.tracked)
    for prepared in options.tracked(loaded.settings):
        refuse_what_cannot_run(file, prepared)
    if options.share is None:  # the budget of a task was looked at when its array was submitted
        refuse_small_budget(loaded, options)
        refuse_working_tasks(options.out)
    with opened(options.out, file.identities, about(loaded)) as journal:
        if options.share is None:
            take_shares(journal)
        driver = _Driver(loaded, options, journal)
        try:
            return driver.run()
        except BaseException:
            done = len(journal.finished)
            options.report(f"{done} trials have finished and are kept; the same command resumes")
            raise
        finally:
            driver.leave()


def about(loaded: Loaded) -> dict[str, Any]:
    """What the manifest says of a study."""
    study = loaded.file.study
    return {
        "title": study.title,
        "study": study.model_dump(mode="json", exclude_defaults=True),
        "workloads": loaded.file.hashes,
        "factors": list(loaded.settings[0].setting.levels),
        "settings": [
            {"id": p.setting.id, "levels": p.setting.levels, "plan": p.plan_hash, "bytes": p.bytes}
            for p in loaded.settings
        ],
        "a_a": loaded.a_a,
        "blocks": study.blocks.count,
        "seed": study.seed,
    }


def with_blocks(file: StudyFile, blocks: int | None) -> StudyFile:
    """The study with another number of blocks; None: its own."""
    if blocks is None:
        return file
    own = file.study.blocks.model_copy(update={"count": blocks})
    return replace(file, study=file.study.model_copy(update={"blocks": own}))


def refuse_small_budget(loaded: Loaded, options: DriverOptions) -> None:
    """Refuse a budget that does not suffice for one block.

    Raises:
        WorkalikeError: USAGE.
    """
    budget = options.budget
    if budget is None:
        return
    whole = loaded.estimate(known_of(loaded.file, options.out, options.directory))
    block = whole.core_hours / whole.blocks
    if block > budget:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"--budget {budget:g} core-hours are less than one block takes, about {block:.3g}",
            file=loaded.file.path,
            hint="raise it, or lower the number of settings, bytes_scale or time_scale",
        )


class _Driver:
    """One driver at work on an opened journal."""

    def __init__(self, loaded: Loaded, options: DriverOptions, journal: Journal) -> None:
        self._loaded = loaded
        self._file = loaded.file
        self._options = options
        self._journal = journal
        self._places = Places(
            self._file, journal.manifest["id"], options.out, Directories(options.directory, options.named)
        )
        self._cache = Cache(options.reuse)
        self._reused = 0
        self._failures = 0

    def run(self) -> Outcome:
        self._places.prepare(self._loaded.settings)
        self._journal.save_manifest(system=system.describe(self._places.directories()))
        if self._options.ceiling:
            share = self._options.share
            self._places.measure_ceilings(self._options.report, share.tasks - 1 if share else 0)
        study = self._file.study
        done = {row.key for row in self._journal.finished} | self._options.finished_before
        blocks = [
            block_of(number, self._loaded.settings, self._loaded.a_a, study.seed)
            for number in range(study.blocks.count)
            if self._options.share is None or self._options.share.has(number)
        ]
        planned = sum(len(block) for block in blocks)
        if done:
            self._options.report(f"{len(done)} trials have finished before, {planned - len(done)} are left")
        state = "done"
        for number, block in enumerate(blocks):
            running = self._running_before(number)
            if not running:
                state = DECIDED
                break
            left = [
                trial for trial in block if trial.key not in done and trial.prepared.setting.id in running
            ]
            if left and self._beyond_budget(left):
                state = "budget"
                break
            if left and not self._has_begun(block) and not self._wait_for_its_time(left[0].block):
                state = WAITING
                break
            if not all(self._one(trial, planned) for trial in left):
                state = "failing"
                break
        self._journal.save_manifest(state=state)
        return Outcome(state, self._journal.finished, planned, self._reused, self._loaded.stopping)

    def _has_begun(self, block: Sequence[Trial]) -> bool:
        """Whether a trial of a block has finished: the rest of an interrupted block runs at once."""
        finished = {row.key for row in self._journal.finished}
        return any(trial.key in finished for trial in block)

    def _wait_for_its_time(self, number: int) -> bool:
        """Wait until a block of a spread study is due; False where it is not and the study ends instead."""
        every = self._file.study.blocks.every
        due = None if every is None else due_at(self._journal.finished, every)
        if due is None:
            return True
        if not self._options.wait and seconds_until(due) > SOON_S:
            self._options.report(f"block {number + 1} begins {when_text(due)}; the same command goes on then")
            return False
        wait_until(due, f"block {number + 1}", self._options.report)
        return True

    def _running_before(self, block: int) -> set[str]:
        """The settings that run in a block; none where the results before it end the study."""
        every = {prepared.setting.id for prepared in self._loaded.settings}
        stopping = self._loaded.stopping
        if stopping is None or block == 0:
            return every
        review = stopping.review(self._journal.finished, block)
        if not review.blocks:
            return every
        return set() if review.stops else {stopping.reference, *review.open_settings}

    def leave(self) -> None:
        """Remove what is empty of the data folders, and write the tables from what has finished."""
        self._places.leave(self._options.report)
        state = self._journal.manifest["state"]
        write_tables(self._journal.finished, self._options.out)
        self._journal.save_manifest(
            state="interrupted" if state == "running" else state,
            updated=now(),
            trials=len(self._journal.finished),
        )

    def _one(self, trial: Trial, planned: int) -> bool:
        """Run or reuse a trial; False when too many have failed in a row."""
        place = self._places.of_setting(trial.prepared)
        named = self._places.named_of(trial.prepared)
        # Results do not say which directories stood for the names.
        finished = None if named else self._cache.find(trial, place)
        if finished is None:
            with scratch_folder(self._options.out) as scratch:
                finished = perform(self._file, trial, place, scratch / "record", named)
        else:
            self._reused += 1
        self._journal.append(finished)
        row = finished.trial
        bad_end = row["state"] in (FAILED, TIMED_OUT, NOT_SET)
        self._failures = self._failures + 1 if bad_end else 0
        noted = "" if row["counted"] else f": {row['state']}: {'; '.join(row['reasons'])}"
        self._options.report(
            f"block {trial.block + 1}, {len(self._journal.finished)} of {planned}: {trial.setting_id}{noted}"
        )
        return self._failures < max(LEAST_FAILURES, len(self._loaded.settings))

    def _beyond_budget(self, left: Sequence[Trial]) -> bool:
        """Whether the rest of a block would take more than what remains of the budget."""
        if self._options.budget is None:
            return False
        paid = self._options.paid_before
        spent = core_hours(row for row in self._journal.finished if row.key not in paid)
        known = known_of(self._file, self._options.out, self._options.directory)
        estimated = {row.setting: row.core_hours for row in self._loaded.estimate(known).settings}
        need = sum(estimated[trial.prepared.setting.id] for trial in left)
        return bool(spent + need > self._options.budget)
