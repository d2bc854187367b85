"""One trial: its setting applied, its plan performed, and a row of what was asked for, found and measured."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import free_bytes
from workalike.launch.data_files import remove_kept
from workalike.launch.directories import Directories
from workalike.launch.run import REPLICA_LOG, RunOptions, run_plan
from workalike.record.run_record import Record, read_record
from workalike.study import found, measured, system
from workalike.study.journal import Finished, Row, now
from workalike.study.layouts.base import CannotSet, Layout, LayoutKind
from workalike.study.layouts.registry import kind_of, layout_of
from workalike.study.prepare import Prepared, launcher_of
from workalike.study.run_limits import TrialTimeout, environment_set, limited_to
from workalike.study.study_file import StudyFile
from workalike.study.workplace import Workplace

OK, NOT_TAKEN, NOT_SET, FAILED, TIMED_OUT = "ok", "not-taken", "not-set", "failed", "timed-out"
"""States of a trial. Only `ok` counts in averages."""
A_A = "a-a"
"""The arm in which a setting runs a second time, under another name."""
FULL = ("no space left", "quota exceeded")
"""What the system calls a full disk and a used up quota. HDF5 and MPI-IO pass on the text alone, not the number."""
KEEP_RECORDS = "WORKALIKE_CAPTURE_KEEP_RECORDS"


@dataclass(frozen=True)
class Trial:
    """One run: a setting in a block. `number` counts the trials of the study in their order."""

    number: int
    block: int
    position: int
    prepared: Prepared
    arm: str = ""

    @property
    def setting_id(self) -> str:
        """The setting's name; the second arm has a name of its own."""
        name = self.prepared.setting.id
        return f"{name} ({self.arm})" if self.arm else name

    @property
    def key(self) -> tuple[int, str, str]:
        return self.block, self.setting_id, self.arm


class NoSpace(WorkalikeError):
    """The file system under test, or that of the results, is full: no trial can go on."""


def perform(
    file: StudyFile,
    trial: Trial,
    place: Workplace | None,
    scratch: Path,
    named: Mapping[str, Workplace] | None = None,
) -> Finished:
    """Run a trial.

    Args:
        file: the study.
        trial: what to run.
        place: the study's folder in the directory under test; None for a backend that only counts.
        scratch: an empty folder for the engine's record.
        named: the study's folder in each directory that families name.

    Raises:
        WorkalikeError: the directory is full or gone, or nothing can be written.
    """
    row = _asked_row(trial, place)
    began = time.monotonic()
    dumps: list[Row] = []
    try:
        with contextlib.ExitStack() as stack:
            data = scratch if place is None else stack.enter_context(place.trial_folder(trial.number))
            directories = {
                name: stack.enter_context(own.trial_folder(trial.number))
                for name, own in (named or {}).items()
            }
            layout = _apply_layout(trial, data, row) if place is not None else None
            remove_kept(trial.prepared.core, list(directories.values()))
            if place is not None:
                _prepare_caches(file.study.caches)
            if place is not None and not directories:  # else it is not known how much goes where
                _refuse_full(trial, place, row)
            row |= system.state() if place is not None else {}
            record, in_files = _run(file, trial, Directories(data, directories), scratch, layout)
            dumps = measured.dump_rows(record, trial.prepared)
            row |= measured.values_of(record)
            _judge(trial, record, row, data, layout, in_files, scratch)
    except CannotSet as error:
        row |= {"state": NOT_SET, "reasons": [str(error)]}
    except TrialTimeout:
        row |= {"state": TIMED_OUT, "reasons": [f"took longer than {file.study.timeout:g} s"]}
    except WorkalikeError as error:
        row |= {"state": FAILED, "reasons": _reasons_of_failure(error, trial, place, scratch)}
    row["took_s"] = time.monotonic() - began
    row["core_hours"] = trial.prepared.plan.ranks * row["took_s"] / 3600
    row["free_after"] = _free(place)
    row["counted"] = row["state"] == OK
    return Finished(row, [_of_trial(row) | dump for dump in dumps])


def _of_trial(row: Row) -> Row:
    return {name: row[name] for name in ("trial", "block", "setting", "arm", "counted")}


def _asked_row(trial: Trial, place: Workplace | None) -> Row:
    """The columns that are known before the run."""
    prepared = trial.prepared
    setting = prepared.setting
    values = {name: str(value) for name, value in setting.values.items()}
    return {
        "trial": trial.number,
        "block": trial.block,
        "position": trial.position,
        "setting": trial.setting_id,
        "arm": trial.arm,
        **setting.levels,
        "state": OK,
        "reasons": [],
        "started": now(),
        "plan": prepared.plan_hash,
        "plan_bytes": prepared.bytes,
        "system": system.system_id(place.directory if place else None),
        "versions": system.versions_key(),
        "nodes_used": system.nodes(),
        "free_before": _free(place),
        "asked": values,
        "found": {},
        "reused_from": None,
        "record_matches_plan": None,
    }


def _free(place: Workplace | None) -> int | None:
    """Free bytes in the directory under test."""
    if place is None:
        return None
    with contextlib.suppress(OSError):
        return free_bytes(place.directory)
    return None


