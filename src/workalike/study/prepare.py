"""From a setting to a plan that can run: the workload changed, resolved, counted, and checked."""

from __future__ import annotations

import copy
import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from workalike import _core
from workalike.errors import ErrorKind, WorkalikeError
from workalike.launch.engines import find_engine
from workalike.launch.launchers import choose
from workalike.launch.possible import refuse_impossible
from workalike.launch.run import counts_only
from workalike.plan.core import core_plan
from workalike.plan.plan_file import plan_text
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import first_dumps, resolve
from workalike.plan.tunables import hints_of
from workalike.record.counted import counted_dumps
from workalike.study.settings import Setting
from workalike.study.study_file import ONE, StudyFile, bad
from workalike.study.system import node_count
from workalike.study.targets import Wanted, wanted
from workalike.study.transfer import with_transfer
from workalike.study.workload_path import set_path
from workalike.workload.family import share_as
from workalike.workload.model import Workload
from workalike.workload.tunable import Tunable
from workalike.workload.what_if import changed, parse_what_if
from workalike.workload.workload_file import first_error


@dataclass(frozen=True)
class Prepared:
    """A setting with its plan. `backend` performs every family; None: each has its own."""

    setting: Setting
    wanted: Wanted
    plan: Plan
    core: _core.Plan

    @property
    def counts_only(self) -> bool:
        """Whether nothing is performed, so that no engine and no directory is needed."""
        return counts_only(self.plan, self.wanted.backend)

    @cached_property
    def plan_hash(self) -> str:
        """SHA-256 of the plan with its tables and its backend."""
        digest = hashlib.sha256(plan_text(self.plan).encode())
        for name in sorted(self.plan.tables):
            digest.update(name.encode() + self.plan.tables[name])
        digest.update(str(self.wanted.backend).encode())
        return digest.hexdigest()

    @cached_property
    def counted(self) -> dict[tuple[int, int], dict[str, Any]]:
        """(family, index) -> the dump as the core counts it."""
        dumps = counted_dumps(self.plan, self.core)
        return {(dump["family"], dump["index"]): dump for dump in dumps}

    @property
    def bytes(self) -> int:
        """Bytes that the plan writes and reads."""
        return sum(d["bytes_written"] + d["bytes_read"] for d in self.counted.values())

    @property
    def bytes_written(self) -> int:
        return sum(d["bytes_written"] for d in self.counted.values())

    @property
    def nodes(self) -> int:
        """The nodes that its ranks are on, as far as that is known: no more than ranks."""
        if self.wanted.nodes:
            return self.wanted.nodes
        if self.wanted.ranks_per_node:
            return -(-self.plan.ranks // self.wanted.ranks_per_node)
        return min(node_count(), self.plan.ranks)

    @property
    def waiting_s(self) -> float:
        """Seconds from the run's begin to that of its last dump, if all I/O took the original's time."""
        starts = self.core.times()["start_s"]
        return float(starts.max()) * self.plan.time_scale if len(starts) else 0.0


def prepare(file: StudyFile, setting: Setting) -> Prepared:
    """The plan of a setting.

    Raises:
        WorkalikeError: BAD_STUDY naming the setting.
    """
    place = f"setting {setting.id}"
    try:
        asked = wanted(setting.values)
        workload = _workload_of(file, asked)
        _refuse_hints_twice(asked)
        plan = resolve(workload, asked.resolve_options())
        if asked.dumps is not None:
            plan = first_dumps(plan, asked.dumps)
    except ValueError as error:
        raise bad(file.path, str(error), place) from error
    except WorkalikeError as error:
        raise bad(file.path, error.message, place, error.hint or "") from error
    for family in plan.families:
        family.hints |= asked.hints
    core = core_plan(plan, asked.backend, source=file.path)
    return Prepared(setting, asked, plan, core)


def refuse_what_cannot_run(file: StudyFile, prepared: Prepared) -> None:
    """Refuse a setting that the engine or the launcher cannot perform, before anything runs.

    Raises:
        WorkalikeError: MISSING without the engine; BAD_STUDY naming the setting.
    """
    if prepared.counts_only:
        return
    engine = find_engine()
    try:
        refuse_impossible(engine, prepared.plan, file.path, backend=prepared.wanted.backend)
        choose(launcher_of(file), prepared.plan.ranks)
    except WorkalikeError as error:
        if error.kind is not ErrorKind.USAGE:
            raise
        hint = error.hint or "leave the setting out with a constraint `skip`"
        raise bad(file.path, error.message, f"setting {prepared.setting.id}", hint) from error


def launcher_of(file: StudyFile) -> str | None:
    """The launcher by name; None: the one that is available."""
    return None if file.study.launcher == "auto" else file.study.launcher


def _refuse_hints_twice(asked: Wanted) -> None:
    """Refuse a hint that is also a tunable: the tunable would have no effect.

    Raises:
        ValueError: naming the hint.
    """
    twice = hints_of(Tunable.model_construct(**asked.tunables)).keys() & asked.hints.keys()
    if twice:
        raise ValueError(f"hint.{min(twice)}: a `tunable` sets this hint, too: leave one of them out")


def _workload_of(file: StudyFile, asked: Wanted) -> Workload:
    """The workload of a setting.

    Raises:
        ValueError: it has no such field, or the value is not one of it.
        WorkalikeError: USAGE if it cannot be changed so.
    """
    name = asked.workload or (ONE if ONE in file.workloads else next(iter(file.workloads)))
    if name not in file.workloads:
        raise ValueError(f"workload: {name[:60]!r} is none of {', '.join(file.workloads)}")
    # Before all else: a change of the dumps' moments says nothing of how they are written.
    original = changed(file.workloads[name], parse_what_if(asked.what_if))
    if not (asked.tunables or asked.paths or asked.sharing or asked.transfer):
        return original
    document = original.model_dump(mode="json", exclude_defaults=True)
    for family in document["families"]:
        if asked.tunables:
            family["tunable"] = family.get("tunable", {}) | asked.tunables
        if asked.sharing:
            share_as(family, copy.deepcopy(asked.sharing))
    for path, value in asked.paths.items():
        try:
            set_path(document, path, copy.deepcopy(value))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
    workload = _checked(document, original)
    return workload if asked.transfer is None else with_transfer(workload, asked.transfer)


def _checked(document: dict[str, Any], original: Workload) -> Workload:
    try:
        workload = Workload.model_validate(json.loads(json.dumps(document, default=str)))
    except ValidationError as error:
        place, message = first_error(error)
        raise ValueError(f"{place}: {message}") from error
    if (
        workload.operations is not None
        and original.operations is not None
        and original.operations.table is not None
    ):
        workload.operations.attach(original.operations.table)
    return workload