def _refuse_full(trial: Trial, place: Workplace, row: Row) -> None:
    """Refuse a trial for whose data there is no room.

    Raises:
        NoSpace: the study cannot go on.
    """
    free, needed = row["free_before"], trial.prepared.bytes_written
    if free is not None and needed > free:
        raise NoSpace(
            ErrorKind.CANNOT_WRITE,
            f"a trial writes {needed:,} bytes, and only {free:,} are free",
            file=place.directory,
            place=f"setting {trial.setting_id}",
            hint="free space, then give the same command again: it resumes",
        )


def _apply_layout(trial: Trial, data: Path, row: Row) -> Layout:
    prepared = trial.prepared
    # The folder is the study's own: a driver that was killed after a run may have left its files there.
    remove_kept(prepared.core, [data])
    kind = _kind_of(data)
    layout = layout_of(prepared.wanted.layout, kind, data, ranks=prepared.plan.ranks, nodes=prepared.nodes)
    kind.apply(data, layout)
    row["found"] |= {"layout_kind": kind.name}
    return layout


def _kind_of(data: Path) -> LayoutKind:
    return kind_of(data, system.file_system_of(data)["type"])


def _prepare_caches(how: str) -> None:
    """Write dirty pages back, or also drop the page cache of this node."""
    if how == "keep":
        return
    os.sync()
    if how == "drop":
        try:
            Path("/proc/sys/vm/drop_caches").write_text("3\n", encoding="utf-8")
        except OSError as error:
            raise CannotSet(f"caches cannot be dropped: {error.strerror} (that takes root)") from error


def _is_captured(file: StudyFile, trial: Trial) -> bool:
    """By the setting's own word, else the study's. Trials that only count make no calls."""
    own = trial.prepared.wanted.capture
    return (file.study.capture if own is None else own) and not trial.prepared.counts_only


def _run(
    file: StudyFile, trial: Trial, directories: Directories, scratch: Path, layout: Layout | None
) -> tuple[Record, found.FoundInFiles]:
    """The record, and what the data files showed before they were removed."""
    asked = trial.prepared.wanted
    in_files = found.FoundInFiles()
    data = directories.plain
    assert data is not None

    def examine(files: list[Path]) -> None:
        """Look at the files for which a layout is set, which lie in the directory under test."""
        nonlocal in_files
        places = {data, *directories.named.values()}  # one may lie in another
        own = [path for path in files if next(filter(places.__contains__, path.parents), None) == data]
        in_files = found.found_in_files(trial.prepared, own, _kind_of(data), layout or Layout())

    options = RunOptions(
        data=data,
        named=directories.named,
        out=scratch,
        backend=asked.backend,
        nodes=asked.nodes,
        ranks_per_node=asked.ranks_per_node,
        launcher=launcher_of(file),
        quiet=True,
        source=file.path,
        capture=_is_captured(file, trial),
        examine=None if layout is None else examine,
    )
    more = {KEEP_RECORDS: "1"} if options.capture else {}
    with environment_set(asked.environment | more), limited_to(file.study.timeout):
        return run_plan(trial.prepared.plan, options), in_files


def _judge(
    trial: Trial,
    record: Record,
    row: Row,
    data: Path,
    layout: Layout | None,
    in_files: found.FoundInFiles,
    scratch: Path,
) -> None:
    """Compare the trial with what was asked for: its row gets what was found, and its state."""
    prepared = trial.prepared
    deviations = measured.plan_deviations(prepared, record)
    reasons = [*deviations, *found.settings_not_taken(prepared, record), *in_files.not_taken]
    row["record_matches_plan"] = not deviations
    row["found"] |= found.found_in(record)
    not_readable = {*found.unproven(prepared, in_files.layout), *in_files.not_readable}
    if in_files.values:
        row["found"]["hdf5_settings"] = in_files.values
    if in_files.layout is not None:
        row["found"]["layout"] = in_files.layout.known()
    elif layout is not None:
        shown, wrong = found.layout_found(_kind_of(data), layout, data)
        row["found"] |= {"layout": shown} if shown else {}
        reasons += wrong
    aggregators = found.aggregators_in(scratch / REPLICA_LOG, is_hdf5=found.is_hdf5(prepared))
    if aggregators is not None:
        row["found"]["ranks_that_write_to_a_file"] = aggregators
        reasons += found.aggregators_not_taken(prepared, aggregators)
        not_readable -= {"hint.cb_nodes"} if found.writes_collectively(prepared) else set()
    if not_readable:
        row["found"]["not_readable"] = sorted(not_readable)
    if reasons:
        row |= {"state": NOT_TAKEN, "reasons": reasons}


def _reasons_of_failure(
    error: WorkalikeError, trial: Trial, place: Workplace | None, scratch: Path
) -> list[str]:
    """What made a run fail.

    Raises:
        WorkalikeError: no trial can go on: there is no space, or nowhere to write.
    """
    if isinstance(error, NoSpace):
        raise error
    reasons = [error.message]
    with contextlib.suppress(WorkalikeError):
        reasons += [f"{e.operation}: {e.reason}" for e in read_record(scratch / "run.json").errors[:3]]
    if any(word in reason.lower() for reason in reasons for word in FULL):
        raise NoSpace(
            ErrorKind.CANNOT_WRITE,
            "no space left in the middle of a trial, which is not counted",
            file=place.directory if place else scratch,
            place=f"setting {trial.setting_id}",
            hint="free space, then give the same command again: it resumes",
        ) from error
    if error.kind is not ErrorKind.RUN_FAILED and not (place and place.folder.is_dir()):
        raise error
    return reasons
